"""Exercise 1: the dual of the edit [R-txt8]."""

import numpy as np

from rankone_book.exercises import ask, close, holds, test_case

points = 3


def problem(draws, D=4, H=3, n=9):
    K, V, k, v = (draws.normal(size=shape) for shape in ((D, n), (H, n), D, H))
    return K, V, k, v, V @ K.T @ np.linalg.inv(K @ K.T)


@test_case(name="the dual is L at the Ŵ that minimises it")
def test_dual(dual, draws):
    for _ in range(4):
        K, V, k, v, W = problem(draws)
        multiplier = draws.normal(size=3)
        W_hat = W + np.outer(multiplier, np.linalg.solve(K @ K.T, k))
        lagrangian = 0.5 * np.sum((W_hat @ K - V) ** 2) - multiplier @ (W_hat @ k - v)
        hint = (
            "Minimise L over Ŵ first: Ŵ = W + Λuᵀ. What are ‖ŴK − V‖² and Ŵk − v there?"
        )
        close(ask(dual, multiplier, K, V, k, v), lagrangian, hint)


@test_case(name="your Λ maximises the dual")
def test_maximum(best_multiplier, draws):
    for _ in range(4):
        K, V, k, v, W = problem(draws)
        hint = "Set the gradient of the concave quadratic g to zero."
        close(
            ask(best_multiplier, K, V, k, v),
            (v - W @ k) / (k @ np.linalg.solve(K @ K.T, k)),
            hint,
        )


@test_case(name="along your direction of Λ, L falls without bound")
def test_unbounded(falling_direction, draws):
    for _ in range(4):
        K, V, k, v, _ = problem(draws)
        W = draws.normal(size=(3, 4))
        d = np.asarray(ask(falling_direction, W, k, v))
        holds(d.shape == (3,), f"a direction of Λ has shape (3,), yours has {d.shape}.")
        at = [0.5 * np.sum((W @ K - V) ** 2) - t * d @ (W @ k - v) for t in (0, 1, 1e6)]
        holds(
            at[0] > at[1] > at[2],
            "L changes by −Λᵀ(Wk − v): make that negative wherever Wk ≠ v.",
        )
