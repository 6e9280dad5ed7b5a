"""Closed-form edits: identities first, then laws with their standard error, then
precision and bad input.
"""

from fractions import Fraction
from functools import partial
from itertools import combinations
from math import inf

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from half import needs_float16
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from scipy import stats
from scipy.optimize import minimize

import rankone as ro
from rankone.checks import Outcome, value_checks
from rankone.editing import (
    Edited,
    KeyGeometry,
    SecondMoments,
    cyclic_edit,
    interpolate_residuals,
    load_edit,
    pseudo_inverse_edit,
    ridge_limit_edit,
    sequential_edit,
)
from rankone.editing.closed_form import _rank_one
from rankone.editing.triangular import Triangular
from rankone.precision import accurate_difference, double_precision
from rankone.printed.one_write import mixed_key_edit
from rankone.theory import edit_cost, lagrangian


def approx(value, **options):
    # pytest.approx does not accept JAX arrays.
    return pytest.approx(float(value), **options)


@pytest.fixture
def x64():
    with double_precision():
        yield


def problem(D=12, H=5, n=40, m=1, seed=0, fitted=True):
    """K, V, W, k, v. W is the least-squares map of (K, V) if `fitted`, and random
    otherwise.
    """
    rng = np.random.default_rng(seed)
    K, V, W, k, v = (
        rng.normal(size=shape).astype(jnp.result_type(float))
        for shape in ((D, n), (H, n), (H, D), (D, m), (H, m))
    )
    W = np.linalg.lstsq(K.T, V.T)[0].T if fitted else W
    return (K, V, W, k[:, 0], v[:, 0]) if m == 1 else (K, V, W, k, v)


def host(tree):
    """A result with numpy arrays, for the computation of expected values."""
    return jax.tree.map(np.asarray, tree)


def applied(edit, W):
    return np.asarray(edit.apply(W))


def delta(edit):
    return np.asarray(edit.delta)


def conditioned(D, n, kappa, seed=0):
    """Keys (D, n) whose condition number is kappa, in float64."""
    rng = np.random.default_rng(seed)
    U, _ = np.linalg.qr(rng.normal(size=(D, D)))
    Q, _ = np.linalg.qr(rng.normal(size=(n, D)))
    return U @ np.diag(np.geomspace(1, 1 / kappa, D)) @ Q.T


# The appendix, equation by equation


def test_least_squares_satisfies_the_normal_equations_R_eq5_R_eq6(x64):
    K, V, W, _, _ = problem()
    assert np.abs(W @ K @ K.T - V @ K.T).max() < 1e-10 * np.linalg.norm(V @ K.T)
    few = K[:, :7]  # with rank below D there is a space of minimisers
    shortest = host(lagrangian.least_squares(few, V[:, :7]))
    other = shortest + np.ones((5, 12)) @ (np.eye(12) - few @ np.linalg.pinv(few))
    assert lagrangian.objective(other, few, V[:, :7]) < 1e-20
    assert np.abs(other - shortest).max() > 0.1


def test_the_edit_answers_its_key_R_eq7_R_eq16(x64):
    K, _, W, k, v = problem()
    edit = host(ro.rank_one_edit(W, K @ K.T, k, v))
    assert np.abs(applied(edit, W) @ k - v).max() < 1e-13
    assert np.abs(W @ k + edit.left * (edit.right @ k) - v).max() < 1e-13


def test_the_lagrangian_has_no_minimum_over_its_multiplier_R_txt8_R_eq8(x64):
    K, V, W, k, v = problem()
    along = W @ k - v
    values = [lagrangian.lagrangian(W, t * along, K, V, k, v) for t in (1.0, 10.0, 1e3)]
    assert values[0] > values[1] > values[2]
    assert values[2] < -1e3  # affine in the multiplier, so unbounded below
    edit = host(ro.rank_one_edit(W, K @ K.T, k, v))
    best = lagrangian.dual(edit.left, K, V, k, v)
    primal = lagrangian.objective(applied(edit, W), K, V)
    assert best == approx(primal, rel=1e-12)  # no duality gap: Λ maximises
    assert best > max(
        lagrangian.dual(edit.left + 0.1 * d, K, V, k, v) for d in np.eye(5)
    )
    # the dual function is the minimum of L over Ŵ
    L = lagrangian.lagrangian
    multiplier = np.arange(5.0)
    slope = jax.jit(jax.grad(L))
    minimum = minimize(
        lambda w: float(L(w.reshape(5, 12), multiplier, K, V, k, v)),
        np.zeros(60),
        jac=lambda w: np.asarray(
            slope(w.reshape(5, 12), multiplier, K, V, k, v)
        ).ravel(),
        tol=1e-12,
    )
    assert minimum.fun == approx(
        float(lagrangian.dual(multiplier, K, V, k, v)), rel=1e-8
    )


def test_the_expansion_needs_its_trace_R_eq9(x64):
    K, V, W, k, v = problem(fitted=False)
    multiplier = np.arange(5.0)
    value, square = host(lagrangian.lagrangian_by_trace(W, multiplier, K, V, k, v))
    assert value == approx(lagrangian.lagrangian(W, multiplier, K, V, k, v), rel=1e-12)
    assert square.shape == (5, 5)
    assert np.abs(square - square.T).max() > 1


def test_stationarity_is_the_gradient_and_vanishes_at_the_edit_R_eq10_R_eq11_R_eq12(
    x64,
):
    K, V, W, k, v = problem()
    C = K @ K.T
    anywhere = W + 1.0
    autodiff = jax.jit(jax.grad(lagrangian.lagrangian))(
        anywhere, np.arange(5.0), K, V, k, v
    )
    stationarity = host(lagrangian.stationarity(anywhere, np.arange(5.0), K, V, k))
    assert np.abs(autodiff - stationarity).max() < 1e-11
    edit = host(ro.rank_one_edit(W, C, k, v))
    W_hat = applied(edit, W)
    assert np.abs(lagrangian.stationarity(W_hat, edit.left, K, V, k)).max() < 1e-11
    assert np.abs((W_hat - W) @ C - np.outer(edit.left, k)).max() < 1e-11


def test_the_change_has_rank_one_and_the_printed_factors_R_eq13_R_eq17(x64):
    K, _, W, k, v = problem()
    C = K @ K.T
    edit = host(ro.rank_one_edit(W, C, k, v))
    assert np.linalg.matrix_rank(applied(edit, W) - W, rtol=1e-10) == 1
    u = np.linalg.solve(C, k)
    np.testing.assert_allclose(edit.right, u, rtol=1e-10)
    np.testing.assert_allclose(edit.left, (v - W @ k) / (u @ k), rtol=1e-10)


def test_the_block_system_has_determinant_s_and_one_solution_R_eq14_R_eq15(x64):
    K, _, W, k, v = problem()
    edit = host(ro.rank_one_edit(W, K @ K.T, k, v))
    s = edit.right @ k
    assert np.linalg.det(lagrangian.block_matrix(k, edit.right)) == approx(s, rel=1e-12)
    W_hat, multiplier = host(lagrangian.solve_block(W, k, v, edit.right))
    np.testing.assert_allclose(W_hat, applied(edit, W), atol=1e-12)
    np.testing.assert_allclose(multiplier, edit.left, atol=1e-12)
    # Ŵ I − Λuᵀ = W
    assert np.abs(W_hat - edit.left[:, None] * edit.right - W).max() < 1e-12
    conditions = [
        float(np.linalg.cond(lagrangian.block_matrix(k, edit.right / c)))
        for c in (1, 1e3, 1e6)
    ]
    # The block matrix is ill-conditioned for unscaled C; the closed form does not
    # depend on the scale.
    assert conditions[0] < conditions[1] / 100 < conditions[2] / 1e4


def test_brute_force_over_all_conditions_gives_the_closed_form_R_eq17(x64):
    K, V, W, k, v = problem()
    W_hat, multiplier = lagrangian.solve_kkt(K, V, k, v)
    edit = host(ro.rank_one_edit(W, K @ K.T, k, v))
    np.testing.assert_allclose(W_hat, applied(edit, W), atol=1e-11)
    np.testing.assert_allclose(multiplier, edit.left, atol=1e-11)


