"""Thresholds of storage, compared with simulation, and the information bound, compared
with exact cases.
"""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

import rankone as ro
from rankone.theory import thresholds
from rankone.theory.fidelity import hamming_error


def stored(D, K, load, beta, seed=0):
    k_data, k_features = jax.random.split(jax.random.key(seed))
    Xi = ro.data.binary_patterns(K, D, key=k_data)
    return Xi, ro.DrDAM.store(
        Xi, beta, ro.RandomFeatures(D, int(load * D * K), key=k_features)
    )


@cache
def recalled(load):
    """Thirty of 60 stored patterns of 60 bits at β = 80, and the fixed point of
    each.
    """
    Xi, memory = stored(60, 60, load, 80.0)
    end = ro.retrieve(memory, Xi[:30], step_size=1.0, max_steps=200, progress=False).x
    return np.asarray(Xi[:30]), np.asarray(end)


def test_displacement_of_stored_patterns_follows_c_over_root_beta():
    D = 60
    K = 60
    beta = 80.0
    for load in (3, 6):
        Xi, end = recalled(load)
        measured = np.sqrt(((end - Xi) ** 2).sum(1).mean())
        law = thresholds.displacement(D=D, K=K, Y=load * D * K, beta=beta)
        # The law is of first order in c, and the next term is relatively c², .17 and
        # .08 here. All 30 patterns have the same frequencies.
        assert 0.95 < measured / law < 1.3


def test_hessian_spectrum_fills_one_plus_minus_two_c():
    D = 80
    K = 80
    load = 4
    Xi, memory = stored(D, K, load, 100.0)
    spectrum = np.linalg.eigvalsh(jax.jit(jax.jacfwd(memory.gradient))(Xi[0]))
    low, high = thresholds.hessian_edges(D=D, K=K, Y=load * D * K)
    # The edge of a spectrum of D = 80 fluctuates by 2c·D^(-2/3) = .04, its middle by σ.
    assert abs(spectrum[0] - low) < 0.15
    assert abs(spectrum[-1] - high) < 0.15


def test_edge_reaches_zero_exactly_at_the_threshold():
    Y = thresholds.features_for_stability(D=100, K=7)
    assert Y == 1400
    low, _ = thresholds.hessian_edges(D=100, K=7, Y=Y)
    assert abs(low) < 1e-6


def test_bit_errors_follow_the_normal_tail():
    # c² = .17 gives one bit in a hundred thousand; the weaker case has c² = .25
    D = 60
    K = 200
    beta = 30.0
    load = 3.0
    assert thresholds.bit_error(D=D, K=K, Y=load * D * K, beta=beta) < 1e-4
    # In a run, the entries of the fixed point's displacement at large Y are Gaussian,
    # with the law's standard deviation.
    Xi, end = recalled(6)
    # displacement towards the other value of the bit
    moved = ((end - Xi) * np.where(Xi > 0, -1, 1)).ravel() * 60**0.5
    # A bit flips if the displacement exceeds one half. The threshold is rescaled to a
    # value that is exceeded often.
    at = 0.05
    law = thresholds.bit_error(D=60, K=60, Y=6 * 3600, beta=80.0 * (2 * at) ** 2)
    fraction = (moved > at).mean()
    # 1800 entries, standard error .012, and the displacement's c² correction
    assert abs(fraction - law) < 0.04


def test_bit_errors_by_hand():
    """√β/2c is 1 with c² = DK/2Y = 1 and β = 4, and ½ with c = 2. The errors are the
    tails of a normal variable beyond 1 and ½.
    """
    assert thresholds.bit_error(D=2, K=1, Y=1, beta=4.0) == pytest.approx(
        norm.sf(1), rel=1e-5
    )
    assert thresholds.bit_error(D=2, K=4, Y=1, beta=4.0) == pytest.approx(
        norm.sf(0.5), rel=1e-5
    )


