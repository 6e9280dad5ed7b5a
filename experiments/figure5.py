"""Fig. 5: errors of energy and gradient against the number of stored patterns K, on
random binary patterns.
"""

from figure3_4a import measure as measure_errors
from record import Experiment, main

GRID = {
    "K": [50, 100, 200, 400, 650, 1000],
    "D": [30, 100, 1000],
    "beta": [10.0, 30.0, 40.0, 50.0],
}
OPTIONS = {"Y": 200_000, "queries": 1000, "basis": "sincos", "projection": "gaussian"}


def measure(**parameters: float) -> dict:
    """One cell: as in Fig. 3, without retrieval."""
    return measure_errors(**parameters, retrieval=0, step=0.03, steps=1)


EXPERIMENT = Experiment(
    "figure5", __doc__, GRID, measure, OPTIONS, seeds=(0, 1, 2), value=2
)

if __name__ == "__main__":
    main(EXPERIMENT)
