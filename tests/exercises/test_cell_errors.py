"""If a cell stopped with an error, the check of a notebook names the cell and the line,
instead of asking for an answer.
"""

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

START = 'import numpy as np\nfrom rankone_book import exercises\ngrader = exercises.grader("editing")'
STUB = "def block_determinant(k, u):\n    return ...\n\n\ndef block_inverse(k, u):\n    return ..."
RIGHT = "def block_determinant(k, u):\n    return u @ k\n\n\ndef block_inverse(k, u):\n    return ..."
SYNTAX = RIGHT.replace("u @ k", "u @ (k")
NAME = f"scale = undefined\n\n\n{RIGHT}"
NOT_RUN = "q2: not checked, because a cell stopped with an error.\n"


class Notebook:
    """Cells, run one after another as Jupyter runs them."""

    def __init__(self):
        self.shell = InteractiveShell(
            config=Config({"HistoryManager": {"enabled": False}})
        )
        self.run(START)

    def run(self, source):
        return self.shell.run_cell(source, store_history=True).result

    def check(self):
        return str(self.run('grader.check("q2")'))


@pytest.fixture
def notebook(capsys):
    """A notebook whose set-up has run."""
    return Notebook()


@pytest.mark.parametrize(
    "before", [[], [STUB], [RIGHT]], ids=["nothing", "the stub", "an answer"]
)
def test_the_report_names_a_syntax_error_in_the_cell_of_an_answer(notebook, before):
    for cell in [*before, SYNTAX]:
        notebook.run(cell)
    said = notebook.check()
    cell = f"Cell [{2 + len(before)}], which defines block_determinant, stopped: "
    assert (
        said
        == f"{NOT_RUN}{cell}SyntaxError: '(' was never closed (line 2: `return u @ (k`)"
    )


@pytest.mark.parametrize(
    "before", [[], [STUB], [RIGHT]], ids=["nothing", "the stub", "an answer"]
)
def test_the_report_names_a_name_error_beside_the_answer(notebook, before):
    for cell in [*before, NAME]:
        notebook.run(cell)
    said = notebook.check()
    cell = f"Cell [{2 + len(before)}], which defines block_determinant, stopped: "
    assert (
        said
        == f"{NOT_RUN}{cell}NameError: name 'undefined' is not defined (line 1: `scale = undefined`)"
    )
    notebook.run("1 / 0")  # IPython stores only the last error
    assert (
        notebook.check()
        == f"{NOT_RUN}{cell}it did not run to its end. Run it again, and read its error."
    )


def test_an_error_inside_an_answer_is_named_with_its_line(notebook):
    notebook.run(
        RIGHT.replace("return u @ k", "half = 0.5\n    return undefined * half")
    )
    said = notebook.check()
    assert "q2: 0 of 3 checks passed. Part of it is not answered yet." in said
    assert (
        "NameError: name 'undefined' is not defined (line 3: `return undefined * half`)"
        in said
    )


@pytest.mark.parametrize(
    "cells",
    [
        [STUB, SYNTAX, RIGHT],
        [STUB, NAME, "undefined = 1", NAME],
        [STUB, f"%%time\n{RIGHT}"],
        [SYNTAX, RIGHT, "1 / 0"],
    ],
    ids=["corrected", "run again", "timed", "another error"],
)
def test_a_cell_that_has_run_is_checked_whatever_happened_before(notebook, cells):
    for cell in cells:
        notebook.run(cell)
    assert notebook.check().startswith("q2: 1 of 3 checks passed.")


def test_a_stub_is_not_answered_and_no_cell_is_blamed(notebook):
    assert notebook.check().startswith("q2: not answered yet.\nReplace ...")
    notebook.run(STUB)
    assert notebook.check().startswith("q2: not answered yet.\nReplace ...")
