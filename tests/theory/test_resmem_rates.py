"""The linear model: nearest neighbours between two bounds, the product law, the base
model's rate, and noise.
"""

from functools import cache

import jax
import numpy as np
import pytest
from refusals import refused
from scipy.integrate import quad

import rankone as ro
from rankone.precision import double_precision
from rankone.printed import resmem_rate
from rankone.theory import linear_resmem, resmem_rates
from rankone.theory.nearest_neighbour import boundary_constant

GRID = np.array([1, 2, 3, 10, 100, 1000, 10**4, 10**5, 10**6])


@cache
def simulated(d=5, L=0.6, **options):
    options = {"repetitions": 60, "queries": 100} | options
    record = linear_resmem.simulate(
        np.array([30, 1000]), d, L, key=jax.random.key(d), **options
    )
    return jax.tree.map(np.asarray, record)


def mean_error(values):
    values = np.asarray(values, float)
    return values.mean(-1), values.std(-1) / np.sqrt(values.shape[-1])


# --- nearest neighbours


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
def test_nearest_distance_lies_between_its_bounds(d):
    r = ro.nearest_neighbour_risk(GRID, d)
    slack = 1 + 1e-7
    assert (r.lower <= r.exact * slack).all()
    assert (r.exact <= r.upper * slack).all()
    assert r.exact[0] == pytest.approx(2 * d, rel=1e-6)
    assert (r.exact <= 2 * r.lower * slack).all()
    assert (r.exact <= 4 * (d + 2) * np.exp(-2 / d * np.log(GRID)) * slack * 2).all()


@pytest.mark.parametrize("d", [1, 3, 8])
def test_the_bounds_of_the_nearest_distance_follow_from_fractions_of_a_ball(d):
    """A ball of radius t has at most the fraction t^d of the points, for a query at the
    centre, and at least (t/2)^d, for a query on the rim up to t = 2.
    """
    r = ro.nearest_neighbour_risk(GRID[:4], d)
    for n, lower, upper in zip(GRID, r.lower, r.upper, strict=False):
        centre = quad(lambda t: 2 * t * (1 - t**d) ** n, 0, 1)[0]
        rim = quad(lambda t: 2 * t * (1 - (t / 2) ** d) ** n, 0, 2)[0]
        np.testing.assert_allclose(
            [lower, upper], [(d + 2) * centre, (d + 2) * rim], rtol=1e-7
        )


def test_in_one_dimension_the_nearest_neighbour_risk_is_elementary():
    n = GRID.astype(float)
    np.testing.assert_allclose(
        ro.nearest_neighbour_risk(GRID, 1).exact,
        6 * (n + 7) / ((n + 1) * (n + 2) * (n + 3)),
        rtol=1e-12,
    )
    assert boundary_constant(1) == pytest.approx(2)
    # Here the ratio of the gamma functions is computed by a series; its first term is
    # still 6/(n + 1)(n + 2).
    large = 2e7
    assert ro.nearest_neighbour_risk(large, 1).lower == pytest.approx(
        6 / (large + 1) / (large + 2), rel=1e-9, abs=0
    )


@pytest.mark.parametrize("d", [2, 3, 5])
def test_two_terms_leave_an_error_of_order_n_to_the_minus_four_over_d(d):
    n = np.array([10**4, 10**6])
    r = ro.nearest_neighbour_risk(n, d)
    remainder = abs(r.exact - r.law)
    assert -np.log(remainder[1] / remainder[0]) / np.log(100) == pytest.approx(
        4 / d, rel=0.12
    )
    assert (remainder < abs(r.exact - r.lower)).all()


@pytest.mark.parametrize(("n", "d"), [(10, 2), (1000, 3), (300, 5), (300, 8)])
def test_quadrature_agrees_with_monte_carlo(n, d):
    r = linear_resmem.simulate(
        n, d, 0.0, key=jax.random.key(n), repetitions=300, queries=30
    )
    mean, error = mean_error(r.distance)
    assert abs(mean - ro.nearest_neighbour_risk(n, d).exact) < 4 * error


