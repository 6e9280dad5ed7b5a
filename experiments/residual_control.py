"""Residuals against labels of the same neighbours, both combined with the network: the
control of the ResMem paper's comparison, on UCI Letter and Fashion-MNIST.

Five predictors from one small network: the network itself; the labels of the neighbours
alone; the mixture (1 - λ) softmax(f) + λ labels; ResMem, softmax(f / T) + residuals;
and the same residuals in the logits, f + γ residuals. The network's part of each is
chosen from five values, σ and k from the same sixteen pairs, on a tenth of the training
data that is used for nothing else.

The record also has the correlation of the residuals of neighbours, and the factor by
which one neighbour's residual changes the squared error. With the correlation ρ and
stored residuals s times as large, theory predicts the factor 1 - 2ρs + s².
"""

import itertools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import residual_fashion
import residual_letter
from record import Experiment, main
from residual_study import GRID as SETTINGS
from residual_study import Split, find, network

from rankone.residual import ResMem

GRID = {"data": ["letter", "fashion"], "width": [16, 64, 128]}
OPTIONS = {
    "share": 1.0,
    "queries": 4_000,
    "epochs_letter": 30,
    "epochs_fashion": 12,
}
PREPARED = {"letter": residual_letter.prepared, "fashion": residual_fashion.prepared}
WEIGHTS = (0.1, 0.25, 0.5, 0.75, 0.9)  # λ, of the labels in the mixture
STEPS = (1.0, 2.0, 4.0, 8.0, 16.0)  # γ, of the residuals in the logits


def measure(
    *,
    data: str,
    width: int,
    share: float,
    queries: int,
    epochs_letter: int,
    epochs_fashion: int,
    seed: int,
) -> dict:
    """Accuracy of the five predictors for neighbours among the inputs and in the last
    layer, and the results of `smoothness`.
    """
    parts, space = PREPARED[data](share, seed, queries)
    epochs = {"letter": epochs_letter, "fashion": epochs_fashion}[data]
    _, embedded, logits = network(parts, (width, width), epochs=epochs, seed=seed)
    store = embedded.pop("train")
    base = np.asarray(logits["test"].argmax(-1))
    results: dict[str, Any] = {"base": float((base == parts.y["test"]).mean())}
    for name, place in (("input", space), ("learned", find(store, embedded))):
        results[name] = predictors(parts, place, logits) | smoothness(
            parts, place, logits
        )
    return results


def predictors(parts: Split, space: tuple, logits: dict[str, Any]) -> dict[str, Any]:
    """Test accuracy of each predictor at the setting that is best on the held-out
    tenth, and that setting.
    """
    classes = int(parts.y["train"].max()) + 1
    labels = jax.nn.one_hot(parts.y["train"], classes)
    residuals = {
        T: labels - jax.nn.softmax(logits["train"] / T) for T in SETTINGS["temperature"]
    }
    return {
        "labels": best(parts, space, {0.0: labels}, lambda part, _, mean: mean),
        "mixture": best(
            parts,
            space,
            dict.fromkeys(WEIGHTS, labels),
            lambda part, weight, mean: (
                (1 - weight) * jax.nn.softmax(logits[part]) + weight * mean
            ),
        ),
        "resmem": best(
            parts,
            space,
            residuals,
            lambda part, T, mean: jax.nn.softmax(logits[part] / T) + mean,
        ),
        "logits": best(
            parts,
            space,
            dict.fromkeys(STEPS, residuals[1.0]),
            lambda part, step, mean: logits[part] + step * mean,
        ),
    }


def best(
    parts: Split,
    space: tuple,
    values: dict[float, jax.Array],
    scores: Callable[[str, float, jax.Array], jax.Array],
) -> dict[str, float]:
    """Test accuracy at the setting with the fewest errors on the held-out tenth.

    Args:
        parts: The examples.
        space: A search, the neighbours of each part's queries, and the unit of σ.
        values: The network's setting → what is stored, (n, classes).
        scores: Part, setting and the neighbours' mean → scores (queries, classes).
    """
    search, neighbours, unit = space
    memory = ResMem(k=max(SETTINGS["k"]), search=lambda _: search)
    memories = {
        setting: memory.fit_residuals(None, stored)
        for setting, stored in values.items()
    }

    def accuracy(part: str, setting: float, sigma: float, k: int) -> float:
        mean = memories[setting].using(k=k, sigma=sigma * unit).read(neighbours[part])
        answers = np.asarray(scores(part, setting, mean).argmax(-1))
        return float((answers == parts.y[part]).mean())

    accuracies = {
        choice: accuracy("held", *choice)
        for choice in itertools.product(values, SETTINGS["sigma"], SETTINGS["k"])
    }
    setting, sigma, k = max(accuracies, key=lambda choice: accuracies[choice])
    test = accuracy("test", setting, sigma, k)
    return {"test": test, "setting": setting, "sigma": sigma, "k": k}


def smoothness(parts: Split, space: tuple, logits: dict[str, Any]) -> dict[str, float]:
    """Correlation ρ of a residual and its nearest stored neighbour's, among the stored
    examples and for the held-out ones; the size s of the stored residuals relative to
    the held-out ones, as roots of mean squares; and the squared error on the test with
    one neighbour's residual, divided by the network's.
    """
    _, neighbours, _ = space
    residuals = {
        part: np.asarray(
            jax.nn.one_hot(parts.y[part], rows.shape[1]) - jax.nn.softmax(rows)
        )
        for part, rows in logits.items()
    }
    nearest = {part: np.asarray(near.indices) for part, near in neighbours.items()}
    # the nearest stored neighbour of a stored example is the example itself
    pairs = {"seen": nearest["seen"][:, 1], "held": nearest["held"][:, 0]}
    rho = {
        part: correlation(residuals[part], residuals["train"][rows])
        for part, rows in pairs.items()
    }
    stored = residuals["train"][pairs["held"]]
    test = residuals["test"]
    error = test - residuals["train"][nearest["test"][:, 0]]
    return {
        "rho": rho["seen"],
        "rho_held": rho["held"],
        "size": float(np.sqrt((stored**2).sum() / (residuals["held"] ** 2).sum())),
        "ratio": float((error**2).sum() / (test**2).sum()),
    }


def correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Mean inner product of two residuals, divided by the root of the product of their
    mean squares.
    """
    squares = (one**2).sum(1).mean() * (other**2).sum(1).mean()
    return float((one * other).sum(1).mean() / np.sqrt(squares))


EXPERIMENT = Experiment(
    "residual_control", __doc__, GRID, measure, OPTIONS, of="the book", seeds=(0, 1, 2)
)

if __name__ == "__main__":
    main(EXPERIMENT)