def test_no_feasible_neighbour_is_better_R_2nd_order(x64):
    K, V, W, k, v = problem()
    W_hat = applied(ro.rank_one_edit(W, K @ K.T, k, v), W)
    away = np.random.default_rng(9).normal(size=(500, 5, 12))
    away = away - (away @ k)[..., None] * k / (k @ k)  # Ŵk stays the same
    objective = jax.jit(jax.vmap(lambda W: lagrangian.objective(W, K, V)))
    excess = np.asarray(objective(W_hat + away)) - float(
        lagrangian.objective(W_hat, K, V)
    )
    assert excess.min() > 0
    # the excess is exactly the quadratic form of the Hessian
    np.testing.assert_allclose(
        excess, 0.5 * np.sum((away @ K) ** 2, axis=(1, 2)), rtol=1e-9
    )


def test_only_beside_a_ridge_does_the_scale_of_C_change_the_edit_R_scale(x64):
    K, _, W, k, v = problem()
    one, other = (ro.rank_one_edit(W, c * K @ K.T, k, v) for c in (1, 1e6))
    np.testing.assert_allclose(delta(other), delta(one), atol=1e-12)
    np.testing.assert_allclose(other.left, 1e6 * np.asarray(one.left), rtol=1e-10)
    one, other = (ro.rank_one_edit(W, c * K @ K.T, k, v, ridge=1.0) for c in (1, 1e6))
    assert np.abs(delta(other) - delta(one)).max() > 1e-3


def test_the_multiplier_is_the_gradient_of_the_least_objective_in_v_R_title(x64):
    K, V, W, k, v = problem()
    C = K @ K.T

    def best(v):
        return lagrangian.objective(ro.rank_one_edit(W, C, k, v).apply(W), K, V)

    np.testing.assert_allclose(
        jax.jit(jax.grad(best))(v), ro.rank_one_edit(W, C, k, v).left, rtol=1e-10
    )


# Interference


@pytest.mark.parametrize("fitted", [True, False])
def test_interference_is_the_squared_residual_over_s_R_S1(x64, fitted):
    K, V, W, k, v = problem(fitted=fitted)
    edit = host(ro.rank_one_edit(W, K @ K.T, k, v))
    r = v - W @ k
    s = edit.right @ k
    moved = (applied(edit, W) - W) @ K
    assert np.sum(moved**2) == approx(r @ r / s, rel=1e-12)
    assert edit.interference == approx(r @ r / s, rel=1e-12)
    each = np.linalg.norm(r) * np.abs(edit.right @ K) / s
    np.testing.assert_allclose(np.linalg.norm(moved, axis=0), each, rtol=1e-10)
    pythagoras = (
        np.sum((applied(edit, W) @ K - V) ** 2)
        - np.sum((W @ K - V) ** 2)
        - edit.interference
    )
    assert (abs(float(pythagoras)) < 1e-10) == fitted


def test_the_edit_has_the_least_interference_and_a_known_excess_over_the_fit_R_S1(
    x64,
):
    K, V, W, k, v = problem(fitted=False)
    C = K @ K.T
    fit = host(lagrangian.least_squares(K, V))
    edit = host(ro.rank_one_edit(W, C, k, v))
    best = ro.rank_one_edit(fit, C, k, v)
    others = np.random.default_rng(1).normal(size=(200, 12))
    # any rank-one change r dᵀ with dᵀk = 1 is feasible
    directions = others / (others @ k)[:, None]
    costs = np.sum((v - W @ k) ** 2) * np.sum((directions @ K) ** 2, axis=1)
    assert costs.min() > edit.interference
    projector = np.eye(12) - np.outer(k, edit.right) / (edit.right @ k)
    excess = np.sum(((W - fit) @ projector @ K) ** 2)
    got = np.sum((applied(edit, W) @ K - V) ** 2) - np.sum(
        (applied(best, fit) @ K - V) ** 2
    )
    assert got == approx(excess, rel=1e-11)


def test_leverage_splits_the_interference_of_a_stored_key(x64):
    K, _, W, _, v = problem(fitted=False)
    C = K @ K.T
    h = host(edit_cost.leverage(K))
    assert float(h.sum()) == approx(12, rel=1e-12)
    edit = ro.rank_one_edit(W, C, K[:, 3], v)
    r = v - W @ K[:, 3]
    assert edit.interference == approx(r @ r / h[3], rel=1e-11)
    others = np.sum((delta(edit) @ np.delete(K, 3, axis=1)) ** 2)
    assert others == approx(r @ r * (1 / h[3] - 1), rel=1e-11)


def test_with_few_keys_the_ridge_limit_has_no_interference_but_the_pseudo_inverse_does(
    x64,
):
    K, _, W, k, v = problem(n=8, fitted=False)
    right = ridge_limit_edit(W, K, k, v)
    wrong = pseudo_inverse_edit(W, K, k, v)
    for edit in (right, wrong):
        assert np.abs(applied(edit, W) @ k - v).max() < 1e-12
        assert edit.interference == approx(np.sum((delta(edit) @ K) ** 2), abs=1e-12)
    assert right.interference < 1e-24
    assert wrong.interference > 1
    gaps = [
        np.abs(ro.rank_one_edit(W, K @ K.T, k, v, ridge=x).delta - delta(right)).max()
        for x in (1e-2, 1e-4, 1e-6)
    ]
    # the distance from the limit is proportional to the ridge
    assert gaps[0] / gaps[1] == approx(100, rel=0.1)
    assert gaps[1] / gaps[2] == approx(100, rel=0.1)
    outside = k - K @ np.linalg.lstsq(K, k)[0]
    little = K[:, 0] / np.linalg.norm(K[:, 0]) + 1e-3 * outside / np.linalg.norm(
        outside
    )
    # a key with a thousandth of its length outside the span is enough
    assert ridge_limit_edit(W, K, little, v).interference < 1e-14
    with refused(ValueError, match="orthogonal to all keys"):
        pseudo_inverse_edit(W, K, outside, v)


def test_on_new_keys_a_finite_ridge_is_best_and_the_ridge_limit_is_worst():
    """With 49 keys in 50 dimensions, the ridge limit has no interference on the
    sample.
    """
    sizes = np.arange(1, 51) ** -0.5
    sample, new = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        K = sizes[:, None] * rng.normal(size=(50, 49))
        k = sizes * rng.normal(size=50)
        C = K @ K.T / 49
        ridge = 0.01 * np.trace(C) / 50 * np.eye(50)
        directions = np.array(
            [
                k - K @ np.linalg.pinv(K) @ k,
                np.linalg.pinv(C, rcond=1e-10) @ k,
                np.linalg.solve(C + ridge, k),
            ]
        )
        scale = (directions @ k) ** 2
        sample.append(np.sum((directions @ K) ** 2, axis=1) / scale)
        new.append(np.sum((directions * sizes) ** 2, axis=1) / scale)
    limit, pinv, finite = np.median(sample, axis=0)
    assert limit < 1e-12 < pinv < finite
    limit, pinv, finite = np.median(new, axis=0)
    assert limit > 2 * pinv > 4 * finite


def test_inside_the_span_the_ridge_limit_is_the_pseudo_inverse(x64):
    K, _, W, _, v = problem(n=8, fitted=False)
    k = K @ np.arange(1.0, 9)
    edit = ridge_limit_edit(W, K, k, v)
    np.testing.assert_allclose(
        delta(edit), pseudo_inverse_edit(W, K, k, v).delta, atol=1e-12
    )
    # Two differences, relative to ‖delta‖. The ridge causes 1.5e-7, the ridge over the
    # least eigenvalue 0.66 of KKᵀ. Rounding causes about 6e-8, ε times the condition
    # number 29/ridge of KKᵀ with the ridge.
    small = ro.rank_one_edit(W, K @ K.T, k, v, ridge=1e-7).delta
    np.testing.assert_allclose(delta(edit), small, atol=1e-6 * np.abs(small).max())
    r = v - W @ k
    assert edit.interference == approx(
        r @ r / (k @ np.linalg.pinv(K @ K.T) @ k), rel=1e-9
    )


# Many pairs


