"""ResMem and its controls on one data set: what the experiments on Fashion-MNIST and on
letters share.

Five predictors from one small network: the network itself; its softmax plus the stored
residuals, with neighbours searched in its last hidden layer ("learned") or among the
inputs ("input"); and the labels of the same neighbours alone. k, σ and T of each are
chosen on a tenth of the training data that is used for nothing else.
"""

import itertools
from dataclasses import asdict
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from rankone.residual import ExactSearch, Neighbours, ResMem
from rankone.residual.classifier import Classifier, train
from rankone.residual.scores import gain

K_MOST = 80
GRID = {
    "temperature": (0.7, 1.0, 1.5, 2.5, 4.0),
    "sigma": (0.05, 0.15, 0.5, 1.5),
    "k": (1, 5, 20, K_MOST),
}


class Split(NamedTuple):
    """Inputs and labels of the training, held-out and test examples."""

    x: dict[str, np.ndarray]
    y: dict[str, np.ndarray]


def split(
    x: np.ndarray,
    y: np.ndarray,
    test: tuple,
    *,
    fraction: float,
    seed: int,
    queries: int,
) -> Split:
    """Split of a fraction of the training data: a tenth is held out and the rest is
    stored. `queries` examples of each are asked for.
    """
    order = np.random.default_rng(seed).permutation(len(x))[: round(fraction * len(x))]
    held_out = order[: len(order) // 10]
    stored = order[len(order) // 10 :]
    samples = {"held": held_out[:queries], "seen": stored[:queries]}
    xs = {"train": x[stored], "test": test[0]} | {
        name: x[rows] for name, rows in samples.items()
    }
    ys = {"train": y[stored], "test": test[1]} | {
        name: y[rows] for name, rows in samples.items()
    }
    return Split(xs, ys)


def find(
    store: np.ndarray, queries: dict[str, Any]
) -> tuple[ExactSearch, dict[str, Neighbours], float]:
    """A search of the store, the neighbours of all queries, and a typical distance: the
    unit of σ.
    """
    search = ExactSearch(store)
    k = min(K_MOST, len(store))
    neighbours = {name: search.search(q, k) for name, q in queries.items()}
    return search, neighbours, float(neighbours["held"].distances.mean())


def memory(
    data: Split, search: ExactSearch, logits: dict[str, Any] | None, temperature: float
) -> ResMem:
    """Residuals of the network at a temperature, or the bare labels, over neighbours
    already found.
    """
    resmem = ResMem(
        k=min(K_MOST, len(search)), temperature=temperature, search=lambda _: search
    )
    if logits is not None:
        return resmem.fit(None, logits=logits["train"], labels=data.y["train"])
    return resmem.fit_residuals(
        None, jax.nn.one_hot(data.y["train"], int(data.y["train"].max()) + 1)
    )


def answers(
    resmem: ResMem,
    neighbours: Neighbours,
    logits: Any | None,
    unit: float,
    *,
    sigma: float,
    k: int,
) -> np.ndarray:
    """The classes with the largest scores."""
    scores = resmem.using(k=min(k, resmem.k), sigma=sigma * unit).read(neighbours)
    base = 0 if logits is None else jax.nn.softmax(logits / resmem.temperature, -1)
    return np.asarray((scores + base).argmax(-1))


def choose(data: Split, space: tuple, logits: dict[str, Any] | None) -> dict[str, Any]:
    """The k, σ (in typical distances) and T with the fewest errors on the held-out
    tenth, and their answers.
    """
    search, neighbours, unit = space
    best: tuple[float, dict, ResMem] | None = None
    for temperature in GRID["temperature"] if logits is not None else (1.0,):
        resmem = memory(data, search, logits, temperature)

        def of(part):
            return None if logits is None else logits[part]

        for sigma, k in itertools.product(GRID["sigma"], GRID["k"]):
            right = (
                answers(resmem, neighbours["held"], of("held"), unit, sigma=sigma, k=k)
                == data.y["held"]
            ).mean()
            if best is None or right > best[0]:
                best = right, {"sigma": sigma, "k": k}, resmem
    assert best is not None
    _, chosen, resmem = best
    predictions = {
        part: answers(resmem, neighbours[part], of(part), unit, **chosen)
        for part in ("test", "seen")
    }
    return {
        "chosen": chosen | {"temperature": float(resmem.temperature)},
        "answers": predictions,
    }


def network(
    data: Split, widths: tuple[int, ...], *, epochs: int, seed: int
) -> tuple[Classifier, dict, dict]:
    """A trained network, its last hidden layer and its logits on every part of the
    data.
    """
    net = train(
        data.x["train"],
        data.y["train"],
        widths,
        key=jax.random.key(seed),
        epochs=epochs,
    )
    run = jax.jit(lambda x: (net.embed(x), net.logits(x)))
    outputs = {part: run(jnp.asarray(x)) for part, x in data.x.items()}
    return (
        net,
        {part: z for part, (z, _) in outputs.items()},
        {part: f for part, (_, f) in outputs.items()},
    )


def study(
    data: Split, widths: tuple[int, ...], input_space: tuple, *, epochs: int, seed: int
) -> dict[str, Any]:
    """Accuracy of the five predictors on unseen and on stored examples, and where
    ResMem's gain comes from.
    """
    _, embedded, logits = network(data, widths, epochs=epochs, seed=seed)
    store = embedded.pop("train")
    spaces = {"learned": find(store, embedded), "input": input_space}
    base = {part: np.asarray(logits[part].argmax(-1)) for part in ("test", "seen")}
    results: dict[str, Any] = {"base": _accuracy(base, data)}
    for name, space in spaces.items():
        for kind, f in (("resmem", logits), ("labels", None)):
            choice = choose(data, space, f)
            results[f"{kind}_{name}"] = (
                _accuracy(choice["answers"], data) | choice["chosen"]
            )
            if f is not None:
                split_gain = gain(
                    data.y["test"], base["test"], choice["answers"]["test"]
                )
                results[f"{kind}_{name}"] |= asdict(split_gain)
    return results


def _accuracy(predictions: dict[str, np.ndarray], data: Split) -> dict[str, float]:
    return {
        part: float((answer == data.y[part]).mean())
        for part, answer in predictions.items()
    }
