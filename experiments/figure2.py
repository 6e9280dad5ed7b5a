"""Fig. 2: twenty pictures of 3×64×64 numbers, the lower 40 % hidden, completed by both
memories.

At the paper's β of 60 the exact memory itself blends some of the book's photographs.
Add --beta 150 --fill 0 0.5 for a setting in which the exact memory finds all twenty, so
that only the distributed memory is tested.
"""

from figure1 import completion
from record import Experiment, main

import rankone as ro

GRID = {"fill": [0.0], "Y": [200_000], "beta": [60.0]}
OPTIONS = {"K": 20, "visible": 0.6, "size": 64, "steps": 1000, "thumbnail": 32}
SHOWN = [(60.0, 0.0), (150.0, 0.5)]  # (β, fill) whose pictures are recorded


def measure(*, K: int, size: int, **parameters: float) -> dict:
    """Store the first K of the book's photographs, and complete them all."""
    name = f"beta{parameters['beta']:g}.fill{parameters['fill']:g}"
    keep = (parameters["beta"], parameters["fill"]) in SHOWN and parameters[
        "Y"
    ] in GRID["Y"]
    return completion(
        ro.data.photographs(size)[:K], size, picture_name=name, keep=keep, **parameters
    )


EXPERIMENT = Experiment("figure2", __doc__, GRID, measure, OPTIONS)

if __name__ == "__main__":
    main(EXPERIMENT)
