"""The same pairs written and read by six methods: what is stored, what is forgotten,
the effect of wrong labels, and the cost in memory and time.

Keys are the features of letters, the pixels of clothes (14×14), or SmolLM2's hidden
states; values are classes. A base predicts first: a linear map fitted to a thousand
other pairs, or the language model's own head. All methods have the same kernel exp(−‖a
− b‖/σ), and differ only in X and in the normalisation. The options of each method are
chosen on held-out pairs that are used for nothing else. For new keys each method has
its own width σ. In a second comparison all have a common width, so that the keys are
equally similar for every method.
"""

import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from record import Experiment, main
from scipy.spatial.distance import cdist

from rankone.data import corpus, fashion_mnist, letters
from rankone.language import load_smollm2
from rankone.language.forward import Cache, before_head, embed, head, run
from rankone.theory.soft_neighbours import laplace_features
from rankone.writes import BatchStep, Exact, InSequence, Ridge, Rule

GRID = {"data": ["letters", "fashion", "tokens"], "n": [100, 300, 1000]}
OPTIONS = {"queries": 500, "wrong": 0.3, "features": 4096}
WAYS = ("step", "features", "sequence", "exact", "ridge", "neighbours")
WIDTHS = (0.05, 0.15, 0.5, 1.5)
RATES = (0.1, 0.3, 1.0, 3.0)
SLACKS = (0.03, 0.3, 1.0)
COUNTS = (1, 5, 20)
SHARED = 0.5  # the common width, in typical distances
BASE = 1000
CLASSES = 32
TOKENS = 6144
WINDOW = 256


class Pairs(NamedTuple):
    """Keys (n, D), classes (n,), and the base's predictions (n, L)."""

    key: np.ndarray
    label: np.ndarray
    base: np.ndarray

    def __getitem__(self, rows: Any) -> "Pairs":  # type: ignore[override]
        return Pairs(*(part[rows] for part in self))


def options(method: str, S: np.ndarray) -> list[tuple[Rule, int]]:
    """Options of a method, to choose from: pairs of a rule and a number of neighbours,
    which is 0 where nothing is normalised.
    """
    if method in ("step", "features"):
        # The larger the inner products of the keys, the shorter a step on all pairs at
        # once must be.
        crowd = float(S.sum(1).mean())
        return [(BatchStep(rate / crowd), 0) for rate in RATES]
    if method == "sequence":
        return [(InSequence(rate), 0) for rate in RATES if rate <= 1]
    if method == "neighbours":
        return [(BatchStep(), k) for k in COUNTS]
    return (
        [(Ridge(1 / slack), 0) for slack in SLACKS]
        if method == "ridge"
        else [(Exact(), 0)]
    )


