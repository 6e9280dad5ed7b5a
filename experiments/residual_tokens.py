"""Next-token prediction with SmolLM2 and a datastore of up to a million tokens of the
State of the Union addresses.

The paper has a T5 decoder on C4. The model here was trained on other text, so that the
memory may help by its domain and not by its residuals. There are therefore two
controls: the labels of the same neighbours alone, and their mixture with the model
(kNN-LM).
"""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import residual_datastore as datastore
from record import Experiment, main
from residual_datastore import KEEP, TEMPERATURES, Tokens

from rankone.residual import ExactSearch, Neighbours, ResMem
from rankone.residual.scores import Calibration, gain, project
from rankone.residual.storage import Residuals, bare_labels, sparse

GRID = {"n": [10_000, 30_000, 100_000, 300_000, 1_000_000]}
# Tokens that can be stored. Each seed stores different tokens as far as there are
# enough.
OPTIONS = {"most": 1_000_000}
K_MOST = 128
BATCH = 512
# σ in typical distances
SIGMAS = (0.1, 0.3, 1.0)
COUNTS = (8, 32, K_MOST)
READING = [{"k": k, "sigma": sigma} for k, sigma in itertools.product(COUNTS, SIGMAS)]
# Weights of the neighbours' labels in the mixture, and of the model in a projection.
SHARES = (
    0.02,
    0.05,
    0.1,
    0.2,
    0.35,
    0.5,
    0.7,
)
# Speeches of a seed on which all options are chosen; the others are for the test.
TUNED = 4
Scores = Callable[["Asked"], jax.Array]


class Asked(NamedTuple):
    """Some queries: the model's logits, the labels, and the neighbours in the store."""

    logits: jax.Array
    label: np.ndarray
    neighbours: Neighbours


class Store(NamedTuple):
    """Stored tokens, their search, and the typical distance, which is the unit of σ."""

    tokens: Tokens
    search: ExactSearch
    unit: float

    def memory(self, stored: Residuals) -> ResMem:
        """Memory of the given residuals of the stored tokens, over the same search."""
        return ResMem(k=K_MOST, search=lambda _: self.search).fit_residuals(
            None, stored
        )

    def read(self, resmem: ResMem, part: Asked, *, k: int, sigma: float) -> jax.Array:
        """Scores of a memory for some queries, from the neighbours found once for all
        memories.
        """
        return resmem.using(k=k, sigma=sigma * self.unit).read(part.neighbours)


@cache
def head() -> jax.Array:
    """Rows that score the tokens."""
    return datastore.head(datastore.model().network)


