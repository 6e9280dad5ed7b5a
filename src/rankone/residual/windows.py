"""A text cut into overlapping windows, and how much of it each token sees [S-appC-win]."""

import numpy as np
from numpy.typing import NDArray

from rankone._checks import check

__all__ = ["context_lengths", "window_starts"]


def window_starts(length: int, window: int, stride: int) -> NDArray[np.int64]:
    """First tokens of the windows that cover a text; the last one ends with it.

    Args:
        length: Tokens of the text, 1 or more.
        window: Tokens of a window.
        stride: Tokens from one window to the next, at most `window`.
    """
    check(length >= 1, "length", length, "a positive number of tokens")
    check(1 <= stride <= window, "stride", stride, f"from 1 to the window, {window}")
    last = max(length - window, 0)
    return np.append(np.arange(0, last, stride), last)


def context_lengths(length: int, window: int, stride: int) -> NDArray[np.int64]:
    """Tokens before each token in the first window that holds it: what predicts it [S-appC-win].

    From the second window on at least window − stride; in the first window 0, 1, 2, …
    """
    contexts = np.full(length, -1)
    for start in window_starts(length, window, stride):
        inside = np.arange(start, min(start + window, length))
        new = inside[contexts[inside] < 0]
        contexts[new] = new - start
    return contexts
