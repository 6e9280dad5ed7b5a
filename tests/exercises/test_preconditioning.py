"""Every check on preconditioning accepts two right answers, and rejects two plausible
wrong ones.
"""

import numpy as np
from exercise_pages import EveryCheck, Page


def columns_by_units(A, B):
    units = np.eye(A.shape[1] * B.shape[0])
    return np.array(
        [(A @ e.reshape(A.shape[1], -1, order="F") @ B).ravel(order="F") for e in units]
    ).T


def rows_by_units(A, B):
    units = np.eye(A.shape[1] * B.shape[0])
    return np.array([(A @ e.reshape(A.shape[1], -1) @ B).ravel() for e in units]).T


def reach_by_svd(W0, target, T, V):
    left, s, _ = np.linalg.svd(T)
    _, t, right = np.linalg.svd(V)
    left = left[:, : (s > 1e-9).sum()]
    right = right[: (t > 1e-9).sum()]
    return W0 + left @ left.T @ (target - W0) @ right.T @ right


def whitening_by_cholesky(mean, covariance, centre=True, power=-1):
    half = np.linalg.inv(np.linalg.cholesky(covariance)) if power else np.eye(len(mean))
    V = np.eye(len(mean) + 1)
    V[:-1, :-1] = half
    V[:-1, -1] = -half @ mean * centre
    return V


def heavy_on_W(T, gradients, rate, decay, metric=True):
    velocity = 0
    moved = 0
    for g in gradients:
        velocity = decay * velocity + (T @ T.T @ g if metric else g)
        moved = moved - rate * velocity
    return moved


def adam_by_division(T, g, rate):
    u = T.T @ g
    return T @ np.where(u == 0, 0, -rate * u / np.maximum(np.abs(u), 1e-30))


def penalty_by_vec(W, T, V):
    w = W.ravel(order="F")
    return w @ np.linalg.solve(np.kron(V.T @ V, T @ T.T), w)


def step_through_U(W, G, T, V, rate, decay):
    return W + T @ (-rate * T.T @ (G + decay * W) @ V.T) @ V


def root(A, power):
    values, vectors = np.linalg.eigh(A)
    return (vectors * values**power) @ vectors.T


def shampoo(left, right):
    return lambda L, R: (root(L, left), root(R, right))


SECOND = {
    "q1": {"column_matrix": columns_by_units, "row_matrix": rows_by_units},
    "q2": {
        "preconditioner_rank": lambda T, V: np.linalg.matrix_rank(
            np.kron(V.T @ V, T @ T.T)
        ),
        "nearest_reachable": reach_by_svd,
    },
    "q3": {"bias_whitening": whitening_by_cholesky},
    "q4": {"heavy_ball_on_U": heavy_on_W, "first_adam_step": adam_by_division},
    "q5": {"penalty_of_U": penalty_by_vec, "penalised_step": step_through_U},
    "q6": {"one_step_factors": lambda A, Sigma: (root(Sigma, 0.5), root(A, -0.5))},
    "q7": {
        "shampoo_factors": lambda L, R: (
            np.linalg.cholesky(root(L, -0.25)),
            np.linalg.cholesky(root(R, -0.25)).T,
        )
    },
    "q8": {
        "relative_excess": lambda a, g, s: (
            ((a + s) * (g + s) - a * g - s * s) / (a * g + s * s)
        ),
        "excess_matrix": lambda A, G, s: (
            np.kron(s * A, np.eye(len(G))) + np.kron(np.eye(len(A)), s * G)
        ),
    },
}
WRONG = [
    ("q1", "the factors swapped", {"column_matrix": lambda A, B: np.kron(A, B.T)}),
    ("q1", "columns for rows", {"row_matrix": lambda A, B: np.kron(B.T, A)}),
    ("q2", "ranks added", {"preconditioner_rank": lambda T, V: np.linalg.matrix_rank(T) + np.linalg.matrix_rank(V)}),
    ("q2", "the start forgotten", {"nearest_reachable": lambda W0, Y, T, V: reach_by_svd(0 * W0, Y, T, V)}),
    ("q3", "not centred", {"bias_whitening": lambda m, S: whitening_by_cholesky(m, S, centre=False)}),
    ("q3", "centred only", {"bias_whitening": lambda m, S: whitening_by_cholesky(m, S, power=0)}),
    ("q4", "no metric", {"heavy_ball_on_U": lambda *a: heavy_on_W(*a, metric=False)}),
    ("q4", "Adam on w", {"first_adam_step": lambda T, g, rate: -rate * np.sign(g)}),
    ("q5", "norm of W", {"penalty_of_U": lambda W, T, V: np.sum(W**2)}),
    ("q5", "decay in front", {"penalised_step": lambda W, G, T, V, r, d: (1 - r * d) * W - r * T @ T.T @ G @ V.T @ V}),
    ("q6", "noise whitened", {"one_step_factors": lambda A, S: (root(S, -0.5), root(A, -0.5))}),
    ("q6", "inputs only", {"one_step_factors": lambda A, S: (np.eye(len(S)), root(A, -0.5))}),
    ("q7", "quarter powers", {"shampoo_factors": shampoo(-1 / 4, -1 / 4)}),
    ("q7", "sides swapped", {"shampoo_factors": lambda L, R: (root(R, -1 / 8), root(L, -1 / 8))}),
    ("q8", "relative to A ⊗ G", {"relative_excess": lambda a, g, s: s * (a + g) / (a * g)}),
    ("q8", "factors swapped", {"excess_matrix": lambda A, G, s: SECOND["q8"]["excess_matrix"](G, A, s)}),
]  # fmt: skip
PAGE = Page("preconditioning", "preconditioning_exercises", SECOND, WRONG)


class TestPage(EveryCheck):
    page = PAGE
