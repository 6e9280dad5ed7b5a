"""The networks that learn any function in one gradient step: their accuracy, the
changes that break them, and the inputs that they refuse.
"""

import functools
import math
from dataclasses import replace

import compiled_programs
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused

import rankone as ro
from rankone.checks import value_checks
from rankone.nn import Dense
from rankone.precision import double_precision
from rankone.universality import (
    Constants,
    Network,
    activations,
    adapt,
    gradient_into,
    learn,
    lookup_table,
    predict,
    rank_one_step,
)
from rankone.universality.constants import target_values
from rankone.universality.errors import learning_errors, random_tasks
from rankone.universality.fitted import _after_steps
from rankone.universality.hats import hat_network
from rankone.universality.network import loss
from rankone.universality.selectors import (
    amplifiers,
    bit_selector,
    cell_selector,
    kernels,
    seed_matrix,
    telescope,
    unipotent,
)
from rankone.universality.tables import Grid, front, inactive_units, table_network
from rankone.universality.two_layers import two_layer_network

KEY = jax.random.key(0)
FITTED = ("constant", "shallow", "two_layers")
CONSTRUCTIONS = ("seed", "logdepth", *FITTED)
gradient_of_loss = jax.jit(jax.grad(loss))


@jax.jit
def both_ways(network, x, y, points):
    """Gradient and predictions after the step, in closed form and by autodiff: one
    program for each network.
    """
    unapplied = rank_one_step(network, x, y)
    stepped = adapt(network, x, y)
    closed = unapplied.gradient(), predict(unapplied, points)
    return (
        closed,
        (gradient_of_loss(network, x, y), predict(stepped, points)),
        unapplied.writes(),
        stepped,
    )


def wave(x, y, x_star):
    return y * np.sin(2 * np.pi * (x_star - x))


def bump(x, y, x_star):
    return np.sin(3 * y) * np.exp(-8 * (x_star - x) ** 2) + 0.3 * x_star


def build(construction="seed", target=wave, cells=4, **options):
    """A network, built once in each precision."""
    if construction in FITTED:
        options.setdefault("units", 256)
    return built(construction, target, cells, jnp.result_type(float), **options)


@functools.cache
def built(construction, target, cells, dtype, **options):
    return ro.universal_learner(
        target, cells=cells, construction=construction, dtype=dtype, **options
    )


@pytest.fixture
def x64():
    with double_precision():
        yield


# --- accuracy


def test_one_plain_gradient_step_turns_the_network_into_the_lookup_table():
    """M-univ: in float32 with J = 8, the outputs are within 1e-3 of the table
    everywhere off the ramps.
    """
    errors = learning_errors(build(cells=8), wave, cells=8, key=KEY)
    assert errors.deviation_worst < 1e-3
    assert errors.rms == pytest.approx(errors.table_rms, abs=1e-3)
    assert errors.table_rms < 0.2


def test_the_contribution_of_the_linear_path_is_subtracted_from_the_table(x64):
    """αw²Δ·total is 1e-2 at w = 0.1. In the middle of cells and at the ends of y, a
    thousandth of it remains.
    """

    def target(x, y, s):
        return y * (1 + s)

    x = np.arange(4) / 4 + 0.125
    tasks = np.repeat(x, 4), np.tile([-1.0, 1.0], 8), np.tile(x, 4)
    for selector in (
        cell_selector(4, 1e-3),
        cell_selector(4, 1e-3, printed=False, reference=True),
    ):
        network = table_network(target, selector, constants=Constants(linear=0.1))
        got = np.asarray(learn(network, *tasks[:2], tasks[2][:, None]))[:, 0]
        np.testing.assert_allclose(got, target(*tasks), atol=1e-5)


def audit_tasks(tasks):
    """The tasks of the audit of the slides, drawn with numpy one task after another."""
    draws = np.random.default_rng(0)
    rows = [
        (draws.uniform(), draws.uniform(-1, 1), draws.uniform(size=101))
        for _ in range(tasks)
    ]
    return tuple(np.array(column) for column in zip(*rows, strict=True))


@pytest.mark.parametrize(
    ("construction", "options", "tasks", "rms", "worst"),
    [
        ("seed", {"cells": 8}, 24, 0.1143, 0.5232),
        ("seed", {"cells": 16}, 24, 0.05845, 0.3220),
        ("logdepth", {"cells": 64}, 12, 0.01382, 0.0645),
        ("constant", {"units": 1600}, 24, 0.0251, 0.128),
        ("shallow", {"units": 2560}, 24, 0.0158, 0.1),
    ],
)
def test_float32_networks_reach_the_accuracy_of_the_audit(
    construction, options, tasks, rms, worst
):
    """M-univ, M-S3, M-S4, M-S5: tables are as good as the exact table, and a fitted net
    is no worse than the larger net of the audit.
    """
    x, y, x_star = audit_tasks(tasks)
    network = build(construction, **options)
    assert network.dtype == jnp.float32
    error = np.asarray(learn(network, x, y, x_star), float) - wave(
        x[:, None], y[:, None], x_star
    )
    root_mean_square = np.sqrt(np.mean(error**2))
    if construction in ("seed", "logdepth"):
        table = lookup_table(wave, options["cells"])(
            x[:, None], y[:, None], x_star
        ) - wave(x[:, None], y[:, None], x_star)
        assert np.sqrt(np.mean(table**2)) == pytest.approx(rms, abs=5e-5)
        assert root_mean_square == pytest.approx(rms, abs=1e-4)
        assert abs(error).max() == pytest.approx(worst, abs=2e-3)
    else:
        assert root_mean_square < rms
        assert abs(error).max() < worst


