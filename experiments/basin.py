"""The basin of a stored pattern: wrong bits after recall from flipped cues, for many D,
K, Y, beta and fractions of flipped bits.
"""

import jax
import jax.numpy as jnp
import numpy as np
from record import Experiment, main

import rankone as ro
from rankone.data.queries import flip_bits
from rankone.theory.fidelity import hamming_error

GRID = {
    "D": [100, 400, 1600],
    "load": [0.6, 1.25, 2.5, 5.0, 12.0],
    "beta": [50.0, 65.0, 80.0],
    "flips": [0.03, 0.05, 0.1],
}
OPTIONS = {"bits": 8000, "queries": 20, "step": 0.2, "steps": 80}


def measure(
    *,
    D: int,
    load: float,
    beta: float,
    flips: float,
    bits: int,
    queries: int,
    step: float,
    steps: int,
    seed: int,
) -> dict:
    """Store K = bits/D random patterns with Y = load·DK, flip some of their bits, and
    count the wrong bits after recall.

    Returns:
        Mean fraction of wrong bits of the exact and of the distributed memory, and the
        fraction of queries in which the distributed memory repairs more than half of
        the flipped bits.
    """
    k_data, k_features, k_flips = jax.random.split(jax.random.key(seed), 3)
    Xi = ro.data.binary_patterns(bits // D, D, key=k_data)
    features = ro.RandomFeatures(
        D, round(load * bits), key=k_features, projection="hadamard"
    )
    meant = jnp.tile(Xi, (-(-queries // len(Xi)), 1))[:queries]
    start = flip_bits(meant, flips, key=k_flips)
    options = {"step_size": step, "max_steps": steps, "tol": 0, "progress": False}
    memories = {
        "exact": ro.MrDAM(Xi, beta),
        "distributed": ro.DrDAM.store(Xi, beta, features),
    }
    wrong = {
        name: np.asarray(hamming_error(ro.retrieve(m, start, **options).x, meant))
        for name, m in memories.items()
    }
    return {name: fractions.mean() for name, fractions in wrong.items()} | {
        "repaired": (wrong["distributed"] < flips / 2).mean()
    }


EXPERIMENT = Experiment("basin", __doc__, GRID, measure, OPTIONS, of="the book")

if __name__ == "__main__":
    main(EXPERIMENT)
