"""The basin of a stored pattern: the law is compared with a Gaussian field and with the
memory, and the gauge with both.
"""

import jax
import numpy as np
import pytest
from refusals import refused

import rankone as ro
from rankone.data.queries import flip_bits
from rankone.theory import basin, thresholds
from rankone.theory.fidelity import hamming_error

D = 400


def in_a_field(c, radius, *, step_size, steps, seed, terms=15_000):
    """Distance and projection on the start, of a descent in e^(−‖u‖²/2) + (c/√D)h(u),
    where h is a sum of many random waves.
    """
    rng = np.random.default_rng(seed)
    waves = rng.standard_normal((terms, D), np.float32)
    cosine, sine = rng.standard_normal((2, terms)) / np.sqrt(terms)
    start = np.full(D, radius / np.sqrt(D))
    u = start
    points = []
    for _ in range(steps + 1):
        points.append((np.linalg.norm(u), u @ start / radius**2))
        phase = waves @ u.astype(np.float32)
        cos = np.cos(phase)
        sin = np.sin(phase)
        well = np.exp(-(u @ u) / 2)
        noise = c / np.sqrt(D)
        slope = (cosine * -sin + sine * cos).astype(np.float32) @ waves
        u = u + step_size * (noise * slope - well * u) / (
            well + noise * (cosine @ cos + sine @ sin)
        )
    return np.array(points).T


def test_descent_in_a_gaussian_field_is_as_predicted():
    """The starts are inside, near the edge, and outside, where the field at earlier
    states continues to have an effect.
    """
    for c, radius, tolerance in ((0.5, 1.5, 0.1), (0.3, 2.2, 0.15), (1.0, 1.5, 0.15)):
        law = basin.descent(c, radius, step_size=0.3, steps=10)
        runs = [
            in_a_field(c, radius, step_size=0.3, steps=10, seed=seed)
            for seed in range(2)
        ]
        norms, projections = np.mean(runs, 0)
        # Ŝ at the start varies by c/√D, which is .08, .17 and .15 relative to the well.
        # A first step varies by the same fraction.
        np.testing.assert_allclose(norms, law.radius, atol=tolerance)
        np.testing.assert_allclose(projections, law.displacement, atol=tolerance)


def test_without_noise_descent_is_mean_shift_to_the_pattern():
    law = basin.descent(0.0, np.array([0.5, 3.0]), step_size=0.25, steps=6)
    np.testing.assert_allclose(
        law.displacement, np.broadcast_to(0.75 ** np.arange(7), (2, 7))
    )
    np.testing.assert_allclose(law.radius, np.array([[0.5], [3.0]]) * law.displacement)
    assert law.arrives.all()


def test_the_first_step_leads_nearer_above_the_critical_slope_alone():
    radius = 2.0
    kernel = np.exp(-2.0)
    for step_size in (0.1, 0.5, 1.0):
        for ratio in (0.95, 1.05):
            c = radius * kernel / (ratio * basin.critical_slope(step_size))
            assert basin.slope_ratio(kernel, c) == pytest.approx(
                ratio * basin.critical_slope(step_size)
            )
            law = basin.descent(c, radius, step_size=step_size, steps=1)
            expected = ((1 - step_size) * radius) ** 2 + (step_size * c / kernel) ** 2
            assert law.radius[1] ** 2 == pytest.approx(expected)
            assert (law.radius[1] < radius) == (ratio > 1)


@pytest.fixture(scope="module")
def wrong_bits():
    """Measured and predicted fractions of wrong bits for each (K, β): one shape of
    features, three loads, and two starting distances.
    """
    features = ro.RandomFeatures(D, 4000, key=jax.random.key(0), projection="hadamard")
    patterns = ro.data.binary_patterns(16, D, key=jax.random.key(1))
    results = {}
    for K in (4, 8, 16):
        Xi = patterns[:K]
        for beta, flips in ((50.0, 0.05), (80.0, 0.1)):
            memory = ro.DrDAM.store(Xi, beta, features)
            start = flip_bits(Xi[:4], flips, key=jax.random.key(2))
            end = ro.retrieve(
                memory, start, step_size=0.5, max_steps=40, tol=0, progress=False
            ).x
            c = thresholds.roughness(D=D, K=K, Y=4000)
            law = basin.wrong_bits(c, beta=beta, flips=flips, step_size=0.5, steps=40)
            results[K, beta] = float(hamming_error(end, Xi[:4]).mean()), float(law)
    return results