def test_the_tables_error_halves_when_the_cells_double(x64):
    """M-S3: up to J = 32 in 17 layers, the error is within a fifth of the first-order
    law.
    """
    errors = [
        learning_errors(build("logdepth", cells=J), wave, cells=J, key=KEY, tasks=96)
        for J in (8, 16, 32)
    ]
    for each in errors:
        assert each.deviation_worst < 1e-3
    rates = np.log2([errors[n].rms / errors[n + 1].rms for n in (0, 1)])
    np.testing.assert_allclose(rates, 1, atol=0.2)


def test_logarithmic_depth_holds_in_float32_at_64_cells():
    errors = learning_errors(build("logdepth", cells=64), wave, cells=64, key=KEY)
    assert errors.deviation_rms < 1e-4
    assert errors.deviation_worst < 2e-3  # at single points of a ramp, due to float32
    assert abs(errors.rms - errors.table_rms) < 1e-5
    assert errors.rms < 0.02


@pytest.mark.parametrize(
    ("construction", "depth"),
    [
        ("seed", 4 * 4 + 6),
        ("logdepth", 11),
        ("constant", 8),
        ("shallow", 5),
        ("two_layers", 3),
    ],
)
def test_the_depth_of_each_construction_is_as_stated(construction, depth):
    """M-fig1: N + 4 weight layers, N = J² + 2 or 2 log₂J + 3 or 4; four or two hidden
    layers and an output.
    """
    assert build(construction).depth == depth


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_the_three_channels_fill_the_stack(construction):
    network = build(construction)
    stacks = [layer.W for layer in network.layers if layer.W.ndim == 3]
    widths = {W.shape[-1] for W in stacks}
    channels = network.channels
    assert widths == (set() if channels is None else {sum(channels)})


def test_four_hidden_layers_without_a_switch_beat_the_table():
    """M-S5: float32, 1,600 units in the last hidden layer."""
    network = build("shallow", units=1600)
    assert network.switch.size == 0
    errors = learning_errors(network, wave, key=KEY)
    assert errors.rms < 0.03
    assert errors.worst < 0.25


def test_a_fit_sees_each_task_once_in_its_order():
    """M-S4: this also holds if the tasks do not fill the last of several equal
    rounds.
    """
    network = build("constant")
    draws = np.random.default_rng(0)
    x, y, x_star = draws.uniform(size=(3, 520)).astype(np.float32)  # 3 rounds of 174
    hidden, output = _after_steps(network, x, y, x_star)
    assert hidden.shape == (520, 257)
    expected = np.asarray(learn(network, x, y, x_star[:, None]))[:, 0]
    np.testing.assert_allclose(output, expected, atol=1e-4 * np.abs(expected).max())


def test_a_fit_in_blocks_is_the_fit_of_all_tasks_together(monkeypatch, x64):
    """Only one block of activations is held at a time, each task in exactly one of
    them. The ridge of 1e-10 enlarges differences of 1e-16 in the sums to about 1e-6.
    """
    whole = build("two_layers")
    counts = []

    def counted(network, *tasks):
        counts.append(len(tasks[0]))
        return _after_steps(network, *tasks)

    monkeypatch.setattr("rankone.universality.fitted._after_steps", counted)
    monkeypatch.setattr("rankone.universality.fitted._BLOCK", 8 * 256 * 300)
    blocks = ro.universal_learner(wave, construction="two_layers", units=256)
    assert counts == [300, 300, 300, 124]
    x, y, x_star = np.random.default_rng(0).uniform(size=(3, 200))
    answers = [
        np.asarray(learn(network, x, y, x_star[:, None])) for network in (whole, blocks)
    ]
    np.testing.assert_allclose(*answers, atol=1e-4)


def test_the_network_of_constant_depth_has_small_errors():
    """M-S4: the fitted net has no jumps, so the largest error is small too."""
    errors = learning_errors(build("constant", units=1600), wave, key=KEY)
    assert errors.rms < 0.03
    assert errors.worst < 0.25


def test_two_hidden_layers_are_as_accurate_as_four_of_the_same_size():
    """M-S8, M-concl: float32, the same margin. The accuracy depends on the units and
    not on the depth.
    """
    two = build("two_layers", units=1600)
    four = build("shallow", units=1280, constants=Constants(margin=4.0))
    assert two.switch.size == 0
    assert two.size < four.size
    shallow, other = (
        learning_errors(network, wave, key=KEY) for network in (two, four)
    )
    assert shallow.rms < 1.1 * other.rms < 0.04
    assert shallow.worst < 0.25


