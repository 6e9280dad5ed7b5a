"""Every check accepts two right answers that were written differently, and rejects
plausible wrong ones.
"""

import subprocess
import sys
from math import comb, erf, log10

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from exercise_pages import EveryCheck, Page
from refusals import refused

from rankone_book import exercises
from rankone_book.exercises import close

# --- the right answers: the page's own, and a second one


jacobian = jax.jit(jax.jacobian(lambda z: z / jnp.sqrt((z**2).sum())))


def jacobian_by_autodiff(x):
    return jacobian(np.asarray(x, float))


def field_by_softmax(y, beta, d):
    p = np.asarray(
        jax.nn.softmax(-beta / 2 * np.array([(y - d / 2) ** 2, (y + d / 2) ** 2]))
    )
    return d / 2 * (p[0] - p[1]) - y


def decrease_by_square(eta, gradient):
    return 0.5 * (1 - (1 - eta) ** 2) * np.linalg.norm(gradient) ** 2


def mean_by_loop(x, Xi, beta):
    weights = [np.exp(-beta / 2 * np.sum((x - xi) ** 2)) for xi in Xi]
    return sum(w * xi for w, xi in zip(weights, Xi, strict=True)) / sum(weights)


def ratio_by_parts(k):
    return (1 - k**2) ** 2 / (0.5 * (1 + (1 - k**2) ** 2))


@jax.jit
@jax.grad
def energy_slope(x, omega, xi, beta):
    return -jnp.log(jnp.mean(jnp.cos(beta**0.5 * (omega @ x - omega @ xi)))) / beta


def field_by_autodiff(omega, x, xi, beta):
    return energy_slope(np.asarray(x, float), omega, xi, beta)


def limit_by_matrix(omega, x, xi):
    return np.cov(omega.T, bias=True) @ (x - xi) + omega.mean(0) * (
        omega.mean(0) @ (x - xi)
    )


def share_by_features(x, Xi, beta, epsilon, omegas):
    frozen = 0
    for omega in omegas:

        def phi(z):
            return (
                np.concatenate([np.cos(omega @ z), np.sin(omega @ z)])
                / len(omega) ** 0.5
            )

        frozen += phi(beta**0.5 * x) @ sum(phi(beta**0.5 * xi) for xi in Xi) <= epsilon
    return frozen / len(omegas)


def probability(x, Xi, beta, Y, epsilon, *, half=0.5, plus=1, sign=-1):
    S = sum(np.exp(-beta / 2 * np.sum((x - xi) ** 2)) for xi in Xi)
    V = -(S**2)
    for a in Xi:
        for b in Xi:
            V += half * np.exp(-beta / 2 * np.sum((a - b) ** 2))
            V += half * plus * np.exp(-beta / 2 * np.sum((2 * x - a - b) ** 2))
    return 0.5 * (1 + erf(sign * (S - epsilon) * (Y / max(V, 1e-9)) ** 0.5 / 2**0.5))


def growth_by_binomials(u, L):
    return sum(comb(L, j + 1) * u**j for j in range(L))


def printed_growth(u, L):
    return L * sum((L * u) ** j for j in range(L))


def looseness_by_sums(u, L):
    return log10(printed_growth(u, L)) - log10(growth_by_binomials(u, L))


def features_by_exponent(D, K, beta, tolerance):
    return (
        0.5 * K / tolerance**2,
        2 * D * K,
        np.exp(beta / 2 - beta**2 / (16 * D)) / (2 * K * tolerance**2),
    )


def sines_first(Xi, beta, Omega):
    h = beta**0.5 * np.asarray(Xi) @ Omega.T
    return np.concatenate([np.sin(h), np.cos(h)], 1).sum(0) / len(Omega) ** 0.5


def read_sines_first(x, T, beta, Omega):
    h = beta**0.5 * Omega @ x
    return np.concatenate([np.sin(h), np.cos(h)]) @ T / len(Omega) ** 0.5


def step_by_hand(x, T, beta, Omega, eta, *, root=0.5, sign=1):
    Y = len(Omega)
    h = beta**0.5 * Omega @ x
    slope = (T[:Y] * np.cos(h) - T[Y:] * np.sin(h)) @ Omega * beta**root / Y**0.5
    return x + sign * eta * slope / (beta * read_sines_first(x, T, beta, Omega))


def from_scratch(**replaced):
    right = {
        "store": sines_first,
        "read": read_sines_first,
        "step": step_by_hand,
    }
    return right | replaced


SECOND = {
    "q1": {"unit_jacobian": jacobian_by_autodiff},
    "q2": {"reduced_field": field_by_softmax, "critical_beta": lambda d: (2 / d) ** 2},
    "q3": {"guaranteed_decrease": decrease_by_square, "em_step": mean_by_loop},
    "q4": {"variance_ratio": ratio_by_parts},
    "q5": {"autodiff_field": field_by_autodiff, "limit_field": limit_by_matrix},
    "q6": {"frozen_fraction": share_by_features, "frozen_probability": probability},
    "q7": {"growth": growth_by_binomials, "looseness": looseness_by_sums},
    "q8": {"features_needed": features_by_exponent},
    "q9": from_scratch(),
}


# --- wrong answers that a good student might give: (question, what is wrong, functions
# that replace the right ones)


def identity_minus(exponent, front):
    return lambda x: (
        (np.eye(len(x)) - np.outer(x, x) / np.linalg.norm(x) ** exponent)
        / np.linalg.norm(x) ** front
    )


