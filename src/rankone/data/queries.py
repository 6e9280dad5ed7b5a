"""Damaged copies of stored patterns, to start a retrieval from."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Float, Real

from rankone._checks import array, brief, random_key, real

__all__ = ["flip_bits", "occlude"]


def flip_bits(
    Xi: Real[ArrayLike, "K D"], fraction: float, *, key: Array
) -> Float[Array, "K D"]:
    """Patterns on {0, 1/√D}^D with round(fraction·D) bits of each flipped, at random
    places.

    Args:
        Xi: Binary patterns (K, D).
        fraction: Fraction of bits to flip, in [0, 1].
        key: JAX random key.

    Raises:
        ValueError: If `Xi` is not a matrix of finite numbers, or `fraction` is not
            between 0 and 1.

    >>> import jax, numpy as np
    >>> flipped = flip_bits(np.zeros((2, 4)), 0.5, key=jax.random.key(0))
    >>> (flipped * 2).sum(1).tolist()
    [2.0, 2.0]
    """
    Xi = array("Xi", Xi, "(K, D): binary patterns", 2)
    random_key("key", key)
    return _flipped(Xi, _count("fraction", fraction, Xi.shape[1]), key)


def _count(name: str, fraction: float, n: int) -> int:
    """`fraction` of n, rounded."""
    requirement = "a fraction between 0 and 1"
    number = real(name, fraction, requirement)
    if number is None:
        raise ValueError(
            f"{name}: got {brief(fraction)}; "
            f"it must be {requirement}, and a number on the host."
        )
    assert number is not None
    if not 0 <= number <= 1:
        raise ValueError(f"{name}: got {brief(fraction)}; it must be {requirement}.")
    return round(number * n)


@jax.jit
def _flipped(Xi: Array, count: ArrayLike, key: Array) -> Array:
    places = jax.random.uniform(key, Xi.shape).argsort(-1).argsort(-1) < count
    return jnp.where(places, jnp.asarray(Xi.shape[1], Xi.dtype) ** -0.5 - Xi, Xi)


def occlude(
    pictures: Real[ArrayLike, "n D"], *, visible: float, fill: float = 0.0
) -> tuple[Float[Array, "n D"], Bool[Array, " D"]]:
    """Occluded pictures, and a mask of their visible entries. The first
    round(visible·D) entries of each picture, its top rows, are visible; all other
    entries are set to the grey level `fill`.

    Args:
        pictures: Flattened pictures (n, D) with entries in [0, 1].
        visible: Fraction of the entries that stay visible, in [0, 1].
        fill: Grey level of the hidden entries; the paper uses black, which is 0.

    Returns:
        The occluded pictures (n, D), and the mask (D,) of the visible entries, to pass
        to `retrieve` as `clamp`.

    Raises:
        ValueError: If `pictures` is not a matrix of finite numbers, or `visible` is not
            between 0 and 1.

    >>> import numpy as np
    >>> pictures, kept = occlude(np.ones((1, 4)), visible=0.25)
    >>> pictures.tolist(), kept.tolist()
    ([[1.0, 0.0, 0.0, 0.0]], [True, False, False, False])
    """
    pictures = array("pictures", pictures, "(n, D): one flattened picture per row", 2)
    grey = real("fill", fill, "a grey level")
    if grey is not None and not np.isfinite(grey):
        raise ValueError(f"fill: got {brief(fill)}; it must be a finite grey level.")
    return _occluded(pictures, _count("visible", visible, pictures.shape[1]), fill)


@jax.jit
def _occluded(
    pictures: Array, count: ArrayLike, fill: ArrayLike
) -> tuple[Array, Array]:
    visible = jnp.arange(pictures.shape[1]) < count
    return jnp.where(visible, pictures, jnp.asarray(fill, pictures.dtype)), visible
