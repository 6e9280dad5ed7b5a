"""Exercise 6: how often a clipped logarithm freezes a query [D-fn6, D-sharp2]."""

from math import erf

import numpy as np

from rankone_book.exercises import ask, close, holds, test_case

points = 4


def _binary(draws, K, D):
    return draws.integers(0, 2, (K, D)) / D**0.5


def _partition_and_variance(x, Xi, beta):
    delta = x - Xi

    def kernel(u):
        return np.exp(-0.5 * beta * (u**2).sum(-1))

    S = kernel(delta).sum()
    pairs = kernel(delta[:, None] - delta) + kernel(delta[:, None] + delta)
    return S, 0.5 * pairs.sum() - S**2


@test_case(name="the fraction counts the draws whose Ŝ is clipped")
def test_fraction(frozen_fraction, draws):
    for K, D, beta in ((20, 10, 30.0), (5, 6, 4.0)):
        x = _binary(draws, 1, D)[0]
        Xi = _binary(draws, K, D)
        omegas = draws.normal(size=(60, 30, D))
        S_hat = (
            np.cos(beta**0.5 * np.einsum("nyd,kd->nyk", omegas, x - Xi))
            .sum(-1)
            .mean(-1)
        )
        epsilon = float(np.quantile(S_hat, draws.uniform(0.1, 0.9))) + 1e-3
        hint = "Ŝ = (1/Y) Σ_α Σ_μ cos(√β⟨ω^α, x − ξ^μ⟩), one value per draw."
        close(
            ask(frozen_fraction, x, Xi, beta, epsilon, omegas),
            (S_hat <= epsilon).mean(),
            hint,
            atol=0.02,
        )


@test_case(name="the normal law's prediction of the fraction")
def test_law(frozen_probability, draws):
    for K, D, beta, Y in ((30, 40, 20.0, 300), (60, 30, 12.0, 2000), (4, 10, 2.0, 50)):
        x = _binary(draws, 1, D)[0]
        Xi = _binary(draws, K, D)
        S, V = _partition_and_variance(x, Xi, beta)
        level = draws.uniform(0.4, 1.2)  # so that the answer is far from 0, 1/2 and 1
        epsilon = S - level * (V / Y) ** 0.5
        expected = 0.5 * (1 + erf(-level / 2**0.5))
        hint = (
            "V is ½ times a double sum of two kernels, minus S²: check the ½, both "
            "kernels, and the square."
        )
        close(
            ask(frozen_probability, x, Xi, beta, Y, epsilon), expected, hint, atol=5e-3
        )


@test_case(
    name="a query far from all patterns is frozen in half of all draws", points=0
)
def test_far(frozen_probability, draws):
    x = _binary(draws, 1, 200)[0]
    Xi = _binary(draws, 50, 200)
    holds(
        abs(ask(frozen_probability, x, Xi, 120.0, 500, 1e-5) - 0.5) < 0.01,
        "far from all patterns Ŝ is noise with mean 0.",
    )


@test_case(name="a query at a stored pattern is not frozen", points=0)
def test_stored(frozen_probability, draws):
    Xi = _binary(draws, 50, 200)
    holds(
        ask(frozen_probability, Xi[0], Xi, 60.0, 5000, 1e-5) < 1e-6,
        "at a stored pattern S ≥ 1, far above ε: check the sign in Φ.",
    )