def test_the_backward_pass_of_two_layers_cuts_x_into_cells(x64):
    """M-S8: u₀ moves by αwΔ(1 + xx*), and u₁ by ⌊xJ⌋/J times that, for all x* and y. At
    t_j the cell below counts.
    """
    J = 64
    constants = Constants(margin=4.0)
    network = build("two_layers")
    stepped = jax.jit(jax.vmap(lambda x, y, s: activations(adapt(network, x, y), s)[0]))
    x = np.array([0.0, 0.5 / J, 0.4999, 0.5001, 0.31, 1.0])
    y = np.linspace(-1, 1, 6)
    x_star = np.array([0.2, 0.9, 0.0, 1.0, 0.5, 0.7])
    read = (np.asarray(stepped(x, y, x_star))[:, 1:] - constants.offset) / (
        constants.alpha * constants.linear
    )
    v0 = (y + 5) * (1 + x * x_star)
    # the tolerance covers the output before the step, wδ√J
    np.testing.assert_allclose(read[:, 0], v0, rtol=1e-4)
    steps = np.minimum(np.floor(x * J), J - 1)
    np.testing.assert_allclose(J * read[:, 1] / read[:, 0], steps, atol=1e-6)
    assert np.abs(np.asarray(stepped(x, y, x_star))[:, 0] - x_star).max() < 1e-4


def test_two_hidden_layers_can_predict_minus_y():
    """M-S8, M-S9: the error of a network with one hidden layer is 1 or more, as long as
    its step is short.
    """
    errors = learning_errors(
        build("two_layers", lambda x, y, s: -y), lambda x, y, s: -y, key=KEY
    )
    assert errors.rms < 0.05
    assert errors.worst < 0.25


@pytest.mark.parametrize("construction", FITTED)
def test_the_fitted_units_are_inactive_before_the_step_at_every_x(construction, x64):
    """M-S4, M-S5, M-S8: no fitted unit is active, so that the step does not change its
    weights.
    """
    network = build(construction)
    rest = np.asarray(activations(network, np.linspace(0, 1, 501))[-1])[:, -256:]
    assert rest.max() == 0
    after = adapt(network, 0.3, 0.5)
    np.testing.assert_array_equal(
        np.asarray(after.layers[-2].W)[-256:], np.asarray(network.layers[-2].W)[-256:]
    )
    assert np.asarray(activations(after, 0.7)[-1])[-256:].max() > 0.1


def test_fitted_units_of_two_layers_are_inactive_even_for_a_large_offset(x64):
    """M-S8: the readers are inactive however large δ is relative to αw."""
    network = build("two_layers", constants=Constants(margin=4.0, offset=0.1))
    assert (
        np.asarray(activations(network, np.linspace(0, 1, 501))[-1])[:, -256:].max()
        == 0
    )


def test_with_zero_clearance_many_fitted_units_are_active_before_the_step(x64):
    """M-S4: the slots before the step, μδ/(αw), are positive. At σ = 0 half of the
    units are active, and the fit is useless.
    """
    network = build("constant", constants=Constants(clearance=0.0))
    active = (
        np.asarray(activations(network, np.linspace(0, 1, 501))[-1])[:, 1:].max(0) > 0
    )
    assert 64 < active.sum() < 192
    assert learning_errors(network, wave, key=KEY).rms > 1
    k = Constants()
    assert k.clearance > 10 * 2**0.5 * k.damping * k.offset / (k.alpha * k.linear)


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_every_construction_learns_a_target_that_is_not_affine_in_y(construction):
    units = {"units": 768} if construction in FITTED else {"cells": 8}
    assert learning_errors(build(construction, bump, **units), bump, key=KEY).rms < 0.07


@pytest.mark.parametrize("construction", ["seed", "logdepth"])
def test_a_plain_python_function_is_tabulated(construction):
    def own(x, y, x_star):
        return abs(y) if x_star > x else y * math.cos(x)

    after = adapt(build(construction, own), 0.3, -0.5)
    want = [own(0.375, -0.5, 0.125), own(0.375, -0.5, 0.875)]
    np.testing.assert_allclose(predict(after, np.array([0.1, 0.9])), want, atol=0.02)


@pytest.mark.parametrize("construction", FITTED)
def test_a_plain_python_function_is_fitted(construction):
    def own(x, y, x_star):
        return abs(y) * math.cos(3 * x_star) if y < 0 else y * math.cos(x)

    after = adapt(build(construction, own), 0.3, -0.5)
    points = [0.1, 0.5, 0.9]
    want = [own(0.3, -0.5, x_star) for x_star in points]
    np.testing.assert_allclose(predict(after, np.array(points)), want, atol=0.12)


def test_an_affine_target_needs_two_knots_and_others_get_sixteen():
    assert build().layers[3].W.shape[0] == 1 + 16 * 3
    assert build(target=bump).layers[3].W.shape[0] == 1 + 16 * 17
    assert build(levels=5).layers[3].W.shape[0] == 1 + 16 * 6


