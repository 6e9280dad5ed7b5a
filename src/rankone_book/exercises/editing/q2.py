"""Exercise 2: the block system of eq. 15 [R-eq15]."""

import numpy as np

from rankone_book.exercises import ask, close, test_case

points = 3


def block(k, u):
    top = np.hstack([np.eye(len(k)), k[:, None]])
    return np.vstack([top, np.append(-u, 0)])


@test_case(name="the determinant, for any u and k")
def test_determinant(block_determinant, draws):
    for D in (1, 2, 5, 30):
        k, u = draws.normal(size=(2, D))
        hint = "Schur complement of the identity block: 0 − (−uᵀ)I⁻¹k."
        close(ask(block_determinant, k, u), np.linalg.det(block(k, u)), hint, atol=1e-6)


@test_case(name="the inverse of M")
def test_inverse(block_inverse, draws):
    for D in (1, 2, 6):
        k, u = draws.normal(size=(2, D))
        hint = (
            "Multiply M by your inverse, block by block, and check the signs; you "
            "divide by uᵀk only."
        )
        close(ask(block_inverse, k, u), np.linalg.inv(block(k, u)), hint, atol=1e-6)


@test_case(name="[W v] times your inverse is the edit")
def test_edit(block_inverse, draws):
    k, u = draws.normal(size=(2, 5))
    W = draws.normal(size=(3, 5))
    v = draws.normal(size=3)
    blocks = np.hstack([W, v[:, None]]) @ np.asarray(ask(block_inverse, k, u))
    multiplier = (v - W @ k) / (u @ k)
    hint = "[Ŵ Λ] = [W v] M⁻¹: the last column of M⁻¹ must give Λ = (v − Wk)/uᵀk."
    close(
        blocks,
        np.column_stack([W + np.outer(multiplier, u), multiplier]),
        hint,
        atol=1e-6,
    )
