"""The files of an assignment: notebooks without and with solutions, a rubric, and an
archive of pinned files.
"""

import json
import re
import zipfile
from pathlib import Path

import assignment
import autograder
import nbformat
import pytest
import student_version
from exercise_pages import COUNTS
from refusals import refused

from rankone_book import exercises
from rankone_book.exercises.checks import questions

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "_build/html"
RUBRIC = {
    q: {"task": f"Prove {q}.", "criteria": [[1, "So."], [2, "And so."]]}
    for q in ("q1", "q2")
}


def notebook(*cells):
    parts = [
        nbformat.v4.new_markdown_cell(c[3:])
        if c.startswith("md:")
        else nbformat.v4.new_code_cell(c)
        for c in cells
    ]
    return nbformat.v4.new_notebook(cells=parts)


def text(version):
    return "\n".join(cell.source for cell in version.cells)


@pytest.mark.parametrize("anchor", ['<a name="b"></a>', '<a id="b" name="b"></a>'])
def test_the_students_version_omits_solutions_and_asks_for_written_parts(
    anchor,
):
    built = notebook(
        "md:# Page\n\nA chapter of a book, [as a "
        "page](https://a.org/b/some_exercises.html).",
        'install("https://a.org/b/some_exercises.html")',
        "md:> **Exercise 9** (A)\n>\n> ★ *5 minutes.* Do it.",
        "def f(): return ...",
        'grader.check("q1")',
        "md:<details><summary>Solution to Exercise 9 "
        "(A)</summary>\n\nSo.\n\n</details>",
        'def f(): return 1\n\n\ngrader.check("q1")',
        "md:<details><summary>Solution to Exercise 9 "
        "(A)</summary>\n\nMeasured:\n\n</details>",
        "print(f())",
        f"md:> {anchor}**Exercise 10** (B)\n>\n> ★★★ *7 minutes.* As in "
        "[A](https://a.org/b/some_exercises.html#a) "
        "and [Exercise 9](#a), not 11.",
        'def g(): return ...\n\ngrader.check("q2")',
        "md:<details><summary>Solution to Exercise 10 "
        "(B)</summary>\n\nSo.\n\n</details>\n\n## Next\n\nText.",
    )
    built.cells[4].outputs = [
        nbformat.v4.new_output("stream", text="q1: not answered yet.")
    ]
    assert student_version.minutes(built) == {"q1": ("A", 5), "q2": ("B", 7)}
    version = student_version.student(built, RUBRIC, "A sentence.")
    everything = [cell.source for cell in built.cells]
    sources = [cell.source for cell in version.cells]
    written = [
        f"**In writing (3 points).** Prove {q}.\n\n*Your answer:*" for q in RUBRIC
    ]
    question = f"> {anchor}**Exercise 2 (q2)** (B)\n>\n> ★★★ *7 minutes.* As in A and [Exercise 1 (q1)](#a), not 11."
    first = "> **Exercise 1 (q1)** (A)\n>\n> ★ *5 minutes.* Do it."
    last = [question, everything[10], written[1], "## Next\n\nText."]
    assert sources == [
        "# Page\n\nA sentence.",
        'install("your course")',
        first,
        *everything[3:5],
        written[0],
        *last,
    ]
    assert not any(cell.get("outputs") for cell in version.cells)
    assert next(
        cell.metadata.get("tags") for cell in version.cells if cell.cell_type == "code"
    ) == ["setup"]
    full = text(student_version.instructor(built, RUBRIC))
    for number, name in (("9", "1 (q1)"), ("10", "2 (q2)")):
        everything = [
            source.replace(f"Exercise {number}", f"Exercise {name}")
            for source in everything
        ]
    assert all(source in full for source in everything)
    assert full.count("- **2**: And so.") == 2


@pytest.mark.parametrize(
    "last",
    ["md:**Solution** So.", "md:<details><summary>Solution to it</summary></details>"],
)
def test_an_unrecognised_solution_stops_the_tool(last):
    page = notebook(
        "md:# P",
        "i()",
        "md:> **Exercise 1** (A)\n>\n> Do it.",
        "md:> **Exercise 2** (B)\n>\n> Too.",
        last,
    )
    with refused(ValueError, match="2 exercises but"):
        student_version.student(page, {}, "")