# --- the step


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_the_step_is_jax_grad_of_half_the_squared_error_on_every_leaf(construction):
    network = build(construction)

    def half_square(n):
        return 0.5 * (predict(n, 0.3) - 0.5) ** 2

    stepped, slope = jax.jit(lambda n: (adapt(n, 0.3, 0.5), jax.grad(half_square)(n)))(
        network
    )
    by_hand = jax.tree.map(
        lambda p, g: np.asarray(p) - network.alpha * np.asarray(g), network, slope
    )
    for got, want in zip(
        jax.tree.leaves(stepped), jax.tree.leaves(by_hand), strict=True
    ):
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
@pytest.mark.parametrize("shots", [1, 3])
def test_the_rank_one_step_equals_autodiff(construction, shots, x64):
    """M-grad: each layer's gradient is a sum of outer products, one per shot."""
    network = build(construction)
    x = np.array([0.3, 0.8, 0.1])[:shots]
    y = np.array([0.5, -0.9, 0.1])[:shots]
    (gradient, after), (want, after_too), _, _ = both_ways(
        network, x, y, np.linspace(0, 1, 30)
    )
    for a, b in zip(jax.tree.leaves(gradient), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-14 * (1 + np.abs(b).max(initial=0.0)))
    np.testing.assert_allclose(after, after_too, atol=1e-9)


def test_gradient_into_equals_autodiff_and_reuses_the_old_memory(x64):
    network = build("seed")
    old = None
    for x, y in ((0.3, 0.7), ([0.1, 0.8], [0.5, -0.2])):
        want = gradient_of_loss(network, np.atleast_1d(x), np.atleast_1d(y))
        # not from numpy: JAX may use the memory of an aligned numpy array, which cannot
        # be donated
        old = (
            jax.jit(lambda n: jax.tree.map(jnp.zeros_like, n))(network)
            if old is None
            else old
        )
        place = old.layers[2].W.unsafe_buffer_pointer()
        used = old
        old = gradient_into(old, network, x, y)
        for a, b in zip(jax.tree.leaves(old), jax.tree.leaves(want), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-9)
        assert old.layers[2].W.ndim == 3
        assert old.layers[2].W.unsafe_buffer_pointer() == place
        assert used.layers[2].W.is_deleted()


def test_the_rank_one_step_and_its_writes_hold_for_any_relu_network(x64):
    """Random weights, with half of the units inactive, biases in two layers, and a
    stack in the middle.
    """
    draws = np.random.default_rng(0)

    def draw(*shape):
        return jnp.asarray(draws.normal(size=shape) / shape[-1] ** 0.5, float)

    layers = (
        Dense(draw(7, 2), draw(7)),
        Dense(draw(5, 7, 7) * 2, draw(5, 7)),
        Dense(draw(4, 7)),
        Dense(draw(1, 4), draw(1)),
    )
    network = Network(jnp.asarray(np.array([0.4]), float), layers, 0.05)
    x = np.array([0.2, 0.9])
    y = np.array([1.0, -1.0])
    (got, _), (want, _), writes, after = both_ways(network, x, y, np.linspace(0, 1, 30))
    assert np.abs(want.layers[1].W).max((1, 2))[0] > 0
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-13)
    before = matrices(network)
    after = matrices(after)
    assert len(writes) == len(before) == network.depth
    for write, W, moved in zip(writes, before, after, strict=True):
        assert (write.left.shape[1], write.shape) == (2, W.shape)
        np.testing.assert_allclose(
            W + np.asarray(write.left) @ np.asarray(write.right).T, moved, atol=1e-13
        )


def matrices(network):
    """[W b] of every weight layer, with the layers of a stack individually."""
    stacks = [np.asarray(layer.augmented) for layer in network.layers]
    return [
        W for matrix in stacks for W in (matrix if matrix.ndim == 3 else matrix[None])
    ]


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_adding_the_writes_of_one_step_equals_adapt(construction, x64):
    network = build(construction)
    _, _, writes, after = both_ways(
        network, np.array([0.3]), np.array([0.5]), np.linspace(0, 1, 30)
    )
    for write, W, moved in zip(writes, matrices(network), matrices(after), strict=True):
        assert write.left.shape == (len(W), 1)
        np.testing.assert_allclose(
            W + np.asarray(write.left) @ np.asarray(write.right).T, moved, atol=1e-8
        )


def test_every_product_is_in_full_precision():
    """This holds also where the device would round the factors of float32 products, and
    before, in and after the step.
    """
    x = np.array([0.3], np.float32)
    program = str(jax.make_jaxpr(both_ways)(build("logdepth"), x, x, x))
    assert (
        program.count("dot_general[")
        == program.count("precision=(Precision.HIGHEST, Precision.HIGHEST)")
        > 20
    )


def test_learn_is_adapt_and_predict_task_by_task():
    network = build("logdepth")
    x, y, x_star = random_tasks(KEY, tasks=5, points=7)
    together = learn(network, x, y, x_star)
    one_by_one = jax.jit(jax.vmap(lambda x, y, s: predict(adapt(network, x, y), s)))(
        x, y, x_star
    )
    np.testing.assert_allclose(together, one_by_one, atol=1e-5)
    alike = np.asarray(learn(network, x, y, np.asarray(x_star)[0]))
    np.testing.assert_allclose(alike[0], np.asarray(together)[0], atol=1e-6)


def test_predict_keeps_the_shape_and_the_dtype_follows_the_network():
    network = build("logdepth")
    after = adapt(network, 0.3, 0.5)
    assert predict(after, 0.7).shape == ()
    assert predict(after, np.linspace(0, 1, 5)).shape == (5,)
    assert {leaf.dtype for leaf in jax.tree.leaves(after)} == {jnp.dtype("float32")}
    with double_precision():
        assert build("logdepth").dtype == jnp.float64
        assert {leaf.dtype for leaf in jax.tree.leaves(adapt(network, 0.3, 0.5))} == {
            jnp.dtype("float32")
        }


