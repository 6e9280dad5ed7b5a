"""Exercise 2: the nearest of n points on the unit interval, exactly [S-S7]."""

import numpy as np
from otter.test_files import test_case

from rankone.exercises import ask, close
from rankone.residual.risk import nearest_neighbour_risk

OK_FORMAT = False
name = "q2"
points = 2


@test_case(name="one point: two uniform numbers differ by 1/6 in the mean square")
def test_one(unit_interval):
    close(ask(unit_interval, 1), 1 / 6, "E(u − v)² for independent uniform u and v.")


@test_case(name="agrees with quadrature for any n")
def test_exact(unit_interval):
    for n in (2, 3, 10, 200):
        hint = "Given x the distance exceeds t with probability (1 − length within t of x)ⁿ: mind the ends."
        close(ask(unit_interval, n), nearest_neighbour_risk(n, 1).exact / 12, hint, atol=0)


@test_case(name="agrees with a simulation")
def test_simulation(unit_interval):
    draws = np.random.default_rng(2).uniform(size=(40_000, 5))
    square = (abs(draws[:, :1] - draws[:, 1:]).min(1) ** 2).mean()
    close(ask(unit_interval, 4), square, "Four stored points, one query.", rtol=0.04)
