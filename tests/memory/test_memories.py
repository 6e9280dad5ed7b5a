"""Exact and distributed memories: energies, gradients, writing, and bad input."""

import pickle
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from scipy.special import logsumexp, softmax

import rankone as ro
from rankone.memory.nonlinear import OUTER, SEPARATIONS
from rankone.precision import double_precision
from rankone.theory.kernel_error import kernel_variance
from rankone.writes import FeatureKernel

BASES = ("sincos", "cos", "exp", "expexp")
PROJECTIONS = ("gaussian", "orthogonal", "hadamard")
GENERAL = {
    "eq11": {},
    "EDP": {"similarity": "dot"},
    "eq7": {"similarity": "dot", "g": "unit"},
    "power": {
        "similarity": "dot",
        "separation": "quartic",
        "Q": "identity",
        "g": "tanh",
    },
    "exponential": {"separation": "exp", "Q": "identity"},
    "own functions": {
        "similarity": lambda Xi, z: Xi @ jnp.tanh(z).T,
        "separation": lambda s: jnp.exp(s / 2),
        "Q": jnp.sqrt,
        "g": jnp.sin,
    },
}


@pytest.fixture(autouse=True)
def double():
    with double_precision():
        yield


@pytest.fixture
def patterns():
    return np.asarray(jax.random.uniform(jax.random.key(0), (12, 7))) / np.sqrt(7)


@pytest.fixture
def queries():
    return np.asarray(jax.random.uniform(jax.random.key(1), (3, 2, 7))) / np.sqrt(7)


@jax.jit
def autodiff(memory, x):
    flat = x.reshape(-1, x.shape[-1])
    return jax.vmap(jax.grad(memory.energy))(flat).reshape(x.shape)


def features_of(seed, **options):
    """Features for the patterns above. Their number is fixed, so that tests share
    compiled programs.
    """
    return ro.RandomFeatures(7, 4001, key=jax.random.key(seed), **options)


@pytest.mark.parametrize("form", GENERAL)
def test_exact_gradient_is_the_derivative_of_the_energy(form, patterns, queries):
    memory = ro.MrDAM(patterns, 3.0, **GENERAL[form])
    np.testing.assert_allclose(
        memory.gradient(queries), autodiff(memory, queries), rtol=1e-12, atol=1e-13
    )


def test_named_functions_come_with_their_derivatives():
    """The derivatives are compared with central differences, at arguments of both signs
    where these are allowed.
    """
    for options, points in (
        (SEPARATIONS, np.array([-0.7, -0.2, 0.4, 1.3])),
        (OUTER, np.array([0.3, 1.7])),
    ):
        for name, function in options.items():
            above, below = (
                np.asarray(function.value(points + step)) for step in (1e-6, -1e-6)
            )
            np.testing.assert_allclose(
                function.derivative(points),
                (above - below) / 2e-6,
                atol=1e-8,
                err_msg=name,
            )


def test_default_energy_is_the_log_sum_exp_of_eq_11(patterns, queries):
    squares = ((queries[..., None, :] - patterns) ** 2).sum(-1)
    expected = -np.log(np.exp(-2.5 * squares).sum(-1)) / 5
    np.testing.assert_allclose(
        ro.MrDAM(patterns, 5.0).energy(queries), expected, rtol=1e-12
    )


def test_edp_energy_has_its_quadratic_term(patterns, queries):
    dots = queries @ patterns.T
    expected = -np.log(np.exp(4 * dots).sum(-1)) / 4 + 0.5 * (queries**2).sum(-1)
    np.testing.assert_allclose(
        ro.MrDAM(patterns, 4.0, "dot").energy(queries), expected, rtol=1e-12
    )


def test_an_energy_without_the_logarithm_is_the_sum_itself(patterns, queries):
    """Q = identity: there is no factor 1/β, and β occurs only inside of exp."""
    squares = ((queries[..., None, :] - patterns) ** 2).sum(-1)
    memory = ro.MrDAM(patterns, 3.0, **GENERAL["exponential"])
    np.testing.assert_allclose(
        memory.energy(queries), -np.exp(-1.5 * squares).sum(-1), rtol=1e-12
    )
    quartic = -((np.tanh(queries) @ patterns.T) ** 4).sum(-1)
    np.testing.assert_allclose(
        ro.MrDAM(patterns, 3.0, **GENERAL["power"]).energy(queries), quartic, rtol=1e-12
    )


