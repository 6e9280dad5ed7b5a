"""Rank One: how neural networks write, retrieve and edit memories. The package of the book."""

import importlib
import importlib.metadata
from typing import TYPE_CHECKING, Any

import rankone._jax  # noqa: F401  first, as an older jax is refused there
from rankone import data
from rankone.editing import KeyGeometry, LowRankEdit, RankOneEdit, batch_edit, rank_one_edit
from rankone.memory import DrDAM, MrDAM, RandomFeatures, Retrieval, divergence_bound, retrieve
from rankone.preconditioning import Reparameterized, kronecker_preconditioner
from rankone.residual import ResMem, nearest_neighbour_risk
from rankone.universality import adapt, predict, universal_learner

if TYPE_CHECKING:
    from rankone import claims as claims
    from rankone import editing as editing
    from rankone import exercises as exercises
    from rankone import figures as figures
    from rankone import language as language
    from rankone import maml as maml
    from rankone import memory as memory
    from rankone import notebook as notebook
    from rankone import precision as precision
    from rankone import preconditioning as preconditioning
    from rankone import records as records
    from rankone import residual as residual
    from rankone import universality as universality
    from rankone import widgets as widgets

    __version__: str
else:

    def __getattr__(name: str) -> Any:
        """The version, and the parts of the package that are imported when they are first used."""
        if name == "__version__":
            return importlib.metadata.version(__name__)
        if name in _PARTS:
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_PARTS = {"claims", "exercises", "figures", "language", "maml", "notebook", "precision", "records", "widgets"}

__all__ = [
    "DrDAM",
    "KeyGeometry",
    "LowRankEdit",
    "MrDAM",
    "RandomFeatures",
    "RankOneEdit",
    "Reparameterized",
    "ResMem",
    "Retrieval",
    "adapt",
    "batch_edit",
    "data",
    "divergence_bound",
    "kronecker_preconditioner",
    "nearest_neighbour_risk",
    "predict",
    "rank_one_edit",
    "retrieve",
    "universal_learner",
]
