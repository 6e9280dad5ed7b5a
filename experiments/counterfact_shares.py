"""The share of an edit that CounterFact's paraphrases get, from keys alone.

The edits are those of `counterfact`: the same facts, mean keys and C. A paraphrase gets
the share u·k/(u·k*) of δ, where k is its own key at the subject's last token, k* the
edited key and u = C⁻¹k*. Nothing is edited and no value is searched for.
"""

import numpy as np
from counterfact import CASES, OPTIONS, Case, cases, subject_streams, with_data
from editing_facts import geometry
from record import Experiment

from rankone.language.relations import Request

GRID = {"layer": [OPTIONS["layer"]]}
FULL = {name: value for name, value in OPTIONS.items() if name != "layer"}


def rephrased(case: Case) -> Case:
    """The case with its paraphrase as the question, which names the same subject."""
    before, _, after = case.paraphrase.rpartition(case.request.subject)
    paraphrase = Request(
        f"{before}{{}}{after}", case.request.subject, case.request.target
    )
    return case._replace(request=paraphrase)


def measure(*, layer: int, ridge: float, contexts: int, every: int, seed: int) -> dict:
    """The share of each case's paraphrase; and the cases without a share, because their
    paraphrase does not name the subject.
    """
    chosen = cases(CASES)
    named = [case for case in chosen if case.request.subject in case.paraphrase]
    edited = subject_streams(named, layer, contexts)[0][layer]
    probes = subject_streams([rephrased(case) for case in named], layer, 0)[0][layer]
    edited, probes = (np.asarray(keys, float) for keys in (edited, probes))
    u = np.asarray(geometry(layer, ridge, every).solve(edited.T), float).T
    share = np.sum(u * probes, axis=1) / np.sum(u * edited, axis=1)
    return {
        "case": [case.number for case in named],
        "share": share,
        "unnamed": [case.number for case in chosen if case not in named],
    }


EXPERIMENT = Experiment(
    "counterfact_shares", __doc__, GRID, measure, FULL, of="the book"
)

if __name__ == "__main__":
    with_data(EXPERIMENT)
