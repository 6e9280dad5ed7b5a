"""Exercise 8: two shots from four moments [M-S6]."""

import numpy as np
from otter.test_files import test_case

from rankone.exercises import ask, close

OK_FORMAT = False
name = "q8"
points = 3

draws = np.random.default_rng(8)


@test_case(name="recovers the points and their masses")
def test_recovers(two_shots):
    for _ in range(5):
        x, mass = draws.uniform(0, 0.4, 2) + np.array([0, 0.5]), draws.uniform(0.5, 2, 2)
        m = [float((mass * x**i).sum()) for i in range(4)]
        points, masses = ask(two_shots, np.array(m))
        hint = "Solve [[m₀, m₁], [m₁, m₂]] c = −(m₂, m₃); the points are the roots of t² + c₁t + c₀, ascending."
        close(points, x, hint, rtol=1e-4)
        close(masses, mass, "The masses solve a₁ + a₂ = m₀ and a₁x₁ + a₂x₂ = m₁.", rtol=1e-3)


@test_case(name="a shot at zero")
def test_zero(two_shots):
    points, masses = ask(two_shots, np.array([3.0, 1.0, 0.5, 0.25]))
    close(points, [0, 0.5], "Zero is a root like any other.", atol=1e-9)
    close(masses, [1, 2], "Put the points into the first two moments.")
