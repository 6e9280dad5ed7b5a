"""Where to edit SmolLM2-135M, block by block: the same facts rewritten in every one of
its thirty blocks.

A cell is one block. Its facts are capitals of `editing_facts`, whose values are
searched for together. The record has the answers after the edits, and what the keys
predict before any search: the share of each edit that its neighbours' keys will get.
"""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from editing_facts import chosen, known
from editing_known import model
from record import Experiment, main

from rankone.data.facts import corpus
from rankone.editing import KeyGeometry
from rankone.language.edit_metrics import judge
from rankone.language.forward import Cache, embed, run
from rankone.language.many import find_fact_values
from rankone.language.prompts import corpus_contexts
from rankone.language.relations import RELATIONS, Fact, country_fact
from rankone.language.rewriting import Search
from rankone.language.surgery import close_edit
from rankone.language.tokenizer import pad
from rankone.language.transformer import Network

GRID = {"layer": list(range(30))}
OPTIONS = {"ridge": 0.01, "contexts": 1, "neighbours": 6, "every": 24, "facts": 4}
SHORT = 4  # most tokens of an answer, so that one program searches for all values
# passages read at a time, and tokens of each
BATCH = 8
WINDOW = 128


def rewritten(count: int, neighbours: int) -> list[Fact]:
    """Capitals with false answers: every third one in `editing_facts`, if its false
    answer is short.
    """
    capitals = [fact.split(":") for fact in chosen() if fact.startswith("capital:")][
        ::3
    ]
    named = [
        fact for fact in capitals if len(model().tokenizer.following(fact[2])) <= SHORT
    ][:count]
    return [
        country_fact(name, relation, new, known(relation), count=neighbours)
        for relation, name, new in named
    ]


@jax.jit
def all_keys(network: Network, tokens: jax.Array, valid: jax.Array) -> jax.Array:
    """Inputs of the down projection of every block (L, B, T, D)."""
    cache = Cache.empty(network.config, valid, network.norm.dtype)
    return run(network, embed(network, tokens), cache, read=("key",))[2]["key"]


@cache
def moments(every: int) -> np.ndarray:
    """Mean second moments of the keys of all blocks (L, D, D), in one pass, without the
    first tokens.
    """
    sizes = model().network.config
    texts = corpus()[::every]
    rows = sorted((model().tokenizer.encode(text)[:WINDOW] for text in texts), key=len)
    total = np.zeros((sizes.layers, sizes.hidden, sizes.hidden), np.float32)
    number = 0
    for start in range(0, len(rows), BATCH):
        tokens, valid = pad(rows[start : start + BATCH], multiple=64)
        counted = valid & (np.arange(valid.shape[1]) > 0)
        for block, keys in enumerate(
            np.asarray(
                all_keys(model().network, jnp.asarray(tokens), jnp.asarray(valid))
            )
        ):
            total[block] += keys[counted].T @ keys[counted]
        number += int(counted.sum())
    return total / number


@cache
def subject_keys(count: int, neighbours: int) -> list[np.ndarray]:
    """For each fact the keys of all blocks at the last token of its subject and of each
    neighbour (L, 1 + n, D).
    """
    # what follows the subject does not change its key
    end = RELATIONS["capital"].prompt.split("{}")[1]
    keys = []
    for fact in rewritten(count, neighbours):
        prompts = [fact.request.text, *(prompt for prompt, _ in fact.neighbours)]
        rows = [
            model().tokenizer.encode(prompt.removesuffix(end)) for prompt in prompts
        ]
        tokens, valid = pad(rows, left=True, multiple=16)
        keys.append(
            np.asarray(
                all_keys(model().network, jnp.asarray(tokens), jnp.asarray(valid))[
                    :, :, -1
                ]
            )
        )
    return keys


def measure(
    *,
    layer: int,
    ridge: float,
    contexts: int,
    neighbours: int,
    every: int,
    facts: int,
    seed: int,
) -> dict[str, list]:
    """For each fact: the margins of the new answer after the edit, the neighbours'
    shares, and the length and steps of the search.
    """
    cases = rewritten(facts, neighbours)
    C = moments(every)[layer]
    geometry = KeyGeometry.from_moments(C, ridge=ridge * float(np.trace(C)) / len(C))
    texts = corpus_contexts(model().tokenizer, ((contexts, 10),))
    values = find_fact_values(
        model(), [case.request for case in cases], contexts=texts, layer=layer
    )
    results: dict[str, list] = {
        "margin": [],
        "said": [],
        "kept": [],
        "share": [],
        "length": [],
        "steps": [],
    }
    for case, value, keys in zip(
        cases, values, subject_keys(facts, neighbours), strict=True
    ):
        edit = close_edit(model().network.down(layer), geometry, value)
        answer = judge(model(), case, layer, {"rome": edit.delta})["rome"]
        u = np.asarray(geometry.solve(keys[layer][0]))
        length = float(jnp.linalg.norm(value.delta) / value.before)
        share = keys[layer] @ u / (keys[layer][0] @ u)
        answer |= {
            "margin": np.round(answer["margin"], 2),
            "share": np.round(share[1:], 3),
        }
        answer |= {"length": round(length, 2), "steps": int(value.steps)}
        for name, entries in results.items():
            entries.append(answer[name])
    return results | {
        "at_reach": sum(length > 0.999 * Search().reach for length in results["length"])
    }


EXPERIMENT = Experiment("editing_scan", __doc__, GRID, measure, OPTIONS, of="the book")

if __name__ == "__main__":
    main(EXPERIMENT)
