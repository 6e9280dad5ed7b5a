"""Universality of gradient-based meta-learning, as networks to run: one gradient step
on an example (x, y) makes each predict approximately f(x, y, x*) for a given f.
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