def test_the_memory_repairs_as_many_bits_as_the_law_says(wrong_bits):
    for (K, beta), (measured, law) in wrong_bits.items():
        assert measured == pytest.approx(law, abs=0.05), (K, beta)
    assert wrong_bits[4, 50.0][1] < 0.001
    assert 0.02 < wrong_bits[16, 50.0][1] < 0.1
    assert wrong_bits[4, 80.0][1] == 0.5


def test_success_at_one_signal_to_noise_ratio_depends_on_D():
    """At SNR 5, with a tenth of the bits flipped, descent arrives for D = 100 and not
    for D = 4000. So the SNR alone does not decide.
    """
    kernel = np.exp(-50.0 / 2 * 0.1)
    c = kernel / 5 * np.sqrt([100, 4000])
    law = basin.descent(c, np.sqrt(5.0), step_size=0.1, steps=100)
    assert law.arrives.tolist() == [True, False]


def test_descent_arrives_below_the_allowed_roughness_and_not_above():
    radius = np.array([1.0, 2.0, 3.0])
    edge = basin.roughness_allowed(radius, step_size=0.5, steps=40)
    assert basin.descent(0.98 * edge, radius, step_size=0.5, steps=40).arrives.all()
    assert not basin.descent(1.02 * edge, radius, step_size=0.5, steps=40).arrives.any()
    # The farther out, the more the first step alone decides.
    ratios = basin.slope_ratio(np.exp(-(radius**2) / 2), edge) / basin.critical_slope(
        0.5
    )
    assert ratios[2] == pytest.approx(1, abs=0.05)
    assert np.all(np.diff(ratios) > 0)


def test_features_grow_faster_than_the_patterns():
    flips = 0.1
    K = np.array([1e3, 1e6])
    Y = basin.features_to_reach(
        D=100, K=K, beta=4 * np.log(K), flips=flips, step_size=0.2, steps=60
    )
    exponent = np.log(Y[1] / Y[0]) / np.log(K[1] / K[0])
    # The law is K^(1 + 4f)/(β f). The logarithm reduces the exponent by .1 here, and
    # the constant varies slowly.
    assert exponent == pytest.approx(1 + 4 * flips - np.log(2) / np.log(1e3), abs=0.08)
    assert exponent > 1.2
    # With a twentieth more features the noise is below the edge of the basin, and with
    # a twentieth fewer it is above.
    start = np.sqrt(flips * 4 * np.log(K))
    for factor, arrives in ((1.05, True), (0.95, False)):
        c = thresholds.roughness(D=100, K=K, Y=factor * Y)
        assert (
            basin.descent(c, start, step_size=0.2, steps=60).arrives == arrives
        ).all()


def test_features_to_reach_have_the_roughness_allowed():
    """√(DK/2Y) is the largest c at which descent from √(βf) arrives."""
    options = {"step_size": 0.2, "steps": 30}
    Y = basin.features_to_reach(D=50, K=8, beta=40.0, flips=0.1, **options)
    assert (
        pytest.approx(basin.roughness_allowed(2.0, **options), rel=1e-9)
        == (50 * 8 / (2 * Y)) ** 0.5
    )


