"""Claims of the chapter on the distributed memory that belong to no single module."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rankone as ro
from rankone.precision import double_precision

K = 12
D = 7
Y = 300
BETA = 10.0


@pytest.fixture
def problem():
    with double_precision():
        k_data, k_query, k_features = jax.random.split(jax.random.key(0), 3)
        Xi = np.asarray(jax.random.uniform(k_data, (K, D))) / D**0.5
        x = np.asarray(jax.random.uniform(k_query, (5, D))) / D**0.5
        features = ro.RandomFeatures(D, Y, key=k_features)
        yield Xi, x, features, ro.DrDAM.store(Xi, BETA, features)


def test_the_partition_sum_read_from_T_is_the_sum_of_estimated_kernels(problem):
    Xi, x, features, memory = problem
    # without φ and T
    kernels = np.cos(BETA**0.5 * (x[:, None] - Xi) @ np.asarray(features.omega).T).mean(
        -1
    )
    assert memory.T.shape == (2 * Y,)
    assert np.allclose(memory.partition(x), kernels.sum(1), atol=1e-10)


def test_the_gradient_is_the_derivative_of_the_energy_with_factor_root_beta(problem):
    _, x, features, memory = problem
    gradient = np.asarray(memory.gradient(x))
    assert (
        np.abs(gradient - jax.jit(jax.vmap(jax.grad(memory.energy)))(x)).max() < 1e-12
    )
    slopes = np.asarray(jax.jit(jax.vmap(jax.jacobian(features.phi)))(BETA**0.5 * x))
    printed = np.stack([slope.T @ np.asarray(memory.T) for slope in slopes])
    printed = -printed / (BETA * np.asarray(memory.partition(x))[:, None])
    assert np.allclose(printed * BETA**0.5, gradient, atol=1e-12)


def test_adding_and_removing_is_exact(problem):
    Xi, _, features, memory = problem
    less = ro.DrDAM.store(Xi[:-1], BETA, features)
    assert np.abs(np.asarray(less.add(Xi[-1]).T) - memory.T).max() < 1e-14
    assert np.abs(np.asarray(memory.remove(Xi[-1]).T) - less.T).max() < 1e-14


@pytest.mark.parametrize("order", ["printed", "swapped"])
def test_both_loop_orders_give_the_package_gradient(problem, order):
    _, x, features, memory = problem
    omega = np.asarray(features.omega)
    T = np.asarray(memory.T)
    z = BETA**0.5 * np.asarray(x[0])
    pull = np.zeros(D)
    if order == "printed":
        for i in range(D):
            u = (
                np.concatenate(
                    [-omega[:, i] * np.sin(omega @ z), omega[:, i] * np.cos(omega @ z)]
                )
                / Y**0.5
            )
            pull[i] = u @ T
    else:
        for a in range(Y):
            t = omega[a] @ z
            pull += omega[a] * (T[Y + a] * np.cos(t) - T[a] * np.sin(t)) / Y**0.5
    S = float(memory.partition(x[0]))
    assert np.allclose(-pull / (BETA**0.5 * S), memory.gradient(x[0]), atol=1e-10)


def operations(function, *arrays):
    return jax.jit(function).lower(*arrays).compile().cost_analysis()["flops"]


def test_operation_counts_are_linear_in_D_and_in_Y_or_K():
    """Operations counted by the compiler, at sizes that fit one block, because it
    counts the body of a loop once.
    """

    def make(D, Y):
        return ro.RandomFeatures(D, Y, key=jax.random.key(0))

    def read(D, Y):
        return operations(
            lambda x, T: make(D, Y).read(x, T), jnp.ones((1, D)), jnp.ones(2 * Y)
        )

    def phi(D, Y):
        return operations(make(D, Y).phi, jnp.ones(D))

    def exact(D, K):
        return operations(ro.MrDAM(jnp.ones((K, D)), 1.0).gradient, jnp.ones(D))

    for count in (read, phi, exact):
        assert count(256, 500) / count(128, 500) == pytest.approx(2, rel=0.2)
        assert count(256, 1000) / count(256, 500) == pytest.approx(2, rel=0.2)

    def unit(x, v):
        return jax.vjp(lambda x: x / jnp.linalg.norm(x), x)[1](v)[0]

    ones = jnp.ones(4096)
    assert operations(unit, ones, ones) < 20 * 4096  # c_g is O(D), not D²


def test_regenerated_and_structured_features_hold_Y_plus_D_numbers():
    def size(**options):
        shapes = jax.eval_shape(
            lambda: ro.RandomFeatures(3000, 50_000, key=jax.random.key(0), **options)
        )
        arrays = [
            a
            for a in jax.tree.leaves(shapes)
            if not jax.dtypes.issubdtype(a.dtype, jax.dtypes.prng_key)
        ]
        return sum(a.size for a in arrays)

    assert size() >= 50_000 * 3000
    assert size(regenerate=True) < 50_000
    assert size(projection="hadamard") < 4 * (50_000 + 2 * 4096)


def test_dot_product_energy_is_the_gaussian_one_with_weights(problem):
    Xi, x, features, _ = problem
    w = np.exp(BETA / 2 * (Xi**2).sum(1))
    k = np.exp(-BETA / 2 * ((x[:, None] - Xi) ** 2).sum(-1))
    exact = ro.MrDAM(Xi, BETA, similarity="dot")
    assert np.abs(np.asarray(exact.energy(x)) + np.log(k @ w) / BETA).max() < 1e-12
    memory = ro.DrDAM.store(Xi, BETA, features, similarity="dot")
    T = w @ np.asarray(features.phi(BETA**0.5 * Xi))
    assert np.allclose(np.exp(memory.log_scale) * memory.T, T, atol=1e-12)
