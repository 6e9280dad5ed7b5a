"""Exercise 4: what the base model cannot learn, remembered [S-eq40]."""

from functools import cache

import jax
import numpy as np

from rankone.theory.linear_resmem import sample_ball
from rankone_book.exercises import ask, close, test_case

points = 2


@cache
def simulated(seed, d=3, n=20, count=20_000):
    """Mean squared distance of a query to the nearest of n points, and that of one
    coordinate.
    """
    keys = jax.random.split(jax.random.key(seed))
    X = np.asarray(sample_ball(count * n, d, key=keys[0])).reshape(count, n, d)
    q = np.asarray(sample_ball(count, d, key=keys[1]))
    square = ((X - q[:, None]) ** 2).sum(-1)
    step = q - X[np.arange(count), square.argmin(1)]
    return square.min(1).mean(), (step[:, 0] ** 2).mean()


@test_case(name="agrees with a simulation")
def test_simulation(remembered_risk, draws):
    distance, coordinate = simulated(int(draws.integers(2**31)))
    for L in draws.uniform((0.1, 0.5), (0.3, 0.8)).tolist():
        hint = (
            "The error is ⟨(1 − L)θ_*, x − x_(1)⟩; what does isotropy say about one "
            "coordinate of x − x_(1)?"
        )
        close(
            ask(remembered_risk, distance, 3, L),
            (1 - L) ** 2 * coordinate,
            hint,
            rtol=0.08,
        )


@test_case(name="at L = 0 and d = 1 the risk is the mean squared distance", points=0)
def test_pure(remembered_risk, draws):
    distance = float(draws.uniform(0.1, 2))
    close(
        ask(remembered_risk, distance, 1, 0.0),
        distance,
        "At L = 0 and d = 1 both factors of E Z are 1.",
    )
