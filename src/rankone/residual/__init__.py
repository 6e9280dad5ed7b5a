"""Residual memory (ResMem): a base model, the nearest-neighbour memory of its
residuals, and the rate of the two.
"""

from rankone.residual.resmem import ResMem
from rankone.residual.search import ExactSearch, FaissSearch, Neighbours, ShardedSearch

__all__ = [
    "ExactSearch",
    "FaissSearch",
    "Neighbours",
    "ResMem",
    "ShardedSearch",
]
