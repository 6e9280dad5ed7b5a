"""The vec identity, the gradient of U, the operator, and the weights that W = TUV can
reach.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from draws import normal
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

import rankone as ro
from rankone.checks import Outcome
from rankone.nn import Dense
from rankone.preconditioning import (
    Reparameterized,
    kronecker_preconditioner,
    unvec,
    vec,
)

M = 4
N = 6
P = 3
Q = 5


pytestmark = pytest.mark.usefixtures("x64")


def column_stack(X):
    return np.concatenate(np.asarray(X).T)  # column after column, with numpy only


def loss(W):
    return jnp.sum(jnp.sin(W @ normal(9, W.shape[1], 7)) ** 2)


def slope(W):
    return np.asarray(_slope(W))


_slope = jax.jit(jax.grad(loss))


def test_vec_stacks_columns_and_unvec_undoes_it():
    X = normal(0, M, N)
    np.testing.assert_array_equal(vec(X), column_stack(X))
    np.testing.assert_array_equal(vec(X, order="row"), np.asarray(X).ravel())
    for order in ("column", "row"):
        np.testing.assert_array_equal(
            unvec(vec(X, order=order), (M, N), order=order), X
        )


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_vec_of_a_product_is_the_kronecker_product_with_vec(m, p, q, n):
    A, X, B = (
        np.random.default_rng(0).normal(size=s) for s in ((m, p), (p, q), (q, n))
    )
    np.testing.assert_allclose(
        column_stack(A @ X @ B), np.kron(B.T, A) @ column_stack(X), atol=1e-12
    )
    np.testing.assert_allclose(
        (A @ X @ B).ravel(), np.kron(A, B.T) @ X.ravel(), atol=1e-12
    )


def test_mixing_the_two_stackings_is_an_error_of_order_one():
    A = normal(1, M, P)
    X = normal(2, P, Q)
    B = normal(3, Q, N)
    right = np.kron(B.T, A) @ np.ravel(X)
    wrong = column_stack(A @ X @ B)
    assert np.abs(right - wrong).max() > 1


def test_gradient_of_U_is_that_of_W_between_the_transposed_factors():
    T = normal(1, M, P)
    U = normal(2, P, Q)
    V = normal(3, Q, N)
    G = slope(T @ U @ V)
    by_autodiff = jax.jit(jax.grad(lambda U: loss(ro.Reparameterized(T, U, V).W)))(U)
    np.testing.assert_allclose(T.T @ G @ V.T, by_autodiff, atol=1e-12)


def test_einstein_indices_give_the_same_jacobian_and_gradient():
    T = normal(1, M, P)
    U = normal(2, P, Q)
    V = normal(3, Q, N)
    tensor = np.einsum("is,tj->ijst", T, V)
    np.testing.assert_allclose(
        jax.jit(jax.jacobian(lambda U: T @ U @ V))(U), tensor, atol=1e-14
    )
    G = slope(T @ U @ V)
    np.testing.assert_allclose(
        np.einsum("is,ij,tj->st", T, G, V), T.T @ G @ V.T, atol=1e-12
    )


def test_one_step_on_U_is_a_preconditioned_step_on_W():
    T = normal(1, M, P)
    U = normal(2, P, Q)
    V = normal(3, Q, N)
    before = Reparameterized(T, U, V)
    W = np.asarray(before.W)
    G = slope(W)
    after = Reparameterized(T, U - T.T @ G @ V.T, V)
    np.testing.assert_allclose(after.W, W - T @ T.T @ G @ V.T @ V, atol=1e-11)
    P_dense = np.kron(V.T @ V, T @ T.T)
    np.testing.assert_allclose(
        column_stack(after.W), column_stack(W) - P_dense @ column_stack(G), atol=1e-11
    )


@pytest.mark.parametrize("order", ["column", "row"])
def test_the_operator_equals_its_dense_matrix_and_J_J_transpose(order):
    T = normal(1, M, P)
    V = normal(3, Q, N)
    operator = ro.kronecker_preconditioner(T, V, order=order)
    J = np.kron(V.T, T) if order == "column" else np.kron(T, V.T)
    np.testing.assert_allclose(operator.to_dense(), J @ J.T, atol=1e-12)
    g = normal(4, M * N)
    several = normal(5, M * N, 3)
    np.testing.assert_allclose(operator @ g, J @ J.T @ g, atol=1e-12)
    np.testing.assert_allclose(operator @ several, J @ J.T @ several, atol=1e-11)
    assert operator.shape == (M * N, M * N)
    np.testing.assert_allclose(
        operator.eigenvalues(), np.linalg.eigvalsh(J @ J.T)[::-1], atol=1e-11
    )


def test_operator_works_inside_jit_and_follows_the_dtype():
    T = normal(1, M, P).astype(np.float32)
    V = normal(3, Q, N).astype(np.float32)
    operator = kronecker_preconditioner(T, V)
    g = normal(4, M * N).astype(np.float32)
    product = jax.jit(lambda P, g: P @ g)(operator, g)
    assert product.dtype == jnp.float32
    np.testing.assert_allclose(
        product, np.asarray(operator.to_dense()) @ g, rtol=2e-5, atol=2e-5
    )
    assert jax.jit(lambda T, V: kronecker_preconditioner(T, V).left)(T, V).shape == (
        M,
        M,
    )


def test_the_operator_is_its_own_transpose_and_its_inverse_undoes_it():
    T = normal(1, M, M)
    V = normal(3, N, N)
    for order in ("column", "row"):
        P = kronecker_preconditioner(T, V, order=order)
        assert P.T == P
        assert P.dtype == np.float64
        assert P.inverse().outcome == Outcome.OK
        np.testing.assert_allclose(
            P.inverse().to_dense(), np.linalg.inv(P.to_dense()), rtol=1e-6
        )
        np.testing.assert_allclose(
            P.inverse().apply(P.apply(normal(4, M, N))), normal(4, M, N), atol=1e-8
        )


def test_a_singular_operator_has_no_inverse_and_says_so_inside_jit_too():
    # the rank of V is too low
    P = kronecker_preconditioner(normal(1, M, M), normal(3, N - 1, N))
    with refused(ValueError, match=r"^P: got a singular .*full column rank\.$"):
        P.inverse()
    inverse = jax.jit(lambda P: P.inverse())(P)
    assert inverse.outcome == Outcome.SINGULAR
    assert np.isnan(inverse.left).all()


def conditioned(seed, n, condition):
    """A matrix of this condition number."""
    U, V = (np.linalg.qr(normal(seed + i, n, n))[0] for i in range(2))
    return U * np.geomspace(1, 1 / condition, n)[None] @ V


def test_an_inverse_is_refused_for_its_condition_number_and_its_precision():
    """With a condition number of 10⁸, the inverse undoes P up to an error of 10⁸ ε in
    double precision. In single precision no digit would be right.
    """
    T = conditioned(1, 8, 10.0)
    V = conditioned(3, 8, 1000.0)
    G = normal(5, 8, 8)
    P = kronecker_preconditioner(T, V)
    np.testing.assert_allclose(
        P.inverse().apply(P.apply(G)), G, atol=100 * 1e8 * np.finfo(float).eps
    )
    single = kronecker_preconditioner(T.astype(np.float32), V.astype(np.float32))
    with refused(
        ValueError,
        match=r"^P: got a condition number of 1e\+08; it must be up to 8e\+05, .* float32",
    ):
        single.inverse()
    inverse = jax.jit(lambda P: P.inverse())(single)
    assert inverse.outcome == Outcome.SINGULAR
    assert np.isnan(inverse.right).all()


def test_accepted_inverses_have_errors_below_half_and_others_are_refused():
    """Just inside the bound 0.1/ε, the error is at most a few times ε·cond(P). Beyond
    it the inverse is refused.
    """
    G = normal(5, 8, 8).astype(np.float32)
    answered = 0
    for condition in (10.0, 20.0, 25.0, 40.0, 100.0):
        T, V = (conditioned(seed, 8, condition).astype(np.float32) for seed in (1, 3))
        P = kronecker_preconditioner(T, V)
        if condition**4 <= 0.1 / np.finfo(np.float32).eps:
            answered += 1
            assert (
                np.abs(P.inverse().apply(P.apply(G)) - G).max() < 0.5 * np.abs(G).max()
            )
        else:
            with refused(ValueError, match=r"^P: got a condition number"):
                P.inverse()
    assert answered == 3


def test_operator_write_equals_the_preconditioned_step_for_one_or_several_examples():
    T = normal(1, M, P)
    V = normal(3, Q, N)
    delta = normal(4, M, 3)
    x = normal(5, N, 3)
    W = normal(6, M, N)
    operator = kronecker_preconditioner(T, V)
    for count in (0, slice(None)):  # vectors, then columns
        d = delta[:, count]
        at = x[:, count]
        gradient = np.outer(d, at) if d.ndim == 1 else d @ at.T
        write = operator.write(d, at, 0.1)
        assert (write.left.shape, write.right.shape) == (d.shape, at.shape)
        np.testing.assert_allclose(
            write.apply(W), W - 0.1 * T @ T.T @ gradient @ V.T @ V, atol=1e-12
        )
    with refused(ValueError, match=r"^delta: got"):
        operator.write(x, x, 0.1)
    with refused(ValueError, match=r"^x: got"):
        operator.write(delta, x[:, 0], 0.1)


def test_operator_never_forms_the_matrix():
    operator = kronecker_preconditioner(*np.ones((2, 512, 512), np.float32))
    compiled = (
        jax.jit(lambda P, G: P.apply(G))
        .lower(operator, np.ones((512, 512), np.float32))
        .compile()
    )
    assert compiled.memory_analysis().temp_size_in_bytes < 4 * 512**2 * 4
    assert compiled.cost_analysis()["flops"] < 1.1 * 2 * 2 * 512**3


def test_squared_norm_is_that_of_the_gradient_of_U():
    T = normal(1, M, P)
    V = normal(3, Q, N)
    G = normal(4, M, N)
    expected = np.sum((T.T @ G @ V.T) ** 2)
    assert kronecker_preconditioner(T, V).squared_norm(G) == pytest.approx(
        expected, rel=1e-12
    )


def symmetric(n):
    """A basis of the symmetric matrices."""
    for i, j in zip(*np.tril_indices(n), strict=True):
        E = np.zeros((n, n))
        E[i, j] = E[j, i] = 1
        yield E


def test_factors_are_free_up_to_rotations_and_one_scale():
    T = normal(1, M, M)
    V = normal(3, N, N)
    left, right = (
        np.linalg.qr(normal(seed, size, size))[0] for seed, size in ((6, M), (7, N))
    )
    dense = np.asarray(kronecker_preconditioner(T, V).to_dense())
    np.testing.assert_allclose(
        kronecker_preconditioner(3 * T @ left, right @ V / 3).to_dense(),
        dense,
        atol=1e-11,
    )
    assert (
        np.abs(np.asarray(kronecker_preconditioner(3 * T, V).to_dense()) - dense).max()
        > 1
    )
    # the number of tangent directions dA ⊗ B + A ⊗ dB of the set of products
    A = T @ T.T
    B = V.T @ V
    tangents = [np.kron(B, E).ravel() for E in symmetric(M)] + [
        np.kron(E, A).ravel() for E in symmetric(N)
    ]
    assert (
        np.linalg.matrix_rank(np.array(tangents))
        == M * (M + 1) // 2 + N * (N + 1) // 2 - 1
    )


# --- reachable weights


def test_rank_of_the_preconditioner_is_the_product_of_ranks():
    T = normal(1, M, 2) @ normal(2, 2, 5)
    V = normal(3, N, 3) @ normal(4, 3, N)
    dense = kronecker_preconditioner(T, V).to_dense()
    assert (
        np.linalg.matrix_rank(dense)
        == np.linalg.matrix_rank(T) * np.linalg.matrix_rank(V)
        == 6
    )


@jax.jit
def descend(layer, target, rate, steps):
    slope = jax.grad(lambda U: 0.5 * jnp.sum((layer_W(layer, U) - target) ** 2))
    return layer_W(
        layer, jax.lax.fori_loop(0, steps, lambda _, U: U - rate * slope(U), layer.U)
    )


def layer_W(layer, U):
    return Reparameterized(layer.T, U, layer.V, layer.W0).W


def test_descent_never_leaves_the_start_plus_the_range():
    W0 = normal(5, M, N)
    target = normal(6, M, N)
    T = normal(1, M, M)
    V = normal(3, 3, N)
    layer = Reparameterized.from_weight(W0, T, V, anchor=True)
    W = np.asarray(descend(layer, target, 0.01, 200))
    outside = np.eye(N) - np.linalg.pinv(V) @ V
    assert np.abs((W - W0) @ outside).max() < 1e-13
    assert np.abs(W - W0).max() > 0.1
    W = np.asarray(descend(layer, target, 0.02, 20_000))
    G = W - target
    assert np.abs(T.T @ G @ V.T).max() < 1e-6  # converged
    assert np.abs(G).max() > 0.1  # but not a minimum over W


def test_start_is_reproduced_exactly_when_it_is_reachable():
    T = normal(1, M, P)
    V = normal(3, Q, N)
    reachable = T @ normal(2, P, Q) @ V
    np.testing.assert_allclose(
        Reparameterized.from_weight(reachable, T, V).W, reachable, atol=1e-12
    )
    with refused(ValueError, match="anchor=True"):
        Reparameterized.from_weight(normal(5, M, N), T, V)
    elsewhere = normal(5, M, N)
    np.testing.assert_array_equal(
        Reparameterized.from_weight(elsewhere, T, V, anchor=True).W, elsewhere
    )
    layer = Reparameterized.from_weight(
        elsewhere, normal(1, M, M), normal(3, N, N), invertible=True
    )
    np.testing.assert_allclose(layer.W, elsewhere, atol=1e-12)


def test_an_anchored_layer_takes_the_singular_preconditioners_steps():
    W = normal(5, M, N)
    target = normal(6, M, N)
    T = normal(1, M, 2)
    V = normal(3, 3, N)
    by_layer = descend(
        Reparameterized.from_weight(W, T, V, anchor=True), target, 0.02, 200
    )
    operator = kronecker_preconditioner(T, V)
    for _ in range(200):
        W = W - 0.02 * np.asarray(operator.apply(W - target))
    np.testing.assert_allclose(by_layer, W, atol=1e-12)


def test_overparameterised_starts_with_the_same_W_follow_the_same_path():
    T = normal(1, M, 9)
    V = normal(3, 11, N)
    W = normal(5, M, N)
    target = normal(6, M, N)
    smallest = np.linalg.pinv(T) @ W @ np.linalg.pinv(V)
    null = normal(7, 9, 11)
    null = null - np.linalg.pinv(T) @ T @ null @ V @ np.linalg.pinv(V)
    one, other = (
        descend(Reparameterized(T, U, V), target, 1e-3, 200)
        for U in (smallest, smallest + null)
    )
    assert np.abs(null).max() > 0.5
    np.testing.assert_allclose(one, other, atol=1e-12)


# --- the layer


def test_layer_applies_W_in_factored_form():
    layer = Reparameterized(normal(1, M, P), normal(2, P, Q), normal(3, Q, N))
    x = normal(4, 8, N)
    np.testing.assert_allclose(layer(x), x @ np.asarray(layer.W).T, atol=1e-12)
    anchored = Reparameterized.from_weight(
        normal(5, M, N), layer.T, layer.V, anchor=True
    )
    np.testing.assert_allclose(anchored(x), x @ np.asarray(anchored.W).T, atol=1e-12)
    biased = Reparameterized(
        normal(1, M, P), normal(2, P, Q), normal(3, Q, N + 1), bias=True
    )
    W = np.asarray(biased.W)
    np.testing.assert_allclose(biased(x), x @ W[:, :-1].T + W[:, -1], atol=1e-12)


@pytest.mark.parametrize(
    ("T", "U", "V", "name"),
    [
        (np.ones((2, 3)), np.ones((2, 2)), np.ones((2, 2)), "T"),
        (np.ones((2, 2)), np.ones((2, 3)), np.ones((2, 2)), "V"),
        (np.ones(2), np.ones((2, 2)), np.ones((2, 2)), "T"),
        (np.ones((2, 2)), np.full((2, 2), np.nan), np.ones((2, 2)), "U"),
    ],
)
def test_bad_factors_are_refused_by_name(T, U, V, name):
    with refused(ValueError, match=rf"^{name}:"):
        ro.Reparameterized(T, U, V)


def test_bad_arguments_of_the_operator_are_refused():
    with refused(ValueError, match="order"):
        kronecker_preconditioner(np.eye(2), np.eye(2), order="F")
    with refused(ValueError, match="T"):
        kronecker_preconditioner(np.ones(3), np.eye(2))
    with refused(ValueError, match=r"^g: got"):
        kronecker_preconditioner(np.eye(2), np.eye(3)) @ np.ones(5)
    with refused(ValueError, match=r"^x: got"):
        unvec(np.ones(5), (2, 3))
    P = kronecker_preconditioner(np.eye(2), np.eye(3))
    for use in (P.apply, P.squared_norm):
        with refused(ValueError, match=r"^G: got .* it must be .*\.$"):
            use(np.ones((3, 2)))
    with refused(ValueError, match=r"^g: got"):
        P @ "g"


@pytest.mark.parametrize("bias", [False, True])
def test_inputs_of_another_length_are_refused_by_name(bias):
    W = np.ones((2, 3))
    for layer in (
        Dense.from_augmented(W, bias=bias),
        Reparameterized(np.eye(2), np.eye(2), W, bias=bias),
    ):
        assert layer(np.ones((5, 3 - bias))).shape == (5, 2)
        for x in (np.ones(7), 1.0):
            with refused(ValueError, match=rf"^x: got .* it must be .*{3 - bias}.*\.$"):
                layer(x)
        with refused(ValueError, match=r"^x: got 'x'; it must be .*\.$"):
            layer("x")


def test_the_weight_is_the_anchor_plus_the_trained_product():
    layer = Reparameterized(np.eye(2), np.ones((2, 2)), np.eye(2), 3 * np.ones((2, 2)))
    np.testing.assert_array_equal(layer.W, 4 * np.ones((2, 2)))
    np.testing.assert_array_equal(layer(np.array([1.0, 0.0])), [4, 4])


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_unreachable_part_is_measured_relative_to_W(scale):
    T = np.eye(M)[:, :1]
    within = scale * np.outer(np.eye(M)[0], np.ones(N))
    np.testing.assert_allclose(
        Reparameterized.from_weight(within, T, np.eye(N)).W, within, rtol=1e-9
    )
    with refused(ValueError, match=r"^W: got"):
        Reparameterized.from_weight(within + scale * np.eye(M, N), T, np.eye(N))
