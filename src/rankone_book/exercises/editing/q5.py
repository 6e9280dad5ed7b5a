"""Exercise 5: how many rounds until single edits have become the batch [R-S5]."""

import numpy as np

from rankone_book.exercises import ask, close, test_case

points = 2


def cosine(C, K):
    S = K.T @ np.linalg.solve(C, K)
    return S[0, 1] ** 2 / (S[0, 0] * S[1, 1])


@test_case(name="cos²θ in the inner product aᵀC⁻¹b")
def test_cosine(cosine_squared, draws):
    for D in (2, 5):
        A = draws.normal(size=(D, D))
        K = draws.normal(size=(D, 2))
        C = A @ A.T + np.eye(D)
        close(
            ask(cosine_squared, C, K[:, 0], K[:, 1]),
            cosine(C, K),
            "Use aᵀC⁻¹b for every inner product, also for the squared lengths.",
        )


@test_case(name="the number of rounds")
def test_rounds(rounds_needed, draws):
    for value, rounds, fraction in zip(
        draws.uniform(0.1, 0.98, 4),
        (1, 5, 9, 70),
        draws.uniform(0.6, 0.9, 4),
        strict=True,
    ):
        # rounds − fraction is nearer to rounds − 1, so rounding to the nearest number
        # fails
        tolerance = value ** (rounds - fraction)
        hint = (
            "Each round multiplies the error by cos²θ: solve (cos²θ)^c ≤ tolerance and "
            "round up."
        )
        close(ask(rounds_needed, float(value), float(tolerance)), rounds, hint, rtol=0)
