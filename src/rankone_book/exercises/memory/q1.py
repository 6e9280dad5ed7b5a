"""Exercise 1: the Jacobian of x ↦ x/‖x‖ [D-fn3]."""

import numpy as np

from rankone_book.exercises import ask, close, test_case

points = 3


def states(draws):
    return [scale * draws.normal(size=D) for D, scale in ((2, 1.0), (3, 0.4), (7, 2.0))]


@test_case(name="agrees with central differences")
def test_differences(unit_jacobian, draws):
    for x in states(draws):
        steps = 1e-5 * np.eye(len(x))
        slope = [
            ((x + e) / np.linalg.norm(x + e) - (x - e) / np.linalg.norm(x - e)) / 2e-5
            for e in steps
        ]
        close(
            ask(unit_jacobian, x),
            np.transpose(slope),
            "Differentiate x_i (Σx²)^(-1/2) by the product rule; test your matrix at "
            "some ‖x‖ other than 1.",
        )


@test_case(name="J x = 0: a step along x does not change the direction", points=0)
def test_radial(unit_jacobian, draws):
    for x in states(draws):
        close(
            ask(unit_jacobian, x) @ x,
            np.zeros(len(x)),
            "The second term must remove exactly the part along x.",
        )


@test_case(name="J(2x) = J(x)/2", points=0)
def test_scale(unit_jacobian, draws):
    for x in states(draws):
        hint = "Count powers of ‖x‖: x/‖x‖ has power 0, so its derivative has power −1."
        close(ask(unit_jacobian, 2 * x), np.asarray(ask(unit_jacobian, x)) / 2, hint)