def test_a_remaining_mention_of_a_solution_stops_the_tool():
    page = notebook(
        "md:# P",
        "md:> **Exercise 1** (A)",
        "md:<details><summary>Solution to 1</summary>",
        "md:# folded solution",
    )
    with refused(ValueError, match="still leads to a solution"):
        student_version.student(page, {}, "")


def test_a_written_half_without_a_check_stops_the_tool():
    with refused(ValueError, match="q2 is not checked"):
        student_version.instructor(notebook("md:# P", 'grader.check("q1")'), RUBRIC)


def test_without_a_built_book_the_tool_says_how_to_build_it(tmp_path):
    with refused(FileNotFoundError, match="make html"):
        assignment.published("editing", tmp_path)
    with refused(FileNotFoundError, match="0 wheels"):
        assignment.wheels(tmp_path)


def test_an_unknown_chapter_is_refused_with_the_names_there_are():
    with refused(ValueError, match="preconditioning"):
        assignment.page("rome")


@pytest.mark.parametrize("chapter", exercises.chapters())
def test_every_check_has_a_written_half(chapter):
    assert len(assignment.read_rubric(chapter)) == COUNTS[chapter]


def test_a_check_without_a_written_half_stops_the_tool_and_is_named(monkeypatch):
    more = {**questions(assignment.CHECKS / "memory"), "q99": None}
    monkeypatch.setattr(assignment, "questions", lambda _: more)
    with refused(ValueError, match=r"no \[memory\.q99\]"):
        assignment.read_rubric("memory")


