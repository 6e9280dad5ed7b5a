"""The baseline that needs no key: fine-tune the same matrix on the same sentence, with every weight near its start."""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from rankone.language.forward import Cache, logits, run, wide, without_hook
from rankone.language.likelihood import at_positions, log_likelihood, up_to_layer
from rankone.language.prompts import Continuations
from rankone.language.transformer import Network

__all__ = ["fine_tune"]


@partial(jax.jit, static_argnames=("layer", "steps"))
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
    """ΔW of one down projection by Adam, with every entry of ΔW projected to [−radius, radius] after each step.

    Args:
        network: The network.
        rows: Prompt and new target.
        layer: Number of the block whose down projection is tuned.
        radius: Largest change of a weight, in the unit of the weights.
        rate: Step size of Adam.
        steps: Number of steps at most.
        enough: Stop when the mean −log p of the target falls below this.

    Returns:
        ΔW (d, D), and the number of steps taken.
    """
    import optax  # here, because it takes as long to import as the rest of the package

    below, adam = up_to_layer(network, rows, layer), optax.adam(rate)

    def loss(delta: Array) -> Array:
        return -log_likelihood(_scores(network, rows, below, layer, delta), rows).mean()

    def step(state: tuple) -> tuple:
        t, delta, moments, _ = state
        value, slope = jax.value_and_grad(loss)(delta)
        update, moments = adam.update(slope, moments)
        moved = jnp.clip(delta + update, -radius, radius)
        return t + 1, jnp.where(value < enough, delta, moved), moments, value

    W = network.layers.down[layer]
    zero = jnp.zeros_like(W, wide(W))
    start = (jnp.asarray(0), zero, adam.init(zero), jnp.asarray(jnp.inf, zero.dtype))
    t, delta, *_ = jax.lax.while_loop(lambda s: (s[0] < steps) & (s[3] >= enough), step, start)
    return delta, t


def _scores(network: Network, rows: Continuations, below: Array, layer: int, delta: Array) -> Array:
    cache = Cache.empty(network.config, rows.valid, network.norm.dtype)
    h, _, _ = run(network, below, cache, layers=(layer, layer + 1), hook=_tuned, data=delta)
    h, _, _ = run(network, h, cache, layers=(layer + 1, network.config.layers), hook=without_hook)
    return logits(network, at_positions(h, rows))


def _tuned(site: str, layer: Array, value: Array, seen: dict[str, Array], delta: Array) -> Array:
    return (value + seen["key"] @ delta.T).astype(value.dtype) if site == "mlp" else value
