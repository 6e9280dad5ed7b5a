"""Claims of the chapter on retrieval that belong to no single module."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from optimized import optimized

import rankone as ro
from rankone.data.queries import flip_bits
from rankone.precision import double_precision
from rankone.theory.error_law import error_law
from rankone.theory.fidelity import approximation_errors, hamming_error


@pytest.fixture(scope="module", autouse=True)
def compiled_for_speed():
    """Computing the features of large memories takes longer than compiling. Optimised
    programs take two thirds of the time.
    """
    with optimized():
        yield


def test_the_energy_error_grows_at_patterns_and_falls_elsewhere_as_root_K():
    fresh = ro.data.binary_patterns(6, 500, key=jax.random.key(0))
    law = {}
    for K in (50, 400):
        Xi = ro.data.binary_patterns(K, 500, key=jax.random.key(1))
        at_both = error_law(
            ro.MrDAM(Xi, 60.0), jnp.concatenate([Xi[:6], fresh])
        ).energy_error(1000)
        law[K] = np.asarray(at_both).reshape(2, 6).mean(1)
    exponents = np.log(law[400] / law[50]) / np.log(8)
    assert np.allclose(exponents, [0.5, -0.5], atol=0.1)


def test_retrieval_fails_as_K_grows_at_fixed_Y():
    D = 60
    Y = 6_000
    beta = 60.0
    features = ro.RandomFeatures(D, Y, key=jax.random.key(2))
    errors = []
    for K in (20, 400):  # Y/DK = 5 and ¼; signal-to-noise at the start 5.5 and 1.2
        Xi = ro.data.binary_patterns(K, D, key=jax.random.key(3))
        start = flip_bits(Xi[:20], 0.05, key=jax.random.key(4))
        end = ro.retrieve(
            ro.DrDAM.store(Xi, beta, features), start, max_steps=150, progress=False
        ).x
        errors.append(float(hamming_error(end, Xi[:20]).mean()))
    assert errors[0] < 0.03
    assert errors[1] > 0.1


def test_scaling_patterns_divides_beta():
    with double_precision():
        Xi = np.random.default_rng(5).random((9, 6))
        x = np.random.default_rng(6).random((4, 6))
        energy, gradient = map(np.asarray, ro.MrDAM(Xi, 7.0).energy_and_gradient(x))
        for s in (0.3, 4.0):
            scaled = ro.MrDAM(s * Xi, 7.0 / s**2)
            assert np.allclose(scaled.energy(s * x), s**2 * energy, atol=1e-12)
            assert np.allclose(scaled.gradient(s * x), s * gradient, atol=1e-12)


@cache
def features(D, Y, seed):
    return ro.RandomFeatures(D, Y, key=jax.random.key(seed))


def errors_at(beta, D=100, K=200, Y=20_000, seeds=(0, 1, 2)):
    """Mean energy and gradient errors at stored and far states, over a few draws of the
    features.
    """
    Xi = ro.data.binary_patterns(K, D, key=jax.random.key(7))
    x = np.concatenate([Xi[:20], ro.data.binary_patterns(20, D, key=jax.random.key(8))])
    exact = ro.MrDAM(Xi, beta)
    errors = [
        approximation_errors(exact, ro.DrDAM.store(Xi, beta, features(D, Y, s)), x)
        for s in seeds
    ]

    def mean(name):
        return np.mean([getattr(f, name) for f in errors], 0).reshape(2, 20).mean(1)

    return mean("energy"), mean("gradient")


def test_errors_far_from_patterns_are_larger_only_at_large_beta():
    (stored, far), _ = errors_at(10.0)
    assert 0.8 < far / stored < 1.3
    (stored, far), _ = errors_at(50.0)
    assert far / stored > 10


def test_errors_at_stored_patterns_fall_with_large_beta():
    warm, cold = (errors_at(beta, D=300, K=100)[0][0] for beta in (45.0, 90.0))
    assert 0.4 < cold / warm < 0.7  # S = 1 at both: 1/β


def test_gradient_error_grows_as_root_D_and_falls_as_root_Y():
    base, wide, many = (
        errors_at(60.0, K=100, seeds=(0,), **c)[1][0]
        for c in ({}, {"D": 400}, {"Y": 80_000})
    )
    assert 1.8 < wide / base < 2.2
    assert 0.45 < many / base < 0.55
