"""An ordinary ReLU network, one plain gradient step on every parameter of it, and what it predicts."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import check, is_traced

__all__ = ["Layer", "Network", "activations", "adapt", "loss", "predict"]

# Products in full precision: some accelerators round float32 factors to ten bits unless told not to.
_matmul = partial(jnp.matmul, precision=jax.lax.Precision.HIGHEST)


@partial(jax.tree_util.register_dataclass, data_fields=["weight", "bias"], meta_fields=[])
@dataclass(frozen=True)
class Layer:
    """One dense layer, or a stack of n layers of equal shape, which are applied first to last.

    Attributes:
        weight: (out, in), or (n, width, width) for a stack.
        bias: (out,) or (n, width); None for a layer without.
    """

    weight: Float[Array, "*n out in"]
    bias: Float[Array, "*n out"] | None = None

    @property
    def depth(self) -> int:
        """Number of layers."""
        return len(self.weight) if self.weight.ndim == 3 else 1

    def __call__(self, h: Array) -> Array:
        """Pre-activation of one layer (not of a stack) at h (..., in)."""
        out = _matmul(h, self.weight.T)
        return out if self.bias is None else out + self.bias


@partial(jax.tree_util.register_dataclass, data_fields=["switch", "layers"], meta_fields=["alpha", "channels", "start"])
@dataclass(frozen=True)
class Network:
    """A fully connected ReLU network with a linear output, of the input [x, θ_b] [M-fig1, M-def].

    Its leaves are its parameters, all trainable: `jax.tree.map(lambda p, g: p - alpha * g, network, gradient)` is a
    step of gradient descent. Layers of equal shape are kept as one stack, so that depth costs no compilation.

    Attributes:
        switch: θ_b, the inputs that are parameters (s,); s is 1, or 0 for a network that needs none.
        layers: Hidden layers and the linear output layer, first to last.
        alpha: The step size for which the weights were chosen: the initialisation encodes it.
        channels: Widths of the forward, the written and the switch channel of a stack; None without stacks.
        start: Prediction before the step, below all targets.
    """

    switch: Float[Array, " s"]
    layers: tuple[Layer, ...]
    alpha: float
    channels: tuple[int, int, int] | None = None
    start: float = 0.0

    @property
    def depth(self) -> int:
        """Number of weight layers, output included."""
        return sum(layer.depth for layer in self.layers)

    @property
    def size(self) -> int:
        """Number of parameters."""
        return sum(leaf.size for leaf in jax.tree.leaves(self))

    @property
    def dtype(self) -> Any:
        """Of all parameters."""
        return self.layers[0].weight.dtype

    def input(self, x: Array) -> Array:
        """[x, θ_b]: x (...) -> (..., 1 + s)."""
        return jnp.concatenate([x[..., None], jnp.broadcast_to(self.switch, (*x.shape, *self.switch.shape))], -1)


def forward(network: Network, x: Array) -> tuple[Array, tuple[Array, ...]]:
    """Output (...) at x (...), and the hidden activations, those of a stack in one array (n, ..., width)."""
    h, hidden = network.input(x), []
    for layer in network.layers[:-1]:
        if layer.weight.ndim == 2:
            h = jax.nn.relu(layer(h))
            hidden.append(h)
        else:
            h, inside = jax.lax.scan(lambda h, one: (jax.nn.relu(one(h)),) * 2, h, layer)
            hidden.append(inside)
    return network.layers[-1](h)[..., 0], tuple(hidden)


_forward = jax.jit(forward)


def loss(network: Network, x: Array, y: Array) -> Array:
    """Half the mean squared error over the shots x (k,), y (k,)."""
    return 0.5 * jnp.mean((forward(network, x)[0] - y) ** 2)


def adapt(network: Network, x: ArrayLike, y: ArrayLike, alpha: ArrayLike | None = None) -> Network:
    r"""One plain gradient step on every parameter: $\theta'=\theta-\alpha\nabla_\theta\mathcal L$ [M-def].

    The gradient is `jax.grad`'s of $\frac12(\hat f(x;\theta)-y)^2$, with `jax.nn.relu` and no other convention at the
    kink. Over k shots the error is a mean, so each writes a k-th of its own [M-kshot]. `jax.vmap` over x and y adapts
    one copy a task; `learn` does that without keeping the copies.

    Args:
        network: From `universal_learner`.
        x: Training input in [0, 1]: a scalar, or k shots (k,).
        y: Its value, finite; of the same shape.
        alpha: Step size; by default the one that the network was built for.

    Returns:
        The network after the step.

    Raises:
        ValueError: If a shape does not fit, or a number is out of range.
    """
    x, y, alpha = shots(network, x, y, alpha)
    return _adapt(network, x, y, alpha)


@jax.jit
def _adapt(network: Network, x: Array, y: Array, alpha: Array) -> Network:
    gradient = jax.grad(loss)(network, x, y)
    return jax.tree.map(lambda p, g: p - (alpha * g).astype(p.dtype), network, gradient)


def predict(network: Any, x_star: ArrayLike) -> Array:
    """Output of the network, or of a `RankOneStep`, at x_star in [0, 1]: a scalar or an array, of the same shape."""
    return _output(network, unit("x_star", x_star, _dtype(network)))


@jax.jit
def _output(network: Any, x: Array) -> Array:
    return network.output(x) if hasattr(network, "output") else forward(network, x)[0]


def activations(network: Network, x: ArrayLike) -> tuple[Array, ...]:
    """Hidden activations at x (...), layer by layer; those of a stack in one array (n, ..., width)."""
    return _forward(network, unit("x", x, network.dtype))[1]


def _array(name: str, value: ArrayLike, dtype: Any) -> Array:
    """`value` as an array of `dtype`, converted on the host unless it is traced."""
    try:
        return jnp.asarray(value if is_traced(value) else np.asarray(value, dtype), dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: got {value!r:.99}; it must be a real number, or an array of them.") from error


def _dtype(network: Any) -> Any:
    check(hasattr(network, "dtype"), "network", type(network), "a network, such as universal_learner makes")
    return network.dtype


def unit(name: str, value: ArrayLike, dtype: Any) -> Array:
    """`value` as an array of `dtype` with entries in [0, 1]."""
    out = _array(name, value, dtype)
    if not is_traced(out):
        numbers = np.asarray(out)
        check(bool(((numbers >= 0) & (numbers <= 1)).all()), name, value, "in [0, 1]: rescale your inputs")
    return out


def shots(network: Network, x: ArrayLike, y: ArrayLike, alpha: ArrayLike | None) -> tuple[Array, Array, Array]:
    """Checked shots (k,) and (k,), and the step size."""
    x, y = jnp.atleast_1d(unit("x", x, _dtype(network))), jnp.atleast_1d(_array("y", y, network.dtype))
    check(x.ndim == 1 and x.size > 0, "x", f"shape {x.shape}", "a scalar, or shots of shape (k,)")
    check(x.shape == y.shape, "y", f"shape {y.shape}", f"of the shape of x, {x.shape}: one value for each input")
    check(is_traced(y) or bool(np.isfinite(y).all()), "y", "NaN or infinity", "finite")
    step_size = _array("alpha", network.alpha if alpha is None else alpha, network.dtype)
    good = is_traced(step_size) or bool(np.ndim(step_size) == 0 and np.isfinite(step_size) and step_size > 0)
    check(good, "alpha", alpha, f"a positive step size; this network was built for {network.alpha}")
    return x, y, step_size
