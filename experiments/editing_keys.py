"""What mixing two keys does: the published code takes u from the mean key and divides by the bare key's uᵀk.

For every fact that the model knows, the change is longer than the consistent one by uᵀk_mean / uᵀk_bare, and its
interference by the square. Asked with the subject inside the prompt, and with the subject as the very first word.
"""

import jax.numpy as jnp
import numpy as np
from editing_facts import geometry, known
from editing_known import model
from record import main

from rankone.language.prompts import corpus_contexts, rehearsal
from rankone.language.relations import RELATIONS, Request
from rankone.language.rewriting import subject_keys

FIRST = {"capital": "{} has the capital", "currency": "{} has a currency called the", "continent": "{} is a country in"}
GRID = {"relation": list(RELATIONS), "subject": ["inside", "first"]}
OPTIONS = {"layer": 2, "ridge": 0.01, "contexts": 3, "facts": 24}


def measure(*, relation: str, subject: str, layer: int, ridge: float, contexts: int, facts: int, seed: int) -> dict:
    """For each fact: uᵀk_mean/uᵀk_bare, ‖k_bare‖/‖k_mean‖, and the cosine of the two keys in the geometry of C."""
    prompt = FIRST[relation] if subject == "first" else RELATIONS[relation].prompt
    texts, C = corpus_contexts(model().tokenizer, ((contexts, 5), (contexts, 10))), geometry(layer, ridge)
    ratios, lengths, cosines = [], [], []
    for country in known(relation)[:facts]:
        request = Request(prompt, country.name[0].upper() + country.name[1:], "it")
        keys = subject_keys(model().network, rehearsal(model().tokenizer, request, texts), layer=layer)
        mean, bare = keys.mean(0), keys[0]
        S = np.asarray(C.inner(jnp.stack([mean, bare], 1), jnp.stack([mean, bare], 1)))
        ratios.append(S[0, 0] / S[0, 1])
        lengths.append(jnp.linalg.norm(bare) / jnp.linalg.norm(mean))
        cosines.append(S[0, 1] / (S[0, 0] * S[1, 1]) ** 0.5)
    return {"longer": ratios, "length": lengths, "cosine": cosines}


if __name__ == "__main__":
    main("editing_keys", __doc__, GRID, measure, options=OPTIONS, of="the book")
