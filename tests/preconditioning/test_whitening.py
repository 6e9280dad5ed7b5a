"""Second moments of the layers of a network, the factors made from them, and training
in whitened coordinates.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from draws import normal
from refusals import refused

from rankone.checks import Outcome
from rankone.nn import Dense
from rankone.preconditioning import (
    Factors,
    Moments,
    MovingMoments,
    Reparameterized,
    adapt_U,
    between,
    estimated_kronecker,
    kronecker_sgd,
    layer_moments,
    merge,
    meta_learn,
    only_U,
    precondition,
    prong,
    reparameterize,
    skipped,
    trainable,
    transport,
    whiten,
    whitening_factors,
)
from rankone.preconditioning.whitening import damped, matrix_power
from rankone.theory.commutation import scale_by_shampoo
from rankone_book.preconditioning_runs import halves, hidden_direction

pytestmark = pytest.mark.usefixtures("x64")


X = normal(1, 40, 5) * np.logspace(0, -1, 5)
Y = normal(2, 40, 3)


def network():
    return {"in": Dense.from_augmented(normal(3, 4, 6)), "out": Dense(normal(4, 3, 4))}


def outputs(net, x):
    return net["out"](jnp.tanh(net["in"](x)))


def losses(net, x=X, y=Y):
    return 0.5 * jnp.sum((outputs(net, x) - y) ** 2, -1)


@jax.jit
def moments_of(net):
    return layer_moments(losses, net)


@jax.jit
def mean_and_slope(net):
    return jax.value_and_grad(lambda n: losses(n).mean())(net)


def test_moments_are_those_of_inputs_and_output_gradients():
    net = network()
    W1 = np.asarray(net["in"].augmented)
    W2 = np.asarray(net["out"].W)
    x = np.c_[X, np.ones(len(X))]
    h = np.tanh(x @ W1.T)
    delta2 = h @ W2.T - Y
    delta1 = delta2 @ W2 * (1 - h**2)
    moments = moments_of(net)
    for moment, inputs, deltas in (
        (moments["in"], x, delta1),
        (moments["out"], h, delta2),
    ):
        np.testing.assert_allclose(moment.inputs, inputs.T @ inputs / 40, atol=1e-12)
        np.testing.assert_allclose(moment.outputs, deltas.T @ deltas / 40, atol=1e-12)


def test_moments_do_not_depend_on_how_a_layer_is_written():
    net = network()
    pair = Factors(normal(5, 4, 4), normal(6, 6, 6))
    other = reparameterize(net, {"in": pair, "out": None})
    for one, two in zip(
        *(jax.tree.leaves(moments_of(n)) for n in (net, other)), strict=True
    ):
        np.testing.assert_allclose(one, two, atol=1e-9)


def test_the_gradient_of_W_is_the_mean_of_delta_times_input():
    """The recorded inputs and deltas also give the gradient, so they are right."""
    net = network()
    h = np.tanh(np.c_[X, np.ones(len(X))] @ np.asarray(net["in"].augmented).T)
    gradient = mean_and_slope(net)[1]["out"].W
    delta = h @ np.asarray(net["out"].W).T - Y
    np.testing.assert_allclose(gradient, delta.T @ h / 40, atol=1e-12)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda n: losses(n).mean(), r"\(N,\)"),
        (lambda n: jnp.sum(n["in"](X) ** 2, -1), "never called"),
        (lambda n: losses(n) + losses(n), "called twice"),
    ],
)
def test_losses_that_cannot_be_recorded_are_refused(wrong, message):
    with refused(ValueError, match=message):
        jax.eval_shape(lambda net: layer_moments(wrong, net), network())


def test_moving_moments_are_a_weighted_mean_from_the_first_batch_on():
    pairs = zip(normal(7, 5, 3, 3), normal(8, 5, 2, 2), strict=True)
    batches = [Moments(a @ a.T, g @ g.T) for a, g in pairs]
    moving = MovingMoments.start((2, 3), jnp.float64, decay=0.8)
    for count, batch in enumerate(batches, 1):
        moving = moving.update(batch)
        weights = 0.8 ** np.arange(count - 1, -1, -1)
        mean = (
            sum(w * b.inputs for w, b in zip(weights, batches, strict=False))
            / weights.sum()
        )
        np.testing.assert_allclose(moving.value.inputs, mean, atol=1e-12)
    with refused(ValueError, match="decay"):
        MovingMoments.start((2, 3), decay=1.0)


def test_factored_damping_exceeds_tikhonov_damping_by_two_known_terms():
    A = normal(1, 4, 4)
    G = normal(2, 3, 3)
    lam = 0.3
    A = A @ A.T
    G = G @ G.T
    pi = np.sqrt((np.trace(A) / 4) / (np.trace(G) / 3))
    both = damped(Moments(A, G), lam)
    excess = np.kron(*both) - np.kron(A, G) - lam * np.eye(12)

    def terms(pi):
        return np.sqrt(lam) * np.array(
            [np.kron(A, np.eye(3)) / pi, pi * np.kron(np.eye(4), G)]
        )

    first, second = terms(pi)
    np.testing.assert_allclose(excess, first + second, atol=1e-12)
    assert np.trace(first) == pytest.approx(np.trace(second), rel=1e-12)
    for other in (0.5 * pi, 2 * pi):
        assert np.trace(terms(other).sum(0)) > np.trace(excess)
    equal = (
        np.kron(A + lam * np.eye(4), G + lam * np.eye(3))
        - np.kron(A, G)
        - lam**2 * np.eye(12)
    )
    np.testing.assert_allclose(
        equal, lam * (np.kron(A, np.eye(3)) + np.kron(np.eye(4), G)), atol=1e-12
    )


def test_whitening_makes_the_layers_own_moments_the_identity():
    moment = moments_of(network())["in"]
    T, V = map(np.asarray, whitening_factors(moment))
    moment = jax.tree.map(np.asarray, moment)
    np.testing.assert_allclose(V @ moment.inputs @ V.T, np.eye(6), atol=1e-9)
    np.testing.assert_allclose(T.T @ moment.outputs @ T, np.eye(4), atol=1e-9)
    # another whitening gives the same preconditioner
    cholesky = np.linalg.inv(np.linalg.cholesky(moment.inputs))
    np.testing.assert_allclose(cholesky.T @ cholesky, V.T @ V, rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(whitening_factors(moment, sides="input").T, np.eye(4))
    np.testing.assert_array_equal(
        whitening_factors(moment, sides="output").V, np.eye(6)
    )


def test_matrix_power_computes_an_inverse_fourth_root_and_refuses_bad_matrices():
    A = normal(1, 5, 5)
    A = A @ A.T
    root = matrix_power(A, -0.25)
    np.testing.assert_allclose(
        np.linalg.matrix_power(np.asarray(root), 4) @ A, np.eye(5), atol=1e-8
    )
    with refused(ValueError, match="damping"):
        matrix_power(np.diag([1.0, 0.0]), -0.5)
    with refused(ValueError, match="symmetric"):
        matrix_power(np.array([[1.0, 2.0], [0.0, 1.0]]), 0.5)
    with refused(ValueError, match="square"):
        matrix_power(np.ones((2, 3)), 0.5)


def test_singular_or_nonfinite_moments_are_flagged_inside_jit():
    good, singular = (Moments(np.diag([1.0, last]), np.eye(2)) for last in (4.0, 0.0))
    factors = jax.jit(whitening_factors)
    assert factors(good).outcome == whitening_factors(good).outcome == Outcome.OK
    assert factors(singular).outcome == Outcome.SINGULAR
    assert np.isfinite(factors(singular).V).all()  # training goes on
    assert (
        factors(jax.tree.map(lambda leaf: leaf * np.nan, good)).outcome
        == Outcome.NOT_FINITE
    )
    assert np.isnan(jax.jit(matrix_power)(singular.inputs, -0.5)).all()
    with refused(ValueError, match=r"^moments: got a singular moment; .* damping"):
        whitening_factors(singular)


def test_half_powers_of_shampoo_give_its_frozen_step():
    G = normal(1, 3, 5)
    L = G @ G.T + np.eye(3)
    R = G.T @ G + np.eye(5)
    T, V = map(np.asarray, whitening_factors(Moments(R, L), power=-0.125))
    step = T @ T.T @ G @ V.T @ V
    np.testing.assert_allclose(
        step,
        np.asarray(matrix_power(L, -0.25)) @ G @ np.asarray(matrix_power(R, -0.25)),
        atol=1e-10,
    )


def test_shampoos_R_weighs_every_input_by_its_error_and_kfacs_A_does_not():
    net = network()
    A = np.asarray(moments_of(net)["out"].inputs)
    (layer, last) = (net["in"], net["out"])
    hidden = np.tanh(X @ np.asarray(layer.W).T + np.asarray(layer.b))
    errors = hidden @ np.asarray(last.W).T - Y
    shampoo = scale_by_shampoo(damping=0.0)
    state = (np.zeros((3, 3)), np.zeros((4, 4)))
    gather = jax.jit(lambda G, state: shampoo.update(G, state)[1])
    for error, x in zip(errors, hidden, strict=True):
        state = gather(np.outer(error, x), state)  # the gradient of one example
    R = np.asarray(state[1])
    weighted = (hidden * np.sum(errors**2, 1, keepdims=True)).T @ hidden
    np.testing.assert_allclose(R, weighted, rtol=1e-9)
    np.testing.assert_allclose(A, hidden.T @ hidden / len(X), rtol=1e-9)
    # If A and R were proportional, this would be 1.
    assert np.linalg.cond(np.linalg.solve(A, R)) > 1.3


# --- natural neural networks


def test_whitening_keeps_the_function_and_normalises_the_inputs():
    net = network()
    white = whiten(net, moments_of(net), damping=1e-3)
    outcome = jax.jit(outputs)
    np.testing.assert_allclose(outcome(white, X), outcome(net, X), atol=1e-9)
    moment = jax.tree.map(np.asarray, moments_of(white)["in"])
    V = np.asarray(white["in"].V)
    np.testing.assert_allclose(np.diag(V @ moment.inputs @ V.T).max(), 1, atol=0.1)


def test_prong_steps_are_whitened_steps_on_W():
    net = network()
    rate = 0.05
    damping = 1e-2
    options = {"learning_rate": rate, "every": 3, "damping": damping, "decay": 0.0}
    init, step = prong(lambda n, batch: losses(n, *batch), **options)
    state = init(net, (X, Y))
    W = {name: layer.augmented for name, layer in net.items()}
    for count in range(7):
        here = {"in": Dense.from_augmented(W["in"]), "out": Dense(W["out"])}
        if count % 3 == 0:
            moments = jax.tree.map(np.asarray, moments_of(here))

            def inverse(A):
                return np.linalg.inv(A + damping * np.eye(len(A)))

            right = {name: inverse(moments[name].inputs) for name in W}
        mean, gradient = mean_and_slope(here)
        state, value = step(state, (X, Y))
        assert value == pytest.approx(float(mean), rel=1e-8)
        W = {
            name: W[name] - rate * np.asarray(gradient[name].augmented) @ right[name]
            for name in W
        }
        for name, layer in merge(state.network).items():
            np.testing.assert_allclose(layer.augmented, W[name], atol=1e-8)
    assert isinstance(state.network["in"], Reparameterized)
    assert state.steps == 7


def test_whitened_descent_is_faster_on_badly_scaled_inputs():
    x = normal(5, 200, 5) * np.logspace(0, -2, 5)
    y = x @ normal(6, 5, 2) + 1.0

    def squares(net, batch):
        return 0.5 * jnp.sum((net(batch[0]) - batch[1]) ** 2, -1)

    net = Dense(np.zeros((2, 5)), np.zeros(2))
    run = prong(squares, learning_rate=0.5, every=10, damping=1e-8)
    state = run.init(net, (x, y))
    for _ in range(30):
        state, white = run.step(state, (x, y))
    mean = jax.jit(jax.value_and_grad(lambda n: squares(n, (x, y)).mean()))
    plain = net
    for _ in range(30):
        plain = jax.tree.map(
            lambda p, g: p - 0.5 * np.asarray(g), plain, mean(plain)[1]
        )
    assert white < 1e-8
    assert mean(plain)[0] > 1e-5


# --- learned factors


def test_learned_factors_adapt_in_one_step_where_plain_steps_do_not():
    """Tasks y = Wx whose W differ along one input direction, the one with the smallest
    inputs.
    """

    def squared(net, x, y):
        return jnp.mean((net(x)[:, 0] - y) ** 2)

    start = Reparameterized(np.eye(1), np.array([[1.0, -1.0, 0.0]]), np.eye(3))
    options = {
        "key": jax.random.key(0),
        "inner_rate": 0.1,
        "outer_steps": 600,
        "outer": optax.adam(0.02),
    }
    tasks = *halves(squared), hidden_direction
    maml, learned = (
        meta_learn(start, *tasks, learn_factors=factors, **options)
        for factors in (False, True)
    )
    assert (
        np.asarray(learned.losses)[-50:].mean()
        < 0.3 * np.asarray(maml.losses)[-50:].mean()
    )
    np.testing.assert_array_equal(maml.network.V, np.eye(3))
    T = np.asarray(learned.network.T)
    V = np.asarray(learned.network.V)
    R = V.T @ V * T[0, 0] ** 2
    assert R[2, 2] > 3 * max(R[0, 0], R[1, 1])  # it has learned the direction


def test_an_outer_step_records_the_mean_over_its_tasks_after_the_inner_step():
    def squared(net, x, y):
        return jnp.mean((net(x)[:, 0] - y) ** 2)

    start = Reparameterized(np.eye(1), np.array([[1.0, -1.0, 0.0]]), np.eye(3))
    key = jax.random.key(2)
    training = meta_learn(
        start,
        *halves(squared),
        hidden_direction,
        key=key,
        inner_rate=0.1,
        outer_steps=1,
        tasks=2,
    )
    losses = []
    for one in jax.random.split(jax.random.split(key, 1)[0], 2):
        x, y = map(np.asarray, jax.jit(hidden_direction)(one))
        w = np.array([1.0, -1.0, 0.0])
        w -= 0.1 * 2 / 10 * (x[:10] @ w - y[:10]) @ x[:10]
        losses.append(np.mean((x[10:] @ w - y[10:]) ** 2))
    np.testing.assert_allclose(training.losses, [np.mean(losses)], rtol=1e-9)


def test_halves_splits_a_task_into_its_first_and_second_half():
    x, y = map(np.asarray, jax.jit(hidden_direction)(jax.random.key(1)))
    W = np.linalg.lstsq(x, y)[0]
    np.testing.assert_allclose(W[:2], [1, -1], atol=1e-9)  # the same in all tasks
    assert np.abs(W[2]) > 0.1
    half_losses = halves(lambda net, x, y: jnp.stack([x[:, 0].sum(), y.sum()]))
    for part, rows in zip(half_losses, (slice(0, 10), slice(10, 20)), strict=True):
        np.testing.assert_allclose(
            part(None, (x, y)), [x[rows, 0].sum(), y[rows].sum()], rtol=1e-12
        )


def test_learning_and_adapting_again_trace_nothing():
    traced = []

    def squared(net, x, y):
        traced.append(x)
        return jnp.mean((net(x)[:, 0] - y) ** 2)

    start = Reparameterized(np.eye(1), np.ones((1, 3)), np.eye(3))
    learn = partial(
        meta_learn,
        start,
        *halves(squared),
        hidden_direction,
        inner_rate=0.1,
        outer_steps=2,
        tasks=2,
    )

    def loss(net):
        return squared(net, np.ones((2, 3)), np.ones(2))

    for key, factors in ((0, True), (1, True), (2, False)):
        learn(key=jax.random.key(key), learn_factors=factors)
        adapt_U(start, loss, learning_rate=0.1 / (1 + key))
        once = once if key else len(traced)
    assert len(traced) == once > 0


def test_bad_options_are_refused():
    for every in (0, 2.0, True):
        with refused(ValueError, match="every"):
            prong(losses, learning_rate=0.1, every=every)
    with refused(ValueError, match="sides"):
        whitening_factors(Moments(np.eye(2), np.eye(2)), sides="left")
    with refused(ValueError, match="key"):
        meta_learn(network(), losses, losses, lambda k: k, key=0, inner_rate=0.1)


TEXTS = np.array(["a", "b"])
LAYER = Dense(np.ones((2, 3)))
GOOD = {"key": jax.random.key(0), "inner_rate": 0.1}


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: Factors(np.eye(2), np.eye(2), outcome=TEXTS), "outcome"),
        (lambda: MovingMoments.start((2, 3, 4), decay=0.9), "shape"),
        (lambda: MovingMoments.start((2, 3), "no type", decay=0.9), "dtype"),
        (
            lambda: MovingMoments.start((2, 3), decay=0.9).update(
                Moments(np.eye(2), np.eye(2))
            ),
            "moments",
        ),
        (lambda: MovingMoments.start((2, 3), decay=0.9).update({"a": 1}), "moments"),
        (lambda: damped(TEXTS, 0.1), "moments"),
        (lambda: layer_moments("losses", LAYER), "losses"),
        (lambda: layer_moments(lambda net: np.ones(3), "network"), "network"),
        (lambda: skipped(TEXTS), "moments"),
        (lambda: whiten(TEXTS, TEXTS), "network"),
        (lambda: whiten({"W": LAYER}, {"W": Factors(np.eye(2), np.eye(3))}), "moments"),
        (lambda: prong(TEXTS, learning_rate=0.1), "losses"),
        (lambda: prong(losses, learning_rate=0.1, decay=1.5), "decay"),
        (lambda: prong(losses, learning_rate=0.1, sides="left"), "sides"),
        (lambda: merge({"W": np.ones((2, 2))}), "network"),
        (lambda: reparameterize({"W": LAYER}, {"V": None}), "factors"),
        (
            lambda: reparameterize({"W": LAYER}, {"W": (np.eye(2), np.eye(3))}),
            "factors",
        ),
        (lambda: reparameterize(TEXTS, Factors(np.eye(2), np.eye(3))), "network"),
        (lambda: trainable([["a"], ["b"]]), "network"),
        (lambda: only_U({"init": 1}), "optimizer"),
        (lambda: precondition({"W": TEXTS}), "factors"),
        (lambda: kronecker_sgd(-0.1, {"W": None}), "learning_rate"),
        (lambda: kronecker_sgd(0.1, {"W": None}, momentum="0.9"), "momentum"),
        (lambda: estimated_kronecker(decay=TEXTS), "decay"),
        (lambda: between(np.ones((2, 3)), np.eye(3), np.eye(3)), "T"),
        (
            lambda: transport(
                np.ones((2, 4)),
                Factors(np.eye(2), np.eye(3)),
                Factors(np.eye(2), np.eye(3)),
            ),
            "momentum",
        ),
        (
            lambda: transport(
                np.ones((2, 3)),
                Factors(np.eye(2), np.eye(3)),
                Factors(np.eye(2), np.eye(4)),
            ),
            "new",
        ),
        (
            lambda: meta_learn("network", losses, losses, lambda key: key, **GOOD),
            "network",
        ),
        (
            lambda: meta_learn(network(), "support", losses, lambda key: key, **GOOD),
            "support",
        ),
        (
            lambda: meta_learn(
                network(), losses, losses, lambda key: key, outer="adam", **GOOD
            ),
            "outer",
        ),
        (
            lambda: meta_learn(
                network(), losses, losses, lambda key: key, learn_factors=1.0, **GOOD
            ),
            "learn_factors",
        ),
    ],
)
def test_errors_name_the_argument_of_the_wrong_kind(call, name):
    with refused(ValueError, match=rf"^{name}: got .* it must be .*\.$"):
        call()


def test_functions_usually_called_inside_jit_also_work_outside():
    x = np.ones((4, 3))
    layer = Reparameterized(np.eye(2), np.ones((2, 3)), np.eye(3))
    np.testing.assert_array_equal(layer.features(x), x)
    moments = layer_moments(lambda layer: layer(x).sum(-1), LAYER)
    np.testing.assert_allclose(moments.outputs, np.ones((2, 2)))
    np.testing.assert_allclose(damped(moments, 0.0).inputs, np.ones((3, 3)))
    np.testing.assert_allclose(
        between(np.diag([2.0, 6.0]), np.diag([1.0, 3.0]), np.eye(2)),
        2 * np.eye(2),
        atol=1e-12,
    )
    state = kronecker_sgd(0.1, {"W": Factors(np.eye(2), np.eye(3))}, momentum=0.9).init(
        {"W": np.ones((2, 3))}
    )
    assert state[0]["W"].shape == (6, 6)


def test_a_network_may_be_one_array():
    def distance(w, task):
        return ((w - task) ** 2).sum()

    def draw(key):
        return jnp.ones(2)

    options = {
        "key": jax.random.key(0),
        "inner_rate": 0.1,
        "outer_steps": 1,
        "tasks": 1,
        "outer": optax.sgd(0.5),
    }
    training = meta_learn(
        jnp.zeros(2), distance, distance, draw, learn_factors=False, **options
    )
    # A step leaves 0.8 of the distance and 0.64 of its square, whose slope by w is
    # −1.28.
    np.testing.assert_allclose(training.network, 0.64 * np.ones(2), rtol=1e-5)
