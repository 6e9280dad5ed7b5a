"""The effect of mixing two keys: the published code takes u from the mean key and
divides by the bare key's uᵀk.

For every fact that the model knows, the mixed change is longer than the consistent
change by the factor uᵀk_mean / uᵀk_bare, and its interference is larger by the square
of this factor. The consistent change in turn gives the bare key only δ divided by the
factor. The subject stands inside the prompt, or is its very first word. C leaves out
the first token of every window (`skip` 1), or counts all tokens (`skip` 0). Some of the
facts are edited with both denominators, and asked for.
"""

from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
from editing_facts import geometry, known
from editing_known import model
from record import Experiment, main

from rankone.language.likelihood import likelihoods
from rankone.language.prompts import corpus_contexts, rehearsal
from rankone.language.relations import RELATIONS, Request
from rankone.language.rewriting import Value, subject_keys
from rankone.language.surgery import KEYS, close_edit, find_fact_value

FIRST = {
    "capital": "{} has the capital",
    "currency": "{} has a currency called the",
    "continent": "{} is a country in",
}
GRID = {"relation": list(RELATIONS), "subject": ["inside", "first"], "skip": [1, 0]}
OPTIONS = {"layer": 2, "ridge": 0.01, "contexts": 3, "facts": 24, "edited": 4}


def measure(
    *,
    relation: str,
    subject: str,
    skip: int,
    layer: int,
    ridge: float,
    contexts: int,
    facts: int,
    edited: int,
    seed: int,
) -> dict:
    """For each fact: uᵀk_mean/uᵀk_bare, ‖k_bare‖/‖k_mean‖, and the cosine of the two
    keys in the geometry of C.

    For `edited` of the facts also −log p of the new answer per token, after the prompt
    in each context, the bare prompt first.
    """
    prompt = FIRST[relation] if subject == "first" else RELATIONS[relation].prompt
    texts = tuple(corpus_contexts(model().tokenizer, ((contexts, 5), (contexts, 10))))
    C = geometry(layer, ridge, skip=skip)
    pool = known(relation)[:facts]
    results: dict[str, Any] = {"longer": [], "length": [], "cosine": []}
    for country in pool:
        request = Request(prompt, _capitalised(country.name), "it")
        keys = subject_keys(
            model().network, rehearsal(model().tokenizer, request, texts), layer=layer
        )
        mean = keys.mean(0)
        bare = keys[0]
        S = np.asarray(C.inner(jnp.stack([mean, bare], 1), jnp.stack([mean, bare], 1)))
        results["longer"].append(S[0, 0] / S[0, 1])
        results["length"].append(jnp.linalg.norm(bare) / jnp.linalg.norm(mean))
        results["cosine"].append(S[0, 1] / (S[0, 0] * S[1, 1]) ** 0.5)
    results["which"] = np.linspace(0, len(pool) - 1, edited).astype(int)
    results |= {f"unlikely_{key}": [] for key in KEYS}
    for i in results["which"]:
        target = next(
            getattr(c, relation)
            for c in pool
            if getattr(c, relation) != getattr(pool[i], relation)
        )
        request = Request(prompt, _capitalised(pool[i].name), target)
        for key in KEYS:
            results[f"unlikely_{key}"].append(_unlikely(request, texts, C, layer, key))
    return results


def _capitalised(name: str) -> str:
    return name[0].upper() + name[1:]


@cache
def _value(request: Request, texts: tuple[str, ...], layer: int) -> Value:
    return find_fact_value(model(), request, contexts=texts, layer=layer)


def _unlikely(
    request: Request, texts: tuple[str, ...], C: Any, layer: int, key: str
) -> np.ndarray:
    W = model().network.down(layer)
    change = close_edit(W, C, _value(request, texts, layer), key=key)
    edited = model().with_down(layer, change.apply(W))
    prompts = [text + request.text for text in texts]
    return -np.asarray(likelihoods(edited, prompts, [request.target] * len(prompts))[0])


EXPERIMENT = Experiment("editing_keys", __doc__, GRID, measure, OPTIONS, of="the book")

if __name__ == "__main__":
    main(EXPERIMENT)
