"""Residual memory (ResMem): a base model, the nearest-neighbour memory of what it leaves, and the rate of the two."""

from rankone.residual.faiss import FaissSearch
from rankone.residual.resmem import ResMem
from rankone.residual.search import ExactSearch, Neighbours
from rankone.residual.sharded import ShardedSearch

__all__ = [
    "ExactSearch",
    "FaissSearch",
    "Neighbours",
    "ResMem",
    "ShardedSearch",
]
