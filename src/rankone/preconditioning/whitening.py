"""Second moments of a layer's inputs and of the gradients at its outputs, and the
factors T and V that follow from them [K-FAC].

With A = E[x xᵀ] and D = E[δ δᵀ], where δ = ∂ℓ/∂(Wx), the Fisher matrix F of a layer is
about A ⊗ D, so V = A^(-1/2) and T = D^(-1/2) give P ≈ F⁻¹.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, Real

from rankone._annotated import checked
from rankone._checks import (
    array,
    brief,
    choice,
    floating,
    instance,
    not_negative,
    readable,
    real,
)
from rankone._module import Module
from rankone.checks import Outcome, outcome
from rankone.preconditioning.kronecker import Factors
from rankone.preconditioning.powers import symmetric_power

__all__ = [
    "Moments",
    "MovingMoments",
    "TransposedMoments",
    "damped",
    "matrix_power",
    "whitening_factors",
]


class Moments(Module):
    """Second moments of one layer: A of its inputs, D of the gradients at its outputs.
    `A, D = moments` unpacks them.

    Attributes:
        inputs: A = E[x xᵀ] (n, n). For a layer of this package with a bias, x ends with
            the appended 1, and n counts it.
        outputs: D = E[δ δᵀ] (m, m), of the gradients δ = ∂ℓ/∂(Wx).
    """

    inputs: Float[Array, "n n"]
    outputs: Float[Array, "m m"]

    def __init__(self, inputs: ArrayLike, outputs: ArrayLike) -> None:
        self.inputs = array("inputs", inputs, "(n, n)", 2)
        self.outputs = array("outputs", outputs, "(m, m)", 2)

    def __iter__(self) -> Iterator[Array]:
        return iter((self.inputs, self.outputs))


class TransposedMoments(Moments):
    """Moments of a matrix that its library keeps as Wᵀ (n, m), for f(x) = xWᵀ: a
    kernel of flax.
    """


class MovingMoments(Module):
    """Exponential moving averages of `Moments`, corrected for their start at zero.

    Attributes:
        total: Weighted sum of the moments of all batches so far.
        weight: Sum of the weights, which tends to 1.
        decay: Decay of the weights per step; in [0, 1).
    """

    total: Moments
    weight: Float[Array, ""]
    decay: float = eqx.field(static=True)

    @classmethod
    @checked
    def start(
        cls, shape: tuple[int, ...], dtype: Any = None, *, decay: float
    ) -> "MovingMoments":
        """Initial state without moments, of a layer with weights of `shape` (m, n)."""
        check_decay(decay)
        if len(shape) != 2:
            raise ValueError(
                f"shape: got {brief(shape)}; it must be (m, n), of a matrix."
            )
        m, n = shape
        dtype = floating("dtype", float if dtype is None else dtype)
        return cls(
            Moments(np.zeros((n, n), dtype), np.zeros((m, m), dtype)),
            jnp.asarray(np.zeros((), dtype)),
            decay,
        )

    @checked
    def update(self, moments: Moments) -> "MovingMoments":
        """Moving averages that include the moments of one more batch."""
        shapes = [
            [jnp.shape(moment) for moment in pair] for pair in (moments, self.total)
        ]
        if shapes[0] != shapes[1]:
            raise ValueError(
                f"moments: got shapes {shapes[0]}; "
                f"it must be of a layer with moments {shapes[1]}."
            )
        return _mixed(self, moments)

    @property
    def value(self) -> Moments:
        """The average: a weighted mean of the moments of all batches so far."""
        return _mean(self)


def check_decay(decay: float) -> None:
    """ValueError unless `decay`, the weight of past moments, is in [0, 1)."""
    fraction = real("decay", decay, "a number in [0, 1)")
    if not (fraction is not None and 0 <= fraction < 1):
        raise ValueError(f"decay: got {brief(decay)}; it must be in [0, 1).")


@jax.jit
def _mixed(average: MovingMoments, moments: Moments) -> MovingMoments:
    def mix(old: Array, new: Array | float) -> Array:
        return average.decay * old + (1 - average.decay) * new

    return replace(
        average,
        total=jax.tree.map(mix, average.total, moments),
        weight=mix(average.weight, 1.0),
    )


@jax.jit
def _mean(average: MovingMoments) -> Moments:
    return jax.tree.map(lambda total: total / average.weight, average.total)


@checked
@jax.jit
def damped(moments: Moments, damping: Real[ArrayLike, ""]) -> Moments:
    """`Moments` with both factors damped, A + π√λ I and D + √λ/π I [K-damping].

    The Kronecker product of the damped factors is A ⊗ D + λI + √λ (A ⊗ I/π + π I ⊗ D).
    Tikhonov's damping lacks the last two terms, but is not a Kronecker product. The
    choice π² = (tr A / n) / (tr D / m) gives these two terms the same trace, and their
    sum the smallest trace.

    Args:
        moments: Moments of one layer.
        damping: λ, in units of the curvature A ⊗ D.
    """
    A, D = moments
    pi = jnp.sqrt((jnp.trace(A) / len(A)) / (jnp.trace(D) / len(D)))
    # a moment may be zero, as before the first batch; π is then 0, infinite or NaN
    pi = jnp.where(jnp.isfinite(pi) & (pi > 0), pi, 1.0)
    root = jnp.sqrt(jnp.asarray(damping, A.dtype))
    return Moments(_add(A, pi * root), _add(D, root / pi))


def _add(A: Array, amount: ArrayLike) -> Array:
    return A + amount * jnp.eye(len(A), dtype=A.dtype)


def matrix_power(A: Real[ArrayLike, "n n"], power: ArrayLike) -> Float[Array, "n n"]:
    """Power A^power of a symmetric positive (semi)definite matrix A, by its
    eigenvectors.

    Args:
        A: Symmetric (n, n).
        power: Any real number.

    Raises:
        ValueError: If A is not square, not symmetric, has a negative eigenvalue, or,
            for a negative power, is singular to working precision. Where no error can
            be raised, as inside jit, the power of such a matrix is NaN.
    """
    _check_exponent(power)
    A = array("A", A, "(n, n)", 2)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"A: got shape {A.shape}; it must be square.")
    result = _power(A, power)
    _check_power("A", A, power, result)
    return result


def _check_exponent(power: ArrayLike) -> None:
    exponent = real("power", power, "one finite real number")
    if exponent is not None and not np.isfinite(exponent):
        raise ValueError(
            f"power: got {brief(power)}; it must be one finite real number."
        )


@jax.jit
def _power(A: Array, power: ArrayLike) -> Array:
    result, valid = symmetric_power(A, power)
    symmetric = jnp.abs(A - A.T).max() <= 1e-3 * jnp.abs(A).max()
    return jnp.where(valid & symmetric, result, jnp.nan)


def _check_power(name: str, A: Array, power: ArrayLike, result: Array) -> None:
    """Say what is wrong with a matrix that has no such power, where that can be seen
    without waiting for a device.
    """
    if not readable(A, power, result) or np.isfinite(np.asarray(result)).all():
        return
    host = np.asarray(A)
    asymmetry = np.abs(host - host.T).max()
    smallest = np.linalg.eigvalsh(host)[0]
    if not asymmetry <= 1e-3 * np.abs(host).max():
        raise ValueError(
            f"{name}: got asymmetry {asymmetry:.2g}; it must be symmetric."
        )
    requirement = (
        "positive definite; add damping"
        if np.asarray(power) < 0
        else "positive semidefinite"
    )
    raise ValueError(
        f"{name}: got smallest eigenvalue {smallest:.2g}; it must be {requirement}."
    )


def whitening_factors(
    moments: Moments,
    *,
    damping: ArrayLike = 0.0,
    sides: str = "both",
    power: float = -0.5,
) -> Factors:
    """`Factors` that whiten a layer: V = A^(-1/2) and T = D^(-1/2), so that P = A⁻¹ ⊗
    D⁻¹ [K-FAC].

    Args:
        moments: Moments A and D of one layer. For Shampoo, give the sums ΣGᵀG and ΣGGᵀ
            over the gradients G instead, with power −1/8 [K-shampoo].
        damping: λ, as in `damped`. If only one side is whitened, λI is added to its
            moment.
        sides: "both" (K-FAC), "input" (PRONG: T = I), or "output" (V = I).
        power: Power of the two moments.

    Raises:
        ValueError: If a moment is singular and there is no damping. Inside jit, where
            no error can be raised, eigenvalues below the rounding error are replaced by
            it, and the `outcome` of the factors is SINGULAR.

    >>> import numpy as np, rankone as ro
    >>> moments = ro.preconditioning.Moments(inputs=np.diag([4.0, 100.0]), outputs=np.eye(1))
    >>> T, V = ro.preconditioning.whitening_factors(moments)
    >>> print(np.asarray(V).round(3))
    [[0.5 0. ]
     [0.  0.1]]
    """
    choice("sides", sides, ("both", "input", "output"))
    instance("moments", moments, Moments, "the Moments of one layer")
    _check_exponent(power)
    not_negative("damping", damping)
    factors = _whitening(moments, damping, power, sides)
    if readable(factors):
        code = int(factors.outcome)
        fault = "a singular moment" if code == Outcome.SINGULAR else "NaN or infinity"
        if code != Outcome.OK:
            raise ValueError(
                f"moments: got {fault}; it must be positive definite: add damping."
            )
    return factors


@partial(jax.jit, static_argnames="sides")
def _whitening(
    moments: Moments, damping: ArrayLike, power: ArrayLike, sides: str
) -> Factors:
    A, D = (
        damped(moments, damping)
        if sides == "both"
        else (_add(moment, damping) for moment in moments)
    )

    def identity(moment: Array) -> tuple[Array, Array]:
        return (jnp.eye(len(moment), dtype=moment.dtype), jnp.bool_(True))

    T, T_valid = identity(D) if sides == "input" else symmetric_power(D, power)
    V, V_valid = identity(A) if sides == "output" else symmetric_power(A, power)
    is_finite = jnp.isfinite(T).all() & jnp.isfinite(V).all()
    return Factors(
        T,
        V,
        outcome(
            (~is_finite, Outcome.NOT_FINITE), (~(T_valid & V_valid), Outcome.SINGULAR)
        ),
    )
