"""Data that the chapters use, all but Fashion-MNIST shipped with the package; and
random or damaged patterns for memories.

The 24 photographs are 64×64 crops of pictures in scikit-image and scikit-learn; the
letters are the UCI Letter Recognition data of Frey and Slate (CC BY 4.0).
ATTRIBUTION.md in the folder of this module names every source and licence.
Fashion-MNIST alone is too large to ship: `fashion_mnist` finds it on the system or
downloads it once.

>>> import rankone as ro
>>> ro.data.photographs(32).shape, ro.data.photograph_names()[:2]
((24, 3072), ['astronaut', 'cat'])
>>> ro.data.country("Japan").capital
'Tokyo'
"""

from functools import cache, partial
from importlib.resources import files
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import NDArray

from rankone._checks import brief, integer, random_key
from rankone.data.facts import corpus, countries, country
from rankone.data.fashion import fashion_mnist
from rankone.data.queries import flip_bits, occlude

__all__ = [
    "binary_patterns",
    "corpus",
    "countries",
    "country",
    "fashion_mnist",
    "flip_bits",
    "letters",
    "occlude",
    "photograph_names",
    "photographs",
]


@cache
def _load(name: str) -> dict[str, NDArray]:
    with np.load(str(files(__package__) / name)) as archive:
        return {key: archive[key] for key in archive.files}


def photograph_names() -> list[str]:
    """Names of the shipped photographs, in the order of the rows of `photographs`."""
    return [str(name) for name in _load("photographs.npz")["names"]]


def photographs(size: int = 64) -> Float[NDArray, "24 D"]:
    """The 24 shipped photographs, one flattened colour picture per row; those most like
    an earlier one come last.

    Args:
        size: Side of a picture in pixels: 64, or 32 or 16 by averaging blocks of
            pixels.

    Returns:
        float32 array (24, 3·size²) in [0, 1], flattened in the order height, width,
        colour.

    Raises:
        ValueError: If `size` is not 16, 32 or 64.

    >>> photographs(16).shape
    (24, 768)
    """
    if integer("size", size, "16, 32 or 64") not in (16, 32, 64):
        raise ValueError(f"size: got {brief(size)}; it must be 16, 32 or 64.")
    pixels = _load("photographs.npz")["pixels"].astype(np.float32) / 255
    n = len(pixels)
    step = 64 // size
    return pixels.reshape(n, size, step, size, step, 3).mean(axis=(2, 4)).reshape(n, -1)


def letters() -> tuple[Float[NDArray, "20000 16"], NDArray]:
    """UCI Letter: 16 integer features (0 to 15) of 20,000 distorted capital letters,
    and their labels A–Z.

    Returns:
        Features, float32 (20000, 16), unscaled; labels, (20000,) of one-character
        strings.

    >>> features, labels = letters()
    >>> features.shape, str(labels[0])
    ((20000, 16), 'T')
    """
    archive = _load("letters.npz")
    return archive["features"].astype(np.float32), archive["labels"]


def binary_patterns(K: int, D: int, *, key: Array) -> Float[Array, "K D"]:
    """K independent uniform patterns on {0, 1/√D}^D, of diameter at most 1: the random
    data of the DrDAM paper.

    Args:
        K: Number of patterns.
        D: Number of bits in each.
        key: JAX random key.

    Raises:
        ValueError: If `K` or `D` is not a positive integer.

    >>> import jax
    >>> binary_patterns(3, 4, key=jax.random.key(0)).shape
    (3, 4)
    """
    K = integer("K", K)
    D = integer("D", D)
    random_key("key", key)
    return _bits(key, K, D, jnp.result_type(float))


@partial(jax.jit, static_argnames=("K", "D", "dtype"))
def _bits(key: Array, K: int, D: int, dtype: Any) -> Array:
    return jax.random.bernoulli(key, 0.5, (K, D)).astype(dtype) / D**0.5