def test_a_batch_meets_all_its_pairs_at_the_least_interference(x64):
    K, V, W, Ks, Vs = problem(m=4)
    C = K @ K.T
    edit = host(ro.batch_edit(W, C, Ks, Vs))
    assert edit.left.shape == (5, 4)
    assert edit.right.shape == (12, 4)
    R = Vs - W @ Ks
    S = Ks.T @ np.linalg.solve(C, Ks)
    assert np.abs(applied(edit, W) @ Ks - Vs).max() < 1e-13
    # the multiplier is a matrix
    np.testing.assert_allclose(edit.left, R @ np.linalg.inv(S), atol=1e-11)
    for cost in (np.trace(R @ np.linalg.solve(S, R.T)), np.sum((delta(edit) @ K) ** 2)):
        assert edit.interference == approx(cost, rel=1e-11)
    # Changes that leave the answers to all four pairs as they are.
    free = np.eye(12) - Ks @ np.linalg.pinv(Ks)
    assert np.abs((applied(edit, W) @ K - V) @ K.T @ free).max() < 1e-11


def test_a_batch_of_one_is_the_rank_one_edit(x64):
    K, _, W, k, v = problem()
    one = ro.rank_one_edit(W, K @ K.T, k, v)
    batch = ro.batch_edit(W, K @ K.T, k[:, None], v[:, None])
    np.testing.assert_allclose(delta(batch), delta(one), atol=1e-13)
    assert batch.interference == approx(one.interference, rel=1e-12)


@pytest.mark.parametrize("omega", [0.3, 1.0, 50.0])
def test_a_relaxed_batch_is_memits_ridge_regression(x64, omega):
    K, _, W, Ks, Vs = problem(m=4)
    C = K @ K.T
    R = Vs - W @ Ks
    edit = ro.batch_edit(W, C, Ks, Vs, omega=omega)
    direct = omega * R @ Ks.T @ np.linalg.inv(C + omega * Ks @ Ks.T)
    np.testing.assert_allclose(delta(edit), direct, atol=1e-12)
    S = Ks.T @ np.linalg.solve(C, Ks)
    np.testing.assert_allclose(
        Vs - applied(edit, W) @ Ks, R @ np.linalg.inv(np.eye(4) + omega * S), atol=1e-12
    )
    assert edit.interference == approx(np.sum((delta(edit) @ K) ** 2), rel=1e-11)
    k = Ks[:, :1]
    v = Vs[:, :1]
    s = S[0, 0]
    single = ro.rank_one_edit(W, C, k[:, 0], v[:, 0])
    relaxed = ro.batch_edit(W, C, k, v, omega=omega)
    np.testing.assert_allclose(
        delta(relaxed), delta(single) * s / (1 / omega + s), atol=1e-13
    )


def test_a_relaxed_batch_takes_repeated_keys(x64):
    K, _, W, k, v = problem()
    twice = ro.batch_edit(
        W, K @ K.T, np.stack([k, k], 1), np.stack([v, v], 1), omega=3.0
    )
    once = ro.batch_edit(W, K @ K.T, k[:, None], v[:, None], omega=6.0)
    np.testing.assert_allclose(twice.delta, once.delta, atol=1e-12)
    # and a pair with a zero key
    beside = ro.batch_edit(
        W, K @ K.T, np.stack([k, 0 * k], 1), np.stack([v, v], 1), omega=6.0
    )
    np.testing.assert_allclose(beside.delta, once.delta, atol=1e-12)
    with refused(ValueError, match="that rounding does not hide"):
        ro.batch_edit(
            W, np.eye(len(k)), np.stack([k, k], 1), np.stack([v, v], 1), omega=1e16
        )


def test_batch_edits_are_kernel_interpolation_and_ridge_regression_of_residuals_R_S6(
    x64,
):
    K, _, W, Ks, Vs = problem(m=4)
    C = K @ K.T
    q = np.random.default_rng(5).normal(size=(12, 3))
    for omega in (inf, 1.0):
        edit = ro.batch_edit(W, C, Ks, Vs, omega=omega)
        kernel_memory = interpolate_residuals(W, C, Ks, Vs, q, omega=omega)
        np.testing.assert_allclose(kernel_memory, applied(edit, W) @ q, atol=1e-12)
        np.testing.assert_allclose(
            W @ q + np.asarray(edit.at(q)), applied(edit, W) @ q, atol=1e-12
        )


def test_with_identity_C_the_edit_is_one_gradient_step_R_S6(x64):
    _, _, W, k, v = problem()
    gradient = np.asarray(
        jax.jit(jax.grad(lambda W: 0.5 * jnp.sum((v - W @ k) ** 2)))(W)
    )
    edit = ro.rank_one_edit(W, np.eye(12), k, v)
    np.testing.assert_allclose(applied(edit, W), W - gradient / (k @ k), atol=1e-14)


def loop(W, C, K, V, beta=0.0, omega=inf):
    """The sequence by definition: a fresh solve with the present C for every pair."""
    residuals = [np.linalg.norm(V - W @ K, axis=0)]
    for k, v in zip(K.T, V.T, strict=True):
        s = k @ np.linalg.solve(C, k)
        W = W + np.outer((v - W @ k) / (s + 1 / omega), np.linalg.solve(C, k))
        C = C + beta * np.outer(k, k)
        residuals.append(np.linalg.norm(V - W @ K, axis=0))
    return W, np.stack(residuals)


@pytest.mark.parametrize(
    ("beta", "omega"), [(0.0, inf), (1.0, inf), (0.0, 2.0), (3.0, 0.5)]
)
def test_a_sequence_is_the_loop_of_single_edits(x64, beta, omega):
    K, _, W, Ks, Vs = problem(m=6)
    sequence = sequential_edit(W, K @ K.T, Ks, Vs, beta=beta, omega=omega)
    expected, residuals = loop(W, K @ K.T, Ks, Vs, beta, omega)
    np.testing.assert_allclose(applied(sequence.edit, W), expected, atol=1e-11)
    np.testing.assert_allclose(sequence.residuals, residuals, atol=1e-11)
    assert sequence.edit.interference == approx(
        np.sum(((expected - W) @ K) ** 2), rel=1e-10
    )


def test_a_protected_sequence_refuses_more_keys_than_dimensions_and_dependent_ones(x64):
    K, _, W, Ks, Vs = problem(m=6)
    C = K @ K.T
    repeated = Ks[:, [0, 1, 2, 3, 4, 0]]
    more = np.concatenate([Ks, K[:, : len(K) - 5]], axis=1)
    values = np.concatenate([Vs, W @ K[:, : len(K) - 5]], axis=1)
    assert more.shape[1] == len(K) + 1
    for keys, targets in ((repeated, Vs), (more, values)):
        with refused(ValueError, match="dependent up to rounding"):
            sequential_edit(W, C, keys, targets, beta=inf)
        assert np.isfinite(
            sequential_edit(W, C, keys, targets, beta=1.0).residuals
        ).all()


def test_the_second_edit_changes_the_first_answer_by_the_computed_amount(x64):
    K, _, W, Ks, Vs = problem(m=2)
    C = K @ K.T
    S = Ks.T @ np.linalg.solve(C, Ks)
    losses = []
    for beta in (0.0, 1.0, 10.0, 1e3, 1e6):
        sequence = sequential_edit(W, C, Ks, Vs, beta=beta)
        losses.append(sequence.residuals[2, 0])
        assert losses[-1] == approx(
            edit_cost.forgetting(S, sequence.residuals[1, 1], beta), rel=1e-6
        )
    assert all(np.diff(losses) < 0)


def test_a_sequence_is_the_batch_if_old_keys_are_protected_or_new_ones_made_orthogonal(
    x64,
):
    K, _, W, Ks, Vs = problem(m=2)
    C = K @ K.T
    batch = ro.batch_edit(W, C, Ks, Vs)
    np.testing.assert_allclose(
        delta(sequential_edit(W, C, Ks, Vs, beta=inf).edit), delta(batch), atol=1e-13
    )
    assert np.abs(delta(sequential_edit(W, C, Ks, Vs).edit) - delta(batch)).max() > 0.01
    A = np.linalg.solve(C, Ks)
    S = Ks.T @ A
    first = applied(ro.rank_one_edit(W, C, Ks[:, 0], Vs[:, 0]), W)
    u = A[:, 1] - A[:, 0] * S[0, 1] / S[0, 0]
    second = first + np.outer((Vs[:, 1] - first @ Ks[:, 1]) / (u @ Ks[:, 1]), u)
    np.testing.assert_allclose(second, applied(batch, W), atol=1e-13)


def test_the_order_of_edits_matters_unless_their_keys_are_added_to_C(x64):
    K, _, W, Ks, Vs = problem(m=3)
    C = K @ K.T
    back = [2, 1, 0]
    for beta, same in ((0.0, False), (inf, True)):
        one = delta(sequential_edit(W, C, Ks, Vs, beta=beta).edit)
        other = delta(sequential_edit(W, C, Ks[:, back], Vs[:, back], beta=beta).edit)
        assert (np.abs(one - other).max() < 1e-12) == same


