"""The library of the book Rank One: how neural networks write, retrieve and edit
memories.

Read `plain` first. It states the five results as their definitions, in under a hundred
lines of code.
The packages `memory`, `editing`, `preconditioning`, `universality` and `residual`
implement one result each, and `writes` implements the kernel memory that they share.
`maml` and `language` contain models on which you can try the results. `theory` computes
what the book proves, and `printed` computes formulas in the uncorrected form that the
papers print.
"""

from importlib.metadata import version

from rankone import _jax  # noqa: F401  first, because it refuses an older jax
from rankone import checks as checks
from rankone import data as data
from rankone import editing as editing
from rankone import language as language
from rankone import maml as maml
from rankone import memory as memory
from rankone import nn as nn
from rankone import plain as plain
from rankone import precision as precision
from rankone import preconditioning as preconditioning
from rankone import printed as printed
from rankone import residual as residual
from rankone import theory as theory
from rankone import universality as universality
from rankone import writes as writes
from rankone.editing import (
    KeyGeometry,
    LowRankEdit,
    RankOneEdit,
    batch_edit,
    rank_one_edit,
)
from rankone.memory import DrDAM, MrDAM, RandomFeatures, Retrieval, retrieve
from rankone.preconditioning import Reparameterized, kronecker_preconditioner
from rankone.residual import ResMem
from rankone.theory.divergence import divergence_bound
from rankone.theory.nearest_neighbour import nearest_neighbour_risk
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
__version__ = version("rankone")
