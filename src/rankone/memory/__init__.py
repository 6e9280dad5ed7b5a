"""Dense associative memories: exact (`rankone.MrDAM`), distributed (`rankone.DrDAM`),
and the descent that retrieves from them (`rankone.retrieve`). All of their names are
public names of `rankone`.
"""

from rankone.memory.descent import Retrieval, retrieve
from rankone.memory.distributed import DrDAM
from rankone.memory.exact import MrDAM
from rankone.memory.features import RandomFeatures

__all__ = ["DrDAM", "MrDAM", "RandomFeatures", "Retrieval", "retrieve"]
