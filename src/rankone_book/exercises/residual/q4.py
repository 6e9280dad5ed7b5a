"""Exercise 4: what the base model cannot learn, remembered [S-eq40]."""

import jax
import numpy as np

from rankone.theory.linear_resmem import sample_ball
from rankone_book.exercises import ask, close, test_case

points = 2


@test_case(name="agrees with a simulation")
def test_simulation(remembered_risk, draws):
    d, n, L, keys = 3, 20, float(draws.uniform(0.1, 0.8)), jax.random.split(jax.random.key(draws.integers(2**31)))
    X = np.asarray(sample_ball(20_000 * n, d, key=keys[0])).reshape(20_000, n, d)
    q = np.asarray(sample_ball(20_000, d, key=keys[1]))
    square = ((X - q[:, None]) ** 2).sum(-1)
    step = q - X[np.arange(20_000), square.argmin(1)]
    hint = "The error is ⟨(1 − L)θ_*, x − x_(1)⟩; what does isotropy say about one coordinate of x − x_(1)?"
    close(ask(remembered_risk, square.min(1).mean(), d, L), ((1 - L) ** 2 * step[:, 0] ** 2).mean(), hint, rtol=0.08)


@test_case(name="without a base model, in one dimension, it is the distance itself")
def test_pure(remembered_risk, draws):
    distance = float(draws.uniform(0.1, 2))
    close(ask(remembered_risk, distance, 1, 0.0), distance, "At L = 0 and d = 1 nothing is left to multiply with.")