def test_the_gauge_reads_slope_and_roughness_off_T_and_the_query():
    K = 16
    Y = 4000
    beta = 50.0
    Xi = ro.data.binary_patterns(K, D, key=jax.random.key(3))
    query = flip_bits(Xi, 0.05, key=jax.random.key(4))
    kernel = np.exp(-beta / 2 * 0.05)
    for basis, variance in (("sincos", 0.5), ("cos", 1.0)):
        features = ro.RandomFeatures(
            D, Y, key=jax.random.key(5), basis=basis, projection="hadamard"
        )
        read = basin.gauge(ro.DrDAM.store(Xi, beta, features), query)
        assert read.roughness == pytest.approx(np.sqrt(variance * D * K / Y), rel=0.05)
        np.testing.assert_allclose(
            read.partition, kernel, atol=4 * np.sqrt(variance * K / Y)
        )
        # The error of a query's Ŝ is at most a fifth here, that of the slope is .6 of
        # this, and that of a median of 16 queries a third of the latter.
        assert np.median(read.slope_ratio) == pytest.approx(
            basin.slope_ratio(kernel, read.roughness), rel=0.12
        )
    half = basin.gauge(ro.DrDAM.store(Xi, beta, features), query, free=D // 2)
    assert half.roughness == pytest.approx(read.roughness / np.sqrt(2))


def test_the_slope_ratio_is_capped_near_the_pattern_and_zero_without_signal():
    assert basin.slope_ratio(
        np.array([1.0, np.exp(-0.5), 0.0, -0.1]), 0.5
    ).tolist() == pytest.approx([2 * np.exp(-0.5)] * 2 + [0, 0])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: basin.descent(0.1, 1.0, step_size=0.0, steps=2), "step_size"),
        (lambda: basin.descent(0.1, 1.0, step_size=0.1, steps=0), "steps"),
        (lambda: basin.critical_slope(2.0), "step_size"),
    ],
)
def test_errors_name_the_bad_argument(call, says):
    with refused(ValueError, match=says):
        call()


def test_the_gauge_refuses_positive_features_and_too_many_free_entries():
    Xi = np.eye(4, dtype=np.float32)
    positive = ro.DrDAM.store(
        Xi, 1.0, ro.RandomFeatures(4, 16, key=jax.random.key(0), basis="exp")
    )
    with refused(ValueError, match="sincos or cos"):
        basin.gauge(positive, Xi)
    memory = ro.DrDAM.store(Xi, 1.0, ro.RandomFeatures(4, 16, key=jax.random.key(0)))
    with refused(ValueError, match="free"):
        basin.gauge(memory, Xi, free=5)


def test_without_roughness_a_flipped_bit_is_wrong_until_half_of_its_way_is_gone():
    """A step of η leaves 1 − η of the displacement of a flipped bit, and does not move
    the other bits.
    """
    for step_size, wrong in (0.45, 0.3), (0.55, 0.0):
        assert basin.wrong_bits(
            0.0, beta=20.0, flips=0.3, step_size=step_size, steps=1
        ) == pytest.approx(wrong)


def test_wrong_bits_equals_the_fraction_under_gaussian_noise():
    beta = 9.0
    flips = 0.3
    g = np.random.default_rng(0).standard_normal(400_000)
    end = basin.descent(0.8, np.sqrt(beta * flips), step_size=0.5, steps=2)
    # in units where a bit is 0 or 1
    projection = end.displacement[..., -1]
    length = end.radius[..., -1] / np.sqrt(beta)
    flipped = np.arange(len(g)) < flips * len(g)
    # the length without the remaining displacement
    noise = np.sqrt(length**2 - np.mean((projection * flipped) ** 2))
    fraction = np.mean(projection * flipped + noise * g > 0.5)
    law = basin.wrong_bits(0.8, beta=beta, flips=flips, step_size=0.5, steps=2)
    assert law == pytest.approx(
        fraction, abs=4 * np.sqrt(fraction * (1 - fraction) / len(g))
    )


def test_a_run_comes_to_rest_where_the_well_is_as_steep_as_the_noise():
    c = np.array([0.1, 0.3, 0.5, 0.55])
    rest = basin.resting_distance(c)
    np.testing.assert_allclose(rest * np.exp(-(rest**2) / 2), c, rtol=1e-12)
    # The remaining distance shrinks by a factor of about 1 - η(1 - ρ²) per step, so
    # that after 300 steps it is far below one per cent at these c.
    reached = basin.descent(c, 1e-3, step_size=0.2, steps=300).radius[:, -1]
    np.testing.assert_allclose(reached, rest, rtol=0.01)


def test_there_is_no_point_of_rest_where_the_noise_is_steeper_than_the_well():
    steepest = np.exp(-0.5)  # maximum of r exp(-r²/2), at r = 1
    assert np.isnan(basin.resting_distance(steepest * 1.001))
    # W₀ has a square root there
    np.testing.assert_allclose(basin.resting_distance(steepest), 1, rtol=1e-6)
    walk = basin.descent(0.8, 1e-3, step_size=0.2, steps=400).radius
    growth = np.diff(walk[[50, 100, 200, 400]]) / np.log(2)
    assert (growth > 0.2).all()
    # growth is about logarithmic in the number of steps
    assert growth.max() < 2 * growth.min()
