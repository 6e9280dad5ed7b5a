"""Fidelity of a distributed memory to the exact one: errors at a state, errors after
retrieval.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Float, Int

from rankone._annotated import checked
from rankone._checks import Numbers, array, instance
from rankone._module import Module
from rankone.data.queries import occlude
from rankone.memory.descent import retrieve
from rankone.memory.distributed import DrDAM
from rankone.memory.exact import MrDAM
from rankone.memory.features import RandomFeatures
from rankone.memory.protocol import Memory
from rankone.theory.basin import gauge
from rankone.theory.thresholds import signal_to_noise

__all__ = [
    "RIGHT_WITHIN",
    "Completion",
    "Errors",
    "approximation_errors",
    "binarise",
    "complete",
    "hamming_error",
]

RIGHT_WITHIN = (
    0.2  # of the grey scale: about the error of a flat grey for a typical photograph
)


class Errors(Module):
    """Errors of one memory against another at states (...). The DrDAM paper reports
    their means over states [D-eq14].

    Attributes:
        energy: |E − Ê|, in unit².
        gradient: ‖∇E − ∇Ê‖₂, in the unit of the patterns. Eq. 14 and the published
            script of Fig. 5 average this error.
        entry: Mean over entries of |∇E − ∇Ê|, in the unit of the patterns. The
            published script of Fig. 3 averages this error.
    """

    energy: Float[Array, "..."]
    gradient: Float[Array, "..."]
    entry: Float[Array, "..."]


@checked
def approximation_errors(
    exact: Memory, approximate: Memory, x: Float[ArrayLike, "... D"]
) -> Errors:
    """`Errors` of energy and gradient of an approximate memory against an exact one, at
    states x [D-eq14, D-fig3].
    """
    for name, memory in (("exact", exact), ("approximate", approximate)):
        instance(name, memory, Memory, "a memory, with `energy_and_gradient`")
    return _errors(exact.energy_and_gradient(x), approximate.energy_and_gradient(x))


@jax.jit
def _errors(exact: tuple[Array, Array], copy: tuple[Array, Array]) -> Errors:
    (E, g) = exact
    (E_hat, g_hat) = copy
    return Errors(
        jnp.abs(E - E_hat),
        jnp.linalg.norm(g - g_hat, axis=-1),
        jnp.abs(g - g_hat).mean(-1),
    )


@checked
@jax.jit
def binarise(x: Float[ArrayLike, "... D"]) -> Float[Array, "... D"]:
    """Entries rounded to the nearer of 0 and 1/√D; the midpoint is rounded up
    [D-eq15].
    """
    x = jnp.asarray(x)
    top = jnp.asarray(x.shape[-1], x.dtype) ** -0.5
    return jnp.where(x >= top / 2, top, 0)


@checked
@jax.jit
def hamming_error(
    x: Float[ArrayLike, "... D"], z: Float[ArrayLike, "... D"]
) -> Float[Array, "..."]:
    """Fraction of entries that differ once both states are binarised [D-eq15, D-fig4A].

    The fraction is Δ_H = D^(−1/2) Σ_i |[x_i] − [z_i]|, where [ ] is `binarise`.
    """
    difference = jnp.abs(binarise(x) - binarise(z))
    return difference.sum(-1) / jnp.sqrt(difference.shape[-1])


class Completion(Module):
    """Occluded pictures, completed by both memories. Pictures are (n, D) in [0, 1];
    errors (n,) in the same unit.

    Attributes:
        start: The occluded pictures.
        exact: The exact memory's completions.
        distributed: The distributed memory's completions.
        exact_energies: Energy of the exact memory at the start and after each step (n,
            max_steps + 1), in unit² of the scaled pictures; constant once the state is
            at rest.
        distributed_energies: The same for the distributed memory, with its own energy.
        exact_error: Mean absolute error of `exact` against the true picture, over the
            hidden entries.
        distributed_error: The same for `distributed`.
        difference: Mean absolute difference of the two, over the hidden entries.
        exact_right: True if the stored picture nearest to `exact` (on the hidden
            entries) is the right one, and `exact_error` is below `RIGHT_WITHIN` = 0.2.
            (Pure noise is nearest to some picture too.)
        distributed_right: The same for `distributed`.
        signal_to_noise: k(start, truth)/√(K/2Y) with the kernel k, before the first
            step. Its computation needs the true picture [D-sharp5].
        gauge: The slope ratio at the start, computed from T and the query without the
            true picture [D-sharp14].
        steps: Steps that the distributed memory took.
    """

    start: Float[Array, "n D"]
    exact: Float[Array, "n D"]
    distributed: Float[Array, "n D"]
    exact_energies: Float[Array, "n steps_and_1"]
    distributed_energies: Float[Array, "n steps_and_1"]
    exact_error: Float[Array, " n"]
    distributed_error: Float[Array, " n"]
    difference: Float[Array, " n"]
    exact_right: Bool[Array, " n"]
    distributed_right: Bool[Array, " n"]
    signal_to_noise: Float[Array, " n"]
    gauge: Float[np.ndarray, " n"]
    steps: Int[Array, " n"]


@checked
def complete(
    pictures: Numbers,
    *,
    beta: float,
    Y: int,
    visible: float,
    key: Array,
    fill: float = 0.0,
    queries: slice = slice(None),
    step_size: float = 0.1,
    max_steps: int = 300,
    progress: bool | None = None,
) -> Completion:
    """Occluded pictures completed by both memories: all pictures are stored, and
    descent starts from the occluded ones with the visible entries clamped [D-fig1,
    D-fig4B, D-sharp15].

    Args:
        pictures: Pictures (K, D) in [0, 1]; they are stored scaled by 1/√D.
        beta: Inverse temperature for the scaled pictures.
        Y: Number of frequencies; the features are sincos, with the projection
            "hadamard" of `RandomFeatures`.
        visible: Fraction of each picture, from the top, that is visible; the visible
            entries are clamped.
        key: JAX random key of the features.
        fill: Grey level of the hidden entries at the start.
        queries: Rows of the pictures that are queried.
        step_size: η.
        max_steps: Largest number of steps of either memory.
        progress: As in `retrieve`.
    """
    pictures = array("pictures", pictures, "(K, D): one picture per row", 2)
    K, D = pictures.shape
    scale = D**-0.5
    start, mask = occlude(pictures[queries], visible=visible, fill=fill)
    features = RandomFeatures(D, Y, key=key, projection="hadamard")
    memory = DrDAM.store(scale * pictures, beta, features)
    options: dict[str, Any] = {
        "step_size": step_size,
        "max_steps": max_steps,
        "clamp": mask,
        "progress": progress,
    }
    exact, distributed = (
        retrieve(m, scale * start, **options)
        for m in (MrDAM(scale * pictures, beta), memory)
    )
    exact_end = exact.x / scale
    distributed_end = distributed.x / scale
    (error, right), (other_error, other_right) = (
        _errors_of(end, pictures, queries, mask) for end in (exact_end, distributed_end)
    )
    return Completion(
        start=start,
        exact=exact_end,
        distributed=distributed_end,
        exact_energies=exact.energies,
        distributed_energies=distributed.energies,
        exact_error=error,
        distributed_error=other_error,
        difference=_mean_distance(distributed_end, exact_end, mask),
        exact_right=right,
        distributed_right=other_right,
        signal_to_noise=signal_to_noise(
            scale * start, scale * pictures[queries], beta=beta, K=K, Y=Y
        ),
        gauge=gauge(memory, scale * start, free=int((~mask).sum())).slope_ratio,
        steps=distributed.steps,
    )


def _errors_of(
    end: Array, pictures: Array, queries: slice, mask: Array
) -> tuple[Array, Array]:
    """The error of each completion, and True if it is nearest to the right picture and
    the error is below `RIGHT_WITHIN`.
    """
    error = _mean_distance(end, pictures[queries], mask)
    return error, (
        _nearest(end, pictures, ~mask) == np.arange(len(pictures))[queries]
    ) & (error < RIGHT_WITHIN)


@jax.jit
def _mean_distance(a: Array, b: Array, mask: Array) -> Array:
    """Mean distance over the hidden entries."""
    return jnp.abs(a - b).sum(-1, where=~mask) / (~mask).sum().astype(a.dtype)


@jax.jit
def _nearest(x: Array, pictures: Array, mask: Array) -> Array:
    return jax.lax.map(
        lambda state: ((state[None] - pictures) ** 2).sum(-1, where=mask).argmin(), x
    )
