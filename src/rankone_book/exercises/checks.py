"""Files of checks, and the runner that notebooks and the grader of a class share.

A file is one question: `points`, and functions decorated with `test_case`, as in
otter-grader's files. An argument of such a function is the student's function of that
name; the argument `draws` is a random generator, whose seed is fixed in notebooks, and
differs between students when a class is graded. otter's runner would not do: it cannot
run a student's code in another process, and it depends on thirty packages.
"""

import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, no_type_check

from rankone_book.exercises.answers import NoAnswer, NotAnswered, NotRun, generator
from rankone_book.exercises.cell_errors import in_words, unfinished

__all__ = ["Grader", "Question", "Report", "Result", "questions", "test_case"]

PUBLIC = "public"  # the seed of the checks in a notebook


class test_case:
    """Decorator of one check.

    Args:
        name: Name of the check, for the report.
        points: Part of the question's points. The checks without this argument divide
            the remaining points equally. A check that a constant can pass only guides,
            and has 0 points.
    """

    def __init__(self, name: str, points: float | None = None):
        self.name = name
        self.points = points

    def __call__(self, function: Callable[..., None]) -> "test_case":
        """Store the decorated function."""
        self.function = function
        self.arguments = list(inspect.signature(function).parameters)
        return self


@dataclass(frozen=True)
class Result:
    """Result of one check. `error` is the exception that it raised, or None if it
    passed, and `message` describes it.
    """

    name: str
    points: float
    error: Exception | None
    message: str = ""

    def __str__(self) -> str:
        if self.error is None:
            return f"passed: {self.name}"
        return f"failed: {self.name}\n    {self.message[:500]}"


@dataclass(frozen=True)
class Report:
    """Result of one question. A notebook shows its text, which lists the checks, with a
    hint for each that failed.
    """

    question: str
    results: tuple[Result, ...]

    @property
    def passed(self) -> bool:
        """True if every check passed."""
        return all(result.error is None for result in self.results)

    @property
    def answered(self) -> bool:
        """True if the exercise's stub has been replaced."""
        return not any(isinstance(result.error, NotAnswered) for result in self.results)

    @property
    def earned(self) -> float:
        """Points of the checks that passed."""
        return round(
            sum(result.points for result in self.results if result.error is None), 2
        )

    def __repr__(self) -> str:
        if self.passed:
            return f"{self.question}: all checks passed."
        if all(isinstance(result.error, NotRun) for result in self.results):
            reasons = dict.fromkeys(result.message for result in self.results)
            return "\n".join(
                [
                    f"{self.question}: not checked, because a cell stopped with an error.",
                    *reasons,
                ]
            )
        count = sum(result.error is None for result in self.results)
        if all(isinstance(result.error, NotAnswered) for result in self.results):
            return (
                f"{self.question}: not answered yet.\nReplace ... in the cell above, "
                "run it, then this cell."
            )
        remark = "" if self.answered else " Part of it is not answered yet."
        lines = [
            f"{self.question}: {count} of {len(self.results)} checks passed.{remark}"
        ]
        return "\n".join([*lines, *(f"  {result}" for result in self.results)])


@dataclass(frozen=True)
class Question:
    """The checks of one file."""

    name: str
    points: float
    cases: tuple[test_case, ...]

    @property
    def functions(self) -> set[str]:
        """Names of the functions that a student writes."""
        return {name for case in self.cases for name in case.arguments} - {"draws"}

    def run(self, answers: Mapping[str, Any], seed: str = PUBLIC) -> Report:
        """Check a student's functions.

        Args:
            answers: Name -> function; a missing function counts as not answered.
            seed: Seed of the data. Each check has its own generator, derived from it.
        """
        shared = [case for case in self.cases if case.points is None]
        points_each = (
            self.points - sum(case.points or 0 for case in self.cases)
        ) / max(len(shared), 1)
        results = []
        for case in self.cases:
            fixtures = {"draws": generator(f"{seed}/{self.name}/{case.name}")}
            arguments = {
                name: fixtures.get(name, answers.get(name)) for name in case.arguments
            }
            points = points_each if case.points is None else case.points
            error = _error(case.function, arguments)
            results.append(Result(case.name, points, error, _message(error, answers)))
        return Report(self.name, tuple(results))

    def not_run(self, reason: str) -> Report:
        """The report if the cell with the answer stopped, so that there is nothing to
        check.
        """
        return Report(
            self.name,
            tuple(Result(case.name, 0, NotRun(reason), reason) for case in self.cases),
        )


def _error(
    function: Callable[..., None], arguments: dict[str, Any]
) -> Exception | None:
    try:
        function(**arguments)
    except Exception as error:
        return error
    return None


def _message(error: Exception | None, answers: Mapping[str, Any]) -> str:
    """The hint of a failed check. For any other error, its type and message, and the
    line of the student's cell.
    """
    if error is None or isinstance(error, AssertionError | NoAnswer):
        return str(error or "")
    return in_words(error, answers)


@cache
def _load(path: Path) -> Question:
    spec = importlib.util.spec_from_file_location(
        f"{path.parent.name}_{path.stem}", path
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Question(
        path.stem,
        module.points,
        tuple(c for c in vars(module).values() if isinstance(c, test_case)),
    )


def questions(folder: Path) -> dict[str, Question]:
    """The questions of a folder of checks, in order: q1.py, q2.py, ..."""
    files = sorted(folder.glob("q[0-9]*.py"), key=lambda file: int(file.stem[1:]))
    return {file.stem: _load(file) for file in files}


class Grader:
    """Checks answers in a notebook, in the notebook's own process. It guides; nothing
    is handed in or scored.

    Args:
        folder: Folder of the chapter's checks.
    """

    def __init__(self, folder: Path):
        self.questions = questions(folder)

    @no_type_check  # with a type checker's wrapper, the wrapper would be the caller
    def check(self, question: str, names: Mapping[str, Any] | None = None) -> Report:
        """Check one answer.

        Args:
            question: Its name: "q1", "q2" and so on.
            names: Name -> the student's function; by default the caller's global
                variables.

        Raises:
            ValueError: If there is no such question.
        """
        if question not in self.questions:
            raise ValueError(
                f"question: got {question!r}; "
                f"it must be one of {', '.join(self.questions)}."
            )
        answers = sys._getframe(1).f_globals if names is None else names
        exercise = self.questions[question]
        reason = unfinished(exercise.functions, answers)
        return exercise.not_run(reason) if reason else exercise.run(answers)
