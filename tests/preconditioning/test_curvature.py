"""Moments of the arrays of any network, and preconditioning with them: equinox, flax
(both APIs), plain pytrees.
"""

import equinox as eqx
import flax.linen
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx
from refusals import refused

from rankone.nn import Dense
from rankone.preconditioning import (
    Moments,
    TransposedMoments,
    estimated_kronecker,
    kronecker_preconditioner,
    layer_moments,
    skipped,
    whitening_factors,
)

pytestmark = pytest.mark.usefixtures("x64")


rng = np.random.default_rng(0)
X = rng.normal(size=(30, 5))
Y = rng.normal(size=(30, 3))
W1 = rng.normal(size=(4, 5))
W2 = rng.normal(size=(3, 4))
B1 = rng.normal(size=4)
B2 = rng.normal(size=3)


def squares(outputs):
    return 0.5 * ((outputs - Y) ** 2).sum(-1)


class Linen(flax.linen.Module):
    @flax.linen.compact
    def __call__(self, x):
        x = jnp.tanh(flax.linen.Dense(4, param_dtype=float)(x))
        return flax.linen.Dense(3, param_dtype=float)(x)


class Nnx(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(5, 4, rngs=rngs, param_dtype=float)
        self.last = nnx.Linear(4, 3, rngs=rngs, param_dtype=float)

    def __call__(self, x):
        return self.last(jnp.tanh(self.first(x)))


def equinox_model():
    model = eqx.filter_eval_shape(
        eqx.nn.MLP, 5, 3, 4, 1, activation=jnp.tanh, key=jax.random.key(0)
    )

    def arrays(m):
        return [a for layer in m.layers for a in (layer.weight, layer.bias)]

    model = eqx.tree_at(arrays, model, list(map(jnp.asarray, (W1, B1, W2, B2))))
    return model, lambda m: squares(jax.vmap(m)(X)), [0, 1, 2, 3]


KERNELS = (B1, W1.T, B2, W2.T)  # as flax orders them


def nnx_state():
    graph, state = nnx.split(nnx.eval_shape(lambda: Nnx(nnx.Rngs(0))))
    state = jax.tree.unflatten(jax.tree.structure(state), map(jnp.asarray, KERNELS))
    return state, lambda s: squares(nnx.merge(graph, s)(X)), [1, 0, 3, 2]


def linen_parameters():
    b1, w1, b2, w2 = map(jnp.asarray, KERNELS)
    parameters = {
        "Dense_0": {"kernel": w1, "bias": b1},
        "Dense_1": {"kernel": w2, "bias": b2},
    }
    return parameters, lambda p: squares(Linen().apply({"params": p}, X)), [1, 0, 3, 2]


def plain_pytree():
    def losses(p):
        return squares(jnp.tanh(X @ p[0][0].T + p[0][1]) @ p[1][0].T + p[1][1])

    return jax.tree.map(jnp.asarray, [(W1, B1), (W2, B2)]), losses, [0, 1, 2, 3]


# Each entry has the same function with the same parameters, and the order of W1, B1,
# W2, B2 among them.
NETWORKS = {
    "equinox": equinox_model,
    "flax nnx": nnx_state,
    "flax linen": linen_parameters,
    "plain": plain_pytree,
}


def by_hand():
    h = np.tanh(X @ W1.T + B1)
    delta2 = h @ W2.T + B2 - Y
    delta1 = delta2 @ W2 * (1 - h**2)
    one = np.ones((30, 1))
    return [
        (i.T @ i / 30, d.T @ d / 30)
        for i, d in ((X, delta1), (one, delta1), (h, delta2), (one, delta2))
    ]


def nodes(moments):
    return jax.tree.leaves(moments, is_leaf=lambda node: isinstance(node, Moments))


@pytest.mark.parametrize("name", NETWORKS)
def test_layer_moments_equal_hand_values_for_every_library(name):
    network, losses, order = NETWORKS[name]()
    arrays, rest = eqx.partition(network, eqx.is_array)
    moments = jax.jit(lambda arrays: layer_moments(losses, eqx.combine(arrays, rest)))(
        arrays
    )
    blocks = [nodes(moments)[i] for i in order]
    for moment, (A, D) in zip(blocks, by_hand(), strict=True):
        np.testing.assert_allclose(moment.inputs, A, atol=1e-12)
        np.testing.assert_allclose(moment.outputs, D, atol=1e-12)
    types = {TransposedMoments} if name.startswith("flax") else {Moments}
    assert {type(blocks[0]), type(blocks[2])} == types


@pytest.mark.parametrize("name", NETWORKS)
def test_estimated_factors_train_a_network_of_any_library(name):
    """The path of W and b does not depend on the library, nor on its layout of W; the
    loss falls.
    """
    network, losses, order = NETWORKS[name]()
    arrays, rest = eqx.partition(network, eqx.is_array)

    def loss(arrays):
        return losses(eqx.combine(arrays, rest)).mean()

    optimizer = optax.chain(
        estimated_kronecker(damping=1e-2, sides="both"), optax.sgd(0.1)
    )

    @jax.jit
    def step(arrays, state):
        value, slope = jax.value_and_grad(loss)(arrays)
        moments = layer_moments(losses, eqx.combine(arrays, rest))
        updates, state = optimizer.update(slope, state, arrays, moments=moments)
        return optax.apply_updates(arrays, updates), state, value

    state = optimizer.init(arrays)
    values = []
    for _ in range(20):
        arrays, state, value = step(arrays, state)
        values.append(value)
    assert values[-1] < 0.6 * values[0]
    leaves = jax.tree.leaves(arrays)
    path = [
        leaves[i].T if leaves[i].shape in ((5, 4), (4, 3)) else leaves[i] for i in order
    ]
    for result, expected in zip(path, reference(), strict=True):
        np.testing.assert_allclose(result, expected, atol=1e-9)


def reference():
    """The same twenty steps in numpy."""
    W = [W1, B1[:, None], W2, B2[:, None]]
    total = [(0.0, 0.0)] * 4
    weight = 0.0
    for _ in range(20):
        h = np.tanh(X @ W[0].T + W[1][:, 0])
        delta2 = h @ W[2].T + W[3][:, 0] - Y
        delta1 = delta2 @ W[2] * (1 - h**2)
        weight = 0.95 * weight + 0.05
        one = np.ones((30, 1))
        for n, (i, d) in enumerate(
            [(X, delta1), (one, delta1), (h, delta2), (one, delta2)]
        ):
            A, D = total[n] = (
                0.95 * total[n][0] + 0.05 * i.T @ i / 30,
                0.95 * total[n][1] + 0.05 * d.T @ d / 30,
            )
            pi = np.sqrt((np.trace(A) / len(A)) / (np.trace(D) / len(D)))
            A = A / weight
            D = D / weight
            A = A + pi * 0.1 * np.eye(len(A))
            D = D + 0.1 / pi * np.eye(len(D))
            W[n] = W[n] - 0.1 * np.linalg.solve(D, d.T @ i / 30) @ np.linalg.inv(A)
    return [W[0], W[1][:, 0], W[2], W[3][:, 0]]


def test_sides_input_preconditions_the_input_side_in_either_layout():
    gradient = rng.normal(size=(4, 5))
    moment = Moments(*(m @ m.T for m in (W1.T @ W1 + np.eye(5), np.eye(4))))
    optimizer = estimated_kronecker(sides="input", damping=0.1)
    for G, M in ((gradient, moment), (gradient.T, TransposedMoments(*moment))):
        update, _ = jax.jit(optimizer.update)(
            G, optimizer.init(jnp.asarray(G)), moments=M
        )
        expected = kronecker_preconditioner(
            *whitening_factors(moment, damping=0.1, sides="input")
        ).apply(gradient)
        np.testing.assert_allclose(
            update if G is gradient else update.T, expected, rtol=1e-9
        )


class Picture(eqx.Module):
    table: eqx.nn.Embedding
    convolution: eqx.nn.Conv1d
    norm: eqx.nn.LayerNorm
    tied: eqx.nn.Linear
    looped: eqx.nn.Linear
    head: eqx.nn.Linear
    idle: jax.Array

    def __init__(self, key):
        keys = jax.random.split(key, 5)
        self.table = eqx.nn.Embedding(7, 4, key=keys[0])
        self.convolution = eqx.nn.Conv1d(2, 2, 3, padding=1, key=keys[1])
        self.norm = eqx.nn.LayerNorm(4)
        self.idle = jnp.ones(2)
        self.tied, self.looped = (
            eqx.nn.Linear(4, 4, use_bias=False, key=k) for k in keys[2:4]
        )
        self.head = eqx.nn.Linear(8, 3, key=keys[4])

    def __call__(self, tokens):
        x = (
            self.norm.weight * self.convolution(jax.vmap(self.table)(tokens))
            + self.norm.bias
        )
        x = jax.vmap(self.tied)(jnp.tanh(jax.vmap(self.tied)(x)))
        x, _ = jax.lax.scan(lambda x, _: (jax.vmap(self.looped)(x), None), x, length=2)
        return self.head(x.ravel())


def test_arrays_without_moments_are_listed_with_a_reason_and_keep_their_gradient():
    shapes = eqx.filter_eval_shape(Picture, jax.random.key(0))
    tokens = rng.integers(0, 7, (30, 2))

    def random(leaf):
        return jnp.asarray(rng.normal(size=leaf.shape))

    model = jax.tree.map(
        lambda leaf: random(leaf) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf,
        shapes,
    )

    def losses(m):
        return squares(jax.vmap(m)(tokens))

    moments = jax.jit(lambda arrays: layer_moments(losses, eqx.combine(arrays, model)))(
        eqx.filter(model, eqx.is_array)
    )
    assert skipped(moments) == {
        ".table.weight": "a table that is looked up, as an embedding is",
        ".convolution.weight": "a convolution",
        ".convolution.bias": "used by the operation add",  # its shape is (2, 1)
        ".norm.weight": "a factor of single entries, as the scale of a normalisation is",
        ".tied.weight": "used 2 times",
        ".looped.weight": "used inside a scan",
        ".idle": "not used by the losses",
    }
    arrays = eqx.filter(model, eqx.is_array)
    slope = eqx.filter_jit(eqx.filter_grad(lambda m: losses(m).mean()))(model)
    optimizer = estimated_kronecker()
    updates, _ = jax.jit(optimizer.update)(
        slope, optimizer.init(arrays), moments=moments
    )
    np.testing.assert_array_equal(updates.table.weight, slope.table.weight)
    np.testing.assert_array_equal(updates.convolution.weight, slope.convolution.weight)
    assert np.abs(updates.head.weight - slope.head.weight).max() > 0.01


def test_arrays_with_an_axis_longer_than_largest_get_no_moments():
    optimizer = estimated_kronecker(largest=4)
    state = optimizer.init(
        {"wide": jnp.ones((3, 5)), "small": jnp.ones((3, 4)), "scale": jnp.ones(())}
    )
    # in the order scale, small, wide
    assert [moving is None for moving in state.moments] == [
        True,
        False,
        True,
    ]


def test_a_dense_layer_beside_a_plain_array_has_weight_and_bias_blocks():
    network = {"ours": Dense(W1, B1), "theirs": jnp.asarray(W2)}

    def losses(n):
        return squares(jnp.tanh(n["ours"](X)) @ n["theirs"].T)

    moments = jax.jit(lambda net: layer_moments(losses, net))(network)
    np.testing.assert_allclose(moments["ours"].W.inputs, X.T @ X / 30, atol=1e-12)
    np.testing.assert_array_equal(moments["ours"].b.inputs, [[1.0]])


def test_a_network_without_any_moments_says_why():
    with refused(
        ValueError, match=r"^network: got no array .*; it must be .*: used 2 times\.$"
    ):
        layer_moments(lambda W: ((X @ W.T @ W.T) ** 2).sum(-1), jnp.ones((5, 5)))
    with refused(ValueError, match=r"losses: got .*\(N,\)"):
        layer_moments(
            lambda W: squares(X @ W.T).mean(), jnp.asarray(rng.normal(size=(3, 5)))
        )
