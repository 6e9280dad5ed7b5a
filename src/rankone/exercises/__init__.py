"""Exercises of the book, checked by otter-grader from test files that travel with the package.

In a notebook, `grader = exercises.grader("associative_memory")` and then `grader.check("q1")` after an answer. The
test files are plain otter files, so that `otter run` and `otter generate` read the same folder.
"""

from pathlib import Path
from typing import Any

from rankone.exercises.answers import NotAnswered, ask, close, holds

__all__ = ["NotAnswered", "ask", "close", "grader", "holds"]

_HERE = Path(__file__).parent


def chapters() -> list[str]:
    """Names of the folders of test files."""
    return sorted(folder.name for folder in _HERE.iterdir() if (folder / "q1.py").is_file())


def grader(chapter: str) -> Any:
    """An `otter.Notebook` that checks the answers to one chapter's exercises.

    Args:
        chapter: Folder of test files, such as "associative_memory".

    Raises:
        ValueError: If there is no such folder.
        ImportError: If otter-grader is not installed.
    """
    if chapter not in chapters():
        raise ValueError(f"chapter: got {chapter!r}; it must be one of {', '.join(map(repr, chapters()))}.")
    try:
        from rankone.exercises.reports import Grader
    except ModuleNotFoundError as missing:
        raise ImportError(
            f"The checks run in otter-grader, and {missing.name!r} is not installed. "
            "Install it with: pip install otter-grader"
        ) from missing
    return Grader(tests_dir=str(_HERE / chapter))
