"""Figs 3 and 4A: errors of energy and gradient, and of retrieval, against Y, β and D,
on random binary patterns.

Queries are stored patterns, near ones (a tenth of the bits flipped) and far ones (new
random patterns). The law of D-sharp2, computed from the patterns alone, is recorded
beside each measured error. --retrieval 1 adds Fig. 4A to each cell. It takes a thousand
times as long, and the whole grid needs a GPU.
"""

import jax
import numpy as np
from record import Cell, Experiment, main

import rankone as ro
from rankone.data.queries import flip_bits
from rankone.theory.error_law import error_law
from rankone.theory.fidelity import approximation_errors, hamming_error

GRID = {
    "Y": [5_000, 40_000, 80_000, 120_000, 160_000, 200_000, 300_000, 400_000, 500_000],
    "D": [30, 100, 500, 1000],
    "beta": [10.0, 30.0, 40.0, 50.0],
    "retrieval": [0, 1],
}
OPTIONS = {
    "K": 500,
    "queries": 500,
    "basis": "sincos",
    "projection": "gaussian",
    "step": 0.03,
    "steps": 1000,
}
# Clip of the published code, used here only to count the queries that it would freeze.
CLIP = 1e-5


def measure(
    *,
    D: int,
    K: int,
    Y: int,
    beta: float,
    seed: int,
    queries: int,
    basis: str,
    projection: str,
    retrieval: int,
    step: float,
    steps: int,
) -> dict:
    """Errors at stored, near and far queries; with `retrieval`, bit errors of the fixed
    points too.
    """
    k_data, k_flips, k_far, k_features = jax.random.split(jax.random.key(seed), 4)
    Xi = ro.data.binary_patterns(K, D, key=k_data)
    n = min(queries, K)
    far = ro.data.binary_patterns(n, D, key=k_far)
    kinds = {"stored": Xi[:n], "near": flip_bits(Xi[:n], 0.1, key=k_flips), "far": far}
    exact = ro.MrDAM(Xi, beta)
    features = ro.RandomFeatures(
        D, Y, key=k_features, basis=basis, projection=projection
    )
    memory = ro.DrDAM.store(Xi, beta, features)
    results = {kind: errors(exact, memory, x, Y) for kind, x in kinds.items()}
    if retrieval:
        for kind, x in kinds.items():
            results[kind] |= retrieved(exact, memory, x, Xi[:n], step, steps)
    return results


def errors(exact: ro.MrDAM, memory: ro.DrDAM, x: jax.Array, Y: int) -> dict:
    """Mean errors over the queries with their standard errors, and those of the law."""
    differences = approximation_errors(exact, memory, x)
    law = error_law(exact, x[:20])

    def mean_and_error(a):
        return (np.mean(a), np.std(a) / len(a) ** 0.5)

    return {
        "energy": mean_and_error(differences.energy),
        "gradient": mean_and_error(differences.gradient),
        "entry": mean_and_error(differences.entry),
        "law_energy": np.mean(law.energy_error(Y)),
        "law_gradient": np.mean(law.gradient_error(Y)),
        "noise": np.median(law.noise(Y)),
        "frozen": np.mean(memory.partition(x) <= CLIP),
    }


def retrieved(
    exact: ro.MrDAM,
    memory: ro.DrDAM,
    x: jax.Array,
    truth: jax.Array,
    step: float,
    steps: int,
) -> dict:
    """Bit errors of the two memories' fixed points against each other and against the
    meant pattern, and the number of fixed points of the exact memory.
    """
    options = {"step_size": step, "max_steps": steps, "progress": False}
    one, other = (ro.retrieve(m, x, **options) for m in (exact, memory))
    return {
        "bits": np.mean(hamming_error(one.x, other.x)),
        "exact_bits": np.mean(hamming_error(one.x, truth)),
        "distributed_bits": np.mean(hamming_error(other.x, truth)),
        "fixed_points": distinct(np.asarray(one.x)),
        "floored": np.mean(other.floored),
    }


def distinct(x: np.ndarray, apart: float = 0.1) -> int:
    """Number of states that differ by more than `apart`. Stored patterns are about 0.7
    from each other.
    """
    centres: list[np.ndarray] = []
    for one in x:
        if all(np.linalg.norm(one - other) > apart for other in centres):
            centres.append(one)
    return len(centres)


def work(cell: Cell) -> float:
    """Number of multiplications with entries of Ω: at each pattern once, and at each
    query of each kind once per step.
    """
    steps = 1 + cell["retrieval"] * cell["steps"]
    return cell["Y"] * cell["D"] * (cell["K"] + 3 * cell["queries"] * steps)


EXPERIMENT = Experiment(
    "figure3_4a", __doc__, GRID, measure, OPTIONS, seeds=(0, 1, 2), value=2, work=work
)

if __name__ == "__main__":
    main(EXPERIMENT)
