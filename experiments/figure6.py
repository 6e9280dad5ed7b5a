"""Fig. 6: the four bases on UCI Letter (16 features scaled into [0, 1/√16], not
centred), against Y and β.
"""

import jax
import numpy as np
from record import Experiment, main

import rankone as ro
from rankone.theory.fidelity import approximation_errors

GRID = {
    "Y": [40_000, 80_000, 160_000, 400_000, 800_000],
    "beta": [1.0, 10.0, 30.0, 60.0],
    "basis": ["sincos", "cos", "exp", "expexp"],
}
OPTIONS = {"K": 500, "queries": 400, "centred": 0}


def measure(
    *, K: int, queries: int, Y: int, beta: float, basis: str, seed: int, centred: int
) -> dict:
    """Errors at `queries` letters, none of which is stored. No offset is fitted and
    removed.
    """
    k_data, k_features = jax.random.split(jax.random.key(seed))
    letters, _ = ro.data.letters()
    scaled = letters / np.ptp(letters, axis=0) / letters.shape[1] ** 0.5
    rows = np.asarray(jax.random.permutation(k_data, len(scaled)))[: K + queries]
    sample = scaled[rows] - centred * scaled[rows[:K]].mean(0)
    features = ro.RandomFeatures(letters.shape[1], Y, key=k_features, basis=basis)
    exact = ro.MrDAM(sample[:K], beta)
    memory = ro.DrDAM.store(sample[:K], beta, features)
    differences = approximation_errors(exact, memory, sample[K:])

    def mean_and_error(a):
        return (np.mean(a), np.std(a) / len(a) ** 0.5)

    return {
        "energy": mean_and_error(differences.energy),
        "gradient": mean_and_error(differences.gradient),
    }


EXPERIMENT = Experiment(
    "figure6", __doc__, GRID, measure, OPTIONS, seeds=(0, 1, 2), value=2
)

if __name__ == "__main__":
    main(EXPERIMENT)
