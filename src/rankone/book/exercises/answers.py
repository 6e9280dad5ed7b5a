"""What a check needs: random data, a student's answer to them, and hints that do not give the right answer away."""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["NoAnswer", "NotAnswered", "ask", "close", "generator", "holds"]


class NoAnswer(Exception):
    """There is nothing to check; the message tells the student why."""


class NotAnswered(NoAnswer):
    """The function is still the exercise's stub."""


def generator(seed: str) -> np.random.Generator:
    """The generator that belongs to a seed: the same on every machine."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(seed.encode()).digest()))


def ask(function: Callable[..., Any] | None, *args: Any) -> Any:
    """The answer of a student's function to these arguments.

    Raises:
        NotAnswered: If there is no function, or it returns nothing or `...`.
    """
    if function is None:
        raise NotAnswered("the function is not defined: run the cell with your answer first")
    answer = function(*args)
    if any(part is None or part is ... for part in (answer if isinstance(answer, tuple) else (answer,))):
        raise NotAnswered(f"{function.__name__} returns nothing yet")
    return answer


def close(answer: ArrayLike, expected: ArrayLike, hint: str, *, rtol: float = 1e-3, atol: float = 1e-5) -> None:
    """Raise an AssertionError with `hint` unless the answer is finite, of the right shape and within tolerance.

    The message tells the shape, and how many entries are wrong, but no expected value.
    """
    got, want = np.asarray(answer, float), np.asarray(expected, float)
    holds(got.shape == want.shape, f"your answer has shape {got.shape}, not {want.shape}. {hint}")
    holds(bool(np.isfinite(got).all()), f"your answer is not finite. {hint}")
    wrong = np.abs(got - want) > atol + rtol * np.abs(want)
    count = f"{wrong.sum()} of {wrong.size} entries are" if wrong.ndim else "your answer is"
    holds(not wrong.any(), f"{count} not right. {hint}")


def holds(condition: Any, hint: str) -> None:
    """Raise an AssertionError with `hint` unless the condition holds."""
    if not condition:
        raise AssertionError(hint)
