"""The rounding errors of memories in float32 and in half precision, compared with
numpy's longdouble.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from half import needs_float16
from refusals import refused

import rankone as ro
from rankone.memory.bases import cos_sin
from rankone.precision import double_precision

# large enough that distances are products
K = 512
D = 64
N = 16
RNG = np.random.default_rng(0)
SPREAD = RNG.random((K, D)) / 8
NEAR = RNG.normal(size=(N, D)) / 100
BETAS = (1e-8, 1e-3, 1.0, 300.0, 1e5, 1e8)


def exact(Xi, beta, x):
    """Energy and gradient of eq. 11 in longdouble."""
    Xi, x, beta = (np.asarray(a, np.longdouble) for a in (Xi, x, beta))
    S = -((x[:, None] - Xi) ** 2).sum(-1) / 2
    top = S.max(-1, keepdims=True)
    weights = np.exp(beta * (S - top))
    p = weights / weights.sum(-1, keepdims=True)
    return -top[:, 0] - np.log(weights.sum(-1)) / beta, x - p @ Xi


def off(memory, Xi, beta, x):
    """Errors of energy and gradient, in units of the unavoidable rounding errors, which
    depend on the sizes of the centred patterns.
    """
    (E, slope) = map(np.asarray, memory.energy_and_gradient(x))
    (exact_energy, exact_slope) = exact(Xi, beta, x)
    centre = Xi.astype(float).mean(0)
    sizes = (
        np.linalg.norm(Xi - centre, axis=1).max()
        + np.linalg.norm(x - centre, axis=1).max()
    )
    tie = 1e-7 * Xi.shape[1] * sizes**2 * np.sqrt(len(Xi) > 1)
    energy = np.abs(E - exact_energy).max() / (
        tie + 1e-6 * (np.abs(exact_energy).max() + np.log(len(Xi)) / beta) + 1e-37
    )
    return energy, np.abs(slope - exact_slope).max() / (sizes * (beta * tie + 1e-5))


@pytest.mark.parametrize("offset", [0.0, 10.0, 100.0, 1000.0])
def test_energy_and_gradient_are_accurate_at_every_temperature_and_offset(offset):
    Xi = (SPREAD + offset).astype(np.float32)
    x = (Xi[:N] + NEAR).astype(np.float32)
    errors = [off(ro.MrDAM(Xi, beta), Xi, np.float32(beta), x) for beta in BETAS]
    assert np.max(errors) < 1, errors


def cases():
    two = np.float32(RNG.normal(size=(2, D)))
    yield "one pattern", two[:1], 3.0
    yield "duplicates", np.repeat(two, 2, 0), 1e4
    yield "huge", 1e15 * two, 1e-30
    yield "tiny", 1e-15 * two, 1e30
    yield "one number each", np.float32([[0.0], [1.0], [1.0 + 2**-20]]), 50.0


@pytest.mark.parametrize(("name", "Xi", "beta"), list(cases()))
def test_energy_and_gradient_are_accurate_in_edge_cases(name, Xi, beta):
    x = Xi[:2] + np.float32(np.abs(Xi).max() / 16)
    assert np.max(off(ro.MrDAM(Xi, beta), Xi, np.float32(beta), x)) < 1


@pytest.mark.parametrize(
    "dtype", [pytest.param(jnp.float16, marks=needs_float16), jnp.bfloat16]
)
def test_half_precision_is_summed_in_single(dtype):
    """For 100,000 patterns a sum in float16 would overflow at 65,504, and a sum in
    bfloat16 would stop growing at 256.
    """
    Xi = jnp.asarray(RNG.random((100_000, 4)) / 2, dtype)
    memory = ro.MrDAM(Xi, 1.0)
    x = Xi[:1]
    assert memory.Xi.dtype == dtype
    rows = np.asarray(Xi, np.float32)
    assert np.max(off(memory, rows, 1.0, rows[:1])) < 1
    stored = ro.DrDAM.store(
        Xi[:3000], 1.0, ro.RandomFeatures(4, 500, key=jax.random.key(0))
    )
    wide = ro.DrDAM.store(rows[:3000], 1.0, stored.features)
    assert stored.T.dtype == jnp.float32
    np.testing.assert_allclose(stored.partition(x), wide.partition(rows[:1]), rtol=1e-5)
    assert ro.retrieve(memory, x, max_steps=2).x.dtype == jnp.float32


@pytest.mark.parametrize("offset", [0.0, 100.0, 1000.0])
def test_patterns_far_from_0_are_found_and_certified(offset):
    Xi = (SPREAD + offset).astype(np.float32)
    run = ro.retrieve(ro.MrDAM(Xi, 300.0), (Xi[:N] + NEAR / 2).astype(np.float32))
    assert np.abs(run.x - Xi[:N]).max() < 1e-2
    assert run.converged.all()
    assert run.certified.all()


def test_clamped_entries_are_returned_exactly():
    Xi = (SPREAD + 0.1).astype(np.float32)
    x0 = (Xi[:N] + NEAR).astype(np.float32)
    clamp = np.arange(D) < 20
    run = ro.retrieve(ro.MrDAM(Xi, 300.0), x0, clamp=clamp, max_steps=3)
    np.testing.assert_array_equal(run.x[:, :20], x0[:, :20])


def test_the_certificate_is_withheld_where_rounding_decides():
    """Two patterns whose distances from the query differ by less than their rounding
    errors, at a β that distinguishes these distances.
    """
    Xi = SPREAD.astype(np.float32).copy()
    Xi[1] = Xi[0] + np.float32(2**-22) * np.sign(NEAR[0]).astype(np.float32)
    x = Xi[:1] + (NEAR[:1] / 8).astype(np.float32)
    certified = [
        bool(ro.retrieve(ro.MrDAM(Xi, b), x, max_steps=1).certified[0])
        for b in (1.0, 300.0, 1e8)
    ]
    assert certified == [True, True, False]
    # patterns cannot be centred for the similarity "dot"
    far = ro.retrieve(
        ro.MrDAM(Xi + np.float32(1000), 300.0, "dot"), x + 1000, max_steps=1
    )
    assert not far.certified[0]
    # steps of this size are rounded off in float32
    other = ro.retrieve(ro.MrDAM(Xi, 300.0), x, max_steps=1, tol=1e-12)
    assert not other.certified[0]
    run = ro.retrieve(ro.MrDAM(Xi, 300.0), x, max_steps=1, tol=0)
    assert run.certified[0]


def test_certified_states_have_gradients_close_to_longdouble():
    """For every β, the error of the gradient is below e^¼ − 1 of the patterns'
    distances, or the nearest pattern has all the weight.
    """
    Xi = SPREAD.astype(np.float32)
    judged = []
    x = (Xi[:N] + NEAR).astype(np.float32)
    for beta in (1e3, 1e5, 1e6, 1e8):
        memory = ro.MrDAM(Xi, beta)
        certified = np.asarray(memory.certified(x - memory.origin[None]))
        wrong = np.abs(
            np.asarray(memory.gradient(x)) - exact(Xi, np.float32(beta), x)[1]
        ).max(-1)
        assert wrong[certified].max(initial=0) < 0.04
        judged.append(certified.mean())
    assert judged[0] == 1
    assert np.mean(judged) > 0.5  # the certificate is given often enough to be useful


def test_a_certified_estimate_loses_less_than_an_eighth_of_itself_to_rounding():
    """States near the patterns, at a hundred times their size, and at a size where the
    features' angles have no digits left.
    """
    Xi = SPREAD[:5].astype(np.float32)
    memory = ro.DrDAM.store(Xi, 20.0, ro.RandomFeatures(D, 500, key=jax.random.key(2)))
    x = np.array([1, 1e2, 1e6], np.float32)[:, None, None] * Xi[None]
    certified = np.asarray(memory.certified(x - memory.origin[None, None]))
    assert certified.all(axis=1).tolist() == [True, True, False]
    assert not certified[2].any()
    with double_precision():
        wide = jax.tree.map(
            lambda leaf: leaf.astype(float) if leaf.dtype == np.float32 else leaf,
            memory,
        )
        S = np.asarray(wide.partition(x.astype(float)))
    rounding = np.abs(np.asarray(memory.partition(x)) - S)[certified]
    assert (rounding <= np.maximum(S[certified], float(memory.floor)) / 8).all()


@pytest.mark.parametrize("beta", [1.0, 100.0, 1e4])
def test_dot_product_weights_do_not_overflow(beta):
    """exp(β‖ξ‖²/2) has 2,000 digits at β = 10⁴, and the pattern with the largest weight
    is added last.
    """
    Xi = np.float32(np.vstack([np.eye(4), 1.5 * np.eye(4)[:1]]))
    features = ro.RandomFeatures(4, 4000, key=jax.random.key(2))
    memory = ro.DrDAM.store(Xi[:4], beta, features, similarity="dot").add(Xi[4])
    for instance, rows in ((memory, Xi), (memory.remove(Xi[0]), Xi[1:])):
        expected = ro.MrDAM(rows, beta, "dot").energy(Xi[4])
        assert float(instance.energy(Xi[4])) == pytest.approx(
            float(expected), abs=0.1 / beta
        )


def test_angles_are_reduced_to_1e5_and_refused_beyond():
    angle = np.float32(np.linspace(0.9e5, 1e5, 4001))
    cos, sin = cos_sin(jnp.asarray(angle))
    assert (
        max(
            np.abs(cos - np.cos(angle.astype(float))).max(),
            np.abs(sin - np.sin(angle.astype(float))).max(),
        )
        < 2e-6
    )
    assert np.isnan(
        np.asarray(cos_sin(jnp.asarray(np.float32([1.1e5, 1e8, 1e30])))[0])
    ).all()


def test_features_of_patterns_far_from_0_need_a_centre():
    Xi = (SPREAD[:5] + 1000).astype(np.float32)
    features = ro.RandomFeatures(D, 4000, key=jax.random.key(3))
    with refused(ValueError, match=r"^Xi: got .* pass centre=Xi.mean"):
        ro.DrDAM.store(Xi, 300.0, features)
    memory = ro.DrDAM.store(Xi, 300.0, features, centre=Xi.mean(0))
    with refused(ValueError, match=r"^xi: got"):
        memory.add(np.zeros(D))
    near = ro.DrDAM.store(SPREAD[:5], 300.0, features)
    np.testing.assert_allclose(
        memory.partition(Xi), near.partition(SPREAD[:5]), atol=1e-2
    )
    run = ro.retrieve(memory, Xi + np.float32(0.005))
    assert run.certified.all()
    assert np.abs(run.x - Xi).max() < 0.006
    with refused(ValueError, match=r"^centre: got"):
        ro.DrDAM.store(Xi, 300.0, features, centre=np.zeros(3))
