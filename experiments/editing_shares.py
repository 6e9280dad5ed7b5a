"""The share of each recorded edit that the keys of its neighbours get, before anything
is edited.

For every edit of `editing_facts` and every neighbour that was asked about afterwards:
uᵀk_j/uᵀk̄, with the edit's mean key k̄, the neighbour's bare key k_j and u = C⁻¹k̄, and
once more with C = I.
"""

import jax.numpy as jnp
import numpy as np
from editing_facts import OPTIONS as EDITED
from editing_facts import chosen, geometry, known
from editing_known import model
from record import Experiment, main

from rankone.language.prompts import corpus_contexts
from rankone.language.relations import RELATIONS, country_fact
from rankone.language.statistics import text_keys

GRID = {"relation": list(RELATIONS)}
OPTIONS = {
    name: EDITED[name] for name in ("layer", "ridge", "contexts", "neighbours", "every")
}


def question(relation: str, name: str) -> str:
    """The question up to the subject: what follows does not change the subject's
    key.
    """
    return RELATIONS[relation].prompt.split("{}")[0] + name


def measure(
    *,
    relation: str,
    layer: int,
    ridge: float,
    contexts: int,
    neighbours: int,
    every: int,
    seed: int,
) -> dict:
    """Names of the edited facts of the relation, and the shares of their neighbours,
    one row per fact.
    """
    texts = corpus_contexts(model().tokenizer, ((contexts, 5), (contexts, 10)))
    pool = known(relation)
    names = [country.name for country in pool]
    bare = text_keys(model(), [question(relation, name) for name in names], layer)
    shares: dict[str, list] = {"facts": [], "closed": [], "identity": []}
    for fact in chosen():
        edited, name, target = fact.split(":")
        if edited != relation:
            continue
        shares["facts"].append(fact)
        mean = text_keys(
            model(), [text + question(relation, name) for text in texts], layer
        ).mean(0)
        case = country_fact(name, relation, target, pool, count=neighbours)
        prompts = [RELATIONS[relation].prompt.format(other) for other in names]
        near = bare[jnp.array([prompts.index(prompt) for prompt, _ in case.neighbours])]
        for kind, u in (
            ("closed", geometry(layer, ridge, every).solve(mean)),
            ("identity", mean),
        ):
            shares[kind].append(np.round(near @ u / (mean @ u), 4))
    return shares


EXPERIMENT = Experiment(
    "editing_shares", __doc__, GRID, measure, OPTIONS, of="the book"
)

if __name__ == "__main__":
    main(EXPERIMENT)
