"""Editing one fact of a language model: the key of the fact, and the search for a value
that changes the answer.

The module also has the baseline that needs no key: fine-tuning of the same matrix on
the same sentence, with a bound on the change of every weight.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from rankone._annotated import checked
from rankone._checks import integer, not_negative, positive
from rankone._module import Module
from rankone.language.forward import Cache, embed, head, logits, run, wide
from rankone.language.likelihood import at_positions, log_likelihood, up_to_layer
from rankone.language.prompts import Continuations, Rehearsal
from rankone.language.transformer import Network

__all__ = ["Search", "Value", "find_value", "fine_tune", "subject_keys"]

# Loss as a function of δ, the log-probabilities after "subject is a" before any edit,
# and the step. It returns the loss, its parts, and those log-probabilities.
Loss = Callable[[Array, Array, Array], tuple[Array, tuple[Array, Array]]]
# The number of rows of the record of losses is a multiple of this number, so that few
# programs are compiled for all numbers of steps.
_ROWS = 32


class Search(Module):
    """Options of the search for the value vector that `edit_fact` writes. The constants
    are those of ROME's published code, unless a line says otherwise. The search changes
    the output v₀ of the down projection by δ.

    Attributes:
        rate: Step size of Adam, positive.
        steps: Largest number of steps.
        enough: Stop when the mean −log p of the target falls below this. (The published
            code compares the whole loss with it.)
        divergence: Weight of KL(p₀ ‖ p_δ), where p₀ and p_δ are the predictions after
            "subject is a" without and with δ. (The published code: KL(p_δ ‖ p₀).)
        decay: Weight of ‖δ‖²/‖v₀‖². (The published code: 0.5 times ‖δ‖/‖v₀‖², which is
            not free of units.)
        reach: Largest ‖δ‖, as a multiple of ‖v₀‖.
    """

    rate: float = 0.5
    steps: int = 20
    enough: float = 0.05
    divergence: float = 0.0625
    decay: float = 0.01
    reach: float = 4.0

    def __post_init__(self) -> None:
        self.steps = integer("steps", self.steps)
        positive("rate", self.rate)
        positive("reach", self.reach)
        for name in ("enough", "divergence", "decay"):
            not_negative(name, getattr(self, name))


class Value(Module):
    """Vector to add to the output of the down projection at the subject's last token.

    Attributes:
        delta: δ (d,), the residual v* − Wk that the edit writes; v* is the value that
            the search has computed.
        keys: Input of the down projection there in each context (n, D); the first
            context is the empty one.
        before: ‖v₀‖, the mean length of the output there before the edit.
        losses: Mean −log p of the target, KL divergence, and ‖δ‖²/‖v₀‖² at every step
            (steps, 3); NaN after the last step taken.
        steps: Number of steps taken.
    """

    delta: Float[Array, " d"]
    keys: Float[Array, "n D"]
    before: Float[Array, ""]
    losses: Float[Array, "steps 3"]
    steps: Int[Array, ""]

    @property
    def key(self) -> Float[Array, " D"]:
        """Key k of the edit: the mean of the keys over the contexts. The direction u,
        the product uᵀk and the residual all use this k.
        """
        return self.keys.mean(0)


def find_value(
    network: Network, rows: Rehearsal, *, layer: int, search: Search
) -> Value:
    """`Value` of an edit, whose change δ is optimised by Adam. δ makes the target more
    likely in every context; penalties keep δ short and the prediction after "subject is
    a" unchanged.

    The blocks up to this one, and all tokens before the subject's last token, are run
    once. A step runs only the blocks above, from that token on.

    Args:
        network: The network.
        rows: The request in its contexts.
        layer: Number of the block whose down projection is to be edited.
        search: Options of the search.
    """
    value = _find_value(
        network, rows, search, layer=layer, size=-(-search.steps // _ROWS) * _ROWS
    )
    return replace(value, losses=value.losses[: search.steps])


@partial(jax.jit, static_argnames=("layer", "size"))
def _find_value(
    network: Network, rows: Rehearsal, search: Search, *, layer: int, size: int
) -> Value:
    h, cache, keys, outputs = _below(network, rows, layer)
    keys = keys.astype(wide(keys))
    outputs = outputs.astype(wide(outputs))
    mean_norm = jnp.linalg.norm(outputs[:-1], axis=-1).mean()
    loss = partial(_loss, network, rows, layer, h, cache, mean_norm, search)
    # A placeholder: the first step, where δ = 0, computes these log-probabilities.
    probe = jnp.zeros(len(head(network)), wide(h))
    steps, delta, losses = _descend(
        loss, jnp.zeros_like(outputs[0]), probe, mean_norm, search, size
    )
    return Value(delta, keys[:-1], mean_norm, losses, steps)


def _descend(
    loss: Loss,
    delta: Array,
    probe: Array,
    mean_norm: Array,
    search: Search,
    size: int,
) -> tuple[Array, Array, Array]:
    """Adam from δ = 0 inside the ball ‖δ‖ ≤ reach·‖v₀‖: steps taken, δ, and the parts
    of the loss at every step.
    """
    import optax  # here, because it takes as long to import as the rest of the package

    adam = optax.adam(search.rate)
    slope_of = jax.value_and_grad(loss, has_aux=True)

    def go_on(state: tuple) -> Array:
        t, _, _, _, losses = state
        return (t < search.steps) & ~(losses[jnp.maximum(t - 1, 0), 0] < search.enough)

    def step(state: tuple) -> tuple:
        t, delta, probe, moments, losses = state
        (_, (parts, probe)), slope = slope_of(delta, probe, t)
        update, moments = adam.update(slope, moments)
        proposal = delta + update
        proposal = proposal * jnp.minimum(
            1, search.reach * mean_norm / jnp.linalg.norm(proposal)
        )
        # the loss is that of the present δ, which is not moved if it is good enough
        converged = parts[0] < search.enough
        return (
            t + 1,
            jnp.where(converged, delta, proposal),
            probe,
            moments,
            losses.at[t].set(parts),
        )

    start = (
        jnp.asarray(0),
        delta,
        probe,
        adam.init(delta),
        jnp.full((size, 3), jnp.nan, delta.dtype),
    )
    steps, delta, _, _, losses = jax.lax.while_loop(go_on, step, start)
    return steps, delta, losses


@checked
def subject_keys(
    network: Network, rows: Rehearsal, *, layer: int
) -> Float[Array, "n D"]:
    """Input of the down projection at the subject's last token in each context, without
    the search for a value.
    """
    return _subject_keys(network, rows, network.check_layer(layer))


@partial(jax.jit, static_argnames="layer")
def _subject_keys(network: Network, rows: Rehearsal, layer: int) -> Array:
    return _below(network, rows, layer)[2][:-1]


def _below(
    network: Network, rows: Rehearsal, layer: int
) -> tuple[Array, Cache, Array, Array]:
    """The stream after the block, the cache of what precedes the cut, and key and
    output at the cut.
    """
    after = jnp.ones(rows.suffix.tokens.shape, bool)
    valid = jnp.concatenate([rows.before_valid, after], axis=1)
    cache = Cache.empty(network.config, valid, network.norm.dtype)
    _, cache, _ = run(network, embed(network, rows.before), cache)
    stream = embed(network, rows.suffix.tokens)
    h, _, readings = run(
        network,
        stream,
        cache,
        layers=(0, layer + 1),
        read=("key", "mlp"),
        last=True,
        keep=False,
    )
    return h, cache, readings["key"][:, 0], readings["mlp"][:, 0]


def _scores(
    network: Network, rows: Rehearsal, layer: int, h: Array, cache: Cache
) -> Array:
    above = (layer + 1, network.config.layers)
    h, _, _ = run(network, h, cache, layers=above, keep=False)
    return logits(network, at_positions(h, rows.suffix))


def _loss(
    network: Network,
    rows: Rehearsal,
    layer: int,
    h: Array,
    cache: Cache,
    mean_norm: Array,
    search: Search,
    delta: Array,
    probe: Array,
    t: Array,
) -> tuple[Array, tuple[Array, Array]]:
    scores = _scores(network, rows, layer, h.at[:, 0].add(delta.astype(h.dtype)), cache)
    surprisal = -log_likelihood(scores, rows.suffix)[:-1].mean()
    log_probabilities = jax.nn.log_softmax(scores[-1, 0])
    probe = jnp.where(t == 0, jax.lax.stop_gradient(log_probabilities), probe)
    divergence = jnp.sum(jnp.exp(probe) * (probe - log_probabilities))
    size = delta @ delta / mean_norm**2
    parts = jnp.stack([surprisal, divergence, size])
    weights = jnp.array([1.0, search.divergence, search.decay], parts.dtype)
    return parts @ weights, (parts, probe)


@checked
def fine_tune(
    network: Network,
    rows: Continuations,
    *,
    layer: int,
    radius: float = 5e-4,
    rate: float = 5e-4,
    steps: int = 25,
    enough: float = 0.05,
) -> tuple[Float[Array, "d D"], Int[Array, ""]]:
    """Change ΔW of one down projection by fine-tuning with Adam, where every entry of
    ΔW is clipped to [−radius, radius] after each step; and the number of steps.

    Args:
        network: Network of a language model, such as the `network` of a
            `LanguageModel`.
        rows: Tokens of the prompts and the new targets, from
            `rankone.language.prompts.continuations(tokenizer, prompts, targets)`.
        layer: Number of the block whose down projection is tuned.
        radius: Largest change of a weight, in the unit of the weights.
        rate: Step size of Adam.
        steps: Largest number of steps.
        enough: Stop when the mean −log p of the target falls below this.

    Returns:
        ΔW (outputs, inputs), and the number of steps taken.

    Raises:
        ValueError: If there is no such block, or a number is out of range.
    """
    layer = network.check_layer(layer)
    steps = integer("steps", steps)
    positive("radius", radius)
    positive("rate", rate)
    not_negative("enough", enough)
    return _fine_tune(network, rows, radius, rate, enough, layer=layer, steps=steps)


@partial(jax.jit, static_argnames=("layer", "steps"))
def _fine_tune(
    network: Network,
    rows: Continuations,
    radius: float,
    rate: float,
    target_loss: float,
    *,
    layer: int,
    steps: int,
) -> tuple[Array, Array]:
    """`fine_tune` of arguments that are in their range."""
    import optax  # here, because it takes as long to import as the rest of the package

    stream = up_to_layer(network, rows, layer)
    adam = optax.adam(rate)

    def loss(delta: Array) -> Array:
        return -log_likelihood(
            _tuned_scores(network, rows, stream, layer, delta), rows
        ).mean()

    def step(state: tuple) -> tuple:
        t, delta, moments, _ = state
        value, slope = jax.value_and_grad(loss)(delta)
        update, moments = adam.update(slope, moments)
        candidate = jnp.clip(delta + update, -radius, radius)
        return t + 1, jnp.where(value < target_loss, delta, candidate), moments, value

    W = network.layers.down[layer]
    zero = jnp.zeros_like(W, wide(W))
    start = (jnp.asarray(0), zero, adam.init(zero), jnp.asarray(jnp.inf, zero.dtype))
    t, delta, *_ = jax.lax.while_loop(
        lambda s: (s[0] < steps) & (s[3] >= target_loss), step, start
    )
    return delta, t


def _tuned_scores(
    network: Network, rows: Continuations, stream: Array, layer: int, delta: Array
) -> Array:
    cache = Cache.empty(network.config, rows.valid, network.norm.dtype)
    alone = partial(run, network, cache=cache, keep=False)
    h, _, _ = alone(stream, layers=(layer, layer + 1), hook=_add_delta, data=delta)
    h, _, _ = alone(h, layers=(layer + 1, network.config.layers))
    return logits(network, at_positions(h, rows))


def _add_delta(
    site: str, layer: Array, value: Array, readings: dict[str, Array], delta: Array
) -> Array:
    return (
        (value + readings["key"] @ delta.T).astype(value.dtype)
        if site == "mlp"
        else value
    )
