"""Residual memory (ResMem): a base model, and a memory that looks up its residuals at
the nearest neighbours.
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
