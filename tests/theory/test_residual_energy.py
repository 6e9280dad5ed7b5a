"""The risk of ResMem is the Dirichlet energy of its residual: on the torus, with a
density, at a wall.
"""

from math import gamma, pi

import numpy as np
import pytest
from refusals import refused
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.spatial import cKDTree

import rankone as ro
from rankone.precision import double_precision
from rankone.theory.linear_resmem import constrained_erm, joint_erm
from rankone.theory.nearest_neighbour import boundary_constant
from rankone.theory.residual_energy import (
    energy_law,
    mode_risk,
    neighbour_constant,
    wall_law,
)


def offsets(n, d, *, box=1.0, queries=4000, repetitions=10, seed=0):
    """The vector from each query to the nearest of n points, uniform in the unit cube.
    Sides of length 1 are periodic.
    """
    rng = np.random.default_rng(seed)
    sides = np.broadcast_to(box, (d,))
    runs = []
    for _ in range(repetitions):
        X = rng.random((n, d))
        q = rng.random((queries, d))
        v = X[cKDTree(X, boxsize=sides).query(q)[1]] - q
        runs.append(v - np.round(v) * (sides > 0))
    return np.stack(runs)


def mean_error(values):
    """Mean over queries and repetitions, and its standard error over repetitions,
    because the queries of a repetition have the same points.
    """
    means = np.asarray(values, float).mean(1)
    return means.mean(), means.std(ddof=1) / len(means) ** 0.5


# --- the torus


@pytest.mark.parametrize(("n", "d"), [(200, 1), (200, 2), (200, 3), (1000, 5)])
def test_mode_risk_predicts_the_risk_of_a_wave_with_memory(n, d):
    v = offsets(n, d, repetitions=60, queries=1000)
    for k in (1, 4, 16):
        mean, error = mean_error(2 * (1 - np.cos(2 * pi * k * v[..., 0])))
        assert abs(mean - mode_risk(n, d, k)) < 4 * error
    assert error < 0.05 * mean


def test_risk_of_a_residual_of_many_waves_is_their_sum_weighted():
    """The risk is computed from the values of a residual, without a Fourier transform,
    for two waves in different directions.
    """
    rng = np.random.default_rng(1)
    n = 300
    risks = []

    def g(x):
        return np.sin(2 * pi * x[:, 0]) + 0.5 * np.cos(
            2 * pi * (2 * x[:, 0] - 3 * x[:, 1])
        )

    for _ in range(60):
        X = rng.random((n, 2))
        q = rng.random((1000, 2))
        risks.append((g(q) - g(X[cKDTree(X, boxsize=1).query(q)[1]])) ** 2)
    mean, error = mean_error(risks)
    assert (
        abs(mean - mode_risk(n, 2, 1.0) / 2 - mode_risk(n, 2, 13**0.5) / 8) < 4 * error
    )
    assert error < 0.02 * mean


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
def test_energy_bounds_the_risk_of_every_wave_and_is_its_limit(d):
    n = np.array([1e2, 1e4, 1e6, 1e12])[:, None]
    k = np.array([1.0, 3.0, 30.0])
    risk = mode_risk(n, d, k)
    law = energy_law(n, d, (2 * pi * k) ** 2)
    assert (risk <= law * (1 + 1e-9)).all()
    assert (risk > 0).all()
    ratio = (risk / law)[:, 0]
    assert (np.diff(ratio) > -1e-9).all()
    assert ratio[-1] == pytest.approx(1, abs=0.02)
    missing = 1 - (risk / law)[-1, :2]  # of order (k n^(−1/d))²
    if d > 2:
        assert missing[1] / missing[0] == pytest.approx(9, rel=0.05)


def test_waves_on_the_circle_by_hand():
    """One stored point is at a uniform distance. The nearer of two is within r with
    probability 1 − (1 − 2r)².
    """
    np.testing.assert_allclose(
        mode_risk(1, 1, np.array([1.0, 2.0, 5.0])), 2, rtol=1e-12
    )
    assert mode_risk(2, 1, 1.0) == pytest.approx(2 - 8 / pi**2, rel=1e-12)
    # these waves are longer than the circle, and only the series handles them
    long = np.array([0.005, 0.02])
    np.testing.assert_allclose(
        mode_risk(1, 1, long), 2 * (1 - np.sinc(long)), rtol=1e-10
    )