def test_exponent_tends_to_two_over_d():
    n = np.array([1e3, 1e7, 1e11])
    for d in (2, 8):
        local = -np.diff(np.log(ro.nearest_neighbour_risk(n, d).exact)) / np.diff(
            np.log(n)
        )
        assert abs(local[1] - 2 / d) < abs(local[0] - 2 / d) + 1e-6
        assert local[1] == pytest.approx(2 / d, rel=0.02)


def test_printed_lemma_is_zero_at_one_and_too_large_by_n_to_the_one_over_d():
    assert resmem_rate.lemma_printed(1, 5) == 0
    over = [
        float(resmem_rate.lemma_printed(n, 5) / ro.nearest_neighbour_risk(n, 5).exact)
        for n in (10**4, 10**8)
    ]
    # The logarithm doubles, which gives the second factor.
    expected = (10**4) ** (1 / 5) * 2 ** (1 / 5)
    assert over[1] / over[0] == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize(("d", "n"), [(4, 9), (5, 88), (6, 815), (8, 93_789)])
def test_printed_bound_beats_the_trivial_one_late(d, n):
    assert resmem_rates.useful_from(d) == n
    assert (
        resmem_rate.lemma_printed(n, d) < 2 * d <= resmem_rate.lemma_printed(n - 1, d)
    )


def test_printed_bound_beats_the_trivial_one_at_once_or_never():
    for d in (1, 2, 3):
        assert resmem_rates.useful_from(d) == 1
        assert all(resmem_rate.lemma_printed(n, d) < 2 * d for n in range(2, 200))
    assert 1e20 < resmem_rates.useful_from(40) < np.inf
    assert resmem_rates.useful_from(1000) == np.inf


@pytest.mark.parametrize("bad", [0, -1, 1.5, np.nan, [], "a", None, 10**400, 2j])
def test_bad_sizes_are_named(bad):
    with refused(ValueError, match=r"^n: got"):
        ro.nearest_neighbour_risk(bad, 3)
    with refused(ValueError, match=r"^d: got"):
        ro.nearest_neighbour_risk(3, 0)


# --- the base model


def test_points_in_the_ball_have_unit_covariance_and_the_stated_moments():
    x = np.asarray(linear_resmem.sample_ball(200_000, 4, key=jax.random.key(0)), float)
    m = resmem_rates.moments(4)
    assert np.linalg.norm(x, axis=1).max() <= np.sqrt(6) + 1e-5
    np.testing.assert_allclose(x.T @ x / len(x), np.eye(4), atol=0.015)
    square = (x**2).sum(1)
    assert square.mean() == pytest.approx(m.square, rel=0.01)
    assert (square**2).mean() == pytest.approx(m.fourth, rel=0.01)
    assert (x[:, 0] ** 2 * x[:, 1] ** 2).mean() == pytest.approx(m.mixed, rel=0.02)
    radius = np.sort(np.linalg.norm(x, axis=1) / np.sqrt(6)) ** 4  # uniform on [0, 1]
    assert abs(radius - np.linspace(0, 1, len(x))).max() < 0.006


@cache
def problem():
    with double_precision():
        X = np.asarray(linear_resmem.sample_ball(300, 4, key=jax.random.key(1)))
        truth = np.array([0.6, 0.0, -0.8, 0.0])
        return (
            X,
            truth,
            jax.tree.map(np.asarray, linear_resmem.constrained_erm(X, X @ truth, 0.6)),
        )


def test_constrained_solution_satisfies_the_corrected_conditions():
    X, truth, erm = problem()
    Sigma = X.T @ X / len(X)
    assert np.linalg.norm(erm.theta) == pytest.approx(0.6, abs=1e-12)
    np.testing.assert_allclose(
        Sigma @ (erm.theta - truth) + erm.multiplier * erm.theta, 0, atol=1e-12
    )
    assert erm.multiplier > 0
    assert erm.theta @ erm.theta == pytest.approx(0.36)


