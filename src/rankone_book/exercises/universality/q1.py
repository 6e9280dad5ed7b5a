"""Exercise 1: the spectrum of the printed selector [M-appA-Bpd]."""

import numpy as np

from rankone_book.exercises import ask, close, test_case

points = 2


def selector(j, m, J, epsilon):
    B = epsilon * np.eye(2 * J)
    B[j, j] += 1
    B[j, J + m] = B[J + m, j] = 1
    return B


@test_case(name="agrees with a numerical diagonalisation")
def test_numerical(spectrum, draws):
    for J, epsilon in zip((1, 2, 5), draws.uniform(0.01, 0.9, 3).tolist(), strict=True):
        want = np.linalg.eigvalsh(selector(0, J - 1, J, epsilon))
        hint = (
            "What is B − εI on the two coordinates that interact, and on the others? "
            "Sort the eigenvalues in ascending order."
        )
        close(ask(spectrum, epsilon, J), want, hint)


@test_case(name="positive definite just above your ε, and not just below")
def test_definite(smallest_definite):
    edge = ask(smallest_definite)
    for shift, sign in ((1e-3, 1), (-1e-3, -1)):
        lowest = np.linalg.eigvalsh(selector(0, 1, 2, edge + shift)).min()
        close(np.sign(lowest), sign, "For which ε is the smallest eigenvalue 0?")
