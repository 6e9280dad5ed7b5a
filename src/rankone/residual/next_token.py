"""Tokens as examples for ResMem: the windows that cover a text [S-appC-win], and the
model's hidden states and residuals at each token.
"""

from collections.abc import Sequence
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from numpy.typing import NDArray

from rankone._annotated import checked
from rankone._checks import Numbers, integer, positive
from rankone._module import Module
from rankone._progress import progress_bar
from rankone.language.forward import Cache, before_head, embed, head, run
from rankone.language.model import LanguageModel
from rankone.language.tokenizer import pad
from rankone.language.transformer import Network
from rankone.residual.storage import Residuals, sparse

__all__ = [
    "Places",
    "context_lengths",
    "next_scores",
    "next_token_residuals",
    "read_places",
    "window_starts",
]


def window_starts(length: int, window: int, stride: int) -> NDArray[np.int64]:
    """Start positions of the windows that cover a text; the last window ends where the
    text ends.

    Args:
        length: Tokens of the text, 1 or more.
        window: Tokens of a window.
        stride: Tokens from one window to the next, at most `window`.
    """
    length = integer("length", length, "a positive number of tokens")
    window = integer("window", window, "a positive number of tokens")
    stride = integer(
        "stride",
        stride,
        "a positive number of tokens, not above the window",
        most=window,
    )
    last = max(length - window, 0)
    return np.append(np.arange(0, last, stride), last)


def context_lengths(length: int, window: int, stride: int) -> NDArray[np.int64]:
    """Length of the context that predicts each token: the number of tokens before it in
    the first window that contains it [S-appC-win].

    It is 0, 1, 2, … in the first window, and at least window − stride from the second
    window on.
    """
    length = integer("length", length, "a positive number of tokens")
    contexts = np.full(length, -1)
    for start in window_starts(length, window, stride):
        window_tokens = np.arange(start, min(start + window, length))
        new_tokens = window_tokens[contexts[window_tokens] < 0]
        contexts[new_tokens] = new_tokens - start
    return contexts


class Places(Module):
    """Positions in texts, each with the model's hidden state there and the token that
    follows [S-appC-win].

    Attributes:
        z: Hidden states before the head (n, d), in which ResMem searches for neighbours.
        labels: The token that comes next (n,).
        texts: Number of the text of each place (n,).
        ends: Number of tokens of the text up to and including the place (n,).
        tokens: The tokens of each text.
    """

    z: Float[Array, "n d"]
    labels: Int[NDArray, " n"]
    texts: Int[NDArray, " n"]
    ends: Int[NDArray, " n"]
    tokens: tuple[tuple[int, ...], ...] = eqx.field(static=True)

    def __len__(self) -> int:
        return len(self.labels)

    def quote(self, model: LanguageModel, i: int, length: int = 10) -> tuple[str, str]:
        """Text of the last `length` tokens up to place i, and text of the token that
        follows.
        """
        end = self.ends[i]
        words = self.tokens[self.texts[i]][max(end - length, 0) : end]
        return model.tokenizer.decode(words).strip(), model.tokenizer.decode(
            [self.labels[i]]
        ).strip()


@checked
def read_places(
    model: LanguageModel,
    texts: Sequence[str],
    *,
    context: int = 16,
    window: int = 256,
    stride: int = 192,
    batch: int = 4,
) -> Places:
    """`Places` of some texts: every position that has enough context and is followed by
    a token, with the model's hidden states, computed in overlapping windows.

    Args:
        model: Base model.
        texts: Texts to read, one or more.
        context: Least number of tokens of the text up to and including a place.
        window: Number of tokens of a window; 256 in the paper.
        stride: Tokens from one window to the next.
        batch: Number of windows that are run at a time.

    Raises:
        ValueError: If no text has more than `context` tokens.
    """
    context = integer("context", context, "a positive number of tokens")
    batch = integer("batch", batch)
    tokens = [model.tokenizer.encode(text) for text in texts]
    max_length = max(map(len, tokens), default=0)
    if max_length <= context:
        raise ValueError(
            f"texts: got {max_length} tokens in the longest; "
            f"it must be a text of more than context = {context}."
        )
    places = _place_rows(tokens, context, window, stride)
    starts = np.unique(places[:, :2], axis=0)
    rows = [tokens[text][start : start + window] for text, start in starts]
    states = _states(model.network, rows, batch)
    row = {(text, start): i for i, (text, start) in enumerate(starts.tolist())}
    z = np.stack(
        [
            states[row[text, start]][position - start]
            for text, start, position in places.tolist()
        ]
    )
    labels = np.array([tokens[text][position + 1] for text, _, position in places])
    return Places(
        jnp.asarray(z),
        labels,
        places[:, 0],
        places[:, 2] + 1,
        tuple(map(tuple, tokens)),
    )


