"""Every check on the one rule accepts two right answers written differently, and
rejects plausible wrong ones.
"""

import numpy as np
from exercise_pages import EveryCheck, Page


def chunks_by_hand(S, rate, size):
    A = np.zeros_like(S)
    for start in range(0, len(S), size):
        missing = np.eye(len(S)) - A @ S
        A[:, start : start + size] = rate * missing[:, start : start + size]
    return A


def gated_by_hand(S, rates, gamma):
    A = np.zeros((len(S), len(S)))
    for t, rate in enumerate(rates):
        A *= gamma
        A[:, t] = rate * (np.eye(len(S))[t] - A @ S[:, t])
    return A


def weights_by_system(S, weights, noise):
    m = len(S)
    bordered = np.block(
        [
            [S + noise**2 * np.eye(m), np.ones((m, 1))],
            [np.ones((1, m)), np.zeros((1, 1))],
        ]
    )
    return np.linalg.solve(bordered, np.append(weights, 1.0))[:m]


def repeated(s, omega, n):
    if n > 1000:
        return 1 - 1 / (1 + n * omega * s)
    answer = 0.0
    remainder = s
    for _ in range(n):
        gain = remainder / (1 / omega + remainder)
        answer = answer + gain * (1 - answer)
        remainder = remainder * (1 - gain)
    return answer


def keys_by_counting(s, eps):
    n = 1
    while n * s <= eps * (1 - n * s):
        n += 1
    return n


def rate_by_search(S, weights, noise):
    A = S + noise**2 * np.eye(len(S))

    def cost(rate):
        return (
            rate**2 * np.einsum("iq,ij,jq", weights, A, weights)
            - 2 * rate * (weights**2).sum()
        )

    low = 0.0
    high = 2.0
    for _ in range(200):
        a = low + (high - low) / 3
        b = high - (high - low) / 3
        low, high = (low, b) if cost(a) < cost(b) else (a, high)
    return low


def readings(r1, r2, s):
    S = np.array([[1, s], [s, 1]])
    return np.array([r1, r2]) @ np.linalg.inv(np.eye(2) + np.triu(S, 1)) @ S


SECOND = {
    "q1": {"after_sequence": readings},
    "q2": {"chunked": chunks_by_hand},
    "q3": {"weight_of_repeats": repeated},
    "q4": {
        "order_gap": lambda r1, r2, s: readings(r1, r2, s) - readings(r2, r1, s)[::-1]
    },
    "q5": {"most_keys": keys_by_counting},
    "q6": {"best_rate": rate_by_search},
    "q7": {"gated": gated_by_hand},
    "q8": {"unbiased_weights": weights_by_system},
}
WRONG = [
    (
        "q1",
        "nothing predicted: Hebb",
        {"after_sequence": lambda r1, r2, s: (r1 + s * r2, r2 + s * r1)},
    ),
    (
        "q1",
        "the first pair undisturbed",
        {"after_sequence": lambda r1, r2, s: (r1, r2)},
    ),
    (
        "q2",
        "a sequence within chunks too",
        {"chunked": lambda S, rate, size: chunks_by_hand(S, rate, 1)},
    ),
    (
        "q2",
        "lower for upper",
        {"chunked": lambda S, rate, size: chunks_by_hand(S, rate, size).T},
    ),
    (
        "q3",
        "n times the share of one",
        {"weight_of_repeats": lambda s, w, n: min(n * s / (s + 1 / w), 1.0)},
    ),
    (
        "q3",
        "the length forgotten",
        {"weight_of_repeats": lambda s, w, n: 1 / (1 + 1 / (n * w))},
    ),
    (
        "q4",
        "the sign of the second",
        {"order_gap": lambda r, q, s: (s * (q - s * r), s * (r - s * q))},
    ),
    ("q4", "nothing predicted", {"order_gap": lambda r, q, s: (s * q, -s * r)}),
    ("q5", "rho for the bound", {"most_keys": lambda s, eps: 1 + int(eps / s)}),
    (
        "q5",
        "the key itself not counted",
        {"most_keys": lambda s, eps: int(eps / (1 + eps) / s)},
    ),
    (
        "q6",
        "a rate of one over the crowd",
        {"best_rate": lambda S, w, noise: 1 / S.sum(1).mean()},
    ),
    (
        "q6",
        "noise not squared",
        {"best_rate": lambda S, w, noise: rate_by_search(S, w, noise**0.5)},
    ),
    (
        "q7",
        "faded only at the end",
        {
            "gated": lambda S, r, g: (
                gated_by_hand(S, r, 1.0) * g ** np.arange(len(S))[::-1]
            )
        },
    ),
    ("q7", "faded once more", {"gated": lambda S, r, g: g * gated_by_hand(S, r, g)}),
    (
        "q8",
        "the ridge's",
        {
            "unbiased_weights": lambda S, k, n: np.linalg.solve(
                S + n**2 * np.eye(len(S)), k
            )
        },
    ),
    (
        "q8",
        "divided",
        {
            "unbiased_weights": lambda S, k, n: (lambda w: w / w.sum())(
                np.linalg.solve(S + n**2 * np.eye(len(S)), k)
            )
        },
    ),
]
PAGE = Page("one_rule", "one_rule_exercises", SECOND, WRONG)


class TestPage(EveryCheck):
    page = PAGE