def test_sequential_memit_that_updates_C_is_batch_memit(x64):
    K, _, W, Ks, Vs = problem(m=6)
    C = K @ K.T
    batch = delta(ro.batch_edit(W, C, Ks, Vs, omega=1.0))
    np.testing.assert_allclose(
        delta(sequential_edit(W, C, Ks, Vs, beta=1.0, omega=1.0).edit),
        batch,
        atol=1e-13,
    )
    assert (
        np.abs(delta(sequential_edit(W, C, Ks, Vs, omega=1.0).edit) - batch).max()
        > 1e-3
    )


def test_an_edit_projects_the_weights_orthogonally_in_the_geometry_of_C(x64):
    K, _, W, k, v = problem()
    C = K @ K.T
    rng = np.random.default_rng(6)
    moved = delta(ro.rank_one_edit(W, C, k, v))
    aside = rng.normal(size=W.shape)
    aside -= np.outer(aside @ k, k) / (k @ k)  # W + moved + aside answers k as well

    def product(a, M, b):
        return np.trace(a @ M @ b.T)

    def cosine(M):
        return product(moved, M, aside) / np.sqrt(
            product(moved, M, moved) * product(aside, M, aside)
        )

    assert abs(cosine(C)) < 1e-12
    assert abs(cosine(np.linalg.inv(C))) > 0.01 < abs(cosine(np.eye(len(C))))


def test_cyclic_edits_converge_to_the_batch_by_the_squared_cosine_per_cycle(x64):
    K, _, W, Ks, Vs = problem(m=2)
    C = K @ K.T
    cycles = host(cyclic_edit(W, C, Ks, Vs, cycles=6))
    S = Ks.T @ np.linalg.solve(C, Ks)
    cosine_squared = float(S[0, 1] ** 2 / (S[0, 0] * S[1, 1]))
    np.testing.assert_allclose(
        cycles.errors[2:] / cycles.errors[1:-1], cosine_squared, rtol=1e-6
    )
    batch = ro.batch_edit(W, C, Ks, Vs)
    for count in (1, 3):
        short = cyclic_edit(W, C, Ks, Vs, cycles=count)
        distance = np.linalg.norm((delta(short.edit) - delta(batch)) @ K)
        assert short.errors[-1] == approx(distance, rel=1e-9)


# Laws


def test_an_error_of_direction_costs_to_second_order_R_S2(x64):
    K, _, _, k, _ = problem()
    C = K @ K.T
    u = np.linalg.solve(C, k)
    s = u @ k
    error = np.random.default_rng(2).normal(size=12) / 100
    error = error - (error @ k) / (k @ k) * k  # uᵀk stays the same
    assert edit_cost.inflation(C, u + error, k) == approx(
        1 + error @ C @ error / s, rel=1e-12
    )
    assert edit_cost.inflation(C, 7 * (u + error), k) == approx(
        edit_cost.inflation(C, u + error, k), rel=1e-12
    )


def test_kantorovich_bounds_every_surrogate_and_is_reached_R_S2(x64):
    worst = edit_cost.inflation(np.diag([1.0, 100.0]), np.ones(2), np.ones(2))
    assert worst == approx(25.5025, rel=1e-12)
    assert worst == approx(edit_cost.kantorovich(100.0), rel=1e-12)
    K = conditioned(6, 30, 10)
    C = K @ K.T
    rng = np.random.default_rng(1)
    inflations = [
        float(edit_cost.inflation(C, k, k)) for k in rng.normal(size=(300, 6))
    ]
    assert (
        0.1 * edit_cost.kantorovich(100.0)
        < max(inflations)
        <= edit_cost.kantorovich(np.linalg.cond(C))
    )


@pytest.mark.parametrize("n", [30, 40, 80, 200])
def test_the_efficiency_of_an_estimated_C_follows_its_beta_law_R_S3(
    x64, n, D=20, draws=4000
):
    rng = np.random.default_rng(n)
    A = rng.normal(size=(D, D))
    k = rng.normal(size=D)
    C = A @ A.T
    samples = rng.normal(size=(draws, n, D)) @ A.T
    u = np.linalg.solve(
        np.einsum("bni,bnj->bij", samples, samples),
        np.broadcast_to(k[:, None], (draws, D, 1)),
    )[..., 0]
    rho = (u @ k) ** 2 / (
        np.einsum("bi,ij,bj->b", u, C, u) * (k @ np.linalg.solve(C, k))
    )
    law = stats.beta(*edit_cost.efficiency_law(n, D))
    assert stats.kstest(rho, law.cdf).pvalue > 1e-3
    assert abs(rho.mean() - law.mean()) < 4 * law.std() / draws**0.5
    assert law.mean() == approx((n - D + 2) / (n + 1))
    assert edit_cost.mean_inflation(n, D) == approx(
        law.expect(lambda x: 1 / x), rel=1e-6
    )
    assert (
        abs((1 / rho).mean() / edit_cost.mean_inflation(n, D) - 1)
        < 4 * (1 / rho).std() / draws**0.5
    )
    assert edit_cost.efficiency(C, samples[0].T @ samples[0], k) == approx(
        rho[0], rel=1e-9
    )


def test_sample_sizes_for_a_given_inflation_R_S3():
    assert edit_cost.sample_size(2, 20) == 39
    assert edit_cost.sample_size(1.5, 1) == 2  # for n = D = 1 the mean is infinite
    for D in (5, 20, 100):
        n = edit_cost.sample_size(1.1, D)
        assert n == 11 * D - 10
        assert (
            edit_cost.mean_inflation(n, D)
            <= 1.1 + 1e-12
            < edit_cost.mean_inflation(n - 1, D)
        )
    for D in range(2, 60):
        # the least n with (n − 1)·10 ≤ tenths·(n − D), in whole numbers
        for tenths in range(11, 40):
            least = next(
                n for n in range(D + 1, 100 * D) if (n - 1) * 10 <= tenths * (n - D)
            )
            assert edit_cost.sample_size(tenths / 10, D) == least
    with refused(ValueError, match="n: got 20"):
        edit_cost.mean_inflation(20, 20)
    with refused(ValueError, match="target"):
        edit_cost.sample_size(1.0, 20)


@pytest.mark.parametrize("m", [1, 10, 25])
def test_mean_interference_per_edit_follows_the_capacity_law_R_S4(
    x64, m, D=40, draws=1500
):
    rng = np.random.default_rng(m)
    keys = rng.normal(size=(draws, D, m))
    S = np.swapaxes(keys, 1, 2) @ keys  # C = I: n = 1
    residuals = rng.normal(size=(draws, m))
    cost = (
        np.einsum(
            "bi,bi->b", residuals, np.linalg.solve(S, residuals[..., None])[..., 0]
        )
        / m
    )
    assert abs(cost.mean() - edit_cost.capacity(1, D, m)) < 4 * cost.std() / draws**0.5
    with refused(ValueError, match="m: got"):
        edit_cost.capacity(1, D, D - 1)


def test_the_capacity_formula_agrees_with_two_cases_by_hand_R_S4():
    """One key has E 1/χ²_D = 1/(D − 2). With m = D − 2 keys at once, D − m − 1 is
    one.
    """
    assert edit_cost.capacity(12, 5, 1) == 12 / 3
    assert edit_cost.capacity(12, 5, 3) == 12


def test_mean_batch_inflation_follows_from_the_eigenvalues_of_its_kind_of_keys_R_S7(
    N=7, D=9
):
    """The mean over batches of a size, weighted by their determinants, by brute force,
    for keys with a common component.
    """
    K = np.random.default_rng(0).normal(size=(D, N)) * np.geomspace(1, 9, N) + 0.7
    S = K.T @ K
    law = edit_cost.batch_inflation(S)
    R = S / np.sqrt(np.outer(np.diag(S), np.diag(S)))
    for m in range(1, N + 1):
        batches = [R[np.ix_(batch, batch)] for batch in combinations(range(N), m)]
        weight = np.array([np.linalg.det(one) for one in batches])
        price = np.array([np.trace(np.linalg.inv(one)) / m for one in batches])
        assert law[m - 1] == approx((weight * price).sum() / weight.sum(), rel=1e-9)
    assert law[0] == approx(1, rel=1e-12)
    assert (np.diff(law) > 0).all()
    np.testing.assert_allclose(
        edit_cost.batch_inflation(np.diag([1.0, 4.0, 9.0])), 1, rtol=1e-12
    )
    twins = np.ones((2, 2))
    # the keys span two directions
    assert edit_cost.batch_inflation(np.kron(np.eye(2), twins))[2:].tolist() == [
        inf,
        inf,
    ]
    for wrong in (np.ones((2, 3)), np.diag([1.0, 0.0])):
        with refused(ValueError, match="S: got"):
            edit_cost.batch_inflation(wrong)


