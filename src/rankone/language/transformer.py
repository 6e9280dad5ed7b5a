"""A transformer as one frozen pytree: sizes, switches and weights, and nothing that runs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import array, check, choice
from rankone._pytree import pytree

__all__ = ["ACTIVATIONS", "MATRICES", "Config", "Layers", "Network", "random_network"]

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "silu": jax.nn.silu,
    "gelu": partial(jax.nn.gelu, approximate=False),
    "gelu_new": jax.nn.gelu,
    "gelu_pytorch_tanh": jax.nn.gelu,
}
NORMS = ("rms", "layer")
MATRICES = ("query", "key", "value", "output", "gate", "up", "down")


@dataclass(frozen=True)
class Config:
    """Sizes of a network, and the few switches in which llama, mistral, qwen2 and gpt2 differ.

    Attributes:
        layers: Number of blocks.
        width: Length of the residual stream.
        hidden: Length of a key of the down projection.
        heads: Query heads.
        kv_heads: Key and value heads, each shared by heads/kv_heads query heads.
        head_width: Length of a head.
        vocabulary: Number of tokens.
        frequencies: Of the rotary embedding, radians per position (head_width/2,); empty where positions are learned.
        epsilon: Of the norms.
        norm: "rms", or "layer" for one that subtracts the mean and adds a bias.
        activation: One of `ACTIVATIONS`.
        gated: Whether a key is activation(gate) · up, and not activation(up).
        biases: Matrices of a block that have one.
        positions: Number of learned positions, and so the longest text; 0 for none.
        window: Tokens that attention looks back, itself included; None for all.
    """

    layers: int
    width: int
    hidden: int
    heads: int
    kv_heads: int
    head_width: int
    vocabulary: int
    frequencies: tuple[float, ...]
    epsilon: float = 1e-5
    norm: str = "rms"
    activation: str = "silu"
    gated: bool = True
    biases: tuple[str, ...] = ()
    positions: int = 0
    window: int | None = None

    def __post_init__(self) -> None:
        choice("norm", self.norm, NORMS)
        choice("activation", self.activation, ACTIVATIONS)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of every weight of one block."""
        q, kv, d = self.heads * self.head_width, self.kv_heads * self.head_width, self.width
        square = {"query": (q, d), "key": (kv, d), "value": (kv, d), "output": (d, q)}
        gate = {"gate": (self.hidden, d)} if self.gated else {}
        mlp = {"mlp_norm": (d,), **gate, "up": (self.hidden, d), "down": (d, self.hidden)}
        shapes: dict[str, tuple[int, ...]] = {"attention_norm": (d,), **square, **mlp}
        norms = ("attention_norm", "mlp_norm") if self.norm == "layer" else ()
        return shapes | {f"{name}_bias": shapes[name][:1] for name in (*norms, *self.biases)}

    def ends(self) -> dict[str, tuple[int, ...]]:
        """Shape of every weight outside the blocks; a network may do without "head", where the embedding serves."""
        ends: dict[str, tuple[int, ...]] = dict.fromkeys(("embedding", "head"), (self.vocabulary, self.width))
        norms = ("norm", "norm_bias") if self.norm == "layer" else ("norm",)
        table = {"positions": (self.positions, self.width)} if self.positions else {}
        return ends | dict.fromkeys(norms, (self.width,)) | table


_NAMES = ["attention_norm", "query", "key", "value", "output", "mlp_norm", "gate", "up", "down"]


@pytree(data=[*_NAMES, *(f"{name}_bias" for name in _NAMES if name != "gate")])
@dataclass(frozen=True)
class Layers:
    """Weights of all blocks, stacked along a first axis L; each matrix is (out, in), and None where there is none."""

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
        return jax.tree.map(lambda stack: jax.lax.dynamic_index_in_dim(stack, layer, keepdims=False), self)


