"""The first-order error law against simulation, and the Hessian against
differentiation.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused

import rankone as ro
from rankone.precision import double_precision
from rankone.theory.error_law import ErrorLaw, error_law, hessian, lipschitz


@pytest.fixture(autouse=True)
def x64():
    with double_precision():
        yield


def binary(K, D, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (K, D)) / D**0.5


def states_of(Xi):
    """A stored pattern, a corrupted one, the centroid, and a random pattern that was
    not stored.
    """
    flips = np.arange(Xi.shape[1]) < Xi.shape[1] // 8
    near = np.where(flips, Xi.max() - Xi[1], Xi[1])
    return np.stack([Xi[0], near, Xi.mean(0), binary(1, Xi.shape[1], seed=99)[0]])


def one_frequency_errors(memory, x, N=200_000):
    """(X, linearised error of ĝ_A, of ĝ_B) for N single frequencies, from their
    definitions.
    """
    Xi = np.asarray(memory.Xi)
    beta = float(memory.beta)
    omega = np.random.default_rng(7).normal(size=(N, memory.D))
    h = beta**0.5 * omega @ (x - Xi).T
    X = np.cos(h).sum(1)
    slope = -(beta**0.5) * omega * np.sin(h).sum(1)[:, None]
    S = np.exp(-beta * float(memory.energy(x)))
    g = np.asarray(memory.gradient(x))
    e_A = -(slope + beta * g * X[:, None]) / (beta * S)
    e_B = -np.cos(h) @ (Xi - (x - g)) / S
    return X, e_A, e_B


@pytest.mark.parametrize("beta", [3.0, 20.0])
def test_second_moments_are_those_of_one_frequency(beta):
    Xi = binary(12, 16)
    memory = ro.MrDAM(Xi, beta)
    states = states_of(Xi)
    law = jax.tree.map(np.asarray, error_law(memory, states))
    for i, x in enumerate(states):
        X, e_A, e_B = one_frequency_errors(memory, x)
        for exact, sample in (
            (law.V[i], (X - law.S[i]) ** 2),
            (law.M_A[i], (e_A**2).sum(1)),
            (law.M_B[i], (e_B**2).sum(1)),
        ):
            standard_error = sample.std() / len(sample) ** 0.5
            assert abs(sample.mean() - exact) < 5 * standard_error
            assert standard_error < 0.03 * exact


def test_variance_equals_the_sum_of_kernels_minus_the_square():
    """The computed form, ½Σ(√K⁻ − √K⁺)², equals the form of the claim, ½Σ(K⁻ + K⁺) −
    S².
    """
    Xi = binary(9, 12)
    memory = ro.MrDAM(Xi, 15.0)
    x = states_of(Xi)[1]
    delta = x - Xi
    total = 0.0
    for a in delta:
        for b in delta:
            total += 0.5 * (
                np.exp(-7.5 * ((a - b) ** 2).sum())
                + np.exp(-7.5 * ((a + b) ** 2).sum())
            )
    law = error_law(memory, x)
    np.testing.assert_allclose(law.V, total - float(law.S) ** 2, rtol=1e-12)


def test_law_predicts_the_distributed_memory():
    """Energy error within 20 % and gradient error within 10 % of the law wherever the
    noise is at most 0.1.
    """
    D = 60
    K = 100
    Y = 8_000
    cells = 0
    for beta in (10.0, 30.0, 50.0):
        Xi = binary(K, D)
        memory = ro.MrDAM(Xi, beta)
        copies = [
            ro.DrDAM.store(Xi, beta, ro.RandomFeatures(D, Y, key=jax.random.key(seed)))
            for seed in range(5)
        ]
        for x in (Xi[:40], states_of(Xi)[1:2] + 0 * Xi[:40], binary(40, D, seed=5)):
            law = error_law(memory, x)
            if np.max(law.noise(Y)) > 0.1:
                continue
            E = np.asarray(memory.energy(x))
            slope = np.asarray(memory.gradient(x))
            energy = [np.abs(copy.energy(x) - E).mean() for copy in copies]
            gradient = [
                np.linalg.norm(copy.gradient(x) - slope, axis=-1).mean()
                for copy in copies
            ]
            # one state with five draws is too few for a mean |error|
            if len(set(map(tuple, x))) > 1:
                assert 0.8 < np.mean(energy) / np.mean(law.energy_error(Y)) < 1.2
            assert 0.9 < np.mean(gradient) / np.mean(law.gradient_error(Y)) < 1.1
            cells += 1
    assert cells >= 4


def test_the_law_tends_to_its_limits_for_patterns_far_apart():
    """For patterns far apart, V → K/2 and M_A → DK/(2βS²). The error of the energy does
    not depend on D, and that of the gradient grows with DK/β.
    """
    D = 400
    K = 30
    beta = 400.0
    Xi = binary(K, D)
    law = error_law(ro.MrDAM(Xi, beta), Xi[0])
    # the pattern itself adds no noise: cos 0 = 1
    np.testing.assert_allclose(law.V, (K - 1) / 2, rtol=1e-3)
    np.testing.assert_allclose(law.M_A, D * (K - 1) / (2 * beta), rtol=1e-3)
    np.testing.assert_allclose(
        law.features_for_energy(0.01 / beta), (K - 1) / 2 * 1e4, rtol=1e-3
    )
    np.testing.assert_allclose(
        law.features_for_gradient(0.1), D * (K - 1) / (2 * beta) * 100, rtol=1e-3
    )


def test_the_law_is_accurate_in_float32_where_the_kernel_is_flat():
    """In float32, with β so small that ½Σ(K⁻ + K⁺) − S² would be lost to rounding."""
    Xi = binary(50, 20)
    double = error_law(ro.MrDAM(Xi, 1e-2), Xi[0])
    single = error_law(ro.MrDAM(Xi.astype(np.float32), 1e-2), Xi[0].astype(np.float32))
    assert single.V.dtype == jnp.float32
    assert float(single.V) == pytest.approx(float(double.V), rel=1e-3)
    assert float(single.M_A) == pytest.approx(float(double.M_A), rel=1e-2)


def test_the_clipped_law_matches_gaussian_draws():
    """The mean |log| error of a Gaussian estimate, for the tangent line and for the
    published clip.
    """
    Xi = binary(60, 20)
    law = error_law(ro.MrDAM(Xi, 40.0), states_of(Xi))
    Y = 2000
    g = np.random.default_rng(0).normal(size=(300_000, 1))
    estimate = np.asarray(law.S) + np.sqrt(np.asarray(law.V) / Y) * g
    floor = np.sqrt(60 / (2 * Y)) / 8
    tangent = np.where(
        estimate > floor,
        np.log(np.maximum(estimate, floor)),
        np.log(floor) + estimate / floor - 1,
    )
    for log, clip in ((tangent, None), (np.log(np.maximum(estimate, 1e-5)), 1e-5)):
        expected = np.abs(log - np.log(law.S)).mean(0) / 40
        np.testing.assert_allclose(
            law.clipped_energy_error(Y, clip), expected, rtol=0.01
        )


def test_chebyshev_bound_holds_as_often_as_promised():
    Xi = binary(40, 20)
    memory = ro.MrDAM(Xi, 20.0)
    x = Xi[0] + 0.02
    Y = 500
    draws = 100
    bound = error_law(memory, x).gradient_error_bound(Y, s=1.5, t=1.5)
    count = 0
    for seed in range(draws):
        copy = ro.DrDAM.store(
            Xi, 20.0, ro.RandomFeatures(20, Y, key=jax.random.key(seed))
        )
        count += bool(
            np.linalg.norm(np.asarray(copy.gradient(x)) - memory.gradient(x)) <= bound
        )
    assert count / draws >= 1 - 2 / 1.5**2
    assert np.isinf(error_law(memory, x).gradient_error_bound(2, s=3.0))


def test_chebyshev_bound_by_hand():
    """The noise √(1/Y) = 0.1 and the gradient error √(4/Y) = 0.2 give 2·0.2/(1 −
    3·0.1). There is no bound for 3·noise ≥ 1.
    """
    law = ErrorLaw(*map(jnp.asarray, (1.0, 1.0, 4.0, 1.0, 2.0, 5.0)))
    assert float(law.gradient_error_bound(100, s=3, t=2)) == pytest.approx(
        0.4 / 0.7, rel=1e-12
    )
    assert float(law.gradient_error_bound(9, s=3, t=2)) == np.inf


def test_hessian_is_identity_minus_beta_covariance():
    Xi = binary(15, 8)
    memory = ro.MrDAM(Xi, 12.0)
    states = states_of(Xi)
    automatic = jax.jit(jax.vmap(jax.jacfwd(memory.gradient)))(states)
    np.testing.assert_allclose(hessian(memory, states), automatic, atol=1e-12)


def test_curvature_lies_between_the_popoviciu_bound_and_one():
    Xi = binary(15, 8)
    d2 = max(((a - b) ** 2).sum() for a in Xi for b in Xi)
    inside = np.random.default_rng(3).random((200, 8)) / 8**0.5
    eigenvalues = np.linalg.eigvalsh(hessian(ro.MrDAM(Xi, 30.0), inside))
    assert eigenvalues.max() <= 1 + 1e-9
    assert eigenvalues.min() >= 1 - 30 * d2 / 4 - 1e-9


def test_lipschitz_constant_is_attained_between_two_patterns():
    pair = ro.MrDAM(np.array([[0.5, 0.0], [-0.5, 0.0]]), 50.0)
    eigenvalues = np.linalg.eigvalsh(hessian(pair, np.zeros(2)))
    np.testing.assert_allclose(eigenvalues, [1 - 50 / 4, 1], atol=1e-12)
    assert np.abs(eigenvalues).max() == pytest.approx(
        float(lipschitz(beta=50.0, diameter=1.0)), rel=1e-12
    )
    assert float(lipschitz(beta=8.0, diameter=2.0)) == 7  # 8·2²/4 − 1
    assert float(lipschitz(beta=4.0, diameter=1.0)) == 1  # far from the patterns


def test_law_is_batched_and_jitted():
    memory = ro.MrDAM(binary(10, 6), 10.0)
    states = np.random.default_rng(1).random((2, 3, 6)) / 6**0.5
    batched = jax.jit(error_law)(memory, states)
    assert batched.M_A.shape == (2, 3)
    np.testing.assert_allclose(
        np.asarray(batched.M_A)[1, 2], error_law(memory, states[1, 2]).M_A, rtol=1e-10
    )


def test_error_law_refuses_other_similarities_and_fields():
    with refused(ValueError, match=r"MrDAM\(Xi, beta\)"):
        error_law(ro.MrDAM(binary(3, 4), 1.0, similarity="dot"), np.zeros(4))
    with refused(ValueError, match="field"):
        error_law(ro.MrDAM(binary(3, 4), 1.0), np.zeros(4)).gradient_error(10, "other")


def test_error_grows_with_K_at_stored_patterns_and_falls_at_far_queries():
    """The list after Theorem 2: exponents near ±1/2 in K, and −1/2 in β for the
    gradient [D-unn6].
    """
    Xi = binary(800, 60)
    far = binary(10, 60, seed=8)
    counts = (100, 200, 400, 800)
    stored = [
        np.mean(error_law(ro.MrDAM(Xi[:K], 60.0), Xi[:10]).energy_error(1000))
        for K in counts
    ]
    fresh = [
        np.mean(error_law(ro.MrDAM(Xi[:K], 60.0), far).energy_error(1000))
        for K in counts
    ]
    assert 0.4 < np.polyfit(np.log(counts), np.log(stored), 1)[0] < 0.55
    assert -0.65 < np.polyfit(np.log(counts), np.log(fresh), 1)[0] < -0.4
    sharp = [
        float(
            error_law(
                ro.MrDAM(binary(30, 200), beta), binary(30, 200)[0]
            ).gradient_error(1000)
        )
        for beta in (200.0, 400.0)
    ]
    assert sharp[1] / sharp[0] == pytest.approx(0.5**0.5, rel=0.05)
