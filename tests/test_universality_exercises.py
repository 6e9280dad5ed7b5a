"""Every check on the universality page accepts two right answers written differently, and rejects wrong ones."""

import re
import warnings
from functools import cache
from itertools import combinations
from pathlib import Path

import jax
import jax.numpy as jnp
import jupytext
import numpy as np
import pytest

from rankone import exercises
from rankone.universality import losses, moments, selectors

with warnings.catch_warnings():  # a dependency of otter's declares its traits in a deprecated way
    warnings.simplefilter("ignore", DeprecationWarning)
    import otter  # noqa: F401

PAGE = Path(__file__).parents[1] / "book/chapters/universality_exercises.md"
QUESTIONS = [f"q{n}" for n in range(1, 9)]


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


@cache
def grader():
    return exercises.grader("universality")


def check(question, answer):
    return grader().check(question, dict(answer))


@cache
def page_answers():
    """The functions that the page's folded solutions define, by exercise, and its stubs."""
    page, stubs, solutions, shared = jupytext.read(PAGE), [], [], {"np": np, "jnp": jnp, "jax": jax}
    folded = False
    for cell in page.cells:
        folded = folded or "{solution-start}" in cell.source
        if cell.cell_type == "code" and "\ndef " in f"\n{cell.source}":
            names = dict(shared)
            exec("\n".join(line for line in cell.source.split("\n") if not line.startswith("grader.")), names)
            (solutions if folded else stubs).append({k: v for k, v in names.items() if callable(v) and k not in shared})
        folded = folded and "{solution-end}" not in cell.source
    return stubs, solutions


# --- a second right answer each, written another way


def second_by_pairs(W, G):
    product = lambda factors: np.linalg.multi_dot([np.eye(len(W[0])), *factors, np.eye(len(W[0]))])  # noqa: E731
    swapped = lambda pair: [G[n] if n in pair else W[n] for n in range(len(W))]  # noqa: E731
    return np.sum([product(swapped(pair)) for pair in combinations(range(len(W)), 2)], 0)


def shots_by_moments(m):
    return moments.prony(m)


SECOND = {
    "q1": {
        "spectrum": lambda eps, J: np.linalg.eigvalsh(selectors.seed_matrix(0, 0, J, eps)),
        "smallest_definite": lambda: 2 / (1 + 5**0.5),
    },
    "q2": {"kernel": lambda j, m, J, eps: selectors.kernels(selectors.seed_matrix(j, m, J, eps))},
    "q3": {"counterexample": lambda: (np.array([[2.0, -1.0], [-1.0, 3.0]]), np.array([0.1, 4.0]))},
    "q4": {
        "arrives": lambda layer, c: np.prod([c] * layer),
        "written_share": lambda N, c: 1.0 if c == 1 else c * (1 - c**N) / (1 - c) / N,
    },
    "q5": {"second_order": second_by_pairs},
    "q6": {"switch_signal": lambda logits, w: losses.cross_entropy_signal(logits, w)[0]},
    "q7": {"layers": lambda J: (J * J + 1, 2 * int(np.ceil(np.log2(J))) + 3)},
    "q8": {"two_shots": shots_by_moments},
}


def first_only(W, G):
    total = 0
    for i in range(len(W)):
        total = total + np.linalg.multi_dot([np.eye(4), *[G[n] if n == i else W[n] for n in range(len(W))], np.eye(4)])
    return total


def unsorted_shots(m):
    points, masses = shots_by_moments(m)
    return points[::-1], masses[::-1]


# --- wrong answers that a good student might give: (question, what is wrong, functions that replace the right ones)
SHIFTED = {"spectrum": lambda eps, J: np.array([(1 - 5**0.5) / 2, *[0.0] * (2 * J - 2), (1 + 5**0.5) / 2])}
UNIT = {"kernel": lambda j, m, J, eps: np.outer(np.eye(J)[j], np.eye(J)[m])}
TRANSPOSED = {"kernel": lambda j, m, J, eps: (1 + 2 * eps) * np.outer(np.eye(J)[m], np.eye(J)[j])}
POSITIVE = {"counterexample": lambda: (np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([0.0, 1.0]))}
INDEFINITE = {"counterexample": lambda: (np.array([[1.0, -2.0], [-2.0, 1.0]]), np.array([0.0, 1.0]))}
WRONG = [
    ("q1", "ε forgotten", SHIFTED),
    ("q1", "the golden ratio", {"smallest_definite": lambda: (5**0.5 + 1) / 2}),
    ("q2", "without 2ε", UNIT),
    ("q2", "transposed", TRANSPOSED),
    ("q3", "a positive matrix", POSITIVE),
    ("q3", "an indefinite matrix", INDEFINITE),
    ("q4", "one kink too few", {"arrives": lambda layer, c: c ** (layer - 1)}),
    ("q4", "a sum, not a share", {"written_share": lambda N, c: sum(c**i for i in range(1, N + 1))}),
    ("q5", "both orders of a pair", {"second_order": lambda W, G: 2 * second_by_pairs(W, G)}),
    ("q5", "the first order", {"second_order": first_only}),
    ("q6", "the sign", {"switch_signal": lambda logits, w: -np.asarray(losses.cross_entropy_signal(logits, w)[0])}),
    ("q6", "squared error", {"switch_signal": lambda logits, w: logits @ w - w}),
    ("q7", "no end counted", {"layers": lambda J: (J * J, 2 * (J - 1).bit_length() + 3)}),
    ("q7", "bits of one axis", {"layers": lambda J: (J * J + 1, (J - 1).bit_length() + 3)}),
    ("q8", "descending", {"two_shots": unsorted_shots}),
    ("q8", "equal masses", {"two_shots": lambda m: (shots_by_moments(m)[0], np.full(2, m[0] / 2))}),
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_check_accepts_the_pages_solution(question):
    report = check(question, page_answers()[1][QUESTIONS.index(question)])
    assert report.passed, report


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_check_accepts_a_differently_written_answer(question):
    report = check(question, SECOND[question])
    assert report.passed, report


@pytest.mark.parametrize(("question", "mistake", "functions"), WRONG, ids=[f"{q}: {m}" for q, m, _ in WRONG])
def test_the_check_rejects(question, mistake, functions):
    report = check(question, SECOND[question] | functions)
    assert not report.passed
    assert report.answered


def test_every_check_rejects_two_wrong_answers_at_least():
    assert min(sum(q == question for q, _, _ in WRONG) for question in QUESTIONS) >= 2


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_stub_is_reported_as_not_answered(question):
    report = check(question, page_answers()[0][QUESTIONS.index(question)])
    assert not report.passed
    assert not report.answered


def test_the_table_gives_the_minutes_and_level_of_every_exercise():
    page = PAGE.read_text(encoding="utf-8")
    stated = re.findall(r"```{exercise} (.+)\n:label: (.+)\n\n\*(\w+), (\d+) minutes", page)
    rows = re.findall(r"^\| {ref}`(.+) <(.+)>` \| (\w+) \| (\d+) \| .+ \| .+ \|$", page, re.MULTILINE)
    assert len(rows) == len(QUESTIONS)
    assert rows == [(title, label, level.lower(), minutes) for title, label, level, minutes in stated]
