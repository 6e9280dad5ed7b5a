"""Dense associative memories: exact (MrDAM), distributed (DrDAM), their retrieval, and how far apart they are."""

from rankone.memory.bounds import divergence_bound
from rankone.memory.distributed import DrDAM
from rankone.memory.exact import MrDAM
from rankone.memory.features import RandomFeatures
from rankone.memory.retrieval import Retrieval, retrieve

__all__ = ["DrDAM", "MrDAM", "RandomFeatures", "Retrieval", "divergence_bound", "retrieve"]
