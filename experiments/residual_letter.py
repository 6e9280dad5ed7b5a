"""ResMem on UCI Letter: 26 classes from 16 features, where plain neighbours are hard to
beat.
"""

from functools import lru_cache

import numpy as np
from record import Experiment, main
from residual_study import Split, find, split, study

from rankone.data import letters

GRID = {"share": [0.1, 0.3, 1.0], "width": [8, 16, 32, 64, 128]}
OPTIONS = {"epochs": 30, "queries": 4_000}
_TRAINING = 16_000  # training rows, as is customary; the last 4,000 are the test set


@lru_cache(maxsize=3)
def prepared(fraction: float, seed: int, queries: int) -> tuple[Split, tuple]:
    """The data, scaled to about one, and the neighbours among the inputs."""
    x, names = letters()
    x = (x - 7.5) / 4
    y = np.unique(names, return_inverse=True)[1].astype(np.int32)
    test = x[_TRAINING:], y[_TRAINING:]
    data = split(
        x[:_TRAINING],
        y[:_TRAINING],
        test,
        fraction=fraction,
        seed=seed,
        queries=queries,
    )
    inputs = {part: x for part, x in data.x.items() if part != "train"}
    return data, find(data.x["train"], inputs)


def measure(*, share: float, width: int, epochs: int, queries: int, seed: int) -> dict:
    """Train one network and compare the five predictors."""
    data, space = prepared(share, seed, queries)
    return study(data, (width, width), space, epochs=epochs, seed=seed)


EXPERIMENT = Experiment(
    "residual_letter", __doc__, GRID, measure, OPTIONS, of="the book", seeds=(0, 1, 2)
)

if __name__ == "__main__":
    main(EXPERIMENT)
