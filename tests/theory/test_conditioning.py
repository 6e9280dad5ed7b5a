"""Effects of the preconditioner on conditioning, convergence, bias and noise; and the
step that equals ROME's edit.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from draws import normal
from refusals import refused
from scipy.linalg import solve_discrete_lyapunov
from scipy.optimize import minimize

from rankone.preconditioning import Reparameterized
from rankone.preconditioning.whitening import matrix_power
from rankone.theory.conditioning import (
    contraction,
    implicit_bias,
    nearest_kronecker,
    stationary_covariance,
    steps_to_tolerance,
    store_pair,
    whitened_spectrum,
)

pytestmark = pytest.mark.usefixtures("x64")


def definite(seed, size, condition=100.0):
    Q = np.linalg.qr(normal(seed, size, size))[0]
    return (Q * np.geomspace(1, condition, size)) @ Q.T


M = 3
N = 5


def test_condition_numbers_of_the_two_sides_multiply():
    A = definite(1, N)
    G = definite(2, M)
    T = normal(3, M, M)
    V = normal(4, N, N)
    J = np.kron(V.T, T)
    brute = np.linalg.eigvalsh(J.T @ np.kron(A, G) @ J)[::-1]
    np.testing.assert_allclose(whitened_spectrum(A, G, T, V), brute, rtol=1e-7)
    inner = np.linalg.cond(V @ A @ V.T)
    outer = np.linalg.cond(T.T @ G @ T)
    assert brute[0] / brute[-1] == pytest.approx(inner * outer, rel=1e-6)
    white = whitened_spectrum(A, G, matrix_power(G, -0.5), matrix_power(A, -0.5))
    np.testing.assert_allclose(white, 1, atol=1e-9)


@pytest.mark.parametrize("condition", [3.0, 40.0, 900.0])
def test_counted_steps_are_those_of_the_iteration(condition):
    values = np.geomspace(1, condition, 6)
    error = normal(1, 6)
    steps = steps_to_tolerance(values, error, tol=1e-4)
    e = error.copy()
    rate = 2 / (values[0] + values[-1])
    count = 0
    while np.linalg.norm(e) > 1e-4 * np.linalg.norm(error):
        e = e - rate * values * e
        count = count + 1
    assert steps == count
    with refused(ValueError, match="eigenvalues"):
        steps_to_tolerance([1.0, 0.0], [1.0, 1.0], tol=0.1)


@pytest.mark.parametrize("steps", [1, 2, 3, 5, 6, 7, 20])
def test_steps_that_halve_the_error_are_counted(steps):
    """Curvatures 1 and 3 at the rate 1/2: both factors are 1/2."""
    assert steps_to_tolerance([1.0, 3.0], [1.0, 0.5], tol=1.01 * 0.5**steps) == steps


def test_white_curvature_takes_one_step():
    assert steps_to_tolerance(np.ones(6), normal(1, 6), tol=1e-6) == 1


@pytest.mark.parametrize("rho", [0.1, 0.5, 0.9])
def test_a_step_with_curvature_known_within_rho_contracts_by_rho(rho):
    H0 = definite(1, 8)
    root = np.linalg.cholesky(H0)
    Q = np.linalg.qr(normal(2, 8, 8))[0]
    H = root @ (Q * (1 + rho * np.linspace(-1, 1, 8))) @ Q.T @ root.T
    assert contraction(H, H0) == pytest.approx(rho, rel=1e-9)

    def norm(e):
        return np.sqrt(e @ H0 @ e)

    step = np.eye(8) - np.linalg.solve(H0, H)
    ratios = [norm(step @ e) / norm(e) for e in normal(3, 200, 8)]
    assert max(ratios) <= rho + 1e-12
    worst = np.linalg.solve(root.T, Q[:, 0])
    # and the bound is attained
    assert norm(step @ worst) / norm(worst) == pytest.approx(rho, rel=1e-9)
    condition = np.linalg.cond(np.linalg.solve(root, np.linalg.solve(root, H).T))
    assert condition <= (1 + rho) / (1 - rho) * (1 + 1e-9)


def test_descent_on_U_ends_at_the_fit_of_least_norm_U():
    X = normal(1, 4, 6)
    Y = normal(2, 4, M)
    T = np.eye(M) + normal(3, M, M) / 4
    V = np.eye(6) + normal(4, 6, 6) / 4
    U = np.zeros((M, 6))
    curvature = np.linalg.norm(T.T @ T, 2) * np.linalg.norm(V @ X.T @ X @ V.T, 2)
    for _ in range(60_000):
        U -= T.T @ ((T @ U @ V) @ X.T - Y.T) @ X @ V.T / curvature
    W = T @ U @ V
    np.testing.assert_allclose(W @ X.T, Y.T, atol=1e-8)
    np.testing.assert_allclose(implicit_bias(X, Y, V), W, atol=1e-6)
    shortest = np.linalg.lstsq(X, Y, rcond=None)[0].T
    assert np.abs(W - shortest).max() > 0.05
    for other in (T, np.eye(M), normal(9, M, M)):  # the norm is smallest for every T

        def size(W, other=other):
            return np.linalg.norm(np.linalg.inv(other) @ W @ np.linalg.inv(V))

        null = np.eye(6) - np.linalg.pinv(X) @ X
        assert all(
            size(W) <= size(W + step @ null) for step in normal(5, 50, M, 6) / 10
        )


def test_noise_settles_where_the_lyapunov_equation_says():
    H = definite(1, 4)
    C = definite(2, 4, 10)
    rate = 0.3
    inverse = np.linalg.inv(H)
    S = stationary_covariance(H, C, inverse, rate)
    np.testing.assert_allclose(S, rate / (2 - rate) * inverse @ C @ inverse, atol=1e-12)
    # P is not symmetric, but descent converges
    P = definite(3, 4) + 10 * (normal(4, 4, 4) - normal(4, 4, 4).T)
    rate = 1e-5
    step = np.eye(4) - rate * P @ H
    expected = solve_discrete_lyapunov(step, rate**2 * P @ C @ P.T)
    np.testing.assert_allclose(
        stationary_covariance(H, C, P, rate), expected, rtol=1e-8
    )
    with refused(ValueError, match="learning_rate"):
        stationary_covariance(H, C, np.eye(4), 1.0)


def test_momentum_raises_the_floor_by_the_closed_form():
    H = definite(1, 4)
    C = definite(2, 4, 10)
    inverse = np.linalg.inv(H)
    for rate, beta in ((0.3, 0.5), (0.01, 0.9), (3.5, 0.9)):
        S = stationary_covariance(H, C, inverse, rate, momentum=beta)
        raised = rate * (1 + beta) / ((1 - beta) * (2 * (1 + beta) - rate))
        np.testing.assert_allclose(S, raised * inverse @ C @ inverse, rtol=1e-7)
    with refused(ValueError, match="learning_rate"):
        stationary_covariance(H, C, inverse, 3.9, momentum=0.9)  # beyond 2(1 + β)
    one = np.ones((1, 1))
    rng = np.random.default_rng(0)
    w = np.zeros(20_000)
    before = np.zeros(20_000)
    step_size = 0.2
    for _ in range(300):  # 20,000 random walks in one dimension
        w, before = (
            (1 + 0.9 - step_size) * w
            - 0.9 * before
            - step_size * rng.normal(size=w.size),
            w,
        )
    assert (
        abs(
            w.var()
            / float(stationary_covariance(one, one, one, step_size, momentum=0.9)[0, 0])
            - 1
        )
        < 0.05
    )


def test_nearest_kronecker_product_is_the_leading_singular_pair():
    A = definite(1, M)
    G = definite(2, N)
    B, A_found, error = nearest_kronecker(np.kron(G, A), (M, N))
    np.testing.assert_allclose(np.kron(B, A_found), np.kron(G, A), rtol=1e-9)
    assert error < 1e-6
    # for both signs of the largest entry, whatever the signs of the singular vectors
    for B in (
        np.diag([3.0, -1, 0, 0, 0]),
        np.diag([1.0, -3, 0, 0, 0]),
    ):
        for A in (np.eye(M), -np.eye(M), np.diag(1.0 + np.arange(M))):
            ours, theirs, _ = nearest_kronecker(np.kron(B, A), (M, N))
            np.testing.assert_allclose(np.kron(ours, theirs), np.kron(B, A), atol=1e-9)
            assert np.trace(ours) > 0
    rows = normal(3, 400, M * N) * np.tile([1, 2, 0.5], N)
    F = rows.T @ rows / 400 + 0.3 * np.kron(G, A) / 100
    B, A_found, error = nearest_kronecker(F, (M, N))
    assert np.linalg.norm(F - np.kron(B, A_found)) / np.linalg.norm(F) == pytest.approx(
        float(error), rel=1e-9
    )
    assert min(np.linalg.eigvalsh(B)[0], np.linalg.eigvalsh(A_found)[0]) > 0

    def distance(parts):
        return (
            np.linalg.norm(
                F - np.kron(parts[: N * N].reshape(N, N), parts[N * N :].reshape(M, M))
            )
            ** 2
        )

    best = min(
        minimize(distance, normal(seed, N * N + M * M), tol=1e-10).fun
        for seed in range(3)
    )
    assert np.sqrt(best) / np.linalg.norm(F) == pytest.approx(float(error), abs=1e-5)


# --- one step is an edit


def edit(seed=0):
    keys = normal(seed, 40, 6) * np.logspace(0, -1, 6)
    return (
        normal(seed + 1, M, 6),
        keys,
        keys.T @ keys / 40,
        normal(seed + 2, 6),
        normal(seed + 3, M),
    )


def test_one_step_on_U_stores_the_pair_and_disturbs_least():
    W, keys, C, k, v = edit()
    new = np.asarray(store_pair(W, C, k, v))
    np.testing.assert_allclose(new @ k, v, atol=1e-10)
    # the optimality system of min tr(D C Dᵀ) subject to D k = v − W k, solved as one
    # linear system
    system = np.block([[2 * C, k[:, None]], [k[None], np.zeros((1, 1))]])
    D = np.linalg.solve(system, np.vstack([np.zeros((6, M)), (v - W @ k)[None]]))[:6].T
    np.testing.assert_allclose(new - W, D, atol=1e-10)
    disturbed = np.sum(((new - W) @ keys.T) ** 2)
    for other in normal(9, 50, M, 6) / 10:
        detour = other - np.outer(other @ k, k) / (k @ k)
        assert np.sum(((new + detour - W) @ keys.T) ** 2) > disturbed


def test_the_step_is_plain_descent_by_autodiff():
    W, _, C, k, v = edit(7)
    layer = Reparameterized.from_weight(W, np.eye(M), matrix_power(C, -0.5))

    def loss(U):
        return 0.5 * jnp.sum((Reparameterized(layer.T, U, layer.V)(k) - v) ** 2)

    rate = 1 / (k @ np.linalg.solve(C, k))
    U = np.asarray(layer.U) - rate * np.asarray(jax.jit(jax.grad(loss))(layer.U))
    np.testing.assert_allclose(
        Reparameterized(layer.T, U, layer.V).W, store_pair(W, C, k, v), atol=1e-10
    )


def test_under_jit_store_pair_skips_checks_and_a_singular_moment_gives_nan():
    W, _, C, k, v = edit(7)
    stored = jax.jit(store_pair)
    np.testing.assert_allclose(stored(W, C, k, v), store_pair(W, C, k, v), atol=1e-10)
    assert np.isnan(stored(W, np.outer(k, k), k, v)).all()


def test_an_edit_needs_a_definite_moment_and_fitting_shapes():
    W, _, C, k, v = edit()
    with refused(ValueError, match="C: got"):
        store_pair(W, np.outer(k, k), k, v)
    with refused(ValueError, match=r"^W: got"):
        store_pair(W.T, C, k, v)
