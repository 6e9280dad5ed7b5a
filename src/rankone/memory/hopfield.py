"""The classical Hopfield network: K binary patterns summed into one D × D matrix, and
the sign rule that reads it.

States σ have D entries −1 or 1. Eq. 1 of the DrDAM paper omits the usual factor ½ of
the energy and does not set T_ii = 0. Because σ_i² = 1, the diagonal only shifts the
energy by a constant. The sign rule leaves the diagonal out.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from rankone._checks import Numbers, array, integer, readable, states
from rankone._module import Module

__all__ = ["Recall", "hebbian", "hopfield_energy", "recall", "synchronous_step"]


class Recall(Module):
    """Result of `recall`: the final states and the path to them.

    Attributes:
        sigma: Final states (..., D), entries −1 and 1.
        energies: Energy before the first sweep and after each (..., max_sweeps + 1).
        sweeps: Sweeps in which at least one neuron flipped (...).
        converged: True if the last sweep flipped nothing (...). Then no single flip
            lowers the energy.
    """

    sigma: Float[Array, "... D"]
    energies: Float[Array, "... sweeps"]
    sweeps: Int[Array, "..."]
    converged: Bool[Array, "..."]


def hebbian(Xi: Numbers) -> Float[Array, "D D"]:
    """The memory matrix T_ij = Σ_μ ξ^μ_i ξ^μ_j of binary patterns [D-eq2].

    Args:
        Xi: Patterns (K, D), entries −1 and 1, one per row.

    Raises:
        ValueError: If Xi is not a (K, D) array of −1 and 1.
    """
    Xi = _signs("Xi", array("Xi", Xi, "(K, D): one pattern per row", 2))
    return _hebbian(Xi)


@jax.jit
def _hebbian(Xi: Array) -> Array:
    return jnp.matmul(Xi.T, Xi, precision="highest")


def hopfield_energy(sigma: Numbers, T: Numbers) -> Float[Array, "..."]:
    """Energy of a Hopfield network, E(σ) = −Σ_ij T_ij σ_i σ_j = −Σ_μ ⟨ξ^μ, σ⟩² [D-eq1,
    D-eq2].

    Args:
        sigma: States (..., D), entries −1 and 1.
        T: Memory matrix (D, D), symmetric, from `hebbian`.

    Returns:
        Energies (...).
    """
    T = _square(T)
    sigma = _signs("sigma", states("sigma", sigma, len(T)))
    return _energy(sigma, T)


def recall(sigma: Numbers, T: Numbers, *, max_sweeps: int = 50) -> Recall:
    """Retrieval in a Hopfield network: the neurons take turns at σ_i ← sign(Σ_{j≠i}
    T_ij σ_j) [D-eq1].

    A flip of neuron i changes the energy by 4σ_i Σ_{j≠i} T_ij σ_j. The rule flips the
    neuron exactly when this change is negative, so the energy never rises. Because the
    states are finitely many, retrieval ends at a state where no single flip lowers the
    energy.

    Args:
        sigma: Starting states (..., D), entries −1 and 1.
        T: Memory matrix (D, D), symmetric; its diagonal is not used by the rule.
        max_sweeps: Largest number of passes over the D neurons, at least 1.

    Raises:
        ValueError: If a shape does not fit, a state is not binary, or max_sweeps is not
            a positive integer.
    """
    T = _square(T)
    sigma = _signs("sigma", states("sigma", sigma, len(T)))
    if sigma.size == 0:
        raise ValueError(
            f"sigma: got shape {sigma.shape}; it must be one state of −1 and 1, or more."
        )
    return _recall(
        sigma, T, integer("max_sweeps", max_sweeps, "an integer of at least 1")
    )


@partial(jax.jit, static_argnames="max_sweeps")
def _recall(sigma: Array, T: Array, max_sweeps: int) -> Recall:
    final, energies, flips = _sweeps(
        sigma.reshape(-1, len(T)).astype(T.dtype), T, max_sweeps
    )
    batch = sigma.shape[:-1]
    return Recall(
        sigma=final.reshape(sigma.shape),
        energies=energies.T.reshape(*batch, -1),
        sweeps=(flips > 0).sum(0).reshape(batch),
        converged=(flips[-1] == 0).reshape(batch),
    )


def synchronous_step(sigma: Numbers, T: Numbers) -> Float[Array, "... D"]:
    """State after one step of all neurons at once, σ ← sign((T − diag T)σ). A neuron
    with a tie stays as it is.

    Such a step is faster than `recall` on parallel hardware, but it may raise the
    energy, and repeated steps may alternate between two states for ever.
    """
    T = _square(T)
    sigma = _signs("sigma", states("sigma", sigma, len(T)))
    return _update_all(sigma, T)


@jax.jit
def _update_all(sigma: Array, T: Array) -> Array:
    field = (
        jnp.matmul(sigma, T, precision="highest")
        - jnp.broadcast_to(jnp.diagonal(T), sigma.shape) * sigma
    )
    return jnp.where(field == 0, sigma, jnp.sign(field)).astype(sigma.dtype)


@jax.jit
def _energy(sigma: Array, T: Array) -> Array:
    return -(jnp.matmul(sigma, T, precision="highest") * sigma).sum(-1)


def _sweeps(sigma: Array, T: Array, max_sweeps: int) -> tuple[Array, Array, Array]:
    """Final states, energies (max_sweeps + 1, N) and flips (max_sweeps, N). The loop
    ends with the first sweep in which no neuron flips.
    """
    off_diagonal = T - jnp.diag(jnp.diagonal(T))

    def neuron(
        i: Array, state: tuple[Array, Array, Array]
    ) -> tuple[Array, Array, Array]:
        sigma, field, flips = state
        flip = sigma[:, i] * field[:, i] < 0
        change = jnp.where(flip, -2 * sigma[:, i], 0)
        # A flip changes the field by a multiple of one column of T. That takes O(D) per
        # neuron; computing T σ again would take O(D²).
        return (
            sigma.at[:, i].add(change),
            field + change[:, None] * off_diagonal[i][None],
            flips + flip.astype(jnp.int32),
        )

    def sweep(
        state: tuple[Array, Array, Array, Array],
    ) -> tuple[Array, Array, Array, Array]:
        t, sigma, energies, flips = state
        field = jnp.matmul(sigma, off_diagonal, precision="highest")
        start = (sigma, field, jnp.zeros(len(sigma), jnp.int32))
        sigma, _, flip_count = jax.lax.fori_loop(0, sigma.shape[1], neuron, start)
        return (
            t + 1,
            sigma,
            jnp.where(rows > t, _energy(sigma, T)[None], energies),
            flips.at[t].set(flip_count),
        )

    def flips_remain(state: tuple[Array, Array, Array, Array]) -> Array:
        t, _, _, flips = state
        return (t < max_sweeps) & ((t == 0) | (flips[t - 1] > 0).any())

    rows = jnp.arange(max_sweeps + 1)[:, None]
    energies = jnp.broadcast_to(_energy(sigma, T), (max_sweeps + 1, len(sigma)))
    state = (
        jnp.zeros((), jnp.int32),
        sigma,
        energies,
        jnp.zeros((max_sweeps, len(sigma)), jnp.int32),
    )
    _, sigma, energies, flips = jax.lax.while_loop(flips_remain, sweep, state)
    return sigma, energies, flips


def _square(T: Numbers) -> Array:
    T = array("T", T, "(D, D): a memory matrix", 2)
    if T.shape[0] != T.shape[1]:
        raise ValueError(f"T: got shape {T.shape}; it must be square, (D, D).")
    return T


def _signs(name: str, value: Array) -> Array:
    if readable(value):
        entries = np.asarray(value)
        others = entries[np.abs(entries) != 1]
        if others.size:
            raise ValueError(
                f"{name}: got an entry {others[0]:g}; "
                "it must be made of −1 and 1; for bits 0 and 1 take 2 * bits - 1."
            )
    return value
