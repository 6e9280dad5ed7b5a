"""Fig. 2: twenty pictures of 3×64×64 numbers, the lower 40 % hidden, completed by both memories."""

from figure1 import completion
from record import main

import rankone as ro

GRID = {"fill": [0.0], "Y": [200_000], "beta": [60.0]}
OPTIONS = {"K": 20, "visible": 0.6, "size": 64, "steps": 1000, "thumbnail": 32}


def measure(*, K: int, size: int, **parameters: float) -> dict:
    """Store the first K of the book's photographs, and complete them all."""
    name = f"fill{parameters['fill']:g}"
    return completion(
        ro.data.photographs(size)[:K], size, picture_name=name, keep=parameters["Y"] in GRID["Y"], **parameters
    )


if __name__ == "__main__":
    main("figure2", __doc__, GRID, measure, options=OPTIONS)
