"""Proved bounds: exact identities first, then inequalities on real runs, then the
printed statements of the paper.
"""

from functools import partial
from math import exp, inf, log, log10

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused
from scipy.special import softmax

import rankone as ro
from rankone.precision import double_precision
from rankone.printed import memory_bounds
from rankone.theory import divergence, kernel_error
from rankone.theory.drift import drift, kernel_gap, local_retrieval
from rankone.theory.error_law import lipschitz


@pytest.fixture(autouse=True)
def x64():
    with double_precision():
        yield


def binary(K, D, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (K, D)) / D**0.5


def normal(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def uniform(seed, *shape):
    return np.random.default_rng(seed).random(shape)


def norms(rows):
    return np.linalg.norm(rows, axis=-1)


def diameter(Xi):
    return norms(Xi[:, None] - Xi).max()


@jax.jit
def kernels(memory, features, x):
    """(k, k̂) of one state and all patterns."""
    exact = jnp.exp(-memory.beta / 2 * ((x[None] - memory.Xi) ** 2).sum(-1))
    root = jnp.sqrt(memory.beta)
    return exact, features.phi(root * memory.Xi) @ features.phi(root * x)


def barycentric(memory, features, x):
    k_hat = np.asarray(kernels(memory, features, x)[1])
    return x - k_hat @ np.asarray(memory.Xi) / k_hat.sum()


@jax.jit
def kernel_slope_error(memory, features, x):
    """Σ(k̂ − k)′ at one state."""
    return jax.grad(
        lambda y: (
            kernels(memory, features, y)[1] - kernels(memory, features, y)[0]
        ).sum()
    )(x)


# Kernel errors


@pytest.mark.parametrize(
    ("D", "Y", "radius"), [(2, 500, 2.0), (5, 2000, 1.0), (10, 5000, 3.0)]
)
def test_uniform_errors_contain_the_largest_error_found(D, Y, radius):
    def error(omega, z):
        return jnp.abs(jnp.cos(omega @ z).mean() - jnp.exp(-(z @ z) / 2))

    def derivative_error(omega, z):
        return jnp.linalg.norm(
            -(jnp.sin(omega @ z) @ omega) / Y + z * jnp.exp(-(z @ z) / 2)
        )

    def ascend(function, omega, z):
        def step(_, z):
            slope = jax.grad(function, argnums=1)(omega, z)
            z = z + 0.1 * slope / (1e-9 + jnp.linalg.norm(slope))
            return z * jnp.minimum(1, radius / jnp.linalg.norm(z))

        return function(omega, jax.lax.fori_loop(0, 40, step, z))

    @jax.jit
    def largest(omega, starts):
        return [
            jax.vmap(partial(ascend, f, omega))(starts).max()
            for f in (error, derivative_error)
        ]

    starts = normal(1, 40, D)
    starts = radius * starts / norms(starts)[:, None] * np.linspace(0.1, 1, 40)[:, None]
    worst, worst_slope = map(float, largest(normal(D, Y, D), starts))
    bound = kernel_error.uniform_kernel_error(D=D, Y=Y, radius=radius)
    assert bound / 100 < worst <= bound
    assert worst_slope <= kernel_error.uniform_derivative_error(D=D, Y=Y, radius=radius)


def test_uniform_errors_by_hand():
    straight = kernel_error.contraction_error(D=9, Y=900, radius=2.0, delta=2 / np.e)
    assert straight == pytest.approx(4 * 0.1 + (2 / 900) ** 0.5, rel=1e-12)
    net = kernel_error.net_error(D=9, Y=900, radius=2.0, delta=2 / np.e)
    points = 9 * log(1 + 8 * 2 * 30) + log(2 * np.e)
    slope = 3 + 1 + (2 / 900) ** 0.5
    assert net == pytest.approx(
        (points / 900) ** 0.5 + 2 * points / 2700 + slope / 120, rel=1e-12
    )
    D = 4
    Y = 10_000
    R = 1.5
    delta = 0.1
    t = (12 / Y * (D * log(5 * (1 + 2 * R * (Y / D) ** 0.5)) + log(4 / delta))) ** 0.5
    curvature = (1 + (D / Y) ** 0.5 + (2 * log(2 / delta) / Y) ** 0.5) ** 2
    expected = 2 * t + (curvature + 1) * (D / Y) ** 0.5
    assert kernel_error.uniform_derivative_error(
        D=D, Y=Y, radius=R, delta=delta
    ) == pytest.approx(expected, rel=1e-12)
    # t = 2.4
    assert kernel_error.uniform_derivative_error(D=4, Y=40, radius=1.5, delta=0.1) < inf
    assert kernel_error.uniform_derivative_error(D=1000, Y=1000, radius=1.0) == inf


def test_the_aggregated_error_bounds_the_mean_supremum_better_than_K_kernels():
    D = 10
    K = 40
    Y = 1000
    beta = 40.0
    r = 0.3
    Xi = binary(K, D)
    directions = normal(5, 150, D)
    ball = Xi[0] + r * directions / norms(directions)[:, None]
    S = np.exp(-beta * np.asarray(ro.MrDAM(Xi, beta).energy(ball)))
    sup = []
    for seed in range(8):
        copy = ro.DrDAM.store(
            Xi, beta, ro.RandomFeatures(D, Y, key=jax.random.key(seed))
        )
        sup.append((np.asarray(copy.partition(ball)) - S).max())
    bound = kernel_error.aggregated_error(Xi, beta=beta, Y=Y, radius=r)
    assert np.mean(sup) <= bound
    assert bound < K * 2 * (beta**0.5 * r) * (D / Y) ** 0.5 / 3


def test_aggregated_error_by_hand():
    """One pattern gives 2r√(βD/Y). Two patterns with β‖ξ − ξ'‖² = 2 in three dimensions
    give D twice and (D − 2)/e twice.
    """
    assert kernel_error.aggregated_error(
        np.ones((1, 3)), beta=0.5, Y=600, radius=2.0
    ) == pytest.approx(0.2, rel=1e-12)
    pair = kernel_error.aggregated_error(
        [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]], beta=0.5, Y=600, radius=2.0
    )
    assert pair == pytest.approx(4 * (0.5 / 600 * (6 + 2 / np.e)) ** 0.5, rel=1e-12)


