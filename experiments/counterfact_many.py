"""Ten, a hundred and a thousand facts of CounterFact in one model, written by five
methods.

The pairs are those of `counterfact`: the keys of one block, and the values found for
each fact alone. They are written at once ("batch"), one after another with C unchanged
("sequence") or with each written key added to the keys of the text ("learning"), at
once within the directions that text hardly uses ("null"), or at once over three blocks
("spread"). Fifty of the facts are asked. If a model has fewer facts, several groups of
facts are edited, each in a model of its own. Facts about one subject have the same key,
and only the first of them is written.
"""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from counterfact import (
    CASES,
    OPTIONS,
    Case,
    asked_of,
    cases,
    subject_streams,
    values,
    with_data,
)
from counterfact_forgetting import SAME
from editing_facts import geometry
from editing_known import model
from record import Experiment

from rankone.data.facts import corpus
from rankone.editing import batch_edit, sequential_edit
from rankone.language.model import LanguageModel
from rankone.language.transformer import Network
from rankone_book.counterfact_study import many_rows
from rankone_book.counterfact_study import prose as prose_of

ASKED = 50
BLOCKS = 3  # blocks of "spread", the last of which is the block of the other methods
GRID = {
    "way": ["batch", "sequence", "learning", "null", "spread"],
    "edits": [10, 100, 1000],
}
FULL = OPTIONS | {"share": 0.02}


def measure(
    *,
    way: str,
    edits: int,
    layer: int,
    ridge: float,
    contexts: int,
    every: int,
    share: float,
    seed: int,
) -> dict:
    """Answers of the edited models, the interference of the change per fact, and the
    mean −log p of ordinary prose.
    """
    groups = [list(CASES[start : start + edits]) for start in range(0, ASKED, edits)]
    results: dict[str, Any] = {"ahead": [], "said": [], "magnitude": []}
    prices = []
    for numbers in groups:
        chosen = cases(numbers)
        facts = values(chosen, layer, contexts)
        own = with_own_key(
            np.asarray(
                geometry(layer, ridge, every).inner(facts["key"].T, facts["key"].T),
                float,
            )
        )
        chosen = [chosen[i] for i in own]
        facts = {name: value[own] for name, value in facts.items()}
        how = {
            "layer": layer,
            "ridge": ridge,
            "contexts": contexts,
            "every": every,
            "share": share,
        }
        deltas = written(way, chosen, facts, **how)
        network = model().network
        for block, delta in deltas.items():
            network = network.with_down(block, network.down(block) + delta)
        sample = chosen[:ASKED]
        none = (
            np.zeros((len(sample), network.config.width)),
            np.zeros((len(sample), network.config.hidden)),
        )
        outcomes = asked_of(sample, network, *none, layer)
        lead = np.exp(outcomes["log_p"][:, 0]) - np.exp(outcomes["log_p"][:, 1])
        results["ahead"].append(
            (outcomes["log_p"][:, 0] > outcomes["log_p"][:, 1]).astype(int)
        )
        results["said"].append(outcomes["said"][:, 0].astype(int))
        results["magnitude"].append(lead)
        prices.append(
            sum(_price(block, delta, ridge, every) for block, delta in deltas.items())
            / len(chosen)
        )
        results["written"] = len(chosen)
        results.setdefault("prose", prose(network))
    joined = {
        name: np.concatenate(results[name], axis=1)
        for name in ("ahead", "said", "magnitude")
    }
    return {
        "ahead": joined["ahead"],
        "said": joined["said"],
        "magnitude": joined["magnitude"].mean(1),
        "price": np.mean(prices),
        "prose": results["prose"],
        "written": results["written"],
    }


def with_own_key(S: np.ndarray) -> list[int]:
    """Indices of the facts whose key no earlier fact has, from S = KᵀC⁻¹K (m, m). Facts
    about one subject have the same key.
    """
    cosines = S / np.sqrt(np.outer(np.diag(S), np.diag(S)))
    return np.flatnonzero(np.triu(cosines > SAME, 1).sum(0) == 0).tolist()


def _price(block: int, delta: jax.Array, ridge: float, every: int) -> float:
    return float(jnp.sum((delta @ geometry(block, ridge, every).C) * delta))


def written(
    way: str,
    chosen: list[Case],
    facts: dict[str, np.ndarray],
    *,
    layer: int,
    ridge: float,
    contexts: int,
    every: int,
    share: float,
) -> dict[int, jax.Array]:
    """ΔW of every block that changes."""
    W = model().network.down(layer)
    C = geometry(layer, ridge, every)
    K = jnp.asarray(facts["key"].T)
    V = W @ K + facts["delta"].T
    if way == "batch":
        return {layer: batch_edit(W, C, K, V).delta}
    if way in ("sequence", "learning"):
        beta = 0.0 if way == "sequence" else 1 / tokens_read(every)
        return {layer: sequential_edit(W, C, K, V, beta=beta).edit.delta}
    if way == "null":
        P = null_space(layer, ridge, every, share)
        # exact for at most as many facts as P has columns
        return {layer: facts["delta"].T @ jnp.linalg.pinv(P.T @ K) @ P.T}
    return _spread(chosen, facts, layer, ridge, contexts, every)


@cache
def tokens_read(every: int) -> int:
    """Number of keys from which C is estimated."""
    return sum(len(model().tokenizer.encode(text)) - 1 for text in corpus()[::every])


@cache
def null_space(layer: int, ridge: float, every: int, fraction: float) -> jax.Array:
    """Directions (D, n) along which the keys of the text have together at most a
    fraction of their mean square.
    """
    C = np.asarray(geometry(layer, ridge, every).C, float)
    C -= ridge / (1 + ridge) * np.trace(C) / len(C) * np.eye(len(C))
    sizes, directions = np.linalg.eigh(C)
    return jnp.asarray(
        directions[:, np.cumsum(sizes) <= fraction * sizes.sum()], jnp.float32
    )


def _spread(
    chosen: list[Case],
    facts: dict[str, np.ndarray],
    layer: int,
    ridge: float,
    contexts: int,
    every: int,
) -> dict[int, jax.Array]:
    """Changes of the blocks, from the lowest up. Each block writes its part of what is
    still missing in the stream after the last block, given the changes of the blocks
    below.
    """
    network = model().network
    changes = {}
    targets = subject_streams(chosen, layer, contexts)[1] + facts["delta"]
    for block in range(layer - BLOCKS + 1, layer + 1):
        keys, now = subject_streams(chosen, layer, contexts, network)
        K = keys[block].T
        missing = (targets - now).T / (layer - block + 1)
        W = network.down(block)
        changes[block] = batch_edit(
            W, geometry(block, ridge, every), K, W @ K + missing
        ).delta
        network = network.with_down(block, W + changes[block])
    return changes


def prose(network: Network) -> float:
    """Mean −log p per token, in nats, of passages from which no C was estimated."""
    return float(prose_of(LanguageModel(network, model().tokenizer)).mean())


EXPERIMENT = Experiment("counterfact_many", __doc__, GRID, measure, FULL, of="the book")

if __name__ == "__main__":
    print(
        "\n".join(
            " | ".join(row)
            for row in many_rows(
                with_data(EXPERIMENT), {name: name for name in GRID["way"]}
            )
        )
    )
