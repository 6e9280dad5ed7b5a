"""A class is graded in a process separate from the students' code. Students can switch
off no check, and an error costs points only to the student who made it.
"""

import json
import os
import socket
from pathlib import Path

import assignment
import jax
import nbformat
import numpy as np
import pytest
from refusals import refused

from rankone_book import exercises
from rankone_book.exercises import grading, plain_data
from rankone_book.exercises.checks import questions
from rankone_book.exercises.submission import Submission, cells

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "_build/html"
PATCH = """
import numpy, rankone.editing, rankone_book.exercises as e
import rankone_book.exercises.answers as a, rankone_book.exercises.checks as c
e.close = e.holds = a.close = a.holds = lambda *args, **names: None
c.Question.run = rankone.editing.rank_one_edit = rankone.editing.batch_edit = None
"""


@pytest.fixture(autouse=True)
def double():
    """The grader computes in float64."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def checks(chapter):
    return questions(ROOT / "src/rankone_book/exercises" / chapter)


def code(chapter):
    """Cells of the page's notebook, without the set-up: stubs, and then the
    solutions.
    """
    return [
        cell.source
        for cell in assignment.published(chapter, BUILT).cells
        if cell.cell_type == "code"
    ][1:]


def stubs(answer):
    """Cells of the editing notebook in which every function returns the same answer."""
    return [
        cell.replace("return ...", f"return {answer}")
        for cell in code("editing")
        if "return ..." in cell
    ]


def graded(chapter, sources, seed="a student", **limits):
    question_checks = checks(chapter).values()
    with Submission(dict(enumerate(sources, 1)), **limits) as submission:
        reports = grading.grade(question_checks, submission, seed)
    return {report.question: report for report in reports}, submission


def score(reports):
    return sum(report.earned for report in reports.values())


@pytest.mark.parametrize("chapter", exercises.chapters())
def test_the_pages_own_solutions_have_all_points(chapter):
    reports, submission = graded(chapter, code(chapter))
    assert score(reports) == sum(
        question.points for question in checks(chapter).values()
    ), reports
    assert submission.notes == {}


def test_an_empty_notebook_and_one_of_constants_have_no_points_whatever_they_patch():
    start = code("editing")[0]
    assert score(graded("editing", [start, *stubs("...")])[0]) == 0
    reports, _ = graded(
        "editing",
        [
            start,
            PATCH,
            *stubs("np.ones(3)"),
            "numpy.asarray = lambda *a: numpy.ones(3)",
        ],
    )
    assert score(reports) == 0


def test_cells_that_exit_hang_or_raise_cost_a_right_notebook_nothing():
    bad = [
        "import os; os._exit(0)",
        "exit()",
        "import time; time.sleep(600)",
        "1 / 0",
        "print('x' * 10**7)",
        PATCH,
    ]
    first, *rest = code("editing")
    reports, submission = graded("editing", [first, *bad, *rest], cell_seconds=15)
    assert score(reports) == 23
    assert {
        number for number, note in submission.notes.items() if "left out" in note
    } == {2, 4}
    assert "ZeroDivisionError" in submission.notes[5]


def test_a_function_that_exits_hangs_or_answers_rubbish_costs_its_own_checks():
    bad = """
import os
def keys_needed(target, D):
    while True: pass
def rounds_needed(cosine2, tolerance):
    os._exit(0)
def worst_key(C):
    raise SystemExit(0)
def leverages(K):
    return np.ones(2**23)
def balanced_leverage(multiple):
    class Anything:
        __eq__ = __le__ = lambda self, other: True
    return Anything()
def falling_direction(W, k, v):
    os.write(int(sys.argv[1]), b"\\xff" * 100)
