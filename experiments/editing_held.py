"""Edits that also hold the other facts about the subject fixed, as further constraints.

Each edit of `editing_subject` is made in three variants: by the closed form alone
("alone"), with the block's answers to the keys of the other relations' questions fixed
("questions"), and with its answers to the keys of all phrasings of these questions
fixed ("ways"). The other facts are asked as in `editing_subject`, the edited fact and
its neighbours as in `editing_facts`.
"""

import jax.numpy as jnp
import numpy as np
from editing_facts import geometry, known
from editing_known import model
from editing_subject import GRID, ROWS, others
from record import Experiment, main

from rankone.data.facts import country
from rankone.editing import batch_edit
from rankone.language.edit_metrics import judge
from rankone.language.likelihood import likelihoods
from rankone.language.prompts import corpus_contexts
from rankone.language.relations import RELATIONS, country_fact
from rankone.language.statistics import text_keys
from rankone.language.surgery import find_fact_value

OPTIONS = {"layer": 2, "ridge": 0.01, "contexts": 3, "neighbours": 6}


def measure(
    *, fact: str, layer: int, ridge: float, contexts: int, neighbours: int, seed: int
) -> dict:
    """For each variant: its interference, the margins of the new answer, and which
    other facts the model still says.
    """
    relation, name, target = fact.split(":")
    case = country_fact(name, relation, target, known(relation), count=neighbours)
    texts = corpus_contexts(model().tokenizer, ((contexts, 5), (contexts, 10)))
    value = find_fact_value(model(), case.request, contexts=texts, layer=layer)
    C = geometry(layer, ridge)
    W = model().network.down(layer)
    phrasings = [(RELATIONS[r].prompt, *RELATIONS[r].paraphrases) for r in others(fact)]
    prompt_sets = {
        "alone": [],
        "questions": [forms[0] for forms in phrasings],
        "ways": [form for forms in phrasings for form in forms],
    }
    deltas = {}
    for kind, prompts in prompt_sets.items():
        # the words after the subject do not change its key
        before = dict.fromkeys(prompt.split("{}")[0] for prompt in prompts)
        K = jnp.stack(
            [value.key, *(_key(words + name, texts, layer) for words in before)], axis=1
        )
        deltas[kind] = batch_edit(W, C, K, (W @ K).at[:, 0].add(value.delta)).delta
    judged = judge(model(), case, layer, {"none": None, **deltas})
    results: dict = {"none": {"margin": judged["none"]["margin"]}}
    truths = [getattr(country(name), r) for r in others(fact)]
    for kind, delta in deltas.items():
        said = _said(model().with_down(layer, W + delta), phrasings, truths, name)
        price = jnp.sum((delta @ C.C) * delta)
        results[kind] = {"price": price, "margin": judged[kind]["margin"], "said": said}
    return results | {"before": _said(model(), phrasings, truths, name)}


def _key(words: str, texts: list[str], layer: int) -> jnp.ndarray:
    """Key of the last word, as a mean over the contexts."""
    return text_keys(model(), [text + words for text in texts], layer).mean(0)


def _said(
    one, phrasings: list[tuple[str, ...]], truths: list[str], name: str
) -> np.ndarray:
    """For each relation (row) and phrasing, True if the model says the truth."""
    prompts = [form.format(name) for forms in phrasings for form in forms]
    answers = [
        truth for forms, truth in zip(phrasings, truths, strict=True) for _ in forms
    ]
    spare = ROWS - len(prompts)
    said = likelihoods(
        one, prompts + spare * prompts[:1], answers + spare * answers[:1]
    )[1]
    return np.asarray(said)[: len(prompts)].reshape(len(phrasings), -1)


EXPERIMENT = Experiment("editing_held", __doc__, GRID, measure, OPTIONS, of="the book")

if __name__ == "__main__":
    main(EXPERIMENT)
