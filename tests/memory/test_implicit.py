"""The derivative of a fixed point, against unrolled steps and finite differences; and
memories trained through it.
"""

from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from refusals import refused

import rankone as ro
from rankone.memory.implicit import at_rest
from rankone.precision import double_precision
from rankone.printed.memory_gradients import Barycentric, Clipped

D = 10
K = 5
N = 4
OPTIONS = {"step_size": 0.9, "max_steps": 300, "tol": 1e-15}
rng = np.random.default_rng(0)
XI = rng.random((K, D)) / np.sqrt(D)
X0 = XI[:N] + 0.03 * rng.normal(size=(N, D))
# two queries with all entries free, and two with four entries given
KNOWN = (np.arange(D) < 4) & (np.arange(N) >= 2)[:, None]
COTANGENT = rng.normal(size=(N, D))


@pytest.fixture(autouse=True)
def x64():
    with double_precision(True):
        yield


def memories():
    features = ro.RandomFeatures(D, 2000, key=jax.random.key(0))
    drdam = ro.DrDAM.store(XI, 20.0, features)
    return {
        "MrDAM l2": ro.MrDAM(XI, 20.0),
        "MrDAM dot": ro.MrDAM(XI, 20.0, "dot"),
        "DrDAM l2": drdam,
        "DrDAM dot": ro.DrDAM.store(XI, 20.0, features, similarity="dot"),
        "a field that is no gradient": Barycentric.store(drdam, XI),
    }


def rest(memory, x, **options):
    return ro.retrieve(memory, x, clamp=KNOWN, **OPTIONS | options).x


@pytest.mark.parametrize("name", memories())
def test_the_implicit_gradient_equals_that_of_the_unrolled_steps(name):
    """[D-implicit] Reverse mode, in a batch with some entries clamped, under jit, with
    respect to every array and to the queries.
    """

    @partial(jax.jit, static_argnames="gradient")
    def slopes(memory, x, step_size, gradient):
        def value(m, x, s):
            return jnp.vdot(COTANGENT, rest(m, x, step_size=s, gradient=gradient))

        return jax.grad(value, (0, 1, 2))(memory, x, step_size)

    memory = memories()[name]
    gradients, expected = (
        slopes(memory, X0, 0.9, gradient) for gradient in ("implicit", "unrolled")
    )
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8),
        gradients,
        expected,
    )
    np.testing.assert_array_equal(gradients[1][~KNOWN], 0)
    assert np.abs(gradients[1][KNOWN]).max() > 0.1
    assert gradients[2] == 0


@pytest.mark.parametrize("name", ["MrDAM l2", "DrDAM l2"])
def test_both_modes_agree_with_finite_differences(name):
    memory = memories()[name]
    known = KNOWN * COTANGENT
    aim = memory.Xi if name == "MrDAM l2" else memory.T
    towards = rng.normal(size=aim.shape)

    @jax.jit
    def at(step):
        moved = replace_array(memory, aim + step * towards)
        return jnp.vdot(
            COTANGENT, rest(replace_beta(moved, 20.0 + step), X0 + step * known)
        )

    h = 1e-4
    expected = (at(h) - at(-h)) / (2 * h)
    for mode in (jax.jacfwd, jax.jacrev):
        assert jax.jit(mode(at))(0.0) == pytest.approx(float(expected), rel=1e-6)


def replace_array(memory, array):
    if isinstance(memory, ro.DrDAM):
        return replace(memory, T=array)
    return ro.MrDAM(array, memory.beta)


def replace_beta(memory, beta):
    return (
        replace(memory, beta=beta)
        if isinstance(memory, ro.DrDAM)
        else ro.MrDAM(memory.Xi, beta)
    )


def test_second_derivatives_and_those_of_the_final_energy_are_correct():
    def end(beta, gradient="implicit"):
        run = ro.retrieve(ro.MrDAM(XI, beta), X0[0], gradient=gradient, **OPTIONS)
        return run.x.sum() + run.energies[-1]

    h = 1e-3
    slope = jax.jit(jax.grad(end))
    second = jax.jit(jax.grad(jax.grad(end)))(20.0)
    assert second == pytest.approx(
        float((slope(20 + h) - slope(20 - h)) / (2 * h)), rel=1e-5
    )
    unrolled = jax.jit(jax.grad(partial(end, gradient="unrolled")))(20.0)
    assert slope(20.0) == pytest.approx(float(unrolled), rel=1e-8)


