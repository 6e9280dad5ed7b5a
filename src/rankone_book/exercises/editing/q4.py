"""Exercise 4: what forgetting the geometry costs [R-S2]."""

import numpy as np

from rankone_book.exercises import ask, close, holds, test_case

points = 3


def exact(C, k):
    return (k @ C @ k) * (k @ np.linalg.solve(C, k)) / (k @ k) ** 2


@test_case(name="the factor for diag(1, 100) and (1, 1)", points=0)
def test_example(gradient_step_cost):
    hint = "Interference along u is ‖r‖²uᵀCu/(uᵀk)²: compare u = k with u = C⁻¹k."
    close(ask(gradient_step_cost, np.diag([1.0, 100.0]), np.ones(2)), 25.5025, hint)


@test_case(name="the factor for any C and k")
def test_general(gradient_step_cost, draws):
    for D in (2, 3, 8):
        A = draws.normal(size=(D, D))
        k = draws.normal(size=D)
        close(
            ask(gradient_step_cost, A @ A.T + np.eye(D), k),
            exact(A @ A.T + np.eye(D), k),
            "C need not be diagonal.",
        )


@test_case(name="a key for which the factor is largest")
def test_worst(worst_key, draws):
    for D in (2, 4):
        A = draws.normal(size=(D, D))
        C = A @ A.T + 0.1 * np.eye(D)
        k = np.asarray(ask(worst_key, C))
        kappa = np.linalg.cond(C)
        holds(
            k.shape == (D,) and np.linalg.norm(k) > 0,
            f"a key is a non-zero vector of shape ({D},).",
        )
        hint = (
            "The factor depends on the squared coordinates of k in the eigenvectors "
            "of C: which two should have all the weight, and how much should each "
            "have?"
        )
        close(exact(C, k), (1 + kappa) ** 2 / (4 * kappa), hint)
