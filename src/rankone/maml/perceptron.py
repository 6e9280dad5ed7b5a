"""Plain ReLU networks whose parameters are stored separately from their shape, with an
optional bias transformation.
"""

import math
from functools import partial
from itertools import pairwise
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from rankone._annotated import checked
from rankone._checks import brief, inputs, integer, random_key
from rankone._module import Module
from rankone.nn import initial_layers, relu_network

__all__ = ["MLP", "width_for"]


class MLP(Module):
    """Architecture of a fully connected ReLU network; its parameters are a separate
    pytree.

    Attributes:
        inputs: Number of entries of an input.
        hidden: Width of each hidden layer, first to last.
        outputs: Number of entries of an output, which is linear in the last hidden
            layer.
        bias_transform: Number of entries of a parameter vector that is appended to
            every input. The network can compute the same functions without it, but a
            gradient step on it changes a bias through a weight matrix [M-appC-phi].

    >>> import jax
    >>> network = MLP(1, (8,))
    >>> params = network.init(jax.random.key(0))
    >>> params["layers"][0]
    Dense(W=f32[8,1], b=f32[8])
    >>> network(params, jax.numpy.ones((3, 1))).shape
    (3, 1)
    """

    inputs: int = eqx.field(static=True)
    hidden: tuple[int, ...] = eqx.field(static=True)
    outputs: int = eqx.field(static=True, default=1)
    bias_transform: int = eqx.field(static=True, default=0)

    def __post_init__(self) -> None:
        if not isinstance(self.hidden, tuple | list):
            raise ValueError(
                f"hidden: got {brief(self.hidden)}; "
                "it must be a tuple of positive widths."
            )
        self.inputs = integer("inputs", self.inputs)
        self.hidden = tuple(
            integer("hidden", width, "a tuple of positive widths")
            for width in self.hidden
        )
        self.outputs = integer("outputs", self.outputs)
        self.bias_transform = integer(
            "bias_transform",
            self.bias_transform,
            "0 (none) or a positive length",
            least=0,
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """Widths of all layers: the input with the bias transformation, the hidden
        layers and the output.
        """
        return (self.inputs + self.bias_transform, *self.hidden, self.outputs)

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.bias_transform + sum(
            fan_in * width + width for fan_in, width in pairwise(self.sizes)
        )

    def init(self, key: Array) -> dict[str, Any]:
        """Random parameters: "layers", from `rankone.nn.initial_layers`, and "bias",
        the bias transformation, which is 0.

        Args:
            key: JAX random key.
        """
        random_key("key", key)
        return _initial(key, self)

    @checked
    @jax.jit
    def __call__(
        self, params: dict[str, Any], x: Float[Array, "*n inputs"]
    ) -> Float[Array, "*n outputs"]:
        """Outputs at the inputs `x`."""
        x = inputs(x, self.inputs)
        bias = params["bias"]
        return relu_network(
            params["layers"],
            jnp.concatenate(
                [x, jnp.broadcast_to(bias, (*x.shape[:-1], len(bias)))], axis=-1
            ),
        )


@partial(jax.jit, static_argnums=1)
def _initial(key: Array, network: MLP) -> dict[str, Any]:
    return {
        "layers": initial_layers(key, network.sizes),
        "bias": jnp.zeros(network.bias_transform),
    }


def width_for(
    size: int, depth: int, *, inputs: int, outputs: int = 1, bias_transform: int = 0
) -> int:
    """Width of `depth` equal hidden layers with which an `MLP` comes closest to `size`
    parameters [M-fig5].

    Args:
        size: Number of parameters to come closest to.
        depth: Number of hidden layers.
        inputs: Number of entries of an input.
        outputs: Number of entries of an output.
        bias_transform: Length of the bias transformation.
    """
    depth = integer("depth", depth)
    size = integer("size", size)
    net = MLP(inputs, (1,) * depth, outputs, bias_transform)
    # size(w) = (depth−1) w² + (inputs + bias_transform + outputs + depth) w + outputs +
    # bias_transform
    a = depth - 1
    b = net.sizes[0] + net.outputs + depth
    c = net.outputs + net.bias_transform - size
    root = -c / b if a == 0 else (math.sqrt(b * b - 4 * a * c) - b) / (2 * a)

    def miss(width: int) -> int:
        return abs(MLP(inputs, (width,) * depth, outputs, bias_transform).size - size)

    return min(range(max(1, math.floor(root)), max(1, math.floor(root)) + 2), key=miss)
