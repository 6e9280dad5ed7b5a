"""Where an improvement comes from: what the memory mends, and what it spoils [S-eq1, S-hyper]."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankone._checks import check

__all__ = ["Gain", "gain"]


class Gain(NamedTuple):
    """Shares of a test set, as fractions of all its examples.

    Attributes:
        mended: The base model wrong, the memory right: the paper's "TPR" [S-eq4,5].
        spoilt: The base model right, the memory wrong: its "FPR" [S-eq4,5].
        both_wrong: Both wrong, with different answers: needs three classes, adds nothing [S-dich].
        total: Error of the base minus error of the memory, = mended − spoilt [S-gain].
    """

    mended: float
    spoilt: float
    both_wrong: float
    total: float


def gain(labels: ArrayLike, base: ArrayLike, memory: ArrayLike) -> Gain:
    """Split the gain of a memory over its base model [S-gain].

    Args:
        labels: True classes (m,).
        base: The base model's answers (m,).
        memory: The memory's answers (m,).
    """
    y, b, m = (np.asarray(v) for v in (labels, base, memory))
    check(y.ndim == 1 and y.size > 0, "labels", f"shape {y.shape}", "a non-empty array (m,)")
    for name, v in (("base", b), ("memory", m)):
        check(v.shape == y.shape, name, f"shape {v.shape}", f"answers, not scores: shape {y.shape}")
    mended, spoilt = (b != y) & (m == y), (b == y) & (m != y)
    total = (b != y).mean() - (m != y).mean()
    return Gain(
        float(mended.mean()), float(spoilt.mean()), float(((b != y) & (m != y) & (b != m)).mean()), float(total)
    )