def _place_rows(
    tokens: Sequence[Sequence[int]], context: int, window: int, stride: int
) -> NDArray[np.int64]:
    """Text, first token of the window, and token of every place (n, 3)."""
    places = []
    for text, text_tokens in enumerate(tokens):
        positions = np.arange(context - 1, len(text_tokens) - 1)
        if len(positions):
            starts = (
                positions
                - context_lengths(len(text_tokens) - 1, window, stride)[positions]
            )
            places.append(
                np.stack([np.full(len(positions), text), starts, positions], 1)
            )
    return np.concatenate(places)


def _states(
    network: Network, rows: Sequence[Sequence[int]], batch: int
) -> list[NDArray]:
    """Hidden states before the head at every token of some rows; all batches of one
    shape, to compile once.
    """
    tokens, valid = pad(rows, multiple=64)
    padding = ((0, -len(rows) % batch), (0, 0))
    parts = zip(
        *(
            np.pad(part, padding).reshape(-1, batch, tokens.shape[1])
            for part in (tokens, valid)
        ),
        strict=True,
    )
    batches = [
        np.asarray(_final_states(network, *part))
        for part in progress_bar(list(parts), desc="texts", disable=len(rows) < 64)
    ]
    return list(np.concatenate(batches))


@jax.jit
def _final_states(network: Network, tokens: Array, valid: Array) -> Array:
    h, _, _ = run(
        network,
        embed(network, tokens),
        Cache.empty(network.config, valid, network.norm.dtype),
    )
    return before_head(network, h)


@jax.jit
def next_scores(network: Network, z: Numbers) -> Float[Array, "*n V"]:
    """The model's scores of the next token from hidden states before its head (...,
    d).
    """
    return jnp.asarray(z) @ head(network).T


@checked
def next_token_residuals(
    model: LanguageModel, places: Places, *, temperature: float = 1.0, keep: int = 128
) -> Residuals:
    """The largest entries of onehot(y) − softmax(f/T) at every place [S-appC-top128].

    They are computed for a batch of places at a time, because the full residuals of a
    vocabulary would seldom fit in memory.

    Args:
        model: The model that read the places.
        places: Places whose residuals are computed.
        temperature: Temperature T of the softmax.
        keep: Number of entries stored per residual; the entry of the label is always
            among them.
    """
    positive(
        "temperature",
        temperature,
        "a positive finite temperature; 1 leaves the model as it is",
    )
    L = len(head(model.network))
    keep = integer(
        "keep",
        keep,
        "a positive number of entries, not above the size of the vocabulary",
        most=L,
    )
    values, columns = _top_entries(
        model.network, places.z, jnp.asarray(places.labels), temperature, keep
    )
    return sparse(values, columns, L)


@partial(jax.jit, static_argnames="keep")
def _top_entries(
    network: Network, z: Array, labels: Array, temperature: float, keep: int
) -> tuple[Array, Array]:
    def residual_entries(place: tuple[Array, Array]) -> tuple[Array, Array]:
        residual = (
            (-jax.nn.softmax(next_scores(network, place[0]) / temperature))
            .at[place[1]]
            .add(1)
        )
        columns = jax.lax.top_k(abs(residual), keep)[1]
        return residual[columns], columns

    return jax.lax.map(residual_entries, (z, labels), batch_size=128)