def test_constrained_solution_is_the_best_in_the_ball_and_free_when_the_ball_is_large():
    X, truth, erm = problem()

    def risk(t):
        return ((X @ (t - truth)) ** 2).mean()

    rng = np.random.default_rng(0)
    for _ in range(500):
        t = erm.theta + 0.1 * rng.standard_normal(4)
        assert risk(t * min(1, 0.6 / np.linalg.norm(t))) >= risk(erm.theta)
    assert risk(0.999 * erm.theta) > risk(erm.theta)
    with double_precision():
        free = linear_resmem.constrained_erm(X, X @ truth, 2.0)
    np.testing.assert_allclose(free.theta, truth, atol=1e-10)
    assert np.asarray(free.multiplier) == 0


@pytest.mark.parametrize(("scale", "theta"), [(0.1, 1.0), (0.0, 0.0)])
def test_directions_are_left_out_only_where_no_input_goes(scale, theta):
    """y = ⟨(1, 1), x⟩ on the two axes. A short axis determines its entry as well as a
    long one; an axis of length 0 does not determine it.
    """
    with double_precision():
        fit = linear_resmem.constrained_erm(
            np.diag([1.0, scale]), np.array([1.0, scale]), 5.0
        )
    np.testing.assert_allclose(fit.theta, [1.0, theta], atol=1e-12)


def test_multiplier_tends_to_its_limit():
    for L in (0.2, 0.6, 0.9):
        mean, error = mean_error(simulated(L=L).multiplier[1])
        assert abs(mean - (1 / L - 1)) < 4 * error + 0.02 / L


def test_shrinkage_error_equals_its_series_and_stays_below_epsilon():
    X, truth, erm = problem()
    Sigma = X.T @ X / len(X)
    lam = float(erm.multiplier)
    Delta = np.eye(4) - Sigma
    D = resmem_rates.shrinkage_error(Sigma, lam)
    np.testing.assert_allclose(
        (np.eye(4) + D) @ truth / (1 + lam), erm.theta, atol=1e-11
    )
    powers = [np.linalg.matrix_power(Delta, j) for j in range(200)]
    series = Delta @ (
        sum((powers[j - 1] - powers[j]) / (1 + lam) ** j for j in range(1, 200))
        - np.eye(4)
    )
    np.testing.assert_allclose(series, D, atol=1e-12)
    rng = np.random.default_rng(2)
    for _ in range(200):
        a = rng.standard_normal((3, 3))
        lam = rng.uniform(0.01, 3)
        Delta = (a + a.T) / np.linalg.norm(a + a.T, 2) * rng.uniform(0.05, 0.99)
        eps = np.linalg.norm(Delta, 2)
        D = resmem_rates.shrinkage_error(np.eye(3) - Delta, lam)
        assert np.linalg.norm(D, 2) <= lam * eps / (1 + lam - eps) + 1e-12 < eps + 1e-12
        v = (np.eye(3) + D)[:, 0]
        assert abs(v @ v - 1) <= 15 * eps
    assert 1 + 2 / 1.05 / (1 - 0.9 / 1.05) > 14


def test_error_of_the_base_follows_its_law_and_stays_below_its_bound():
    r = linear_resmem.simulate(
        np.array([100, 1000]),
        5,
        0.5,
        key=jax.random.key(3),
        repetitions=1500,
        queries=1,
    )
    mean, error = mean_error(r.estimation)
    law = resmem_rates.base_law(np.array([100, 1000]), 5, 0.5)
    assert abs(mean[1] - law[1]) < 4 * error[1] + 0.02 * law[1]
    assert (mean < resmem_rates.base_bound(np.array([100, 1000]), 5, 0.5)).all()
    assert -np.log10(mean[1] / mean[0]) == pytest.approx(1, abs=0.08)


def test_the_base_bound_adds_the_squared_diameter_times_the_covariance_tail():
    """The bound is 2L²d/n plus (2L)² times the probability of ‖Σ − I‖ > 1. At L = 0
    there is no error.
    """
    for n, d, L in ((50, 5, 0.5), (400, 2, 0.9)):
        rest = resmem_rates.base_bound(n, d, L) - 2 * L**2 * d / n
        assert rest == pytest.approx(
            (2 * L) ** 2 * resmem_rates.covariance_tail(n, d, 1.0), rel=1e-9
        )
    assert resmem_rates.base_bound(50, 5, 0.0) == 0


