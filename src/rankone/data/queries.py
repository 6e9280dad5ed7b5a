"""Damaged copies of stored patterns, to start a retrieval from."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Bool, Float

from rankone._checks import array, check

__all__ = ["flip_bits", "occlude"]


def flip_bits(Xi: Float[ArrayLike, "K D"], share: float, *, key: Array) -> Float[Array, "K D"]:
    """Each pattern on {0, 1/√D}^D with round(share·D) of its bits flipped, at random places.

    Args:
        Xi: Binary patterns (K, D).
        share: Share of bits to flip, in [0, 1].
        key: JAX random key.
    """
    Xi = array("Xi", Xi, "(K, D): binary patterns", 2)
    check(0 <= share <= 1, "share", share, "a share between 0 and 1")
    return _flipped(Xi, round(share * Xi.shape[1]), key)


@jax.jit
def _flipped(Xi: Array, count: int, key: Array) -> Array:
    places = jax.random.uniform(key, Xi.shape).argsort(-1).argsort(-1) < count
    return jnp.where(places, jnp.asarray(Xi.shape[1], Xi.dtype) ** -0.5 - Xi, Xi)


def occlude(
    pictures: Float[ArrayLike, "n D"], *, visible: float, fill: float = 0.0
) -> tuple[Float[Array, "n D"], Bool[Array, " D"]]:
    """Keep the first round(visible·D) entries of each picture (its top rows) and paint the rest evenly.

    Args:
        pictures: Flattened pictures (n, D) with entries in [0, 1].
        visible: Share kept, in [0, 1].
        fill: Grey level of the rest: 0 is the paper's black.

    Returns:
        The occluded pictures (n, D), and the mask (D,) of the entries kept, to clamp.
    """
    pictures = array("pictures", pictures, "(n, D): one flattened picture a row", 2)
    check(0 <= visible <= 1, "visible", visible, "a share between 0 and 1")
    return _occluded(pictures, round(visible * pictures.shape[1]), fill)


@jax.jit
def _occluded(pictures: Array, seen: int, fill: float) -> tuple[Array, Array]:
    kept = jnp.arange(pictures.shape[1]) < seen
    return jnp.where(kept, pictures, jnp.asarray(fill, pictures.dtype)), kept
