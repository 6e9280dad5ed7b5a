"""What a model writes about a subject before and after one of its facts is rewritten, over a hundred tokens.

The facts are those of `counterfact`, and the edits too. A text that repeats itself has little entropy in its n-grams;
a hundred tokens of which no two follow each other twice have 13.2 bits.
"""

import jax
import jax.numpy as jnp
import numpy as np
from counterfact import CASES, OPTIONS, SIZE, cases, values, with_data
from editing_facts import geometry
from editing_known import model
from record import Experiment

from rankone.language.edit_metrics import ngram_entropy
from rankone.language.generation import RowChanges, continue_tokens
from rankone.language.tokenizer import pad

GRID = {"cell": list(range(len(CASES) // SIZE))}
FULL = OPTIONS | {"words": 100, "top": 5}


def measure(*, cell: int, layer: int, ridge: float, contexts: int, every: int, words: int, top: int, seed: int) -> dict:
    """Entropy of the n-grams of what is written after the name of each subject, in bits, before and after."""
    chosen = cases(CASES[SIZE * cell : SIZE * (cell + 1)])
    held = values(chosen, layer, contexts)
    u = geometry(layer, ridge, every).solve(held["key"].T).T
    deltas = held["delta"][:, :, None] / jnp.sum(u * held["key"], axis=1)[:, None, None] * u[:, None, :]
    starts = [model().tokenizer.encode(case.request.subject) for case in chosen]
    tokens, valid = pad(2 * starts, left=True, multiple=16)
    rows = RowChanges(jnp.concatenate([0 * deltas, deltas]), layer)
    key = jax.random.key(seed)
    said = continue_tokens(model().network, jnp.asarray(tokens), jnp.asarray(valid), key, rows, length=words, top=top)
    bits = np.array([ngram_entropy(row) for row in np.asarray(said)]).reshape(2, -1)
    return {"before": np.round(bits[0], 3), "after": np.round(bits[1], 3)}


EXPERIMENT = Experiment("counterfact_prose", __doc__, GRID, measure, FULL, of="the book", alike=("cell",))

if __name__ == "__main__":
    with_data(EXPERIMENT)
