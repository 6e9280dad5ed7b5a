"""Exercise 9: the distributed memory in three functions [D-eq9, D-eq10]."""

import numpy as np

from rankone_book.exercises import ask, close, test_case

points = 4


def _problem(draws, K=6, D=5, Y=40):
    Xi = draws.normal(size=(K, D)) / D**0.5
    x = Xi[0] + 0.1 * draws.normal(size=D)
    return x, Xi, draws.uniform(2, 6), draws.normal(size=(Y, D))


def _sum_and_slope(x, Xi, beta, Omega):
    phases = beta**0.5 * (Omega @ (x - Xi).T)  # Y, K
    slope = -(beta**0.5) * (np.sin(phases).sum(1) @ Omega) / len(Omega)
    return np.cos(phases).sum() / len(Omega), slope


@test_case(name="read returns the sum of the estimated kernels")
def test_read(store, read, draws):
    for _ in range(3):
        x, Xi, beta, Omega = _problem(draws)
        T = ask(store, Xi, beta, Omega)
        hint = "Ŝ(x) = (1/Y) Σ_α Σ_μ cos(√β⟨ω^α, x − ξ^μ⟩): mind √β and 1/√Y."
        expected, _ = _sum_and_slope(x, Xi, beta, Omega)
        close(ask(read, x, T, beta, Omega), expected, hint, rtol=1e-4, atol=1e-5)


@test_case(name="subtracting the vector of a pattern removes the pattern", points=0)
def test_add(store, draws):
    x, Xi, beta, Omega = _problem(draws)
    joint = np.asarray(ask(store, np.vstack([Xi, x]), beta, Omega))
    parts = np.asarray(ask(store, Xi, beta, Omega))
    single = np.asarray(ask(store, x[None], beta, Omega))
    close(joint - single, parts, "T is a sum over the patterns, not a mean.", atol=1e-5)


@test_case(name="a step of size eta down the estimated energy")
def test_step(store, step, draws):
    for eta in (0.1, 0.7):
        x, Xi, beta, Omega = _problem(draws, K=2, Y=400)
        T = ask(store, Xi, beta, Omega)
        S_hat, slope = _sum_and_slope(x, Xi, beta, Omega)
        hint = "∇Ê = −∇Ŝ/(βŜ), and the chain rule gives ∇Ŝ a factor √β."
        expected = x + eta * slope / (beta * S_hat)
        close(ask(step, x, T, beta, Omega, eta), expected, hint, rtol=1e-3, atol=1e-4)
