"""How much a sequence of edits forgets and how much a batch of them interferes, from
the keys of CounterFact's facts and from three laws.

No value is searched for. The values are random and independent, as in the laws, so that
the residual of each fact is a sum over the keys alone. The facts are written one after
another in random orders, with C unchanged or with the written keys counted among those
of the text. The law is that of isotropic keys [R-S5]. It is evaluated at the dimension
of the keys, and again at their apparent dimension: the dimension in which random keys
have the same mean squared cosine, in the geometry of C. The apparent dimension is one
over that mean.
"""

from functools import cache

import numpy as np
from counterfact import CASES, OPTIONS, cases, subject_streams, with_data
from editing_facts import geometry
from record import Experiment

from rankone.theory.edit_cost import (
    batch_inflation,
    capacity,
    sequence_mixture,
    sequential_residual,
)

GRID = {"edits": [10, 100, 300, 900]}
FULL = OPTIONS | {"orders": 20}
BINS = 10
NEAR = 0.8  # cosine above which two keys count as nearly the same
SAME = 0.999  # cosine above which two keys count as the same
# Weights of a written key, relative to the mean over all keys of the text.
WEIGHTS = (
    0.0,
    1e-4,
    1e-3,
    1e-2,
    1e-1,
    1.0,
)


def forgotten(S: np.ndarray, beta: float = 0.0) -> np.ndarray:
    """Mean squared residual (m,) of each pair after all pairs were written in their
    order, for independent values [R-S9].
    """
    return np.sum(sequence_mixture(S, beta) ** 2, axis=0)


@cache
def inner(layer: int, ridge: float, contexts: int, every: int) -> np.ndarray:
    """KᵀC⁻¹K of all cases whose key no earlier case has. Several facts are about one
    subject and have the same key.
    """
    K = np.asarray(subject_streams(cases(CASES), layer, contexts)[0][layer]).T
    S = np.asarray(geometry(layer, ridge, every).inner(K, K), float)
    cosines = S / np.sqrt(np.outer(np.diag(S), np.diag(S)))
    new = np.triu(cosines > SAME, 1).sum(0) == 0
    return S[np.ix_(new, new)]


def measure(
    *,
    edits: int,
    layer: int,
    ridge: float,
    contexts: int,
    every: int,
    orders: int,
    seed: int,
) -> dict:
    """Mean squared residual by position in the sequence, relative to that before any
    edit, measured and by the laws; and the interference per fact of a batch.
    """
    S = inner(layer, ridge, contexts, every)
    rng = np.random.default_rng(seed)
    cosines = S / np.sqrt(np.outer(np.diag(S), np.diag(S)))
    D = geometry(layer, ridge, every).D
    off = cosines[~np.eye(len(S), dtype=bool)]
    samples = [
        rng.permutation(len(S))[:edits] for _ in range(max(3, orders * 100 // edits))
    ]
    turns = np.arange(1, edits + 1)
    alike = 1 / np.mean(off**2)
    residuals = {
        weight: np.mean(
            [forgotten(S[np.ix_(one, one)], weight) for one in samples], axis=0
        )
        for weight in WEIGHTS
    }

    def binned(x):
        return np.reshape(x, (BINS, -1)).mean(1)

    def price(one):
        return np.trace(np.linalg.inv(cosines[np.ix_(one, one)])) / edits

    single = np.flatnonzero(np.max(np.abs(cosines - np.eye(len(S))), axis=0) < NEAR)
    apart = [price(rng.permutation(single)[:edits]) for _ in samples]
    half = rng.permutation(len(S))[: max(len(S) // 2, edits)]
    return {
        "turn": binned(turns),
        "measured": binned(residuals[0.0]),
        "law": binned(np.asarray(sequential_residual(turns, edits, D))),
        "told": binned(np.asarray(sequential_residual(turns, edits, alike))),
        "keys": len(S),
        "dimensions": alike,
        "cosine": off.mean(),
        "weights": WEIGHTS,
        "left": [residuals[weight].mean() for weight in WEIGHTS],
        "strength": np.median(np.diag(S)),
        "uneven": np.mean(np.diag(S)) * np.mean(1 / np.diag(S)),
        "price": np.mean([price(one) for one in samples]),
        "price_apart": np.mean(apart) if edits <= len(single) else 0.0,
        "near": len(S) - len(single),
        "price_kind": batch_inflation(S[np.ix_(half, half)])[edits - 1],
        "price_alike": capacity(1, D, edits) / capacity(1, D, 1),
    }


EXPERIMENT = Experiment(
    "counterfact_forgetting", __doc__, GRID, measure, FULL, of="the book"
)

if __name__ == "__main__":
    with_data(EXPERIMENT)
