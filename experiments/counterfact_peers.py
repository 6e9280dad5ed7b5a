"""A hundred and a thousand facts of CounterFact in one model, written by the updates of
MEMIT, EMMET and AlphaEdit as their authors' code computes them.

The loop over blocks and the formula of each block are the published ones, and a test
compares them with the published code. C, the contexts and the search for values are the
book's own, those of `counterfact`. "memit" has a weight on C, the mean of kkᵀ over
text, and a weight of 0 makes it EMMET, the exact batch. "alphaedit" writes a hundred
facts at a time, within the directions along which text has a mean square below the
threshold, and penalises changes of the answers to the keys of earlier hundreds.

A value takes two seconds to find. `searched` is the number of facts that have a value
of their own; the other facts take these values in turn. Fifty of the facts are asked,
and these have their own values.
"""

from functools import cache, partial
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from counterfact import (
    CASES,
    OPTIONS,
    Case,
    asked_of,
    cases,
    values,
    with_data,
)
from counterfact_many import with_own_key
from editing_facts import geometry
from editing_known import model
from record import Experiment

from rankone.editing import batch_edit, projected_edit, quiet_directions
from rankone.language.model import LanguageModel
from rankone.language.prompts import corpus_contexts
from rankone.language.spread import (
    SubjectStates,
    context_mean,
    spread_edit,
    subject_states,
)
from rankone.writes import Write
from rankone_book.counterfact_study import peer_rows
from rankone_book.counterfact_study import prose as prose_of

ASKED = 50
BATCH = 100  # facts that AlphaEdit writes at a time, as its README runs it
WINDOWS = 18  # windows of prose
# For MEMIT, `strength` is the weight on C, from 0, the exact batch, to that of GPT-J.
# For AlphaEdit it is the ridge, 10 as published.
GRID = {
    "method": ["memit", "alphaedit"],
    "blocks": [3, 1],
    "strength": [0.0, 1.0, 10.0, 150.0, 1500.0, 15000.0],
    "edits": [100, 1000],
}
WITHOUT_RIDGE = {"method": "alphaedit", "strength": 0.0}  # has no solution
FULL = OPTIONS | {"threshold": 0.02, "searched": 1000}


def measure(
    *,
    method: str,
    blocks: int,
    strength: float,
    edits: int,
    layer: int,
    ridge: float,
    contexts: int,
    every: int,
    threshold: float,
    searched: int,
    seed: int,
) -> dict:
    """Answers of the edited model; the squared distance of its streams from their
    targets at the subjects of the bare questions, relative to before the edit; the
    interference per fact; and the mean −log p of ordinary prose, window by window.
    """
    facts = _facts(edits, layer, ridge, contexts, every, searched)
    requests = [case.request for case in facts.chosen]
    targets = facts.states.stream[:, 0] + facts.deltas
    touched = list(range(layer - blocks + 1, layer + 1))
    texts = corpus_contexts(model().tokenizer, ((contexts, 10),))
    spread = partial(spread_edit, contexts=texts, blocks=touched)
    if method == "memit":
        update = partial(_memit, weight=strength, ridge=ridge, every=every)
        changes = spread(model(), requests, targets, update=update, states=facts.states)
        edited = _changed(model(), changes)
    else:
        edited = model()
        written: dict[int, list[Any]] = {block: [] for block in touched}
        for start in range(0, len(requests), BATCH):
            part = requests[start : start + BATCH]
            update = partial(
                _alphaedit,
                strength=strength,
                ridge=ridge,
                every=every,
                threshold=threshold,
                written=written,
            )
            changes = spread(
                edited, part, targets[start : start + BATCH], update=update
            )
            edited = _changed(edited, changes)
            states = subject_states(edited, part, contexts=texts, layer=layer)
            keys = context_mean(states.keys)
            for block in touched:
                written[block].append(keys[block].T)
    after = subject_states(edited, requests, layer=layer).stream[:, 0]
    missing = np.asarray(targets - after)
    sample = facts.chosen[:ASKED]
    config = edited.network.config
    none = np.zeros((len(sample), config.width)), np.zeros((len(sample), config.hidden))
    outcomes = asked_of(sample, edited.network, *none, layer)
    lead = np.exp(outcomes["log_p"][:, 0]) - np.exp(outcomes["log_p"][:, 1])
    return {
        "ahead": (outcomes["log_p"][:, 0] > outcomes["log_p"][:, 1]).astype(int),
        "said": outcomes["said"][:, 0].astype(int),
        "magnitude": lead.mean(1),
        "missing": np.sum(missing**2) / np.sum(facts.deltas**2),
        "price": _interference(edited, touched, ridge, every) / len(requests),
        "prose": prose_of(edited, windows=WINDOWS),
        "unedited": _unedited(),
        "written": len(requests),
    }


