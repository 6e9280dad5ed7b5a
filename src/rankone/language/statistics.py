"""Second moments of the keys that a corpus sends into a down projection."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Float, Int

from rankone._annotated import checked
from rankone._checks import brief, integer, not_negative
from rankone._progress import progress_bar
from rankone.data.facts import corpus
from rankone.editing import KeyGeometry, SecondMoments
from rankone.language.forward import Cache, embed, run
from rankone.language.model import LanguageModel
from rankone.language.tokenizer import pad
from rankone.language.transformer import Network

__all__ = ["key_geometry", "key_moments", "text_keys"]


@checked
def key_moments(
    model: LanguageModel,
    layer: int,
    texts: Sequence[str] | None = None,
    *,
    window: int = 128,
    batch: int = 8,
    skip: int = 1,
) -> SecondMoments:
    """Second moments Σ kkᵀ of the inputs of a down projection over the tokens of some
    texts, without the first `skip` tokens of each window.

    The first token of a window has no context. In many models its key is an outlier
    that depends on the position and not on the word, and is therefore left out. C then
    does not count what an edit changes at first tokens. With `skip=0` it does.

    Args:
        model: The language model that reads the texts.
        layer: Number of the block.
        texts: Texts that it reads; the book's own corpus by default.
        window: Number of tokens read at a time.
        batch: Number of windows run at a time.
        skip: Number of tokens at the beginning of each window whose keys are left out.

    Raises:
        ValueError: If there is no such block, `window` or `batch` is not a
            positive integer, or `skip` is not below `window`.
    """
    layer = model.network.check_layer(layer)
    window = integer("window", window)
    batch = integer("batch", batch)
    skip = integer(
        "skip",
        skip,
        "a number of tokens, fewer than a window has",
        least=0,
        most=window - 1,
    )
    rows = [
        ids[i : i + window]
        for ids in map(model.tokenizer.encode, texts or corpus())
        for i in range(0, len(ids), window)
    ]
    rows = sorted((row for row in rows if len(row) > skip), key=len)
    moments = SecondMoments.empty(model.network.config.hidden)
    for start in progress_bar(
        range(0, len(rows), batch),
        desc=f"keys of block {layer}",
        disable=len(rows) < 64,
    ):
        tokens, valid = pad(rows[start : start + batch], multiple=min(64, window))
        full = ((0, batch - len(tokens)), (0, 0))
        tokens = np.pad(tokens, full)
        valid = np.pad(valid, full)
        keys = _keys(model.network, tokens, valid, layer)
        # a new array, because JAX may still be reading `valid`
        included = valid & (np.arange(valid.shape[1]) >= skip)
        moments = moments.update(keys, where=included)
    return moments


@checked
def key_geometry(
    model: LanguageModel, layer: int, *, ridge: float = 0.01, **options: Any
) -> KeyGeometry:
    """`KeyGeometry` of an edit: the factored mean second moment of the keys over the
    corpus, plus a ridge.

    The first token of each window is left out, because it has no context. With five
    keys per dimension and the default ridge, the interference of an edit is on average
    less than a quarter above the least possible, measured on keys of the book's corpus.

    Args:
        model: The language model that reads the corpus.
        layer: Number of the block.
        ridge: Fraction of the mean of C's diagonal that is added to the diagonal.
        options: Passed to `rankone.language.statistics.key_moments`, which computes C:
            texts (by default the book's corpus), window, batch and skip.

    Raises:
        ValueError: If there is no such block, or `ridge` is negative.
    """
    not_negative(
        "ridge", ridge, "a fraction of the mean of C's diagonal, at least 0, finite"
    )
    C = key_moments(model, layer, **options).mean
    return KeyGeometry.from_moments(C, ridge=ridge * float(np.trace(C)) / len(C))


@checked
def text_keys(
    model: LanguageModel, texts: Sequence[str], layer: int
) -> Float[Array, "n D"]:
    """Keys that the down projection of a block reads at the last token of each text:
    the k of `rank_one_edit`.

    Args:
        model: The language model that reads the texts.
        texts: One text or more, none of them empty.
        layer: Number of the block.

    Returns:
        One key per text (n, D).

    Raises:
        ValueError: If there is no text or no such block.
    """
    layer = model.network.check_layer(layer)
    if not all(texts):
        raise ValueError(
            f"texts: got {brief(texts)}; it must be one text or more, none empty."
        )
    tokens, valid = pad(
        [model.tokenizer.encode(text) for text in texts], left=True, multiple=8
    )
    return _keys(model.network, tokens, valid, layer)[:, -1]


@partial(jax.jit, static_argnames="layer")
def _keys(
    network: Network,
    tokens: Int[ArrayLike, "B T"],
    valid: Bool[ArrayLike, "B T"],
    layer: int,
) -> Float[Array, "B T D"]:
    cache = Cache.empty(network.config, jnp.asarray(valid), network.norm.dtype)
    _, _, readings = run(
        network,
        embed(network, tokens),
        cache,
        layers=(0, layer + 1),
        read=("key",),
        last=True,
        keep=False,
    )
    return readings["key"]
