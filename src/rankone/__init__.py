"""The library of the book Rank One: how neural networks write, retrieve and edit
memories.

Read `plain` first. It holds the five results as their definitions, in a hundred lines.
The packages `memory`, `editing`, `preconditioning`, `universality` and `residual` hold
one result each, and `writes` holds the read-out that they share. `maml` and `language`
are models to try the results on. `theory` computes what the book proves, and `printed`
what the papers print otherwise.

Every name here is imported when it is first used.
"""

import importlib.metadata
from typing import TYPE_CHECKING, Any

import rankone._jax  # noqa: F401  first, as an older jax is refused there
from rankone._lazy import on_demand

if TYPE_CHECKING:
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

    __version__: str

_HOME = {  # where each public name is defined
    "DrDAM": "memory",
    "KeyGeometry": "editing",
    "LowRankEdit": "editing",
    "MrDAM": "memory",
    "RandomFeatures": "memory",
    "RankOneEdit": "editing",
    "Reparameterized": "preconditioning",
    "ResMem": "residual",
    "Retrieval": "memory",
    "adapt": "universality",
    "batch_edit": "editing",
    "divergence_bound": "theory.divergence",
    "kronecker_preconditioner": "preconditioning",
    "nearest_neighbour_risk": "theory.nearest_neighbour",
    "predict": "universality",
    "rank_one_edit": "editing",
    "retrieve": "memory",
    "universal_learner": "universality",
}
_PARTS = frozenset(
    {
        "checks",
        "data",
        "editing",
        "language",
        "maml",
        "memory",
        "nn",
        "plain",
        "precision",
        "preconditioning",
        "printed",
        "residual",
        "theory",
        "universality",
        "writes",
    }
)

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

if not TYPE_CHECKING:
    _find, _names = on_demand(__name__, _PARTS, _HOME)

    def __getattr__(name: str) -> Any:
        return (
            importlib.metadata.version(__name__)
            if name == "__version__"
            else _find(name)
        )

    def __dir__() -> list[str]:
        return sorted({*_names(), "__version__"})
