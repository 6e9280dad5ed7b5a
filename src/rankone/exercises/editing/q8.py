"""Exercise 8: fewer keys than dimensions [R-eq13]."""

import numpy as np
from otter.test_files import test_case

from rankone.editing import ridge_limit_edit
from rankone.exercises import ask, close, holds

OK_FORMAT = False
name = "q8"
points = 3
draws = np.random.default_rng(8)


def problem(D=6, n=3):
    return (draws.normal(size=shape) for shape in ((2, D), (D, n), D, 2))


@test_case(name="the ridge limit, for a key outside the span")
def test_limit(ridge_limit):
    for D, n in ((6, 3), (4, 1), (9, 8)):
        W, K, k, v = problem(D, n)
        hint = "λ(C + λI)⁻¹ tends to the projection off the keys: u is the part of k orthogonal to all of them."
        close(ask(ridge_limit, W, K, k, v), ridge_limit_edit(W, K, k, v).apply(W), hint, rtol=1e-2, atol=1e-3)


@test_case(name="it answers the new key and leaves the old ones alone")
def test_free(ridge_limit):
    W, K, k, v = problem()
    W_hat = np.asarray(ask(ridge_limit, W, K, k, v))
    close(W_hat @ k, v, "The constraint Ŵk = v must hold: divide by uᵀk.", atol=1e-4)
    close(W_hat @ K, W @ K, "An edit at no cost exists; yours changes the old answers.", atol=1e-4)


@test_case(name="what the pseudo-inverse pays instead")
def test_price(pseudo_inverse_price):
    for D, n in ((6, 3), (5, 4)):
        W, K, k, v = problem(D, n)
        r, P = v - W @ k, np.linalg.pinv(K @ K.T)
        price = ask(pseudo_inverse_price, W, K, k, v)
        holds(np.ndim(price) == 0, "the price is one number: ‖(Ŵ − W)K‖².")
        close(price, r @ r / (k @ P @ k), "With u = C⁺k: uᵀKKᵀu = kᵀC⁺k, so the price is ‖r‖²/kᵀC⁺k.")
