"""The Beta law of an estimated C on real keys: the interference of an edit whose C
comes from few tokens of text.

The theorem assumes independent Gaussian keys [R-S3]. Here the keys are those that text
sends into a block of SmolLM2-135M, drawn individually from three quarters of the
passages ("tokens"), or passage after passage ("passages"). Two kinds of random keys are
there for comparison. "gaussian" keys have the same second moments. "stretched" keys are
Gaussian in direction, and as long in the geometry of C as keys of the text. The
interference is measured on the fourth quarter of the passages, relative to that with a
C from all of the other three. The excess of that C itself is taken from the law. For
random keys the true C is known.
"""

from functools import cache

import numpy as np
from editing_known import model
from editing_shares import question
from record import Experiment, main
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from rankone.data.facts import corpus, countries
from rankone.language.statistics import _keys, text_keys
from rankone.language.tokenizer import pad
from rankone.theory.edit_cost import mean_inflation

GRID = {
    "drawn": ["tokens", "passages", "gaussian", "stretched"],
    "times": [1.25, 1.5, 2.0, 3.0, 5.0, 10.0],
}
OPTIONS = {"layer": 2, "edited": 60, "ridge": 0.01, "every": 4}
WINDOW = 128
BATCH = 8


@cache
def passages(layer: int, every: int) -> list[np.ndarray]:
    """Keys of each window of the passages without its first token, in an order drawn
    once.
    """
    texts = map(model().tokenizer.encode, corpus()[::every])
    rows = [ids[i : i + WINDOW] for ids in texts for i in range(0, len(ids), WINDOW)]
    rows = sorted((row for row in rows if len(row) > 1), key=len)
    vectors: list[np.ndarray] = []
    for start in range(0, len(rows), BATCH):
        part = rows[start : start + BATCH]
        tokens, valid = pad(part + (BATCH - len(part)) * part[:1], multiple=32)
        keys = np.asarray(_keys(model().network, tokens, valid, layer))
        vectors += [one[1 : len(row)] for one, row in zip(keys, part, strict=False)]
    return [vectors[i] for i in np.random.default_rng(0).permutation(len(vectors))]


@cache
def whole(
    layer: int, every: int, edited: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Second moments of the quarter that measures interference and of the other three
    quarters, the keys to edit (D, n), their interference with C from the three
    quarters, and the number of keys of these.
    """
    parts = passages(layer, every)
    judge, pool = (
        second_moments(np.concatenate(part))
        for part in (parts[::4], others(layer, every))
    )
    names = [country.name for country in countries()][:edited]
    K = np.asarray(
        text_keys(model(), [question("capital", name) for name in names], layer), float
    ).T
    return (
        judge,
        pool,
        K,
        price(pool, judge, K),
        len(np.concatenate(others(layer, every))),
    )


def others(layer: int, every: int) -> list[np.ndarray]:
    """The passages of the three quarters from which C is estimated."""
    return [one for i, one in enumerate(passages(layer, every)) if i % 4]


@cache
def lengths(layer: int, every: int) -> np.ndarray:
    """√(kᵀC⁻¹k) of every fourth key of the three quarters, with C from these same
    keys.
    """
    keys = np.concatenate(others(layer, every))[::4].astype(float)
    return np.linalg.norm(
        solve_triangular(np.linalg.cholesky(second_moments(keys)), keys.T, lower=True),
        axis=0,
    )


def second_moments(keys: np.ndarray) -> np.ndarray:
    wide = keys.astype(float)
    return wide.T @ wide / len(wide)


def price(estimate: np.ndarray, judge: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Interference (n,) of an edit of each key, for a residual of length 1. The edit
    uses the C in `estimate`, and the C in `judge` measures the interference.
    """
    U = cho_solve(cho_factor(estimate), K)
    return np.sum(U * (judge @ U), axis=0) / np.sum(U * K, axis=0) ** 2


def measure(
    *,
    drawn: str,
    times: float,
    layer: int,
    edited: int,
    ridge: float,
    every: int,
    seed: int,
) -> dict:
    """Mean and quartiles over keys of countries of the inflation of the interference,
    without and with a ridge.
    """
    judge, pool, K, least, total = whole(layer, every, edited)
    D = len(pool)
    rng = np.random.default_rng(seed)
    n = round(times * D)
    excess = mean_inflation(total, D)
    if drawn in ("gaussian", "stretched"):
        keys = rng.normal(size=(n, D))
        if drawn == "stretched":
            keys *= rng.choice(lengths(layer, every), (n, 1)) / np.linalg.norm(
                keys, axis=1, keepdims=True
            )
        keys = keys @ np.linalg.cholesky(pool).T
        judge = pool
        least = price(pool, pool, K)
        excess = 1.0
    else:
        parts = others(layer, every)
        keys = np.concatenate(
            [parts[i] for i in rng.permutation(len(parts))]
            if drawn == "passages"
            else parts
        )
        keys = (
            keys[:n]
            if drawn == "passages"
            else keys[rng.choice(len(keys), n, replace=False)]
        )
    estimate = second_moments(keys)
    results = {"n": n, "D": D, "total": total}
    for name, added in (("plain", 0.0), ("ridged", ridge * np.trace(estimate) / D)):
        ratios = excess * price(estimate + added * np.eye(D), judge, K) / least
        results[name] = {
            "inflation": ratios.mean(),
            "quartiles": np.quantile(ratios, (0.25, 0.75)),
        }
    return results


EXPERIMENT = Experiment("editing_beta", __doc__, GRID, measure, OPTIONS, of="the book")

if __name__ == "__main__":
    main(EXPERIMENT)
