"""Exercise 5: how many rounds until single edits have become the batch [R-S5]."""

import numpy as np
from otter.test_files import test_case

from rankone.exercises import ask, close

OK_FORMAT = False
name = "q5"
points = 2
draws = np.random.default_rng(5)


def cosine(C, K):
    S = K.T @ np.linalg.solve(C, K)
    return S[0, 1] ** 2 / (S[0, 0] * S[1, 1])


@test_case(name="cos²θ in the geometry of C⁻¹")
def test_cosine(cosine_squared):
    for D in (2, 5):
        A, K = draws.normal(size=(D, D)), draws.normal(size=(D, 2))
        C = A @ A.T + np.eye(D)
        close(ask(cosine_squared, C, K[:, 0], K[:, 1]), cosine(C, K), "Every inner product is aᵀC⁻¹b, lengths too.")


@test_case(name="the number of rounds")
def test_rounds(rounds_needed):
    for value, tolerance, rounds in ((0.1354, 1e-6, 7), (0.5, 1e-3, 10), (0.99, 1e-6, 1375), (0.01, 1e-1, 1)):
        hint = "Each round multiplies the error by cos²θ: solve (cos²θ)^c ≤ tolerance and round up."
        close(ask(rounds_needed, value, tolerance), rounds, hint, rtol=0)
