"""Soft neighbours as a ratio of two linear memories: compared with ResMem, with
features of fixed length, and far from all keys.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused

from rankone.residual.resmem import ResMem
from rankone.theory import soft_neighbours

D = 3
H = 2
M = 40
Y = 500
draws = np.random.default_rng(0)
KEYS = draws.normal(size=(D, M))
R = draws.normal(size=(H, M))
ASKED = KEYS[:, :4] + 0.2 * draws.normal(size=(D, 4))
SIGMA = 0.8


def test_a_reading_of_all_neighbours_is_residual_memory_with_k_of_n():
    memory = ResMem(M, SIGMA).fit_residuals(KEYS.T, R.T)
    got = soft_neighbours.soft_reading(KEYS, R, ASKED, SIGMA)
    np.testing.assert_allclose(got.T, memory.correction(ASKED.T), atol=1e-5)


def test_two_memories_of_fixed_length_estimate_the_reading_with_the_predicted_error():
    """W-knn: the error over draws of the features agrees with the law, within five
    standard errors and the second order.
    """
    true = soft_neighbours.soft_reading(KEYS, R, ASKED, SIGMA)
    law = soft_neighbours.ratio_error(KEYS, R, ASKED, SIGMA, Y)
    example = soft_neighbours.laplace_features(D, Y, SIGMA, key=jax.random.key(0))

    @jax.jit
    def error(key):
        features = soft_neighbours.laplace_features(D, Y, SIGMA, key=key)
        stored = features.features(jnp.asarray(KEYS, jnp.float32))
        # the memory stores only 2Y (H + 1) numbers
        numerator = stored @ R.T
        denominator = stored.sum(1)
        at_queries = features.features(jnp.asarray(ASKED, jnp.float32))
        return (
            (numerator.T @ at_queries / (denominator @ at_queries)[None] - true) ** 2
        ).sum(0)

    assert example.M == 2 * Y
    errors = np.asarray(jax.lax.map(error, jax.random.split(jax.random.key(1), 300)))
    standard = errors.std(0) / 300**0.5
    assert (abs(errors.mean(0) - law) < 5 * standard + 0.1 * law).all()
    np.testing.assert_allclose(
        soft_neighbours.ratio_error(KEYS, R, ASKED, SIGMA, 4 * Y), law / 4
    )
    # Halfway between two keys with opposite residuals, the features of both keys have
    # equal inner products with the query, so the error is zero.
    pair = np.array([[-0.7, 0.7]])
    opposite = np.array([[1.0, -1.0]])
    assert soft_neighbours.ratio_error(pair, opposite, np.zeros((1, 1)), SIGMA, Y)[
        0
    ] == pytest.approx(0, abs=1e-15)
    assert (
        soft_neighbours.ratio_error(pair, opposite, np.full((1, 1), 0.3), SIGMA, Y)[0]
        > 1e-5
    )


@pytest.mark.parametrize("shift", [0.0, 1.7])
def test_the_error_of_one_pair_and_of_two_by_hand(shift):
    """For one pair the ratio has no error. For ±1 at two keys, and a query at one of
    them, only κ̂ is noisy, with the variance (1 − κ²)/2Y, and the reading (κ̂ − 1)/(κ̂
    + 1) has the slope 2/(1 + κ)². This holds wherever the keys are.
    """
    keys = np.array([[-0.7, 0.7]]) + shift
    kappa = np.exp(-1.4 / SIGMA)

    def law(K, R, q):
        return soft_neighbours.ratio_error(K, R, q, SIGMA, Y)

    np.testing.assert_allclose(law(keys[:, :1], np.array([[3.0]]), keys), 0, atol=1e-15)
    errors = law(keys, np.array([[1.0, -1.0]]), keys)
    np.testing.assert_allclose(
        errors, (2 / (1 + kappa) ** 2) ** 2 * (1 - kappa**2) / (2 * Y), rtol=1e-12
    )


def test_features_are_finite_however_heavy_the_tail():
    """The longest of a million frequencies would have a length of a million, where a
    cosine in float32 may be NaN.
    """
    features = soft_neighbours.laplace_features(
        D, 200_000, SIGMA, key=jax.random.key(4)
    )
    # 160 frequencies are cut to a thousand times a normal vector
    assert 2e3 / SIGMA < np.abs(features.omega).max() < 6e3 / SIGMA
    phi = np.asarray(features.phi(jnp.asarray(KEYS.T[:3], jnp.float32)))
    np.testing.assert_allclose((phi**2).sum(1), 1, atol=1e-5)


def test_far_from_all_keys_a_reading_does_not_fade():
    """W-far: the reading tends to a softmax of ⟨u, k⟩/σ, while the sum of the weights
    goes to 0. At the last distance each weight alone would underflow.
    """
    u = np.array([1.0, -0.5, 2.0])
    u /= np.linalg.norm(u)
    limit = soft_neighbours.far_reading(KEYS, R, 3 * u, SIGMA)
    errors = []
    for away in (30.0, 300.0, 3000.0):
        got = soft_neighbours.soft_reading(KEYS, R, away * u[:, None], SIGMA)[:, 0]
        errors.append(np.abs(got - limit).max())
    assert errors[1] == pytest.approx(errors[0] / 10, rel=0.2)
    assert errors[2] == pytest.approx(errors[1] / 10, rel=0.2)
    far = 3000.0 * u[:, None]
    assert soft_neighbours.ratio_error(KEYS, R, far, SIGMA, Y) == np.inf
    # the limit is not the residual of one key
    assert np.abs(limit - R[:, (u @ KEYS).argmax()]).max() > 0.05


def test_a_narrow_kernel_reads_only_the_foremost_key_far_away():
    """W-far: ⟨u, k⟩/σ is in the thousands, where its exponential overflows."""
    u = np.array([1.0, -0.5, 2.0])
    foremost = (u @ KEYS).argmax()
    np.testing.assert_allclose(
        soft_neighbours.far_reading(KEYS, R, u, 1e-3), R[:, foremost], rtol=1e-9
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: soft_neighbours.laplace_features(2, 5, 0.0, key=jax.random.key(0)),
            "sigma: got",
        ),
        (lambda: soft_neighbours.soft_reading(KEYS, R, ASKED[:2], 1.0), "q: got"),
        (
            lambda: soft_neighbours.far_reading(KEYS, R, np.zeros(D), 1.0),
            "direction: got",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with refused(ValueError, match=message):
        call()
