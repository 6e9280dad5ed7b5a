"""Causal tracing: noise is added to the subject, one state of the clean run is restored
at a time, and the probability of the fact shows which states carry the fact.
"""

from collections.abc import Sequence
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, Int
from numpy.typing import NDArray

from rankone._annotated import checked
from rankone._checks import choice, integer, positive
from rankone._module import Module
from rankone._progress import progress_bar
from rankone.language.forward import SITES, Cache, embed, logits, run
from rankone.language.model import LanguageModel
from rankone.language.relations import Request
from rankone.language.transformer import Network

__all__ = ["Trace", "mean_effect", "subject_noise", "trace"]


class Trace(Module):
    """Probability of the fact with one state restored at a time.

    Attributes:
        restored: Probability with each state restored (layers, tokens), averaged over
            the noise.
        clean: Probability without noise.
        blurred: Probability with noise on the subject and nothing restored, averaged
            over the noise.
        tokens: Text of each token.
        subject: First and last column of the subject.
        site: Site whose value was restored.
    """

    restored: Float[NDArray, "L T"]
    clean: float
    blurred: float
    tokens: tuple[str, ...] = eqx.field(static=True)
    subject: tuple[int, int] = eqx.field(static=True)
    site: str = eqx.field(static=True)

    @property
    def effect(self) -> Float[NDArray, "L T"]:
        """Indirect effect: how much of the probability each restored state brings
        back, `restored` − `blurred`.
        """
        return self.restored - self.blurred


