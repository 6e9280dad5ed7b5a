"""Exercise 8: factored damping against that of Tikhonov [K-damping]."""

import numpy as np

from rankone_book.exercises import ask, close, test_case

points = 2


@test_case(name="the excess for one pair of eigenvalues, as a fraction")
def test_excess(relative_excess, draws):
    for a, g, s in 10 ** draws.uniform(-1, 1, (3, 3)):
        hint = "Compare (a + s)(d + s) with ad + s²."
        close(
            ask(relative_excess, a, g, s), (a + s) * (g + s) / (a * g + s * s) - 1, hint
        )


@test_case(name="the excess as a matrix")
def test_matrix(excess_matrix, draws):
    for n, m in ((2, 3), (3, 2)):
        A = np.diag(draws.uniform(1, 2, n))
        G = draws.normal(size=(m, m))
        s = 0.3
        G = G @ G.T
        excess = (
            np.kron(A + s * np.eye(n), G + s * np.eye(m))
            - np.kron(A, G)
            - s * s * np.eye(n * m)
        )
        close(
            ask(excess_matrix, A, G, s),
            excess,
            "Multiply out; two cross terms remain.",
        )