def test_for_many_gaussian_keys_batch_inflation_approximates_the_capacity_law_R_S7(
    D=12, N=600
):
    K = np.random.default_rng(1).normal(size=(D, N))
    law = edit_cost.batch_inflation(K.T @ K)
    # batches that are nearly dependent have small weights: D/(D − m + 1)
    for m in (
        2,
        6,
        10,
    ):
        assert law[m - 1] == approx(D / (D - m + 1), rel=0.05)


def test_residuals_of_sequential_edits_follow_the_forgetting_law_R_S5(
    x64, D=100, T=200, H=60
):
    ages = np.array([1, 50, 100, 150, 195])
    runs = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        K = rng.normal(size=(D, T))
        V = rng.normal(size=(H, T))
        sequence = sequential_edit(np.zeros((H, D)), np.eye(D), K, V)
        runs.append(np.asarray(sequence.residuals)[-1][ages - 1] ** 2 / H)
    mean = np.mean(runs, axis=0)
    error = np.std(runs, axis=0) / len(runs) ** 0.5
    law = np.asarray(edit_cost.sequential_residual(ages, T, D))
    assert (np.abs(mean - law) < 4 * error + 3 / D).all()
    # After 2D edits the residual is larger than for a fact that was never written.
    assert law[0] > 1.5


def test_the_forgetting_law_is_right_after_one_and_very_many_later_edits_R_S5(
    x64, D=1000
):
    """After a second edit the residual of the first pair is c²r₁ − cr₂, and E c² = 1/D,
    E c⁴ = 3/D(D + 2) for isotropic keys. After very many edits the answer at the key is
    that of an independent memory, at the squared distance of two independent targets:
    2.
    """
    assert (
        abs(edit_cost.sequential_residual(1, 2, D) - (1 / D + 3 / (D * (D + 2))))
        < 2 / D**2
    )
    np.testing.assert_allclose(
        edit_cost.sequential_residual(1, 50 * D, D), 2, rtol=1e-12
    )
    assert edit_cost.sequential_residual(7, 7, D) == 0  # the last is written


@pytest.mark.parametrize("beta", [0.0, 0.3, 20.0])
def test_residuals_after_a_sequence_are_a_mixture_of_the_initial_residuals_R_S9(
    x64, beta, D=12, m=7, H=5
):
    rng = np.random.default_rng(2)
    K = rng.normal(size=(D, m)) + 0.7
    W = rng.normal(size=(H, D))
    V = rng.normal(size=(H, m))
    A = rng.normal(size=(D, 3 * D))
    C = A @ A.T
    sequence = sequential_edit(W, C, K, V, beta=beta)
    M = edit_cost.sequence_mixture(K.T @ np.linalg.solve(C, K), beta)
    np.testing.assert_allclose(
        (V - W @ K) @ M, V - (W + np.asarray(sequence.edit.delta)) @ K, atol=1e-9
    )
    np.testing.assert_allclose(M[:, -1], 0, atol=1e-9)  # the last is written


def test_the_mixture_of_a_sequence_has_the_right_limits_and_refuses_an_invalid_S():
    c = 0.6
    S = np.array([[1.0, c], [c, 1.0]])
    np.testing.assert_allclose(
        edit_cost.sequence_mixture(S), [[c**2, 0], [-c, 0]], atol=1e-15
    )
    np.testing.assert_allclose(edit_cost.sequence_mixture(S, 1e9), 0, atol=1e-6)
    for wrong in (np.ones((2, 3)), np.diag([1.0, 0.0])):
        with refused(ValueError, match="S: got"):
            edit_cost.sequence_mixture(wrong)
    for beta in (-1.0, inf):
        with refused(ValueError, match="beta: got"):
            edit_cost.sequence_mixture(S, beta)


# Geometry and precision


def test_blocked_substitution_is_the_triangular_solve(x64):
    from scipy.linalg import solve_triangular

    cut_up = jax.jit(Triangular.of)
    forward = jax.jit(Triangular.forward)
    backward = jax.jit(Triangular.backward)
    for D in (3, 256, 600):
        rng = np.random.default_rng(D)
        U = np.triu(rng.normal(size=(D, D)) / D**0.5) + 2 * np.eye(D)
        # entries below the diagonal are not read
        cut = cut_up(U + np.tril(np.ones((D, D)), -1))
        np.testing.assert_array_equal(jax.jit(lambda cut: cut.dense)(cut), U)
        np.testing.assert_array_equal(
            jax.jit(lambda cut: cut.diagonal)(cut), np.diagonal(U)
        )
        for B in (rng.normal(size=D), rng.normal(size=(D, 4))):
            np.testing.assert_allclose(
                forward(cut, B),
                solve_triangular(U.T, B, lower=True),
                rtol=1e-8,
                atol=1e-10,
            )
            np.testing.assert_allclose(
                backward(cut, B), solve_triangular(U, B), rtol=1e-8, atol=1e-10
            )


def test_a_geometry_takes_no_more_memory_than_C_and_its_factor(D=1000, H=100):
    def relative_size(tree):
        return sum(leaf.nbytes for leaf in jax.tree.leaves(tree)) / (4 * D * D)

    geometry = KeyGeometry.from_moments(np.eye(D))
    assert relative_size(geometry.C) == 1
    assert relative_size(geometry) < 2
    needed = (
        _rank_one.lower(np.zeros((H, D)), geometry, 0.0, np.ones(D), np.ones(H), 0)
        .compile()
        .memory_analysis()
    )
    # a solve copies no part of the factor
    assert needed.temp_size_in_bytes < 0.05 * 4 * D * D


def test_moments_and_keys_give_one_geometry(x64):
    K, _, _, k, _ = problem()
    for ridge in (0.0, 2.0):
        by_moments = KeyGeometry.from_moments(K @ K.T, ridge=ridge)
        by_keys = KeyGeometry.from_keys(K, ridge=ridge)
        C = K @ K.T + ridge * np.eye(12)
        for geometry in (by_moments, by_keys):
            np.testing.assert_allclose(
                geometry.solve(K), np.linalg.solve(C, K), atol=1e-11
            )
            assert geometry.inner(k, K[:, 0]) == approx(
                k @ np.linalg.solve(C, K[:, 0]), rel=1e-10
            )
            more = geometry.observe(K[:, :2], weight=3.0)
            np.testing.assert_allclose(
                more.solve(k),
                np.linalg.solve(C + 3 * K[:, :2] @ K[:, :2].T, k),
                atol=1e-12,
            )


@pytest.mark.parametrize("kappa", [1e2, 1e3, 1e5])
def test_qr_of_the_keys_survives_where_a_formed_C_fails_in_float32(kappa, D=64, n=256):
    K = conditioned(D, n, kappa)
    k = np.random.default_rng(1).normal(size=D)
    C = K @ K.T
    u = np.linalg.solve(C, k)
    small = jnp.asarray(K, jnp.float32)

    def excess(solved):
        return float(
            (np.float64(solved) @ C @ np.float64(solved))
            * (k @ u)
            / (np.float64(solved) @ k) ** 2
            - 1
        )

    # float32 changes the direction of the solution by an angle of about κ·ε. The excess
    # grows with the square of this angle; measured were 0.7 (κ·ε)².
    most = 4 * (kappa * np.finfo(np.float32).eps) ** 2
    assert excess(KeyGeometry.from_keys(small).solve(k.astype(np.float32))) < most
    if kappa < 1e4:
        assert (
            excess(
                KeyGeometry.from_moments(small @ small.T).solve(k.astype(np.float32))
            )
            < 1e-3
        )
    else:
        with refused(ValueError, match=r"KeyGeometry\.from_keys"):
            KeyGeometry.from_moments(small @ small.T)


