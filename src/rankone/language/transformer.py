"""A transformer as one frozen pytree of sizes, switches and weights;
`rankone.language.forward` runs it.
"""

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from rankone._annotated import checked
from rankone._checks import array, boolean, brief, choice, integer, positive
from rankone._module import Module

__all__ = ["ACTIVATIONS", "MATRICES", "Config", "Layers", "Network", "random_network"]

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "silu": jax.nn.silu,
    "gelu": partial(jax.nn.gelu, approximate=False),
    "gelu_new": jax.nn.gelu,
    "gelu_pytorch_tanh": jax.nn.gelu,
}
NORMS = ("rms", "layer")
MATRICES = ("query", "key", "value", "output", "gate", "up", "down")
# matrices that can have a bias
_BIASED = {*MATRICES} - {"gate"}
_SIZES = ("layers", "width", "hidden", "heads", "kv_heads", "head_width", "vocabulary")


class Config(Module):
    """Sizes of a network, and the few switches in which llama, mistral, qwen2 and gpt2
    differ; none is traced.

    Attributes:
        layers: Number of blocks.
        width: Length of the residual stream.
        hidden: Length of the keys of the down projection.
        heads: Query heads.
        kv_heads: Key and value heads, each shared by heads/kv_heads query heads.
        head_width: Length of a head.
        vocabulary: Number of tokens.
        frequencies: Angles of the rotary embedding in radians per position
            (head_width/2,); empty where positions are learned.
        epsilon: Number that the norms add to the variance.
        norm: "rms", or "layer" for a norm that subtracts the mean and adds a bias.
        activation: One of `ACTIVATIONS`.
        gated: True if a key is activation(gate) · up, and not activation(up).
        biases: Matrices of a block that have a bias.
        positions: Number of learned positions, which is also the length of the longest
            text; 0 for none.
        window: Number of tokens that attention reads back, the present one included;
            None for all.
    """

    layers: int = eqx.field(static=True)
    width: int = eqx.field(static=True)
    hidden: int = eqx.field(static=True)
    heads: int = eqx.field(static=True)
    kv_heads: int = eqx.field(static=True)
    head_width: int = eqx.field(static=True)
    vocabulary: int = eqx.field(static=True)
    frequencies: tuple[float, ...] = eqx.field(static=True)
    epsilon: float = eqx.field(static=True, default=1e-5)
    norm: str = eqx.field(static=True, default="rms")
    activation: str = eqx.field(static=True, default="silu")
    gated: bool = eqx.field(static=True, default=True)
    biases: tuple[str, ...] = eqx.field(static=True, default=())
    positions: int = eqx.field(static=True, default=0)
    window: int | None = eqx.field(static=True, default=None)

    def __post_init__(self) -> None:
        for name in _SIZES:
            setattr(self, name, integer(name, getattr(self, name)))
        if self.heads % self.kv_heads != 0:
            raise ValueError(
                f"kv_heads: got {brief(self.kv_heads)}; "
                f"it must be a divisor of the {self.heads} query heads."
            )
        is_tuple = isinstance(self.frequencies, tuple)
        if not is_tuple or len(self.frequencies) not in (0, self.head_width / 2):
            raise ValueError(
                f"frequencies: got {brief(self.frequencies)}; it must be an empty "
                f"tuple, or one of {self.head_width / 2:g} numbers: one for every pair "
                "of a head's entries."
            )
        for rate in self.frequencies:
            positive("frequencies", rate, "positive numbers, in radians per position")
        self.gated = boolean("gated", self.gated)
        if not isinstance(self.biases, tuple) or not set(self.biases) <= _BIASED:
            raise ValueError(
                f"biases: got {brief(self.biases)}; it must be a tuple of the matrices "
                f"with a bias, from {', '.join(map(repr, sorted(_BIASED)))}."
            )
        positive("epsilon", self.epsilon)
        self.positions = integer(
            "positions", self.positions, "a number of positions, or 0", least=0
        )
        if self.window is not None:
            self.window = integer("window", self.window)
        choice("norm", self.norm, NORMS)
        choice("activation", self.activation, ACTIVATIONS)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of every weight of one block."""
        q = self.heads * self.head_width
        kv = self.kv_heads * self.head_width
        d = self.width
        square = {"query": (q, d), "key": (kv, d), "value": (kv, d), "output": (d, q)}
        gate = {"gate": (self.hidden, d)} if self.gated else {}
        mlp = {
            "mlp_norm": (d,),
            **gate,
            "up": (self.hidden, d),
            "down": (d, self.hidden),
        }
        shapes: dict[str, tuple[int, ...]] = {"attention_norm": (d,), **square, **mlp}
        norms = ("attention_norm", "mlp_norm") if self.norm == "layer" else ()
        return shapes | {
            f"{name}_bias": shapes[name][:1] for name in (*norms, *self.biases)
        }

    def ends(self) -> dict[str, tuple[int, ...]]:
        """Shape of every weight outside the blocks. A network may lack "head"; the
        embedding then serves as the head.
        """
        ends: dict[str, tuple[int, ...]] = dict.fromkeys(
            ("embedding", "head"), (self.vocabulary, self.width)
        )
        norms = ("norm", "norm_bias") if self.norm == "layer" else ("norm",)
        table = {"positions": (self.positions, self.width)} if self.positions else {}
        return ends | dict.fromkeys(norms, (self.width,)) | table


class Layers(Module):
    """Weights of all blocks, stacked along a first axis L. Each matrix is (out, in); a
    weight that the network does not have is None.
    """

    attention_norm: Float[Array, "L d"]
    query: Float[Array, "L q d"]
    key: Float[Array, "L kv d"]
    value: Float[Array, "L kv d"]
    output: Float[Array, "L d q"]
    mlp_norm: Float[Array, "L d"]
    up: Float[Array, "L D d"]
    down: Float[Array, "L d D"]
    gate: Float[Array, "L D d"] | None = None
    attention_norm_bias: Float[Array, "L d"] | None = None
    query_bias: Float[Array, "L q"] | None = None
    key_bias: Float[Array, "L kv"] | None = None
    value_bias: Float[Array, "L kv"] | None = None
    output_bias: Float[Array, "L d"] | None = None
    mlp_norm_bias: Float[Array, "L d"] | None = None
    up_bias: Float[Array, "L D"] | None = None
    down_bias: Float[Array, "L d"] | None = None

    def __getitem__(self, layer: Any) -> "Layers":
        """The weights of one block; `layer` may be traced."""
        return jax.tree.map(
            lambda stack: jax.lax.dynamic_index_in_dim(stack, layer, keepdims=False),
            self,
        )


class Network(Module):
    """Weights of a network.

    Attributes:
        embedding: One row per token (vocabulary, d).
        layers: Weights of the blocks.
        norm: Weight of the last norm (d,).
        head: Rows that score the tokens (vocabulary, d); None if the rows of the
            embedding do so.
        config: Sizes and switches.
        norm_bias: Bias of the last norm (d,), or None.
        positions: One row per position (positions, d), or None where the embedding of
            positions is rotary.
    """

    embedding: Float[Array, "V d"]
    layers: Layers
    norm: Float[Array, " d"]
    head: Float[Array, "V d"] | None
    config: Config
    norm_bias: Float[Array, " d"] | None = None
    positions: Float[Array, "P d"] | None = None

    def down(self, layer: int) -> Float[Array, "d D"]:
        """The matrix that an edit changes: the down projection of one block."""
        return self.layers.down[self.check_layer(layer)]

    def with_down(self, layer: int, W: ArrayLike) -> "Network":
        """Network with another down projection in one block."""
        layer = self.check_layer(layer)
        shape = self.layers.down.shape[1:]
        W = array("W", W, f"{shape}: the down projection of a block", 2)
        if W.shape != shape:
            raise ValueError(f"W: got shape {W.shape}; it must be {shape}.")
        down = self.layers.down
        return replace(
            self,
            layers=replace(self.layers, down=down.at[layer].set(W.astype(down.dtype))),
        )

    def check_layer(self, layer: int) -> int:
        """The number of a block as a Python integer.

        Raises:
            ValueError: If there is no such block.
        """
        last = self.config.layers - 1
        return integer(
            "layer", layer, "the number of a block, counted from 0", least=0, most=last
        )

    @property
    def parameters(self) -> int:
        """Number of weights."""
        return sum(leaf.size for leaf in jax.tree.leaves(self))


def assemble(
    config: Config,
    weights: Iterable[tuple[str, int | None, np.ndarray]],
    dtype: Any = jnp.float32,
) -> Network:
    """Network assembled from weights that come one at a time, so that memory never
    contains all of them twice.

    Args:
        config: Sizes and switches.
        weights: Triples of a name, the number of the block, and the values. The name is
            a field of `Layers`, or a field of `Network` with None as the number.
        dtype: Dtype of the network.

    Raises:
        ValueError: If a weight is missing, unknown or of the wrong shape.
    """
    shapes = config.shapes()
    ends = config.ends()
    arrays: dict[str, Any] = {}
    missing: set[tuple[str, int | None]] = {
        (name, None) for name in ends if name != "head"
    }
    missing |= {(name, i) for i in range(config.layers) for name in shapes}
    for name, layer, value in weights:
        shape = (ends if layer is None else shapes).get(name)
        if value.shape != shape:
            raise ValueError(
                f"{_place(name, layer)}: got {brief(value.shape)}; "
                f"it must be of shape {shape}: the file may be incomplete."
            )
        missing.discard((name, layer))
        if layer is None:
            arrays[name] = jnp.asarray(value, dtype)
        else:
            stack = (
                arrays[name]
                if name in arrays
                else jnp.zeros((config.layers, *value.shape), dtype)
            )
            arrays[name] = _put(stack, layer, value)
        del value  # freed before the next value is read
    for name, layer in sorted(missing, key=str)[:1]:
        raise ValueError(
            f"{_place(name, layer)}: got nothing; "
            "it must be a weight of the network: the file may be incomplete."
        )
    layers = Layers(
        **{f.name: arrays.pop(f.name) for f in fields(Layers) if f.name in arrays}
    )
    arrays.setdefault("head", None)
    return Network(layers=layers, config=config, **arrays)


@partial(jax.jit, donate_argnums=0)
def _put(stack: Array, layer: ArrayLike, value: Array) -> Array:
    return jax.lax.dynamic_update_index_in_dim(
        stack, value.astype(stack.dtype), layer, 0
    )


def _place(name: str, layer: int | None) -> str:
    return name if layer is None else f"weights of block {layer}, {name}"


@checked
@partial(jax.jit, static_argnames=("config", "dtype"))
def random_network(config: Config, *, key: Array, dtype: Any = jnp.float32) -> Network:
    """A network with random weights of scale 1/√in, for tests and for examples that
    need no training.
    """
    k_ends, k_layers = jax.random.split(key)

    def draw(key: Array, name: str, shape: tuple[int, ...]) -> Array:
        if name.endswith("norm"):
            return jnp.ones(shape, dtype)
        return jax.random.normal(key, shape, dtype) / shape[-1] ** 0.5

    names = config.shapes()
    keys = dict(zip(names, jax.random.split(k_layers, len(names)), strict=True))
    layers = Layers(
        **{
            name: draw(keys[name], name, (config.layers, *shape))
            for name, shape in names.items()
        }
    )
    embedding = jax.random.normal(k_ends, (config.vocabulary, config.width), dtype)
    vector_shapes = {
        name: shape
        for name, shape in config.ends().items()
        if name not in ("embedding", "head")
    }
    vector_keys = jax.random.split(jax.random.fold_in(k_ends, 1), len(vector_shapes))
    ends = {
        name: draw(k, name, shape)
        for k, (name, shape) in zip(vector_keys, vector_shapes.items(), strict=True)
    }
    return Network(embedding=embedding, layers=layers, head=None, config=config, **ends)