def test_an_output_is_compiled_once():
    network = ro.universal_learner(lambda x, y, s: y * s, cells=2)
    step = rank_one_step(network, 0.3, 0.5)
    outputs = (network.output, step.output, step.last_hidden)
    first = [output(jnp.float32(0.25)) for output in outputs]
    before = compiled_programs.compiled
    again = [output(jnp.float32(0.25)) for output in outputs]
    assert compiled_programs.compiled == before
    jax.tree.map(np.testing.assert_array_equal, first, again)


def test_adapt_and_predict_work_under_jit_and_grad():
    network = build("logdepth")
    run = jax.jit(lambda x, y, s: predict(adapt(network, x, y), s))
    assert float(run(0.3, 0.5, 0.8)) == pytest.approx(
        float(predict(adapt(network, 0.3, 0.5), 0.8)), abs=1e-5
    )
    slope = jax.grad(run, argnums=1)(0.3, 0.5, 0.8)
    centre = wave(0.375, 1.0, 0.875)
    # the table is linear in y, with the target's slope
    assert float(slope) == pytest.approx(centre, abs=1e-2)


def test_before_the_step_the_output_is_constant():
    """M-pre: the output is the same for every x, and the margin below all y."""
    for construction in CONSTRUCTIONS:
        network = build(construction)
        # each construction has its own margin
        start = -5 if construction == "two_layers" else -2
        np.testing.assert_allclose(
            predict(network, np.linspace(0, 1, 50)), start, atol=2e-5
        )
        assert network.start == start


