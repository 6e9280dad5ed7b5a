"""Figs 3 and 4, Tables 1 and 2 of the ResMem paper on Fashion-MNIST: networks of
growing size on growing data.

The paper trains CIFAR-ResNets on 10 % to 100 % of CIFAR-100. The networks here are
dense, with two hidden layers of `width` units.
"""

from functools import lru_cache

from record import Experiment, main
from residual_study import Split, find, split, study

from rankone.data.fashion import fashion_mnist

GRID = {"share": [0.1, 0.3, 1.0], "width": [4, 8, 16, 32, 64, 128]}
OPTIONS = {"epochs": 12, "queries": 4_000}


@lru_cache(maxsize=3)
def prepared(fraction: float, seed: int, queries: int) -> tuple[Split, tuple]:
    """The data, and the neighbours among the inputs, which are the same for every
    network.
    """
    train = fashion_mnist("train")
    test = fashion_mnist("test")
    data = split(
        train.images,
        train.labels,
        (test.images, test.labels),
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
    "residual_fashion", __doc__, GRID, measure, OPTIONS, of="the book", seeds=(0, 1, 2)
)

if __name__ == "__main__":
    main(EXPERIMENT)