@checked
def trace(
    model: LanguageModel,
    request: Request,
    *,
    key: Array,
    site: str = "hidden",
    window: int = 1,
    noises: int = 8,
    sigmas: float = 3.0,
    unit: float | None = None,
    batch: int = 64,
) -> Trace:
    """Causal trace of a fact: the probability of the answer with noise on the subject
    and one state of the clean run restored, for each block and token.

    Gaussian noise with standard deviation `sigmas` times `unit` is added to the
    embeddings of the subject's tokens. Then, for every block and token, the run is
    repeated with the clean state restored there. Many restorations run as one batch.
    The result contains these probabilities as `restored` (layers, tokens), the
    probability without noise as `clean`, and with noise but nothing restored as
    `blurred`.

    Args:
        model: The language model.
        request: Prompt, subject, and the answer. The probability is that of the first
            token of the answer.
        key: JAX random key of the noise.
        site: Site whose value is restored: "hidden", "mlp" or "attention".
        window: Number of blocks, around each block, in which the value is restored; 10
            is usual for "mlp" and "attention". If it is even, the window has one block
            more below the block than above, as in ROME's published code.
        noises: Number of draws of the noise to average over.
        sigmas: Standard deviation of the noise, in multiples of `unit`.
        unit: Standard deviation of the embeddings of subjects, from
            `rankone.language.tracing.subject_noise`; by default that of this subject.
        batch: Number of restorations run at a time.

    Returns:
        Probabilities of the answer. `restored` (blocks, tokens) is with noise and one
        state restored, `clean` without noise, and `blurred` with noise and nothing
        restored. `effect` is `restored` minus `blurred`.

    Raises:
        ValueError: If the subject is not in the prompt, or an option is out of range.
    """
    choice("site", site, [s for s in SITES if s != "key"])
    window = integer("window", window)
    noises = integer("noises", noises)
    batch = integer("batch", batch)
    unit = subject_noise(model, [request.subject]) if unit is None else unit
    for name, number in (("sigmas", sigmas), ("unit", unit)):
        positive(name, number)
    ids, (first, last) = _columns(model, request)
    tokens = np.asarray(ids)
    answer = model.tokenizer.following(request.target)[0]
    noise = _noise(
        key, sigmas * unit, (noises, last - first + 1, model.network.config.width)
    )
    clean_run, states, cache = _clean(model.network, tokens, answer, site)
    noisy_run = partial(
        _blurred,
        model.network,
        tokens,
        noise,
        states,
        cache,
        answer,
        site=site,
        first=first,
        window=window,
    )
    L = model.network.config.layers
    T = len(ids)
    batches = _places(L, T, first, max(1, batch // noises))
    parts = [
        noisy_run(part)
        for part in progress_bar(batches, desc="restoring", disable=len(batches) < 8)
    ]
    probabilities = np.concatenate(parts)
    words = tuple(model.tokenizer.decode([token]) for token in ids)
    restored = np.full((L, T), probabilities[0])
    restored[:, first:] = probabilities[1 : 1 + L * (T - first)].reshape(L, -1)
    return Trace(
        restored, float(clean_run), float(probabilities[0]), words, (first, last), site
    )


def _places(L: int, T: int, first: int, size: int) -> Int[np.ndarray, "batches size 2"]:
    """Places (layer, token) that the noise reaches, in batches of one size, after one
    that restores nothing.

    The tokens before the subject are the same as in the clean run, and have no places.
    Places that restore nothing also fill up the last batch.
    """
    empty_places = [(-1, 0)]
    places = empty_places + [
        (layer, token) for layer in range(L) for token in range(first, T)
    ]
    return np.array(places + empty_places * (-len(places) % size)).reshape(-1, size, 2)


@partial(jax.jit, static_argnames="shape")
def _noise(key: Array, scale: ArrayLike, shape: tuple[int, ...]) -> Array:
    return jnp.asarray(scale) * jax.random.normal(key, shape)


@checked
def subject_noise(model: LanguageModel, subjects: Sequence[str]) -> float:
    """Standard deviation of the entries of the subjects' token embeddings, where each
    subject is tokenised as a name inside a sentence.

    Args:
        model: The language model.
        subjects: One name or more.

    Raises:
        ValueError: If there is no name.
    """
    tokens = [
        token for subject in subjects for token in model.tokenizer.following(subject)
    ]
    return float(_spread(model.network.embedding, np.asarray(tokens)))


@jax.jit
def _spread(embedding: Array, tokens: Int[ArrayLike, " n"]) -> Array:
    return embedding[tokens].std()


def _columns(
    model: LanguageModel, request: Request
) -> tuple[list[int], tuple[int, int]]:
    """Tokens of the prompt, and the columns of the subject's first and last token."""
    before = request.prompt.split("{}")[0]
    last = model.tokenizer.last_token_of(request.subject, request.text)
    first = len(model.tokenizer.encode(before.rstrip()))
    return model.tokenizer.encode(request.text), (min(first, last), last)


@partial(jax.jit, static_argnames="site")
def _clean(
    network: Network, tokens: Int[ArrayLike, " T"], answer: ArrayLike, site: str
) -> tuple[Array, Array, Cache]:
    """Probability of the answer, the states (L, T, d) and the cache of the run with
    no noise.
    """
    tokens = jnp.asarray(tokens)[None]
    cache = Cache.empty(
        network.config, jnp.ones(tokens.shape, bool), network.norm.dtype
    )
    h, cache, readings = run(network, embed(network, tokens), cache, read=(site,))
    p = jax.nn.softmax(logits(network, h[0, -1]))[answer]
    return p, readings[site][:, 0], cache


class _Restoration(Module):
    """The clean states (L, T, d) at a site, and which of them each row of a batch gets
    back.
    """

    states: Float[Array, "L T d"]
    layer: Int[Array, " n"]
    token: Int[Array, " n"]
    site: str = eqx.field(static=True)
    window: int = eqx.field(static=True)


def _restore(
    site: str,
    layer: Array,
    value: Array,
    readings: dict[str, Array],
    data: _Restoration,
) -> Array:
    if site != data.site:
        return value
    low = data.layer - data.window // 2
    in_window = (data.layer >= 0) & (layer >= low) & (layer < low + data.window)
    at_token = jnp.arange(value.shape[1]) == data.token[:, None]
    return jnp.where(
        (in_window[:, None] & at_token)[..., None], data.states[layer], value
    )


@partial(jax.jit, static_argnames=("site", "first", "window"))
def _blurred(
    network: Network,
    tokens: Int[ArrayLike, " T"],
    noise: Float[Array, "noises s d"],
    states: Float[Array, "L T d"],
    cache: Cache,
    answer: ArrayLike,
    places: Int[ArrayLike, "n 2"],
    *,
    site: str,
    first: int,
    window: int,
) -> Float[Array, " n"]:
    """Probability of the answer for every place (layer, token), averaged over the
    noise. The cache of the tokens before the subject comes from the clean run.
    """
    count = len(noise)
    places = jnp.asarray(places)
    h = jnp.tile(embed(network, jnp.asarray(tokens)[first:])[None], (count, 1, 1))
    h = jnp.tile(
        h.at[:, : noise.shape[1]].add(noise.astype(h.dtype)), (len(places), 1, 1)
    )
    layer, token = jnp.repeat(places, count, axis=0).T
    cache = Cache(
        jnp.repeat(cache.keys, len(h), axis=1),
        jnp.repeat(cache.values, len(h), axis=1),
        jnp.repeat(cache.valid, len(h), axis=0),
        jnp.asarray(first),
    )
    h, _, _ = run(
        network,
        h,
        cache,
        hook=_restore,
        data=_Restoration(states[:, first:], layer, token - first, site, window),
        keep=False,
    )
    p = jax.nn.softmax(logits(network, h[:, -1]), axis=-1)[:, answer]
    return p.reshape(len(places), count).mean(1)


@checked
def mean_effect(traces: Sequence[Trace]) -> Float[NDArray, "L groups"]:
    """Average indirect effect of several facts, their tokens gathered into six groups.

    The groups are the first, middle and last tokens of the subject; the first token
    after it, the tokens further on, and the last token of the prompt.

    Args:
        traces: One trace or more, all of one model.

    Raises:
        ValueError: If there is no trace.
    """
    total = np.zeros((len(traces[0].effect), 6))
    count = np.zeros(6)
    for record in traces:
        (first, last) = record.subject
        T = len(record.tokens)
        after = range(last + 1, min(last + 2, T))
        groups = [
            [first],
            range(first + 1, last),
            [last],
            after,
            range(last + 2, T - 1),
            [T - 1],
        ]
        for i, columns in enumerate(map(list, groups)):
            total[:, i] += record.effect[:, columns].sum(1)
            count[i] += len(columns)
    return total / np.maximum(count, 1)