def test_memory_doubles_the_risk_of_a_wave_too_short_for_the_store():
    assert mode_risk(100, 3, 100.0) == pytest.approx(2, abs=1e-3)
    assert mode_risk(10**6, 3, 1.0) < 1e-3


def test_the_neighbour_constant_equals_hand_values():
    """d = 1: V = 2 and κ = Γ(3)/4; d = 2: V = π and κ = 1/2π."""
    assert neighbour_constant(1) == pytest.approx(1 / 2, rel=1e-12)
    assert neighbour_constant(2) == pytest.approx(1 / (2 * pi), rel=1e-12)
    assert energy_law(1, 1, 3.0) == pytest.approx(1.5 * gamma(2) / gamma(4), rel=1e-12)


# --- with a density, and in the ball


@pytest.mark.parametrize("sign", [1, -1])
def test_density_enters_to_the_power_one_less_two_over_d(sign):
    """On the torus, with p = 1 + 0.8 cos 2πx₁ in three dimensions. The residual varies
    where points are dense, or where they are sparse.
    """
    rng = np.random.default_rng(2)
    n = 20_000
    d = 3
    risks = []
    grid = np.linspace(0, 1, 4001)
    wave = np.cos(2 * pi * grid)
    p = 1 + 0.8 * wave
    distribution = grid + 0.8 * np.sin(2 * pi * grid) / (2 * pi)

    def draw(m):
        return np.c_[
            np.interp(rng.random(m), distribution, grid) % 1, rng.random((m, d - 1))
        ]

    def g(x):
        return (1 + sign * np.cos(2 * pi * x[:, 0])) * np.sin(2 * pi * x[:, 1])

    for _ in range(15):
        X = draw(n)
        q = draw(4000)
        risks.append((g(q) - g(X[cKDTree(X, boxsize=1).query(q)[1]])) ** 2)
    # mean over x₂ of ‖∇g‖²
    slopes = 2 * pi**2 * ((1 + sign * wave) ** 2 + np.sin(2 * pi * grid) ** 2)
    law, naive = (
        energy_law(n, d, np.trapezoid(slopes * p**a, grid)) for a in (1 - 2 / d, 1.0)
    )
    mean, error = mean_error(risks)
    assert abs(mean - law) < 4 * error + 0.01 * law
    assert abs(mean - naive) > 10 * error  # the mean slope at the points themselves


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
def test_for_the_papers_linear_model_the_energy_law_equals_the_risk(d):
    """Uniform in the ball of radius √(d + 2), g = ⟨u, x⟩, ‖u‖ = 1: interior and wall
    together are `law`/d.
    """
    n = 10**4
    volume = pi ** (d / 2) / gamma(d / 2 + 1) * (d + 2) ** (d / 2)
    p = 1 / volume
    wall = d * volume / (d + 2) ** 0.5
    inner = energy_law(n, d, p ** (-2 / d))
    outer = wall_law(
        n, d, p ** (1 - 3 / d) * wall * (1 - 1 / d), p ** (1 - 3 / d) * wall / d
    )
    assert inner + outer == pytest.approx(
        ro.nearest_neighbour_risk(n, d).law / d, rel=1e-9
    )


# --- the wall


@pytest.mark.parametrize("d", [2, 3, 5])
def test_the_wall_law_holds_and_its_normal_term_changes_sign_at_d_three(
    d,
):
    """A slab is the cube with all directions but the first periodic. It is compared
    with the torus with the same points.
    """
    n = 1500
    inner = energy_law(1500, d, 1.0)
    walls, none = (
        offsets(n, d, box=np.r_[side, np.ones(d - 1)], repetitions=16) ** 2
        for side in (0.0, 1.0)
    )
    for axis, (tangential, normal) in ((0, (0, 2)), (1, (2, 0))):
        mean, error = mean_error((walls - none)[..., axis])
        assert abs(mean - wall_law(n, d, tangential, normal)) < 4 * error
        assert error < 0.004 * inner
    assert np.sign(np.round(wall_law(n, d, 0, 2) / inner, 9)) == np.sign(3 - d)


