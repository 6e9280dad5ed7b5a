"""Exercise 2: rank, and what descent reaches [K-unn-rank]."""

import numpy as np

from rankone_book.exercises import ask, close, test_case

points = 2


def low_rank(draws, m, n, r):
    return draws.normal(size=(m, r)) @ draws.normal(size=(r, n))


@test_case(name="the rank of P")
def test_rank(preconditioner_rank, draws):
    for r, s in zip(draws.integers(1, 5, 4), draws.integers(1, 6, 4), strict=True):
        T = low_rank(draws, 4, 6, r)
        V = low_rank(draws, 7, 5, s)
        close(
            ask(preconditioner_rank, T, V),
            r * s,
            "Each eigenvalue of a Kronecker product is a product of two "
            "eigenvalues: how many are not zero?",
        )


@test_case(name="the reachable matrix nearest to a target")
def test_reach(nearest_reachable, draws):
    for r, s in ((2, 3), (4, 5)):
        T = low_rank(draws, 4, 4, r)
        V = low_rank(draws, 5, 5, s)
        (W0, target) = draws.normal(size=(2, 4, 5))
        X = np.linalg.lstsq(
            np.kron(V.T, T), (target - W0).ravel(order="F"), rcond=1e-9
        )[0]
        nearest = W0 + T @ X.reshape(4, 5, order="F") @ V
        hint = "Which part of target − W0 can T and V produce? W0 itself stays."
        close(ask(nearest_reachable, W0, target, T, V), nearest, hint)