def test_hidden_activations_are_those_of_a_network_written_out():
    network = build("logdepth")
    h = np.array([0.3, *np.asarray(network.switch)], np.float32)
    plain = []
    for layer in network.layers[:-1]:
        weights = np.asarray(layer.W)
        for W in weights if weights.ndim == 3 else weights[None]:
            h = np.maximum(W @ h + (0 if layer.b is None else np.asarray(layer.b)), 0)
            plain.append(h)
    flat = [
        row
        for a in map(np.asarray, activations(network, 0.3))
        for row in (a if a.ndim == 2 else a[None])
    ]
    assert len(flat) == len(plain) == network.depth - 1
    for a, b in zip(flat, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_k_shots_in_distinct_cells_are_all_kept_at_a_kth_of_their_value(x64):
    """M-kshot: the slot of (cell of x_s, cell of x*) has the value Δ_s/k, apart from
    the linear path.
    """
    network = build(cells=4)
    k = 2
    after = adapt(network, np.array([0.1, 0.6]), np.array([0.5, -0.5]))
    z = np.asarray(activations(after, 0.3)[2])[-1, 8:-1]
    w = 0.1 * 0.01 * 1.002  # αw(1 + 2ε)
    slots = (z / w).reshape(4, 4)[1]  # x* in cell 1
    np.testing.assert_allclose(slots, [2.5 / k, 0, 1.5 / k, 0], atol=0.01)


# --- changes that break the networks


def deviation(constants, **options):
    network = build(cells=4, constants=constants)
    return learning_errors(
        network, wave, cells=4, key=KEY, tasks=8, points=21, **options
    ).deviation_rms


def test_without_the_offset_nothing_is_learnt(x64):
    """M-(1): at the kink the gradient of jax.nn.relu is 0."""
    assert deviation(Constants()) < 1e-4
    network = build(constants=Constants(offset=0.0))
    after = adapt(network, 0.3, 0.5)
    assert np.abs(np.asarray(activations(after, 0.7)[2])[-1, 8:-1]).max() == 0
    assert deviation(Constants(offset=0.0)) > 1


def test_with_a_zero_switch_the_switch_stays_zero_and_the_table_fails(x64):
    """M-appC-phi: the gradient with respect to θ_b = 0 is 0, so x* is encoded like
    x.
    """
    network = build(constants=Constants(switch=0.0))
    assert float(adapt(network, 0.3, 0.5).switch[0]) == 0
    assert deviation(Constants(switch=0.0)) > 10


def test_the_switch_moves_the_cell_code_between_the_halves_of_phi():
    """M-appA-in, M-appC-phi: φ is [(d − s)₊; (d + s − 1)₊, δ, δ, θ_b]. s rises between
    τ₁ and τ₂, which are .01 and .05 here.
    """
    grid = Grid(np.array([0.25, 0.5]), 0.125)
    constants = Constants(alpha=0.5, linear=0.2)
    (first, bias), (second, start) = front(grid, 2, constants)
    for theta, s in ((0.0, 0), (0.01, 0), (0.02, 0.25), (0.05, 1), (0.1, 1)):
        # within a cell, and half-way up a ramp
        for x, d in (
            (0.4, [0, 1, 0]),
            (0.3125, [0.5, 0.5, 0]),
        ):
            phi = np.maximum(
                second @ np.maximum(first @ [x, theta] + bias, 0) + start, 0
            )
            halves = np.maximum(
                np.concatenate([np.subtract(d, s), np.add(d, s - 1)]), 0
            )
            np.testing.assert_allclose(
                phi, [*halves, constants.offset, constants.offset, theta], atol=1e-12
            )


def test_a_label_equal_to_the_prediction_teaches_nothing():
    """M-lin-e: without an error there is no gradient. For y below the prediction, the
    ReLUs clip the written values.
    """
    network = build()
    same = gradient_of_loss(
        network, np.array([0.3], np.float32), np.array([-2.0], np.float32)
    )
    assert max(np.abs(g).max() for g in jax.tree.leaves(same)) < 1e-5
    # −3 is outside the range of y, but the claim holds there too
    with value_checks(False):
        below = np.asarray(activations(adapt(network, 0.3, -3.0), 0.7)[2])
    assert below[-1, 8:-1].max() < 1e-6


def test_the_initialisation_encodes_the_step_size(x64):
    assert deviation(Constants(), alpha=0.1) < 1e-4
    assert deviation(Constants(), alpha=0.11) == pytest.approx(
        10 * deviation(Constants(), alpha=0.101), rel=0.25
    )
    assert deviation(Constants(), alpha=0.11) > 0.05
    assert deviation(Constants(alpha=1.0)) < 1e-2


def test_a_larger_damping_constant_makes_the_feature_layer_disturb_the_table(x64):
    """M-eq2: with μ = 0.1 the layer that computes φ writes too."""
    assert deviation(Constants(damping=0.1)) > 100 * deviation(Constants(damping=1e-3))


def test_ramps_that_are_no_power_of_two_break_float32_and_not_float64():
    """M-disc: the quotient has a difference of two rounded numbers, and the ramp is
    narrower than their rounding errors.
    """
    narrow = Constants(ramp=1e-6)
    assert deviation(narrow) > 1e-3
    assert deviation(Constants()) < 1e-4
    with double_precision():
        assert deviation(narrow) < 1e-4


def test_trainable_biases_add_one_to_every_kernel_and_a_reference_slot_repairs_it(x64):
    """M-kern: the kernel becomes k + 1 instead of k."""
    broken = table_network(wave, cell_selector(4, 1e-3), biases=True)
    assert learning_errors(broken, wave, cells=4, key=KEY).deviation_rms > 10
    for selector in (
        cell_selector(4, 1e-3, reference=True),
        bit_selector(4, 1e-3, reference=True),
    ):
        with_slot = table_network(wave, selector, biases=True)
        assert learning_errors(with_slot, wave, cells=4, key=KEY).deviation_rms < 1e-4


@pytest.mark.parametrize("epsilon", [0.1, 0.7])
def test_with_a_reference_slot_any_epsilon_works(epsilon, x64):
    """M-S2: any ε works, with the printed B beyond its golden value and with the
    unipotent B.
    """
    for printed in (True, False):
        selector = cell_selector(4, epsilon, printed=printed, reference=True)
        network = table_network(wave, selector, constants=Constants(epsilon=epsilon))
        assert learning_errors(network, wave, cells=4, key=KEY).deviation_rms < 2e-3


# --- small parts


def test_inactive_units_interpolate_the_knots_and_are_zero_near_the_origin():
    """M-eq4: the interpolant is zero with zero slope up to half the first knot, has the
    values at the knots, and is constant beyond.
    """
    u = np.array([1.0, 2.0, 3.0])
    values = np.array([[0.3, -0.2, 0.9]])
    knots, o = inactive_units(u, values)

    def read(t):
        return float(o[0] @ np.maximum(t - knots, 0))

    np.testing.assert_allclose(
        [read(t) for t in (0, 0.5, 1, 1.5, 2, 3, 7)],
        [0, 0, 0.3, 0.05, -0.2, 0.9, 0.9],
        atol=1e-12,
    )


def test_lookup_moves_points_to_the_centres_of_their_cells():
    table = lookup_table(lambda x, y, s: x + 10 * y + 100 * s, 4)
    assert table(0.99, 1.0, 0.0) == pytest.approx(0.875 + 10 + 12.5)
    assert table(1.0, 1.0, 1.0) == pytest.approx(0.875 + 10 + 87.5)


@pytest.mark.parametrize("bad", ["a", None, np.ones(2)])
def test_errors_name_the_argument_that_is_not_a_network_or_function(bad):
    network = Network(jnp.ones(0), (Dense(np.ones((1, 1))),), 0.1)
    for name, call in {
        "target": lambda: lookup_table(bad, 4),
        "network": lambda: activations(bad, 0.5),
        "old": lambda: gradient_into(bad, network, 0.5, 1.0),
    }.items():
        with refused(ValueError, match=f"^{name}: got"):
            call()


@pytest.mark.parametrize("bad", [[math.nan], [math.inf], 0.5, [[0.5]]])
def test_a_network_refuses_a_switch_that_is_no_row_of_finite_numbers(bad):
    with refused(ValueError, match=r"^switch: got"):
        Network(np.array(bad), (Dense(np.ones((1, 1))),), 0.1)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_network_refuses_a_start_that_is_not_finite(bad):
    with refused(ValueError, match=r"^start: got"):
        Network(np.ones(0), (Dense(np.ones((1, 1))),), 0.1, start=bad)


def test_a_target_is_called_with_arrays_or_point_by_point():
    x = np.linspace(0, 1, 4)
    by_array = target_values(lambda x, y, s: x * y, x, 2.0, 0.0)
    by_point = target_values(lambda x, y, s: x * y if x > 0 else 0.0, x, 2.0, 0.0)
    np.testing.assert_array_equal(by_array, by_point)
    np.testing.assert_array_equal(
        target_values(lambda x, y, s: 3, x, 0, 0), np.full(4, 3.0)
    )


# --- bad input


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("construction", {"construction": "deep"}),
        ("cells", {"cells": 0}),
        ("cells", {"cells": 2.5}),
        ("cells", {"cells": 4.0}),
        ("cells", {"cells": True}),
        ("units", {"construction": "constant", "units": 64.0}),
        ("levels", {"levels": True}),
        ("y_range", {"y_range": (False, True)}),
        ("cells", {"cells": 64}),
        ("units", {"construction": "shallow", "units": -1}),
        ("units", {"units": 100}),
        ("levels", {"levels": 1}),
        ("levels", {"construction": "shallow", "levels": 4}),
        ("levels", {"construction": "two_layers", "levels": 4}),
        ("y_range", {"y_range": (1.0, 0.0)}),
        ("y_range", {"y_range": 3}),
        ("dtype", {"dtype": jnp.int32}),
        ("dtype", {"dtype": jnp.float16}),
        ("dtype", {"dtype": "double precision"}),
        ("constants", {"constants": 0.1}),
        ("target", {"target": 3}),
        ("target", {"target": lambda x, y: x}),
        ("target", {"target": lambda x, y, s: np.log(x - x)}),
    ],
)
def test_a_bad_request_is_refused_by_name(name, options):
    with np.errstate(divide="ignore"), refused(ValueError, match=name):
        ro.universal_learner(**{"target": wave, "cells": 4, **options})


