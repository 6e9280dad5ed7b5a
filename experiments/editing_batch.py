"""Interference of a fact in a batch relative to the same fact alone: keys of countries
in SmolLM2-135M, and two laws for them.

One half of the countries predicts the interference for the other half, by [R-S7]. From
this other half, batches of each size are drawn at random, and their interference is
computed. Tokens of the text are there for comparison, because the capacity law [R-S4]
is about keys of their kind.
"""

import numpy as np
from editing_facts import geometry
from editing_known import model
from editing_shares import question
from record import Experiment, main

from rankone.data.facts import corpus, countries
from rankone.language.relations import RELATIONS
from rankone.language.statistics import text_keys
from rankone.theory.edit_cost import batch_inflation

GRID = {"keys": [*RELATIONS, "text"]}
OPTIONS = {"layer": 2, "ridge": 0.01, "every": 4, "draws": 100}
SIZES = (2, 5, 10, 20, 30, 40, 50, 60, 70, 80)
WORDS = 40  # words of a passage, whose last token gives a key of the text


def inner(keys: str, layer: int, ridge: float, every: int) -> np.ndarray:
    """KᵀC⁻¹K of the keys of all countries, or of one token of each of as many passages
    from which C was not estimated.
    """
    if keys == "text":
        texts = [" ".join(text.split()[:WORDS]) for text in corpus()[1::every]]
        texts = texts[:: len(texts) // len(countries())][: len(countries())]
    else:
        texts = [question(keys, country.name) for country in countries()]
    K = text_keys(model(), texts, layer).T
    return np.asarray(geometry(layer, ridge, every).inner(K, K), float)


def measure(
    *, keys: str, layer: int, ridge: float, every: int, draws: int, seed: int
) -> dict:
    """Mean of s_ii (S⁻¹)_ii over batches of each size from one half, and its prediction
    from the eigenvalues of the other half.
    """
    S = inner(keys, layer, ridge, every)
    rng = np.random.default_rng(seed)
    R = S / np.sqrt(np.outer(np.diag(S), np.diag(S)))
    order = rng.permutation(len(R))
    known = order[: len(R) // 2]
    tested = order[len(R) // 2 :]
    law = batch_inflation(R[np.ix_(known, known)])
    priced = []
    for m in SIZES:
        batches = [rng.choice(tested, m, replace=False) for _ in range(draws)]
        priced.append(
            [np.trace(np.linalg.inv(R[np.ix_(batch, batch)])) / m for batch in batches]
        )
    apart = np.abs(R[~np.eye(len(R), dtype=bool)])
    return {
        "sizes": SIZES,
        "priced": np.mean(priced, 1),
        "spread": np.std(priced, 1),
        "law": law[np.array(SIZES) - 1],
        "cosine": np.median(apart),
        "dimensions": geometry(layer, ridge, every).D,
    }


EXPERIMENT = Experiment("editing_batch", __doc__, GRID, measure, OPTIONS, of="the book")

if __name__ == "__main__":
    main(EXPERIMENT)
