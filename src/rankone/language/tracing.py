"""Causal tracing: blur the subject, put one state of the clean run back at a time, and see which restores the fact."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import NDArray
from tqdm.auto import tqdm

from rankone._checks import check, choice, positive
from rankone._pytree import pytree
from rankone.language.forward import SITES, Cache, embed, logits, run
from rankone.language.model import LanguageModel
from rankone.language.relations import Request
from rankone.language.transformer import Network

__all__ = ["Trace", "mean_effect", "subject_noise", "trace"]


@dataclass(frozen=True)
class Trace:
    """Probability of the fact with one state restored at a time.

    Attributes:
        restored: (layers, tokens), mean over the noises.
        clean: With nothing blurred.
        blurred: With the subject blurred and nothing restored, mean over the noises.
        tokens: Text of each token.
        subject: First and last column of the subject.
        site: What was restored.
    """

    restored: Float[NDArray, "L T"]
    clean: float
    blurred: float
    tokens: list[str]
    subject: tuple[int, int]
    site: str

    @property
    def effect(self) -> Float[NDArray, "L T"]:
        """Indirect effect: how much of the probability each restored state brings back."""
        return self.restored - self.blurred


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
    """Layer × token map of where a fact passes through the model.

    The subject's embeddings get Gaussian noise of `sigmas` standard deviations of subjects' embeddings; then, for every
    block and token, the run is repeated with the clean state put back there. Many restorations run as one batch.

    Args:
        model: To trace.
        request: Prompt, subject and the answer whose first token is followed.
        key: JAX random key of the noise.
        site: "hidden", "mlp" or "attention".
        window: Blocks around each in which the site is restored; 10 is usual for "mlp" and "attention".
        noises: Draws of the noise, averaged.
        sigmas: Scale of the noise, in units of
        unit: Standard deviation of the embeddings of subjects, from `subject_noise`; that of this subject if None.
        batch: Restorations run at a time.

    Raises:
        ValueError: If the subject is not in the prompt, or an option is out of range.
    """
    choice("site", site, [s for s in SITES if s != "key"])
    unit = subject_noise(model, [request.subject]) if unit is None else unit
    for name, number in (("sigmas", sigmas), ("unit", unit)):
        positive(name, number)
    check(window > 0 and noises > 0 and batch > 0, "window, noises, batch", (window, noises, batch), "positive numbers")
    tokens, (first, last) = _columns(model, request)
    answer = model.tokenizer.following(request.target)[0]
    noise = sigmas * unit * jax.random.normal(key, (noises, last - first + 1, model.network.config.width))
    clean, states = _clean(model.network, np.asarray(tokens), answer, site)
    L, T = model.network.config.layers, len(tokens)
    places = np.array([(-1, 0), *np.ndindex(L, T)])  # the first restores nothing
    pad = -len(places) % max(1, batch // noises)
    places = np.concatenate([places, np.tile(places[:1], (pad, 1))]).reshape(-1, max(1, batch // noises), 2)
    blurred = partial(
        _blurred, model.network, np.asarray(tokens), noise, states, answer, site=site, first=first, window=window
    )
    found = [blurred(part) for part in tqdm(places, desc="restoring", disable=len(places) < 8)]
    probabilities = np.concatenate(found)
    words = [model.tokenizer.decode([token]) for token in tokens]
    restored = probabilities[1 : 1 + L * T].reshape(L, T)
    return Trace(restored, float(clean), float(probabilities[0]), words, (first, last), site)


def subject_noise(model: LanguageModel, subjects: Sequence[str]) -> float:
    """Standard deviation of the entries of the subjects' token embeddings, the subjects taken inside a sentence."""
    check(len(subjects) > 0, "subjects", subjects, "one name or more")
    tokens = [token for subject in subjects for token in model.tokenizer.following(subject)]
    return float(_spread(model.network.embedding, np.asarray(tokens)))


@jax.jit
def _spread(embedding: Array, tokens: Array) -> Array:
    return embedding[tokens].std()


def _columns(model: LanguageModel, request: Request) -> tuple[list[int], tuple[int, int]]:
    """Tokens of the prompt, and first and last of the subject's."""
    before = request.prompt.split("{}")[0]
    last = model.tokenizer.last_token_of(request.subject, request.text)
    first = len(model.tokenizer.encode(before.rstrip()))
    return model.tokenizer.encode(request.text), (min(first, last), last)


@partial(jax.jit, static_argnames="site")
def _clean(network: Network, tokens: Array, answer: int, site: str) -> tuple[Array, Array]:
    """Probability of the answer and the states (L, T, d) of the run with nothing blurred."""
    cache = Cache.empty(network.config, jnp.ones((1, len(tokens)), bool), network.norm.dtype)
    h, _, seen = run(network, embed(network, tokens[None]), cache, read=(site,))
    return jax.nn.softmax(logits(network, h[0, -1]))[answer], seen[site][:, 0]


@pytree(data=["states", "layer", "token"], meta=["site", "window"])
@dataclass(frozen=True)
class _Restoration:
    states: Float[Array, "L T d"]
    layer: Array
    token: Array
    site: str
    window: int


def _restore(site: str, layer: Array, value: Array, seen: dict[str, Array], data: _Restoration) -> Array:
    if site != data.site:
        return value
    low = data.layer - (data.window - 1) // 2
    here = (data.layer >= 0) & (layer >= low) & (layer < low + data.window)
    there = jnp.arange(value.shape[1]) == data.token[:, None]
    return jnp.where((here[:, None] & there)[..., None], data.states[layer], value)


@partial(jax.jit, static_argnames=("site", "first", "window"))
def _blurred(
    network: Network,
    tokens: Array,
    noise: Array,
    states: Array,
    answer: int,
    places: Array,
    *,
    site: str,
    first: int,
    window: int,
) -> Float[Array, " n"]:
    """Probability of the answer for every place (layer, token), mean over the noises."""
    count = len(noise)
    h = jnp.tile(embed(network, tokens)[None], (count, 1, 1))
    h = jnp.tile(h.at[:, first : first + noise.shape[1]].add(noise.astype(h.dtype)), (len(places), 1, 1))
    layer, token = jnp.repeat(places, count, axis=0).T
    cache = Cache.empty(network.config, jnp.ones(h.shape[:2], bool), network.norm.dtype)
    h, _, _ = run(network, h, cache, hook=_restore, data=_Restoration(states, layer, token, site, window))
    p = jax.nn.softmax(logits(network, h[:, -1]), axis=-1)[:, answer]
    return p.reshape(len(places), count).mean(1)


def mean_effect(traces: Sequence[Trace]) -> Float[NDArray, "L groups"]:
    """Average indirect effect of several facts, their tokens gathered into six groups.

    First, middle and last token of the subject; the first after it, those further on, and the last of the prompt.
    """
    total, count = np.zeros((len(traces[0].effect), 6)), np.zeros(6)
    for one in traces:
        (first, last), T = one.subject, len(one.tokens)
        after = range(last + 1, min(last + 2, T))
        groups = [[first], range(first + 1, last), [last], after, range(last + 2, T - 1), [T - 1]]
        for i, columns in enumerate(map(list, groups)):
            total[:, i] += one.effect[:, columns].sum(1)
            count[i] += len(columns)
    return total / np.maximum(count, 1)