# Lemma 1


def test_printed_softmax_constant_is_violated_by_almost_two():
    K = 500
    spread = 0.1
    x = np.zeros(K)
    x[0] = spread
    ratio = np.abs(softmax(x) - softmax(0.999 * x)).sum() / np.abs(0.001 * x).sum()
    assert ratio / (exp(spread) / K) > 1.9
    assert ratio <= divergence.softmax_lipschitz(spread=spread, K=K)


def test_corrected_softmax_constant_is_never_exceeded_and_is_attained():
    rng = np.random.default_rng(0)
    for K, spread in ((2, 3.0), (10, 0.1), (50, 5.0), (500, 5.5)):
        x, z = rng.uniform(0, spread, (2, 2500, K))
        z = np.where(rng.random((2500, 1)) < 0.5, x + 1e-3 * (z - x), z)
        ratio = np.abs(softmax(x, 1) - softmax(z, 1)).sum(1) / np.abs(x - z).sum(1)
        constant = divergence.softmax_lipschitz(spread=spread, K=K)
        assert ratio.max() <= constant * (1 + 1e-9)
        assert constant <= min(0.5, 2 * exp(spread) / K)
        p = min(1 / (1 + (K - 1) * exp(-spread)), 0.5)
        top = np.zeros(K)
        top[0] = log(p * (K - 1) / (1 - p))
        nudged = top.copy()
        nudged[0] -= 1e-7
        assert np.abs(softmax(top) - softmax(nudged)).sum() / 1e-7 == pytest.approx(
            constant, rel=1e-5
        )


# Lemma 3


@pytest.fixture
def both():
    memory = ro.MrDAM(binary(12, 7), 10.0)
    features = ro.RandomFeatures(7, 4000, key=jax.random.key(3))
    return memory, features, ro.DrDAM.store(memory.Xi, 10.0, features)


def test_gradient_errors_equal_their_kernel_identities(both):
    """D-lem3': both errors written exactly through k̂ − k and its derivative."""
    memory, features, copy = both
    for x in uniform(0, 5, 7) / 7**0.5:
        k, k_hat = map(np.asarray, kernels(memory, features, x))
        g = np.asarray(memory.gradient(x))
        S_hat = k_hat.sum()
        error_B = -(k_hat - k) @ (memory.Xi - (x - g)[None]) / S_hat
        np.testing.assert_allclose(
            barycentric(memory, features, x) - g, error_B, atol=1e-12
        )
        slope = np.asarray(kernel_slope_error(memory, features, x))
        error_A = -(slope + 10.0 * g * (k_hat - k).sum()) / (10.0 * S_hat)
        np.testing.assert_allclose(copy.gradient(x) - g, error_A, atol=1e-12)


def test_gradient_error_bounds_hold(both):
    memory, features, copy = both
    Xi = np.asarray(memory.Xi)
    x = Xi[0] + 0.02
    delta = np.sqrt(10.0) * (x - Xi)
    omega = np.asarray(features.omega)
    k, k_hat = map(np.asarray, kernels(memory, features, x))
    slope = [
        -(np.sin(omega @ z) @ omega) / len(omega) + z * np.exp(-(z @ z) / 2)
        for z in delta
    ]
    g = np.asarray(memory.gradient(x))
    bound_A, bound_B = divergence.gradient_errors(
        K=12,
        beta=10.0,
        energy=float(memory.energy(x)),
        gradient=norms(g),
        diameter=diameter(Xi),
        eps0=np.abs(k_hat - k).max(),
        eps1=norms(np.array(slope)).max(),
    )
    assert norms(copy.gradient(x) - g) <= bound_A < inf
    assert norms(barycentric(memory, features, x) - g) <= bound_B < inf
    hopeless = divergence.gradient_errors(
        K=12, beta=10.0, energy=1.0, gradient=0.1, diameter=1.0, eps0=0.1, eps1=0.1
    )
    assert hopeless == (inf, inf)


def test_gradient_error_bounds_by_hand():
    """u = Kε₀e^βE = 0.2: the bounds are 2/0.8·(0.2/√4 + 0.1·0.5) and 0.2·3/0.8. There
    is no bound for u ≥ 1, nor beyond e⁷⁰⁰.
    """
    numbers = {
        "K": 2,
        "beta": 4.0,
        "energy": 0.0,
        "gradient": 0.5,
        "diameter": 3.0,
        "eps1": 0.2,
    }
    assert divergence.gradient_errors(**numbers, eps0=0.1) == pytest.approx(
        (0.375, 0.75), rel=1e-12
    )
    assert divergence.gradient_errors(**numbers, eps0=0.3) == pytest.approx(
        (1.25, 4.5), rel=1e-12
    )
    assert divergence.gradient_errors(**numbers, eps0=0.5) == (inf, inf)
    exact = numbers | {"eps0": 0.0, "eps1": 0.0}
    assert divergence.gradient_errors(**exact | {"energy": 150.0}) == (0, 0)
    assert divergence.gradient_errors(**exact | {"energy": 200.0}) == (inf, inf)


