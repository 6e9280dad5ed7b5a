"""Exercise 3: definite, and yet out of the orthant [M-appA-psd]."""

import numpy as np

from rankone_book.exercises import ask, close, holds, test_case

points = 2


def definite(M):
    close(M, M.T, "The matrix must be symmetric.")
    holds(np.linalg.eigvalsh(M).min() > 1e-9, "an eigenvalue is not positive.")


@test_case(name="the matrix is symmetric and positive definite", points=0)
def test_definite(counterexample):
    definite(np.asarray(ask(counterexample)[0], float))


@test_case(name="its product with your vector has a negative entry")
def test_image(counterexample):
    M, v = (np.asarray(a, float) for a in ask(counterexample))
    definite(M)
    holds(v.min() >= 0, "the vector must have no negative entry.")
    holds((M @ v).min() < -1e-9, "its image has no negative entry.")
