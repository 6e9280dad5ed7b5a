"""The library of the book Rank One: how neural networks write, retrieve and edit
memories.

Read `plain` first. It holds the five results as their definitions, in a hundred lines.
The packages `memory`, `editing`, `preconditioning`, `universality` and `residual` hold
one result each, and `writes` holds the read-out that they share. `maml` and `language`
are models to try the results on. `theory` computes what the book proves, and `printed`
what the papers print otherwise.
"""

from importlib.metadata import version

from rankone import (
    _jax,  # noqa: F401  first, because it refuses an older jax
    checks,
    data,
    editing,
    language,
    maml,
    memory,
    nn,
    plain,
    precision,
    preconditioning,
    printed,
    residual,
    theory,
    universality,
    writes,
)
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
    "checks",
    "data",
    "divergence_bound",
    "editing",
    "kronecker_preconditioner",
    "language",
    "maml",
    "memory",
    "nearest_neighbour_risk",
    "nn",
    "plain",
    "precision",
    "preconditioning",
    "predict",
    "printed",
    "rank_one_edit",
    "residual",
    "retrieve",
    "theory",
    "universal_learner",
    "universality",
    "writes",
]
__version__ = version("rankone")
