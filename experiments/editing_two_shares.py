"""Two shares in every block of SmolLM2-135M, from keys alone: what an edit of one fact
gives to the same question about another country, and to another question about the
same country.

A cell is one block. For every country whose capital the model knows, the edited key is
that of its last token in "The capital of X", and the same for the currency and the
continent. Nothing is edited and no value is searched for.
"""

from functools import cache

import jax.numpy as jnp
import numpy as np
from editing_facts import known
from editing_known import model
from editing_scan import all_keys, moments
from record import Experiment, main

from rankone.language.relations import RELATIONS
from rankone.language.tokenizer import pad

GRID = {"layer": list(range(30))}
OPTIONS = {"ridge": 0.01, "every": 12}


@cache
def subject_keys() -> np.ndarray:
    """Keys of all blocks at the last token of the country (relation, L, n, D)."""
    per_relation = []
    for relation in RELATIONS.values():
        head = relation.prompt.split("{}")[0]
        rows = [model().tokenizer.encode(head + c.name) for c in known("capital")]
        tokens, valid = pad(rows, left=True, multiple=16)
        keys = all_keys(model().network, jnp.asarray(tokens), jnp.asarray(valid))
        per_relation.append(np.asarray(keys[:, :, -1]))
    return np.stack(per_relation)


def measure(*, layer: int, ridge: float, every: int, seed: int) -> dict:
    """Mean and quartiles of the two shares, with C from text and with C = I."""
    keys = np.asarray(subject_keys()[:, layer], float)
    C = np.array(moments(every)[layer], float)
    C += ridge * np.trace(C) / len(C) * np.eye(len(C))
    relations, countries, _ = keys.shape
    flat = keys.reshape(relations * countries, -1)
    inner_products = {
        "text": flat @ np.linalg.solve(C, flat.T),
        "identity": flat @ flat.T,
    }
    results = {"countries": countries}
    for name, S in inner_products.items():
        share = S / np.diag(S)[:, None]
        share = share.reshape(relations, countries, relations, countries)
        same = np.arange(relations)
        other_subject = share[same, :, same][:, ~np.eye(countries, dtype=bool)]
        one = np.arange(countries)
        other_relation = share[:, one, :, one][:, ~np.eye(relations, dtype=bool)]
        for kind, values in (
            ("other_subject", other_subject),
            ("other_relation", other_relation),
        ):
            results[f"{name}_{kind}"] = {
                "mean": values.mean(),
                "quartiles": np.quantile(values, (0.25, 0.75)),
            }
    return results


EXPERIMENT = Experiment(
    "editing_two_shares", __doc__, GRID, measure, OPTIONS, of="the book"
)

if __name__ == "__main__":
    main(EXPERIMENT)
