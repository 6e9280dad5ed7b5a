"""A base trained with its memory in mind, the question of the ResMem paper's section 6,
on UCI Letter.

The loss is the cross-entropy plus `roughness` times the squared difference between an
example's residual and its nearest neighbour's. This difference is the error of base
plus memory at the example if the other examples are stored.
"""

from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from record import Experiment, main
from residual_letter import prepared
from residual_study import Split, choose
from scipy.special import softmax

from rankone.residual import ExactSearch
from rankone.residual.classifier import train

GRID: dict[str, list] = {"width": [16, 64], "roughness": [0.0, 1.0, 4.0, 16.0]}
OPTIONS = {"neighbours": 1, "epochs": 30, "share": 1.0, "queries": 4_000}


@lru_cache(maxsize=1)
def inputs(
    fraction: float, seed: int, queries: int, neighbours: int
) -> tuple[Split, tuple, Any, float]:
    """The data, the neighbours among the inputs, the neighbours of each stored row, and
    the test accuracy of the bare labels.
    """
    data, space = prepared(fraction, seed, queries)
    others = np.asarray(
        ExactSearch(data.x["train"]).search(data.x["train"], neighbours + 1).indices
    )
    return data, space, others[:, 1:], _right(choose(data, space, None), data)


def _right(chosen: dict, data: Split) -> float:
    return float((chosen["answers"]["test"] == data.y["test"]).mean())


def measure(
    *,
    width: int,
    roughness: float,
    neighbours: int,
    epochs: int,
    share: float,
    queries: int,
    seed: int,
) -> dict:
    """Test accuracy of the base and of the sum, and two numbers that the training can
    make small: the mean squared residual (`square`), and the mean squared difference
    between a residual and its nearest neighbour's (`energy`).
    """
    data, space, others, labels = inputs(share, seed, queries, neighbours)
    x = data.x["train"]
    y = data.y["train"]
    options = {
        "epochs": epochs,
        "key": jax.random.key(seed),
        "nearest": others,
        "roughness": roughness,
    }
    net = train(x, y, (width, width), **options)
    logits = {part: net.logits(jnp.asarray(rows)) for part, rows in data.x.items()}
    residual = {
        part: np.eye(26)[data.y[part]] - softmax(np.asarray(f), 1)
        for part, f in logits.items()
    }
    step = (
        residual["test"] - residual["train"][np.asarray(space[1]["test"].indices)[:, 0]]
    )
    chosen = choose(data, space, logits)
    return {
        "base": float((np.asarray(logits["test"].argmax(-1)) == data.y["test"]).mean()),
        "resmem": _right(chosen, data),
        "labels": labels,
        "square": (residual["test"] ** 2).sum(-1).mean(),
        "energy": (step**2).sum(-1).mean(),
        **chosen["chosen"],
    }


EXPERIMENT = Experiment(
    "residual_joint", __doc__, GRID, measure, OPTIONS, of="the book", seeds=(0, 1, 2)
)

if __name__ == "__main__":
    main(EXPERIMENT)
