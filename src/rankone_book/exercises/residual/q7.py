"""Exercise 7: an example that is forgotten [S-S6]."""

import numpy as np

from rankone_book.exercises import ask, close, holds, test_case

points = 2


def _scores(answer, beta):
    p_own, y_own, p_other, y_other = answer
    p = np.asarray(p_own, float)
    q = np.asarray(p_other, float)
    eye = np.eye(len(p_own))
    for row in (p, q):
        holds(
            row.min() >= 0 and abs(row.sum() - 1) < 1e-6,
            "p_own and p_other must be probabilities.",
        )
    return p + (1 - beta) * (eye[y_own] - p) + beta * (eye[y_other] - q), y_own


@test_case(name="forgotten at β = 0.26")
def test_forgotten(forgotten):
    s, y = _scores(ask(forgotten), 0.26)
    hint = (
        "Make every inequality of the proof an equality: where is the base certain, "
        "and of what?"
    )
    holds(np.delete(s, y).max() > s[y], hint)


@test_case(name="not forgotten at β = 0.24, as the theorem says")
def test_known(forgotten):
    s, y = _scores(ask(forgotten), 0.24)
    holds(
        np.delete(s, y).max() < s[y], "for β below 1/4 no stored example is forgotten."
    )


@test_case(name="the margin is exactly 1 − 4β")
def test_attained(forgotten):
    s, y = _scores(ask(forgotten), 0.3)
    close(
        s[y] - np.delete(s, y).max(),
        1 - 4 * 0.3,
        "The margin of the right label must be exactly 1 − 4β; here β = 0.3.",
    )
