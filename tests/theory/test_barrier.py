"""Y = O(DK) suffices for retrieval: the barrier on random frequencies and by hand, its
constant, and the cases in which it gives no bound.
"""

from math import exp, inf, log

import jax
import numpy as np
import pytest
from refusals import refused

import rankone as ro
from rankone.precision import double_precision
from rankone.theory.barrier import barrier, sufficient_features

D = 20
K = 5
BETA = 60.0
Xi = np.random.default_rng(0).integers(0, 2, (K, D)) / D**0.5
DRAWS = range(4)


@pytest.fixture(scope="module")
def record():
    return sufficient_features(Xi, beta=BETA)


@pytest.fixture(scope="module")
def frequencies(record):
    return [np.random.default_rng(seed).normal(size=(record.Y, D)) for seed in DRAWS]


def estimate(omega, x):
    """Ŝ and its gradient in u = √β x at states (n, D), by the definition."""
    phases = BETA**0.5 * omega @ (x[:, None] - Xi).reshape(-1, D).T
    cos, sin = (
        f(phases).reshape(len(omega), len(x), K).sum(-1) for f in (np.cos, np.sin)
    )
    return cos.mean(0), -(sin.T @ omega) / len(omega)


def partition(x):
    return np.exp(-BETA / 2 * ((x[:, None] - Xi) ** 2).sum(-1)).sum(-1)


def highest_on_spheres(omega, radius):
    """For every pattern, the point on the sphere around it where Ŝ is highest, found by
    steps along ∇Ŝ minus the slope of the hill.
    """
    x = Xi
    for _ in range(6):
        u = BETA**0.5 * (x - Xi)
        slope = estimate(omega, x)[1] + u * np.exp(-(u**2).sum(1, keepdims=True) / 2)
        x = Xi + radius * slope / np.linalg.norm(slope, axis=1, keepdims=True)
    return x


def test_the_estimate_is_lower_on_the_sphere_with_errors_within_the_bound(
    record, frequencies
):
    """D-sharp10."""
    differences = []
    for omega in frequencies:
        top = highest_on_spheres(omega, record.radius)
        sphere = estimate(omega, top)[0]
        centre = estimate(omega, Xi)[0]
        assert (sphere < centre).all()
        assert (centre >= record.level).all()
        differences.append(((sphere - partition(top)) - (centre - partition(Xi))).max())
    assert record.error / 20 < max(differences) <= record.error


def test_the_bound_on_the_curvature_contains_every_eigenvalue(record, frequencies):
    """λ = 2·level/step against the largest eigenvalue of (1/Y)Σ|Z|ωωᵀ, which no −∇²Ŝ
    exceeds.
    """
    for omega in frequencies:
        weights = np.abs(np.exp(1j * BETA**0.5 * omega @ Xi.T).sum(1))
        largest = np.linalg.eigvalsh(
            (omega * weights[:, None]).T @ omega / record.Y
        ).max()
        assert largest <= 2 * record.level / record.step_size < 12 * largest


def test_algorithm_1_stays_in_the_ball_lowers_the_energy_and_converges(record):
    with double_precision():
        for seed in DRAWS[:2]:
            copy = ro.DrDAM.store(
                Xi, BETA, ro.RandomFeatures(D, record.Y, key=jax.random.key(seed))
            )
            run = ro.retrieve(
                copy,
                Xi,
                step_size=0.99 * record.step_size,
                max_steps=120,
                tol=0.0,
                progress=False,
            )
            assert (np.linalg.norm(run.x - Xi, axis=1) < record.radius).all()
            assert (np.diff(run.energies, axis=-1) <= 1e-14).all()
            assert np.linalg.norm(copy.gradient(run.x), axis=1).max() < 1e-6


def test_with_a_quarter_of_DK_features_runs_leave_and_the_barrier_fails(record):
    Y = D * K // 4
    assert not barrier(Xi, beta=BETA, Y=Y, radius=record.radius).holds
    departures = 0
    for seed in DRAWS:
        copy = ro.DrDAM.store(
            Xi, BETA, ro.RandomFeatures(D, Y, key=jax.random.key(seed))
        )
        x = ro.retrieve(
            copy, Xi, step_size=0.05, max_steps=200, tol=0.0, progress=False
        ).x
        departures += (np.linalg.norm(x - Xi, axis=1) > record.radius).sum()
    assert departures > 0


def test_the_barrier_fails_with_one_frequency_fewer_than_sufficient(record):
    numbers = {"beta": BETA, "radius": record.radius}
    assert barrier(Xi, Y=record.Y, **numbers) == record
    fewer = barrier(Xi, Y=record.Y - 1, **numbers)
    assert not fewer.holds
    assert fewer.step_size == 0
    assert fewer.error >= fewer.gap
    for radius in (0.7 * record.radius, 1.4 * record.radius):
        assert not barrier(Xi, Y=record.Y, beta=BETA, radius=radius).holds


