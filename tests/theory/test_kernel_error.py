"""Random-feature kernels: exact means and variances, the uniform bound, positive and
structured features.
"""

from itertools import combinations_with_replacement, product

import jax
import numpy as np
import pytest
from refusals import refused
from scipy.linalg import hadamard
from scipy.special import hyp1f1

import rankone as ro
from rankone.precision import double_precision
from rankone.printed.memory_bounds import rahimi_recht
from rankone.theory.kernel_error import (
    contraction_error,
    kernel_variance,
    largest_kernel_error,
    net_error,
    orthogonal_variance_ratio,
    rbf_kernel,
    uniform_kernel_error,
)

BASES = ("sincos", "cos", "exp", "expexp")


def one_frequency_estimates(x, z, basis, Y=400_000, seed=0):
    features = ro.RandomFeatures(len(x), Y, key=jax.random.key(seed), basis=basis)
    of_x = np.asarray(features.phi(x))
    of_z = np.asarray(features.phi(z))
    return (Y * of_x * of_z).reshape(-1, Y).sum(0).astype(float)


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("z", [[0.3, 0.1, -0.2, 0.0], [-0.4, 0.5, 0.1, 0.3]])
def test_features_are_unbiased_with_the_exact_variance(basis, z):
    """D-eq8, D-fn5: the mean is within 5 standard errors, and the variance within 5 of
    its own standard errors, from the sample's fourth moment.
    """
    x = np.array([0.5, -0.2, 0.1, 0.3])
    z = np.array(z)
    each = one_frequency_estimates(x, z, basis)
    variance = float(kernel_variance(x, z, basis=basis))
    assert (
        abs(each.mean() - float(rbf_kernel(x, z))) < 5 * (variance / len(each)) ** 0.5
    )
    spread = ((each - each.mean()) ** 2).std() / len(each) ** 0.5
    assert abs(each.var() - variance) < 5 * spread


def test_the_norm_of_sincos_features_is_exact_and_that_of_cos_is_random():
    x = np.random.default_rng(0).normal(size=(10, 5))
    phi = {
        b: ro.RandomFeatures(5, 500, key=jax.random.key(1), basis=b).phi(x)
        for b in ("sincos", "cos")
    }
    norms = {b: (np.asarray(features) ** 2).sum(-1) for b, features in phi.items()}
    assert np.allclose(norms["sincos"], 1, atol=1e-5)
    assert np.abs(norms["cos"] - 1).max() > 1e-2


def test_sincos_beats_cos_at_equal_number_of_entries():
    """D-fn5: M Var = (1 − k²)² against ½[1 + (1 − k²)²], with M = 2Y and M = Y."""
    x, z = np.random.default_rng(2).normal(size=(2, 200, 3))
    sincos, cos = (
        np.asarray(kernel_variance(x, z, basis=b)) for b in ("sincos", "cos")
    )
    assert (2 * sincos <= cos).all()
    assert np.allclose(cos - sincos, 0.5, atol=1e-6)


def test_an_estimated_kernel_can_be_negative_and_a_polynomial_one_has_finite_rank():
    """D-eq4."""
    far = np.array([4.0, 0.0]), np.array([-4.0, 1.0])
    phi = ro.RandomFeatures(2, 50, key=jax.random.key(0)).phi
    estimates = [
        np.asarray(ro.RandomFeatures(2, 50, key=jax.random.key(s)).phi(far[0]))
        @ np.asarray(ro.RandomFeatures(2, 50, key=jax.random.key(s)).phi(far[1]))
        for s in range(8)
    ]
    assert min(estimates) < 0 < max(estimates)
    assert phi(far[0]).shape == (100,)
    monomials = sum(
        1 for p in range(4) for _ in combinations_with_replacement(range(3), p)
    )
    points = np.random.default_rng(0).normal(size=(60, 3))
    assert np.linalg.matrix_rank((points @ points.T + 1) ** 3) == monomials == 20


@pytest.mark.parametrize(
    ("D", "Y", "R"), [(3, 500, 1.0), (10, 1000, 3.0), (30, 1000, 5.0)]
)
def test_uniform_bound_holds_and_is_within_a_factor_of_eight(D, Y, R):
    """D-U0 and the corrected (A2)."""
    features = ro.RandomFeatures(D, Y, key=jax.random.key(D))
    worst, where = map(
        np.asarray,
        largest_kernel_error(features, R, key=jax.random.key(1), starts=16, steps=60),
    )
    bound = uniform_kernel_error(D=D, Y=Y, radius=R, delta=0.01)
    assert bound / 8 < float(worst) <= bound
    assert np.linalg.norm(where) <= R * (1 + 1e-5)
    estimate = np.cos(
        np.asarray(features.omega, float) @ np.asarray(where, float)
    ).mean()
    assert abs(estimate - np.exp(-0.5 * float(where @ where))) == pytest.approx(
        float(worst), abs=1e-5
    )