class Facts(NamedTuple):
    """Cases of which no two have the same key, their δ (n, d), and the unedited model's
    states at their subjects.
    """

    chosen: list[Case]
    deltas: np.ndarray
    states: SubjectStates


@cache
def _facts(
    edits: int, layer: int, ridge: float, contexts: int, every: int, searched: int
) -> Facts:
    chosen = cases(CASES[:edits])
    own = values(chosen[:searched], layer, contexts)["delta"]
    deltas = own[np.arange(edits) % len(own)]
    states = subject_states(
        model(),
        [case.request for case in chosen],
        contexts=corpus_contexts(model().tokenizer, ((contexts, 10),)),
        layer=layer,
    )
    K = np.asarray(context_mean(states.keys[layer])).T
    S = np.asarray(geometry(layer, ridge, every).inner(K, K), float)
    # facts about one subject have the same key, and only the first of them is written
    new = np.array(with_own_key(S))
    states = SubjectStates(states.keys[:, new], states.stream[new])
    return Facts([chosen[i] for i in new], deltas[new], states)


def _memit(
    block: int, W: Any, K: Any, V: Any, *, weight: float, ridge: float, every: int
) -> Write:
    omega = 1 / weight if weight else np.inf
    return batch_edit(W, geometry(block, ridge, every), K, V, omega=omega)


def _alphaedit(
    block: int,
    W: Any,
    K: Any,
    V: Any,
    *,
    strength: float,
    ridge: float,
    every: int,
    threshold: float,
    written: dict[int, list[Any]],
) -> Write:
    B = directions(block, ridge, every, threshold)
    earlier = jnp.concatenate(written[block], axis=1) if written[block] else None
    return projected_edit(W, B, K, V, ridge=strength, written=earlier)


@cache
def directions(block: int, ridge: float, every: int, threshold: float) -> Any:
    """Directions (D, n) of a block's keys along which text has a mean square below the
    threshold.
    """
    C = np.asarray(geometry(block, ridge, every).C, float)
    # C without the ridge that the geometry has
    C -= ridge / (1 + ridge) * np.trace(C) / len(C) * np.eye(len(C))
    return quiet_directions(C.astype(np.float32), threshold=threshold)


def _changed(one: LanguageModel, edits: dict[int, Write]) -> LanguageModel:
    for block, edit in edits.items():
        one = one.with_down(block, edit.apply(one.network.down(block)))
    return one


def _interference(
    edited: LanguageModel, touched: list[int], ridge: float, every: int
) -> float:
    """tr(ΔW C ΔWᵀ), summed over the blocks."""
    total = 0.0
    for block in touched:
        delta = edited.network.down(block) - model().network.down(block)
        C = geometry(block, ridge, every).C
        total += float(jnp.sum((delta @ C) * delta))
    return total


@cache
def _unedited() -> np.ndarray:
    return np.asarray(prose_of(model(), windows=WINDOWS))


EXPERIMENT = Experiment(
    "counterfact_peers",
    __doc__,
    GRID,
    measure,
    FULL,
    of="the book",
    impossible=(WITHOUT_RIDGE,),
)

if __name__ == "__main__":
    print("\n".join(" | ".join(row) for row in peer_rows(with_data(EXPERIMENT))))