# Theorem 2


def test_printed_theorem_is_false_for_algorithm_1():
    """K = 1, one step: the error of the distributed gradient is ‖(ΩᵀΩ/Y − I)x‖ for
    every β, but the printed bound is O(β).
    """
    D = 50
    Y = 500
    beta = 0.01
    x = np.ones(D) / D**0.5
    Xi = np.zeros((1, D))
    memory = ro.MrDAM(Xi, beta)
    features = ro.RandomFeatures(D, Y, key=jax.random.key(0))
    copy = ro.DrDAM.store(Xi, beta, features)
    omega = np.asarray(features.omega, float)
    # An upper bound of the kernel error on ‖Δ‖ ≤ √β, from cos h ≤ 1 − h²/2 + h⁴/24 and
    # similar inequalities.
    top = np.linalg.eigvalsh(omega.T @ omega / Y).max()
    eps0 = beta / 2 * np.abs(np.linalg.eigvalsh(omega.T @ omega / Y - np.eye(D))).max()
    eps0 += beta**2 * (1 / 8 + top * (omega**2).sum(1).max() / 24)
    log_bound = memory_bounds.log10_theorem(
        beta=beta,
        K=1,
        energy=float(memory.energy(x)),
        eps0=eps0,
        step_size=1.0,
        steps=1,
    )
    gradient = np.asarray(memory.gradient(x))
    error = norms(copy.gradient(x) - gradient)
    assert error > 20 * 10**log_bound
    assert error == pytest.approx(norms(omega.T @ omega @ x / Y - x), rel=0.05)
    assert np.abs(barycentric(memory, features, x) - gradient).max() < 1e-12


def test_printed_theorem_fails_for_every_constant_where_the_estimate_vanishes():
    """D-thm2: near a zero of Ŝ in the cube one step exceeds eq. 12 with C₁√(D/Y) = 2,
    and |k̂ − k| is never larger.
    """
    D = 50
    Y = 500
    beta = 50.0
    omega = normal(0, Y, D)
    rays = uniform(1, 8, D)
    rays = rays / (D**0.5 * rays.max(1, keepdims=True))

    def read(x):
        """Ŝ for ξ = 0, and the norm of ĝ_A − ∇E."""
        h = beta**0.5 * omega @ x
        S = np.cos(h).mean()
        return S, norms(np.sin(h) @ omega / (beta**0.5 * Y * S) - x)

    def falls(one, other, ray):
        return read(one * ray)[0] > 0 > read(other * ray)[0]

    lengths = np.linspace(0, 1, 201)
    i, j = next(
        (i, j)
        for i in range(8)
        for j in range(200)
        if falls(lengths[j], lengths[j + 1], rays[i])
    )
    low = lengths[j]
    high = lengths[j + 1]
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if read(middle * rays[i])[0] > 0 else (low, middle)
    x = (low - 1e-8) * rays[i]
    S, step = read(x)
    largest = memory_bounds.log10_theorem(
        beta=beta, K=1, energy=x @ x / 2, eps0=2.0, step_size=1.0, steps=1
    )
    assert 0 < S < 1e-5
    assert (x >= 0).all()
    assert (x <= D**-0.5).all()
    assert step > 10 * 10**largest
    # the error is unbounded
    assert read((low - 1e-10) * rays[i])[1] == pytest.approx(100 * step, rel=0.05)


@pytest.mark.parametrize(
    ("D", "K", "Y", "beta", "step_size", "steps"),
    [
        (10, 5, 400_000, 2.0, 0.5, 12),
        (5, 10, 400_000, 2.0, 1.0, 12),
        (4, 6, 400_000, 6.0, 0.25, 8),
    ],
)
def test_corrected_theorem_holds_with_its_hypotheses(D, K, Y, beta, step_size, steps):
    Xi = binary(K, D, seed=D)
    memory = ro.MrDAM(Xi, beta)
    x = 0.9 * Xi[0] + 0.1 * Xi.mean(0)
    record = divergence.divergence_bound(
        D=D, K=K, Y=Y, beta=beta, step_size=step_size, steps=steps, energy=float(memory.energy(x)),
        diameter=diameter(Xi), reach=norms(x - Xi).max(),
    )  # fmt: skip
    copy = ro.DrDAM.store(Xi, beta, ro.RandomFeatures(D, Y, key=jax.random.key(1)))
    exact = distributed = x
    slope = np.asarray(copy.gradient(x))
    for _ in range(steps):
        distributed = distributed - step_size * slope
        exact = exact - step_size * np.asarray(memory.gradient(exact))
        slope = np.asarray(copy.gradient(distributed))
        assert memory.energy(distributed) <= record.energy
        assert norms(distributed - Xi).max() <= record.reach
        assert norms(slope - memory.gradient(distributed)) <= record.A
    assert record.holds
    assert 0 < norms(exact - distributed) <= record.bound <= record.tied < inf


PAIR = np.array([[0.0, 0.0], [1.0, 1.0]]) / 2**0.5
TRIANGLE = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])


