"""Every check on the editing page accepts two right answers written differently, and
rejects plausible wrong ones.
"""

from math import ceil, log, log10

import jax.numpy as jnp
import numpy as np
import pytest
from exercise_pages import EveryCheck, Page

import rankone as ro
from rankone import editing
from rankone.precision import double_precision
from rankone.theory import lagrangian


@pytest.fixture(autouse=True)
def double():
    """The page computes in float64."""
    with double_precision():
        yield


# --- a second right answer each, written another way


def fit(K, V):
    return lagrangian.least_squares(jnp.asarray(K), jnp.asarray(V))


def dual_by_package(multiplier, K, V, k, v):
    return lagrangian.dual(*map(jnp.asarray, (multiplier, K, V, k, v)))


def multiplier_by_edit(K, V, k, v):
    return ro.rank_one_edit(fit(K, V), K @ K.T, k, v).left


def inverse_by_solving(k, u):
    return np.linalg.inv(lagrangian.block_matrix(jnp.asarray(k), jnp.asarray(u)))


def leverages_by_qr(K):
    return (np.linalg.qr(K.T)[0] ** 2).sum(1)


def cost_by_eigenvalues(C, k):
    values, vectors = np.linalg.eigh(C)
    p = (vectors.T @ k) ** 2 / (k @ k)
    return (p @ values) * (p @ (1 / values))


def worst_by_difference(C):
    vectors = np.linalg.svd(C)[0]
    return 3 * (vectors[:, 0] - vectors[:, -1])


def cosine_by_whitening(C, a, b):
    a, b = np.linalg.solve(np.linalg.cholesky(C), np.stack([a, b]).T).T
    return (a @ b) ** 2 / (a @ a) / (b @ b)


def rounds_by_loop(cosine2, tolerance):
    error = 1.0
    rounds = 0
    while error > tolerance * (1 + 1e-9):
        error = error * cosine2
        rounds = rounds + 1
    return rounds


def relaxed_by_normal_equations(W, C, k, v, omega):
    return np.linalg.solve(
        C + omega * np.outer(k, k), (W @ C + omega * np.outer(v, k)).T
    ).T


def sequence_by_sums(W, C, K, V, omega):
    A = C.copy()
    B = W @ C
    for k, v in zip(K.T, V.T, strict=True):
        A = A + omega * np.outer(k, k)
        B = B + omega * np.outer(v, k)
    return np.linalg.solve(A, B.T).T


def keys_by_search(target, D):
    n = D + 1
    while (n - 1) / (n - D) > target * (1 + 1e-12):
        n += 1
    return n


def limit_by_ridge(W, K, k, v):
    u = np.linalg.solve(K @ K.T + 1e-8 * np.eye(len(k)), k)
    return W + np.outer(v - W @ k, u) / (u @ k)


SECOND = {
    "q1": {
        "dual": dual_by_package,
        "best_multiplier": multiplier_by_edit,
        "falling_direction": lambda W, k, v: 7 * (W @ k - v),
    },
    "q2": {
        "block_determinant": lambda k, u: sum(a * b for a, b in zip(k, u, strict=True)),
        "block_inverse": inverse_by_solving,
    },
    "q3": {
        "interference_on_others": lambda h, r: np.linalg.norm(r) ** 2 * (1 - h) / h,
        "balanced_leverage": lambda multiple: (1 / 2) / (1 / 2 + multiple / 2),
        "leverages": leverages_by_qr,
    },
    "q4": {"gradient_step_cost": cost_by_eigenvalues, "worst_key": worst_by_difference},
    "q5": {"cosine_squared": cosine_by_whitening, "rounds_needed": rounds_by_loop},
    "q6": {
        "relaxed_edit": relaxed_by_normal_equations,
        "relaxed_sequence": sequence_by_sums,
    },
    "q7": {
        "mean_inflation": lambda n, D: 1 + (D - 1) / (n - D),
        "keys_needed": keys_by_search,
    },
    "q8": {
        "ridge_limit": limit_by_ridge,
        "pseudo_inverse_interference": lambda W, K, k, v: float(
            editing.pseudo_inverse_edit(W, K, k, v).interference
        ),
    },
}


# --- wrong answers that a good student might give: (question, what is wrong, functions
# that replace the right ones)


def dual_sign(multiplier, K, V, k, v):
    return dual_by_package(-multiplier, K, V, k, v)


def dual_without_half(multiplier, K, V, k, v):
    s = k @ np.linalg.solve(K @ K.T, k)
    return dual_by_package(multiplier, K, V, k, v) - s / 2 * multiplier @ multiplier


def cosine_plain(C, a, b):
    return (a @ b) ** 2 / (a @ a) / (b @ b)


def cosine_root(C, a, b):
    return cosine_by_whitening(C, a, b) ** 0.5