def test_pinned_requirements_contain_all_dependencies_with_hashes_and_nothing_else():
    lines = autograder.pinned(
        autograder.NEEDED, (ROOT / "requirements.txt").read_text(encoding="utf-8")
    )
    names = re.findall(r"^([a-z0-9-]+)==", lines, re.MULTILINE)
    assert {
        "jax",
        "jaxlib",
        "numpy",
        "scipy",
        "ml-dtypes",
        "optax",
        "traitlets",
        "ipython",
    } <= set(names)
    assert not {"rankone", "sphinx", "otter-grader", "pytest", "jupyter-book"} & set(
        names
    )
    assert all("--hash=sha256:" in block for block in re.split(r"\n(?=[a-z])", lines))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Every chapter's assignment, from the built book, with a file in place of the
    wheel.
    """
    folder = tmp_path_factory.mktemp("assignments")
    wheel = folder / "rankone-0-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    for chapter in exercises.chapters():
        assignment.write(chapter, [wheel], BUILT, folder / chapter)
    return folder


@pytest.mark.parametrize("chapter", exercises.chapters())
def test_the_built_page_gives_a_students_version_and_one_with_all_solutions(
    folders, chapter
):
    student, instructor = (
        nbformat.read(folders / chapter / f"{chapter}{ending}.ipynb", as_version=4)
        for ending in ("", "-instructor")
    )
    nbformat.validate(student)
    nbformat.validate(instructor)
    checks = questions(ROOT / "src/rankone_book/exercises" / chapter)
    for q, question in checks.items():
        assert text(student).count(f'grader.check("{q}")') == 1
        assert text(instructor).count(f'grader.check("{q}")') == 2
        for function in question.functions:
            assert text(student).count(f"def {function}(") == 1
            assert text(instructor).count(f"def {function}(") == 2
    assert (
        text(student).count("**In writing (")
        == text(instructor).count("**In writing (")
        == len(checks)
        == COUNTS[chapter]
    )
    source = (ROOT / "book/chapters" / f"{assignment.page(chapter)}.md").read_text(
        encoding="utf-8"
    )
    solved = re.findall(
        r"```{solution-start}.*?```\n(.*?)```{solution-end}", source, re.DOTALL
    )
    code = [
        cell
        for part in solved
        for cell in re.findall(r"```{code-cell} ipython3\n(.*?)\n```", part, re.DOTALL)
    ]
    assert len(code) >= len(checks)
    for cell in code:
        assert cell in text(instructor)
        assert cell not in text(student)
    assert "olution to" not in json.dumps(student)
    assert "_exercises.html" not in json.dumps(student)


@pytest.mark.parametrize("chapter", exercises.chapters())
def test_points_minutes_and_criteria_agree_everywhere(folders, chapter):
    checks = questions(ROOT / "src/rankone_book/exercises" / chapter)
    rubric = assignment.read_rubric(chapter)
    assert list(rubric) == list(checks)
    readme = (folders / chapter / "README.md").read_text(encoding="utf-8")
    page = (folders / chapter / "rubric.md").read_text(encoding="utf-8")
    code, written, minutes = map(
        int,
        re.search(
            r"(\d+) points by checks and (\d+) in writing, (\d+) min", readme
        ).groups(),
    )
    assert code == sum(question.points for question in checks.values())
    assert written == sum(
        int(points) for points in re.findall(r"^- \[ \] (\d):", page, re.MULTILINE)
    )
    assert minutes == sum(map(int, re.findall(r"^(\d+) minutes\.", page, re.MULTILINE)))
    # thirteen lines about distributing the work, and the lines about grading a notebook
    # here
    assert len(readme.splitlines()) <= 24


@pytest.mark.parametrize("chapter", exercises.chapters())
def test_an_exercise_has_one_number_everywhere(folders, chapter):
    files = questions(ROOT / "src/rankone_book/exercises" / chapter)
    count = COUNTS[chapter]
    assert len(files) == count
    names = [f"Exercise {n} (q{n})" for n in range(1, count + 1)]
    for n, q in enumerate(files, 1):
        source = (ROOT / "src/rankone_book/exercises" / chapter / f"{q}.py").read_text(
            encoding="utf-8"
        )
        assert source.startswith(f'"""Exercise {n}: ')
    rubric = (folders / chapter / "rubric.md").read_text(encoding="utf-8")
    titles = re.findall(r"^## (Exercise \d+ \(q\d+\)): (.+)$", rubric, re.MULTILINE)
    assert [name for name, _ in titles] == names
    for ending in ("", "-instructor"):
        notebook_text = text(
            nbformat.read(folders / chapter / f"{chapter}{ending}.ipynb", as_version=4)
        )
        assert (
            re.findall(r"\*\*(Exercise \d+[^*]*)\*\* \((.+)\)\n", notebook_text)
            == titles
        )
        # The numbers of the exercises in the book do not remain.
        mentioned = re.findall(r"Exercise \d+(?: \(q\d+\))?", notebook_text)
        assert set(mentioned) == set(names)
        # Below a heading are only its own check and written part.
        for name, part in zip(
            names,
            re.split(r"\*\*Exercise \d+ \(q\d+\)\*\*", notebook_text)[1:],
            strict=True,
        ):
            assert {
                f"Exercise {q[1:]} ({q})"
                for q in re.findall(r'grader\.check\("(q\d+)"\)', part)
            } == {name}
    readme = (folders / chapter / "README.md").read_text(encoding="utf-8")
    (first,) = re.findall(r"calls the same exercise (\d+)\.", readme)
    assert f"**Exercise {first}** ({titles[0][1]})" in text(
        assignment.published(chapter, BUILT)
    )


def test_a_check_under_another_exercise_stops_the_tool():
    page = notebook(
        "md:# P", "md:> **Exercise 9** (A)\n>\n> Do it.", 'grader.check("q2")'
    )
    with refused(ValueError, match="got the check of q2 under exercise 1"):
        student_version.numbers(page)


def test_the_archive_holds_all_that_grading_needs(folders):
    with zipfile.ZipFile(folders / "editing" / "editing-autograder.zip") as archive:
        names = set(archive.namelist())
        assert {
            "setup.sh",
            "run_autograder",
            "requirements.txt",
            "uv.txt",
            "rankone-0-py3-none-any.whl",
        } <= names
        assert {name for name in names if name.startswith("tests/")} == {
            f"tests/q{n}.py" for n in range(1, COUNTS["editing"] + 1)
        }
        first = json.loads(archive.read("config.json"))
        assert archive.getinfo("run_autograder").external_attr >> 16 & 0o100
    with zipfile.ZipFile(
        folders / "universality" / "universality-autograder.zip"
    ) as other:
        assert json.loads(other.read("config.json"))["secret"] != first["secret"]
