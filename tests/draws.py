"""Random numbers for many tests."""

import numpy as np


def normal(seed, *shape):
    """Standard normal numbers of a shape, the same for the same seed."""
    return np.random.default_rng(seed).normal(size=shape)
