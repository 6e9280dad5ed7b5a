"""The four random-feature bases for the Gaussian kernel k(z, z') = exp(−‖z − z'‖²/2) [D-eq8].

A basis says what one block of projections h = Ωz contributes to φ(z), to S = ⟨φ(z), T⟩, and to its derivative.
`tables` is the block's share of T: one row for cos and exp, two (cos then sin, + then −) for sincos and expexp.
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Float

from rankone.memory.trigonometry import cos_sin

__all__ = ["BASES", "Basis"]

Features = Callable[[Array, Array, Array], tuple[Array, ...]]
Slopes = Callable[[tuple[Array, ...], tuple[Array, ...]], Array]


@dataclass(frozen=True)
class Basis:
    """One feature map.

    Attributes:
        tables: Features per frequency: 2 for sincos and expexp, 1 otherwise.
        features: (h, ‖z‖², phase) ↦ the unscaled features, a tuple of `tables` arrays like h, and helpers.
        slopes: (features, T rows) ↦ ∂S/∂h, unscaled.
        scale: φ carries the factor sqrt(scale / Y).
        positive: Whether the features are exponentials, with the prefactor exp(−‖z‖²).
        noise: Y·Var of a far pattern's kernel; the floor of the logarithm is set from it.
    """

    tables: int
    features: Features
    slopes: Slopes
    scale: float
    positive: bool
    noise: float


def _sincos(h: Array, z2: Array, phase: Array) -> tuple[Array, ...]:
    return cos_sin(h)


def _cos(h: Array, z2: Array, phase: Array) -> tuple[Array, ...]:
    return cos_sin(h + phase)


def _exp(h: Array, z2: Array, phase: Array) -> tuple[Array, ...]:
    return (jnp.exp(h - z2),)


def _expexp(h: Array, z2: Array, phase: Array) -> tuple[Array, ...]:
    return jnp.exp(h - z2), jnp.exp(-h - z2)


BASES = {
    "sincos": Basis(2, _sincos, lambda f, T: f[0] * T[1] - f[1] * T[0], 1.0, False, 0.5),
    "cos": Basis(1, _cos, lambda f, T: -f[1] * T[0], 2.0, False, 1.0),
    # The printed map shifts the exponent at random, which multiplies the kernel by 22,819: no shift here [D-appC-Exp].
    "exp": Basis(1, _exp, lambda f, T: f[0] * T[0], 1.0, True, 0.0),
    "expexp": Basis(2, _expexp, lambda f, T: f[0] * T[0] - f[1] * T[1], 0.5, True, 0.0),
}


def value(basis: Basis, features: tuple[Array, ...], tables: tuple[Array, ...]) -> Float[Array, " N"]:
    """The block's share of S, unscaled: Σ features·T over the block, whose queries are the second to last axis."""
    first, *rest = (f * t for f, t in zip(features, tables, strict=False))
    share = sum(rest, first)
    return share.sum((*range(share.ndim - 2), -1))