@pytest.mark.parametrize(
    ("Xi", "step_size", "steps"), [(PAIR, 1.0, 3), (PAIR, 0.5, 6), (TRIANGLE, 0.5, 5)]
)
def test_corrected_theorem_says_which_pattern_is_retrieved_where_several_are_stored(
    Xi, step_size, steps
):
    """D-sharp3: distinct patterns, each with its own fixed point, and a bound below
    half the distance between them.
    """
    K, D = Xi.shape
    beta = 8.0
    x = 0.9 * Xi[0] + 0.1 * Xi.mean(0)

    def weights(y):
        return softmax(-beta / 2 * ((y - Xi) ** 2).sum(-1))

    ends = []
    for y in Xi:
        for _ in range(300):
            y = weights(y) @ Xi  # mean shift: descent with step 1
        ends.append(y)
    gaps = norms(np.array(ends)[:, None] - np.array(ends))[~np.eye(K, dtype=bool)]
    assert gaps.min() > 0.8 * diameter(Xi)
    energy = -np.log(np.exp(-beta / 2 * ((x - Xi) ** 2).sum(-1)).sum()) / beta
    known = {
        "D": D,
        "K": K,
        "beta": beta,
        "step_size": step_size,
        "steps": steps,
        "energy": energy,
    }
    record = divergence.divergence_bound(
        Y=10**6, diameter=diameter(Xi), reach=norms(x - Xi).max(), **known
    )
    assert record.rho > 1
    assert record.bound < diameter(Xi) / 2


def test_the_bound_of_the_corrected_theorem_solves_the_recursion():
    common = {
        "D": 10,
        "K": 5,
        "Y": 400_000,
        "beta": 2.0,
        "energy": -0.5,
        "diameter": 0.8,
        "reach": 0.8,
    }
    record = divergence.divergence_bound(step_size=0.5, steps=7, **common)
    distance = 0.0
    for _ in range(7):
        distance = record.rho * distance + 0.5 * record.A
    assert record.bound == pytest.approx(distance, rel=1e-12)
    finer = divergence.divergence_bound(step_size=0.05, steps=70, **common)
    assert finer.bound <= record.tied
    assert (
        divergence.divergence_bound(step_size=0.5, steps=10_000, **common).bound
        <= record.A / (1 - 2 * 0.64 / 4) * 1.001
    )


def level(**changes):
    """A record whose hypotheses hold because the kernel errors are tiny, for tests of
    the arithmetic on its numbers.
    """
    numbers = {
        "D": 4,
        "K": 3,
        "Y": 10**8,
        "beta": 2.0,
        "step_size": 0.5,
        "steps": 7,
        "energy": 0.0,
        "diameter": 1.0,
    }
    record = divergence.divergence_bound(
        **{**numbers, "reach": 1.0, "eps0": 1e-7, "eps1": 1e-7, **changes}
    )
    assert record.holds
    return record


def test_tied_bound_is_the_limit_or_the_least_step_that_attains_it():
    """Corollary 1′: where distances grow, the finest steps are the worst; where they
    shrink, a single step is the worst.
    """
    # κ = 2, in a time of 1.5
    grows = level(diameter=2.0, step_size=1e-6, steps=1_500_000)
    assert grows.bound == pytest.approx(grows.tied, rel=1e-5)
    assert grows.tied == pytest.approx(grows.A * (exp(1.5) - 1), rel=1e-12)
    keeps = level(diameter=2**0.5)  # κ = 1: errors add up
    assert (
        keeps.tied
        == pytest.approx(keeps.bound, rel=1e-9)
        == pytest.approx(3.5 * keeps.A, rel=1e-9)
    )
    once = level(step_size=1.0, steps=1)
    assert once.tied == once.bound == once.A
    ever = level(steps=1000)  # κ = ½: the distance converges to A = (1 − κ)·distance
    assert ever.tied == pytest.approx(2 * ever.A, rel=1e-12)
    assert ever.bound == pytest.approx(ever.tied, rel=1e-12)


def test_energy_level_is_the_start_plus_all_that_errors_can_add():
    """Errors add η/2·A² in every step. For κ < 1 they add at most A²/2(1 − κ), the
    level at which ‖∇E‖ = A, and one step from there.
    """
    # κ = ½, ½, 2
    cases = (
        ({"steps": 2}, 0.5),
        ({"steps": 1000}, 1.25),
        ({"steps": 9, "diameter": 2.0}, 2.25),
    )
    for change, factor in cases:
        record = level(eps0=1e-3, eps1=1e-3, **change)
        assert record.energy == pytest.approx(factor * record.A**2, rel=1e-9)


@pytest.mark.parametrize(("fraction", "above"), [(1.01, True), (0.99, False)])
def test_the_estimate_must_stay_above_the_floor_of_the_memory(fraction, above):
    """Two patterns and Y = 4: the floor is √(2/8)/8 = 1/16, and the estimate is e^−βE
    up to tiny errors.
    """
    errors = {"eps0": 1e-9, "eps1": 1e-9}
    record = divergence.divergence_bound(
        D=4,
        K=2,
        Y=4,
        beta=2.0,
        step_size=0.5,
        steps=3,
        energy=-log(fraction / 16) / 2,
        **errors,
    )
    assert (
        record.hypotheses["estimate above the logarithm's floor"]
        == record.holds
        == above
    )


def test_the_two_uniform_bounds_share_the_probability_of_failure():
    record = divergence.divergence_bound(
        D=3, K=2, Y=10**9, beta=2.0, step_size=0.1, steps=5, delta=0.1
    )
    assert record.holds
    half = {"D": 3, "Y": 10**9, "radius": 2**0.5 * record.reach, "delta": 0.05}
    assert record.eps0 == kernel_error.uniform_kernel_error(**half)
    assert record.eps1 == kernel_error.uniform_derivative_error(**half)
    assert record.reach == 1 + record.A


