"""How a distributed memory is written to and read: sums of features, and what rounding
leaves of them.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from rankone._checks import readable
from rankone.memory.bases import BASES, FARTHEST
from rankone.memory.features import RandomFeatures
from rankone.memory.nonlinear import lookup
from rankone.precision import wider

__all__ = ["certified", "check_angles", "floor_of", "read", "states_read", "written"]

Memory = Any  # a DrDAM, whose module imports this one
# Below this share of the features' own noise, an estimate of the partition sum says
# nothing: see `DrDAM.floor`.
_FLOOR_OF_NOISE = 1 / 8


def check_angles(
    name: str, Xi: Array, centre: Array, beta: Array, features: RandomFeatures
) -> None:
    """Refuse patterns whose features would be rounding: where looking at them is free,
    and features are periodic.
    """
    if (
        BASES[features.basis].positive
        or not readable(Xi, centre, beta)
        or centre.dtype != jnp.float32
        or not Xi.size
    ):
        return
    with np.errstate(over="ignore"):
        far = np.sqrt(
            (np.subtract(Xi, centre, dtype=np.float32) ** 2).sum(-1).max()
        ) * np.sqrt(np.asarray(beta))
    wanted = (
        f"within {FARTHEST:,.0f}/√β of the centre, beyond which float32 has no angles: "
        "pass centre=Xi.mean(0)"
    )
    if not far <= FARTHEST:
        raise ValueError(f"{name}: got patterns at {far:.2g}/√β; it must be {wanted}.")


@jax.jit
def floor_of(power: Array, noise: float) -> Array:
    """Value of Ŝ below which the logarithm is replaced by its tangent, from Σ w² and
    the variance of one kernel.
    """
    return jnp.maximum(_FLOOR_OF_NOISE * jnp.sqrt(jnp.maximum(noise * power, 0)), 1e-30)


@partial(jax.jit, static_argnames="sign")
def written(memory: Memory, Xi: Array, sign: int) -> dict[str, Array]:
    """The fields that change; the features stay outside, for a program would return a
    copy of them.
    """
    Xi = Xi.astype(memory.T.dtype)
    logs = (
        0.5 * memory.beta * (Xi**2).sum(-1)
        if memory.similarity == "dot"
        else jnp.zeros(len(Xi), Xi.dtype)
    )
    scale = jax.lax.stop_gradient(
        jnp.maximum(memory.log_scale, logs.max(initial=-jnp.inf))
    )
    held = jnp.exp(memory.log_scale - scale)
    weights = jnp.exp(logs - scale)
    near = jnp.sqrt(memory.beta) * (Xi - memory.centre[None])
    return {
        "T": held * memory.unpacked + sign * memory.features.encode(near, weights),
        "count": memory.count + sign * len(Xi),
        "power": held**2 * memory.power + sign * (weights**2).sum(),
        "log_scale": scale,
    }


@jax.jit
def read(memory: Memory, origin: Array, x: Array) -> tuple[Array, Array, Array, Array]:
    """Energy, gradient, Ŝ, and whether it is below the floor [D-eq9, D-eq10, with the
    √β that the paper omits].
    """
    flat = x.reshape(-1, memory.D).astype(wider(x.dtype, memory.T.dtype))
    g = lookup("g", memory.g)
    z = g.value(flat) + (origin - memory.centre)[None]  # less the centre
    S, slope = memory.features.read(jnp.sqrt(memory.beta) * z, memory.T)
    floor = memory.floor
    above = jnp.maximum(S, floor)
    log_S = (
        jnp.where(floor < S, jnp.log(above), jnp.log(floor) + (S - floor) / floor)
        + memory.log_scale
    )
    energy = -log_S / memory.beta
    gradient = -slope / (jnp.sqrt(memory.beta) * above[:, None])
    # for the identity the two quadratics cancel
    if memory.similarity == "dot" and memory.g != "identity":
        energy = energy - 0.5 * ((z + memory.centre[None]) ** 2).sum(-1)
        gradient = gradient - z - memory.centre[None]
    gradient = g.derivative(gradient, flat)
    rows = x.shape[:-1]
    total = S * jnp.exp(memory.log_scale)
    return (
        energy.reshape(rows),
        gradient.reshape(x.shape),
        total.reshape(rows),
        (floor > S).reshape(rows),
    )


def states_read(memory: Memory, origin: Array, x: Array) -> tuple[Array, Array, Array]:
    """Energy, gradient and whether a state is floored, of states less the origin."""
    energy, gradient, _, floored = read(memory, origin, x)
    return energy, gradient, floored


@jax.jit
def certified(memory: Memory, x: Array) -> Array:
    """True where the rounding of angles and of the sum over features is less than
    Ŝ/8.
    """
    z = lookup("g", memory.g).value(x.astype(wider(x, memory.T)))
    z = jnp.sqrt(memory.beta) * (
        z + jnp.broadcast_to(memory.origin - memory.centre, z.shape)
    )
    S = memory.features.read(z.reshape(-1, memory.D), memory.T)[0].reshape(x.shape[:-1])
    # of the sum, of the angles
    terms = jnp.sqrt(memory.features.M) + jnp.sqrt(memory.D) * jnp.linalg.norm(
        z, axis=-1
    )
    rounding = jnp.finfo(z.dtype).eps / 2 * terms * jnp.linalg.norm(memory.unpacked)
    return rounding <= jnp.maximum(S, memory.floor) / 8
