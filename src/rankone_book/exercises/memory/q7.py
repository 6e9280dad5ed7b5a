"""Exercise 7: the recursion behind Theorem 2, solved exactly [D-eq56-58]."""

from math import comb, log10

from rankone_book.exercises import ask, close, test_case

points = 3


@test_case(name="agrees with the recursion run step by step")
def test_recursion(growth, draws):
    for u, L in zip(draws.uniform(0.02, 0.5, 4).tolist(), (5, 6, 12, 30), strict=True):
        D = 0.0
        for _ in range(L):
            D = (1 + u) * D + 1
        close(
            ask(growth, u, L),
            D,
            "Sum the geometric series 1 + (1+u) + … + (1+u)^(L−1).",
            rtol=1e-4,
        )


@test_case(name="stays accurate as u → 0")
def test_small(growth, draws):
    lengths = draws.integers(500, 1000, 4).tolist()
    # at 1e-5, L is no longer accurate enough
    for u, L in zip((0.0, 1e-15, 1e-9, 1e-5), lengths, strict=True):
        expected = sum(comb(L, j + 1) * u**j for j in range(3))
        close(
            ask(growth, u, L),
            expected,
            "(1+u)^L − 1 loses its digits for small u; expm1 and log1p keep them. "
            "Treat u = 0 separately.",
            rtol=1e-4,
        )


@test_case(name="the orders of magnitude by which the printed sum is larger")
def test_looseness(looseness, draws):
    for u, L in zip(draws.uniform(0.02, 0.2, 3).tolist(), (10, 100, 30), strict=True):
        printed = sum(L * (L * u) ** j for j in range(L))
        exact = sum(comb(L, j + 1) * u**j for j in range(L))
        hint = "log₁₀ of LΣ(Lu)^j over Σ C(L, j+1)u^j, both for j = 0 … L−1."
        close(ask(looseness, u, L), log10(printed) - log10(exact), hint, atol=1e-3)