def test_a_failed_hypothesis_is_named_and_makes_the_bound_infinite():
    good = {
        "D": 10,
        "K": 5,
        "Y": 400_000,
        "beta": 2.0,
        "step_size": 0.5,
        "steps": 10,
        "energy": -0.5,
        "diameter": 0.8,
    }
    assert divergence.divergence_bound(**good, reach=0.8).holds
    broken = {
        "step size at most 1": {"step_size": 1.5},
        "enough features for the derivative bound": {"Y": 10},
        "kernel error below the partition sum": {"energy": 1.5},
        "energy level and tube are consistent": {"Y": 20_000},
        "estimate above the logarithm's floor": {
            "energy": 2.7,
            "eps0": 1e-7,
            "eps1": 1e-7,
            "Y": 1000,
        },
    }
    for name, change in broken.items():
        record = divergence.divergence_bound(**{**good, "reach": 0.8, **change})
        assert not record.hypotheses[name]
        assert record.bound == record.tied == inf
        assert not record.holds


def test_at_the_scale_of_the_paper_the_bound_is_infinite():
    record = divergence.divergence_bound(
        D=100, K=500, Y=20_000, beta=50.0, step_size=0.1, steps=50
    )
    assert not record.holds
    assert record.bound == inf
    wide, wider = (
        divergence.divergence_bound(
            D=100, K=500, Y=Y, beta=50.0, step_size=0.1, steps=50
        )
        for Y in (10**30, 4 * 10**30)
    )
    assert wide.holds  # also for integers beyond 64 bits
    assert wider.bound < wide.bound / 2 < inf


@pytest.mark.parametrize(
    "change",
    [
        {"beta": -1.0},
        {"Y": 0},
        {"steps": 2.5},
        {"step_size": 0.0},
        {"delta": 1.0},
        {"delta": "a"},
        {"K": 0},
        {"K": "a"},
        {"D": inf},
        {"Y": None},
        {"eps0": -1.0},
        {"eps1": float("nan")},
        {"diameter": -1.0},
        {"reach": float("nan")},
        {"energy": float("nan")},
        {"energy": -1e9},
    ],
)
def test_bad_numbers_are_refused(change):
    good = {"D": 10, "K": 5, "Y": 1000, "beta": 2.0, "step_size": 0.5, "steps": 10}
    with refused(ValueError, match=rf"^{next(iter(change))}: got"):
        divergence.divergence_bound(**{**good, **change})


# Lemma 2, eqs 55 to 59, Corollary 1


def test_printed_lipschitz_constant_is_valid_and_loose():
    assert memory_bounds.log10_lipschitz(beta=50.0, K=500) == pytest.approx(
        log10(1 + 2 * 500 * 50 * exp(25)), rel=1e-12
    )
    assert float(lipschitz(beta=50.0, diameter=1.0)) == 11.5


def test_energy_drift_bounds_every_step_and_exact_descent_never_rises():
    Xi = binary(30, 10)
    memory = ro.MrDAM(Xi, 50.0)
    copy = ro.DrDAM.store(Xi, 50.0, ro.RandomFeatures(10, 200, key=jax.random.key(2)))
    rises = 0
    for eta in (0.1, 1.0):
        x = Xi + 0.02
        start = np.asarray(memory.energy(x))
        for _ in range(30):
            (before, g) = map(np.asarray, memory.energy_and_gradient(x))
            g_hat = np.asarray(copy.gradient(x))
            drift = divergence.energy_drift(
                step_size=eta, error=norms(g_hat - g), gradient=norms(g)
            )
            x = x - eta * g_hat
            after = np.asarray(memory.energy(x))
            assert (after <= before + drift + 1e-12 * np.abs(drift)).all()
            rises += (after > start).sum()
    assert rises > 0  # the printed proof assumes that this does not happen
    for eta in (0.1, 1.0, 2.0):
        energies = ro.retrieve(
            memory, Xi + 0.02, step_size=eta, max_steps=30, tol=0.0
        ).energies
        assert (np.diff(energies, axis=-1) <= 1e-14).all()


def test_gronwall_coefficients_are_those_of_the_recursion():
    """Run d⁽ᵗ⁾ = ηA(1 + u D⁽ᵗ⁻¹⁾) with polynomials in u; compare with the printed sums
    written as loops.
    """
    L = 6
    total = np.zeros(L + 1, int)
    for _ in range(L):
        total = total + np.eye(L + 1, dtype=int)[0] + np.roll(total, 1)
    table = memory_bounds.gronwall_coefficients(L)
    assert table["exact"] == list(total[:L])

    def innermost(depth, top):
        return sum(
            t if depth == 1 else innermost(depth - 1, t) for t in range(1, top + 1)
        )

    assert table["eq56"] == [
        L,
        innermost(1, L),
        *(L * innermost(j - 1, L) for j in range(2, L)),
    ]
    assert table["eq57"] == [L ** (j + 1) for j in range(L)]
    u = 0.3
    exact, loose = memory_bounds.log10_gronwall(u, L)
    assert exact == pytest.approx(
        log10(sum(c * u**j for j, c in enumerate(table["exact"]))), rel=1e-12
    )
    assert loose == pytest.approx(
        log10(sum(c * u**j for j, c in enumerate(table["eq57"]))), rel=1e-12
    )


