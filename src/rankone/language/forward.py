"""Running a network, or some of its blocks, with a key-value cache and hooks."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Bool, Float, Int

from rankone._checks import brief
from rankone._module import Module
from rankone.language.rotary import rotate
from rankone.language.transformer import ACTIVATIONS, Config, Layers, Network
from rankone.precision import wider

__all__ = [
    "SITES",
    "Cache",
    "Hook",
    "before_head",
    "embed",
    "head",
    "logits",
    "run",
    "wide",
    "without_hook",
]

SITES = ("attention", "key", "mlp", "hidden")
# Operations that only select, rearrange or repeat entries. The gradient runs them again
# and does not save their results.
_VIEWS = {"dynamic_slice", "squeeze", "transpose", "reshape", "broadcast_in_dim"}
Hook = Callable[[str, Array, Array, dict[str, Array], Any], Array]


def without_hook(
    site: str, layer: Array, value: Array, readings: dict[str, Array], data: Any
) -> Array:
    """The hook that leaves every value as it is."""
    return value


class Cache(Module):
    """Keys and values of attention for the tokens already run, in S slots; all rows of
    a batch fill the same slots.

    Attributes:
        keys: (L, B, S, kv_heads, head_width), rotated.
        values: (L, B, S, kv_heads, head_width).
        valid: True for slots (B, S) that contain, or will contain, a token and not
            padding.
        length: Number of slots filled.
    """

    keys: Float[Array, "L B S h w"]
    values: Float[Array, "L B S h w"]
    valid: Bool[Array, "B S"]
    length: Int[Array, ""]

    @classmethod
    def empty(
        cls, config: Config, valid: Bool[Array, "B S"], dtype: Any = jnp.float32
    ) -> "Cache":
        """Empty cache for a batch whose padding is known in advance.

        Args:
            config: Sizes of the network.
            valid: False where a slot will contain padding (B, S).
            dtype: Dtype of the keys and values.
        """
        zeros = jnp.zeros(
            (config.layers, *valid.shape, config.kv_heads, config.head_width), dtype
        )
        return cls(zeros, zeros, valid, jnp.asarray(0))


def run(
    network: Network,
    h: Float[Array, "B T d"],
    cache: Cache,
    *,
    layers: tuple[int, int] | None = None,
    hook: Hook = without_hook,
    data: Any = None,
    read: Sequence[str] = (),
    last: bool = False,
    keep: bool = True,
) -> tuple[Float[Array, "B T d"], Cache, dict[str, Array]]:
    """Residual stream after some blocks for T more positions, the updated cache, and
    the values at the sites that `read` names.

    Args:
        network: The network.
        h: The residual stream as it enters the first of these blocks. For block 0 it is
            the token embeddings alone; learned position embeddings are added by this
            function.
        cache: Keys and values of the tokens before; it must have T slots left.
        layers: First block and the one after the last; by default all blocks are run.
        hook: Called as hook(site, layer, value, readings, data) with site one of
            `SITES`. The network continues with the value that the hook returns;
            `readings` contains the values at the earlier sites of the block. "key" is
            the input of the down projection (B, T, D), "mlp" its output, "attention"
            the output of attention, "hidden" the residual stream after the block.
        data: Passed to the hook. Put arrays here and not in the hook's closure, where
            jit would compile them in as constants.
        read: Sites whose values are returned.
        last: True to return only the values of the last block, and to store no others.
        keep: False if no tokens follow: the cache is then returned unchanged, is not
            copied, and no gradient passes through it.

    Returns:
        The residual stream after the last block; the cache with these positions; and
        the values at the sites asked for, each stacked over the blocks run (n, B, T,
        ...), or without that axis if `last`.
    """
    start, stop = layers or (0, network.config.layers)
    if network.positions is not None and start == 0 < stop:
        h = h + _position_embedding(network.positions, cache, h.shape[1])

    # The gradient reads the weights again; otherwise it would save a copy of the
    # weights of every block.
    @partial(jax.checkpoint, prevent_cse=False, policy=_is_computed)
    def step(
        carry: tuple[Array, Cache | None, dict[str, Array]], layer: Array
    ) -> tuple[tuple[Array, Cache | None, dict[str, Array]], dict[str, Array]]:
        h, filled, _ = carry
        if filled is None:  # the block fills a copy of its own slots, to be discarded
            cut = partial(jax.lax.dynamic_slice_in_dim, start_index=layer, slice_size=1)
            slots = replace(cache, keys=cut(cache.keys), values=cut(cache.values))
            place: ArrayLike = 0
        else:
            slots = filled
            place = layer
        w = network.layers[layer]
        h, slots, values = _block(network.config, w, layer, h, slots, place, hook, data)
        readings = {site: values[site] for site in read}
        following = h, slots if keep else None, readings if last else {}
        return following, {} if last else readings

    widths = {"key": network.config.hidden}
    empty = {
        site: jnp.zeros((*h.shape[:2], widths.get(site, h.shape[2])), h.dtype)
        for site in (read if last else ())
    }
    (h, filled, lasts), readings = jax.lax.scan(
        step, (h, cache if keep else None, empty), jnp.arange(start, stop)
    )
    if filled is not None:
        cache = replace(filled, length=cache.length + h.shape[1])
    return h, cache, lasts if last else readings


def _is_computed(primitive: Any, *_: Any, **__: Any) -> bool:
    """True if a value is saved for the gradient, and not read again from the weights."""
    return primitive.name not in _VIEWS


def embed(network: Network, tokens: Int[ArrayLike, "*rows"]) -> Float[Array, "*rows d"]:
    """Token embeddings: the residual stream at the input of the first block, before
    learned position embeddings are added.
    """
    return network.embedding[tokens]


def logits(network: Network, h: Float[Array, "... d"]) -> Float[Array, "... V"]:
    """Scores of the next token from the residual stream after the last block."""
    scores = before_head(network, h) @ head(network).T
    return scores.astype(wide(scores))


def before_head(network: Network, h: Float[Array, "... d"]) -> Float[Array, "... d"]:
    """Input of the head: the residual stream after the last block, normalised."""
    return _norm(network.config, h, network.norm, network.norm_bias)


def head(network: Network) -> Float[Array, "V d"]:
    """Matrix whose rows score the tokens. It is the embedding matrix if the network
    ties the two.
    """
    return network.embedding if network.head is None else network.head


def _block(
    config: Config,
    w: Layers,
    layer: Array,
    h: Array,
    cache: Cache,
    place: ArrayLike,
    hook: Hook,
    data: Any,
) -> tuple[Array, Cache, dict[str, Array]]:
    readings: dict[str, Array] = {}

    def tap(site: str, value: Array) -> Array:
        readings[site] = hook(site, layer, value, readings, data)
        return readings[site]

    x = _norm(config, h, w.attention_norm, w.attention_norm_bias)
    attended, cache = _attention(config, w, x, cache, place)
    h = h + tap("attention", attended)
    x = _norm(config, h, w.mlp_norm, w.mlp_norm_bias)
    activate = ACTIVATIONS[config.activation]
    key = (
        activate(_linear(w, "gate", x)) * _linear(w, "up", x)
        if config.gated
        else activate(_linear(w, "up", x))
    )
    h = tap("hidden", h + tap("mlp", _linear(w, "down", tap("key", key))))
    return h, cache, readings


def _linear(w: Layers, name: str, x: Array) -> Array:
    bias = getattr(w, f"{name}_bias", None)
    y = x @ getattr(w, name).T
    return y if bias is None else y + jnp.broadcast_to(bias, y.shape)


def _attention(
    config: Config, w: Layers, x: Array, cache: Cache, place: ArrayLike
) -> tuple[Array, Cache]:
    B, T, _ = x.shape
    positions = cache.length + jnp.arange(T)
    heads = (B, T, -1, config.head_width)
    projected = _linear(w, "query", x), _linear(w, "key", x)
    q, k = (rotate(y.reshape(heads), positions, config.frequencies) for y in projected)
    cache, keys, values = _remember(
        cache, place, k, _linear(w, "value", x).reshape(heads)
    )
    slots = jnp.arange(keys.shape[1])
    visible = (slots[None] <= positions[:, None])[None] & cache.valid[:, None, :]
    if config.window is not None:
        visible &= (slots[None] > positions[:, None] - config.window)[None]
    q = q.reshape(B, T, config.kv_heads, -1, config.head_width)
    scores = (
        jnp.einsum("btngw,bsnw->bngts", q, keys).astype(wide(q))
        / config.head_width**0.5
    )
    scores = jnp.where(visible[:, None, None], scores, jnp.finfo(scores.dtype).min)
    read = jnp.einsum(
        "bngts,bsnw->btngw", jax.nn.softmax(scores, axis=-1).astype(x.dtype), values
    )
    return _linear(w, "output", read.reshape(B, T, -1)), cache


def _remember(
    cache: Cache, place: ArrayLike, k: Array, v: Array
) -> tuple[Cache, Array, Array]:
    """The cache with new keys and values of one block, and all that the block now
    holds.
    """
    start = (place, 0, cache.length, 0, 0)
    keys = jax.lax.dynamic_update_slice(cache.keys, k[None], start)
    values = jax.lax.dynamic_update_slice(cache.values, v[None], start)
    at = jax.lax.dynamic_index_in_dim
    return (
        replace(cache, keys=keys, values=values),
        at(keys, place, keepdims=False),
        at(values, place, keepdims=False),
    )


def _position_embedding(table: Array, cache: Cache, T: int) -> Array:
    """Embedding of the next T positions, counted in each row from its first token after
    the padding.
    """
    if cache.valid.shape[1] > len(table):
        raise ValueError(
            f"tokens: got {brief(cache.valid.shape[1])}; it must be at most "
            f"{len(table)}, the positions that this network has learned."
        )
    places = jnp.maximum(jnp.cumsum(cache.valid, axis=1) - 1, 0)
    return table[jax.lax.dynamic_slice_in_dim(places, cache.length, T, axis=1)]


def _norm(config: Config, h: Array, weight: Array, bias: Array | None) -> Array:
    x = h.astype(wide(h))
    if config.norm == "layer":
        x = x - jnp.mean(x, axis=-1, keepdims=True)
    x = (
        x * jax.lax.rsqrt(jnp.mean(x**2, axis=-1, keepdims=True) + config.epsilon)
    ).astype(h.dtype)
    x = x * jnp.broadcast_to(weight, x.shape)
    return x if bias is None else x + jnp.broadcast_to(bias, x.shape)


def wide(x: Array) -> Any:
    """Dtype for sums of the entries of x: float32, or that of x if it is wider."""
    return wider(x.dtype, jnp.float32)
