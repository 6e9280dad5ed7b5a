"""Exercise 6: least squares in one step [K-FAC]."""

import numpy as np

from rankone_book.exercises import ask, close, holds, test_case

points = 2


@test_case(name="one step on U reaches the minimum from every W")
def test_one_step(one_step_factors, draws):
    for n, m in ((3, 2), (5, 4)):
        x = draws.normal(size=(200, n)) * np.logspace(0, -1, n)
        noise = draws.normal(size=(m, m))
        Sigma = noise @ noise.T + 0.1 * np.eye(m)
        y = draws.normal(size=(200, m))
        A = x.T @ x / 200
        W = draws.normal(size=(m, n))
        T, V = (np.asarray(F, float) for F in ask(one_step_factors, A, Sigma))
        hint = "P must be the inverse of the Hessian A ⊗ Σ⁻¹."
        holds(
            T.shape[0] == m and V.shape[1] == n,
            f"T must have {m} rows and V {n} columns. {hint}",
        )
        G = np.linalg.solve(Sigma, (x @ W.T - y).T @ x / 200)
        close(
            W - T @ T.T @ G @ V.T @ V,
            np.linalg.lstsq(x, y, rcond=None)[0].T,
            hint,
            atol=1e-4,
        )
