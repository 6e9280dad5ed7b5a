"""Parts of a check: random data, a student's answer to them, and hints that do not
give the right answer away.
"""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["NoAnswer", "NotAnswered", "NotRun", "ask", "close", "generator", "holds"]


class NoAnswer(Exception):
    """There is nothing to check; the message tells the student why."""


class NotAnswered(NoAnswer):
    """The function is still the exercise's stub."""


class NotRun(NoAnswer):
    """The cell that defines the function stopped with an error; the message names the
    cell and the line.
    """


def generator(seed: str) -> np.random.Generator:
    """The generator for a seed, the same on every machine."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(seed.encode()).digest()))


def ask(function: Callable[..., Any] | None, *args: Any) -> Any:
    """The answer of a student's function to these arguments.

    Raises:
        NotAnswered: If there is no function, or it returns nothing or `...`.
    """
    if function is None:
        raise NotAnswered(
            "the function is not defined: run the cell with your answer first"
        )
    answer = function(*args)
    if any(
        part is None or part is ...
        for part in (answer if isinstance(answer, tuple) else (answer,))
    ):
        raise NotAnswered(f"{function.__name__} returns nothing yet")
    return answer


def close(
    answer: Any, expected: Any, hint: str, *, rtol: float = 1e-3, atol: float = 1e-5
) -> None:
    """Raise an AssertionError with `hint` unless the answer is finite, of the right
    shape and within tolerance.

    The message has the shape and the number of wrong entries, but no expected value.

    Args:
        answer: Result of the student's function.
        expected: The right answer: a number, or an array or list of numbers.
        hint: Text that the student reads if the answer is wrong.
        rtol: Tolerance relative to the right answer.
        atol: Absolute tolerance.

    >>> close([1.0, 2.1], [1.0, 2.0], "Count the second one again.")
    Traceback (most recent call last):
    AssertionError: 1 of 2 entries are not right. Count the second one again.
    """
    values = np.asarray(answer, float)
    reference = np.asarray(expected, float)
    holds(
        values.shape == reference.shape,
        f"your answer has shape {values.shape}, not {reference.shape}. {hint}",
    )
    holds(bool(np.isfinite(values).all()), f"your answer is not finite. {hint}")
    wrong = np.abs(values - reference) > atol + rtol * np.abs(reference)
    count = (
        f"{wrong.sum()} of {wrong.size} entries are" if wrong.ndim else "your answer is"
    )
    holds(not wrong.any(), f"{count} not right. {hint}")


def holds(condition: Any, hint: str) -> None:
    """Raise an AssertionError with `hint` unless the condition holds."""
    if not condition:
        raise AssertionError(hint)
