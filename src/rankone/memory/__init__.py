"""Dense associative memories: exact (MrDAM), distributed (DrDAM), and the descent that
retrieves from them.
"""

from rankone.memory.descent import Retrieval, retrieve
from rankone.memory.distributed import DrDAM
from rankone.memory.exact import MrDAM
from rankone.memory.features import RandomFeatures

__all__ = ["DrDAM", "MrDAM", "RandomFeatures", "Retrieval", "retrieve"]
