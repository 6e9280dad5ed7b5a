"""Edits of a weight matrix, read as a linear memory: closed-form changes of low rank,
the inner product of keys that they use, and their interference with the old keys.
"""

from rankone.editing.closed_form import batch_edit, interpolate_residuals, rank_one_edit
from rankone.editing.geometry import KeyGeometry
from rankone.editing.keys import SecondMoments, capture_keys
from rankone.editing.projected import projected_edit, quiet_directions
from rankone.editing.sequential import cyclic_edit, sequential_edit
from rankone.editing.singular import pseudo_inverse_edit, ridge_limit_edit
from rankone.editing.trees import edit_at, weight_at
from rankone.writes import Edited, LowRankEdit, RankOneEdit, load_edit

__all__ = [
    "Edited",
    "KeyGeometry",
    "LowRankEdit",
    "RankOneEdit",
    "SecondMoments",
    "batch_edit",
    "capture_keys",
    "cyclic_edit",
    "edit_at",
    "interpolate_residuals",
    "load_edit",
    "projected_edit",
    "pseudo_inverse_edit",
    "quiet_directions",
    "rank_one_edit",
    "ridge_limit_edit",
    "sequential_edit",
    "weight_at",
]
