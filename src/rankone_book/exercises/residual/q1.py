"""Exercise 1: the distance to a single stored point [S-eq11]."""

import numpy as np

from rankone.theory.nearest_neighbour import nearest_neighbour_risk
from rankone_book.exercises import ask, close, test_case

points = 2


@test_case(name="agrees with a simulation in three dimensions", points=0)
def test_simulation(first_distance, draws):
    normal = draws.normal(size=(2, 200_000, 5))
    x, z = (
        5**0.5 * g[:, :3] / np.linalg.norm(g, axis=1, keepdims=True) for g in normal
    )
    hint = "E‖x − z‖² = E‖x‖² + E‖z‖² − 2E⟨x, z⟩; which of the three is zero?"
    close(ask(first_distance, 3), ((x - z) ** 2).sum(1).mean(), hint, rtol=0.02)


@test_case(name="agrees with the exact value in every dimension")
def test_exact(first_distance, draws):
    for d in draws.integers(1, 12, 4).tolist():
        hint = (
            "Every coordinate has variance 1; the difference of two independent "
            "coordinates has more."
        )
        close(ask(first_distance, d), nearest_neighbour_risk(1, d).exact, hint)