@cache
def every(data: str) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Keys without duplicates, classes, and for tokens the model's own
    probabilities.
    """
    p = None
    if data == "tokens":
        x, y, p = tokens()
    elif data == "fashion":
        clothes = fashion_mnist("train")
        x = (
            clothes.images[:12_000]
            .reshape(-1, 14, 2, 14, 2)
            .mean((2, 4))
            .reshape(-1, 196)
        )
        y = clothes.labels[:12_000]
    else:
        x, names = letters()
        x = (x - 7.5) / 4
        y = np.unique(names, return_inverse=True)[1]
    # S has no inverse if a key occurs twice.
    _, first = np.unique(x, axis=0, return_index=True)
    return x[first], y[first], None if p is None else p[first]


def tokens() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hidden states before the head where one of the most frequent tokens comes next,
    the classes of these next tokens, and the head's probabilities of the frequent
    tokens.

    They are saved in the system's temporary folder, so that an interrupted run need not
    run the model again.
    """
    path = (
        Path(tempfile.gettempdir()) / "rankone-checkpoints" / f"one_rule_{TOKENS}.npz"
    )
    if path.exists():
        with np.load(path) as archive:
            return archive["z"], archive["y"], archive["p"]
    model = load_smollm2()
    ids = np.concatenate([model.tokenizer.encode(text) for text in corpus()])[
        : TOKENS + 1
    ]
    after = ids[1:]
    rows = ids[:-1][: len(ids) // WINDOW * WINDOW].reshape(-1, WINDOW)
    common = np.argsort(-np.bincount(after))[:CLASSES]

    @jax.jit
    def states(rows: jax.Array) -> tuple[jax.Array, jax.Array]:
        cache = Cache.empty(
            model.network.config, jnp.ones(rows.shape, bool), model.network.norm.dtype
        )
        h = before_head(
            model.network, run(model.network, embed(model.network, rows), cache)[0]
        ).reshape(-1, 576)
        return h, jax.nn.softmax(h @ head(model.network)[common].T)

    z, p = (
        np.concatenate(part)
        for part in zip(
            *(states(r) for r in np.split(rows, len(rows) // 3)), strict=True
        )
    )
    label = np.full(ids.max() + 1, -1)
    label[common] = np.arange(CLASSES)
    y = label[after[: len(z)]]
    known = y >= 0
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, z=z[known] / z.std(), y=y[known], p=p[known])
    return z[known] / z.std(), y[known], p[known]


def pair_sets(data: str, n: int, queries: int, seed: int) -> tuple[Pairs, Pairs, Pairs]:
    """Pairs to store, to choose options on, and to test on, with the base's
    predictions.
    """
    x, y, base = every(data)
    order = np.random.default_rng(seed).permutation(len(x))
    if base is None:
        rows = order[-BASE:]
        X = np.c_[x, np.ones(len(x))]
        one = np.eye(int(y.max()) + 1)
        fitted = np.linalg.solve(
            X[rows].T @ X[rows] + 10 * np.eye(X.shape[1]), X[rows].T @ one[y[rows]]
        )
        base = X @ fitted
    pairs = Pairs(np.asarray(x, np.float64), y, base)
    parts = np.split(order[: n + 2 * queries], [queries, 2 * queries])
    held_out, test, stored = (pairs[rows] for rows in parts)
    return stored, held_out, test


class Kernels(NamedTuple):
    """Stored, held-out and test pairs, and the distances of the stored keys from the
    keys of each part.
    """

    parts: dict[str, Pairs]
    apart: dict[str, np.ndarray]
    features: int
    seed: int

    def at(self, method: str, sigma: float) -> dict[str, np.ndarray]:
        """κ(K, ·) for each part, one column per query. For the method "features", these
        are inner products of the features.
        """
        if method != "features":
            return {name: np.exp(-apart / sigma) for name, apart in self.apart.items()}
        D = self.parts["stored"].key.shape[1]
        phi = laplace_features(
            D, self.features, sigma, key=jax.random.key(self.seed)
        ).features
        arrays = {
            name: phi(pairs.key.T.astype(np.float32))
            for name, pairs in self.parts.items()
        }
        # The cosine of a large angle, such as 10⁵, can be NaN in float32.
        arrays = {name: np.nan_to_num(f) for name, f in arrays.items()}
        return {name: arrays["stored"].T @ f for name, f in arrays.items()}


class Fit(NamedTuple):
    """A method at one width, with the options that are right most often on the held-out
    pairs, and its readings.
    """

    score: float
    sigma: float
    rule: Rule
    k: int
    read: dict[str, np.ndarray]


@jax.jit
def coefficients(rule: Rule, R: jax.Array, S: jax.Array) -> jax.Array:
    """R X."""
    return rule.coefficients(R, S)[0]


def written(rule: Rule, R: np.ndarray, S: np.ndarray) -> np.ndarray:
    """R X, in single precision."""
    return np.asarray(
        coefficients(rule, jnp.asarray(R, jnp.float32), jnp.asarray(S, jnp.float32)),
        np.float64,
    )


def weights(kernel: np.ndarray, k: int) -> np.ndarray:
    """Weights from κ(K, q), one column per query. If k is not 0, only the k nearest
    keys have a weight, and the weights of a query sum to 1.
    """
    if not k:
        return kernel
    near = np.where(kernel >= -np.partition(-kernel, k - 1, axis=0)[k - 1], kernel, 0)
    return near / np.maximum(near.sum(0), 1e-300)


def right(read: np.ndarray, pairs: Pairs) -> np.ndarray:
    """True for each query (column of `read`) that gets its class."""
    return (pairs.base + read.T).argmax(1) == pairs.label


def fit(method: str, R: np.ndarray, kernels: Kernels, sigma: float) -> Fit:
    """A method at one width, with its best options."""
    at = kernels.at(method, sigma)
    best = None
    for rule, k in options(method, at["stored"]):
        A = written(rule, R, at["stored"])
        score = float(right(A @ weights(at["held"], k), kernels.parts["held"]).mean())
        if np.isfinite(A).all() and (best is None or score > best[0]):
            best = score, rule, k, A
    assert best is not None
    score, rule, k, A = best
    return Fit(
        score,
        sigma,
        rule,
        k,
        {part: A @ weights(kernel, k) for part, kernel in at.items()},
    )


def best(method: str, R: np.ndarray, kernels: Kernels, unit: float) -> Fit:
    """A method at its best width."""
    return max(
        (fit(method, R, kernels, width * unit) for width in WIDTHS),
        key=lambda one: one.score,
    )


def stored_well(solution: Fit, R: np.ndarray, stored: Pairs) -> dict[str, float]:
    """Fraction of the stored pairs that get their class, and the error at their keys
    relative to the residuals.

    `interference` is this error after the best scaling, because the size of a batch
    step depends on its rate. `first` and `last` are the errors without scaling on the
    first and on the last tenth of the pairs.
    """
    read = solution.read["stored"]
    tenth = max(len(stored.label) // 10, 1)
    scale = (read * R).sum() / (read**2).sum()

    def miss(error, of):
        return float(np.linalg.norm(error) / np.linalg.norm(of))

    return {
        "stored": float(right(read, stored).mean()),
        "interference": miss(scale * read - R, R),
        "first": miss((read - R)[:, :tenth], R[:, :tenth]),
        "last": miss((read - R)[:, -tenth:], R[:, -tenth:]),
    }


def cost(
    method: str, solution: Fit, R: np.ndarray, kernels: Kernels
) -> dict[str, float]:
    """Bytes of the stored arrays in float32, and the seconds to write all pairs and to
    read all queries, without compilation.
    """
    stored, test = (kernels.parts[part].key for part in ("stored", "test"))
    if method == "features":
        phi = jax.jit(
            laplace_features(
                stored.shape[1], kernels.features, solution.sigma, key=jax.random.key(0)
            ).features
        )

        def write():
            return np.asarray(phi(jnp.asarray(stored.T, jnp.float32))) @ R.T

        memory = write()

        def read():
            return memory.T @ np.asarray(phi(jnp.asarray(test.T, jnp.float32)))

        return {
            "bytes": 4 * memory.size,
            "write": _seconds(write),
            "read": _seconds(read),
        }

    def kernel(keys):
        return np.exp(-cdist(stored, keys) / solution.sigma)

    # A batch step does not use the kernel between the stored keys.
    alone = isinstance(solution.rule, BatchStep)
    S = np.zeros((len(stored),) * 2) if alone else None

    def write():
        return written(solution.rule, R, kernel(stored) if S is None else S)

    A = write()

    def read():
        return A @ weights(kernel(test), solution.k)

    return {
        "bytes": 4 * (stored.size + R.size),
        "write": _seconds(write),
        "read": _seconds(read),
    }


def _seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def measure(
    *, data: str, n: int, queries: int, wrong: float, features: int, seed: int
) -> dict:
    """All methods on one draw, with the true labels and with a fraction of the labels
    drawn at random.
    """
    stored, held_out, test = pair_sets(data, n, queries, seed)
    parts = {"stored": stored, "held": held_out, "test": test}
    draws = np.random.default_rng(100 + seed)
    kernels = Kernels(
        parts,
        {name: cdist(stored.key, p.key) for name, p in parts.items()},
        features,
        seed,
    )
    one = np.eye(stored.base.shape[1])
    unit = float(np.median(kernels.apart["held"]))
    noisy = np.where(
        draws.random(n) < wrong, draws.integers(0, len(one), n), stored.label
    )
    clean, spoilt = ((one[labels] - stored.base).T for labels in (stored.label, noisy))
    results: dict[str, Any] = {"base": float(right(0 * test.base.T, test).mean())}
    for method in WAYS:
        own = best(method, clean, kernels, unit)
        common = fit(method, clean, kernels, SHARED * unit)
        results[method] = {
            "unseen": float(right(own.read["test"], test).mean()),
            "noisy": float(
                right(best(method, spoilt, kernels, unit).read["test"], test).mean()
            ),
            "common": float(right(common.read["test"], test).mean()),
            **stored_well(common, clean, stored),
            **cost(method, common, clean, kernels),
        }
    return results


EXPERIMENT = Experiment(
    "one_rule", __doc__, GRID, measure, OPTIONS, of="the book", seeds=(0, 1, 2)
)

if __name__ == "__main__":
    main(EXPERIMENT)