@pytest.mark.parametrize("d", [2, 3, 4, 5, 9])
def test_the_wall_constants_are_integrals_over_half_a_sphere(d):
    """The mean of ω_ν² over directions ω that do not cross the wall, by quadrature,
    without the divergence theorem.
    """

    def density(w):
        return (1 - w * w) ** ((d - 3) / 2)

    whole = quad(density, -1, 1)[0]

    def second_moment(t):
        return quad(lambda w: w * w * density(w), -t, 1)[0] * d / whole

    def solid(w):
        return (1 - w * w) ** ((d - 1) / 2)

    def inside(t):
        return quad(solid, -t, 1)[0] / quad(solid, -1, 1)[0]

    integral = quad(lambda t: second_moment(t) * inside(t) ** (-1 - 3 / d) - 1, 0, 1)[0]
    assert integral == pytest.approx(
        (1 - d / 3) * boundary_constant(d), rel=1e-6, abs=1e-9
    )


def test_the_laws_sum_to_the_exact_risk_on_the_interval():
    n = np.array([1, 2, 10, 1000])
    risk = energy_law(n, 1, 1.0) + wall_law(n, 1, 0, 2)
    # Quotients of Γ are computed from differences of ln Γ, which is 5,900 at n = 1,000,
    # with rounding errors of 1e-12.
    np.testing.assert_allclose(
        risk, (n + 7) / (2.0 * (n + 1) * (n + 2) * (n + 3)), rtol=1e-11
    )


# --- what a base should learn


def test_the_base_that_is_worse_alone_is_better_with_memory():
    """The target is sin 2πx₁ + ½ sin 8πx₁ in three dimensions, with 30,000 examples.
    The base can learn one of the two waves.
    """
    smooth = mode_risk(30_000, 3, 1.0) / 2
    rough = mode_risk(30_000, 3, 4.0) / 8
    v = offsets(30_000, 3, repetitions=4)
    for k, square, risk in ((1, 1 / 2, smooth), (4, 1 / 8, rough)):
        mean, error = mean_error(2 * square * (1 - np.cos(2 * pi * k * v[..., 0])))
        assert abs(mean - risk) < 4 * error + 0.01 * risk
    # the base's own risks are 1/8 and 1/2
    assert rough / smooth == pytest.approx(4, rel=0.05)
    few = mode_risk(10, 3, 4.0) / 8, mode_risk(10, 3, 1.0) / 2
    # with too few examples for the short wave, it is better to learn the large wave
    assert few[0] < few[1]


def test_joint_training_spends_the_norm_on_what_is_rough():
    """The paper's least squares in a ball, on two waves. The best base for the sum
    minimises the energy, which another solver confirms.
    """
    rng = np.random.default_rng(3)
    n = 3000
    L = 0.5
    truth = np.array([0.8, 0.6])
    k = np.array([1, 4])
    X = rng.random((n, 3))
    waves = 2**0.5 * np.sin(2 * pi * k * X[:, :1])
    nearest = cKDTree(X, boxsize=1).query(X, 2)[1][:, 1]
    with double_precision():
        joint = np.asarray(joint_erm(waves, waves @ truth, L, nearest=nearest).theta)
        other = rng.permutation(n)
        minimiser = joint_erm(waves, waves @ truth, L, nearest=other).theta
        step = waves - waves[other]
        np.testing.assert_allclose(
            minimiser, constrained_erm(step, step @ truth, L).theta, rtol=1e-6
        )
    weight = mode_risk(n, 3, k.astype(float))

    def shrunk(lam):
        return weight * truth / (weight + lam)

    best = shrunk(brentq(lambda lam: np.linalg.norm(shrunk(lam)) - L, 0, 1e3))
    np.testing.assert_allclose(joint, best, atol=0.02)

    def risk(theta):
        return float(weight @ (truth - theta) ** 2)

    assert risk(joint) < 1.01 * risk(best)
    # Trained separately, the base tends to L θ_*.
    assert risk(joint) < 0.5 * risk(L * truth)


# --- refusals


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: neighbour_constant(0), "d"),
        (lambda: energy_law(0, 3, 1.0), "n"),
        (lambda: wall_law(10, 1.5, 0, 1), "d"),
        (lambda: mode_risk([], 2, 1.0), "n"),
        (lambda: mode_risk(10, 2, -1.0), "frequency"),
        (lambda: joint_erm(np.eye(2), np.ones(2), 1.0, nearest=[0]), "nearest"),
        (lambda: joint_erm(np.eye(2), np.ones(2), 1.0, nearest=[0.0, 1.0]), "nearest"),
    ],
)
def test_bad_input_is_named(call, named):
    with refused(ValueError, match=f"^{named}: got"):
        call()
