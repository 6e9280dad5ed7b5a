"""Rank One: how neural networks write, retrieve and edit memories. The package of the book."""

from rankone import data
from rankone.memory import DrDAM, MrDAM, RandomFeatures, Retrieval, divergence_bound, retrieve

__all__ = ["DrDAM", "MrDAM", "RandomFeatures", "Retrieval", "data", "divergence_bound", "retrieve"]