@pytree(data=["embedding", "layers", "norm", "head", "norm_bias", "positions"], meta=["config"])
@dataclass(frozen=True)
class Network:
    """Weights of a network.

    Attributes:
        embedding: One row a token (vocabulary, d).
        layers: The blocks.
        norm: Of the last norm (d,).
        head: Rows that score the tokens (vocabulary, d); None where the embedding does.
        config: Sizes and switches.
        norm_bias: Of the last norm (d,), or None.
        positions: One row a position (positions, d), or None where the embedding of positions is rotary.
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
        self.check_layer(layer)
        return self.layers.down[layer]

    def with_down(self, layer: int, W: ArrayLike) -> "Network":
        """The same network with another down projection in one block."""
        self.check_layer(layer)
        wanted = self.layers.down.shape[1:]
        W = array("W", W, f"{wanted}: the down projection of a block", 2)
        check(W.shape == wanted, "W", f"shape {W.shape}", f"{wanted}")
        down = self.layers.down
        return replace(self, layers=replace(self.layers, down=down.at[layer].set(W.astype(down.dtype))))

    def check_layer(self, layer: int) -> None:
        """Raise unless there is a block of this number."""
        check(0 <= layer < self.config.layers, "layer", layer, f"between 0 and {self.config.layers - 1}")

    @property
    def parameters(self) -> int:
        """Number of weights."""
        return sum(leaf.size for leaf in jax.tree.leaves(self))


def assemble(
    config: Config, weights: Iterable[tuple[str, int | None, np.ndarray]], dtype: Any = jnp.float32
) -> Network:
    """A network of weights that come one at a time, each put in its place and forgotten.

    Args:
        config: Sizes.
        weights: Name in `Layers` and number of the block, or name in `Network` and None; and the values.
        dtype: Of the network.

    Raises:
        ValueError: If a weight is missing, unknown or of the wrong shape.
    """
    shapes, ends = config.shapes(), config.ends()
    held: dict[str, Any] = {}
    missing: set[tuple[str, int | None]] = {(name, None) for name in ends if name != "head"}
    missing |= {(name, i) for i in range(config.layers) for name in shapes}
    for name, layer, value in weights:
        shape = (ends if layer is None else shapes).get(name)
        check(value.shape == shape, _place(name, layer), value.shape, f"of shape {shape}; is the file whole?")
        missing.discard((name, layer))
        if layer is None:
            held[name] = jnp.asarray(value, dtype)
        else:
            stack = held[name] if name in held else jnp.zeros((config.layers, *value.shape), dtype)
            held[name] = _put(stack, layer, value)
        del value  # before the next one is read
    for name, layer in sorted(missing, key=str)[:1]:
        check(False, _place(name, layer), "nothing", "a weight of the network; is the file whole?")
    layers = Layers(**{f.name: held.pop(f.name) for f in fields(Layers) if f.name in held})
    held.setdefault("head", None)
    return Network(layers=layers, config=config, **held)


@partial(jax.jit, donate_argnums=0)
def _put(stack: Array, layer: int, value: Array) -> Array:
    return jax.lax.dynamic_update_index_in_dim(stack, value.astype(stack.dtype), layer, 0)


def _place(name: str, layer: int | None) -> str:
    return name if layer is None else f"weights of block {layer}, {name}"


@partial(jax.jit, static_argnames=("config", "dtype"))
def random_network(config: Config, *, key: Array, dtype: Any = jnp.float32) -> Network:
    """A network with random weights of scale 1/√in, for tests and for sums that need no training."""
    k_ends, k_layers = jax.random.split(key)

    def draw(key: Array, name: str, shape: tuple[int, ...]) -> Array:
        if name.endswith("norm"):
            return jnp.ones(shape, dtype)
        return jax.random.normal(key, shape, dtype) / shape[-1] ** 0.5

    names = config.shapes()
    keys = dict(zip(names, jax.random.split(k_layers, len(names)), strict=True))
    layers = Layers(**{name: draw(keys[name], name, (config.layers, *shape)) for name, shape in names.items()})
    embedding = jax.random.normal(k_ends, (config.vocabulary, config.width), dtype)
    others = {name: shape for name, shape in config.ends().items() if name not in ("embedding", "head")}
    k_others = jax.random.split(jax.random.fold_in(k_ends, 1), len(others))
    ends = {name: draw(k, name, shape) for k, (name, shape) in zip(k_others, others.items(), strict=True)}
    return Network(embedding=embedding, layers=layers, head=None, config=config, **ends)
