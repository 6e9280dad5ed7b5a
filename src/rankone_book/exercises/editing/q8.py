"""Exercise 8: fewer keys than dimensions [R-eq13]."""

import numpy as np

from rankone.editing import ridge_limit_edit
from rankone_book.exercises import ask, close, holds, test_case

points = 3


def problem(draws, D=6, n=3):
    return (draws.normal(size=shape) for shape in ((2, D), (D, n), D, 2))


@test_case(name="the ridge limit, for a key outside the span")
def test_limit(ridge_limit, draws):
    for D, n in ((6, 3), (4, 1), (9, 6)):
        W, K, k, v = problem(draws, D, n)
        hint = (
            "λ(C + λI)⁻¹ tends to a projection: on what? The edit does not depend on "
            "the length of u."
        )
        close(
            ask(ridge_limit, W, K, k, v),
            ridge_limit_edit(W, K, k, v).apply(W),
            hint,
            rtol=1e-2,
            atol=1e-3,
        )


@test_case(name="Ŵ answers v at k and leaves the outputs of the sampled keys unchanged")
def test_free(ridge_limit, draws):
    W, K, k, v = problem(draws)
    W_hat = np.asarray(ask(ridge_limit, W, K, k, v))
    close(W_hat @ k, v, "The constraint Ŵk = v must hold: divide by uᵀk.", atol=1e-4)
    close(
        W_hat @ K,
        W @ K,
        "An edit without interference exists; yours changes outputs of the "
        "sampled keys.",
        atol=1e-4,
    )


@test_case(name="the interference of the edit with the pseudo-inverse")
def test_pseudo_inverse(pseudo_inverse_interference, draws):
    for D, n in ((6, 3), (7, 4)):
        W, K, k, v = problem(draws, D, n)
        r = v - W @ k
        P = np.linalg.pinv(K @ K.T)
        interference = ask(pseudo_inverse_interference, W, K, k, v)
        holds(
            np.ndim(interference) == 0, "the interference is one number: ‖(Ŵ − W)K‖²."
        )
        close(
            interference,
            r @ r / (k @ P @ k),
            "Put u = C⁺k into ‖r‖²uᵀCu/(uᵀk)², and use C⁺CC⁺ = C⁺.",
        )
