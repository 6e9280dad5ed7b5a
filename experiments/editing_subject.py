"""The effect of an edit of one fact on the other facts about its subject: which of
these the model knew before and still says.

Each cell is one of the sixty edits of `editing_facts`, by the closed form, of a country
of which the model knows another relation too. The other relation is asked before and
after the edit, with the prompt that edits use and with its paraphrases.
"""

import jax.numpy as jnp
import numpy as np
from editing_facts import chosen, geometry, known
from editing_known import model
from record import Experiment, main

from rankone.data.facts import country
from rankone.language.likelihood import likelihoods
from rankone.language.prompts import corpus_contexts, rehearsal
from rankone.language.relations import RELATIONS, Request
from rankone.language.rewriting import subject_keys
from rankone.language.surgery import close_edit, find_fact_value

OPTIONS = {"layer": 2, "ridge": 0.01, "contexts": 3}
ROWS = 8  # two other relations with four phrasings each, so that one program serves all


def others(fact: str) -> list[str]:
    """The other relations of which the model knows the answer for the country of a
    fact.
    """
    relation, name, _ = fact.split(":")
    return [
        other
        for other in RELATIONS
        if other != relation and name in {c.name for c in known(other)}
    ]


def measure(*, fact: str, layer: int, ridge: float, contexts: int, seed: int) -> dict:
    """For each other relation and phrasing: whether the model says the truth, and the
    log-probability of the truth.
    """
    relation, name, target = fact.split(":")
    request = Request(RELATIONS[relation].prompt, name, target)
    W = model().network.down(layer)
    texts = corpus_contexts(model().tokenizer, ((contexts, 5), (contexts, 10)))
    value = find_fact_value(model(), request, contexts=texts, layer=layer)
    edit = close_edit(W, geometry(layer, ridge), value)
    edited = model().with_down(layer, edit.apply(W))
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
    answers = {}
    for when, one in (("before", model()), ("after", edited)):
        scores, said = likelihoods(
            one, prompts + spare * prompts[:1], truths + spare * truths[:1]
        )
        shape = (len(phrasings), -1)
        answers[when] = {
            "said": np.asarray(said)[: len(prompts)].reshape(shape),
            "log_probability": np.asarray(scores)[: len(prompts)].reshape(shape),
        }
    asks = [
        rehearsal(model().tokenizer, Request(forms[0], name, "it"), [""])
        for forms in phrasings.values()
    ]
    keys = jnp.stack(
        [subject_keys(model().network, ask, layer=layer)[0] for ask in asks], axis=1
    )
    new = likelihoods(edited, ROWS * [request.text], ROWS * [target])[1]
    return answers | {
        "share": edit.right @ keys / (edit.right @ value.key),
        "written": new[0],
    }


GRID = {"fact": [fact for fact in chosen() if others(fact)]}
EXPERIMENT = Experiment(
    "editing_subject", __doc__, GRID, measure, OPTIONS, of="the book"
)

if __name__ == "__main__":
    main(EXPERIMENT)
