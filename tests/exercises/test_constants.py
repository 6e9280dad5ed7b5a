"""A function that returns a constant, or one of its arguments, earns no point on any
page of exercises.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from exercise_pages import COUNTS, Page

from rankone.precision import double_precision
from rankone_book import exercises
from rankone_book.exercises.checks import Question

PAGES = {
    chapter: Page(chapter, f"{chapter}_exercises", {}, [])
    for chapter in exercises.chapters()
}
SEEDS = ("public", "one student")
QUESTIONS = [
    (chapter, q) for chapter, page in PAGES.items() for q in page.grader.questions
]
# Constants that replace an answer; `shaped` fills the shapes of the right answer with
# them.
NUMBERS = (0, 1, True, 1.0, -1.0, 2, 0.5, 3, 10**6, 1e-9, float("nan"), float("inf"))
ARGUMENTS = range(-1, 6)


@pytest.fixture(autouse=True)
def double():
    """The pages compute in float64."""
    with double_precision():
        yield


def shaped(answer: Any, fill: Callable[[tuple[int, ...]], Any]) -> Any:
    """An answer of the same structure with its numbers and arrays replaced."""
    if isinstance(answer, tuple | list):
        return type(answer)(shaped(part, fill) for part in answer)
    return fill(np.shape(answer))


def identity(shape: tuple[int, ...]) -> Any:
    """Ones on the main diagonal; a vector becomes the first unit vector, a number
    becomes 1.
    """
    array = np.zeros(shape)
    array[
        (np.arange(min(shape)),) * len(shape) if len(shape) > 1 else (0,) * len(shape)
    ] = 1
    return array


FILLS = {
    "zeros": np.zeros,
    "ones": np.ones,
    "minus ones": lambda shape: -np.ones(shape),
    "identity": identity,
}
FILLS |= {
    "a probability": lambda shape: np.full(shape, 1 / max(np.prod(shape, dtype=int), 1))
}
FILLS |= {
    "counted up": lambda shape: np.arange(np.prod(shape, dtype=int)).reshape(shape)
}
FILLS |= {
    "whole zeros": lambda shape: np.zeros(shape, int),
    "whole ones": lambda shape: np.ones(shape, int),
}


def careless(right: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """Name -> a function that replaces the right one without solving the exercise."""

    def filled(fill: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments: shaped(right(*arguments), fill)

    functions: dict[str, Callable[..., Any]] = {
        f"{n!r}": lambda *_, n=n: n for n in NUMBERS
    }
    functions |= {name: filled(fill) for name, fill in FILLS.items()}
    functions |= {
        f"argument {i}": lambda *arguments, i=i: arguments[i] for i in ARGUMENTS
    }
    return functions


def test_the_pages_have_as_many_checked_questions_as_their_tables_say():
    assert len(QUESTIONS) == sum(COUNTS.values()) >= 49


@pytest.mark.parametrize(("chapter", "question"), QUESTIONS)
def test_a_constant_earns_nothing(chapter, question):
    page = PAGES[chapter]
    right = page.answers[1][int(question[1:]) - 1]
    checks = page.grader.questions[question]
    # cases without points only guide the student
    cases = tuple(case for case in checks.cases if case.points != 0)
    worth = Question(checks.name, checks.points, cases)
    answers = {name: careless(right[name]) for name in worth.functions}
    earned = []
    for kind in answers[min(answers)]:
        for seed in SEEDS:
            report = worth.run(
                {name: functions[kind] for name, functions in answers.items()}, seed
            )
            earned += [
                f"{kind}: {result.name}"
                for result in report.results
                if result.error is None
            ]
    assert not earned
