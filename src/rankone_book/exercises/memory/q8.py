"""Exercise 8: how many features are enough [D-sharp2, D-sharp5]."""

import numpy as np

from rankone_book.exercises import ask, close, test_case

points = 3


def _settings(draws):
    return [
        (
            int(draws.integers(1000, 4000)),
            int(draws.integers(200, 900)),
            draws.uniform(35, 50),
        )
        for _ in range(4)
    ]


@test_case(name="(i) the energy at a stored pattern")
def test_energy(features_needed, draws):
    for D, K, beta in _settings(draws):
        for tolerance in (0.01, 0.05):
            count = ask(features_needed, D, K, beta, tolerance)[0]
            hint = (
                "V ≈ K/2 and S ≈ 1; an energy error of tolerance/β is a relative "
                "error `tolerance` of Ŝ."
            )
            close(count / (K / 2 / tolerance**2), 1, hint, rtol=0.03)


@test_case(name="(ii) an energy that is convex at a stored pattern")
def test_stability(features_needed, draws):
    for D, K, beta in _settings(draws):
        count = ask(features_needed, D, K, beta, 0.01)[1]
        close(
            count / (2 * D * K),
            1,
            "The Hessian's smallest eigenvalue is 1 − 2c with c² = DK/(2Y).",
            rtol=0.01,
        )


@test_case(name="(iii) Ŝ at a random query")
def test_far(features_needed, draws):
    for D, K, beta in _settings(draws):
        kernel = (0.5 * (1 + np.exp(-beta / (2 * D)))) ** D
        count = ask(features_needed, D, K, beta, 0.1)[2]
        hint = (
            "Two random binary patterns are at squared distance about ½, so S ≈ K "
            "e^(−β/4); Y is proportional to S^(−2)."
        )
        close(np.log(count / (K / 2 / (0.1 * K * kernel) ** 2)), 0, hint, atol=0.25)
