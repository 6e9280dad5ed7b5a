"""Every check on the universality page accepts two right answers written differently,
and rejects wrong ones.
"""

from itertools import combinations

import numpy as np
import pytest
from exercise_pages import EveryCheck, Page

from rankone.precision import double_precision
from rankone.theory import error_signals
from rankone.universality import selectors, shot_moments


@pytest.fixture(autouse=True)
def double():
    with double_precision():
        yield


# --- a second right answer each, written another way


def second_by_pairs(W, G):
    def product(factors):
        return np.linalg.multi_dot([np.eye(len(W[0])), *factors, np.eye(len(W[0]))])

    def swapped(pair):
        return [G[n] if n in pair else W[n] for n in range(len(W))]

    return np.sum(
        [product(swapped(pair)) for pair in combinations(range(len(W)), 2)], 0
    )


def shots_by_moments(m):
    return shot_moments.prony(m)


SECOND = {
    "q1": {
        "spectrum": lambda eps, J: np.linalg.eigvalsh(
            selectors.seed_matrix(0, 0, J, eps)
        ),
        "smallest_definite": lambda: 2 / (1 + 5**0.5),
    },
    "q2": {
        "kernel": lambda j, m, J, eps: selectors.kernels(
            selectors.seed_matrix(j, m, J, eps)
        )
    },
    "q3": {
        "counterexample": lambda: (
            np.array([[2.0, -1.0], [-1.0, 3.0]]),
            np.array([0.1, 4.0]),
        )
    },
    "q4": {
        "arrives": lambda layer, c: np.prod([c] * layer),
        "fraction_arriving": lambda N, c: (
            1.0 if c == 1 else c * (1 - c**N) / (1 - c) / N
        ),
    },
    "q5": {"second_order": second_by_pairs},
    "q6": {
        "switch_signal": lambda logits, w: error_signals.cross_entropy_signal(
            logits, w
        )[0],
        "class_moves": lambda logits, w, alpha: (
            -alpha * w * np.asarray(error_signals.class_switch_signals(logits))
        ),
    },
    "q7": {"layers": lambda J: (J * J + 1, 2 * int(np.ceil(np.log2(J))) + 3)},
    "q8": {"two_shots": shots_by_moments},
}


def first_only(W, G):
    total = 0
    for i in range(len(W)):
        total = total + np.linalg.multi_dot(
            [np.eye(4), *[G[n] if n == i else W[n] for n in range(len(W))], np.eye(4)]
        )
    return total


def unsorted_shots(m):
    points, masses = shots_by_moments(m)
    return points[::-1], masses[::-1]


# --- wrong answers that a good student might give: (question, what is wrong, functions
# that replace the right ones)
SHIFTED = {
    "spectrum": lambda eps, J: np.array(
        [(1 - 5**0.5) / 2, *[0.0] * (2 * J - 2), (1 + 5**0.5) / 2]
    )
}
UNIT = {"kernel": lambda j, m, J, eps: np.outer(np.eye(J)[j], np.eye(J)[m])}
TRANSPOSED = {
    "kernel": lambda j, m, J, eps: (1 + 2 * eps) * np.outer(np.eye(J)[m], np.eye(J)[j])
}
POSITIVE = {
    "counterexample": lambda: (np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([0.0, 1.0]))
}
INDEFINITE = {
    "counterexample": lambda: (
        np.array([[1.0, -2.0], [-2.0, 1.0]]),
        np.array([0.0, 1.0]),
    )
}
WRONG = [
    ("q1", "ε forgotten", SHIFTED),
    ("q1", "the golden ratio", {"smallest_definite": lambda: (5**0.5 + 1) / 2}),
    ("q2", "without 2ε", UNIT),
    ("q2", "transposed", TRANSPOSED),
    ("q3", "a positive matrix", POSITIVE),
    ("q3", "an indefinite matrix", INDEFINITE),
    ("q4", "one kink too few", {"arrives": lambda layer, c: c ** (layer - 1)}),
    (
        "q4",
        "a sum, not a fraction",
        {"fraction_arriving": lambda N, c: sum(c**i for i in range(1, N + 1))},
    ),
    (
        "q5",
        "both orders of a pair",
        {"second_order": lambda W, G: 2 * second_by_pairs(W, G)},
    ),
    ("q5", "the first order", {"second_order": first_only}),
    (
        "q6",
        "the sign",
        {
            "switch_signal": lambda logits, w: (
                -np.asarray(error_signals.cross_entropy_signal(logits, w)[0])
            )
        },
    ),
    ("q6", "squared error", {"switch_signal": lambda logits, w: logits @ w - w}),
    (
        "q6",
        "along the gradient",
        {
            "class_moves": lambda logits, w, alpha: (
                alpha * w * np.asarray(error_signals.class_switch_signals(logits))
            )
        },
    ),
    (
        "q7",
        "no end counted",
        {"layers": lambda J: (J * J, 2 * (J - 1).bit_length() + 3)},
    ),
    (
        "q7",
        "bits of one axis",
        {"layers": lambda J: (J * J + 1, (J - 1).bit_length() + 3)},
    ),
    ("q8", "descending", {"two_shots": unsorted_shots}),
    (
        "q8",
        "equal masses",
        {"two_shots": lambda m: (shots_by_moments(m)[0], np.full(2, m[0] / 2))},
    ),
]
PAGE = Page("universality", "universality_exercises", SECOND, WRONG)


class TestPage(EveryCheck):
    page = PAGE
