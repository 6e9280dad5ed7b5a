"""Fig. 1: four pictures of 3×64×64 numbers, the lower two thirds hidden, completed by
both memories.

The paper's queries are black where they are hidden (--fill 0). Add --fill 0 0.5 for
mid-grey, and --group 0 1 2 3 4 5 for all 24 of the book's photographs, four at a time.
For the first four, the energies during the descent are recorded too (Fig. 1B).
"""

from typing import Any

import jax
import numpy as np
from record import Experiment, main

import rankone as ro
from rankone.theory.fidelity import Completion, complete

GRID = {"fill": [0.0], "group": [0], "Y": [180_000], "beta": [60.0]}
OPTIONS = {"K": 4, "visible": 0.33, "size": 64, "steps": 300, "thumbnail": 64}
RECORDED = ["exact_error", "distributed_error", "difference"]
RECORDED += ["exact_right", "distributed_right", "signal_to_noise", "steps"]
EVERY = 5  # steps between two energies of Fig. 1B


def measure(*, group: int, K: int, size: int, **parameters: float) -> dict:
    """Store K pictures from number group·K on, and complete them all."""
    pictures = ro.data.photographs(size)[group * K : (group + 1) * K]
    return completion(
        pictures,
        size,
        picture_name=f"fill{parameters['fill']:g}",
        keep=group == 0 and parameters["Y"] in GRID["Y"],
        every=EVERY,
        **parameters,
    )


def completion(
    pictures: np.ndarray,
    size: int,
    *,
    picture_name: str,
    keep: bool,
    every: int = 0,
    thumbnail: int,
    steps: int,
    seed: int,
    **recipe: Any,
) -> dict:
    """Results of one call of `complete`, to be recorded. With `keep` and seed 0 these
    include up to eight pictures, shrunk to `thumbnail` pixels.

    If `every` is not 0, they then also include the energies of every `every`-th step.
    """
    done: Completion = complete(
        pictures, key=jax.random.key(seed), max_steps=steps, progress=False, **recipe
    )
    results = {name: np.asarray(getattr(done, name)) for name in RECORDED}
    if keep and seed == 0:
        for row in ("exact", "distributed"):
            if every:
                results[f"{row}_energies"] = np.asarray(
                    getattr(done, f"{row}_energies")
                )[:, ::every]
            miniatures = _shrink(np.asarray(getattr(done, row))[:8], size, thumbnail)
            results.setdefault("pictures", {})[f"{picture_name}.{row}"] = miniatures
    return results


def _shrink(pictures: np.ndarray, size: int, thumbnail: int) -> np.ndarray:
    step = size // thumbnail
    blocks = pictures.reshape(-1, thumbnail, step, thumbnail, step, 3).mean((2, 4))
    return np.round(255 * blocks.clip(0, 1)).astype(np.uint8)


EXPERIMENT = Experiment("figure1", __doc__, GRID, measure, OPTIONS)

if __name__ == "__main__":
    main(EXPERIMENT)