def sequence_deaf(W, C, K, V, omega):
    for k, v in zip(K.T, V.T, strict=True):
        W = relaxed_by_normal_equations(W, C, k, v, omega)
    return W


def sequence_weightless(W, C, K, V, omega):
    for k, v in zip(K.T, V.T, strict=True):
        W = relaxed_by_normal_equations(W, C, k, v, omega)
        C = C + np.outer(k, k)
    return W


def relaxed_unweighted(W, C, k, v, omega):
    return relaxed_by_normal_equations(W, C, k, v, 1.0)


def limit_by_pinv(W, K, k, v):
    u = np.linalg.pinv(K @ K.T) @ k
    return W + np.outer(v - W @ k, u) / (u @ k)


def limit_unnormalised(W, K, k, v):
    outside = k - K @ np.linalg.lstsq(K, k, rcond=None)[0]
    return W + np.outer(v - W @ k, outside)


def interference_at_key(W, K, k, v):
    return np.sum((v - W @ k) ** 2)


def interference_all_C(W, K, k, v):
    r = v - W @ k
    return (r @ r) * (k @ np.linalg.pinv(K @ K.T) @ k)


WRONG = [
    ("q1", "the sign of the linear term", {"dual": dual_sign}),
    ("q1", "s for s/2", {"dual": dual_without_half}),
    (
        "q1",
        "Λ = r",
        {"best_multiplier": lambda K, V, k, v: v - np.asarray(fit(K, V)) @ k},
    ),
    ("q1", "uphill", {"falling_direction": lambda W, k, v: v - W @ k}),
    ("q2", "sign of the determinant", {"block_determinant": lambda k, u: -(u @ k)}),
    (
        "q2",
        "lengths, not products",
        {"block_determinant": lambda k, u: np.linalg.norm(k) * np.linalg.norm(u)},
    ),
    (
        "q2",
        "+uᵀ in the corner",
        {"block_inverse": lambda k, u: inverse_by_solving(k, -u)},
    ),
    ("q2", "transposed", {"block_inverse": lambda k, u: inverse_by_solving(k, u).T}),
    (
        "q3",
        "its own interference counted",
        {"interference_on_others": lambda h, r: r @ r / h},
    ),
    (
        "q3",
        "norm, not its square",
        {"interference_on_others": lambda h, r: np.linalg.norm(r) * (1 / h - 1)},
    ),
    ("q3", "1/h = multiple", {"balanced_leverage": lambda multiple: 1 / multiple}),
    (
        "q3",
        "squared lengths",
        {"leverages": lambda K: (K**2).sum(0) / (K**2).sum() * len(K)},
    ),
    (
        "q4",
        "upside down",
        {"gradient_step_cost": lambda C, k: 1 / cost_by_eigenvalues(C, k)},
    ),
    (
        "q4",
        "the root",
        {"gradient_step_cost": lambda C, k: cost_by_eigenvalues(C, k) ** 0.5},
    ),
    ("q4", "the top eigenvector", {"worst_key": lambda C: np.linalg.eigh(C)[1][:, -1]}),
    (
        "q4",
        "weighted by the eigenvalues",
        {"worst_key": lambda C: C @ worst_by_difference(C)},
    ),
    ("q5", "angles as if C = I", {"cosine_squared": cosine_plain}),
    ("q5", "not squared", {"cosine_squared": cosine_root}),
    (
        "q5",
        "rounded to nearest",
        {"rounds_needed": lambda c, t: round(log(t) / log(c))},
    ),
    ("q5", "decades for rounds", {"rounds_needed": lambda c, t: ceil(-log10(t))}),
    ("q6", "C left alone", {"relaxed_sequence": sequence_deaf}),
    ("q6", "C takes up kkᵀ without ω", {"relaxed_sequence": sequence_weightless}),
    ("q6", "ω left out", {"relaxed_edit": relaxed_unweighted}),
    ("q7", "n/(n − D)", {"mean_inflation": lambda n, D: n / (n - D)}),
    (
        "q7",
        "one over the mean of ρ",
        {"mean_inflation": lambda n, D: (n + 1) / (n - D + 2)},
    ),
    (
        "q7",
        "rounded down",
        {"keys_needed": lambda t, D: int((t * D - 1) / (t - 1) - 1e-6)},
    ),
    ("q7", "one too many", {"keys_needed": lambda t, D: keys_by_search(t, D) + 1}),
    ("q8", "the pseudo-inverse", {"ridge_limit": limit_by_pinv}),
    ("q8", "not divided by uᵀk", {"ridge_limit": limit_unnormalised}),
    (
        "q8",
        "counted at the new key",
        {"pseudo_inverse_interference": interference_at_key},
    ),
    ("q8", "upside down", {"pseudo_inverse_interference": interference_all_C}),
]
PAGE = Page("editing", "editing_exercises", SECOND, WRONG)


class TestPage(EveryCheck):
    page = PAGE
