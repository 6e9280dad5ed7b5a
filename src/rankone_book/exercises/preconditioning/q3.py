"""Exercise 3: whitening an input that carries the 1 of a bias [K-FAC]."""

import numpy as np

from rankone_book.exercises import ask, close, holds, test_case

points = 2


@test_case(name="V(x, 1) has the second moment I and the last entry 1")
def test_whitens(bias_whitening, draws):
    for n in (2, 4):
        x = draws.normal(size=(500, n)) @ draws.normal(size=(n, n)) + 3 * draws.normal(
            size=n
        )
        mean = x.mean(0)
        covariance = np.cov(x.T, bias=True)
        V = np.asarray(ask(bias_whitening, mean, covariance), float)
        hint = (
            "The second moment of (x, 1) contains the mean: subtract the mean first, "
            "then whiten the covariance."
        )
        holds(V.shape == (n + 1, n + 1), f"V must be {n + 1} × {n + 1}. {hint}")
        white = np.c_[x, np.ones(500)] @ V.T
        close(white.T @ white / 500, np.eye(n + 1), hint, atol=1e-4)
        close(
            white[:, -1], np.ones(500), f"The last entry must stay 1. {hint}", atol=1e-4
        )
