"""Which facts SmolLM2-135M knows: capital, currency and continent of every country of
250,000 people or more.

A fact is known if every token of the true answer is the likeliest one after the prompt.
"""

import os
from functools import cache

import numpy as np
from record import Experiment, main

from rankone.data.facts import countries
from rankone.language import LanguageModel, load_smollm2
from rankone.language.likelihood import likelihoods
from rankone.language.relations import RELATIONS

GRID = {"relation": list(RELATIONS)}
BATCH = 32


@cache
def model() -> LanguageModel:
    """The book's model, or that of the folder or file that RANKONE_MODEL names."""
    path = os.environ.get("RANKONE_MODEL")
    return LanguageModel.load(path) if path else load_smollm2()


def measure(*, relation: str, seed: int) -> dict:
    """Log-probability of the true answer, and whether the model says it, for each
    country in alphabetical order.
    """
    scores = []
    known = []
    for start in range(0, len(countries()), BATCH):
        batch = countries()[start : start + BATCH]
        prompts = [RELATIONS[relation].prompt.format(c.name) for c in batch]
        judgements = likelihoods(
            model(), prompts, [getattr(c, relation) for c in batch]
        )
        scores = [*scores, *np.asarray(judgements[0])]
        known = [*known, *np.asarray(judgements[1])]
    return {"log_probability": scores, "known": known}


EXPERIMENT = Experiment("editing_known", __doc__, GRID, measure, {}, of="the book")

if __name__ == "__main__":
    main(EXPERIMENT)