def test_a_logarithm_is_divided_by_beta_whatever_is_summed(patterns, queries):
    memory = ro.MrDAM(patterns, 3.0, "dot", separation="quartic")
    expected = -np.log(((queries @ patterns.T) ** 4).sum(-1)) / 3
    np.testing.assert_allclose(memory.energy(queries), expected, rtol=1e-12)


def test_unit_activation_never_moves_the_state_radially(patterns, queries):
    gradient = ro.MrDAM(patterns, 4.0, "dot", g="unit").gradient(queries)
    np.testing.assert_allclose((gradient * queries).sum(-1), 0, atol=1e-14)


def test_a_lone_pattern_has_zero_energy_and_gradient():
    memory = ro.MrDAM(np.ones((1, 5)), 60.0)
    assert memory.energy(np.ones(5)) == 0
    assert not np.any(memory.gradient(np.ones(5)))


def test_a_state_is_certified_until_rounding_can_change_log_weights_by_an_eighth():
    """Two patterns at the distance ¼ from their mean, and a state at the distance ¾
    from it, equally near to both: β(D + 5)·2⁻⁵³·(¼ + ¾)²/2 = β·2⁻⁵¹.
    """
    Xi = np.array([[0.25, 0, 0], [-0.25, 0, 0]])
    x = np.array([0, 0.75, 0])
    assert [
        bool(ro.MrDAM(Xi, factor * 2.0**48).certified(x)) for factor in (1, 1.01)
    ] == [True, False]


