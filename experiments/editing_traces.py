"""Which layer adds the fact: causal traces of the MLP and of attention for subjects of
several tokens.

Countries of several words whose capital the model knows. For each block, the clean
output of one kind of layer is restored at one token, in ten blocks around it, as is
usual for parts of a block. The effects are averaged over six groups of tokens.
"""

import jax
import numpy as np
from editing_facts import known
from editing_known import model
from record import Experiment, main

from rankone.data.facts import countries
from rankone.language.relations import RELATIONS, Request
from rankone.language.tracing import mean_effect, subject_noise, trace


def several(count: int = 8) -> list[str]:
    """Countries of several words whose capital the model knows, drawn once."""
    long = [c.name for c in known("capital") if len(c.name.split()) > 1]
    return [long[i] for i in np.random.default_rng(0).permutation(len(long))[:count]]


GRID = {"site": ["mlp", "attention"], "subject": several()}
OPTIONS = {"window": 10, "noises": 2}


def measure(*, site: str, subject: str, window: int, noises: int, seed: int) -> dict:
    """Effect of one site by block, at the subject's first and last token and at the
    last token of the prompt.
    """
    capital = next(
        country.capital for country in countries() if country.name == subject
    )
    unit = subject_noise(model(), [country.name for country in countries()])
    request = Request(RELATIONS["capital"].prompt, subject, capital)
    key = jax.random.key(seed)
    causal_trace = trace(
        model(), request, key=key, site=site, window=window, noises=noises, unit=unit
    )
    effect = np.round(mean_effect([causal_trace]), 3)
    of = {"first": effect[:, 0], "subject": effect[:, 2], "end": effect[:, 5]}
    return of | {
        "tokens": causal_trace.subject[1] - causal_trace.subject[0] + 1,
        "clean": causal_trace.clean,
        "blurred": causal_trace.blurred,
    }


EXPERIMENT = Experiment(
    "editing_traces", __doc__, GRID, measure, OPTIONS, of="the book"
)

if __name__ == "__main__":
    main(EXPERIMENT)