def test_implicit_and_unrolled_gradients_record_the_same_energies():
    def read(beta, gradient):
        return ro.retrieve(
            ro.MrDAM(XI, beta), X0, gradient=gradient, **OPTIONS
        ).energies

    one, other = (
        jax.jit(partial(read, gradient=gradient))(20.0)
        for gradient in ("implicit", "unrolled")
    )
    assert one.shape == other.shape == (*X0.shape[:-1], OPTIONS["max_steps"] + 1)
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_vmapped_gradients_sum_to_the_gradient_of_the_batch():
    memory = memories()["DrDAM l2"]

    def one(T, x):
        return ro.retrieve(replace(memory, T=T), x, **OPTIONS).x.sum()

    each = jax.jit(jax.vmap(jax.grad(one), (None, 0)))(memory.T, X0)
    batch = jax.jit(jax.grad(one))(memory.T, X0)
    np.testing.assert_allclose(each.sum(0), batch, rtol=1e-9, atol=1e-11)


def test_before_convergence_the_gradient_error_is_proportional_to_the_distance():
    memory = ro.MrDAM(XI, 20.0)

    @jax.jit
    def slope_and_move(tol):
        options = OPTIONS | {"step_size": 0.3, "tol": tol}
        (_, x), slope = jax.value_and_grad(
            lambda m: both(ro.retrieve(m, X0, **options).x), has_aux=True
        )(memory)
        return slope.Xi, x

    def both(x):
        return (jnp.vdot(COTANGENT, x), x)

    true, home = slope_and_move(1e-15)
    tols = 10.0 ** -np.arange(3, 8)
    slopes, ends = zip(*(slope_and_move(tol) for tol in tols), strict=True)
    errors = [np.abs(slope - true).max() for slope in slopes]
    distances = [np.abs(x - home).max() for x in ends]
    assert np.polyfit(np.log(distances), np.log(errors), 1)[0] == pytest.approx(
        1, abs=0.05
    )


@partial(jax.tree_util.register_dataclass, data_fields=["a"], meta_fields=[])
@dataclass(frozen=True)
class Trough:
    """A memory whose energy (x₀ − a)²/2 is flat along the second axis, so that no fixed
    point is isolated.
    """

    a: jax.Array
    D = 2

    def energy_and_gradient(self, x):
        across = (x - self.a) * jnp.broadcast_to(jnp.array([1.0, 0.0]), x.shape)
        return 0.5 * (across**2).sum(-1), across


def test_derivatives_along_flat_directions_are_nan():
    x = jnp.ones((1, 2))
    free = jnp.ones((1, 2), bool)
    slope = jax.jit(
        jax.grad(lambda a, v: (v[None] * at_rest(Trough(a), x, x, free)).sum())
    )
    assert slope(1.0, jnp.array([1.0, 0.0])) == pytest.approx(1)
    assert np.isnan(slope(1.0, jnp.array([1.0, 1.0])))
    frozen = Clipped(memories()["DrDAM l2"])
    far = np.full((1, D), 5.0)
    assert frozen.frozen(far).all()
    slope = jax.grad(
        lambda T: ro.retrieve(
            replace(frozen, memory=replace(frozen.memory, T=T)), far, max_steps=3
        ).x.sum()
    )
    assert np.isnan(slope(frozen.memory.T)).all()


@pytest.mark.parametrize("mode", [jax.jacfwd, jax.jacrev])
def test_derivatives_far_below_machine_precision_are_accurate(mode):
    start = np.array([0.9, 0.2, 0.0])

    def rest_point(beta):
        return ro.retrieve(ro.MrDAM(np.eye(3), beta), start, **OPTIONS).x

    # x = softmax(−β‖ξ − x‖²/2) near the first pattern: the others weigh e^−β each, and
    # the next order is smaller by another factor of about βe^−β
    slope = 2 * np.exp(-60.0)
    np.testing.assert_allclose(
        jax.jit(mode(rest_point))(60.0), slope * np.array([1, -0.5, -0.5]), rtol=1e-6
    )