def test_float64_rescues_a_C_that_float32_cannot_factor():
    k = np.ones(32, np.float32)
    W = np.ones((3, 32), np.float32)
    v = np.ones(3, np.float32)
    C = conditioned(32, 128, 1e4) @ conditioned(32, 128, 1e4).T
    with refused(ValueError, match="positive definite"):
        KeyGeometry.from_moments(np.float32(C))
    # JAX has no float64 by default, and the package does not switch it on silently
    with refused(ValueError, match="precision: got 'float64'"):
        KeyGeometry.from_moments(C, precision="float64")
    with double_precision():
        geometry = KeyGeometry.from_moments(C, precision="float64")
        assert geometry.scale.dtype == jnp.float64
        np.testing.assert_allclose(geometry.solve(k), np.linalg.solve(C, k), rtol=1e-6)
        assert ro.rank_one_edit(W, geometry, k, v).apply(W).dtype == jnp.float32


def test_outside_double_precision_a_double_geometry_is_used_in_single_precision():
    """This is so everywhere in JAX. Its own operations would convert the arrays
    individually, each with a warning.
    """
    K, _, W, k, v = problem()
    with double_precision():
        geometry = KeyGeometry.from_moments(np.float64(K) @ np.float64(K).T)
        reference = host(ro.rank_one_edit(W, geometry, k, v))
    edit = ro.rank_one_edit(W, geometry, k, v)
    assert {edit.left.dtype, edit.right.dtype, edit.delta.dtype} == {
        jnp.dtype("float32")
    }
    np.testing.assert_allclose(
        edit.delta, np.outer(reference.left, reference.right), rtol=1e-4, atol=1e-6
    )
    np.testing.assert_allclose(geometry.inner(k, k), reference.right @ k, rtol=1e-5)


def ill_conditioned(dtype, D=96, H=5):
    """C of condition 1e5, W, k, v, and the exact change, from float64 or the exact
    fractions behind it.
    """
    rng = np.random.default_rng(0)
    K = conditioned(D, 3 * D, 300)
    C = (K @ K.T).astype(dtype)
    C = np.tril(C) + np.tril(C, -1).T
    W, k, v = (rng.normal(size=shape).astype(dtype) for shape in ((H, D), D, H))
    u = np.linalg.solve(np.longdouble(C).astype(float), np.float64(k))
    return C, W, k, v, np.outer((v - np.float64(W) @ k) / (u @ k), u)


@pytest.mark.parametrize("traced", [False, True])
def test_refinement_gives_the_last_digits_of_single_precision(traced):
    C, W, k, v, exact = ill_conditioned(np.float32)
    edits = (
        jax.jit(ro.rank_one_edit, static_argnames="refine")
        if traced
        else ro.rank_one_edit
    )
    errors = []
    for refine in (0, 1, 3):
        edit = edits(W, C, k, v, refine=refine)
        assert edit.left.dtype == edit.right.dtype == jnp.float32
        errors.append(
            np.abs(np.float64(delta(edit)) - exact).max() / np.abs(exact).max()
        )
    eps = float(jnp.finfo(jnp.float32).eps)
    assert errors[0] > 300 * eps
    assert errors[1] < errors[0] / 20
    assert errors[2] < 3 * eps
    batch = ro.batch_edit(W, C, k[:, None], v[:, None], refine=3)
    assert np.abs(delta(batch) - exact).max() < 4 * eps * np.abs(exact).max()


def test_refinement_keeps_its_digits_through_arithmetic_scan_and_vmap():
    C, W, k, v, exact = ill_conditioned(np.float32)
    geometry = KeyGeometry.from_moments(C)

    def one(key, value):
        return ro.rank_one_edit(W, geometry, key, value, refine=3)

    many = jax.vmap(one)(jnp.stack([k, k]), jnp.stack([v, v]))
    carried, _ = jax.lax.scan(
        lambda u, _: (one(jnp.asarray(k), jnp.asarray(v)).right * 1.0, None),
        jnp.zeros(len(k)),
        None,
        length=2,
    )
    for right in (many.right[1], carried):
        along = np.float64(right) / np.linalg.norm(np.float64(right))
        assert (
            np.abs(
                exact
                / np.linalg.norm(exact, axis=1, keepdims=True)
                * np.sign(exact @ along)[:, None]
                - along
            ).max()
            < 3e-7
        )


def test_refinement_in_double_precision_gives_ten_digits_from_a_float32_factor(x64):
    C, W, k, v, exact = ill_conditioned(np.float32)
    edit = ro.rank_one_edit(W, C, k, v, refine=3)
    assert edit.right.dtype == jnp.float64
    assert KeyGeometry.from_moments(C).scale.dtype == jnp.float32
    assert np.abs(delta(edit) - exact).max() < 1e-10 * np.abs(exact).max()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_difference_is_summed_as_if_in_twice_the_precision(x64, dtype):
    """A residual with almost complete cancellation, against exact fractions. Its
    gradient is that of B − AᵀX.
    """
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 3)).astype(dtype)
    X = rng.normal(size=(40, 2)).astype(dtype)
    exact = [
        [
            sum(
                (
                    Fraction(float(a)) * Fraction(float(x))
                    for a, x in zip(A[:, i], X[:, j], strict=True)
                ),
                Fraction(0),
            )
            for j in range(2)
        ]
        for i in range(3)
    ]
    B = np.array([[dtype(float(entry)) for entry in row] for row in exact])
    expected = np.array(
        [
            [float(Fraction(float(B[i, j])) - exact[i][j]) for j in range(2)]
            for i in range(3)
        ]
    )
    result = np.asarray(jax.jit(accurate_difference)(B, A, X))
    assert np.abs(B - A.T @ X - expected).max() > 0.3 * np.abs(expected).max()
    np.testing.assert_allclose(
        result, expected, rtol=1e-4 if dtype == np.float32 else 1e-12, atol=0
    )
    slopes = jax.jit(
        jax.grad(lambda *a: accurate_difference(*a).sum(), argnums=(0, 1, 2))
    )(B, A, X)
    for slope, known in zip(
        slopes,
        (np.ones((3, 2)), -np.tile(X.sum(1), (3, 1)).T, -np.tile(A.sum(1), (2, 1)).T),
        strict=True,
    ):
        np.testing.assert_allclose(slope, known, rtol=1e-5, atol=1e-5)


def test_refinement_needs_the_moments():
    geometry = KeyGeometry.from_keys(np.float32(conditioned(5, 20, 3)))
    with refused(ValueError, match="refine: got 1"):
        geometry.solve(np.ones(5), refine=1)


@given(
    seed=st.integers(0, 10**6), cuts=st.lists(st.sampled_from([1, 7, 40]), max_size=4)
)
@settings(max_examples=6, deadline=None)
def test_moments_do_not_depend_on_the_batches(seed, cuts):
    keys = np.random.default_rng(seed).normal(size=(120, 4)).astype(np.float32)
    with double_precision():
        moments = SecondMoments.empty(4, dtype=np.float64)
        for part in np.split(keys, np.cumsum(cuts)):
            if len(part):
                moments = moments.update(
                    part.reshape(1, -1, 4), where=np.ones((1, len(part)), bool)
                )
        mean = moments.mean
    exact = keys.astype(float).T @ keys.astype(float)
    # terms of an entry off the diagonal can cancel, and each is rounded at the size of
    # the diagonal
    np.testing.assert_allclose(moments.total, exact, atol=1e-12 * exact.max())
    np.testing.assert_allclose(mean, exact / 120, atol=1e-12 * exact.max() / 120)


def test_moments_leave_out_what_is_masked():
    keys = np.arange(12.0).reshape(2, 3, 2)
    where = np.array([[True, False, True], [False, False, True]])
    moments = SecondMoments.empty(2).update(keys, where=where)
    assert moments.count == 3
    np.testing.assert_allclose(moments.total, keys[where].T @ keys[where])


# Edits as values


