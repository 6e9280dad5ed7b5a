"""One gradient step can learn anything: the universality of gradient-based meta-learning, as running networks."""

from rankone.universality.constants import Constants, lookup
from rankone.universality.learner import universal_learner
from rankone.universality.network import Layer, Network, activations, adapt, predict
from rankone.universality.rank_one import RankOneStep, gradient_into, learn, rank_one_step

__all__ = ["Constants", "Layer", "Network", "RankOneStep", "activations", "adapt", "learn", "lookup", "predict"]
__all__ += ["gradient_into", "rank_one_step", "universal_learner"]
