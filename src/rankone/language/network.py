"""A transformer of the llama family as one frozen pytree: shapes, weights, and nothing that runs."""

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import array, check
from rankone._pytree import pytree

__all__ = ["Config", "Layers", "Llama", "random_network"]


@dataclass(frozen=True)
class Config:
    """Sizes of a llama network.

    Attributes:
        layers: Number of blocks.
        width: Length of the residual stream.
        hidden: Length of a key of the down projection.
        heads: Query heads.
        kv_heads: Key and value heads, each shared by heads/kv_heads query heads.
        head_width: Length of a head.
        vocabulary: Number of tokens.
        frequencies: Of the rotary embedding, radians per position (head_width/2,).
        epsilon: Of the root-mean-square norms.
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

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of every weight of one block."""
        q, kv, d = self.heads * self.head_width, self.kv_heads * self.head_width, self.width
        square = {"query": (q, d), "key": (kv, d), "value": (kv, d), "output": (d, q)}
        gated = {"gate": (self.hidden, d), "up": (self.hidden, d), "down": (d, self.hidden)}
        return {"attention_norm": (d,), **square, "mlp_norm": (d,), **gated}


@pytree(
    data=["attention_norm", "query", "key", "value", "output", "mlp_norm", "gate", "up", "down"],
)
@dataclass(frozen=True)
class Layers:
    """Weights of all blocks, stacked along a first axis L; each matrix is (out, in)."""

    attention_norm: Float[Array, "L d"]
    query: Float[Array, "L q d"]
    key: Float[Array, "L kv d"]
    value: Float[Array, "L kv d"]
    output: Float[Array, "L d q"]
    mlp_norm: Float[Array, "L d"]
    gate: Float[Array, "L D d"]
    up: Float[Array, "L D d"]
    down: Float[Array, "L d D"]

    def __getitem__(self, layer: Any) -> "Layers":
        """The weights of one block; `layer` may be traced."""
        return jax.tree.map(lambda stack: jax.lax.dynamic_index_in_dim(stack, layer, keepdims=False), self)


@pytree(data=["embedding", "layers", "norm", "head"], meta=["config"])
@dataclass(frozen=True)
class Llama:
    """Weights of a llama network.

    Attributes:
        embedding: One row a token (vocabulary, d).
        layers: The blocks.
        norm: Of the last norm (d,).
        head: Rows that score the tokens (vocabulary, d); None where the embedding does.
        config: Sizes.
    """

    embedding: Float[Array, "V d"]
    layers: Layers
    norm: Float[Array, " d"]
    head: Float[Array, "V d"] | None
    config: Config

    def down(self, layer: int) -> Float[Array, "d D"]:
        """The matrix that an edit changes: the down projection of one block."""
        self.check_layer(layer)
        return self.layers.down[layer]

    def with_down(self, layer: int, W: ArrayLike) -> "Llama":
        """The same network with another down projection in one block."""
        self.check_layer(layer)
        wanted = self.layers.down.shape[1:]
        W = array("W", W, f"{wanted}: the down projection of a block", 2)
        check(W.shape == wanted, "W", f"shape {W.shape}", f"{wanted}")
        return replace(self, layers=replace(self.layers, down=self.layers.down.at[layer].set(W)))

    def check_layer(self, layer: int) -> None:
        """Raise unless there is a block of this number."""
        check(0 <= layer < self.config.layers, "layer", layer, f"between 0 and {self.config.layers - 1}")

    @property
    def parameters(self) -> int:
        """Number of weights."""
        return sum(leaf.size for leaf in jax.tree.leaves(self))


def assemble(config: Config, blocks: list[dict[str, np.ndarray]], ends: dict[str, np.ndarray]) -> Llama:
    """Stack the weights of the blocks, after checking every shape.

    Args:
        config: Sizes.
        blocks: For each layer, name in `Layers` → array.
        ends: "embedding", "norm" and, unless tied, "head".

    Raises:
        ValueError: If a weight is missing or has the wrong shape.
    """
    shapes = config.shapes()
    for i, block in enumerate(blocks):
        for name, shape in shapes.items():
            got = block[name].shape if name in block else "nothing"
            check(got == shape, f"weights of block {i}, {name}", got, f"of shape {shape}; is the file whole?")
    stacked = Layers(**{f.name: jnp.asarray(np.stack([b[f.name] for b in blocks])) for f in fields(Layers)})
    wanted = (config.vocabulary, config.width)
    for name in ("embedding", "head"):
        check(name not in ends or ends[name].shape == wanted, name, ends.get(name, np.empty(0)).shape, f"of {wanted}")
    head = jnp.asarray(ends["head"]) if "head" in ends else None
    return Llama(jnp.asarray(ends["embedding"]), stacked, jnp.asarray(ends["norm"]), head, config)


@partial(jax.jit, static_argnames=("config", "dtype"))
def random_network(config: Config, *, key: Array, dtype: Any = jnp.float32) -> Llama:
    """A network with random weights of scale 1/√in, for tests and for sums that need no training."""
    k_ends, k_layers = jax.random.split(key)

    def draw(key: Array, shape: tuple[int, ...]) -> Array:
        return jax.random.normal(key, shape, dtype) / shape[-1] ** 0.5

    names = config.shapes()
    keys = dict(zip(names, jax.random.split(k_layers, len(names)), strict=True))
    layers = Layers(
        **{
            name: jnp.ones((config.layers, *shape), dtype)
            if name.endswith("norm")
            else draw(keys[name], (config.layers, *shape))
            for name, shape in names.items()
        }
    )
    embedding = jax.random.normal(k_ends, (config.vocabulary, config.width), dtype)
    return Llama(embedding, layers, jnp.ones(config.width, dtype), None, config)