def softmax_of_products(x, Xi, beta):
    return np.asarray(jax.nn.softmax(beta * jnp.asarray(Xi) @ x) @ Xi)


def field_without_root(omega, x, xi, beta):
    return field_by_autodiff(omega, x, xi, beta) / beta**0.5


def features(energy=1.0, stable=1.0, power=2):
    def wrong(D, K, beta, tolerance):
        one, two, _ = features_by_exponent(D, K, beta, tolerance)
        S = K * np.exp(-beta / 4)
        return energy * one, stable * two, K / 2 / (tolerance**2 * S**power)

    return wrong


WRONG = [
    ("q1", "the printed exponent 3/2", {"unit_jacobian": identity_minus(1.5, 1)}),
    ("q1", "1/‖x‖ forgotten", {"unit_jacobian": identity_minus(2, 0)}),
    (
        "q2",
        "factor 2 in the tangent",
        {"reduced_field": lambda y, beta, d: -y + d / 2 * np.tanh(beta * d * y)},
    ),
    (
        "q2",
        "the sign",
        {"reduced_field": lambda y, beta, d: y - d / 2 * np.tanh(beta * d * y / 2)},
    ),
    ("q2", "factor 2 in β", {"critical_beta": lambda d: 2 / d**2}),
    (
        "q3",
        "curvature 2",
        {"guaranteed_decrease": lambda eta, g: eta * (1 - eta) * (g**2).sum()},
    ),
    (
        "q3",
        "first order only",
        {"guaranteed_decrease": lambda eta, g: eta * (g**2).sum()},
    ),
    ("q3", "weights without lengths", {"em_step": softmax_of_products}),
    (
        "q4",
        "equal Y, not equal length",
        {"variance_ratio": lambda k: ratio_by_parts(k) / 2},
    ),
    ("q4", "upside down", {"variance_ratio": lambda k: 1 / ratio_by_parts(k)}),
    ("q5", "√β dropped, as printed", {"autodiff_field": field_without_root}),
    ("q5", "the sign", {"autodiff_field": lambda *a: -field_by_autodiff(*a)}),
    ("q5", "not divided by Y", {"limit_field": lambda o, x, xi: o.T @ (o @ (x - xi))}),
    (
        "q6",
        "without the ½",
        {"frozen_probability": lambda *a: probability(*a, half=1.0)},
    ),
    (
        "q6",
        "without the second kernel",
        {"frozen_probability": lambda *a: probability(*a, plus=0)},
    ),
    ("q6", "the sign", {"frozen_probability": lambda *a: probability(*a, sign=1)}),
    (
        "q6",
        "counts what moves",
        {"frozen_fraction": lambda *a: 1 - share_by_features(*a)},
    ),
    ("q7", "the printed sum", {"growth": printed_growth}),
    (
        "q7",
        "cancels for small u",
        {"growth": lambda u, L: ((1 + u) ** L - 1) / u if u else L},
    ),
    (
        "q7",
        "natural logarithm",
        {"looseness": lambda u, L: looseness_by_sums(u, L) * np.log(10)},
    ),
    ("q8", "V = K", {"features_needed": features(energy=2)}),
    ("q8", "Y > DK", {"features_needed": features(stable=0.5)}),
    ("q8", "S, not S²", {"features_needed": features(power=1)}),
    (
        "q9",
        "a mean, not a sum",
        from_scratch(store=lambda Xi, *a: sines_first(Xi, *a) / len(Xi)),
    ),
    (
        "q9",
        "√β dropped, as printed",
        from_scratch(step=lambda *a: step_by_hand(*a, root=0)),
    ),
    ("q9", "uphill", from_scratch(step=lambda *a: step_by_hand(*a, sign=-1))),
]
PAGE = Page("memory", "memory_exercises", SECOND, WRONG)


class TestPage(EveryCheck):
    page = PAGE


def test_a_wrong_answer_gets_a_hint_where_to_look():
    report = str(PAGE.check("q1", {"unit_jacobian": identity_minus(1.5, 1)}))
    assert "failed: J x = 0" in report
    assert "exactly the part along x" in report


def test_an_answer_that_raises_is_reported_not_raised():
    def broken(x):
        raise RuntimeError("no such thing")

    report = PAGE.check("q1", {"unit_jacobian": broken})
    assert report.answered
    assert "RuntimeError: no such thing" in str(report)


def test_a_check_finds_the_callers_own_variables_and_leaves_no_log(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    scope = {"grader": PAGE.grader, "np": np}
    exec(
        "def variance_ratio(k):\n    v = (1 - k**2) ** 2\n    return 2 * v / (1 + "
        "v)\nr = grader.check('q4')",
        scope,
    )
    assert scope["r"].passed
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("answer", [1.1, [1.0, 1.0], np.nan, [[2.5]]])
def test_close_refuses_a_wrong_value_shape_and_nan_and_keeps_the_right_value_to_itself(
    answer,
):
    with refused(AssertionError, match="the hint") as refusal:
        close(answer, 0.73, "the hint")
    assert "73" not in str(refusal.value)


def test_the_checks_need_nothing_but_numpy_jax_and_this_package():
    code = "import sys; before = set(sys.modules); import rankone_book.exercises as e\n"
    code += "for c in e.chapters(): e.grader(c)\n"
    code += (
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    assert not {
        "otter",
        "IPython",
        "ipywidgets",
        "jupytext",
        "nbformat",
        "sphinx",
        "playwright",
    } & set(loaded)


def test_an_unknown_chapter_is_refused_with_the_names_there_are():
    with refused(ValueError, match="memory"):
        exercises.grader("rome")