def test_the_corollary_follows_from_the_theorem_and_limits_the_total_motion():
    """(12)/(13) with η = C₂/(LB) is at most 1 and equals the closed form; the total
    motion is at most C₂/B.
    """
    K = 500
    L = 10
    C2 = 0.5
    eps0 = 0.01
    Xi = binary(K, 30)
    for beta in (2.0, 10.0, 20.0):
        B = 1 + 2 * K * beta * exp(beta / 2)
        eta = C2 / (L * B)
        energy = 0.1
        theorem = memory_bounds.log10_theorem(
            beta=beta, K=K, energy=energy, eps0=eps0, step_size=eta, steps=L
        )
        corollary = memory_bounds.log10_corollary(
            beta=beta, energy=energy, eps0=eps0, C2=C2
        )
        assert 10 ** (theorem - corollary) == pytest.approx(
            (1 - 1 / B) * (1 - C2**L), rel=1e-9
        )
        memory = ro.MrDAM(Xi, beta)
        moved = sum(
            eta * norms(memory.gradient(x)).max() for x in [binary(20, 30, seed=4)] * L
        )
        assert moved <= C2 / B * (1 + 1e-12)


def test_the_energy_at_a_distance_from_one_pattern_follows_corrected_eq_59():
    """Eq. 59 corrected: one pattern at distance r, the others at 1. The printed form
    differs.
    """
    beta = 50.0
    r = 0.3
    K = 500
    total = exp(-beta * r**2 / 2) + (K - 1) * exp(-beta / 2)
    repaired = exp(beta * r**2 / 2) / (1 + (K - 1) * exp(-beta * (1 - r**2) / 2))
    assert repaired == pytest.approx(1 / total, rel=1e-12)
    assert divergence.query_factor(beta=beta, K=K, distance=r) == pytest.approx(
        1 / total, rel=1e-12
    )
    assert exp(beta * r / 2) / (1 + exp(-beta * (1 - r) / 2)) > 100 / total


# The local retrieval theorem


def test_local_retrieval_theorem_holds():
    D = 40
    K = 10
    beta = 100.0
    Y = 10_000
    r = 0.12
    eta = 0.5
    L = 15
    Xi = binary(K, D)
    memory = ro.MrDAM(Xi, beta)
    copy = ro.DrDAM.store(Xi, beta, ro.RandomFeatures(D, Y, key=jax.random.key(0)))
    directions = normal(1, 60, D)
    radii = r * np.linspace(0, 1, 60)[:, None]
    ball = Xi[0] + radii * directions / norms(directions)[:, None]
    run = drift(memory, copy, ball, step_size=eta, steps=L)
    A = float(run.errors.max())  # only at the states that the runs visit
    record = local_retrieval(
        Xi, 0, beta=beta, radius=r, gradient_error=A, step_size=eta, steps=L
    )
    assert record.holds
    p = softmax(-beta / 2 * ((ball[:, None] - Xi) ** 2).sum(-1), axis=-1)
    assert (1 - p[:, 0]).max() <= record.leak
    # the outermost start is on the sphere
    assert norms(np.asarray(run.exact) - Xi[0]).max() <= r * (1 + 1e-12)
    assert norms(np.asarray(run.distributed) - Xi[0]).max() <= r * (1 + 1e-12)
    apart = np.asarray(run.distance)[-1].max()
    assert record.bound / 10 < apart <= record.bound <= record.forever
    assert not local_retrieval(
        Xi, 0, beta=10.0, radius=r, gradient_error=A, step_size=eta, steps=L
    ).holds


def test_leak_is_attained_on_the_way_to_the_other_pattern():
    """For two patterns at distance s, at r from the first towards the second, the ratio
    of E's softmax weights is 1 to q.
    """
    s = 2.0
    r = 0.4
    beta = 1.5
    Xi = np.array([[0.0, 0.0], [1.2, 1.6]])
    record = local_retrieval(
        Xi, 0, beta=beta, radius=r, gradient_error=0.0, step_size=0.5, steps=3
    )
    own, other = np.exp(-beta / 2 * ((r / s * Xi[1] - Xi) ** 2).sum(1))
    assert record.leak == pytest.approx(other / own, rel=1e-12)
    assert record.convexity == pytest.approx(1 - beta * record.leak * s**2, rel=1e-12)


def test_local_theorem_of_two_patterns_by_hand():
    """At a distance of 0.6, with β = 20 and r = 0.1: q = exp(−10(0.36 − 0.12)), and m₀
    = 1 − 20·0.36 q.
    """
    ball = {
        "index": 0,
        "beta": 20.0,
        "radius": 0.1,
        "gradient_error": 0.04,
        "step_size": 0.5,
    }
    one, two = (
        local_retrieval([[0.3], [0.9]], **ball, steps=steps) for steps in (1, 2)
    )
    q = np.exp(-2.4)
    convexity = 1 - 7.2 * q
    assert one.leak == pytest.approx(q, rel=1e-12)
    assert one.convexity == pytest.approx(convexity, rel=1e-12)
    assert one.forever == pytest.approx(0.04 / convexity, rel=1e-12)
    assert one.bound == pytest.approx(0.5 * 0.04, rel=1e-12)  # η times the error
    assert two.bound == pytest.approx(0.02 * (2 - 0.5 * convexity), rel=1e-12)
    assert one.holds
    for changed, holds in (
        (("step_size", 1.0), True),
        (("step_size", 1.5), False),
        (("gradient_error", 0.046), False),
    ):
        # qd + A ≤ r, η ≤ 1
        assert (
            local_retrieval([[0.3], [0.9]], **ball | dict([changed]), steps=1).holds
            == holds
        )
    # ηm₀ = 0.97: the bound is still that of one step
    far = local_retrieval([[0.0], [0.9]], **ball | {"step_size": 1.0}, steps=1)
    assert 0.9 < far.convexity < 1
    assert far.bound == pytest.approx(0.04, rel=1e-12)
    wide = local_retrieval([[0.0], [0.6], [-0.6]], **ball | {"radius": 1.0}, steps=1)
    assert wide.leak == 1  # softmax weights are at most 1


