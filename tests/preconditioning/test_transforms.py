"""Training W with a transformation equals training U without it; the methods that
commute with W = TUV, and those that do not.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from refusals import refused

from rankone.nn import Dense
from rankone.preconditioning import (
    Factors,
    Reparameterized,
    adapt_U,
    estimated_kronecker,
    kronecker_sgd,
    layer_moments,
    merge,
    only_U,
    precondition,
    reparameterize,
    trainable,
    transport,
    whitening_factors,
)
from rankone.preconditioning.kronecker import kronecker_preconditioner
from rankone.theory.commutation import (
    LINEAR,
    NOT_LINEAR,
    change_factors,
    commuting_linear_rules,
    descend,
    descend_on_U,
    gap,
    scale_by_polar,
    scale_by_shampoo,
)

M = 4
N = 6
STEPS = 200


pytestmark = pytest.mark.usefixtures("x64")


def normal(seed, *shape):
    # in double precision, even before x64 is switched on
    return np.random.default_rng(seed).normal(size=shape)


def orthogonal(seed, size):
    return np.linalg.qr(normal(seed, size, size))[0]


X = normal(20, 50, N)
Y = normal(21, 50, M)


def loss(W):
    """Not quadratic, not symmetric between entries, and bounded below."""
    return jnp.mean(jnp.logaddexp(0, X @ W.T) - 0.3 * Y * jnp.tanh(X @ W.T))


slope = jax.jit(jax.grad(loss))


# --- a network of linear layers


def network(seed=0):
    keys = iter(range(seed, seed + 9))

    def layer(m, n, bias):
        return Dense.from_augmented(normal(next(keys), m, n + bias) / n**0.5, bias=bias)

    return {"first": [layer(7, N, True), layer(5, 7, False)], "last": layer(M, 5, True)}


def factors():
    """Factors of the first layer and of the last; a third layer has none."""
    return {
        "first": [Factors(normal(31, 7, 7) / 3, normal(32, N + 1, N + 1) / 3), None],
        "last": Factors(normal(33, M, 6) / 3, normal(34, 8, 6) / 3),
    }


def net_loss(net, act=lambda x: x):
    h = act(net["first"][1](act(net["first"][0](X))))
    return jnp.mean((net["last"](h) - Y) ** 2)


def train(net, optimizer, steps, objective=net_loss):
    """The path of the merged network, a leading axis for the steps."""

    def step(carry, _):
        net, state = carry
        updates, state = optimizer.update(jax.grad(objective)(net), state, net)
        net = optax.apply_updates(net, updates)
        return (net, state), merge(net)

    return jax.lax.scan(step, (net, optimizer.init(net)), length=steps)[1]


def largest(one, other):
    leaves = (map(np.asarray, jax.tree.leaves(net)) for net in (one, other))
    return max(np.abs(a - b).max() for a, b in zip(*leaves, strict=True))


@pytest.mark.parametrize("activation", [lambda x: x, jnp.tanh], ids=["linear", "tanh"])
@pytest.mark.parametrize(
    "momentum", [{}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True}], ids=str
)
def test_a_network_takes_the_path_of_plain_training_of_U(activation, momentum):
    @jax.jit
    def paths(net, pairs):
        go = partial(train, steps=100, objective=lambda net: net_loss(net, activation))
        plain = go(reparameterize(net, pairs), only_U(optax.sgd(0.05, **momentum)))
        ours = go(net, kronecker_sgd(0.05, pairs, **momentum))
        return plain, ours, go(net, optax.sgd(0.05, **momentum))

    plain, ours, without = paths(network(), factors())
    assert largest(plain, ours) < 1e-10
    # factors matter
    assert (
        largest(
            *(
                jax.tree.map(lambda leaf: np.asarray(leaf)[-1], path)
                for path in (without, ours)
            )
        )
        > 1e-2
    )


def test_the_fixed_factors_and_the_anchor_get_zero_updates():
    net = reparameterize(network(), factors(), anchor=True)
    mask = trainable(net)
    assert mask["last"].U is True
    assert (mask["last"].T, mask["last"].V, mask["last"].W0) == (False, False, False)
    assert mask["first"][1].W is True
    optimizer = only_U(optax.adam(0.1))
    ones = jax.tree.map(np.ones_like, net)
    updates, _ = jax.jit(optimizer.update)(ones, optimizer.init(net), net)
    assert all(
        np.abs(part).max() == 0
        for part in (updates["last"].T, updates["last"].V, updates["last"].W0)
    )
    assert np.abs(updates["last"].U).max() > 0


def test_plain_matrices_and_transposed_layouts_work_too():
    # a library that stores Wᵀ
    T = normal(1, M, M)
    V = normal(2, N, N)
    kernel = normal(3, N, M)
    flipped = precondition({"kernel": Factors(V.T, T.T), "bias": None})
    params = {"kernel": kernel, "bias": np.ones(M)}
    updates, _ = flipped.update(params, flipped.init(params))
    np.testing.assert_allclose(
        np.asarray(updates["kernel"]).T, T @ T.T @ kernel.T @ V.T @ V, atol=1e-11
    )
    np.testing.assert_array_equal(updates["bias"], params["bias"])


def test_factors_that_do_not_fit_are_refused():
    with refused(ValueError, match=r"^factors:"):
        precondition({"W": Factors(np.eye(3), np.eye(3))}).init({"W": np.ones((3, 4))})


# --- methods that commute

T_GENERAL = normal(1, M, M) / 2
V_GENERAL = normal(2, N, N) / 2
U0 = normal(3, M, N)


def run(optimizer, T=T_GENERAL, V=V_GENERAL, **options):
    return float(gap(loss, U0, T, V, optimizer, steps=STEPS, **options))


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("order", ["gradient", "update"])
def test_linear_methods_commute_with_any_factors(name, order):
    assert run(LINEAR[name], order=order) < 1e-10
    assert run(LINEAR[name], order="none") > 0.1  # without P they do not commute


def test_the_average_of_the_iterates_commutes():
    @jax.jit
    def paths(U, T, V):
        P = kronecker_preconditioner(T, V)
        on_W = descend(loss, T @ U @ V, LINEAR["heavy"], steps=STEPS, before=P.apply)
        return descend_on_U(loss, U, T, V, LINEAR["heavy"], steps=STEPS), on_W

    on_U, on_W = paths(U0, T_GENERAL, V_GENERAL)
    np.testing.assert_allclose(np.mean(on_U, axis=0), np.mean(on_W, axis=0), atol=1e-10)


@pytest.mark.parametrize(
    "optimizer", [optax.adam(0.05), optax.rmsprop(0.05), optax.sign_sgd(0.05)]
)
@pytest.mark.parametrize("order", ["gradient", "update"])
def test_entrywise_methods_do_not_commute(optimizer, order):
    assert run(optimizer, order=order) > 0.1


def test_adam_does_not_commute_even_with_orthogonal_factors():
    T = orthogonal(1, M)
    V = orthogonal(2, N)
    np.testing.assert_allclose(
        kronecker_preconditioner(T, V).to_dense(), np.eye(M * N), atol=1e-12
    )
    assert run(optax.adam(0.05), T, V, order="none") > 0.1


def test_adam_commutes_with_signed_permutations():
    signs = np.where(np.arange(M) % 2, 1.0, -1.0)
    T = np.eye(M)[::-1] * signs
    V = np.roll(np.eye(N), 2, 0)
    assert run(optax.adam(0.05), T, V, order="none") < 1e-12


def test_adam_with_diagonal_factors_is_adam_with_entrywise_rates():
    t = np.exp(normal(5, M) / 3)
    v = np.exp(normal(6, N) / 3)
    adam = optax.adam(0.05, eps=0.0)
    on_U = descend_on_U(loss, U0, np.diag(t), np.diag(v), adam, steps=STEPS)

    def rates(update):
        return t[:, None] * update * v[None]

    on_W = descend(loss, t[:, None] * U0 * v, adam, steps=STEPS, after=rates)
    np.testing.assert_allclose(on_U, on_W, atol=1e-10)


@pytest.mark.parametrize("name", ["muon", "shampoo"])
def test_muon_and_shampoo_commute_with_rotations_only(name):
    optimizer = NOT_LINEAR[name]
    assert run(optimizer, orthogonal(1, M), orthogonal(2, N), order="none") < 1e-7
    for order in ("gradient", "update", "none"):
        assert run(optimizer, order=order) > 0.05


def test_polar_factor_is_what_muon_iterates_to():
    G = normal(7, M, N)
    update = np.asarray(jax.jit(scale_by_polar().update)(G, optax.EmptyState())[0])
    np.testing.assert_allclose(update @ update.T, np.eye(M), atol=1e-12)
    muon = optax.contrib.muon(
        1.0,
        beta=0.0,
        nesterov=False,
        weight_decay=0.0,
        ns_steps=30,
        ns_coeffs=(1.5, -0.5, 0.0),
    )
    theirs, _ = jax.jit(muon.update)(G, muon.init(G), G)
    cosine = -np.vdot(theirs, update) / np.linalg.norm(theirs) / np.linalg.norm(update)
    assert cosine == pytest.approx(1, abs=1e-8)


def test_the_first_step_of_shampoo_is_the_polar_factor():
    """Without damping L = GGᵀ and R = GᵀG, so that the roots remove Σ: UΣV* becomes
    UV*.
    """
    G = normal(7, M, M)
    shampoo = scale_by_shampoo(1e-14)
    update = jax.jit(shampoo.update)(G, shampoo.init(G))[0]
    left, _, right = np.linalg.svd(G)
    np.testing.assert_allclose(update, left @ right, atol=1e-9)


def test_newtons_step_is_the_same_in_both_coordinates():
    def flat(W):
        return loss(W.reshape(M, N))

    def quadratic(w):
        return flat(w) + 0.5 * w @ w

    J = np.kron(T_GENERAL, V_GENERAL.T)
    w = (T_GENERAL @ U0 @ V_GENERAL).ravel()
    H, g = map(
        np.asarray,
        jax.jit(lambda w: (jax.hessian(quadratic)(w), jax.grad(quadratic)(w)))(w),
    )
    of_U = jax.jit(jax.hessian(lambda u: quadratic(J @ u)))(U0.ravel())
    np.testing.assert_allclose(of_U, J.T @ H @ J, atol=1e-10)
    np.testing.assert_allclose(
        J @ np.linalg.solve(of_U, J.T @ g), np.linalg.solve(H, g), atol=1e-8
    )


def test_among_linear_rules_only_multiples_of_the_gradient_commute_with_all_factors():
    pairs = [(normal(seed, 2, 2), normal(seed + 50, 3, 3)) for seed in (1, 2)]
    assert commuting_linear_rules(pairs) == 1
    # one rate for every entry
    assert (
        commuting_linear_rules([(np.diag([1.0, 2.0]), np.diag([1.0, 3.0, 7.0]))]) == 6
    )
    assert commuting_linear_rules([(np.eye(2), np.eye(3))]) == 36
    # Where B = Aᵀ in every pair, the transpose commutes too: (AGAᵀ)ᵀ = AGᵀAᵀ.
    assert (
        commuting_linear_rules(
            [(A, A.T) for A in (normal(seed, 2, 2) for seed in (1, 2, 3))]
        )
        == 2
    )


def test_a_rule_with_memory_that_is_not_linear_can_commute():
    def rule(first, second):
        return first @ np.linalg.inv(second) @ first

    first, second, A, B = (normal(seed, 3, 3) for seed in range(4))
    np.testing.assert_allclose(
        rule(A @ first @ B, A @ second @ B), A @ rule(first, second) @ B, atol=1e-8
    )
    assert (
        np.abs(
            rule(first, second + first) - rule(first, second) - rule(first, first)
        ).max()
        > 0.1
    )


# --- weight decay


def test_weight_decay_of_U_decays_W_with_an_inverse_P_penalty():
    rate = 0.1
    decay = 0.3
    P = kronecker_preconditioner(T_GENERAL, V_GENERAL)

    def penalised(U):
        return loss(T_GENERAL @ U @ V_GENERAL) + decay / 2 * jnp.sum(U**2)

    on_U = (
        T_GENERAL
        @ np.asarray(descend(penalised, U0, optax.sgd(rate), steps=STEPS))
        @ V_GENERAL
    )
    W = T_GENERAL @ U0 @ V_GENERAL
    for expected in on_U:
        np.testing.assert_allclose(W, expected, atol=1e-10)
        W = (1 - rate * decay) * W - rate * np.asarray(P.apply(slope(W)))
    w = np.ravel(T_GENERAL @ U0 @ V_GENERAL, order="F")
    assert np.sum(U0**2) == pytest.approx(
        float(w @ np.linalg.pinv(P.to_dense()) @ w), rel=1e-9
    )


def test_a_penalty_on_W_differs_from_multiplicative_decay():
    P = kronecker_preconditioner(T_GENERAL, V_GENERAL)
    decay = 0.3

    def penalised(W):
        return loss(W) + decay / 2 * jnp.sum(W**2)

    start = T_GENERAL @ U0 @ V_GENERAL
    penalty = descend(penalised, start, optax.sgd(0.1), steps=STEPS, before=P.apply)

    def decayed(U):
        return loss(T_GENERAL @ U @ V_GENERAL) + decay / 2 * jnp.sum(U**2)

    multiplicative = (
        T_GENERAL
        @ np.asarray(descend(decayed, U0, optax.sgd(0.1), steps=STEPS))
        @ V_GENERAL
    )
    assert np.abs(penalty - multiplicative).max() > 0.05


# --- changing T and V during training


def test_momentum_must_be_transported_when_the_factors_change():
    old = Factors(T_GENERAL, V_GENERAL)
    new = Factors(normal(8, M, M) / 2, normal(9, N, N) / 2)
    W = old.T @ U0 @ old.V
    velocity = np.zeros((M, N))
    rate = 0.1
    U = U0
    m_U = np.zeros((M, N))
    U_plain = U0
    m_plain = np.zeros((M, N))
    slope_of_U = jax.jit(jax.grad(lambda U, pair: loss(pair.T @ U @ pair.V)))
    pair = old
    for t in range(60):
        if t == 30:
            pair = new
            raw = Reparameterized.from_weight(old.T @ U @ old.V, *new)
            assert np.abs(new.T @ U @ new.V - W).max() > 0.5  # with the old U, W jumps
            np.testing.assert_allclose(raw.W, W, atol=1e-10)
            U = U_plain = np.asarray(raw.U)
            m_plain = m_U
            m_U = np.asarray(transport(m_U, old, new))
        velocity = 0.9 * velocity + np.asarray(slope(W))
        W = W - rate * np.asarray(kronecker_preconditioner(*pair).apply(velocity))
        m_U = 0.9 * m_U + np.asarray(slope_of_U(U, pair))
        m_plain = 0.9 * m_plain + np.asarray(slope_of_U(U_plain, pair))
        U = U - rate * m_U
        U_plain = U_plain - rate * m_plain
    np.testing.assert_allclose(new.T @ U @ new.V, W, atol=1e-9)
    assert np.abs(new.T @ U_plain @ new.V - W).max() > 0.05
    # the same three results, computed by the package
    ends = change_factors(loss, U0, old, new, rate=rate, steps=30)
    for result, expected in zip(
        ends, (W, new.T @ U @ new.V, new.T @ U_plain @ new.V), strict=True
    ):
        np.testing.assert_allclose(result, expected, atol=1e-9)


# --- estimated factors


def losses(net):
    return 0.5 * jnp.sum(
        (net["last"](net["first"][1](net["first"][0](X))) - Y) ** 2, -1
    )


def test_the_estimated_transformation_preconditions_with_its_moving_moments():
    net = network()
    optimizer = estimated_kronecker(decay=0.5, damping=1e-2, every=2)
    state = optimizer.init(net)
    first = jax.tree.map(
        np.asarray, jax.jit(lambda net: layer_moments(losses, net))(net)
    )
    gradients = jax.jit(jax.grad(lambda n: losses(n).mean()))(net)
    update = jax.jit(optimizer.update)
    updates, state = update(gradients, state, net, moments=first)
    expected = kronecker_preconditioner(
        *whitening_factors(first["last"], damping=1e-2)
    ).apply(gradients["last"].augmented)
    np.testing.assert_allclose(updates["last"].augmented, expected, atol=1e-10)
    second = jax.tree.map(lambda moment: 2 * moment, first)
    updates, state = update(gradients, state, net, moments=second)  # not yet refreshed
    np.testing.assert_allclose(updates["last"].augmented, expected, atol=1e-10)
    updates, state = update(gradients, state, net, moments=second)
    mean = jax.tree.map(
        lambda moment: (0.125 + 2 * (0.25 + 0.5)) / 0.875 * moment, first
    )
    expected = kronecker_preconditioner(
        *whitening_factors(mean["last"], damping=1e-2)
    ).apply(gradients["last"].augmented)
    np.testing.assert_allclose(updates["last"].augmented, expected, atol=1e-10)
    with refused(ValueError, match="moments"):
        optimizer.update(gradients, state, net)


def test_inner_steps_move_U_alone_and_carry_gradients_to_the_factors():
    @jax.jit
    def run(dense, pairs):
        net = reparameterize(dense, pairs)
        adapted = adapt_U(net, net_loss, learning_rate=0.05, steps=3)
        by_hand = train(net, only_U(optax.sgd(0.05)), 3)
        outer = jax.grad(lambda n: net_loss(adapt_U(n, net_loss, learning_rate=0.05)))(
            net
        )
        return (
            net,
            adapted,
            net_loss(adapted) < net_loss(net),
            merge(adapted),
            by_hand,
            outer,
        )

    net, adapted, lower, merged, by_hand, outer = run(network(), factors())
    assert lower
    np.testing.assert_array_equal(adapted["last"].T, net["last"].T)
    assert (
        largest(merged, jax.tree.map(lambda leaf: np.asarray(leaf)[-1], by_hand))
        < 1e-12
    )
    assert np.abs(outer["last"].T).max() > 1e-4
