"""Text generation, one token at a time, with a key-value cache."""

from collections.abc import Sequence
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Float, Int

from rankone._annotated import checked
from rankone._checks import array, brief, integer
from rankone._module import Module
from rankone.language.forward import Cache, embed, logits, run
from rankone.language.model import LanguageModel
from rankone.language.tokenizer import pad
from rankone.language.transformer import Network

__all__ = ["RowChanges", "continue_tokens", "generate"]


@checked
def generate(
    model: LanguageModel,
    prompts: Sequence[str],
    length: int = 40,
    *,
    top: int = 1,
    key: Array | None = None,
) -> list[str]:
    """Continuation that the model gives to each prompt.

    Args:
        model: The language model that continues the prompts.
        prompts: Texts, none of them empty.
        length: Number of tokens to add.
        top: Number of the likeliest tokens among which each token is drawn; with 1 the
            likeliest token is always taken.
        key: JAX random key, needed if `top` > 1.

    Returns:
        The text added to each prompt.

    Raises:
        ValueError: If a prompt is empty, `length` or `top` is not a positive integer,
            `top` exceeds the vocabulary, or `top` > 1 without a key.
    """
    if not all(prompts):
        raise ValueError(
            f"prompts: got {brief(prompts)}; it must be texts, none empty."
        )
    length = integer("length", length)
    top = integer("top", top, most=model.network.config.vocabulary)
    if top != 1 and key is None:
        raise ValueError(
            f"key: got {brief(key)}; it must be a JAX random key, since top > 1 draws."
        )
    key = jax.random.key(0) if key is None else key
    tokens, valid = pad(
        [model.tokenizer.encode(prompt) for prompt in prompts], left=True, multiple=8
    )
    continuations = continue_tokens(
        model.network, tokens, valid, key, length=length, top=top
    )
    return [model.tokenizer.decode(row) for row in np.asarray(continuations)]


class RowChanges(Module):
    """Changes of one block's down projection, one per row of a batch, so that many
    edited models run as one batch.

    Attributes:
        delta: Ŵ − W of each row (B, d, D).
        layer: Number of the block.
    """

    delta: Float[ArrayLike, "B d D"]
    layer: int = eqx.field(static=True)

    def __post_init__(self) -> None:
        delta = array(
            "delta",
            self.delta,
            "(B, d, D): a change of the matrix for each row",
            3,
            once=True,
        )
        self.delta = delta
        self.layer = integer(
            "layer", self.layer, "the number of a block, counted from 0", least=0
        )


def _add_row_changes(
    site: str,
    layer: Array,
    value: Array,
    readings: dict[str, Array],
    data: RowChanges | None,
) -> Array:
    if site != "mlp" or data is None:
        return value

    def add() -> Array:
        return (value + jnp.einsum("btk,bdk->btd", readings["key"], data.delta)).astype(
            value.dtype
        )

    return jax.lax.cond(layer == data.layer, add, lambda: value)


@partial(jax.jit, static_argnames=("length", "top"))
def continue_tokens(
    network: Network,
    tokens: Int[ArrayLike, "B T"],
    valid: Bool[ArrayLike, "B T"],
    key: Array,
    changes: RowChanges | None = None,
    *,
    length: int,
    top: int,
) -> Int[Array, "B n"]:
    """Generated tokens, `length` per row, for rows padded on the left. Each step runs
    one position with the key-value cache.

    Args:
        network: The network.
        tokens: Rows of tokens (B, T), padded on the left.
        valid: False on padding (B, T).
        key: JAX random key.
        changes: Change of one matrix for each row; None to change nothing.
        length: Number of tokens to add to each row.
        top: Number of the likeliest tokens among which each token is drawn.
    """
    tokens = jnp.asarray(tokens)
    valid = jnp.asarray(valid)
    forward = partial(run, network, hook=_add_row_changes, data=changes)
    slots = jnp.concatenate([valid, jnp.ones((tokens.shape[0], length), bool)], axis=1)
    h, cache, _ = forward(
        embed(network, tokens), Cache.empty(network.config, slots, network.norm.dtype)
    )

    def step(
        state: tuple[Array, Cache], key: Array
    ) -> tuple[tuple[Array, Cache], Array]:
        scores, cache = state
        token = _draw(scores, top, key)
        h, cache, _ = forward(embed(network, token[:, None]), cache)
        return (logits(network, h[:, -1]), cache), token

    _, continuation = jax.lax.scan(
        step, (logits(network, h[:, -1]), cache), jax.random.split(key, length)
    )
    return continuation.T


def _draw(scores: Float[Array, "B V"], top: int, key: Array) -> Int[Array, " B"]:
    best, tokens = jax.lax.top_k(scores, top)
    place = jax.random.categorical(key, best)
    return jnp.take_along_axis(tokens, place[:, None], axis=1)[:, 0]