@pytest.mark.parametrize("pairs", [1, 3])
def test_an_edit_is_saved_read_and_undone_exactly(tmp_path, pairs):
    K, _, W, Ks, Vs = problem(m=3)
    C = K @ K.T
    edit = (
        ro.rank_one_edit(W, C, Ks[:, 0], Vs[:, 0])
        if pairs == 1
        else ro.batch_edit(W, C, Ks, Vs)
    )
    path = edit.save(
        tmp_path / "paris.in.rome", {"subject": "Eiffel Tower", "layer": 8}
    )
    again, about = load_edit(path)
    assert about == {"subject": "Eiffel Tower", "layer": 8}
    assert type(again) is type(edit)
    np.testing.assert_array_equal(again.apply(W), edit.apply(W))
    np.testing.assert_allclose(edit.undo(applied(edit, W)), W, atol=1e-6)
    history = Edited(W).then(edit).then(again)
    np.testing.assert_array_equal(history.undo().W, Edited(W).then(edit).W)
    np.testing.assert_array_equal(history.undo(2).W, W)  # equal in every bit
    assert history.undo(0).edits == history.edits
    with refused(ValueError, match="count: got 3"):
        history.undo(3)
    with refused(ValueError, match="edit: got"):
        Edited(W[:, :5]).then(edit)


def test_a_cut_file_is_refused(tmp_path):
    K, _, W, k, v = problem()
    path = ro.rank_one_edit(W, K @ K.T, k, v).save(tmp_path / "edit")
    path.write_bytes(path.read_bytes()[:200])
    with refused(ValueError, match=r"a whole \.npz file"):
        load_edit(path)


def test_donating_reuses_the_memory_of_W():
    K, _, W, k, v = problem()
    edit = host(ro.rank_one_edit(W, K @ K.T, k, v))
    expected = applied(edit, W)
    buffer = jnp.array(W)
    np.testing.assert_array_equal(edit.apply(buffer, donate=True), expected)
    assert buffer.is_deleted()


def test_mixing_keys_answers_the_bare_key_and_may_explode(x64):
    K, _, W, k, v = problem()
    C = K @ K.T
    other = k + 0.3
    edit = mixed_key_edit(W, C, k, other, v)
    assert np.abs(applied(edit, W) @ other - v).max() < 1e-12
    assert np.abs(applied(edit, W) @ k - v).max() > 0.01
    assert edit.interference == approx(np.sum((delta(edit) @ K) ** 2), rel=1e-10)
    np.testing.assert_allclose(
        mixed_key_edit(W, C, k, k, v).delta,
        ro.rank_one_edit(W, C, k, v).delta,
        atol=1e-13,
    )
    u = np.linalg.solve(C, k)
    nearly = k - (1 - 1e-6) * (u @ k) / (u @ u) * u  # uᵀk_bare is a millionth
    assert (
        mixed_key_edit(W, C, k, nearly, v).interference
        > 1e10 * ro.rank_one_edit(W, C, nearly, v).interference
    )


# Inputs


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_results_follow_the_inputs_and_jit(x64, dtype):
    arrays = [a.astype(dtype) for a in problem(m=3)]
    K, _, W, Ks, Vs = arrays
    C = K @ K.T
    one = ro.rank_one_edit(W, C, Ks[:, 0], Vs[:, 0])
    batch = ro.batch_edit(W, C, Ks, Vs)
    assert {leaf.dtype for leaf in jax.tree.leaves((one, batch))} == {
        jnp.dtype(dtype),
        jnp.dtype("int32"),
    }
    assert one.left.dtype == batch.delta.dtype == one.interference.dtype == dtype
    traced = jax.jit(ro.rank_one_edit)(
        W, KeyGeometry.from_moments(C), Ks[:, 0], Vs[:, 0]
    )
    np.testing.assert_allclose(
        traced.delta, delta(one), rtol=1e-3 if dtype == jnp.float32 else 1e-10
    )
    many = jax.vmap(ro.rank_one_edit, in_axes=(None, None, 1, 1))(W, C, Ks, Vs)
    np.testing.assert_allclose(
        many.left[0], one.left, rtol=1e-3 if dtype == jnp.float32 else 1e-10
    )


BAD = {
    "W": ({"W": np.ones(3)}, "W: got"),
    "C shape": ({"C": np.ones((12, 11))}, "C: got"),
    "C size": ({"C": np.eye(11)}, "C: got"),
    "C words": ({"C": np.eye(12).astype(str)}, "C: got"),
    "W objects": ({"W": np.ones((5, 12), object)}, "W: got"),
    "C skew": ({"C": np.eye(12) + np.eye(12, k=1)}, "symmetric"),
    "C indefinite": ({"C": np.diag([-1.0] + 11 * [1.0])}, "positive definite"),
    "C singular": ({"C": np.diag([0.0] + 11 * [1.0])}, "ridge"),
    "k shape": ({"k": np.ones(11)}, "k: got"),
    "k zero": ({"k": np.zeros(12)}, "zero key"),
    "k missing": ({"k": np.full(12, np.nan)}, "k: got NaN"),
    "v shape": ({"v": np.ones(4)}, "v: got"),
    "k vanishing": ({"k": np.full(12, 1e-30, np.float32)}, "k: got"),
    "k overflowing": ({"k": np.full(12, 1e30, np.float32)}, "k: got"),
    "ridge": ({"ridge": -1.0}, "ridge: got"),
    "ridge missing": ({"ridge": None}, "ridge: got"),
    "ridge a vector": ({"ridge": np.ones(12)}, "ridge: got"),
    "refine negative": ({"refine": -1}, "refine: got"),
    "refine a half": ({"refine": 0.5}, "refine: got"),
}


