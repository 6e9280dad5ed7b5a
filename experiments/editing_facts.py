"""Sixty facts of SmolLM2-135M rewritten one at a time, by the closed form and by the
methods that it is compared with.

Each cell is one edit of the unedited model: the value is searched once, and written by
the closed form with the mean key ("rome"), with the keys the published code mixes
("mixed"), and with C = I ("identity"); "tuned" is fine-tuning of the same matrix on the
same sentence under an L-infinity constraint; "none" is the unedited model. Only facts
that the model knows (`editing_known`) are rewritten or serve as neighbours. Every
method's prose on the subject is scored too.
"""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from editing_known import model
from record import Experiment, main

from rankone.data.facts import Country, corpus, countries
from rankone.editing import KeyGeometry
from rankone.language.edit_metrics import judge, ngram_entropy
from rankone.language.generation import RowChanges, continue_tokens
from rankone.language.prompts import continuations, corpus_contexts
from rankone.language.relations import Fact, country_fact
from rankone.language.rewriting import fine_tune
from rankone.language.statistics import key_geometry
from rankone.language.surgery import close_edit, find_fact_value
from rankone.language.tokenizer import pad
from rankone_book.records import load_record, select

SHARES = {"capital": 26, "currency": 12, "continent": 22}
OPTIONS = {
    "layer": 2,
    "ridge": 0.01,
    "radius": 5e-4,
    "words": 32,
    "contexts": 3,
    "neighbours": 6,
    "every": 4,
}
STARTS = ("{} is famous for", "People who visit {} often say that")
METHODS = ("none", "rome", "mixed", "identity", "tuned")


@cache
def known(relation: str) -> list[Country]:
    """Countries whose fact the model knows."""
    (cell,) = select(load_record("editing_known"), relation=relation)
    flags = cell["results"]["known"]
    return [c for c, knows in zip(countries(), flags, strict=True) if knows]


def chosen() -> list[str]:
    """Facts to edit, as relation:country:new answer, drawn once from those that the
    model knows.
    """
    rng = np.random.default_rng(0)
    names = []
    for relation, count in SHARES.items():
        pool = known(relation)
        for i in rng.permutation(len(pool))[:count]:
            others = sorted(
                {getattr(c, relation) for c in pool} - {getattr(pool[i], relation)}
            )
            names.append(
                f"{relation}:{pool[i].name}:{others[rng.integers(len(others))]}"
            )
    return names


@cache
def geometry(layer: int, ridge: float, every: int = 4, skip: int = 1) -> KeyGeometry:
    """C from every fourth passage: about 30,000 keys, twenty per dimension, with which
    an edit interferes 5 % more than with the true C [R-S3].
    """
    return key_geometry(model(), layer, ridge=ridge, texts=corpus()[::every], skip=skip)


def measure(
    *,
    fact: str,
    layer: int,
    ridge: float,
    radius: float,
    words: int,
    contexts: int,
    neighbours: int,
    every: int,
    seed: int,
) -> dict:
    """Answers of every method's edited model to one fact, the interference of its
    change, and the entropy of its prose.
    """
    relation, name, target = fact.split(":")
    case = country_fact(name, relation, target, known(relation), count=neighbours)
    network, W = model().network, model().network.down(layer)
    texts = corpus_contexts(model().tokenizer, ((contexts, 5), (contexts, 10)))
    value = find_fact_value(model(), case.request, contexts=texts, layer=layer)
    C = geometry(layer, ridge, every)
    identity = KeyGeometry.from_moments(jnp.eye(C.D))
    rows = continuations(model().tokenizer, [case.request.text], [target])
    edits = {
        "rome": close_edit(W, C, value),
        "mixed": close_edit(W, C, value, key="mixed"),
    }
    edits["identity"] = close_edit(W, identity, value)
    changes = {"none": None, **{method: edit.delta for method, edit in edits.items()}}
    changes["tuned"], tuned_steps = fine_tune(network, rows, layer=layer, radius=radius)
    answers = judge(model(), case, layer, changes)
    interference = {
        m: interfered(C, delta) for m, delta in changes.items() if delta is not None
    }
    prose = entropies(case, changes, layer, words, seed)
    return {
        "answers": answers,
        "interference": interference,
        "fluency": prose,
        "search": {
            "steps": value.steps,
            "tuned_steps": tuned_steps,
            "loss": value.losses[value.steps - 1],
        },
        "lengths": {
            "delta": jnp.linalg.norm(value.delta) / value.before,
            "mixed_over_mean": (edits["mixed"].left @ edits["mixed"].left) ** 0.5
            / (edits["rome"].left @ edits["rome"].left) ** 0.5,
        },
    }


def interfered(C: KeyGeometry, delta: jax.Array) -> jax.Array:
    """Interference tr(ΔW C ΔWᵀ): the mean squared change of the answers to the corpus's
    keys, ridge included.
    """
    return jnp.sum((delta @ C.C) * delta)


def entropies(case: Fact, changes: dict, layer: int, words: int, seed: int) -> dict:
    """Mean n-gram entropy of each method's prose; the prose of all methods is written
    in one batch.
    """
    starts = [
        model().tokenizer.encode(start.format(case.request.subject)) for start in STARTS
    ]
    tokens, valid = pad(len(changes) * starts, left=True, multiple=16)
    zero = jnp.zeros_like(model().network.down(layer))
    delta = jnp.stack(
        [zero if change is None else change for change in changes.values()]
    )
    rows = RowChanges(jnp.repeat(delta, len(starts), axis=0), layer)
    said = continue_tokens(
        model().network,
        jnp.asarray(tokens),
        jnp.asarray(valid),
        jax.random.key(seed),
        rows,
        length=words,
        top=5,
    )
    each = (
        np.array([ngram_entropy(row) for row in np.asarray(said)])
        .reshape(len(changes), -1)
        .mean(1)
    )
    return dict(zip(changes, each, strict=True))


GRID = {"fact": chosen()}
EXPERIMENT = Experiment("editing_facts", __doc__, GRID, measure, OPTIONS, of="the book")

if __name__ == "__main__":
    main(EXPERIMENT)
