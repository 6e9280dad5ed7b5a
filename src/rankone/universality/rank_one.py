"""The gradient step in factored form: one rank-one term per layer and shot [M-grad].

The gradient of a layer's W is (1/k) Σ_s a_s b_sᵀ, where b_s is the input of the layer
in shot s and a_s the error at its pre-activation. A stack of n layers of width m then
needs 2nm numbers per shot instead of nm², and predictions after the step do not need
the changed weights. `adapt` is the definition; the tests check that both agree.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float, Real

from rankone._checks import Numbers, brief, numbers
from rankone._module import Module
from rankone.nn import Dense, append_one
from rankone.precision import full_precision
from rankone.universality.network import Network, shots, unit
from rankone.writes import Write

__all__ = ["RankOneStep", "gradient_into", "learn", "rank_one_step", "step"]

# errors (..., k, out) and inputs (..., k, in)
Terms = tuple[Float[Array, "... k _"], Float[Array, "... k _"]]


class RankOneStep(Module):
    """A network and one gradient step on it, not yet applied; `predict` reads it as the
    network after the step.

    Attributes:
        network: Before the step.
        switch: Gradient of θ_b (s,).
        terms: Errors of each layer (..., k, out), divided by the number k of shots, and
            the inputs (..., k, in).
        alpha: Step size.
    """

    network: Network
    switch: Float[Array, " s"]
    terms: tuple[Terms, ...]
    alpha: Float[Array, ""]

    @property
    def dtype(self) -> Any:
        """Data type of all parameters."""
        return self.network.dtype

    @jax.jit
    @full_precision()
    def gradient(self) -> Network:
        """The gradient as a network of the same structure: what `jax.grad` returns."""
        layers = []
        for layer, (a, b) in zip(self.network.layers, self.terms, strict=True):
            layers.append(
                Dense(
                    jnp.swapaxes(a, -1, -2) @ b, None if layer.b is None else a.sum(-2)
                )
            )
        return replace(self.network, switch=self.switch, layers=tuple(layers))

    @jax.jit
    def apply(self) -> Network:
        """The network after the step, in full."""
        return jax.tree.map(
            lambda p, g: p - (self.alpha * g).astype(p.dtype),
            self.network,
            self.gradient(),
        )

    @jax.jit
    def writes(self) -> tuple[Write, ...]:
        """Change of each layer's weights and bias by the step, first to last: −α Σ_s
        a_s [b_s; 1]ᵀ with the errors a_s and the inputs b_s, one column per shot.

        A stack gives one `Write` per layer, and a layer without a bias has no 1. θ_b is
        in no matrix; it changes by −α `switch`.
        """
        entries = []
        for layer, (a, b) in zip(self.network.layers, self.terms, strict=True):
            keys = b if layer.b is None else append_one(b)
            errors, keys = (a, keys) if layer.W.ndim == 3 else (a[None], keys[None])
            entries += [
                Write(-self.alpha * error.T, key.T)
                for error, key in zip(errors, keys, strict=True)
            ]
        return tuple(entries)

    def output(self, x: Real[ArrayLike, "*n"]) -> Float[Array, "*n"]:
        """Output of the network after the step at x (...) -> (...)."""
        return _output(self, numbers("x", x))

    @full_precision()
    def _read(self, hidden: Float[Array, "*n units"]) -> Float[Array, "*n"]:
        """Output of the network after the step, from the `last_hidden` layer
        (..., units) -> (...).
        """
        return _after(self.network.layers[-1], self.terms[-1], self.alpha, hidden)[
            ..., 0
        ]

    def last_hidden(self, x: Real[ArrayLike, "*n"]) -> Float[Array, "*n units"]:
        """Input of the output layer after the step, at x (...) -> (..., units)."""
        return _last_hidden(self, numbers("x", x))


@jax.jit
def _output(step: RankOneStep, x: Array) -> Array:
    return step._read(_last_hidden(step, x))


# jitted, because outside of jit its scan would be compiled at each call
@jax.jit
@full_precision()
def _last_hidden(step: RankOneStep, x: Array) -> Array:
    start_network = replace(
        step.network, switch=step.network.switch - step.alpha * step.switch
    )
    h = start_network.input(x)

    def next_layer(
        h: Array, layer_and_terms: tuple[Dense, Terms]
    ) -> tuple[Array, None]:
        layer, terms = layer_and_terms
        return jax.nn.relu(_after(layer, terms, step.alpha, h)), None

    for layer, terms in zip(start_network.layers[:-1], step.terms[:-1], strict=True):
        if layer.W.ndim == 2:
            h, _ = next_layer(h, (layer, terms))
        else:
            h, _ = jax.lax.scan(next_layer, h, (layer, terms))
    return h


def _after(layer: Dense, terms: Terms, alpha: Array, h: Array) -> Array:
    """Pre-activation after the step: Wh + c − α Σ_s a_s(⟨b_s, h⟩ + 1), the 1 for a
    bias.
    """
    a, b = terms
    bias = 0 if layer.b is None else 1
    if len(a) == 1:  # the vmap of a matrix product compiles more slowly
        weight = (h * jnp.broadcast_to(b[0], h.shape)).sum(-1, keepdims=True) + bias
        out = layer(h)
        return out - alpha * weight * jnp.broadcast_to(a[0], out.shape)
    return layer(h) - (alpha * (h @ b.T + bias)) @ a


def rank_one_step(
    network: Network, x: Numbers, y: Numbers, alpha: ArrayLike | None = None
) -> RankOneStep:
    """`RankOneStep` of `adapt`: the same step, in closed form and not yet applied.
    Arguments and errors are those of `adapt`.
    """
    return _step(network, *shots(network, x, y, alpha))


def gradient_into(old: Network, network: Network, x: Numbers, y: Numbers) -> Network:
    """Gradient along which `adapt` steps, in closed form, written into the memory of an
    old gradient that is no longer needed.

    The gradient of a deep stack takes tens of megabytes. The operating system zeroes
    new memory of that size page by page, which takes longer than everything else.

    Args:
        old: A gradient, or any network of the same structure. Its memory is reused, so
            it must not be read again.
        network: From `universal_learner`.
        x: Training input in [0, 1]: a scalar, or k shots (k,).
        y: Value at x, in the network's `y_range`; of the same shape.

    Raises:
        ValueError: If a shape does not fit, or a number is out of range.
    """
    task_arrays = shots(network, x, y, None)
    (leaves, structure), (new_leaves, new_structure) = map(
        jax.tree.flatten, (old, network)
    )
    structures_match = structure == new_structure  # type: ignore[operator]
    if not structures_match or list(map(jnp.shape, leaves)) != list(
        map(jnp.shape, new_leaves)
    ):
        raise ValueError(
            f"old: got {brief(old)}; it must be of the structure of network."
        )
    deleted = any(getattr(leaf, "is_deleted", bool)() for leaf in leaves)
    if deleted:
        raise ValueError(
            "old: got a gradient whose memory was reused; it must be an unused one."
        )
    return _gradient_into(old, network, *task_arrays)


@partial(jax.jit, donate_argnums=0, keep_unused=True)
def _gradient_into(
    old: Network, network: Network, x: Array, y: Array, alpha: Array
) -> Network:
    return step(network, x, y, alpha).gradient()


@full_precision()
def step(
    network: Network,
    x: Float[Array, " k"],
    y: Float[Array, " k"],
    alpha: Float[Array, ""],
) -> RankOneStep:
    """`RankOneStep` of one forward and one backward pass, with each layer's input b and
    the error a at its pre-activation.
    """
    h = network.input(x)
    inputs = []
    for layer in network.layers[:-1]:
        if layer.W.ndim == 2:
            inputs.append(h)
            h = jax.nn.relu(layer(h))
        else:
            h, activations = jax.lax.scan(
                lambda h, dense: (jax.nn.relu(dense(h)), h), h, layer
            )
            inputs.append(activations)
    a = (network.layers[-1](h) - y[:, None]) / len(x)
    terms = list[Terms]()
    for layer, b in zip(reversed(network.layers), [h, *reversed(inputs)], strict=True):
        if layer.W.ndim == 2:
            terms.insert(0, (a, b))
            a, _ = _back(a, (layer.W, b))
        else:
            a, errors = jax.lax.scan(_back, a, (layer.W, b), reverse=True)
            terms.insert(0, (errors, b))
    switch = (terms[0][0] @ network.layers[0].W)[:, 1:].sum(0)
    return RankOneStep(network, switch, tuple(terms), alpha)


def _back(a: Array, weights_and_input: tuple[Array, Array]) -> tuple[Array, Array]:
    """Error at the layer before from that at a layer's pre-activation, through a ReLU
    with ReLU'(0) = 0.
    """
    W, b = weights_and_input
    return jnp.where(b > 0, a @ W, 0), a


_step = jax.jit(step)


def learn(
    network: Network,
    x: Numbers,
    y: Numbers,
    x_star: Numbers,
    *,
    alpha: ArrayLike | None = None,
) -> Array:
    """Predictions (n, m) at x_star after one step on each of n one-shot tasks, without
    a copy of the network.

    Every layer's gradient has rank one, so a step is stored as two vectors per layer.

    Args:
        network: From `universal_learner`.
        x: Training inputs (n,), one per task.
        y: Values at x (n,), in the network's `y_range`.
        x_star: Points to predict at: (m,) for all tasks, or (n, m), a row per task.
        alpha: Step size; by default the one that the network was built for.

    Raises:
        ValueError: If a shape does not fit, or a number is out of range.
    """
    inputs, values, step_size = shots(network, x, y, alpha)
    points = unit("x_star", x_star, network.dtype)
    fits = points.ndim == 1 or (points.ndim == 2 and len(points) == len(inputs))
    if not fits:
        raise ValueError(
            f"x_star: got shape {points.shape}; "
            f"it must be of shape (m,), or ({len(inputs)}, m): a row for each task."
        )
    return _learn(network, step_size, inputs, values, points)


@jax.jit
def _learn(network: Network, alpha: Array, x: Array, y: Array, x_star: Array) -> Array:
    tasks = x[:, None], y[:, None], jnp.broadcast_to(x_star, (len(x), x_star.shape[-1]))

    def prediction(task: Any) -> Array:
        return step(network, task[0], task[1], alpha).output(task[2])

    return jax.lax.map(prediction, tasks, batch_size=32)
