"""One gradient step can learn anything: the universality of gradient-based
meta-learning, as running networks.
"""

from rankone.universality.constants import Constants, lookup_table
from rankone.universality.learner import universal_learner
from rankone.universality.network import Network, activations, adapt, predict
from rankone.universality.rank_one import (
    RankOneStep,
    gradient_into,
    learn,
    rank_one_step,
)

__all__ = [
    "Constants",
    "Network",
    "RankOneStep",
    "activations",
    "adapt",
    "gradient_into",
    "learn",
    "lookup_table",
]
__all__ += ["predict", "rank_one_step", "universal_learner"]
