"""Exercise 3: definite, and yet out of the orthant [M-appA-psd]."""

import numpy as np

from rankone_book.exercises import ask, close, holds, test_case

points = 2


@test_case(name="the matrix is symmetric and positive definite")
def test_definite(counterexample):
    M, _ = ask(counterexample)
    M = np.asarray(M, float)
    close(M, M.T, "A definite matrix is symmetric here.")
    holds(np.linalg.eigvalsh(M).min() > 1e-9, "an eigenvalue is not positive.")


@test_case(name="the vector is non-negative and its image is not")
def test_image(counterexample):
    M, v = (np.asarray(a, float) for a in ask(counterexample))
    holds(v.min() >= 0, "the vector must have no negative entry.")
    holds((M @ v).min() < -1e-9, "its image has no negative entry.")
