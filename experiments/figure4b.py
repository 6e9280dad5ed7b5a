"""Fig. 4B: ten pictures of 3×32×32 numbers, the lower half hidden, for several β and
numbers of frequencies.

All ten are completed, and the record has picture number --query. The exact memory gets
as many steps as the distributed one (the paper: 400 against 3,600); both stop when no
pixel moves by more than 1e-6.
"""

from figure1 import completion
from record import Experiment, main

import rankone as ro

GRID = {
    "beta": [40.0, 60.0, 70.0, 75.0, 80.0],
    "Y": [10_000, 40_000, 90_000, 160_000, 360_000],
    "fill": [0.0],
}
OPTIONS = {
    "K": 10,
    "visible": 0.5,
    "size": 32,
    "steps": 3600,
    "thumbnail": 32,
    "query": 6,
}


def measure(*, K: int, size: int, query: int, **parameters: float) -> dict:
    """Store the first K of the book's photographs, and complete them all. The exact
    memory does not depend on Y.
    """
    exact = f"beta{parameters['beta']:g}.fill{parameters['fill']:g}"
    names = {"exact": exact, "distributed": f"{exact}.Y{parameters['Y']}"}
    results = completion(
        ro.data.photographs(size)[:K], size, picture_name="", keep=True, **parameters
    )
    thumbnails = {
        key.removeprefix("."): pictures[query]
        for key, pictures in results.get("pictures", {}).items()
    }
    return results | {
        "pictures": {
            f"{names[memory]}.{memory}": picture
            for memory, picture in thumbnails.items()
        }
    }


EXPERIMENT = Experiment("figure4b", __doc__, GRID, measure, OPTIONS)

if __name__ == "__main__":
    main(EXPERIMENT)