def test_covariance_tail_by_hand():
    """Bernstein's bound for d = 5 and n = 28: 2d·exp(−28ε²/14(1 + ε))."""
    assert resmem_rates.covariance_tail(28, 5, 1.0) == pytest.approx(
        10 / np.e, rel=1e-12
    )
    assert resmem_rates.covariance_tail(28, 5, 0.5) == pytest.approx(
        10 * np.exp(-1 / 3), rel=1e-12
    )


def test_covariance_tail_bounds_the_deviations():
    x = np.asarray(
        linear_resmem.sample_ball(200_000, 5, key=jax.random.key(4)), float
    ).reshape(1000, 200, 5)
    deviations = [np.linalg.norm(c.T @ c / 200 - np.eye(5), 2) for c in x]
    for eps in (0.5, 0.7):
        assert np.mean(np.array(deviations) > eps) <= resmem_rates.covariance_tail(
            200, 5, eps
        )


def test_eq_35_fails_and_a_printed_constant_grows_as_d_squared():
    assert not np.sqrt(1 - 0.2) >= 1 + 0.1  # eq 35 at δ = −0.2
    assert 15**2 + 9 + 2 * 3 * 15 == 324
    m = np.geomspace(1, 1e9, 4000)
    grows = [
        (
            m ** (2 / 3) * np.exp(-(m ** (1 / 3)) / (2 * (d + 2) * (1 + m ** (-1 / 3))))
        ).max()
        for d in (2, 5, 10, 40)
    ]
    assert np.log(grows[3] / grows[1]) / np.log(42 / 7) == pytest.approx(2, abs=0.15)


# --- the sum of the two


def test_the_error_of_base_plus_memory_is_a_product():
    with double_precision():
        X, q = (
            np.asarray(linear_resmem.sample_ball(n, 3, key=jax.random.key(n)))
            for n in (50, 20)
        )
        truth = np.eye(3)[0]
        theta = np.asarray(linear_resmem.constrained_erm(X, X @ truth, 0.5).theta)
        memory = ro.ResMem(k=1).fit_residuals(X, (X @ (truth - theta))[:, None])
        error = q @ theta + np.asarray(memory.correction(q))[:, 0] - q @ truth
        near = X[np.asarray(memory.neighbours(q).indices)[:, 0]]
        np.testing.assert_allclose(error, (q - near) @ (theta - truth), atol=1e-14)


@pytest.mark.parametrize("L", [0.3, 0.6, 0.9])
def test_the_risk_is_that_of_a_neighbour_times_the_missing_norm_squared(L):
    r = simulated(L=L)
    mean, error = mean_error(r.resmem[1])
    law = resmem_rates.resmem_law(1000, 5, L)
    assert abs(mean - law) < 4 * error + 0.01 * law
    assert mean / mean_error(r.neighbours[1])[0] == pytest.approx(
        (1 - L) ** 2, rel=0.03
    )


def test_product_law_is_exact_when_the_sample_is_split():
    r = linear_resmem.simulate(
        20, 3, 0.5, key=jax.random.key(5), repetitions=4000, queries=10, split=True
    )
    r = jax.tree.map(lambda part: np.asarray(part, float), vars(r))
    difference, error = mean_error(r["resmem"] - r["base"] * r["neighbours"])
    assert abs(difference) < 4 * error
    assert error < 0.01 * r["resmem"].mean()


def test_printed_theorem_has_the_wrong_rate_and_fails_at_one():
    assert (
        resmem_rate.theorem_printed(1, 5, 0.0)
        == 0
        < ro.nearest_neighbour_risk(1, 5).exact / 5
    )
    assert resmem_rate.theorem_printed(1000, 5, 0.6) > 50 * resmem_rates.resmem_law(
        1000, 5, 0.6
    )
    n = np.array([1e6, 1e10])

    def slope(f):
        return -np.diff(np.log(f))[0] / np.log(1e4)

    assert slope(resmem_rates.resmem_law(n, 5, 0.6)) == pytest.approx(2 / 5, rel=0.03)
    assert slope(resmem_rate.theorem_printed(n, 5, 0.6)) < 0.21


