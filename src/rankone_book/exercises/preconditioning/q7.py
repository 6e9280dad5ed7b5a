"""Exercise 7: the factors of a frozen Shampoo step [K-shampoo]."""

import numpy as np

from rankone_book.exercises import ask, close, holds, test_case

points = 2


def root(A, power):
    values, vectors = np.linalg.eigh(A)
    return (vectors * values**power) @ vectors.T


@test_case(name="W = TUV takes the step of Shampoo")
def test_shampoo(shampoo_factors, draws):
    for m, n in ((2, 3), (4, 4)):
        G = draws.normal(size=(m, n))
        L = G @ G.T + np.diag(np.arange(1.0, m + 1))
        R = G.T @ G + np.eye(n)
        T, V = (np.asarray(F, float) for F in ask(shampoo_factors, L, R))
        hint = (
            "The step is L^(-1/4) G R^(-1/4), and TTᵀ is the square of a symmetric T."
        )
        holds(
            T.shape[0] == m and V.shape[1] == n,
            f"T must have {m} rows and V {n} columns. {hint}",
        )
        close(T @ T.T @ G @ V.T @ V, root(L, -0.25) @ G @ root(R, -0.25), hint)
