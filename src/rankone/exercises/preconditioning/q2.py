"""Exercise 2: rank, and what descent reaches [K-unn-rank]."""

import numpy as np
from otter.test_files import test_case

from rankone.exercises import ask, close

OK_FORMAT = False
name = "q2"
points = 2
draws = np.random.default_rng(2)


def low_rank(m, n, r):
    return draws.normal(size=(m, r)) @ draws.normal(size=(r, n))


@test_case(name="rank of the preconditioner, without forming it")
def test_rank(preconditioner_rank):
    for r, s in ((1, 2), (3, 2), (4, 5)):
        T, V = low_rank(4, 6, r), low_rank(7, 5, s)
        close(ask(preconditioner_rank, T, V), r * s, "Eigenvalues of a Kronecker product multiply.")


@test_case(name="the reachable matrix nearest to a target")
def test_reach(nearest_reachable):
    for r, s in ((2, 3), (4, 5)):
        T, V, (W0, target) = low_rank(4, 4, r), low_rank(5, 5, s), draws.normal(size=(2, 4, 5))
        X = np.linalg.lstsq(np.kron(V.T, T), (target - W0).ravel(order="F"), rcond=1e-9)[0]
        nearest = W0 + T @ X.reshape(4, 5, order="F") @ V
        hint = "Project the difference onto the range of T and the row space of V; the start stays."
        close(ask(nearest_reachable, W0, target, T, V), nearest, hint)
