"""Exercise 4: what the base model cannot learn, remembered [S-eq40]."""

import jax
import numpy as np
from otter.test_files import test_case

from rankone.exercises import ask, close
from rankone.residual.linear import sample_ball

OK_FORMAT = False
name = "q4"
points = 2


@test_case(name="agrees with a simulation")
def test_simulation(remembered_risk):
    d, n, L = 3, 20, 0.4
    X = np.asarray(sample_ball(4000 * n, d, key=jax.random.key(4))).reshape(4000, n, d)
    q = np.asarray(sample_ball(4000, d, key=jax.random.key(5)))
    square = ((X - q[:, None]) ** 2).sum(-1)
    step = q - X[np.arange(4000), square.argmin(1)]
    hint = "The error is ⟨(1 − L)θ_*, x − x_(1)⟩; by isotropy a coordinate of x − x_(1) has a d-th of its square."
    close(ask(remembered_risk, square.min(1).mean(), d, L), ((1 - L) ** 2 * step[:, 0] ** 2).mean(), hint, rtol=0.08)


@test_case(name="without a base model, in one dimension, it is the distance itself")
def test_pure(remembered_risk):
    close(ask(remembered_risk, 0.3, 1, 0.0), 0.3, "At L = 0 and d = 1 nothing is left to multiply with.")
