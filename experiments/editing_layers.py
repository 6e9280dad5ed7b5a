"""Where to edit SmolLM2-135M: the same facts rewritten in several blocks, and traced
through all of them.

A cell is one fact in one block: the answers after its edit (as in `editing_facts`), and
for the first block of the grid also the causal trace of the true fact, averaged over
the columns of six groups of tokens.
"""

import jax
import numpy as np
from editing_facts import chosen, geometry, known
from editing_known import model
from record import Experiment, main

from rankone.data import countries
from rankone.language.edit_metrics import judge
from rankone.language.prompts import corpus_contexts
from rankone.language.relations import Request, country_fact
from rankone.language.surgery import close_edit, find_fact_value
from rankone.language.tracing import mean_effect, subject_noise, trace

GRID = {"layer": [2, 8, 14, 20], "fact": chosen()[::5]}
OPTIONS = {"ridge": 0.01, "noises": 2, "neighbours": 6, "every": 12}


def measure(
    *,
    layer: int,
    fact: str,
    ridge: float,
    noises: int,
    neighbours: int,
    every: int,
    seed: int,
) -> dict:
    """Answers after the edit of one fact in one block; for the first block also the
    trace.
    """
    relation, name, target = fact.split(":")
    case = country_fact(name, relation, target, known(relation), count=neighbours)
    texts = corpus_contexts(model().tokenizer, ((2, 5), (2, 10)))
    value = find_fact_value(model(), case.request, contexts=texts, layer=layer)
    edit = close_edit(model().network.down(layer), geometry(layer, ridge, every), value)
    results = {
        "answers": judge(model(), case, layer, {"none": None, "rome": edit.delta})
    }
    results["search"] = {"steps": value.steps, "loss": value.losses[value.steps - 1]}
    if layer == GRID["layer"][0]:
        truth = Request(case.request.prompt, case.request.subject, case.truth)
        unit = subject_noise(model(), [country.name for country in countries()])
        causal_trace = trace(
            model(), truth, key=jax.random.key(seed), noises=noises, unit=unit
        )
        results["trace"] = {
            "effect": np.asarray(mean_effect([causal_trace])),
            "clean": causal_trace.clean,
            "blurred": causal_trace.blurred,
        }
    return results


EXPERIMENT = Experiment(
    "editing_layers", __doc__, GRID, measure, OPTIONS, of="the book"
)

if __name__ == "__main__":
    main(EXPERIMENT)