def test_summing_patterns_in_blocks_does_not_change_energy_or_gradient():
    """Two blocks of 256 long patterns and a remainder of one pattern, in the order of
    decreasing distance, agree with the whole sum.
    """
    Xi = np.asarray(jax.random.normal(jax.random.key(2), (513, 4096))) / 64
    x = np.asarray(jax.random.normal(jax.random.key(3), (2, 4096))) / 64
    # every block has a new maximum, and the last row has the largest weight
    Xi = Xi[np.argsort(Xi @ x.sum(0))]
    logits = -30 * ((x[:, None] - Xi) ** 2).sum(-1)
    energy, gradient = ro.MrDAM(Xi, 60.0).energy_and_gradient(x)
    np.testing.assert_allclose(energy, -logsumexp(logits, axis=1) / 60, rtol=1e-12)
    np.testing.assert_allclose(
        gradient, x - softmax(logits, axis=1) @ Xi, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("N", [1, 5])
def test_a_prepared_reader_gives_the_same_results_as_read(N):
    """For more than 2¹⁸ numbers, the reader computes distances by products. 3,100
    patterns leave a last block that is not full.
    """
    k_Xi, k_x = jax.random.split(jax.random.key(1))
    Xi = 1 + 0.1 * jax.random.normal(k_Xi, (3100, 100))
    memory = ro.MrDAM(Xi, 2.0)
    x = Xi[:N] + 0.1 * jax.random.normal(k_x, (N, 100))
    for ours, plain in zip(
        memory.reader()(x - memory.origin[None]), memory.read(x), strict=True
    ):
        np.testing.assert_allclose(ours, plain, atol=3e-5)
    with double_precision():
        wide = ro.MrDAM(np.asarray(Xi, float), 2.0)
        x = np.asarray(x, float)
        for ours, plain in zip(
            wide.reader()(x - wide.origin[None]), wide.read(x), strict=True
        ):
            np.testing.assert_allclose(ours, plain, atol=1e-12)


def test_only_l2_readers_prepare_squared_norms():
    """The reader of an "l2" memory has the squares of the centred patterns and the
    centre. Other readers have no squares.
    """
    Xi = np.arange(6.0).reshape(2, 3)
    readers = [
        jax.tree.leaves(ro.MrDAM(Xi, 2.0, similarity).reader())
        for similarity in ("l2", "dot")
    ]
    assert [len(leaves) for leaves in readers] == [5, 4]
    np.testing.assert_array_equal(readers[0][3], ((Xi - Xi.mean(0)) ** 2).sum(1))
    np.testing.assert_array_equal(readers[0][4], Xi.mean(0))


@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize("basis", BASES)
def test_distributed_gradient_is_the_derivative_of_its_energy(
    basis, projection, patterns, queries
):
    features = features_of(4, basis=basis, projection=projection)
    memory = ro.DrDAM.store(patterns, 10.0, features)
    np.testing.assert_allclose(
        memory.gradient(queries), autodiff(memory, queries), rtol=1e-9, atol=1e-11
    )


@pytest.mark.parametrize("similarity", ["l2", "dot"])
@pytest.mark.parametrize("g", ["identity", "unit", "tanh"])
def test_distributed_forms_agree_with_the_exact_ones(similarity, g, patterns, queries):
    features = ro.RandomFeatures(7, 200_000, key=jax.random.key(5))
    exact = ro.MrDAM(patterns, 4.0, similarity, g=g)
    memory = ro.DrDAM.store(patterns, 4.0, features, similarity=similarity, g=g)
    np.testing.assert_allclose(memory.energy(queries), exact.energy(queries), atol=5e-3)
    np.testing.assert_allclose(
        memory.gradient(queries), autodiff(memory, queries), rtol=1e-8, atol=1e-10
    )
    np.testing.assert_allclose(
        memory.gradient(queries), exact.gradient(queries), atol=2e-2
    )


@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize("basis", BASES)
def test_memory_is_the_sum_of_its_patterns_features(
    basis, projection, patterns, queries
):
    features = features_of(6, basis=basis, projection=projection)
    memory = ro.DrDAM.store(patterns, 10.0, features)
    phi = features.phi(
        np.sqrt(10.0) * np.concatenate([patterns, queries.reshape(-1, 7)])
    )
    assert (
        phi.shape
        == (18, features.M)
        == (18, 4001 * (2 if basis in ("sincos", "expexp") else 1))
    )
    of_patterns, of_queries = np.split(np.asarray(phi), [12])
    np.testing.assert_allclose(memory.T, of_patterns.sum(0), rtol=1e-12, atol=1e-12)
    estimate = (of_queries @ np.asarray(memory.T)).reshape(3, 2)
    np.testing.assert_allclose(memory.partition(queries), estimate, rtol=1e-11)


def test_patterns_are_added_and_removed_exactly(patterns):
    features = features_of(7)
    whole = ro.DrDAM.store(patterns, 10.0, features)
    part = ro.DrDAM.store(patterns[:9], 10.0, features)
    np.testing.assert_allclose(part.add(patterns[9:]).T, whole.T, atol=1e-14)
    np.testing.assert_allclose(
        whole.remove(patterns[9]).remove(patterns[10:]).T, part.T, atol=1e-14
    )
    assert whole.remove(patterns[9]).count == 11


def test_regenerated_frequencies_are_the_stored_ones(patterns, queries):
    key = jax.random.key(8)
    stored, regenerated = (
        ro.RandomFeatures(7, 70_000, key=key, regenerate=r) for r in (False, True)
    )
    # drawn from the same bits, by two programs that may round differently
    np.testing.assert_allclose(stored.omega, regenerated.omega, rtol=1e-13, atol=1e-13)
    sizes = [
        sum(leaf.size for leaf in jax.tree.leaves(f)) for f in (stored, regenerated)
    ]
    assert sizes[0] >= 7 * 70_000
    assert sizes[1] < 10  # a key and the numbers of the blocks; with T this is O(Y + D)
    memories = [ro.DrDAM.store(patterns, 10.0, f) for f in (stored, regenerated)]
    np.testing.assert_allclose(
        memories[0].gradient(queries), memories[1].gradient(queries), rtol=1e-10
    )


@pytest.mark.parametrize("D", [1, 16, 64, 100])
@pytest.mark.parametrize("projection", PROJECTIONS)
def test_every_projection_has_gaussian_rows(projection, D):
    """Mean square norm D and mean fourth power of an entry 3, within 5 standard
    errors.
    """
    omega = ro.RandomFeatures(
        D, 64 * 400, key=jax.random.key(9), projection=projection
    ).omega
    omega, rows = np.asarray(omega), len(omega)
    assert omega.shape == (rows, D)
    assert abs((omega**2).sum(1).mean() - D) < 5 * np.sqrt(2 * D / rows)
    assert abs((omega**4).mean() - 3) < 5 * np.sqrt(96 / rows)
    blocks = omega[: rows // D * D].reshape(-1, D, D)
    # the signs average out at every place in a block
    assert abs(blocks.mean(0)).max() < 5 / np.sqrt(len(blocks))


def test_orthogonal_rows_are_orthogonal_within_their_block():
    omega = ro.RandomFeatures(
        20, 60, key=jax.random.key(10), projection="orthogonal"
    ).omega
    gram = (np.asarray(omega) @ np.asarray(omega).T)[20:40, 20:40]
    np.testing.assert_allclose(gram - np.diag(np.diag(gram)), 0, atol=2e-5)


def test_hadamard_rows_of_a_block_are_orthogonal_before_truncation():
    omega = ro.RandomFeatures(
        128, 256, key=jax.random.key(11), projection="hadamard"
    ).omega
    gram = (np.asarray(omega) @ np.asarray(omega).T)[128:, 128:]
    np.testing.assert_allclose(gram - np.diag(np.diag(gram)), 0, atol=1e-9)


@pytest.mark.parametrize("similarity", ["l2", "dot"])
@pytest.mark.parametrize("scale", [1.0, 1e6, 1e12])
@pytest.mark.parametrize("beta", [1.0, 1e15])
def test_energy_and_gradient_are_finite_at_every_scale(
    patterns, queries, similarity, scale, beta
):
    Xi, x = (np.float32(scale) * np.asarray(a, np.float32) for a in (patterns, queries))
    with double_precision(False):
        energy, gradient = ro.MrDAM(
            Xi, beta / scale if beta == 1 else beta, similarity
        ).energy_and_gradient(x)
    assert np.isfinite(energy).all()
    assert np.isfinite(gradient).all()
    # at such a large β, the energy is that of the nearest pattern
    if similarity == "l2" and beta > 1:
        nearest = 0.5 * ((x[..., None, :].astype(float) - Xi) ** 2).sum(-1).min(-1)
        np.testing.assert_allclose(energy, nearest, rtol=1e-5)


def test_cos_sin_is_within_1e_minus_6():
    from rankone.memory.bases import cos_sin

    angles = np.concatenate(
        [np.linspace(-1e4, 1e4, 1_000_001), np.linspace(-4, 4, 100_001)]
    ).astype(np.float32)
    cos, sin = map(np.asarray, jax.jit(cos_sin)(angles))
    exact = angles.astype(np.float64)
    assert cos.dtype == jnp.float32
    error = np.maximum(abs(cos - np.cos(exact)), abs(sin - np.sin(exact)))
    assert error.max() < 1e-6
    # one unit in the last digit, as the angle is small here
    assert error[abs(exact) < 1].max() < 1.2e-7


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_float32_stays_float32_and_agrees_with_float64(projection, patterns, queries):
    features = features_of(12, projection=projection)
    double, single = (
        ro.DrDAM.store(patterns.astype(t), 10.0, features)
        for t in (np.float64, np.float32)
    )
    gradient = single.gradient(queries.astype(np.float32))
    assert gradient.dtype == jnp.float32
    assert single.energy(queries.astype(np.float32)).dtype == jnp.float32
    np.testing.assert_allclose(gradient, double.gradient(queries), atol=2e-5)


def test_gradient_keeps_the_direction_of_the_partition_sum_below_the_floor():
    """Where the published clip gives exactly zero, ours is not zero, and descent along
    it increases the estimate.
    """
    Xi = ro.data.binary_patterns(200, 50, key=jax.random.key(13))
    far = ro.data.binary_patterns(50, 50, key=jax.random.key(14))
    memory = ro.DrDAM.store(
        Xi, 50.0, ro.RandomFeatures(50, 2000, key=jax.random.key(15))
    )
    floored = np.asarray(memory.floored(far))
    gradient = np.asarray(memory.gradient(far))
    floor = float(memory.floor)
    assert 5 < floored.sum() < 45
    tangent = np.log(floor) + np.asarray(memory.partition(far)) / floor - 1
    np.testing.assert_allclose(
        np.asarray(memory.energy(far))[floored], -tangent[floored] / 50, rtol=1e-9
    )
    slope = np.asarray(jax.jit(jax.vmap(jax.grad(memory.partition)))(far))
    np.testing.assert_allclose(
        gradient[floored], -slope[floored] / (50.0 * floor), rtol=1e-9, atol=1e-12
    )
    clipped = jax.jit(
        jax.vmap(
            jax.grad(lambda x: -jnp.log(jnp.maximum(memory.partition(x), 1e-5)) / 50)
        )
    )(far)
    dead = np.asarray(memory.partition(far)) < 1e-5
    assert dead.any()
    assert not np.asarray(clipped)[dead].any()
    assert (np.linalg.norm(gradient[dead], axis=1) > 0).all()


@pytest.mark.parametrize("basis", BASES)
def test_floor_is_an_eighth_of_the_noise_of_far_patterns(basis, patterns):
    """The floor is √(Y·Var k̂ · Σw²/Y)/8, with the variance far away. The variance of
    positive features vanishes on the other side of 0.
    """
    memory = ro.DrDAM.store(patterns, 10.0, features_of(6, basis=basis))
    variance = float(kernel_variance(np.full(7, -25.0), np.full(7, 25.0), basis=basis))
    assert float(memory.floor) == pytest.approx(
        max(np.sqrt(variance * 12 / 4001) / 8, 1e-30), rel=1e-6
    )


def test_power_is_the_sum_of_the_squared_weights(patterns):
    """For "dot", the weight of a pattern is exp(β‖ξ‖²/2) relative to the largest
    weight, so that its square is exp(β‖ξ‖²). For "l2" the weights are 1.
    """
    features = ro.RandomFeatures(7, 20, key=jax.random.key(0))
    weighted, plain = (
        ro.DrDAM.store(patterns, 3.0, features, similarity=s) for s in ("dot", "l2")
    )
    squares = np.exp(3 * (patterns**2).sum(1))
    squares = squares / squares.max()
    assert float(weighted.log_scale) == pytest.approx(
        1.5 * (patterns**2).sum(1).max(), rel=1e-12
    )
    assert float(weighted.power) == pytest.approx(squares.sum(), rel=1e-12)
    assert float(weighted.remove(patterns[2]).power) == pytest.approx(
        np.delete(squares, 2).sum(), rel=1e-12
    )
    assert float(plain.power) == 12


def test_energy_is_continuous_and_smooth_at_the_floor(patterns):
    """The tangent meets the logarithm with the same value and slope."""
    memory = ro.DrDAM.store(patterns, 10.0, features_of(16))
    x = patterns[0]
    to_floor = np.asarray(memory.T) * float(memory.floor) / float(memory.partition(x))
    at = [replace(memory, T=s * to_floor) for s in (1 - 1e-7, 1 + 1e-7)]
    assert [bool(m.floored(x)) for m in at] == [True, False]
    (below, above), (slope_below, slope_above) = zip(
        *(m.energy_and_gradient(x) for m in at), strict=True
    )
    assert abs(float(below) - float(above)) < 1e-7
    slope_below = np.asarray(slope_below)
    slope_above = np.asarray(slope_above)
    assert np.linalg.norm(slope_below - slope_above) < 1e-5 * np.linalg.norm(
        slope_below
    )


@settings(max_examples=5, deadline=None)
@given(
    K=st.integers(1, 40),
    D=st.integers(1, 40),
    Y=st.integers(1, 200),
    lead=st.lists(st.integers(1, 3), max_size=2),
)
def test_energy_and_gradient_have_the_batch_shape_of_their_input(K, D, Y, lead):
    Xi = np.random.default_rng(K).random((K, D))
    x = np.random.default_rng(D).random((*lead, D))
    features = ro.RandomFeatures(
        D, Y, key=jax.random.key(Y), projection=PROJECTIONS[Y % 3], basis=BASES[K % 4]
    )
    for memory in (ro.MrDAM(Xi, 2.0), ro.DrDAM.store(Xi, 2.0, features)):
        energy, gradient = memory.energy_and_gradient(x)
        assert energy.shape == tuple(lead)
        assert gradient.shape == x.shape
        if lead:
            first = (0,) * len(lead)
            np.testing.assert_allclose(
                np.asarray(gradient)[first],
                memory.gradient(x[first]),
                rtol=1e-7,
                atol=1e-9,
            )


def test_memories_go_through_jit_grad_and_vmap(patterns, queries):
    features = features_of(17)

    @jax.jit
    def energy(Xi, beta, x):
        return (
            ro.DrDAM.store(Xi, beta, features).energy(x).sum()
            + ro.MrDAM(Xi, beta).energy(x).sum()
        )

    slope = jax.grad(energy, argnums=(0, 1))(patterns, 3.0, queries)
    step = 1e-6
    numeric = (
        energy(patterns, 3.0 + step, queries) - energy(patterns, 3.0 - step, queries)
    ) / (2 * step)
    np.testing.assert_allclose(slope[1], numeric, rtol=1e-6)
    assert jax.vmap(lambda b: ro.MrDAM(patterns, b).energy(queries))(
        jnp.array([1.0, 2.0])
    ).shape == (2, 3, 2)


def memories_of(patterns):
    """One memory of each class, and its features."""
    features = features_of(6, basis="cos")
    return {
        "MrDAM": ro.MrDAM(patterns, 3.0, "dot", g="tanh"),
        "RandomFeatures": features,
        "regenerated": features_of(6, regenerate=True),
        "DrDAM": ro.DrDAM.store(patterns, 3.0, features),
    }


@pytest.mark.parametrize("name", ["MrDAM", "RandomFeatures", "regenerated", "DrDAM"])
def test_memories_compare_hash_and_copy_by_value(name, patterns):
    """A memory is replaced, compared, hashed, pickled and shown like every class of the
    package.
    """
    memory = memories_of(patterns)[name]
    copy = (
        pickle.loads(pickle.dumps(memory))
        if name != "regenerated"
        else jax.tree.map(lambda leaf: leaf, memory)
    )
    for same in (replace(memory), copy):
        assert same == memory
        assert hash(same) == hash(memory)
    assert memory != jax.tree.map(
        lambda leaf: leaf[..., :-1] if jnp.ndim(leaf) else leaf, memory
    )
    assert "\n" not in repr(memory)
    assert len(repr(memory)) < 300


def test_a_replaced_field_is_checked_and_the_rest_stays(patterns):
    memories = memories_of(patterns)
    assert float(replace(memories["MrDAM"], beta=5).beta) == 5
    assert replace(memories["MrDAM"], beta=5).g == "tanh"
    for name, change, argument in (
        ("MrDAM", {"beta": -1.0}, "beta"),
        ("DrDAM", {"T": np.ones(3)}, "T"),
        ("DrDAM", {"similarity": "cosine"}, "similarity"),
        ("RandomFeatures", {"Y": 4002}, "key"),
        ("RandomFeatures", {"projection": "orthogonal"}, "key"),
        ("RandomFeatures", {"basis": "sincos"}, "key"),
    ):
        with refused(ValueError, match=rf"^{argument}: got"):
            replace(memories[name], **change)
    features = replace(
        memories["RandomFeatures"], Y=10, basis="sincos", key=jax.random.key(0)
    )
    assert features == ro.RandomFeatures(7, 10, key=jax.random.key(0))


@pytest.mark.parametrize("basis", ["sincos", "expexp"])
def test_random_features_are_a_kernel_whose_geometry_is_the_identity(basis, patterns):
    """Inputs in columns, as `rankone.writes` has them."""
    features = features_of(6, basis=basis)
    assert isinstance(features, FeatureKernel)
    a = patterns[:5].T
    b = patterns[5:].T
    inner = np.asarray(features.inner(a, b))
    np.testing.assert_allclose(
        inner, features.phi(patterns[:5]) @ features.phi(patterns[5:]).T, rtol=1e-12
    )
    np.testing.assert_allclose(
        inner, np.asarray(features.dual(a)).T @ features.features(b), rtol=1e-12
    )
    with refused(ValueError, match=r"^a: got shape"):
        features.features(patterns[0])


def test_the_write_of_a_memory_is_its_vector_T_as_one_row(patterns, queries):
    """Read at φ(√β x), the vector gives the partition sum. The writes of two memories
    add up to the write of all their patterns.
    """
    features = features_of(6)
    memory, first, rest = (
        ro.DrDAM.store(Xi, 10.0, features)
        for Xi in (patterns, patterns[:4], patterns[4:])
    )
    assert memory.write.delta.shape == (1, features.M)
    x = queries[0]
    np.testing.assert_allclose(
        memory.write.at(features.features(10**0.5 * x.T))[0],
        memory.partition(x),
        rtol=1e-11,
    )
    np.testing.assert_allclose(
        (first.write + rest.write).delta[0], memory.T, atol=1e-13
    )


BAD = {
    "beta zero": (lambda Xi, f: ro.MrDAM(Xi, 0.0), "beta"),
    "beta NaN": (lambda Xi, f: ro.DrDAM.store(Xi, float("nan"), f), "beta"),
    "beta that is zero in float32": (
        lambda Xi, f: ro.MrDAM(Xi.astype(np.float32), 1e-60),
        "beta",
    ),
    "beta that processors take for zero": (
        lambda Xi, f: ro.DrDAM.store(Xi.astype(np.float32), 1e-40, f),
        "beta",
    ),
    "beta a truth value": (lambda Xi, f: ro.MrDAM(Xi, True), "beta"),
    "beta array": (lambda Xi, f: ro.MrDAM(Xi, np.ones(3)), "beta"),
    "beta in words": (lambda Xi, f: ro.MrDAM(Xi, "60"), "beta"),
    "beta None": (lambda Xi, f: ro.DrDAM.store(Xi, None, f), "beta"),
    "beta complex": (lambda Xi, f: ro.MrDAM(Xi, 1j), "beta"),
    "one pattern without its axis": (lambda Xi, f: ro.MrDAM(Xi[0], 1.0), "Xi"),
    "no patterns": (lambda Xi, f: ro.MrDAM(Xi[:0], 1.0), "Xi"),
    "NaN pattern": (
        lambda Xi, f: ro.MrDAM(np.vstack([Xi, [np.nan, *Xi[0, 1:]]]), 1.0),
        "Xi",
    ),
    "words for patterns": (lambda Xi, f: ro.MrDAM(Xi.astype(str), 1.0), "Xi"),
    "objects for patterns": (lambda Xi, f: ro.MrDAM(Xi.astype(object), 1.0), "Xi"),
    "ragged patterns": (
        lambda Xi, f: ro.DrDAM.store([[1.0, 2.0], [3.0]], 1.0, f),
        "Xi",
    ),
    "no patterns at all": (lambda Xi, f: ro.MrDAM(None, 1.0), "Xi"),
    "complex patterns": (lambda Xi, f: ro.MrDAM(1j * Xi, 1.0), "Xi"),
    "no features": (lambda Xi, f: ro.DrDAM.store(Xi, 1.0, None), "features"),
    "features for another length": (
        lambda Xi, f: ro.DrDAM.store(Xi[:, :4], 1.0, f),
        "Xi",
    ),
    "wrong state": (lambda Xi, f: ro.MrDAM(Xi, 1.0).energy(np.ones(8)), "x"),
    "wrong state, distributed": (
        lambda Xi, f: ro.DrDAM.store(Xi, 1.0, f).gradient(np.ones((2, 8))),
        "x",
    ),
    "NaN state": (lambda Xi, f: ro.MrDAM(Xi, 1.0).energy(np.full(7, np.nan)), "x"),
    "a word for a state": (lambda Xi, f: ro.MrDAM(Xi, 1.0).energy("x"), "x"),
    "wrong pattern added": (
        lambda Xi, f: ro.DrDAM.store(Xi, 1.0, f).add(np.ones(8)),
        "xi",
    ),
    "unknown similarity": (lambda Xi, f: ro.MrDAM(Xi, 1.0, "cosine"), "similarity"),
    "a list of similarities": (lambda Xi, f: ro.MrDAM(Xi, 1.0, ["l2"]), "similarity"),
    "a list of bases": (
        lambda Xi, f: ro.RandomFeatures(7, 10, key=jax.random.key(0), basis=["cos"]),
        "basis",
    ),
    "unknown g": (lambda Xi, f: ro.MrDAM(Xi, 1.0, g="relu6"), "g"),
    "unknown basis": (
        lambda Xi, f: ro.RandomFeatures(7, 10, key=jax.random.key(0), basis="sin"),
        "basis",
    ),
    "unknown projection": (
        lambda Xi, f: ro.RandomFeatures(7, 10, key=jax.random.key(0), projection="x"),
        "projection",
    ),
    "Y zero": (lambda Xi, f: ro.RandomFeatures(7, 0, key=jax.random.key(0)), "Y"),
    "Y not an integer": (
        lambda Xi, f: ro.RandomFeatures(7, 1e4, key=jax.random.key(0)),
        "Y",
    ),
    "D a truth value": (
        lambda Xi, f: ro.RandomFeatures(True, 10, key=jax.random.key(0)),
        "D",
    ),
    "no key": (lambda Xi, f: ro.RandomFeatures(7, 10), "key"),
    "key is a number": (lambda Xi, f: ro.RandomFeatures(7, 10, key=0), "key"),
    "regenerated Hadamard": (
        lambda Xi, f: ro.RandomFeatures(
            7, 10, key=jax.random.key(0), projection="hadamard", regenerate=True
        ),
        "regenerate",
    ),
    "read at one number": (lambda Xi, f: f.read(1.5, np.ones(f.M)), "z"),
    "read from another table": (lambda Xi, f: f.read(Xi, np.ones(f.M + 1)), "T"),
    "words for a table": (lambda Xi, f: f.read(Xi, np.array(["a", "b"])), "T"),
    "a weight short": (lambda Xi, f: f.encode(Xi, np.ones(len(Xi) - 1)), "weights"),
    "size of a photograph": (lambda Xi, f: ro.data.photographs(48), "size"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_by_name(case, patterns):
    make, name = BAD[case]
    with refused(ValueError, match=rf"^{name}: got .* it must be .*\.$"):
        make(patterns, features_of(18))


def test_encode_works_outside_jit(patterns):
    features = features_of(18)
    weights = np.linspace(1, 2, len(patterns))
    expected = weights @ np.asarray(features.phi(patterns))
    np.testing.assert_allclose(
        features.encode(jnp.asarray(patterns), jnp.asarray(weights)),
        expected,
        atol=1e-5,
    )


def test_sizes_may_be_integers_of_numpy():
    features = ro.RandomFeatures(np.int64(7), np.int32(10), key=jax.random.key(0))
    assert features.phi(np.ones(7)).shape == (20,)
    assert (type(features.D), type(features.Y)) == (int, int)


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_empty_batches_have_features_and_gradients(patterns, projection):
    features = ro.RandomFeatures(7, 130, key=jax.random.key(0), projection=projection)
    assert features.phi(np.zeros((2, 0, 7))).shape == (2, 0, 260)
    assert features.project(np.zeros((0, 7))).shape == (0, 130)
    assert ro.DrDAM.store(patterns, 2.0, features).gradient(np.zeros((0, 7))).shape == (
        0,
        7,
    )


def test_old_style_keys_work(patterns):
    old, new = (
        ro.RandomFeatures(7, 4001, key=k)
        for k in (jax.random.PRNGKey(3), jax.random.key(3))
    )
    np.testing.assert_array_equal(old.omega, new.omega)
    with jax.default_prng_impl("rbg"):
        old, new = (
            ro.RandomFeatures(7, 11, key=k)
            for k in (jax.random.PRNGKey(3), jax.random.key(3))
        )
    np.testing.assert_array_equal(old.omega, new.omega)