def test_the_barrier_of_one_pattern_equals_hand_values():
    """K = N = Q = 1, without a leak; δ = 3e⁻² gives t = 2. With β = 4, r = ½ and a
    start at ¼, R = 1 and ρ = ½.
    """
    Y = 10**4
    t = 2.0
    record = barrier(
        np.zeros((1, 9)), beta=4.0, Y=Y, radius=0.5, start=0.25, delta=3 * exp(-2)
    )
    mean = 2 * 1.5 * 3 / 100
    error = mean + (2 * t * (2.25 + 2 * 3 * mean) / Y) ** 0.5 + 3 * t / (3 * Y)
    below = 2 * 0.5 * 3 / 100
    level = (
        exp(-1 / 8) - below - (2 * t * (1 + 2 * 2 * below) / Y) ** 0.5 - 2 * t / (3 * Y)
    )
    assert record.leak == 0
    assert record.gap == pytest.approx(exp(-1 / 8) - exp(-1 / 2), rel=1e-12)
    assert record.error == pytest.approx(error, rel=1e-12)
    assert record.level == pytest.approx(level, rel=1e-12)
    moment = 0.5**-0.5 - 2 * 0.75**-0.5 + 1  # E(e^{γ²/8} − 1)²
    curvature = 2 * (8 * moment**0.5 + 8 * (9 * log(9) + t) / Y)
    assert record.step_size == pytest.approx(2 * level / curvature, rel=1e-12)


def test_the_barrier_of_one_pattern_in_a_wide_ball_equals_hand_values():
    """R = 3, and the start is at the pattern. Two values of a cosine differ by at most
    2, so the variance is 4Q.
    """
    Y = 10**4
    t = 2.0
    mean = 2 * 3 * 3 / 100
    record = barrier(np.zeros((1, 9)), beta=4.0, Y=Y, radius=1.5, delta=3 * exp(-2))
    assert record.error == pytest.approx(
        mean + (2 * t * (4 + 2 * 3 * mean) / Y) ** 0.5 + 3 * t / (3 * Y), rel=1e-12
    )


def test_the_barrier_of_two_patterns_equals_hand_values():
    """β‖ξ − ξ′‖² = 16, R = 1: the leak is e^(−9/2); N = 2 + 2(1 − 16/D)e⁻⁸, Q = 2 +
    2e⁻⁸.
    """
    pair = np.array([[0.0] * 8, [2.0] + [0.0] * 7])
    one = barrier(pair, beta=4.0, Y=10**6, radius=0.5)
    assert one.leak == pytest.approx(exp(-4.5), rel=1e-12)
    assert one.gap == pytest.approx(1 - exp(-0.5) - exp(-4.5), rel=1e-12)
    t = log(6 / 0.05)
    N = 2 + 2 * (1 - 16 / 8) * exp(-8)
    Q = 2 + 2 * exp(-8)
    mean = 2 * (8 * N / 10**6) ** 0.5
    assert one.error == pytest.approx(
        mean + (2 * t * (Q + 12 * mean) / 10**6) ** 0.5 + 2 * t / 10**6, rel=1e-12
    )


def test_the_barrier_does_not_depend_on_the_unit_of_length():
    """The same numbers result for a quarter of the distances, sixteen times the β, and
    a quarter of the radius.
    """
    pair = np.array([[0.0] * 8, [2.0] + [0.0] * 7])
    numbers = {"Y": 10**6}
    one = barrier(pair, beta=4.0, radius=0.5, **numbers)
    other = barrier(pair / 4, beta=64.0, radius=0.125, **numbers)
    for name in ("leak", "gap", "error", "level", "step_size"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-12), (
            name
        )


def test_the_constant_tends_to_its_limit_and_does_not_depend_on_K():
    """The minimum of 4R²/(1 − e^(−R²/2))² over R is 19.6."""
    R = np.linspace(1, 2.5, 10_001)
    limit = (4 * R**2 / (1 - np.exp(-(R**2) / 2)) ** 2).min()
    assert limit == pytest.approx(19.64, abs=0.01)
    n = 100_000
    constants = [
        sufficient_features(np.eye(k, n), beta=200.0).Y / (n * k) for k in (2, 20)
    ]
    assert (
        limit
        < min(constants)
        < max(constants)
        < min(1.05 * limit, 1.01 * min(constants))
    )


def test_a_start_at_a_distance_costs_more_and_patterns_too_close_have_no_gap(record):
    away = sufficient_features(Xi, beta=BETA, start=0.5 / BETA**0.5)
    assert 1.5 * record.Y < away.Y < 4 * record.Y
    with refused(ValueError, match=r"^beta: got"):
        sufficient_features(Xi, beta=2.0)


@pytest.mark.parametrize(
    ("beta", "start", "advice"),
    [
        (1e4, 0.6, "start, which must be less than half the distance"),
        (1e4, 0.3, "start: got 0.3; .* more than 1e18 frequencies"),
        (1.0, 0.0, "raise beta"),
    ],
)
def test_an_error_names_the_start_or_the_beta_that_no_number_of_frequencies_cures(
    beta, start, advice
):
    pair = np.array([[0.0, 0.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match=advice):
        sufficient_features(pair, beta=beta, start=start)


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"beta": -1.0}, "beta"),
        ({"Y": 0}, "Y"),
        ({"radius": 0.0}, "radius"),
        ({"start": 0.3}, "start"),
        ({"start": -0.1}, "start"),
        ({"start": inf}, "start"),
        ({"delta": 1.0}, "delta"),
        ({"Xi": np.ones(3)}, "Xi"),
    ],
)
def test_bad_numbers_are_refused(change, argument):
    numbers = {"Xi": Xi, "beta": BETA, "Y": 1000, "radius": 0.2, **change}
    with refused(ValueError, match=rf"^{argument}: got"):
        barrier(numbers.pop("Xi"), **numbers)
