"""Exercise 1: the spectrum of the printed selector [M-appA-Bpd]."""

import numpy as np
from otter.test_files import test_case

from rankone.exercises import ask, close

OK_FORMAT = False
name = "q1"
points = 2


def selector(j, m, J, epsilon):
    B = epsilon * np.eye(2 * J)
    B[j, j] += 1
    B[j, J + m] = B[J + m, j] = 1
    return B


@test_case(name="agrees with a numerical diagonalisation")
def test_numerical(spectrum):
    for J, epsilon in ((1, 0.3), (2, 0.1), (5, 0.05)):
        want = np.linalg.eigvalsh(selector(0, J - 1, J, epsilon))
        hint = "On the two coordinates that meet, B − εI is [[1, 1], [1, 0]]; elsewhere it is 0. Sort ascending."
        close(ask(spectrum, epsilon, J), want, hint)


@test_case(name="definite above it, indefinite below")
def test_definite(smallest_definite):
    edge = ask(smallest_definite)
    for shift, sign in ((1e-3, 1), (-1e-3, -1)):
        lowest = np.linalg.eigvalsh(selector(0, 1, 2, edge + shift)).min()
        close(np.sign(lowest), sign, "The smallest eigenvalue is (1 − √5)/2 + ε.")
