"""The effect of the allowed length of δ on what an edit writes, on the other facts
about its subject, and on the neighbours.

A cell is one allowed length, in units of ‖v₀‖. The facts are every `step`-th of
`editing_subject`, edited one at a time by the closed form. The model knows another
relation of each country, which is asked before and after the edit, in all phrasings of
the relation.
"""

import jax.numpy as jnp
import numpy as np
from editing_facts import geometry, known
from editing_known import model
from editing_subject import GRID as SUBJECTS
from editing_subject import ROWS, others
from record import Experiment, main

from rankone.data.facts import country
from rankone.language.edit_metrics import judge
from rankone.language.likelihood import likelihoods
from rankone.language.many import find_fact_values
from rankone.language.prompts import corpus_contexts
from rankone.language.relations import RELATIONS, country_fact
from rankone.language.rewriting import Search
from rankone.language.surgery import close_edit

GRID = {"reach": [1.0, 2.0, 3.0, 4.0]}
OPTIONS = {
    "layer": 2,
    "ridge": 0.01,
    "contexts": 1,
    "every": 4,
    "neighbours": 6,
    "step": 1,
}


def measure(
    *,
    reach: float,
    layer: int,
    ridge: float,
    contexts: int,
    every: int,
    neighbours: int,
    step: int,
    seed: int,
) -> dict:
    """For each edit: the length of δ, the margins of the new answer, and the other
    facts about the subject before and after.
    """
    facts = SUBJECTS["fact"][::step]
    cases = [
        country_fact(name, relation, target, known(relation), count=neighbours)
        for relation, name, target in (fact.split(":") for fact in facts)
    ]
    values = find_fact_values(
        model(),
        [one.request for one in cases],
        contexts=corpus_contexts(model().tokenizer, ((contexts, 10),)),
        layer=layer,
        search=Search(reach=reach),
    )
    W = model().network.down(layer)
    results: dict[str, list] = {
        name: [] for name in ("length", "loss", "margin", "said", "kept")
    }
    subject: dict[str, dict] = {}
    for fact, one, value in zip(facts, cases, values, strict=True):
        edit = close_edit(W, geometry(layer, ridge, every), value)
        answers = judge(model(), one, layer, {"none": None, "edited": edit.delta})
        results["length"].append(jnp.linalg.norm(value.delta) / value.before)
        results["loss"].append(value.losses[value.steps - 1, 0])
        results["margin"].append(answers["edited"]["margin"])
        results["said"].append(answers["edited"]["said"])
        fraction = answers["edited"]["kept"] / max(answers["none"]["kept"], 1e-9)
        results["kept"].append(fraction)
        edited = model().with_down(layer, W + edit.delta)
        subject[fact] = dict(
            zip(("before", "after"), about_subject(fact, edited), strict=True)
        )
    return results | {"subject": subject}


def about_subject(fact: str, edited: object) -> tuple[list[list[int]], list[list[int]]]:
    """For each other relation (row) and phrasing, whether the model says the truth
    before and after the edit.
    """
    name = fact.split(":")[1]
    phrasings = {
        other: (RELATIONS[other].prompt, *RELATIONS[other].paraphrases)
        for other in others(fact)
    }
    prompts = [form.format(name) for forms in phrasings.values() for form in forms]
    truths = [
        getattr(country(name), other)
        for other, forms in phrasings.items()
        for _ in forms
    ]
    spare = ROWS - len(prompts)
    rows = prompts + spare * prompts[:1], truths + spare * truths[:1]
    before, after = (
        np.asarray(likelihoods(one, *rows)[1])[: len(prompts)].astype(int)
        for one in (model(), edited)
    )
    shape = len(phrasings), -1
    return before.reshape(shape).tolist(), after.reshape(shape).tolist()


EXPERIMENT = Experiment("editing_reach", __doc__, GRID, measure, OPTIONS, of="the book")

if __name__ == "__main__":
    main(EXPERIMENT)
