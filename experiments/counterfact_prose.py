"""What a model writes about a subject before and after one of its facts is rewritten,
over a hundred tokens.

The facts are those of `counterfact`, and the edits too. A text that repeats itself has
little entropy in its n-grams; a hundred tokens of which no two follow each other twice
have 6.6 bits. A text about a violinist has words that texts about violinists have:
what is written is compared with what the unedited model writes about the other subjects
of the thousand facts of which the new answer is true, and with those of which the old
one is.
"""

from collections.abc import Sequence
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from counterfact import CASES, OPTIONS, SIZE, Case, cases, folder, values, with_data
from editing_facts import geometry
from editing_known import model
from numpy.typing import NDArray
from record import Experiment
from tqdm import tqdm

from rankone._files import read_arrays, replaced
from rankone.language.edit_metrics import ngram_entropy, tf_idf
from rankone.language.generation import RowChanges, continue_tokens
from rankone.language.tokenizer import pad

GRID = {"cell": list(range(len(CASES) // SIZE))}
FULL = OPTIONS | {"words": 100, "top": 5}
PART = 50  # subjects written about at a time


def measure(
    *,
    cell: int,
    layer: int,
    ridge: float,
    contexts: int,
    every: int,
    words: int,
    top: int,
    seed: int,
) -> dict:
    """Fluency in bits, and cosines with texts about what the new answer, and the old,
    is true of; before and after.

    A cosine is None where no other subject has that answer.
    """
    chosen = cases(CASES[SIZE * cell : SIZE * (cell + 1)])
    facts = values(chosen, layer, contexts)
    u = geometry(layer, ridge, every).solve(facts["key"].T).T
    deltas = (
        facts["delta"][:, :, None]
        / jnp.sum(u * facts["key"], axis=1)[:, None, None]
        * u[:, None, :]
    )
    said = written(
        2 * chosen,
        words,
        top,
        seed,
        RowChanges(jnp.concatenate([0 * deltas, deltas]), layer),
    )
    texts = [model().tokenizer.decode(row) for row in said]
    results = {}
    for when, rows in (
        ("before", slice(0, len(chosen))),
        ("after", slice(len(chosen), None)),
    ):
        results[when] = {
            "bits": np.round([ngram_entropy(row) for row in said[rows]], 3),
            "cosine": cosines(chosen, texts[rows], words, top),
        }
    return results


def written(
    chosen: Sequence[Case],
    words: int,
    top: int,
    seed: int,
    changes: RowChanges | None = None,
) -> NDArray[np.integer]:
    """So many tokens after the name of each case's subject."""
    starts = [model().tokenizer.encode(case.request.subject) for case in chosen]
    tokens, valid = pad(starts, left=True, multiple=16)
    key = jax.random.key(seed)
    return np.asarray(
        continue_tokens(
            model().network,
            jnp.asarray(tokens),
            jnp.asarray(valid),
            key,
            changes,
            length=words,
            top=top,
        )
    )


def cosines(
    chosen: Sequence[Case], texts: Sequence[str], words: int, top: int
) -> list[list[float | None]]:
    """Of each text with all texts about other subjects of which its new answer is true,
    and its old one (2, n).
    """
    answers = [
        [case.request.target for case in chosen],
        [case.truth for case in chosen],
    ]
    return [
        [cosine(*one, words, top) for one in zip(chosen, texts, row, strict=True)]
        for row in answers
    ]


def cosine(case: Case, text: str, answer: str, words: int, top: int) -> float | None:
    """Of one text with those about other subjects of which the answer is true, if there
    are any.
    """
    everyone = cases(CASES)
    about = elsewhere(words, top)
    others = [
        passage
        for other, passage in zip(everyone, about, strict=True)
        if other.truth.strip() == answer.strip()
        and other.request.subject != case.request.subject
    ]
    if not others:
        return None
    one, reference = tf_idf([text, " ".join(others)], about)
    return round(float(one @ reference), 4)


@cache
def elsewhere(words: int, top: int) -> list[str]:
    """What the unedited model writes about the subjects of all thousand facts; kept in
    a folder of data.
    """
    place = folder() / f"counterfact-{model().name}-texts-{words}-{top}"
    place.mkdir(parents=True, exist_ok=True)
    texts = []
    for start in tqdm(range(0, len(CASES), PART), desc="texts of the unedited model"):
        at = place / f"{start}.npz"
        if not at.exists():
            said = written(
                cases(CASES[start : start + PART]), words, top, seed=1 + start
            )
            with replaced(at) as file:
                np.savez(file, said=said)
        texts += [model().tokenizer.decode(row) for row in read_arrays(at)["said"]]
    return texts


EXPERIMENT = Experiment(
    "counterfact_prose", __doc__, GRID, measure, FULL, of="the book"
)

if __name__ == "__main__":
    with_data(EXPERIMENT)
