"""Kernels κ(a, b), which say how much a write at the key a changes the answer at the
key b. Keys are columns.

Every memory with a `Kernel` can be read. A `FeatureKernel` is an inner product of
features of finite length, so that all writes together are one matrix. `KeyGeometry` and
`RandomFeatures` are such kernels too.
"""

from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float, Real

from rankone._annotated import checked
from rankone._checks import array, integer, positive
from rankone._module import Module
from rankone.precision import full_precision

__all__ = [
    "FeatureKernel",
    "Gaussian",
    "Kernel",
    "Laplace",
    "Linear",
    "Metric",
    "NearestNeighbours",
]


@runtime_checkable
class Kernel(Protocol):
    """Protocol of a kernel: the weights with which residuals stored at keys are read at
    queries. A kernel is a pytree, so that jit can take it.
    """

    def inner(
        self, a: Float[Array, "D n"], b: Float[Array, "D m"], /
    ) -> Float[Array, "n m"]:
        """Weights κ(aᵢ, bⱼ) of the stored keys a (D, n) at the queries b (D, m), one
        key or query per column.
        """
        ...


@runtime_checkable
class FeatureKernel(Kernel, Protocol):
    """Kernel κ(a, b) = φ(a)ᵀ G φ(b) with finitely many features. All writes with this
    kernel together are a change of one matrix, which acts on φ(b).
    """

    def features(self, a: Float[Array, "D n"], /) -> Float[Array, "F n"]:
        """Features φ(a) of the keys a (D, n), one per column."""
        ...

    def dual(self, a: Float[Array, "D n"], /) -> Float[Array, "F n"]:
        """Dual features G φ(a). A write at a adds a multiple of this vector to each row
        of the matrix.
        """
        ...


class Linear(Module):
    """Linear kernel aᵀb, with G = I, as in plain gradient descent."""

    @checked
    @jax.jit
    @full_precision()
    def inner(
        self, a: Float[Array, "D n"], b: Float[Array, "D m"]
    ) -> Float[Array, "n m"]:
        """Inner products aᵀb."""
        return a.T @ b

    @checked
    @jax.jit
    def features(self, a: Float[Array, "D n"]) -> Float[Array, "D n"]:
        """Features: the keys themselves."""
        return a

    @checked
    @jax.jit
    def dual(self, a: Float[Array, "D n"]) -> Float[Array, "D n"]:
        """Dual features: the keys themselves, because G = I."""
        return a


class Metric(Module):
    """Kernel aᵀGb for a matrix G. If G is the inverse of a matrix C, use `KeyGeometry`,
    which factors C and never forms the inverse.

    Attributes:
        G: Symmetric, positive semidefinite (D, D).
    """

    G: Float[ArrayLike, "D D"]

    def __post_init__(self) -> None:
        self.G = array(
            "G", self.G, "(D, D): a matrix for the inner product", 2, once=True
        )

    @checked
    @jax.jit
    @full_precision()
    def inner(
        self, a: Float[Array, "D n"], b: Float[Array, "D m"]
    ) -> Float[Array, "n m"]:
        """Inner products aᵀGb."""
        return a.T @ (jnp.asarray(self.G) @ b)

    @checked
    @jax.jit
    def features(self, a: Float[Array, "D n"]) -> Float[Array, "D n"]:
        """Features: the keys themselves."""
        return a

    @checked
    @jax.jit
    @full_precision()
    def dual(self, a: Float[Array, "D n"]) -> Float[Array, "D n"]:
        """Dual features G a."""
        return jnp.asarray(self.G) @ a


class Gaussian(Module):
    """Gaussian kernel exp(−β‖a − b‖²/2) of the dense associative memories. It has
    infinitely many features.

    Attributes:
        beta: Inverse squared width β, positive.

    >>> import numpy as np, rankone as ro
    >>> print(np.asarray(ro.writes.Gaussian(beta=2.0).inner(np.eye(2), np.eye(2))).round(3))
    [[1.    0.135]
     [0.135 1.   ]]
    """

    beta: Real[ArrayLike, ""]

    def __post_init__(self) -> None:
        positive("beta", self.beta)
        self.beta = jnp.asarray(self.beta, float)

    @checked
    @jax.jit
    def inner(
        self, a: Float[Array, "D n"], b: Float[Array, "D m"]
    ) -> Float[Array, "n m"]:
        """Kernel exp(−β‖a − b‖²/2)."""
        return jnp.exp(-jnp.asarray(self.beta, a.dtype) / 2 * _squared_distances(a, b))


class Laplace(Module):
    """Laplace kernel exp(−‖a − b‖/σ), by which `ResMem` weights nearest neighbours.

    Attributes:
        sigma: Width σ, positive.
    """

    sigma: Real[ArrayLike, ""]

    def __post_init__(self) -> None:
        positive("sigma", self.sigma)
        self.sigma = jnp.asarray(self.sigma, float)

    @checked
    @jax.jit
    def inner(
        self, a: Float[Array, "D n"], b: Float[Array, "D m"]
    ) -> Float[Array, "n m"]:
        """Kernel exp(−‖a − b‖/σ)."""
        return jnp.exp(-_distances(a, b) / jnp.asarray(self.sigma, a.dtype))


class NearestNeighbours(Module):
    """Laplace weights of the k nearest keys, each divided by the weight of the nearest
    key; 0 for all other keys.

    The weight of one key depends on all other keys and jumps as the query moves. The
    weights are therefore not an inner product of features, and the memory is not linear
    [W-not]. If k is the number of keys, a normalised reading is the ratio of two linear
    memories.

    Attributes:
        k: Number of neighbours; all keys if there are fewer.
        sigma: Width σ, positive.
    """

    k: int = eqx.field(static=True)
    sigma: Real[ArrayLike, ""]

    def __post_init__(self) -> None:
        positive("sigma", self.sigma)
        self.k = integer("k", self.k)
        self.sigma = jnp.asarray(self.sigma, float)

    @checked
    @jax.jit
    def inner(
        self, a: Float[Array, "D n"], b: Float[Array, "D m"]
    ) -> Float[Array, "n m"]:
        """Weights of all the stored keys a at each query of b. A weight depends on the
        whole set of keys, not only on its own key.
        """
        distances = _distances(a, b).T
        _, neighbours = jax.lax.top_k(-distances, min(self.k, a.shape[1]))
        weights = jnp.exp(
            (distances.min(axis=1, keepdims=True) - distances)
            / jnp.asarray(self.sigma, a.dtype)
        )
        rows = jnp.arange(len(distances))[:, None]
        return (
            jnp.zeros_like(distances)
            .at[rows, neighbours]
            .set(jnp.take_along_axis(weights, neighbours, axis=1))
            .T
        )


def _squared_distances(a: Array, b: Array) -> Array:
    """‖aᵢ − bⱼ‖² by differences: the expanded form would lose all digits of near keys
    far from the origin.
    """
    return jax.lax.map(
        lambda key: jnp.sum((b - key[:, None]) ** 2, axis=0), a.T, batch_size=64
    )


def _distances(a: Array, b: Array) -> Array:
    squared = _squared_distances(a, b)
    return jnp.sqrt(jnp.where(squared > 0, squared, 0))