def test_hamming_error_below_and_above_the_threshold():
    rates = []
    for load in (0.25, 4):
        Xi, memory = stored(60, 60, load, 60.0, seed=2)
        end = ro.retrieve(
            memory, Xi[:30], step_size=1.0, max_steps=150, progress=False
        ).x
        rates.append(float(hamming_error(end, Xi[:30]).mean()))
    assert rates[0] > 0.01
    assert rates[1] == 0


def test_noise_is_the_standard_deviation_of_a_far_reading():
    D = 200
    K = 50
    Y = 300
    Xi = ro.data.binary_patterns(K, D, key=jax.random.key(3))
    far = -2 * jnp.ones(D) / D**0.5
    S = [
        ro.DrDAM.store(
            Xi, 60.0, ro.RandomFeatures(D, Y, key=jax.random.key(s))
        ).partition(far)
        for s in range(200)
    ]
    law = thresholds.noise(K=K, Y=Y)
    # four standard errors of a standard deviation
    assert abs(np.std(S) / law - 1) < 4 / np.sqrt(2 * 200)


def test_signal_to_noise_is_kernel_over_noise():
    D = 30
    K = 5
    Y = 1000
    beta = 12.0
    x, xi = jax.random.uniform(jax.random.key(4), (2, D)) / D**0.5

    def kernel(x):
        return jnp.exp(-beta / 2 * ((x - xi) ** 2).sum())

    noise = (K / (2 * Y)) ** 0.5
    assert jnp.allclose(
        thresholds.signal_to_noise(x, xi, beta=beta, K=K, Y=Y),
        kernel(x) / noise,
        rtol=1e-5,
    )


def test_the_gradient_of_the_noise_has_norm_root_D_sigma():
    D = 100
    K = 50
    Y = 400
    beta = 60.0
    Xi = ro.data.binary_patterns(K, D, key=jax.random.key(5))
    far = -2 * np.ones(D) / D**0.5
    slope = jax.jit(lambda memory, x: jax.grad(memory.partition)(x))
    slopes = []
    for seed in range(30):
        memory = ro.DrDAM.store(
            Xi, beta, ro.RandomFeatures(D, Y, key=jax.random.key(seed))
        )
        slopes.append(np.linalg.norm(slope(memory, far)) / beta**0.5)
    assert (
        abs(
            np.sqrt(np.mean(np.square(slopes))) / (D**0.5 * thresholds.noise(K=K, Y=Y))
            - 1
        )
        < 0.05
    )


@pytest.mark.parametrize(("flips", "bits"), [(0.5, 1.0), (0.0, 0.0), (0.11002786, 0.5)])
def test_information_bound_at_known_entropies(flips, bits):
    assert thresholds.information_bound(D=10, K=3, flips=flips) == pytest.approx(
        30 * bits, abs=1e-4
    )


def test_information_bound_grows_with_KD_and_falls_with_tolerated_errors():
    def bound(**change):
        return float(
            thresholds.information_bound(**{"D": 8, "K": 4, "flips": 0.1} | change)
        )

    assert bound(K=8) == pytest.approx(2 * bound())
    assert bound(D=16) == pytest.approx(2 * bound())
    assert bound(errors=0.05) < bound()
    assert bound(errors=0.1) == 0


def test_the_information_bound_is_consistent_with_storing_everything_or_nothing():
    """Storing everything, one bit per pattern bit, and storing nothing are consistent
    with the bound.
    """
    D = 12
    K = 5
    for flips in (0.01, 0.1, 0.3, 0.5):
        assert thresholds.information_bound(D=D, K=K, flips=flips) <= D * K + 1e-4
        assert thresholds.information_bound(D=D, K=K, flips=flips, errors=flips) == 0


def test_break_even_is_where_the_vector_is_as_long_as_the_patterns():
    Y = int(thresholds.break_even_features(D=16, K=6))
    assert ro.RandomFeatures(16, Y, key=jax.random.key(0)).M == 16 * 6