def test_the_kept_bound_is_the_smaller_and_beats_rahimi_and_recht():
    """D-U0: the bound uses straight lines on small balls and a net on large ones.
    Inserting Claim 1 into its tail gives δ.
    """
    choices = {}
    for D, Y, R in product(
        (1, 5, 50, 1000), (100, 20_000, 10**9), (0.1, 1.0, 5.0, 30.0)
    ):
        ball = {"D": D, "Y": Y, "radius": R}
        straight = contraction_error(**ball)
        net = net_error(**ball)
        claim = rahimi_recht(**ball)
        assert 2**8 * D * (R / claim) ** 2 * np.exp(
            -Y * claim**2 / (4 * (D + 2))
        ) == pytest.approx(0.05, rel=1e-6)
        assert uniform_kernel_error(**ball) == min(straight, net)
        assert min(straight, net) < claim or claim > 2
        choices[R] = choices.get(R, set()) | {straight < net}
    assert choices[0.1] == {True}
    assert choices[30.0] == {False}


def test_the_search_beats_random_points():
    features = ro.RandomFeatures(4, 300, key=jax.random.key(0))
    worst, _ = largest_kernel_error(
        features, 2.0, key=jax.random.key(1), starts=16, steps=100
    )
    delta = np.random.default_rng(0).normal(size=(2000, 4))
    delta *= (
        2
        * np.random.default_rng(1).random((2000, 1))
        / np.linalg.norm(delta, axis=1, keepdims=True)
    )
    errors = np.abs(
        np.cos(delta @ np.asarray(features.omega).T).mean(1)
        - np.exp(-0.5 * (delta**2).sum(1))
    )
    assert float(worst) > errors.max()


def test_an_average_of_cosines_nearly_returns_to_one_far_away():
    """D-unn2: the estimate is almost periodic."""
    frequencies = np.random.default_rng(1).normal(size=3)
    line = np.linspace(50, 20_000, 2_000_000)
    assert (sum(np.cos(w * line) for w in frequencies) / 3).max() > 0.999


def test_a_random_shift_in_the_exponent_multiplies_the_kernel():
    """D-appC-Exp: E e^{2b} = (e^{4π} − 1)/4π, and the package's map has no such
    shift.
    """
    b = 2 * np.pi * (np.arange(10**6) + 0.5) / 10**6
    factor = np.exp(2 * b).mean()
    assert factor == pytest.approx((np.exp(4 * np.pi) - 1) / (4 * np.pi), rel=1e-6)
    assert factor == pytest.approx(22_818.86, rel=1e-6)
    assert np.exp(4 * b).mean() / factor**2 == pytest.approx(
        2 * np.pi / np.tanh(2 * np.pi), rel=1e-6
    )
    x = np.array([0.2, 0.1])
    z = np.array([-0.1, 0.3])
    assert one_frequency_estimates(x, z, "exp").mean() == pytest.approx(
        float(rbf_kernel(x, z)), rel=0.01
    )


def test_positive_features_lose_exactly_where_the_inner_product_is_positive():
    """D-sharp4: identity and sign."""
    with double_precision():
        x, z = np.random.default_rng(0).normal(size=(2, 1000, 4)) / 2
        expexp, sincos = (
            np.asarray(kernel_variance(x, z, basis=b)) for b in ("expexp", "sincos")
        )
        gap = expexp - sincos
        inner = (x * z).sum(-1)
        n = (x**2 + z**2).sum(-1)
        closed = 0.5 * np.expm1(4 * inner) * -np.expm1(-2 * n)
        assert (np.abs(gap - closed) / (1 + np.abs(closed))).max() < 1e-14
        assert (np.sign(gap) == np.sign(inner)).all()


def letter_errors(basis, centred, beta=60.0, Y=4000):
    rows = np.unique(ro.data.letters()[0], axis=0)[::40][:400] / 60
    Xi = rows[::2]
    queries = rows[1::2]
    shift = Xi.mean(0) if centred else 0.0
    features = ro.RandomFeatures(16, Y, key=jax.random.key(0), basis=basis)
    exact = np.asarray(ro.MrDAM(Xi - shift, beta).energy(queries - shift))
    return np.abs(
        ro.DrDAM.store(Xi - shift, beta, features).energy(queries - shift) - exact
    ).mean()


def test_centring_repairs_positive_features_on_letters_and_leaves_sincos_alone():
    """D-fig6, D-appC-claims."""
    assert letter_errors("expexp", False) > 20 * letter_errors("sincos", False)
    assert letter_errors("expexp", True) < 3 * letter_errors("sincos", True)
    assert letter_errors("sincos", True) == pytest.approx(
        letter_errors("sincos", False), rel=1e-2
    )


