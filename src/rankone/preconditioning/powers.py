"""Powers of symmetric matrices, differentiable even where eigenvalues are equal."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Float

from rankone.precision import full_precision

__all__ = ["symmetric_power"]


def symmetric_power(
    A: Float[Array, "n n"], power: ArrayLike
) -> tuple[Float[Array, "n n"], Bool[Array, ""]]:
    """Power of a symmetric positive semidefinite matrix by its eigenvectors, and True
    if A is positive definite (for a negative power) or semidefinite (for any other).

    For a negative power, eigenvalues below the rounding error are replaced by it. For
    any other power, negative eigenvalues count as 0.
    """
    return _raised(A, jnp.asarray(power, A.dtype))


@jax.custom_jvp
@full_precision()
def _raised(A: Array, power: Array) -> tuple[Array, Array]:
    _, vectors, values, valid = _eigen(A, power)
    return (vectors * (values**power)[None]) @ vectors.T, valid


def _eigen(A: Array, power: Array) -> tuple[Array, Array, Array, Array]:
    """Eigenvalues, eigenvectors, the eigenvalues that count, and whether all are what
    the power requires: positive if it is negative, else not negative.
    """
    values, vectors = jnp.linalg.eigh((A + A.T) / 2)
    floor = jnp.finfo(A.dtype).eps * len(A) * values[-1]
    valid = jnp.where(power < 0, values[0] > floor, values[0] >= -floor)
    return values, vectors, jnp.maximum(values, jnp.where(power < 0, floor, 0)), valid


@_raised.defjvp
@full_precision()
def _raised_jvp(primals, tangents):  # type: ignore[no-untyped-def]
    """Derivative by divided differences of λ^p, whose limit at equal eigenvalues is
    pλ^(p−1) (Daleckii and Krein).
    """
    (A, power) = primals
    (dA, dp) = tangents
    _, vectors, values, _ = _eigen(A, power)
    out = _raised(A, power)
    middle = (values[:, None] + values[None]) / 2
    gap = values[:, None] - values[None]
    # The relative error is about gap²/λ² where the pair counts as degenerate, and about
    # ε·λ/gap elsewhere; the threshold balances these.
    is_degenerate = jnp.abs(gap) <= jnp.finfo(A.dtype).eps ** 0.5 * middle
    powers = values**power
    quotients = jnp.where(
        is_degenerate,
        power * middle ** (power - 1),
        (powers[:, None] - powers[None]) / jnp.where(is_degenerate, 1, gap),
    )
    slope = (
        vectors @ (quotients * (vectors.T @ ((dA + dA.T) / 2) @ vectors)) @ vectors.T
    )
    logs = jnp.where(values > 0, powers * jnp.log(jnp.where(values > 0, values, 1)), 0)
    by_power = (vectors * logs[None]) @ vectors.T
    return out, (slope + by_power * dp, np.zeros((), jax.dtypes.float0))