def test_the_local_bound_solves_the_recursion_and_bounds_the_admissible_error():
    Xi = np.array([[0.0, 0.0], [1.2, 1.6]])
    common = {"beta": 1.5, "radius": 0.4, "step_size": 0.5}
    leak = local_retrieval(Xi, 0, gradient_error=0.0, steps=1, **common).leak
    most = 0.4 - 2 * leak  # qd + A = r
    record = local_retrieval(Xi, 0, gradient_error=0.999 * most, steps=3, **common)
    distance = 0.0
    for _ in range(3):
        distance = (1 - 0.5 * record.convexity) * distance + 0.5 * 0.999 * most
    assert record.holds
    assert record.bound == pytest.approx(distance, rel=1e-9)
    assert not local_retrieval(
        Xi, 0, gradient_error=1.001 * most, steps=3, **common
    ).invariant


def test_local_bound_for_ever_is_the_fixed_point_of_the_recursion():
    """A/m₀ = A + (1 − m₀)A/m₀. Many steps reach this bound, and a single step of η = 1
    has the error A.
    """
    Xi = np.array([[0.0, 0.0], [1.2, 1.6]])
    common = {"beta": 1.5, "radius": 0.4, "gradient_error": 0.05}
    record = local_retrieval(Xi, 0, step_size=0.5, steps=10**6, **common)
    assert record.forever == pytest.approx(
        0.05 + (1 - record.convexity) * record.forever, rel=1e-12
    )
    assert record.bound == pytest.approx(record.forever, rel=1e-12)
    assert local_retrieval(
        Xi, 0, step_size=1.0, steps=1, **common
    ).bound == pytest.approx(0.05, rel=1e-12)


# The printed proofs, line by line


def test_each_line_of_lemma_2_other_than_eq_23_holds():
    Xi = binary(50, 10)
    x, z = uniform(4, 2, 300, 10) / 10**0.5
    ratios = memory_bounds.lemma_2(ro.MrDAM(Xi, 10.0), x, z)
    assert ratios.pop("eq18") < 1e-14
    ratios.pop("eq23")  # false in general: see below
    for name, ratio in ratios.items():
        assert 0 < np.max(ratio) <= 1 + 1e-12, name
    assert np.max(ratios["eq24-26"]) <= 0.5  # the constant 4 can be 2
    assert np.linalg.norm(Xi, 2) <= 50**0.5  # and the K of eq. 22 can be √K


def test_the_line_functions_equal_the_printed_lines_of_lemmas_2_and_3():
    """Each side of each line, written out for one pair of states."""
    Xi = binary(5, 6)
    beta = 1.0
    K = 5
    memory = ro.MrDAM(Xi, beta)
    copy = ro.DrDAM.store(Xi, beta, ro.RandomFeatures(6, 4000, key=jax.random.key(1)))
    states = uniform(2, 200, 6) / 6**0.5
    x = np.asarray(states[0])
    z = np.asarray(states[1])

    def square(y):
        return np.array([np.sum((y - xi) ** 2) for xi in np.asarray(Xi)])

    k_x = np.exp(-beta / 2 * square(x))
    k_z = np.exp(-beta / 2 * square(z))
    p = k_x / k_x.sum()
    q = k_z / k_z.sum()
    norm = np.linalg.norm
    patterns = np.asarray(Xi)
    turned = norm((x - p @ patterns) - (z - q @ patterns))
    logits = beta / 2 * np.abs(square(z) - square(x)).sum()
    expected = {
        "eq19-21": turned / (norm(x - z) + norm((p - q) @ patterns)),
        "eq22": norm((p - q) @ patterns) / (np.abs(p - q).sum() * norm(patterns, 2)),
        "eq23": np.abs(p - q).sum() / (np.exp(beta / 2) / K * logits),
        "eq24-26": logits / (2 * beta * K * norm(x - z)),
        "eq27": turned / ((1 + 2 * K * beta * np.exp(beta / 2)) * norm(x - z)),
    }
    sides = memory_bounds.lemma_2(memory, states[:1], states[1:2])
    assert {name: float(sides[name][0]) for name in expected} == pytest.approx(
        expected, rel=1e-9
    )
    kernels = np.asarray(copy.features.inner(states[:1].T, Xi.T))[0]  # at β = 1
    S = k_x.sum()
    S_hat = kernels.sum()
    allowed = np.abs(kernels - k_x).max() * K / k_x.sum()
    error = norm(p @ patterns - kernels @ patterns / S_hat)
    first = norm((kernels - k_x) @ patterns / S)
    second = norm(kernels @ patterns * (1 / S - 1 / S_hat))
    lines = {
        "eq35-37": error / (first + second),
        "eq39-42": first / allowed,
        "eq43-46": second / allowed,
        "eq47": error / (2 * allowed),
    }
    sides = memory_bounds.lemma_3(memory, copy, states[:1])
    assert {name: float(sides[name][0]) for name in lines} == pytest.approx(
        lines, rel=1e-6
    )


def test_eq_23_fails_inside_the_cube():
    """499 patterns at the origin, one near the opposite corner, and a query that
    rotates about the origin.
    """

    def turn(angle):
        return np.array([[np.cos(angle), np.sin(angle)]])

    Xi = np.concatenate([0.999 * turn(np.pi / 4 + 0.05), np.zeros((499, 2))])
    x = 0.995 * turn(np.pi / 4)
    z = 0.995 * turn(np.pi / 4 + 1e-3)
    (ratio,) = np.asarray(memory_bounds.lemma_2(ro.MrDAM(Xi, 10.0), x, z)["eq23"])
    assert 1.1 < ratio < 2


