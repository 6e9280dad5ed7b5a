"""The plain functions and the library compute the same quantities.

Everything runs in double precision on quantities of order 1. Two programs of a few
thousand operations then agree to well within 1e-9; a descent of 50 steps, whose step is
smaller than the curvature's inverse, does not amplify this.
"""

from functools import partial

import jax
import jax.numpy as jnp
import pytest
from draws import normal

import rankone as ro
from rankone import plain
from rankone.universality.two_layers import two_layer_network

pytestmark = pytest.mark.usefixtures("x64")

BETA = 3.0
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


def normals(seed: int, *shape: int) -> jax.Array:
    return jnp.asarray(normal(seed, *shape))


@pytest.fixture
def patterns() -> jax.Array:
    return normals(0, 4, 5)


@pytest.fixture
def state() -> jax.Array:
    return normals(1, 5)


def test_plain_energies_equal_those_of_the_library(
    patterns: jax.Array, state: jax.Array
) -> None:
    features = ro.RandomFeatures(5, 300, key=jax.random.key(0))
    memory = ro.DrDAM.store(patterns, BETA, features)
    T = jax.jit(plain.store)(patterns, BETA, features.omega)
    # A library may order its features differently; the energy, an inner product, does
    # not depend on the order.
    assert jnp.allclose(jnp.sort(T), jnp.sort(memory.T), **CLOSE)
    near = patterns[0] + 0.1 * state
    distributed = jax.jit(plain.distributed_energy)(near, T, BETA, features.omega)
    assert jnp.allclose(
        jax.jit(plain.energy)(near, patterns, BETA),
        ro.MrDAM(patterns, BETA).energy(near),
        **CLOSE,
    )
    assert jnp.allclose(distributed, memory.energy(near), **CLOSE)


def test_plain_retrieval_takes_the_same_steps_as_the_library(
    patterns: jax.Array, state: jax.Array
) -> None:
    start = patterns[0] + 0.3 * state
    library = ro.retrieve(
        ro.MrDAM(patterns, BETA), start, step_size=0.1, max_steps=50, tol=0.0
    )
    reached = plain.retrieve(
        start, jax.jit(lambda x: plain.energy(x, patterns, BETA)), steps=50
    )
    assert int(library.steps) == 50
    assert jnp.allclose(reached, library.x, **CLOSE)


def test_the_plain_rank_one_edit_equals_that_of_the_library() -> None:
    W, K, k, v = (
        normals(seed, *shape) for seed, shape in enumerate([(3, 4), (4, 9), (4,), (3,)])
    )
    edited = jax.jit(plain.rank_one_edit)(W, K, k, v)
    assert jnp.allclose(edited, ro.rank_one_edit(W, K @ K.T, k, v).apply(W), **CLOSE)
    assert jnp.allclose(edited @ k, v, **CLOSE)


def test_a_step_on_the_middle_factor_is_the_preconditioned_step() -> None:
    T, U, V, target = (
        normals(seed, *shape)
        for seed, shape in enumerate([(3, 2), (2, 5), (5, 4), (3, 4)])
    )

    def loss(W: jax.Array) -> jax.Array:
        return jnp.sum(jnp.sin(W - target) ** 2)

    W = T @ U @ V
    after = T @ plain.step_on_U(loss, T, U, V, 0.01) @ V
    preconditioned = ro.kronecker_preconditioner(T, V).apply(jax.grad(loss)(W))
    assert jnp.allclose(after, plain.step_on_W(loss, W, T, V, 0.01), **CLOSE)
    assert jnp.allclose(after, W - 0.01 * preconditioned, **CLOSE)
    assert not jnp.allclose(after, W, atol=1e-3)


def test_one_plain_step_changes_the_first_layer_as_in_the_library() -> None:
    J = 6
    readers = 30
    constants = ro.universality.Constants.over((-1.0, 1.0), 4.0)
    library = two_layer_network(lambda x, y, x_star: 0 * y, units=readers, cells=J)
    x = 0.7
    y = 0.4

    @jax.jit
    def first_layers() -> tuple[tuple[jax.Array, jax.Array], ...]:
        w = constants.linear
        delta = constants.offset
        alpha = constants.alpha
        theta, _ = plain.blank_learner(
            jax.random.key(0), J, readers, w, delta, -5.0, alpha
        )
        return theta[0], plain.one_step(theta, x, y, alpha)[0]

    (_, b1_before), (W1, b1) = first_layers()
    after = ro.adapt(library, x, y).layers[0]
    assert jnp.allclose(W1, after.W[:, 0], rtol=1e-9, atol=1e-12)
    assert jnp.allclose(b1, after.b, rtol=1e-9, atol=1e-12)
    # In units of αw and of the error before the step, u₀ changes by 1, and u₁ by the
    # fraction of thresholds j/6 below .7, which is four of six.
    written = (b1 - b1_before)[1:] / (constants.alpha * constants.linear * (y + 5.0))
    # the tolerance is δ = 1e-4 in the prediction before the step
    assert jnp.allclose(written, jnp.array([1, 4 / 6]), atol=1e-4)


def test_the_plain_learner_has_at_most_twice_the_error_of_the_library() -> None:
    def f(x: jax.Array, y: jax.Array, x_star: jax.Array) -> jax.Array:
        return y * jnp.sin(2 * jnp.pi * (x_star - x))

    tasks = jax.random.uniform(jax.random.key(1), (200, 3)) * jnp.array(
        [1, 2, 1]
    ) - jnp.array([0, 1, 0])
    theta = jax.jit(partial(plain.learner, f, J=32, readers=200))(jax.random.key(0))
    library = ro.universal_learner(f, 32, "two_layers", units=200)

    @jax.jit
    @jax.vmap
    def learned(x: jax.Array, y: jax.Array, x_star: jax.Array) -> jax.Array:
        return plain.network(plain.one_step(theta, x, y), x_star)[0]

    x, y, x_star = tasks.T
    answers = ro.universality.learn(library, x, y, x_star[:, None])[:, 0]
    plain_error = jnp.abs(learned(x, y, x_star) - f(x, y, x_star)).mean()
    library_error = jnp.abs(answers - f(x, y, x_star)).mean()
    # The library places its readers evenly, plain.py at random. The mean of |f| is 1/π.
    assert plain_error < 2 * library_error
    assert plain_error < 0.5 / jnp.pi


def test_plain_residual_memory_gives_the_same_scores_as_the_library() -> None:
    Z = normals(0, 20, 3)
    z = normals(1, 3)
    probs = jax.nn.softmax(normals(2, 20, 4), axis=1)
    labels = jnp.arange(20) % 4
    query = jnp.array([0.1, 0.2, 0.3, 0.4])
    library = ro.ResMem(k=5, sigma=0.7, temperature=1.0).fit(Z, probs, labels)
    residuals = jax.nn.one_hot(labels, 4) - probs
    scores = jax.jit(plain.resmem, static_argnames="k")(
        z, query, Z, residuals, k=5, sigma=0.7
    )
    assert jnp.allclose(scores, library.predict(z[None], query[None])[0], **CLOSE)