def test_printed_bounds_by_hand():
    """n = 8: 8^(−2/3) = 1/4 for the base model alone at L = 1, and log(8)/3 = log 2 for
    d = 3 and L = 0.
    """
    assert resmem_rate.theorem_printed(8, 3, 1.0) == pytest.approx(9 / 4, rel=1e-12)
    assert resmem_rate.theorem_printed(8, 3, 0.0) == pytest.approx(
        9 * (np.log(2) / 8) ** (1 / 3), rel=1e-12
    )
    assert resmem_rate.lemma_printed(8, 3) == pytest.approx(
        9 * (np.log(2) / 8) ** (1 / 3), rel=1e-12
    )
    half = 9 / 16 + 9 / 4 * (np.log(2) / 8) ** (1 / 3)  # L² and (1 − L)² at L = 1/2
    assert resmem_rate.theorem_printed(8, 3, 0.5) == pytest.approx(half, rel=1e-12)


def test_separating_the_two_estimation_terms_destroys_their_cancellation():
    r = simulated()
    assert float(r.cancelled[1].mean()) < 0.1 * 2 * float(r.estimation[1].mean())
    mean, error = mean_error(r.limit[1])
    assert abs(mean - resmem_rates.resmem_law(1000, 5, 0.6)) < 4 * error
    assert float(r.base[1].mean()) == pytest.approx(0.16, rel=0.02)


def test_noise_adds_its_variance_and_hurts_above_the_threshold():
    threshold = resmem_rates.helpful_noise(1000, 5, 0.6)
    for noise in (0.5 * threshold, 1.5 * threshold):
        r = simulated(noise=float(noise))
        mean, error = mean_error(r.resmem[1])
        assert (
            abs(mean - resmem_rates.noisy_risk(1000, 5, 0.6, noise)) < 4 * error + 0.01
        )
        assert (mean < float(r.base[1].mean())) == (noise < threshold)


def test_at_the_threshold_remembering_changes_nothing():
    """At the threshold σ² + (1 − L)² E Z_n/d equals the base's own (1 − L)². For one
    point, where E Z_n/d = 2, the threshold is −(1 − L)².
    """
    for n, L in ((1000, 0.6), (20, 0.3)):
        threshold = resmem_rates.helpful_noise(n, 5, L)
        assert resmem_rates.noisy_risk(n, 5, L, threshold) == pytest.approx(
            (1 - L) ** 2, rel=1e-12
        )
    assert resmem_rates.helpful_noise(1, 5, 0.5) == pytest.approx(-1 / 4, rel=1e-6)


def test_ten_neighbours_beat_one_with_and_without_noise():
    for noise in (0.0, 0.25):
        one, ten = (simulated(noise=noise, k=k).resmem[1].mean() for k in (1, 10))
        assert float(ten) < 0.6 * float(one)


def test_training_both_together_gains_nothing():
    X, q = (
        np.asarray(linear_resmem.sample_ball(n, 5, key=jax.random.key(n)))
        for n in (1500, 2000)
    )
    truth = np.eye(5, dtype=np.float32)[0]
    near = X[np.asarray(ro.residual.ExactSearch(X).search(q, 1).indices)[:, 0]]
    risks = [
        float(
            (
                ((q - near) @ (np.asarray(fit(X, X @ truth, 0.6).theta) - truth)) ** 2
            ).mean()
        )
        for fit in (linear_resmem.constrained_erm, linear_resmem.joint_erm)
    ]
    assert risks[1] == pytest.approx(risks[0], rel=0.02)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"L": 1.0}, "L"),
        ({"n": 0}, "n"),
        ({"k": 31}, "k"),
        ({"noise": -1.0}, "noise"),
        ({"key": 3}, "key"),
    ],
)
def test_bad_simulations_are_named(options, named):
    call = {"n": 30, "d": 3, "L": 0.5, "key": jax.random.key(0)} | options
    with refused(ValueError, match=f"^{named}: got"):
        linear_resmem.simulate(call.pop("n"), call.pop("d"), call.pop("L"), **call)
