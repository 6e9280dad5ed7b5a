"""Likelihoods that a model assigns to continuations of a prompt."""

from collections.abc import Sequence
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from rankone._annotated import checked
from rankone.language.forward import Cache, embed, logits, run
from rankone.language.model import LanguageModel
from rankone.language.prompts import Continuations, continuations
from rankone.language.transformer import Network

__all__ = ["at_positions", "from_layer", "likelihoods", "log_likelihood", "up_to_layer"]


@checked
def likelihoods(
    model: LanguageModel, prompts: Sequence[str], targets: Sequence[str]
) -> tuple[Float[Array, " B"], Bool[Array, " B"]]:
    """Mean log-probability of a target's tokens after its prompt, and True if every one
    of them is the most likely token.

    Args:
        model: The language model.
        prompts: Texts, none of them empty.
        targets: One text per prompt: the continuation whose probability is computed,
            without the space before it.

    Returns:
        Mean log-probability per token of the target (B,), and True where greedy
        generation would give the target (B,).

    Raises:
        ValueError: If a text is empty, or there are not as many targets as prompts.
    """
    rows = continuations(model.tokenizer, prompts, targets)
    return from_layer(model.network, rows, up_to_layer(model.network, rows, 0), 0)


@partial(jax.jit, static_argnames="layer")
def up_to_layer(
    network: Network, rows: Continuations, layer: int
) -> Float[Array, "B T d"]:
    """The residual stream as it enters a block: an edit of that block does not change
    this stream, so it is computed once for many edits.
    """
    cache = Cache.empty(network.config, rows.valid, network.norm.dtype)
    h = embed(network, rows.tokens)
    return run(network, h, cache, layers=(0, layer), keep=False)[0]


@partial(jax.jit, static_argnames="layer")
def from_layer(
    network: Network, rows: Continuations, h: Float[Array, "B T d"], layer: int
) -> tuple[Float[Array, " B"], Bool[Array, " B"]]:
    """`likelihoods` of the rows, from the residual stream that enters a block."""
    cache = Cache.empty(network.config, rows.valid, network.norm.dtype)
    above = (layer, network.config.layers)
    h, _, _ = run(network, h, cache, layers=above, keep=False)
    scores = logits(network, at_positions(h, rows))
    return log_likelihood(scores, rows), jnp.all(
        (scores.argmax(-1) == rows.labels) | (rows.weights == 0), axis=1
    )


def at_positions(
    h: Float[Array, "B T d"], rows: Continuations
) -> Float[Array, "B m d"]:
    """Residual stream at the positions that predict the continuation."""
    return jnp.take_along_axis(h, rows.positions[..., None], axis=1)


def log_likelihood(
    scores: Float[Array, "B m V"], rows: Continuations
) -> Float[Array, " B"]:
    """Mean log-probability per token of each row's continuation; 0 for a row without
    one.
    """
    log_p = jax.nn.log_softmax(scores, axis=-1)
    return jnp.sum(
        jnp.take_along_axis(log_p, rows.labels[..., None], axis=-1)[..., 0]
        * rows.weights,
        axis=1,
    )
