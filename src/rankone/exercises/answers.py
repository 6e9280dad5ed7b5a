"""What a test file needs: to ask a reader's function for its answer, and to say helpfully what is wrong with it."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["NotAnswered", "ask", "close", "holds"]


class NotAnswered(Exception):
    """The function is still the exercise's stub."""


def ask(function: Callable[..., Any] | None, *args: Any) -> Any:
    """The answer of a reader's function to these arguments.

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
    """Raise an AssertionError with `hint` unless the answer is finite, of the right shape and within tolerance."""
    got, want = np.asarray(answer, float), np.asarray(expected, float)
    holds(got.shape == want.shape, f"your answer has shape {got.shape}, and {want.shape} was expected. {hint}")
    holds(bool(np.isfinite(got).all()), f"your answer is not finite. {hint}")
    error = np.abs(got - want) / (atol + rtol * np.abs(want))
    worst = np.unravel_index(error.argmax(), error.shape)
    holds(error.max() <= 1, f"got {got[worst]:.6g} where {want[worst]:.6g} was expected. {hint}")


def holds(condition: Any, hint: str) -> None:
    """Raise an AssertionError with `hint` unless the condition holds."""
    if not condition:
        raise AssertionError(hint)