def test_each_line_of_lemma_3_holds():
    memory = ro.MrDAM(binary(5, 6), 1.0)
    copy = ro.DrDAM.store(
        memory.Xi, 1.0, ro.RandomFeatures(6, 4000, key=jax.random.key(1))
    )
    x = uniform(2, 200, 6) / 6**0.5
    ratios = memory_bounds.lemma_3(memory, copy, x)
    for name, ratio in ratios.items():
        assert 0 < np.max(ratio) <= 1 + 1e-12, name
    # eq. 47 combines the three before it
    chained = ratios["eq35-37"] * (ratios["eq39-42"] + ratios["eq43-46"]) / 2
    np.testing.assert_allclose(ratios["eq47"], chained, rtol=1e-9)


def test_each_line_of_the_recursion_and_its_local_form_hold():
    """D⁽ᵗ⁺¹⁾ = ρ_t D⁽ᵗ⁾ + η e_t with local ρ_t stays above the distance, and close to
    it.
    """
    Xi = binary(20, 30)
    memory = ro.MrDAM(Xi, 30.0)
    copy = ro.DrDAM.store(Xi, 30.0, ro.RandomFeatures(30, 4000, key=jax.random.key(1)))
    run = drift(memory, copy, Xi[:5] + 0.01, step_size=0.2, steps=30)
    assert run.exact.shape == run.distributed.shape == (31, 5, 30)
    for name, ratio in memory_bounds.recursion(memory, run).items():
        assert np.max(ratio) <= 1 + 1e-9, name
        # the first step starts at one state, so the line is an equality
        np.testing.assert_allclose(ratio[0], 1, rtol=1e-9)
    bound = np.asarray(run.recursion(run.local_growth(memory, points=5)))
    distance = np.asarray(run.distance)
    assert (distance[1:] <= bound[1:] * 1.001).all()
    assert (bound[-1] <= 2 * distance[-1]).all()
    constant = np.asarray(run.recursion(0.9, 0.01))[-1]
    np.testing.assert_allclose(constant, 0.2 * 0.01 * (1 - 0.9**30) / 0.1, rtol=1e-6)
    again = ro.retrieve(copy, Xi[:5] + 0.01, step_size=0.2, max_steps=30, tol=0.0)
    np.testing.assert_allclose(np.asarray(run.distributed)[-1], again.x, atol=1e-12)


def test_an_overshooting_step_multiplies_distances_by_its_absolute_factor():
    """One pattern has the Hessian I everywhere: a step of 1.5 multiplies every distance
    by |1 − 1.5|.
    """
    memory = ro.MrDAM(np.zeros((1, 2)), 3.0)
    run = drift(memory, memory, np.ones((1, 2)), step_size=1.5, steps=2)
    np.testing.assert_allclose(run.local_growth(memory), 0.5, rtol=1e-12)
    np.testing.assert_allclose(run.exact[:, 0, 0], [1, -0.5, 0.25], rtol=1e-12)


def test_the_lines_of_the_recursion_equal_hand_values_for_one_pattern_each():
    """D-eq48-53, D-eq54: patterns 0 and c, each twenty times, and η = ½. The states
    separate along c, to the distance (1 − 2⁻ᵗ)‖c‖.

    Step t adds 2⁻ᵗ‖c‖ to the distance. Its two terms are half of the distance before,
    (1 − 2¹⁻ᵗ)‖c‖, and half of ‖c‖.
    """
    memory = ro.MrDAM(np.zeros((20, 30)), 30.0)
    copy = ro.MrDAM(np.full((20, 30), 0.1), 30.0)
    run = drift(memory, copy, np.ones((5, 30)), step_size=0.5, steps=30)
    t = np.arange(1, 31)[:, None] + np.zeros(5)
    np.testing.assert_allclose(run.distance[1:], (1 - 0.5**t) * 0.3**0.5, rtol=1e-12)
    lines = memory_bounds.recursion(memory, run)
    np.testing.assert_allclose(lines["eq48-53"], 1, rtol=1e-12)
    np.testing.assert_allclose(lines["eq54"], 1 / (2**t - 1), rtol=1e-6)


def test_energy_on_the_cube_is_at_most_a_half_minus_log_K_over_beta():
    beta = 20.0
    K = 12
    states = uniform(0, 500, 8) / 8**0.5
    assert np.max(ro.MrDAM(binary(K, 8), beta).energy(states)) <= 0.5 - log(K) / beta
    corner = ro.MrDAM(np.zeros((K, 8)), beta)
    np.testing.assert_allclose(
        corner.energy(np.ones(8) / 8**0.5), 0.5 - log(K) / beta, rtol=1e-12
    )
    record = divergence.divergence_bound(
        D=8, K=K, Y=1000, beta=beta, step_size=0.1, steps=1, eps0=1e-9, eps1=1e-9
    )
    assert record.energy == pytest.approx(0.5 - log(K) / beta, abs=1e-3)


def test_the_gap_of_the_kernels_is_that_of_their_formulas():
    Xi, x = np.random.default_rng(5).normal(size=(2, 3, 4)).astype(np.float32)
    copy = ro.DrDAM.store(Xi, 1.5, ro.RandomFeatures(4, 8, key=jax.random.key(6)))
    estimate = (
        np.asarray(copy.features.phi(1.5**0.5 * x))
        @ np.asarray(copy.features.phi(1.5**0.5 * Xi)).T
    )
    kernel = np.exp(-0.75 * ((x[:, None] - Xi[None]) ** 2).sum(-1))
    np.testing.assert_allclose(kernel_gap(copy, Xi, x), estimate - kernel, atol=1e-5)