@pytest.mark.parametrize(
    "change",
    [
        {"alpha": 0.0},
        {"alpha": True},
        {"epsilon": -1.0},
        {"margin": math.nan},
        {"ramp": 2.0},
        {"linear": "w"},
    ],
)
def test_bad_constants_are_refused_by_name(change):
    with refused(ValueError, match=next(iter(change))):
        Constants(**change)


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_a_value_outside_the_range_of_the_network_is_refused_where_it_is_known(
    construction,
):
    """In float32, 0.3 is above the end of the range. Under jit the step is the plain
    one, as without a range.
    """
    options = {"units": 40} if construction in FITTED else {}
    network = ro.universal_learner(
        lambda x, y, s: y * s, 2, construction, y_range=(0.1, 0.3), **options
    )
    assert network.y_range == (0.1, 0.3)
    for y in (0.1, 0.3, np.float32(0.3)):
        assert np.isfinite(predict(adapt(network, 0.3, y), 0.5))
    with refused(ValueError, match=r"^y: got 0\.31\d*; it must be from 0\.1 to 0\.3"):
        adapt(network, 0.3, 0.31)
    inside = jax.jit(adapt)(network, 0.3, 0.31)
    free = adapt(replace(network, y_range=None), 0.3, 0.31)
    for one, other in zip(jax.tree.leaves(inside), jax.tree.leaves(free), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_arrays_on_a_device_are_not_fetched_to_look_at_their_values(monkeypatch):
    network = build("logdepth")
    far = jnp.asarray(np.full(5, 1.5, np.float32))
    with refused(ValueError, match=r"^x_star: got"):
        predict(network, far)
    monkeypatch.setattr("rankone._checks._on_host", lambda leaf: False)
    assert np.isfinite(predict(network, far)).all()


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("x", lambda n: adapt(n, 1.5, 0.0)),
        ("x", lambda n: adapt(n, math.nan, 0.0)),
        ("x", lambda n: adapt(n, np.zeros((2, 2)), np.zeros((2, 2)))),
        ("y", lambda n: adapt(n, 0.5, math.inf)),
        ("y", lambda n: adapt(n, np.array([0.1, 0.2]), 0.3)),
        ("y", lambda n: adapt(n, 0.5, 1.001)),
        (
            "y",
            lambda n: learn(
                n, np.array([0.1, 0.2]), np.array([0.5, -2.0]), np.array([0.3])
            ),
        ),
        ("alpha", lambda n: adapt(n, 0.5, 0.0, alpha=-0.1)),
        ("alpha", lambda n: adapt(n, 0.5, 0.0, alpha="a")),
        ("x", lambda n: adapt(n, "a", 0.0)),
        ("y", lambda n: adapt(n, 0.5, 1j)),
        ("x_star", lambda n: predict(n, "a")),
        ("x", lambda n: adapt(n, [[0.1], [0.2, 0.3]], [0.1, 0.2])),
        ("y", lambda n: adapt(n, 0.5, 1e300)),
        ("alpha", lambda n: adapt(n, 0.5, 0.0, alpha=1e-60)),
        ("network", lambda n: adapt(None, 0.5, 0.0)),
        ("network", lambda n: predict(jnp.ones(3), 0.5)),
        ("network", lambda n: predict(3, 0.5)),
        ("network", lambda n: activations(np.ones(3), 0.5)),
        ("x", lambda n: n.input("0.5")),
        ("old", lambda n: gradient_into("old", n, 0.5, 0.0)),
        ("old", lambda n: gradient_into(n.layers, n, 0.5, 0.0)),
        ("target", lambda n: lookup_table("target", 4)),
        ("x_star", lambda n: predict(n, -0.1)),
        ("x_star", lambda n: learn(n, np.zeros(3), np.zeros(3), np.zeros((2, 4)))),
    ],
)
def test_bad_tasks_are_refused_by_name(name, call):
    with refused(ValueError, match=rf"^{name}"):
        call(build("logdepth"))


