"""Exercise 6: sequential MEMIT is batch MEMIT, if C learns [R-S5, R-S6]."""

import numpy as np
from otter.test_files import test_case

from rankone.editing import batch_edit
from rankone.exercises import ask, close

OK_FORMAT = False
name = "q6"
points = 3
draws = np.random.default_rng(6)


def problem(m, D=6, H=3):
    A = draws.normal(size=(D, 20))
    return draws.normal(size=(H, D)), A @ A.T, draws.normal(size=(D, m)), draws.normal(size=(H, m))


@test_case(name="one relaxed edit")
def test_one(relaxed_edit):
    for omega in (0.3, 1.0, 20.0):
        W, C, K, V = problem(1)
        hint = "Solve W'(C + ωkkᵀ) = WC + ωvkᵀ, or shrink the rank-one edit by s/(s + 1/ω)."
        wanted = batch_edit(W, C, K, V, omega=omega).apply(W)
        close(ask(relaxed_edit, W, C, K[:, 0], V[:, 0], omega), wanted, hint)


@test_case(name="one after another is all at once")
def test_sequence(relaxed_sequence):
    for omega, m in ((1.0, 2), (5.0, 4)):
        W, C, K, V = problem(m)
        wanted = batch_edit(W, C, K, V, omega=omega).apply(W)
        close(ask(relaxed_sequence, W, C, K, V, omega), wanted, "After each edit C must take up ωkkᵀ.")


@test_case(name="in any order")
def test_order(relaxed_sequence):
    W, C, K, V = problem(3)
    one, other = (ask(relaxed_sequence, W, C, K[:, i], V[:, i], 2.0) for i in ([0, 1, 2], [2, 0, 1]))
    close(other, one, "The order still matters: is C updated after every edit, and with the same ω?")