def test_at_a_saddle_the_derivative_is_that_of_the_saddle_position():
    pair = np.stack([np.full(3, 0.5), np.full(3, -0.5)])
    memory = ro.MrDAM(pair, 20.0)
    middle = np.zeros(3)
    assert np.linalg.eigvalsh(jax.jacfwd(memory.gradient)(middle)).min() < -1

    def rest_point(shift):
        return ro.retrieve(ro.MrDAM(pair + shift[None], 20.0), middle, max_steps=3).x

    np.testing.assert_allclose(
        jax.jit(jax.jacrev(rest_point))(np.zeros(3)), np.eye(3), atol=1e-10
    )


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16])
def test_queries_of_less_precision_than_the_memory_have_a_derivative(dtype):
    memory = memories()["DrDAM l2"]

    def slope(x):
        return jax.jit(
            jax.grad(
                lambda T: ro.retrieve(replace(memory, T=T), x, step_size=0.9).x.sum()
            )
        )(memory.T)

    gradient = slope(jnp.asarray(X0, dtype))
    expected = slope(jnp.asarray(X0))
    assert np.linalg.norm(gradient - expected) < 0.05 * np.linalg.norm(expected)


def test_an_unknown_kind_of_gradient_is_refused():
    with refused(
        ValueError,
        match=r"^gradient: got 'exact'; it must be one of 'implicit', 'unrolled'\.$",
    ):
        ro.retrieve(ro.MrDAM(XI, 20.0), X0, gradient="exact")


# --- a memory as a layer


def trained(loss, params, steps, rate):
    optimizer = optax.adam(rate)

    def step(state, _):
        params, moments = state
        value, slope = jax.value_and_grad(loss)(params)
        updates, moments = optimizer.update(slope, moments)
        return (optax.apply_updates(params, updates), moments), value

    train = jax.jit(
        lambda params: jax.lax.scan(
            step, (params, optimizer.init(params)), length=steps
        )
    )
    (params, _), losses = train(params)
    return params, np.asarray(losses)


def test_the_vector_T_learns_to_recall_other_patterns_than_it_stored():
    with double_precision(False):
        keys = jax.random.split(jax.random.key(0))
        targets = jax.random.normal(keys[0], (K, D)) / D**0.5
        stored, cue = targets[None] + 0.1 * jax.random.normal(keys[1], (2, K, D))
        memory = ro.DrDAM.store(
            stored, 10.0, ro.RandomFeatures(D, 1000, key=jax.random.key(2))
        )

        def loss(T):
            run = ro.retrieve(
                replace(memory, T=T), cue, step_size=0.3, max_steps=200, tol=1e-5
            )
            return ((run.x - targets) ** 2).sum(-1).mean()

        _, losses = trained(loss, memory.T, 80, 3e-3)
    assert losses[-1] < 0.05 * losses[0]


def test_an_encoder_learns_through_the_memory_behind_it():
    """The memory stores pairs. The encoder computes the clamped key of a pair, and the
    value is read at the fixed point.
    """
    with double_precision(False):
        keys = jax.random.split(jax.random.key(3), 3)
        pairs = jax.random.normal(keys[0], (6, 12)) / 8**0.5
        memory = ro.MrDAM(pairs, 2.0)
        clamp = jnp.arange(12) < 8
        inputs = pairs[:, :8] @ jax.random.normal(keys[1], (8, 8)) / 8**0.5

        def loss(W):
            query = jnp.concatenate([inputs @ W.T, jnp.zeros((6, 4))], 1)
            run = ro.retrieve(
                memory, query, step_size=0.5, max_steps=100, tol=1e-5, clamp=clamp
            )
            return ((run.x - pairs)[:, 8:] ** 2).sum(-1).mean()

        _, losses = trained(loss, jnp.eye(8), 80, 0.03)
    assert losses[-1] < 0.05 * losses[0]
