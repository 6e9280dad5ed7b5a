"""A hundred tokens that a model writes about a subject, before and after one of the
subject's facts is rewritten.

The facts and the edits are those of `counterfact`. Each text has two scores. The first
is the entropy of its n-grams, which is small if the text repeats itself; a hundred
tokens in which no pair of neighbours occurs twice have 6.6 bits. The second is a
cosine, which measures whether the text uses the words of other texts about similar
subjects: a text about a violinist is like other texts about violinists. The text is
compared with what the unedited model writes about the other subjects of the thousand
facts whose true answer is the new answer, and about those whose true answer is the old
one.
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
    """Entropy of the n-grams in bits, and cosines with the texts about subjects of the
    new and of the old answer, before and after the edit.

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
    """`words` tokens (n, words) that the model writes after the name of each case's
    subject.
    """
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
    """Cosines (2, n) of each text with all texts about other subjects of which its new
    answer is true, and with those of which its old answer is true.
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
    """Cosine of one text with the texts about other subjects of which the answer is
    true; None if there are none.
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
    """Texts of the unedited model about the subjects of all thousand facts, stored in
    the data folder.
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
