"""Plain ReLU networks, with parameters apart from shape, and room for a bias transformation."""

import math
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from rankone._checks import check, random_key

__all__ = ["MLP", "width_for"]


@dataclass(frozen=True)
class MLP:
    """A fully connected ReLU network; its parameters are a pytree of their own.

    Attributes:
        inputs: Entries of an input.
        hidden: Width of each hidden layer, first to last.
        outputs: Entries of an output, which is linear in the last hidden layer.
        bias_transform: Entries of a parameter vector that is joined to every input. It adds nothing to what the
            network can compute, but a gradient step on it moves a bias through a weight matrix [M-appC-phi].
    """

    inputs: int
    hidden: tuple[int, ...]
    outputs: int = 1
    bias_transform: int = 0

    def __post_init__(self) -> None:
        for name in ("inputs", "outputs"):
            check(getattr(self, name) >= 1, name, getattr(self, name), "at least 1")
        check(all(width >= 1 for width in self.hidden), "hidden", self.hidden, "a tuple of positive widths")
        check(self.bias_transform >= 0, "bias_transform", self.bias_transform, "0 (none) or a positive length")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Widths from the input, with the bias transformation, to the output."""
        return (self.inputs + self.bias_transform, *self.hidden, self.outputs)

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.bias_transform + sum(fan_in * width + width for fan_in, width in pairwise(self.sizes))

    def init(self, key: Array) -> dict[str, Any]:
        """Random parameters: weights of variance 2 / fan-in, which keeps the scale through ReLUs; biases 0.

        Args:
            key: JAX random key.
        """
        random_key("key", key)
        keys = jax.random.split(key, len(self.sizes) - 1)
        layers = [_layer(k, *sizes) for k, sizes in zip(keys, pairwise(self.sizes), strict=True)]
        return {"layers": layers, "bias": jnp.zeros(self.bias_transform)}

    def __call__(self, params: dict[str, Any], x: Float[Array, "*n inputs"]) -> Float[Array, "*n outputs"]:
        """Outputs at the inputs `x`."""
        return _outputs(params, x)


@partial(jax.jit, static_argnums=(1, 2))
def _layer(key: Array, m: int, n: int) -> dict[str, Array]:
    return {"W": jax.random.normal(key, (m, n)) * (2 / m) ** 0.5, "b": jnp.zeros(n)}


@jax.jit
def _outputs(params: dict[str, Any], x: Array) -> Array:
    bias, (*hidden, last) = params["bias"], params["layers"]
    h = jnp.concatenate([x, jnp.broadcast_to(bias, (*x.shape[:-1], len(bias)))], axis=-1)
    for layer in hidden:
        h = jax.nn.relu(h @ layer["W"] + layer["b"])
    return h @ last["W"] + last["b"]


def width_for(size: int, depth: int, *, inputs: int, outputs: int = 1, bias_transform: int = 0) -> int:
    """Width of `depth` equal hidden layers with which an `MLP` comes closest to `size` parameters [M-fig5].

    Args:
        size: Number of parameters wanted.
        depth: Number of hidden layers.
        inputs: Entries of an input.
        outputs: Entries of an output.
        bias_transform: Length of the bias transformation.
    """
    check(depth >= 1, "depth", depth, "at least 1 hidden layer")
    check(size >= 1, "size", size, "a positive number of parameters")
    # size(w) = (depth−1) w² + (inputs + bias_transform + outputs + depth) w + outputs + bias_transform
    a, b, c = depth - 1, inputs + bias_transform + outputs + depth, outputs + bias_transform - size
    root = -c / b if a == 0 else (math.sqrt(b * b - 4 * a * c) - b) / (2 * a)

    def miss(width: int) -> int:
        return abs(MLP(inputs, (width,) * depth, outputs, bias_transform).size - size)

    return min(range(max(1, math.floor(root)), max(1, math.floor(root)) + 2), key=miss)
