"""The preconditioning explorer: shape T and V, and watch descent on U and
preconditioned descent on W coincide.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rankone_book.widgets._explorer import Explorer, Settings

__all__ = ["PreconditioningExplorer"]

_SHAPE = {
    "conditionT": 2.0,
    "angleT": 60.0,
    "rankT": 2,
    "conditionV": 3.0,
    "angleV": 135.0,
    "rankV": 2,
}


class PreconditioningExplorer(Explorer):
    """Three descents of a 2 × 2 matrix on one loss: plain, on U with W = TUV, and on W
    with P = VᵀV ⊗ TTᵀ.

    The page computes everything. With a Jupyter kernel, the reader's changes come back
    in `settings`, and `T` and `V` are the displayed matrices, for use with
    `rankone.preconditioning`.

    Attributes:
        settings: Settings that differ from the page's own start: conditionA, angleA,
            conditionD (condition numbers of A and D and the angle of A in the loss ½tr
            D(W − W*)A(W − W*)ᵀ), conditionT, angleT, rankT, conditionV, angleV, rankV
            (the factors), method ("gd", "heavy", "nesterov", "decoupled", "penalty",
            "adam" or "muon"), momentum, lambda (the decay), rate (step size of "adam"
            and "muon"), best (for the other methods; True for the best fixed step of
            each path), share (otherwise: their step size as a fraction of the largest
            stable one), tolerance (distance from the end of a path, as a fraction of
            the initial distance, at which its steps are counted), steps, start (W₀ as
            two rows). Angles are in degrees.
    """

    _esm = Path(__file__).parent / "static" / "preconditioning.js"
    _takes = Settings.read("preconditioning")

    @property
    def T(self) -> NDArray:
        """The displayed factor T (2, 2), or (2, 1) where it has one column."""
        return self._factor("T")

    @property
    def V(self) -> NDArray:
        """The displayed factor V (2, 2), or (1, 2) where it has one row."""
        return self._factor("V").T

    def _factor(self, name: str) -> NDArray:
        """R(angle)·diag(√condition, 1/√condition), or its first column."""
        condition, angle, rank = (
            (_SHAPE | self.settings)[part + name]
            for part in ("condition", "angle", "rank")
        )
        cosine = np.cos(np.deg2rad(angle))
        sine = np.sin(np.deg2rad(angle))
        root = np.sqrt(condition)
        return (
            np.array([[cosine, -sine], [sine, cosine]]) @ np.diag([root, 1 / root])
        )[:, :rank]
