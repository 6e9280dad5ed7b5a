"""Exercise 4: heavy ball commutes, Adam does not [K-mom, K-adam]."""

import numpy as np

from rankone_book.exercises import ask, close, test_case

points = 3


Q = np.array([[1.0, 1.0], [1.0, -1.0]]) / 2**0.5


@test_case(name="the movement of w when heavy ball trains u")
def test_heavy(heavy_ball_on_U, draws):
    for T in (Q, draws.normal(size=(2, 3))):
        gradients = draws.normal(size=(6, 2))
        velocity = np.zeros(2)
        moved = np.zeros(2)
        for g in gradients:
            velocity = 0.9 * velocity + T @ T.T @ g
            moved = moved - 0.1 * velocity
        hint = (
            "The gradient with respect to u is Tᵀg; w moves by T times the movement "
            "of u."
        )
        close(ask(heavy_ball_on_U, T, gradients, 0.1, 0.9), moved, hint)


@test_case(name="the movement of w in the first Adam step on u")
def test_adam(first_adam_step, draws):
    for g in (np.array([1.0, 0.0]), draws.normal(size=2)):
        for T in (Q, np.eye(2), draws.normal(size=(2, 2))):
            hint = (
                "Adam's first step on u is −η times the sign of its gradient Tᵀg; w "
                "moves by T times this step."
            )
            close(ask(first_adam_step, T, g, 0.01), -0.01 * T @ np.sign(T.T @ g), hint)
