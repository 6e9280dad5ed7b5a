"""Rank One: how neural networks write, retrieve and edit memories. The package of the book."""

import rankone._jax  # noqa: F401  first, as an older jax is refused there
from rankone import data
from rankone.editing import KeyGeometry, LowRankEdit, RankOneEdit, batch_edit, rank_one_edit
from rankone.memory import DrDAM, MrDAM, RandomFeatures, Retrieval, divergence_bound, retrieve
from rankone.preconditioning import Reparameterized, kronecker_preconditioner
from rankone.residual import ResMem, nearest_neighbour_risk
from rankone.universality import adapt, predict, universal_learner

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