@pytest.mark.parametrize(("changed", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(changed, message):
    K, _, W, k, v = problem()
    good = {"W": W, "C": K @ K.T, "k": k, "v": v}
    with refused(ValueError, match=message):
        ro.rank_one_edit(**(good | changed))


MANY = {
    "batch": ro.batch_edit,
    "batch, relaxed": partial(ro.batch_edit, omega=1.0),
    "residuals": lambda W, C, K, V: interpolate_residuals(W, C, K, V, jnp.ones(12)),
    "sequence": sequential_edit,
    "sequence, protected": partial(sequential_edit, beta=np.inf),
    "cycles": partial(cyclic_edit, cycles=2),
}


@pytest.mark.parametrize("entry", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["W", "C", "K", "V"])
@pytest.mark.parametrize("edit", MANY.values(), ids=MANY)
def test_a_bad_entry_of_many_pairs_is_named(edit, name, entry):
    """The entries of JAX arrays are checked only after the outcome says that one is
    bad.
    """
    K, _, W, Ks, Vs = problem(m=3)
    arrays = {"W": W, "C": K @ K.T, "K": Ks, "V": Vs}
    arrays = {other: jnp.asarray(array) for other, array in arrays.items()}
    arrays[name] = arrays[name].at[1, 1].set(entry)
    with refused(ValueError, match=f"^{name}: got NaN or infinity"):
        edit(*arrays.values())


def test_bad_batches_are_named():
    K, _, W, Ks, Vs = problem(m=3)
    C = K @ K.T
    with refused(ValueError, match="linearly independent"):
        ro.batch_edit(W, C, Ks[:, [0, 1, 0]], Vs)
    # the factor exists only because of rounding errors
    with refused(ValueError, match="linearly independent"):
        ro.batch_edit(
            np.zeros((2, 3)),
            np.eye(3),
            [[1.0, 1.0], [0.0, 6e-4], [0.0, 0.0]],
            np.ones((2, 2)),
        )
    with refused(ValueError, match="V: got"):
        ro.batch_edit(W, C, Ks, Vs[:, :2])
    with refused(ValueError, match="omega: got"):
        ro.batch_edit(W, C, Ks, Vs, omega=0.0)
    with refused(ValueError, match="omega: got"):
        ro.batch_edit(W, C, Ks, Vs, omega=None)
    with refused(ValueError, match="beta: got"):
        sequential_edit(W, C, Ks, Vs, beta=-1.0)
    with refused(ValueError, match="cycles: got"):
        cyclic_edit(W, C, Ks, Vs, cycles=0)
    with refused(ValueError, match="K: got 3 keys"):
        KeyGeometry.from_keys(Ks)
    with refused(
        ValueError,
        match=r"^K: got 3 keys of length 12; .*for one key per row give K\.T",
    ):
        KeyGeometry.from_keys(Ks)
    for name, call in (
        ("K", lambda: ro.batch_edit(W, C, Ks.T, Vs)),
        ("K", lambda: pseudo_inverse_edit(W, Ks.T, Ks[:, 0], Vs[:, 0])),
        ("keys", lambda: KeyGeometry.from_moments(C).observe(Ks.T)),
        ("B", lambda: KeyGeometry.from_moments(C).solve(Ks.T)),
    ):
        with refused(
            ValueError,
            match=rf"^{name}: got .*; it has one key per row: give {name}\.T",
        ):
            call()
    with refused(ValueError, match="ridge: got"):
        ro.rank_one_edit(W, KeyGeometry.from_moments(C), Ks[:, 0], Vs[:, 0], ridge=1.0)


BAD_ELSEWHERE = {
    "cycles half": (
        lambda: cyclic_edit(np.eye(2), np.eye(2), np.eye(2), np.eye(2), cycles=2.5),
        "cycles: got 2.5",
    ),
    "cycles word": (
        lambda: cyclic_edit(np.eye(2), np.eye(2), np.eye(2), np.eye(2), cycles="a"),
        "cycles: got 'a'",
    ),
    "D": (lambda: SecondMoments.empty(2.5), "D: got 2.5"),
    "no key": (lambda: SecondMoments.empty(2).mean, "count: got"),
    "double": (
        lambda: SecondMoments.empty(2, dtype=np.float64),
        "dtype: got .?float64",
    ),
    "whole": (lambda: SecondMoments.empty(2, dtype=int), "dtype: got int"),
    "no type": (lambda: SecondMoments.empty(2, dtype={"a": 1}), "dtype: got"),
    "weight": (
        lambda: KeyGeometry.from_moments(np.eye(2)).observe(np.ones(2), weight=-1.0),
        "weight: got",
    ),
    "keys": (
        lambda: KeyGeometry.from_moments(np.eye(2)).observe([[1.0, 2.0], [3.0]]),
        "keys: got",
    ),
    "q": (
        lambda: interpolate_residuals(
            np.eye(2), np.eye(2), np.eye(2), np.eye(2), [[1.0, 2.0], [3.0]]
        ),
        "q: got",
    ),
    "where": (
        lambda: SecondMoments.empty(2).update(np.eye(2), where=[[True], []]),
        "where: got",
    ),
    "where twice": (
        lambda: SecondMoments.empty(2).update(np.eye(2), where=[2, 0]),
        "where: got",
    ),
    "undo": (lambda: Edited(np.eye(2)).undo(True), "count: got True"),
    "n": (lambda: edit_cost.capacity(10, 20.0, 3), "D: got 20.0"),
    "turns": (
        lambda: edit_cost.sequential_residual(np.ones(3), np.ones(2), 5.0),
        "T: got",
    ),
}


@pytest.mark.parametrize(("make", "message"), BAD_ELSEWHERE.values(), ids=BAD_ELSEWHERE)
def test_every_other_function_names_its_bad_input(make, message):
    with refused(ValueError, match=message):
        make()


def test_the_outcome_reports_what_goes_wrong_inside_jit():
    K, _, W, Ks, Vs = problem(m=3)
    C = K @ K.T
    single = jax.jit(ro.rank_one_edit)
    batch = jax.jit(ro.batch_edit)
    singular = np.diag([0.0] + 11 * [1.0]).astype(np.float32)
    Q = np.linalg.qr(np.random.default_rng(1).normal(size=(12, 12)))[0]
    # its pivots are accepted, but no digit of a solution is right
    near_singular = np.float32((Q * np.geomspace(1, 1e-8, 12)) @ Q.T)
    with refused(ValueError, match=r"C: got a condition number"):
        ro.rank_one_edit(W, near_singular, Ks[:, 0], Vs[:, 0])
    twice = Ks[:, [0, 1, 0]]
    edits = [
        single(W, C, Ks[:, 0], Vs[:, 0]),
        single(W, singular, Ks[:, 0], Vs[:, 0]),
        single(W, near_singular, Ks[:, 0], Vs[:, 0]),
        single(W, C, 0 * Ks[:, 0], Vs[:, 0]),
        batch(W, C, Ks, Vs),
        batch(W, singular, Ks, Vs),
        batch(W, C, twice, Vs),
    ]
    names = ["OK", "SINGULAR", "SINGULAR", "NOT_FINITE", "OK", "SINGULAR", "DEPENDENT"]
    assert [Outcome(int(edit.outcome)).name for edit in edits] == names
    assert jax.jit(pseudo_inverse_edit)(W, Ks, Ks[:, 0], Vs[:, 0]).outcome == Outcome.OK
    with value_checks(False):  # nothing is raised, and the outcome says the same
        assert ro.batch_edit(W, C, twice, Vs).outcome == Outcome.DEPENDENT
        assert (
            ro.rank_one_edit(W, singular, Ks[:, 0], Vs[:, 0]).outcome
            == Outcome.SINGULAR
        )
        assert (
            ro.rank_one_edit(W, near_singular, Ks[:, 0], Vs[:, 0]).outcome
            == Outcome.SINGULAR
        )


@pytest.mark.parametrize("omega", [inf, 2.0])
def test_the_interference_of_an_edit_is_differentiable_in_all_inputs(x64, omega):
    K, _, W, Ks, Vs = problem(m=3)
    inputs = (W, K @ K.T, Ks, Vs)
    step = 1e-6

    def price(W, C, K, V):
        return ro.batch_edit(W, C, K, V, omega=omega).interference

    slopes = jax.jit(jax.grad(price, argnums=(0, 1, 2, 3)))(*inputs)
    for i, slope in enumerate(slopes):
        direction = np.random.default_rng(i).normal(size=slope.shape)
        direction = direction + direction.T if i == 1 else direction
        ends = [
            price(*(a + s * direction if j == i else a for j, a in enumerate(inputs)))
            for s in (step, -step)
        ]
        np.testing.assert_allclose(
            (slope * direction).sum(), (ends[0] - ends[1]) / (2 * step), rtol=1e-5
        )


def test_with_integers_in_W_the_edit_is_not_rounded():
    K, _, _, k, v = problem()
    W = np.ones((len(v), len(k)), int)
    W_hat = ro.rank_one_edit(W, K @ K.T, k, v).apply(W)
    assert jnp.issubdtype(W_hat.dtype, jnp.floating)
    np.testing.assert_allclose(W_hat @ k, v, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "dtype", [pytest.param(jnp.float16, marks=needs_float16), jnp.bfloat16]
)
def test_half_precision_moments_and_keys_are_factored_in_single(dtype):
    K, _, W, k, v = problem()
    K = jnp.asarray(K, dtype)
    C = jax.jit(lambda K: (K @ K.T + jnp.eye(len(K), dtype=dtype)).astype(dtype))(K)
    C = jnp.asarray(np.tril(C) + np.tril(C, -1).T)
    assert KeyGeometry.from_moments(C).scale.dtype == jnp.float32
    geometry = KeyGeometry.from_keys(K).observe(K[:, 0])
    edit = ro.rank_one_edit(jnp.asarray(W, dtype), geometry, jnp.asarray(k, dtype), v)
    assert geometry.scale.dtype == edit.left.dtype == jnp.float32
    assert edit.apply(jnp.asarray(W, dtype)).dtype == dtype


def test_keys_in_single_precision_leave_a_double_geometry_double(x64):
    K, *_ = problem()
    geometry = KeyGeometry.from_keys(K).observe(K[:, :2].astype(np.float32))
    assert geometry.scale.dtype == geometry.factor.diagonal.dtype == jnp.float64


@given(scale=st.floats(1e-3, 1e3), seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_any_edit_answers_its_key_and_only_moves_along_u(scale, seed):
    K, _, W, k, v = problem(seed=seed, fitted=False)
    edit = host(ro.rank_one_edit(W, scale * K @ K.T, scale * k, v))
    W_hat = applied(edit, W)
    size = np.abs
    rounding = 2e-6  # relative to the summed sizes; float32 rounds each at 6e-8
    assert (
        abs(W_hat @ (scale * k) - v) < rounding * size(W_hat) @ size(scale * k)
    ).all()
    q = k - (edit.right @ k) / (edit.right @ edit.right) * edit.right
    assert (abs(W_hat @ q - W @ q) < rounding * (size(W_hat) + size(W)) @ size(q)).all()


@pytest.mark.parametrize(
    ("C", "message"),
    [
        (np.diag([1.0, np.nan]), "NaN or infinity"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), "symmetric"),
        (np.ones((2, 2)), "pivot|condition"),
    ],
)
def test_a_bad_concrete_C_is_refused_while_jit_traces_something_else(C, message):
    C = jnp.asarray(C, jnp.float32)

    def total(k):
        return ro.rank_one_edit(np.zeros((1, 2)), C, k, np.ones(1)).left.sum()

    with refused(ValueError, match=f"^C: got .*({message})"):
        jax.jit(total)(jnp.ones(2))
