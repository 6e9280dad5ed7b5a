"""Every check on residual memory accepts two right answers written differently, and
rejects plausible wrong ones.
"""

from math import log

import numpy as np
from exercise_pages import EveryCheck, Page


def nearest_by_parts(n):
    # x is on a grid of the left half; the integrals over both pieces of t are exact
    t = (np.arange(2000) + 0.5) / 4000
    total = 0.0
    for x in t:
        s = (np.arange(800) + 0.5) / 800
        inner = x * s
        outer = x + (1 - 2 * x) * s
        total += (2 * inner * (1 - 2 * inner) ** n).mean() * x
        total += (2 * outer * (1 - x - outer) ** n).mean() * (1 - 2 * x)
    return 2 * total / 4000


def useful_by_counting(d):
    n = 3
    step = 10**5
    while step:
        while d**2 * (log(n + step) / d / (n + step)) ** (1 / d) >= 2 * d:
            n += step
        step //= 10
    return n + 1


def gain_by_loop(y, base, memory):
    counts = [0, 0, 0]
    for a, b, c in zip(y, base, memory, strict=True):
        if b != c:
            counts[0 if c == a else 1 if b == a else 2] += 1
    return tuple(count / len(y) for count in counts)


def truncated_by_loop(residuals, m):
    rows = []
    for row in residuals:
        columns = sorted(range(len(row)), key=lambda c: -abs(row[c]))[:m]
        rows.append([row[c] if c in columns else 0.0 for c in range(len(row))])
    return np.array(rows)


SECOND = {
    "q1": {"first_distance": lambda d: sum(1 + 1 for _ in range(d))},
    "q2": {"unit_interval": nearest_by_parts},
    "q3": {"useful_from": useful_by_counting},
    "q4": {"remembered_risk": lambda EZ, d, L: EZ * (1 - 2 * L + L * L) / d},
    "q5": {"split_gain": gain_by_loop},
    "q6": {"hurting_noise": lambda L, r: (1 - L) ** 2 - (1 - L) ** 2 * r},
    "q7": {"forgotten": lambda: ([1.0, 0.0, 0.0], 2, [0.0, 0.0, 1.0], 0)},
    "q8": {"truncated": truncated_by_loop},
}
WRONG = [
    ("q1", "the sum of the variances, as printed", {"first_distance": lambda d: d}),
    ("q1", "the square of the radius", {"first_distance": lambda d: d + 2}),
    (
        "q2",
        "the interior alone",
        {"unit_interval": lambda n: 1 / (2 * (n + 1) * (n + 2))},
    ),
    (
        "q2",
        "in the unit of the ball",
        {"unit_interval": lambda n: 6 * (n + 7) / ((n + 1) * (n + 2) * (n + 3))},
    ),
    (
        "q3",
        "log n for log n over d",
        {"useful_from": lambda d: useful_by_counting(d) * d},
    ),
    ("q3", "one too early", {"useful_from": lambda d: useful_by_counting(d) - 1}),
    (
        "q4",
        "loose by d, as printed",
        {"remembered_risk": lambda EZ, d, L: (1 - L) ** 2 * EZ},
    ),
    ("q4", "not squared", {"remembered_risk": lambda EZ, d, L: (1 - L) * EZ / d}),
    (
        "q5",
        "corrected and broken exchanged",
        {"split_gain": lambda y, b, m: gain_by_loop(y, m, b)},
    ),
    (
        "q5",
        "no third case",
        {"split_gain": lambda y, b, m: (*gain_by_loop(y, b, m)[:2], 0.0)},
    ),
    ("q6", "not squared", {"hurting_noise": lambda L, r: (1 - L) * (1 - r)}),
    (
        "q6",
        "the neighbour's distance forgotten",
        {"hurting_noise": lambda L, r: (1 - L) ** 2},
    ),
    (
        "q7",
        "a base that is not certain",
        {"forgotten": lambda: ([0.5, 0.5], 0, [0.5, 0.5], 1)},
    ),
    (
        "q7",
        "a neighbour of the same class",
        {"forgotten": lambda: ([0.0, 1.0], 0, [1.0, 0.0], 0)},
    ),
    (
        "q8",
        "largest with their sign",
        {"truncated": lambda r, m: np.where(r >= np.sort(r, 1)[:, -m:][:, :1], r, 0)},
    ),
    (
        "q8",
        "scaled to sum to zero",
        {"truncated": lambda r, m: truncated_by_loop(r, m) / 2},
    ),
]
PAGE = Page("residual", "residual_exercises", SECOND, WRONG)


class TestPage(EveryCheck):
    page = PAGE
