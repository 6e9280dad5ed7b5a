"""Effects of rounding T: an identity for every rounding, and the law of Max's
levels.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused
from scipy.stats import norm

import rankone as ro
from rankone.memory.packed import levels
from rankone.memory.projections import Stored
from rankone.precision import double_precision
from rankone.theory import thresholds
from rankone.theory.rate_distortion import (
    distortion,
    effective_features,
    rounding_error,
    stored_bits,
)


def test_quantisation_levels_are_those_of_max_1960_and_locally_optimal():
    """Table I of Max (1960); the error by quadrature, and its change with each
    level.
    """
    for bits, printed in ((1, 0.3634), (2, 0.1175), (4, 0.009497)):
        assert distortion(bits) == pytest.approx(printed, abs=5e-5)
    assert distortion(1) == pytest.approx(1 - 2 / np.pi)
    x = np.linspace(-9, 9, 40_001)
    c = levels(4)

    def error(c):
        return (np.abs(x[:, None] - c).min(1) ** 2 * norm.pdf(x)).sum() * (x[1] - x[0])

    least = error(c)
    assert distortion(4) == pytest.approx(least, rel=1e-6)
    for i in (0, 5, 15):
        assert error(c + 0.01 * (np.arange(16) == i)) > least
        assert error(c - 0.01 * (np.arange(16) == i)) > least
    # Panter and Dite's limit
    assert distortion(8) == pytest.approx(np.sqrt(3) * np.pi / 2 / 4**8, rel=0.02)
    assert distortion(32) == 0


def test_the_mean_square_rounding_error_over_space_is_that_of_the_entries():
    """With integer frequencies, space is a torus, and a grid finer than twice the
    largest frequency gives exact means.
    """
    with double_precision():
        omega = np.array([[1, 0], [0, 2], [1, 1], [2, -1], [3, 1]], float)
        features = ro.RandomFeatures(
            2, 5, frequencies=Stored(jnp.asarray(omega[None])), phase=jnp.zeros(0)
        )
        memory = ro.DrDAM.store(
            np.array([[0.1, 0.7], [0.5, 0.3], [0.9, 0.2]]), 4.0, features
        )
        axis = np.pi * np.arange(8) / 8  # √β = 2
        x = jnp.asarray(np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2))
        for bits in (2, 1):
            other = replace(memory, bits=bits)
            (S, slope), (S_hat, slope_hat) = (
                m.features.read(2 * x, m.unpacked) for m in (memory, other)
            )
            mean_squares = [
                jnp.mean((S_hat - S) ** 2),
                4 * jnp.mean(((slope_hat - slope) ** 2).sum(1)),
            ]
            expected = rounding_error(memory, other)
            assert expected[0] > 0.1
            np.testing.assert_allclose(expected, np.sqrt(mean_squares), rtol=1e-12)


def test_errors_at_the_stored_patterns_cancel():
    with double_precision():
        Xi = ro.data.binary_patterns(9, 20, key=jax.random.key(0))
        memory = ro.DrDAM.store(
            Xi, 30.0, ro.RandomFeatures(20, 500, key=jax.random.key(1))
        )
        for bits in (8, 4, 2, 1):
            change = np.asarray(memory.features.phi(30**0.5 * Xi)) @ (
                replace(memory, bits=bits).unpacked - memory.T
            )
            assert abs(change.sum()) < 1e-12 < 1e-4 < np.abs(change).max()


def test_rounding_acts_like_a_loss_of_features():
    """The noise everywhere, and the displacement of stored patterns, are those of (1 −
    d)Y features.
    """
    D = 60
    K = 40
    Y = 24_000
    beta = 100.0
    Xi = ro.data.binary_patterns(K, D, key=jax.random.key(2))
    memory = ro.DrDAM.store(Xi, beta, ro.RandomFeatures(D, Y, key=jax.random.key(3)))
    pulled = {}
    for bits in (32, 4, 2, 1):
        rounded = replace(memory, bits=bits)
        effective_Y = effective_features(Y, bits=bits)
        # the root mean square of Ŝ over space
        noise = jnp.linalg.norm(rounded.unpacked) / (2 * Y) ** 0.5
        assert noise == pytest.approx(
            float(thresholds.noise(K=K, Y=effective_Y)), rel=0.01
        )
        pulled[bits] = float(jnp.sqrt((rounded.gradient(Xi) ** 2).sum(1).mean()))
        assert pulled[bits] == pytest.approx(
            float(thresholds.displacement(D=D, K=K, Y=effective_Y, beta=beta)), rel=0.05
        )
    assert pulled[1] / pulled[32] == pytest.approx((np.pi / 2) ** 0.5, rel=0.03)


def test_one_bit_per_entry_needs_the_least_storage():
    costs = [stored_bits(bits=bits) for bits in (1, 2, 4, 8, 32)]
    assert costs == sorted(costs)
    assert costs[0] == pytest.approx(2 * np.pi)
    assert costs[-1] == pytest.approx(128)
    assert min(costs) > thresholds.information_bound(D=1, K=1, flips=0.5)


def test_cos_features_and_unsupported_bits_are_refused():
    features = ro.RandomFeatures(3, 8, key=jax.random.key(4), basis="cos")
    cosines = ro.DrDAM.store(np.eye(3), 2.0, features)
    with refused(ValueError, match=r"^memory: got features of basis 'cos'"):
        rounding_error(cosines, cosines)
    with refused(ValueError, match=r"^bits: got 3"):
        distortion(3)
