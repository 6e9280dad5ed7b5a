"""Bits stored for each bit of the patterns, and wrong bits after recall: T at 32 to 1
bits, and the network of 1982.

A grid of our own: the paper leaves compression open (Appendix A). All memories store
patterns of one kind, and a tenth of the bits of their cues are flipped. For T,
`per_bit` is the number of its entries per pattern bit, 2Y/DK, and each entry takes
`bits` bits. For the Hebbian matrix (--memory hopfield), `per_bit` is the number of its
weights per pattern bit, (D − 1)/2K; the weights are whole numbers (`bits` 32) or their
signs (`bits` 1).
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from record import Experiment, main

import rankone as ro
from rankone.data.queries import flip_bits
from rankone.memory.hopfield import hebbian, recall
from rankone.theory.fidelity import hamming_error

GRID: dict[str, list[Any]] = {
    "memory": ["dense"],
    "bits": [32, 4, 2, 1],
    "per_bit": [2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0],
}
OPTIONS = {"D": 100, "K": 25, "beta": 40.0, "flips": 0.1, "steps": 300}


def measure(*, memory: str, D: int, seed: int, **parameters: Any) -> dict:
    """Fraction of wrong bits after recall from the cues, and the stored bits per
    pattern bit.
    """
    keys = jax.random.split(jax.random.key(seed), 3)
    return {"dense": dense, "exact": exact, "hopfield": hopfield}[memory](
        D, keys, **parameters
    )


def dense(
    D: int,
    keys: jax.Array,
    *,
    K: int,
    bits: int,
    per_bit: float,
    beta: float,
    flips: float,
    steps: int,
) -> dict:
    """The distributed memory, whose stored bits are those of T alone."""
    Xi, cues = problem(D, K, flips, keys)
    features = ro.RandomFeatures(D, round(per_bit * D * K / 2), key=keys[2])
    memory = ro.DrDAM.store(Xi, beta, features, bits=bits)
    return outcome(memory, Xi, cues, steps) | {"rate": 8 * memory.T.nbytes / (D * K)}


def exact(
    D: int, keys: jax.Array, *, K: int, beta: float, flips: float, steps: int, **_: Any
) -> dict:
    """The matrix of the patterns, which stores one bit per pattern bit."""
    Xi, cues = problem(D, K, flips, keys)
    return outcome(ro.MrDAM(Xi, beta), Xi, cues, steps) | {"rate": 1.0}


def hopfield(
    D: int, keys: jax.Array, *, bits: int, per_bit: float, flips: float, **_: Any
) -> dict:
    """The sign rule with the Hebbian matrix of (D − 1)/(2·per_bit) patterns."""
    K = round((D - 1) / (2 * per_bit))
    Xi, cues = (2 * (x > 0) - 1.0 for x in problem(D, K, flips, keys))
    T = hebbian(Xi)
    weights = D * (D - 1) // 2
    size = weights * np.log2(K + 1)  # K + 1 values: from −K to K, all even or all odd
    if bits == 1:
        T = jnp.where(T >= 0, 1.0, -1.0)
        size = weights
    estimate = recall(cues, T).sigma
    return {"wrong": (estimate != Xi).mean(), "rate": size / (D * K), "K": K}


def problem(
    D: int, K: int, flips: float, keys: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Patterns, and a cue for each."""
    Xi = ro.data.binary_patterns(K, D, key=keys[0])
    return Xi, flip_bits(Xi, flips, key=keys[1])


def outcome(
    memory: ro.MrDAM | ro.DrDAM, Xi: jax.Array, cues: jax.Array, steps: int
) -> dict:
    """Fraction of wrong bits after descent."""
    end = ro.retrieve(memory, cues, step_size=0.2, max_steps=steps, progress=False).x
    return {"wrong": hamming_error(end, Xi).mean()}


EXPERIMENT = Experiment(
    "rate_distortion",
    __doc__,
    GRID,
    measure,
    OPTIONS,
    of="the book",
    seeds=(0, 1, 2, 3),
)

if __name__ == "__main__":
    main(EXPERIMENT)
