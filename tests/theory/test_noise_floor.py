"""Noise against speed: the noise floor of descent at a given rate of convergence."""

import jax
import numpy as np
import pytest
from refusals import refused
from scipy.linalg import solve_discrete_lyapunov

from rankone.precision import double_precision
from rankone.theory.conditioning import stationary_covariance
from rankone.theory.noise_floor import lowest_floor, noise_floor, slowest_factor

K = 4


@pytest.fixture(autouse=True)
def x64():
    with double_precision():
        yield


def definite(rng, condition):
    Q = np.linalg.qr(rng.normal(size=(K, K)))[0]
    return (Q * np.geomspace(1, condition, K)) @ Q.T


def two_states(H, P, rate, beta):
    """The matrix of a step of heavy ball, on a state and the state before it."""
    eye = np.eye(K)
    zero = np.zeros((K, K))
    return np.block([[(1 + beta) * eye - rate * P @ H, -beta * eye], [eye, zero]])


def draws(count):
    """Curvature, noise, preconditioner, a rate at which descent converges, and a
    momentum.
    """
    for seed in range(count):
        rng = np.random.default_rng(seed)
        H, N, P = (definite(rng, condition) for condition in (30, 10, 20))
        beta = rng.uniform(0, 0.95) * (seed % 3 > 0)
        most = 2 * (1 + beta) / np.linalg.eigvals(P @ H).real.max()
        yield H, N, P, rng.uniform(0.02, 0.98) * most, beta


def test_the_floor_and_the_slowest_factor_are_those_of_the_iteration_K_sharp7():
    at_rest = jax.jit(stationary_covariance)
    for H, N, P, rate, beta in draws(12):
        M = two_states(H, P, rate, beta)
        noise = np.zeros((2 * K, 2 * K))
        noise[:K, :K] = rate**2 * P @ N @ P.T
        S = solve_discrete_lyapunov(M, noise)[:K, :K]
        np.testing.assert_allclose(
            at_rest(H, N, P, rate, beta), S, rtol=1e-6, atol=1e-8 * abs(S).max()
        )
        assert float(noise_floor(H, N, P, rate, beta)) == pytest.approx(
            np.trace(H @ S) / 2, rel=1e-8
        )
        radius = np.abs(np.linalg.eigvals(M)).max()
        assert float(slowest_factor(H, P, rate, beta)) == pytest.approx(
            radius, rel=1e-6
        )


def test_no_preconditioner_rate_or_momentum_has_a_lower_floor_at_its_slowest_factor_K_sharp7():
    nearest = np.inf
    for H, N, P, rate, beta in draws(60):
        floor = float(noise_floor(H, N, P, rate, beta))
        factor = float(slowest_factor(H, P, rate, beta))
        least = float(lowest_floor(H, N, factor, momentum=beta > 0))
        assert floor > least * (1 - 1e-9)
        nearest = min(nearest, floor / least)
        inverse = np.linalg.inv(H)
        rate_and_momentum = (
            (1 - factor) ** 2,
            factor**2,
        )  # rate and momentum that attain the bound
        assert float(noise_floor(H, N, inverse, *rate_and_momentum)) == pytest.approx(
            float(lowest_floor(H, N, factor)), rel=1e-6
        )
        # a double root
        assert float(slowest_factor(H, inverse, *rate_and_momentum)) == pytest.approx(
            factor, abs=1e-6
        )
        alone = float(lowest_floor(H, N, factor, momentum=False))
        assert float(noise_floor(H, N, inverse, 1 - factor)) == pytest.approx(
            alone, rel=1e-9
        )
        assert 0.5 < float(lowest_floor(H, N, factor)) / alone < 1
    assert nearest < 3  # some draw is close to the bound


@pytest.mark.parametrize("beta", [0.0, 0.9])
@pytest.mark.parametrize(
    "noise", ["the same in all directions", "that of the curvature"]
)
def test_at_the_same_slowest_factor_plain_descent_settles_higher_K_sharp7(noise, beta):
    H = definite(np.random.default_rng(0), 50)
    N = np.eye(K) if noise.startswith("the same") else H
    eta = 0.3
    plain = (np.eye(K), eta / 50, beta)
    preconditioned = (np.linalg.inv(H), eta / 50, beta)
    assert float(slowest_factor(H, *plain)) == pytest.approx(
        float(slowest_factor(H, *preconditioned)), rel=1e-9
    )
    assert float(noise_floor(H, N, *plain)) > 2 * float(
        noise_floor(H, N, *preconditioned)
    )
    # the same η, but convergence is fifty times as fast
    unmatched = float(noise_floor(H, N, np.linalg.inv(H), eta, beta))
    assert unmatched > float(noise_floor(H, N, *plain)) or noise.startswith("that")


def test_twenty_thousand_walks_settle_at_the_floor():
    rng = np.random.default_rng(1)
    H = np.diag([1.0, 8.0])
    N = np.array([[1.0, 0.5], [0.5, 2.0]])
    P = np.array([[1.0, 0.3], [0.3, 0.5]])
    rate = 0.2
    beta = 0.4
    w = before = np.zeros((20_000, 2))
    for _ in range(120):
        noise = rng.normal(size=w.shape) @ np.linalg.cholesky(N).T
        w, before = w + beta * (w - before) - rate * (w @ H + noise) @ P, w
    measured = 0.5 * np.einsum("ni,ij,nj->n", w, H, w).mean()
    assert measured == pytest.approx(float(noise_floor(H, N, P, rate, beta)), rel=0.03)


def test_settings_that_cannot_settle_are_refused_and_jit_gives_the_same_floor():
    H = definite(np.random.default_rng(2), 50)
    eye = np.eye(K)
    # asymmetry is measured against P itself
    for arguments, name in (
        ((H, eye, eye, 0.05), "learning_rate"),  # beyond 2/50
        ((H, eye, eye, -0.01), "learning_rate"),
        ((H, eye, eye, np.inf), "learning_rate"),
        ((-H, eye, eye, 0.01), "H"),
        ((np.diag([1.0, 0, 1, 1]), eye, eye, 0.01), "H"),
        ((H, eye, -eye, 0.01), "P"),
        ((H, eye, eye + np.eye(K, k=1), 0.01), "P"),
        (
            (H, eye, (eye + np.eye(K, k=1)) / 1e4, 0.01),
            "P",
        ),
        ((H, eye, eye, 0.01, 1.0), "momentum"),
        ((H[0], eye, eye, 0.01), "H"),
    ):
        with refused(ValueError, match=rf"^{name}: got"):
            noise_floor(*arguments)
    for factor in (0.0, 1.0, float("nan")):
        with refused(ValueError, match=r"^factor: got"):
            lowest_floor(H, eye, factor)
    inside = jax.jit(noise_floor)(H, eye, eye, 0.01, 0.5)
    np.testing.assert_allclose(inside, noise_floor(H, eye, eye, 0.01, 0.5), rtol=1e-12)


def test_a_preconditioner_with_one_direction_uphill_is_refused():
    with refused(
        ValueError,
        match=r"^P: got ηPH with an eigenvalue -0\.05; it must be positive definite",
    ):
        noise_floor(np.eye(2), np.eye(2), np.diag([1.0, -0.5]), 0.1)