"""
    reports, submission = graded(
        "editing", [*code("editing"), "import sys" + bad], call_seconds=10
    )
    lost_points = {
        q: question.points - reports[q].earned
        for q, question in checks("editing").items()
    }
    assert lost_points == {
        "q1": 1,
        "q2": 0,
        "q3": 2,
        "q4": 1.5,
        "q5": 1,
        "q6": 0,
        "q7": 2,
        "q8": 0,
    }
    assert "keys_needed took longer than 10 s" in str(reports["q7"])
    assert "rounds_needed ended the process" in str(reports["q5"])
    assert submission.notes == {}


def test_an_error_in_the_cell_of_an_answer_is_named_with_the_cell_and_the_line():
    first, *rest = code("editing")
    syntax = "def mean_inflation(n, D):\n    return (n - 1\n\n\ndef keys_needed(target, D):\n    return 3"
    name = "scale = undefined\n\n\ndef relaxed_edit(W, C, k, v, omega):\n    return W\n\n\n"
    name += "def relaxed_sequence(W, C, K, V, omega):\n    return W"
    inside = "def block_determinant(k, u):\n    half = 0.5\n    return undefined * half"
    other_cells = [
        cell
        for cell in rest
        if "def mean_inflation" not in cell and "def relaxed_edit" not in cell
    ]
    reports, submission = graded("editing", [first, *other_cells, syntax, name, inside])
    syntax_at = len(other_cells) + 2
    name_at = len(other_cells) + 3
    said = {q: str(reports[q]) for q in ("q2", "q6", "q7")}
    assert said["q7"].startswith(
        "q7: not checked, because a cell stopped with an error."
    )
    raised = "raised SyntaxError: '(' was never closed (line 2: `return (n - 1`)"
    assert (
        f"Code cell {syntax_at}, which defines mean_inflation, {raised}" in said["q7"]
    )
    assert f"Code cell {syntax_at}, which defines keys_needed, {raised}" in said["q7"]
    raised = "raised NameError: name 'undefined' is not defined (line 1: `scale = undefined`)"
    assert f"Code cell {name_at}, which defines relaxed_edit, {raised}" in said["q6"]
    assert (
        "NameError: name 'undefined' is not defined (line 3: `return undefined * half`)"
        in said["q2"]
    )
    assert "not answered" not in "".join(said.values())
    assert set(submission.notes) == {syntax_at, name_at}


def test_when_the_time_is_over_what_has_no_answer_has_no_points():
    reports, submission = graded(
        "editing", ["while True: pass", *code("editing")], total_seconds=3
    )
    assert score(reports) == 0
    assert any("time" in note for note in submission.notes.values())


def test_each_student_gets_different_data_and_the_same_data_again():
    class Stop(Exception):
        pass

    def data_of(seed):
        calls = []
        checks("editing")["q1"].run({"dual": lambda *args: calls.append(args)}, seed)
        return np.concatenate([np.ravel(part) for part in calls[0]])

    one, two = ({"users": [{"id": n, "email": "e"}]} for n in (1, 2))
    seeds = [
        grading.seed_of(one, "s"),
        grading.seed_of(two, "s"),
        grading.seed_of(one, "t"),
    ]
    assert len(set(seeds)) == 3
    np.testing.assert_array_equal(data_of(seeds[0]), data_of(grading.seed_of(one, "s")))
    assert not np.isclose(data_of(seeds[0]), data_of(seeds[1])).any()


def gradescope(folder, notebook):
    for name in ("source/tests", "submission"):
        (folder / name).mkdir(parents=True)
    for check in (ROOT / "src/rankone_book/exercises/residual").glob("q*.py"):
        (folder / "source/tests" / check.name).write_bytes(check.read_bytes())
    (folder / "source/config.json").write_text(json.dumps({"secret": "s"}))
    (folder / "submission_metadata.json").write_text(json.dumps({"users": [{"id": 7}]}))
    (folder / "submission/homework.ipynb").write_text(notebook, encoding="utf-8")


def results(folder, monkeypatch):
    monkeypatch.setattr("sys.argv", ["grading", str(folder)])
    # here the students' code runs under the same account
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    grading.main()
    return json.loads((folder / "results/results.json").read_text(encoding="utf-8"))


def test_results_for_gradescope_reveal_no_right_value(tmp_path, monkeypatch):
    wrong = "def truncated(residuals, m):\n    return residuals\ndef hurting_noise(L, r):\n    return 0.123"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(wrong)])
    gradescope(tmp_path, nbformat.writes(notebook))
    content = results(tmp_path, monkeypatch)
    question_checks = checks("residual")
    assert [test["name"] for test in content["tests"]] == list(question_checks)
    assert sum(test["score"] for test in content["tests"]) == 0
    points = sum(question.points for question in question_checks.values())
    assert sum(test["max_score"] for test in content["tests"]) == points
    eighth = content["tests"][7]["output"]
    sixth = content["tests"][5]["output"]
    assert "failed: the m largest entries" in eighth
    assert "more than 1 entries of a row were kept" in eighth
    assert "your answer is not right" in sixth
    assert "expected" not in json.dumps(content)
    assert "not answered" in content["tests"][0]["output"]


@pytest.mark.parametrize(
    "notebook",
    ["", "[]", '{"cells": 3}', '{"cells": [{"cell_type": "code"}]}', "[" * 10**5],
)
def test_a_file_that_is_no_notebook_has_no_points_and_says_so(
    tmp_path, monkeypatch, notebook
):
    gradescope(tmp_path, notebook)
    monkeypatch.setattr(Submission, "run", lambda self: None)
    content = results(tmp_path, monkeypatch)
    assert sum(test["score"] for test in content["tests"]) == 0
    assert "cannot be read as a notebook" in content["output"]


def test_two_notebooks_are_not_graded(tmp_path, monkeypatch):
    gradescope(tmp_path, "{}")
    (tmp_path / "submission/second.ipynb").write_text("{}")
    monkeypatch.setattr(Submission, "run", lambda self: None)
    assert "it holds 2 notebooks" in results(tmp_path, monkeypatch)["output"]


def test_the_set_up_is_not_run_again(tmp_path):
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(c) for c in ("setup()", " ", "answer()")]
    )
    notebook.cells[0].metadata["tags"] = ["setup"]
    nbformat.write(notebook, tmp_path / "a.ipynb")
    assert cells(tmp_path / "a.ipynb") == {3: "answer()"}


VALUES = [
    None,
    True,
    3,
    0.1,
    np.inf,
    "text",
    ...,
    (1, [2.0, ...]),
    {"a": (1,), 2: None},
    np.float32(0.5),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_plain_data_are_transferred_unchanged(value):
    result = plain_data.decode(json.loads(json.dumps(plain_data.encode(value))))
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.zeros((0, 4)),
        np.eye(2, dtype=bool),
        np.array([1j]),
    ],
)
def test_arrays_are_transferred_unchanged(array):
    result = plain_data.decode(json.loads(json.dumps(plain_data.encode(array))))
    np.testing.assert_array_equal(result, array)
    assert result.dtype == array.dtype


@pytest.mark.parametrize(
    "value",
    [object(), np.array([None]), lambda: 0, np.array(["a"])],
    ids=["object", "objects", "function", "text"],
)
def test_other_objects_are_refused_when_writing(value):
    with refused((ValueError, TypeError)):
        plain_data.encode(value)


MESSAGES = [
    {"kind": "pickle", "data": "gASVAAAA"},
    {"kind": "array", "dtype": "|O", "shape": [1], "data": "AAAAAAAAAAA="},
    {"kind": "array", "dtype": "<f8", "shape": [10**9], "data": ""},
    {"kind": "array", "dtype": "<f8", "shape": ["x"], "data": ""},
    {"kind": "list", "items": 3},
]


@pytest.mark.parametrize("message", MESSAGES, ids=json.dumps)
def test_other_messages_are_refused_when_reading(message):
    with refused(ValueError, match=r".+"):
        plain_data.decode(message)


def test_a_message_that_is_too_long_late_or_cut_is_refused():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall((2**40).to_bytes(8))
        with refused(ValueError, match="longer than"):
            plain_data.receive(ours, 1)
        with refused(TimeoutError):
            plain_data.receive(ours, 0.01)
        theirs.sendall((10).to_bytes(8) + b"{}")
        theirs.shutdown(socket.SHUT_WR)
        with refused(EOFError):
            plain_data.receive(ours, 1)
        with refused(ValueError, match="longer than"):
            plain_data.send(ours, "x" * (plain_data.LIMIT + 1))
