"""Exercises of the book, checked in the notebook and graded for a class from the same
files.

In a notebook, `grader = exercises.grader("memory")` and then `grader.check("q1")` after
an answer: the checks of `memory/q1.py` run in the notebook's own process and give
hints. `rankone_book.exercises.grading` runs the same files on the notebook that a
student hands in. The student's code runs in a separate process, on data drawn for that
student.
"""

from pathlib import Path

from rankone_book.exercises.answers import NotAnswered, ask, close, holds
from rankone_book.exercises.checks import Grader, test_case

__all__ = ["NotAnswered", "ask", "chapters", "close", "grader", "holds", "test_case"]

_HERE = Path(__file__).parent


def chapters() -> list[str]:
    """Names of the folders of checks."""
    return sorted(
        folder.name for folder in _HERE.iterdir() if (folder / "q1.py").is_file()
    )


def grader(chapter: str) -> Grader:
    """The grader that checks the answers to one chapter's exercises.

    Args:
        chapter: Folder of checks, such as "memory".

    Raises:
        ValueError: If there is no such folder.
    """
    if chapter not in chapters():
        raise ValueError(
            f"chapter: got {chapter!r}; "
            f"it must be one of {', '.join(map(repr, chapters()))}."
        )
    return Grader(_HERE / chapter)
