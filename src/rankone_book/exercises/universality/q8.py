"""Exercise 8: two shots from four moments [M-S6]."""

import numpy as np

from rankone_book.exercises import ask, close, test_case

points = 3


@test_case(name="recovers the points and their masses")
def test_recovers(two_shots, draws):
    for _ in range(5):
        x = draws.uniform(0, 0.4, 2) + np.array([0, 0.5])
        mass = draws.uniform(0.5, 2, 2)
        m = [float((mass * x**i).sum()) for i in range(4)]
        points, masses = ask(two_shots, np.array(m))
        hint = (
            "What are m₂ + c₁m₁ + c₀m₀ and m₃ + c₁m₂ + c₀m₁? The points are the roots "
            "of t² + c₁t + c₀, in ascending order."
        )
        close(points, x, hint, rtol=1e-4)
        close(
            masses,
            mass,
            "The masses solve a₁ + a₂ = m₀ and a₁x₁ + a₂x₂ = m₁.",
            rtol=1e-3,
        )


@test_case(name="one of the two points is 0")
def test_zero(two_shots, draws):
    x = draws.uniform(0.3, 0.9)
    (first, second) = draws.uniform(0.5, 2, 2)
    points, masses = ask(
        two_shots, np.array([first + second, second * x, second * x**2, second * x**3])
    )
    close(points, [0, x], "Zero is a root like any other.", atol=1e-6)
    close(masses, [first, second], "Solve the first two moments for the masses.")
