"""Small changes are made in formulas, one at a time, and nowhere else."""

import ast
import json
import shutil
import subprocess
import sys

import mutation
import pytest

from extensions.claims.links import code_of

CODE = '''
def f(x, axis=0):
    """2 * 3 in a docstring."""
    check(x > 1, "x", x, "more than 1")
    if x.ndim < 2:
        raise ValueError(f"{x + 1}")
    y: Float[Array, "2"] = x[1] - 0.5 * x.sum(axis=2)
    return -y.T**2
'''


def changed_lines(code):
    """Each changed line of the code."""
    finder = mutation.Finder(code)
    return sorted(
        change.said(code).partition("→")[2].strip()
        for change in {*finder.walk(ast.parse(code))}
    )


def test_each_formula_is_changed_and_no_check_message_index_or_annotation():
    assert changed_lines(CODE) == sorted(
        [
            'y: Float[Array, "2"] = x[1] + 0.5 * x.sum(axis=2)',
            'y: Float[Array, "2"] = x[1] - 1.0 * x.sum(axis=2)',
            'y: Float[Array, "2"] = x[1] - 0.5 * x.mean(axis=2)',
            "return y.T**2",
            "return -y**2",
            "return -y.T*2",
            "return -y.T**4",
        ]
    )


def test_a_changed_file_is_still_a_program():
    for change in mutation.Finder(CODE).walk(ast.parse(CODE)):
        ast.parse(change.made_in(CODE))


@pytest.mark.parametrize("letters", ["β = a + b", "π_μ = (α - 1) * β"])
def test_mutations_are_located_correctly_after_multibyte_characters(letters):
    assert all(
        "��" not in line and line.startswith(letters[0])
        for line in changed_lines(letters)
    )
    assert changed_lines(letters)


SAME = {
    "a docstring": ('"""2 * 3 in a docstring."""', '"""Another."""'),
    "a comment": ("x[1] -", "x[1]  # the first\n    -"),
    "an annotation": ('Float[Array, "2"]', "Array"),
    "a message": ('"more than 1"', '"above 1"'),
    "a check": ("x.ndim < 2", "x.ndim <= 1"),
    "a variable": ("y", "z"),
}
OTHER = {
    "a sign": ("x[1] -", "x[1] +"),
    "an index": ("x[1]", "x[0]"),
    "a method": ("sum", "mean"),
    "a default": ("axis=0", "axis=1"),
    "another variable": ("return -y", "return -x"),
    "a function that it calls": ("0.5 * x", "_half(x)"),
}


@pytest.mark.parametrize("name", SAME | OTHER)
def test_a_digest_is_of_what_is_computed_and_not_of_its_wording(name, tmp_path):
    def digest(text):
        file = tmp_path / "src" / "module.py"
        file.parent.mkdir(exist_ok=True)
        helper = "\n\ndef _half(x):\n    return 0.5 * x\n"
        file.write_text(text + helper, "utf-8")
        return code_of(tmp_path, "module.f").state

    before, after = (SAME | OTHER)[name]
    # in brackets, so that the change may contain a comment
    text = CODE.replace("x[1] - 0.5 * x.sum(axis=2)", "(x[1] - 0.5 * x.sum(axis=2))")
    assert before in text
    assert (digest(text.replace(before, after)) == digest(CODE)) == (name in SAME)


def test_a_mutation_target_includes_private_callees_and_the_tests_of_its_claim():
    rows = [
        {
            "source": "rankone.memory.hopfield.hopfield_energy",
            "test": "tests/memory/test_hopfield.py::test_x",
        }
    ]
    target = mutation.target(rows[0]["source"], rows, most=3)
    assert len(target.changes) == 3
    assert target.tests[:2] == (
        "tests/memory/test_hopfield.py::test_x",
        "tests/memory/test_hopfield.py",
    )
    assert target.tests[2:] == ()  # no other file of unit tests has its name
    selection = mutation.target("rankone.memory.descent.retrieve", rows, most=1)
    # the file in which its name occurs most often
    assert selection.tests == ("tests/memory/test_descent.py",)
    assert target.code.path == "src/rankone/memory/hopfield.py"
    assert target.changes == mutation.target(rows[0]["source"], rows, most=3).changes


def test_the_tests_fail_for_a_mutated_function_and_pass_for_the_original(
    tmp_path, root
):
    source = "rankone.memory.hopfield.hopfield_energy"
    counts = tmp_path / "counts.json"
    tool = [
        sys.executable,
        "tools/mutation.py",
        source,
        "--most=1",
        "--processes=1",
        f"--results={counts}",
    ]
    subprocess.run(tool, cwd=root, check=True, capture_output=True)
    count = json.loads(counts.read_text("utf-8"))[source]
    assert (count["changes"], count["survived"]) == (1, [])
    target = mutation.target(
        source, [{"source": source, "test": "tests/memory/test_hopfield.py"}], most=1
    )
    assert not mutation.noticed(
        target,
        mutation.Change(0, 0, ""),
        shutil.copytree(root / "src", tmp_path / "src"),
    )
