r"""The second moments that make good factors: of a layer's inputs and of the gradients at its outputs [K-FAC].

With $A=\mathbb E[xx^\top]$ and $D=\mathbb E[\delta\delta^\top]$, where $\delta=\partial\ell/\partial(Wx)$, the Fisher
matrix of a layer is about $A\otimes D$, so that $V=A^{-1/2}$ and $T=D^{-1/2}$ make $P\approx F^{-1}$.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import array, check, choice, is_traced
from rankone._pytree import pytree
from rankone.preconditioning.kronecker import Factors

__all__ = ["Moments", "MovingMoments", "TransposedMoments", "damped", "matrix_power", "whitening_factors"]


class Moments(NamedTuple):
    r"""Second moments of one layer.

    Attributes:
        inputs: $A=\mathbb E[xx^\top]$ (n, n), the 1 of a bias included.
        outputs: $D=\mathbb E[\delta\delta^\top]$ (m, m).
    """

    inputs: Float[Array, "n n"]
    outputs: Float[Array, "m m"]


class TransposedMoments(Moments):
    """The same of a matrix that its library keeps as Wᵀ (n, m), for f(x) = xWᵀ: a kernel of flax."""


@pytree(data=("total", "weight"), meta=("decay",))
@dataclass(frozen=True)
class MovingMoments:
    """Exponential moving averages of `Moments`, corrected for their start at zero.

    Attributes:
        total: Weighted sum of the moments seen.
        weight: Sum of the weights, which tends to 1.
        decay: Of the weights, a step; in [0, 1).
    """

    total: Moments
    weight: Float[Array, ""]
    decay: float

    @classmethod
    def start(cls, shape: tuple[int, ...], dtype: Any = None, *, decay: float) -> "MovingMoments":
        """No moments yet, of a layer with weights of `shape` (m, n)."""
        check(0 <= decay < 1, "decay", decay, "in [0, 1)")
        zeros = Moments(*(jnp.zeros((size, size), dtype) for size in shape[::-1]))
        return cls(zeros, jnp.zeros((), dtype), decay)

    def update(self, moments: Moments) -> "MovingMoments":
        """With the moments of one more batch."""
        return _mixed(self, moments)

    @property
    def value(self) -> Moments:
        """The average: a weighted mean of all moments seen."""
        return _mean(self)


@jax.jit
def _mixed(moving: MovingMoments, moments: Moments) -> MovingMoments:
    mix = lambda old, new: moving.decay * old + (1 - moving.decay) * new  # noqa: E731
    return replace(moving, total=jax.tree.map(mix, moving.total, moments), weight=mix(moving.weight, 1.0))


@jax.jit
def _mean(moving: MovingMoments) -> Moments:
    return jax.tree.map(lambda total: total / moving.weight, moving.total)


@jax.jit
def damped(moments: Moments, damping: ArrayLike) -> Moments:
    r"""Both factors damped, $A+\pi\sqrt\lambda I$ and $D+\frac1\pi\sqrt\lambda I$ [K-damping].

    Their Kronecker product is $A\otimes D+\lambda I$ plus $\sqrt\lambda\,(\frac1\pi A\otimes I+\pi\,I\otimes D)$: not
    Tikhonov's damping, but one that keeps the factors. $\pi^2=\frac{\mathrm{tr}A/n}{\mathrm{tr}D/m}$ makes the two
    excess terms equal in trace, and their sum smallest.

    Args:
        moments: Of one layer.
        damping: λ, in units of the curvature A ⊗ D.
    """
    A, D = moments
    pi = jnp.sqrt((jnp.trace(A) / len(A)) / (jnp.trace(D) / len(D)))
    pi = jnp.where(jnp.isfinite(pi) & (pi > 0), pi, 1.0)  # a moment that is zero, as before the first batch
    root = jnp.sqrt(jnp.asarray(damping, A.dtype))
    return Moments(_add(A, pi * root), _add(D, root / pi))


@jax.jit
def _add(A: Array, amount: ArrayLike) -> Array:
    return A + amount * jnp.eye(len(A), dtype=A.dtype)


def matrix_power(A: Float[ArrayLike, "n n"], power: float) -> Float[Array, "n n"]:
    """A^power of a symmetric positive (semi)definite matrix, by its eigenvectors.

    Args:
        A: Symmetric (n, n).
        power: Any real number.

    Raises:
        ValueError: If A is not square, not symmetric, or, for a negative power, singular to working precision.
    """
    A = array("A", A, "(n, n)", 2)
    check(A.shape[0] == A.shape[1], "A", f"shape {A.shape}", "square")
    raised, smallest, floor, lopsided, largest = _raised(A, float(power))
    if not is_traced(A):
        check(float(lopsided) <= 1e-3 * float(largest), "A", f"asymmetry {float(lopsided):.2g}", "symmetric")
        definite = float(smallest) > float(floor) if power < 0 else float(smallest) >= -float(floor)
        wanted = "positive definite; add damping" if power < 0 else "positive semidefinite"
        check(definite, "A", f"smallest eigenvalue {float(smallest):.2g}", wanted)
    return raised


@partial(jax.jit, static_argnames="power")
def _raised(A: Array, power: float) -> tuple[Array, Array, Array, Array, Array]:
    """A^power; the smallest eigenvalue and the least that counts; the largest asymmetry and the largest entry."""
    values, vectors = jnp.linalg.eigh((A + A.T) / 2)
    floor = jnp.finfo(A.dtype).eps * len(A) * values[-1]
    raised = (vectors * jnp.maximum(values, floor if power < 0 else 0) ** power) @ vectors.T
    return raised, values[0], floor, jnp.abs(A - A.T).max(), jnp.abs(A).max()


def whitening_factors(
    moments: Moments, *, damping: ArrayLike = 0.0, sides: str = "both", power: float = -0.5
) -> Factors:
    r"""$V=A^{-1/2}$ and $T=D^{-1/2}$, so that $P=A^{-1}\otimes D^{-1}$ [K-FAC].

    Args:
        moments: Of one layer: A and D; or Shampoo's $\sum G^\top G$ and $\sum GG^\top$ with power −1/8 [K-shampoo].
        damping: As in `damped`; added to the one moment as it is if only one side is whitened.
        sides: "both" (K-FAC), "input" (PRONG: T = I), or "output" (V = I).
        power: Of the two moments.

    Raises:
        ValueError: If a moment is singular and there is no damping.
    """
    choice("sides", sides, ("both", "input", "output"))
    A, D = damped(moments, damping) if sides == "both" else (_add(moment, damping) for moment in moments)
    T = jnp.eye(len(D), dtype=D.dtype) if sides == "input" else matrix_power(D, power)
    V = jnp.eye(len(A), dtype=A.dtype) if sides == "output" else matrix_power(A, power)
    return Factors(T, V)