def test_trigonometric_features_are_not_always_better():
    """D-appC-claims: near the origin the cosine with a random shift has more variance
    than expexp.
    """
    x = 0.3 * np.array([1.0, 0.2])
    z = 0.3 * np.array([0.5, 0.6])
    assert float(kernel_variance(x, z, basis="expexp")) < float(
        kernel_variance(x, z, basis="cos")
    )


@pytest.mark.parametrize("s2", [0.25, 1.0, 5.0])
def test_orthogonal_rows_have_the_confluent_covariance(s2):
    """D-sharp8: block means of D orthogonal rows against ₁F₁, within 5 standard errors
    of their variance.
    """
    D = 16
    blocks = 4000
    features = ro.RandomFeatures(
        D, D * blocks, key=jax.random.key(7), projection="orthogonal"
    )
    h = np.asarray(features.project(np.full(D, (s2 / D) ** 0.5)), float).reshape(
        blocks, D
    )
    means = np.cos(h).mean(1)
    covariance = hyp1f1(D, D / 2, -s2 / 2) - np.exp(-s2)
    exact = (0.5 * (1 - np.exp(-s2)) ** 2 + (D - 1) * covariance) / D
    spread = ((means - means.mean()) ** 2).std() / blocks**0.5
    assert abs(means.var() - exact) < 5 * spread
    assert abs(means.mean() - np.exp(-s2 / 2)) < 5 * (exact / blocks) ** 0.5


def test_variance_ratio_is_the_limit_of_the_confluent_covariance():
    s2 = np.array([0.25, 1.0, 5.0, 25.0])
    D = 10**4
    covariance = hyp1f1(D, D / 2, -s2 / 2) - np.exp(-s2)
    exact = 1 + (D - 1) * covariance / (0.5 * (1 - np.exp(-s2)) ** 2)
    # O(1/D), and float32 near s = 0
    assert np.allclose(orthogonal_variance_ratio(np.sqrt(s2)), exact, atol=2e-3)


@pytest.mark.parametrize("D", [2, 16, 100])
@pytest.mark.parametrize("along", ["axis", "dense"])
def test_hadamard_rows_are_orthogonal_and_show_no_bias(D, along):
    P = max(64, 2 ** (D - 1).bit_length())
    features = ro.RandomFeatures(D, 2**18, key=jax.random.key(4), projection="hadamard")
    direction = np.eye(D)[0] if along == "axis" else np.ones(D) / D**0.5
    h = np.asarray(features.project(direction), float).reshape(-1, P)
    for s in (1.0, 2.0, 3.0):
        means = np.cos(s * h).mean(1)
        assert (
            abs(means.mean() - np.exp(-s * s / 2)) < 5 * means.std() / len(means) ** 0.5
        )
        assert P * means.var() < 1.1 * 0.5 * (1 - np.exp(-s * s)) ** 2
    block = np.asarray(
        ro.RandomFeatures(P, P, key=jax.random.key(4), projection="hadamard").omega,
        float,
    )
    gram = block @ block.T
    assert np.abs(gram - np.diag(np.diag(gram))).max() < 1e-3 * P


def test_one_random_sign_flip_is_not_enough_for_differences_along_an_axis():
    """D-sharp8: the entries of H D₁ e have one size, so the estimate is a cosine of the
    length, which is far from the Gaussian.
    """
    rng = np.random.default_rng(0)
    entries = hadamard(64) @ (rng.choice([-1, 1], 64) * np.eye(64)[0])
    assert np.array_equal(np.abs(entries), np.ones(64))
    estimate = np.cos(np.sqrt(rng.chisquare(64, 10**5)) * 2 / 8).mean()
    assert abs(estimate - np.exp(-2)) > 0.3


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: kernel_variance([0.0], [0.0], basis="sine"), "basis"),
        (lambda: kernel_variance([0.0, 1.0], [0.0]), "x"),
        (lambda: uniform_kernel_error(D=3, Y=100, radius=-1.0), "radius"),
        (lambda: uniform_kernel_error(D=3, Y=100, radius=1.0, delta=0.0), "delta"),
        (
            lambda: largest_kernel_error(
                ro.RandomFeatures(2, 8, key=jax.random.key(0), basis="cos"),
                1.0,
                key=jax.random.key(0),
            ),
            "features",
        ),
    ],
)
def test_bad_input_names_the_argument(call, argument):
    with refused(ValueError, match=f"^{argument}: got"):
        call()


def test_kernel_variance_broadcasts_over_batches():
    x = np.zeros((5, 1, 3))
    z = np.ones((4, 3))
    for basis, shape in product(BASES, [(5, 4)]):
        assert kernel_variance(x, z, basis=basis).shape == shape