def query_batches(
    search: ExactSearch, seed: int
) -> tuple[list[Asked], list[Asked], np.ndarray]:
    """Batches of queries from a third of the speeches for each seed: to tune on, and to
    test on, with the speech of each test query.
    """
    tokens, speech = datastore.queries()
    mine = np.unique(speech)[seed % 3 :: 3]
    tune = np.flatnonzero(np.isin(speech, mine[:TUNED]))[::4]
    test = np.flatnonzero(np.isin(speech, mine[TUNED:]))

    def batches(rows: np.ndarray) -> list[Asked]:
        parts = np.array_split(rows, -(-len(rows) // BATCH))
        z = [jnp.asarray(tokens.z[part], jnp.float32) for part in parts]
        neighbours = [search.search(q, K_MOST) for q in z]
        return [
            Asked(q @ head().T, tokens.label[p].astype(int), f)
            for q, p, f in zip(z, parts, neighbours, strict=True)
        ]

    return batches(tune), batches(test), speech[test]


def residuals(tokens: Tokens, temperature: float) -> Residuals:
    """The largest entries of onehot − softmax(f/T); a label that is not among them
    takes the last place, with the entry 1.
    """
    norms = tokens.norms[:, TEMPERATURES.index(temperature)]
    values = -np.exp(tokens.logs.astype(np.float32) / temperature - norms[:, None])
    columns = tokens.columns.copy()
    rows = np.arange(len(values))
    here = columns == tokens.label[:, None]
    at = np.where(here.any(1), here.argmax(1), KEEP - 1)
    values[rows, at] = np.where(here.any(1), values[rows, at], 0) + 1
    columns[rows, at] = tokens.label
    return sparse(values.astype(np.float16), columns, len(head()))


def right(scores: Scores, batches: Iterable[Asked]) -> np.ndarray:
    """True for each query whose label has the largest score."""
    return np.concatenate(
        [np.asarray(scores(part).argmax(-1)) == part.label for part in batches]
    )


def own(probabilities: Scores, batches: Iterable[Asked]) -> np.ndarray:
    """Probability of each query's label."""
    return np.concatenate(
        [
            np.asarray(probabilities(p)[np.arange(len(p.label)), p.label])
            for p in batches
        ]
    )


def nats(p: np.ndarray) -> float:
    """Cross-entropy per token in nats."""
    return float(-np.log(p).mean())


def model_scores(part: Asked) -> jax.Array:
    """The model's own scores."""
    return part.logits


def model_alone(part: Asked) -> jax.Array:
    """The model's own probabilities."""
    return jax.nn.softmax(part.logits)


def measure(*, n: int, most: int, seed: int) -> dict[str, Any]:
    """Accuracy and cross-entropy of the model, the labels, their mixture and ResMem on
    unseen speeches.
    """
    tokens = datastore.store(seed * n % most, n)
    search = ExactSearch(tokens.z.astype(np.float32))
    tune, test, speech = query_batches(search, seed)
    unit = float(np.mean([part.neighbours.distances.mean() for part in tune]))
    store = Store(tokens, search, unit)
    queries = (tune, test, speech)
    base = _report(model_scores, {}, test, speech) | _calibrated(
        model_scores, tune, test
    )
    results = {
        "base": base,
        **_by_labels(store, *queries),
        "resmem": _by_residuals(store, *queries),
    }
    return {**results, "typical_distance": unit, "queries": len(speech)}


def _by_labels(
    store: Store, tune: list[Asked], test: list[Asked], speech: np.ndarray
) -> dict[str, Any]:
    """The labels of the neighbours alone, and mixed with the model."""
    plain = store.memory(bare_labels(store.tokens.label, len(head())))

    def labels(**options: Any) -> Scores:
        return lambda part: store.read(plain, part, **options)

    def mixture(*, share: float, **options: Any) -> Scores:
        return lambda part: (
            (1 - share) * model_alone(part) + share * store.read(plain, part, **options)
        )

    mixed = [
        {**o, "share": fraction} for o, fraction in itertools.product(READING, SHARES)
    ]
    choices = {
        "labels": _best(labels, READING, tune),
        "mixture": _best(mixture, mixed, tune),
    }
    results = {name: _report(*best, test, speech) for name, best in choices.items()}
    alone = own(model_alone, tune)
    neighbours = [own(labels(**o), tune) for o in READING]
    _, fraction, i = min(
        (nats(_mix(s, alone, b)), s, i)
        for i, b in enumerate(neighbours)
        for s in SHARES
    )
    results["mixture"] |= {
        "nats": nats(own(mixture(share=fraction, **READING[i]), test)),
        "nats_share": fraction,
    }
    return results


def _by_residuals(
    store: Store, tune: list[Asked], test: list[Asked], speech: np.ndarray
) -> dict[str, Any]:
    """ResMem: its accuracy, the sources of its gain, and the cross-entropy of its
    scores as probabilities.
    """

    def resmem(temperature: float) -> Callable[..., Scores]:
        stored_memory = store.memory(residuals(store.tokens, temperature))
        return lambda **o: (
            lambda part: (
                jax.nn.softmax(part.logits / temperature)
                + store.read(stored_memory, part, **o)
            )
        )

    candidates = (
        _best(resmem(temperature), READING, tune) for temperature in TEMPERATURES
    )
    scores, options = max(candidates, key=lambda pair: right(pair[0], tune).mean())
    base, answers = (
        np.concatenate([np.asarray(f(p).argmax(-1)) for p in test])
        for f in (model_scores, scores)
    )
    split = gain(np.concatenate([part.label for part in test]), base, answers)
    results = _report(scores, options, test, speech) | asdict(split)
    return (
        results | _calibrated(scores, tune, test) | _projected(scores, tune, test[::3])
    )


def _best(
    predictor: Callable[..., Scores], grid: list[dict], tune: list[Asked]
) -> tuple[Scores, dict]:
    """The scores most often right, and their options."""
    options = max(grid, key=lambda o: right(predictor(**o), tune).mean())
    return predictor(**options), options


def _report(
    scores: Scores, options: dict, test: list[Asked], speech: np.ndarray
) -> dict[str, Any]:
    hit = right(scores, test)
    return {
        "accuracy": hit.mean(),
        "by_speech": [hit[speech == s].mean() for s in np.unique(speech)],
        **options,
    }


def _mix(fraction: float, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (1 - fraction) * a + fraction * b


def _calibrated(
    scores: Scores, tune: list[Asked], test: list[Asked]
) -> dict[str, float]:
    """Cross-entropy of the softmax of the scores, at the temperature fitted on the
    tuning speeches.
    """
    fitted = Calibration.fit(
        jnp.concatenate([scores(p) for p in tune]),
        np.concatenate([p.label for p in tune]),
    )
    return {
        "nats": nats(own(lambda part: fitted(scores(part)), test)),
        "tau": float(fitted.temperature),
    }


def _projected(
    scores: Scores, tune: list[Asked], test: list[Asked]
) -> dict[str, float]:
    """Cross-entropy of the scores projected onto the probabilities. These have zeros, so a fraction of
    the model's probabilities is mixed in.
    """
    pair = {
        name: (own(lambda p: project(scores(p)), q), own(model_alone, q))
        for name, q in (("tune", tune), ("test", test))
    }
    fraction = min(SHARES, key=lambda s: nats(_mix(s, *pair["tune"])))
    return {
        "nats_projected": nats(_mix(fraction, *pair["test"])),
        "projected_share": fraction,
    }


EXPERIMENT = Experiment(
    "residual_tokens", __doc__, GRID, measure, OPTIONS, of="the book", seeds=(0, 1, 2)
)

if __name__ == "__main__":
    main(EXPERIMENT)
