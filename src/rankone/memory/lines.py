"""The printed proofs of Lemmas 2 and 3 line by line: each inequality as its left side over its right side.

A line holds where the ratio is at most 1. They are written out to be read beside the paper, not to be fast.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from rankone.memory.distributed import DrDAM
from rankone.memory.drift import Drift, kernel_gap
from rankone.memory.exact import MrDAM

__all__ = ["lemma_2", "lemma_3", "recursion"]


@jax.jit
def lemma_2(memory: MrDAM, x: Float[Array, "N D"], z: Float[Array, "N D"]) -> dict[str, Array]:
    r"""Eqs 18 to 27 [D-eq18, D-eq19-21, D-eq22, D-eq23, D-eq24-26, D-eq27] at pairs of states of the cube.

    "eq18" is the largest difference between $\nabla E$ and $x-\mathrm{sm}(-\frac\beta2\|x-\xi^\mu\|^2)\Xi$, not a
    ratio; eq. 22 is taken with $\|\Xi\|_2$, and eq. 26 with its printed 4.

    Args:
        memory: The exact memory.
        x: States (N, D).
        z: As many others.
    """
    Xi, beta, K = memory.Xi, memory.beta, len(memory.Xi)
    square = lambda y: ((y[:, None] - Xi) ** 2).sum(-1)  # noqa: E731
    length = lambda v: jnp.linalg.norm(v, axis=-1)  # noqa: E731
    sm_x, sm_z = (jax.nn.softmax(-beta / 2 * square(y)) for y in (x, z))
    gradients, change = length(memory.gradient(x) - memory.gradient(z)), jnp.abs(sm_x - sm_z).sum(-1)
    moved, logits = length(x - z), beta / 2 * jnp.abs(square(z) - square(x)).sum(-1)
    return {
        "eq18": jnp.abs(memory.gradient(x) - (x - sm_x @ Xi)).max(),
        "eq19-21": gradients / (moved + length((sm_x - sm_z) @ Xi)),
        "eq22": length((sm_x - sm_z) @ Xi) / (change * jnp.linalg.norm(Xi, 2)),
        "eq23": change / (jnp.exp(beta / 2) / K * logits),
        "eq24-26": logits / (2 * beta * K * moved),
        "eq27": gradients / ((1 + 2 * K * beta * jnp.exp(beta / 2)) * moved),
    }


@jax.jit
def lemma_3(memory: MrDAM, copy: DrDAM, x: Float[Array, "N D"]) -> dict[str, Array]:
    r"""Eqs 35 to 47 [D-eq35-37, D-eq39-42, D-eq43-46, D-eq47], with ε₀ the largest kernel error at hand.

    Eqs 43 to 46 need $\hat k\ge0$; the ratio may pass 1 where that fails.

    Args:
        memory: The exact memory.
        copy: Its distributed copy.
        x: States (N, D).
    """
    gap = kernel_gap(copy, memory.Xi, x)
    k = jnp.exp(-memory.beta / 2 * ((x[:, None] - memory.Xi) ** 2).sum(-1))
    S, S_hat = k.sum(-1, keepdims=True), (k + gap).sum(-1, keepdims=True)
    length = lambda v: jnp.linalg.norm(v, axis=-1)  # noqa: E731
    error = length(k @ memory.Xi / S - (k + gap) @ memory.Xi / S_hat)
    first, second = length(gap @ memory.Xi / S), length((k + gap) @ memory.Xi * (1 / S - 1 / S_hat))
    allowed = jnp.abs(gap).max() * len(memory.Xi) / S[:, 0]
    return {
        "eq35-37": error / (first + second),
        "eq39-42": first / allowed,
        "eq43-46": second / allowed,
        "eq47": error / (2 * allowed),
    }


@jax.jit
def recursion(memory: MrDAM, run: Drift) -> dict[str, Array]:
    """Eqs 48 to 54 on two runs side by side [D-eq48-53, D-eq54]: distance over Σd⁽ᵗ⁾, and d⁽ᵗ⁾ over its two terms."""
    gap = run.exact - run.distributed
    steps = jnp.linalg.norm(jnp.diff(gap, axis=0), axis=-1)
    turned = jnp.linalg.norm(memory.gradient(run.exact[:-1]) - memory.gradient(run.distributed[:-1]), axis=-1)
    return {
        "eq48-53": run.distance[1:] / jnp.cumsum(steps, axis=0),
        "eq54": steps / (run.step_size * (turned + run.errors)),
    }
