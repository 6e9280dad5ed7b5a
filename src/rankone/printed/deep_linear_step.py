"""What one gradient step writes into a deep linear network, as the slides print it."""

from collections.abc import Sequence

import numpy as np

from rankone.theory.deep_linear import Matrix, left, right

__all__ = ["printed_first_order"]


def printed_first_order(W: Sequence[Matrix], e: Matrix, phi: Matrix) -> Matrix:
    """The same with the last factor as printed, W₁…W_{i−1} for W_{i+1}…W_N [M-prod, M-z*]."""
    terms = ((left(W, i), right(W, i)) for i in range(1, len(W) + 1))
    return np.sum([P @ np.outer(P.T @ e, Q @ phi) @ P for P, Q in terms], 0)