def test_networks_and_steps_can_be_evaluated_outside_jit():
    network = build("logdepth")
    points = np.array([0.25, 0.5], np.float32)
    step = rank_one_step(network, 0.3, 1.0)
    for read in (network, step):
        np.testing.assert_allclose(
            read.output(points), predict(read, points), rtol=1e-5, atol=1e-5
        )
    assert step.last_hidden(points).shape == (2, network.layers[-1].W.shape[1])
    assert network.input(points).shape == (2, 1 + len(network.switch))


def test_the_error_for_too_many_cells_suggests_logdepth():
    with refused(ValueError, match="logdepth"):
        ro.universal_learner(wave, cells=64)


def test_networks_are_pytrees_that_can_be_edited():
    network = build("logdepth")
    doubled = jax.tree.map(lambda p: 2 * np.asarray(p), network)
    assert doubled.alpha == network.alpha
    assert replace(network, alpha=0.2).alpha == 0.2
    assert network.size == sum(leaf.size for leaf in jax.tree.leaves(network))


def test_the_start_of_a_network_is_zero_unless_given():
    assert Network(jnp.ones(0), (Dense(np.ones((1, 1))),), 0.1).start == 0


def test_labels_at_one_input_matter_only_through_their_sum(x64):
    """No network distinguishes {(x, 0), (x, 1)} from {(x, ½), (x, ½)}."""
    network = ro.universal_learner(
        lambda x, y, x_star: y * x_star, construction="two_layers", units=60
    )
    x = np.array([0.3, 0.3])
    one = adapt(network, x, np.array([0.0, 1.0]))
    other = adapt(network, x, np.array([0.5, 0.5]))
    for first, second in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-12, atol=1e-15)
    apart = adapt(network, x, np.array([0.0, 0.0]))
    assert abs(predict(apart, 0.5) - predict(one, 0.5)) > 1e-3


SELECTOR = cell_selector(2, 1e-3)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("j", lambda: seed_matrix(4, 0, 4, 0.1)),
        ("l", lambda: seed_matrix(0, -1, 4, 0.1)),
        ("epsilon", lambda: seed_matrix(0, 0, 4, 1j)),
        ("U", lambda: unipotent(np.ones((2, 3)))),
        ("B", lambda: kernels(np.ones((3, 3)))),
        ("S", lambda: amplifiers(2, -1, 0.1)),
        ("J", lambda: cell_selector(0, 0.1)),
        ("printed", lambda: cell_selector(2, 0.1, printed="yes")),
        ("J", lambda: bit_selector(1.5, 0.1)),
        ("selector", lambda: telescope(np.eye(2), epsilon=0.1, damping=0.1)),
        ("epsilon", lambda: telescope(SELECTOR, epsilon=0.0, damping=0.1)),
        ("damping", lambda: telescope(SELECTOR, epsilon=0.1, damping=-1.0)),
        ("y_range", lambda: table_network(wave, SELECTOR, y_range=(1.0, -1.0))),
        ("levels", lambda: table_network(wave, SELECTOR, levels=1)),
        ("dtype", lambda: table_network(wave, SELECTOR, dtype="half")),
        ("units", lambda: two_layer_network(wave, units=0)),
        ("cells", lambda: two_layer_network(wave, units=8, cells=0)),
        ("y_range", lambda: two_layer_network(wave, units=8, y_range=(0.0,))),
        ("nodes", lambda: hat_network(lambda x, x_star: x, 1)),
    ],
)
def test_the_parts_of_a_construction_name_a_bad_argument(name, call):
    with refused(ValueError, match=rf"^{name}(\[\d\])?: got .*it must be"):
        call()


def test_a_gradient_step_ignores_the_order_of_examples_unlike_a_queue(x64):
    """M-recur, with the queue of its proof, which is a linear update of 2k numbers."""
    network = ro.universal_learner(
        lambda x, y, x_star: y * x_star, construction="two_layers", units=60
    )
    pairs = np.array([[0.2, 1.0], [0.8, -1.0]])
    after, reordered = (
        adapt(network, rows[:, 0], rows[:, 1]) for rows in (pairs, pairs[::-1])
    )
    for first, second in zip(
        jax.tree.leaves(after), jax.tree.leaves(reordered), strict=True
    ):
        np.testing.assert_allclose(first, second, rtol=1e-12, atol=1e-15)

    move = np.eye(4, k=-2)
    enter = np.eye(4, 2)

    def read(rows):
        state = np.zeros(4)
        for pair in rows:
            state = move @ state + enter @ pair
        return state

    np.testing.assert_array_equal(read(pairs), pairs[::-1].ravel())
    assert not np.allclose(read(pairs), read(pairs[::-1]))
