"""Exercise 2: two memories, and the temperature at which they part [D-sharp1]."""

import numpy as np

from rankone.memory import MrDAM
from rankone_book.exercises import ask, close, holds, test_case

points = 3


def slope(beta, d, y):
    """The field at y divided by y, computed by the package."""
    return -MrDAM(np.array([[d / 2], [-d / 2]]), beta).gradient(np.array([y]))[0] / y


@test_case(name="the field is minus the memory's gradient")
def test_field(reduced_field, draws):
    for _ in range(6):
        y = draws.uniform(-1, 1)
        beta = draws.uniform(0.5, 8)
        d = draws.uniform(0.3, 2)
        Xi = np.zeros((2, 3))
        Xi[:, 0] = d / 2, -d / 2
        expected = -MrDAM(Xi, beta).gradient(np.array([y, 0.0, 0.0]))[0]
        hint = (
            "The two squared distances differ by 2dy: what does that make of p₁ − p₂?"
        )
        close(ask(reduced_field, y, beta, d), expected, hint, atol=1e-4)


@test_case(name="the critical β makes the slope at 0 vanish")
def test_slope(critical_beta, draws):
    for d in draws.uniform(0.4, 1.8, 3):
        push = slope(ask(critical_beta, float(d)), d, 1e-2 * d)
        close(
            push,
            0,
            "Expand tanh at 0 and set the slope of the field to zero.",
            atol=2e-3,
        )


@test_case(name="below your β the midpoint is stable, above it unstable")
def test_sides(critical_beta, draws):
    for d in draws.uniform(0.4, 1.8, 3):
        for factor, sign, wrong in ((0.8, -1, "unstable"), (1.25, 1, "stable")):
            push = slope(factor * ask(critical_beta, float(d)), d, 0.05 * d)
            holds(sign * push > 0, f"at {factor} times your β the midpoint is {wrong}.")
