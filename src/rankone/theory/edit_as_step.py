r"""One step of preconditioned descent that stores a new pair exactly: the edit of ROME, as a gradient step [K-rome].

With $V=C^{-1/2}$ and $T=I$ the step is $\eta\,(v-Wk)\,(C^{-1}k)^\top$, and at $\eta=1/(k^\top C^{-1}k)$ the new matrix
maps k to v. No matrix that does so changes the answers to keys of second moment C by less.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import array, check, readable
from rankone.preconditioning.layers import Reparameterized
from rankone.preconditioning.whitening import matrix_power

__all__ = ["exact_rate", "store_pair"]


def exact_rate(layer: Reparameterized, k: Float[ArrayLike, " n"]) -> Float[Array, ""]:
    r"""The rate at which one step on U, of the loss $\frac12\|v-Wk\|^2$, stores k: $1/(k^\top V^\top Vk)$ [K-rome].

    Args:
        layer: With T of orthonormal rows; otherwise no rate stores every v in one step.
        k: Key (n,), the 1 of a bias not included.
    """
    if readable(layer.T):
        T = np.asarray(layer.T)
        check(np.allclose(T @ T.T, np.eye(len(T)), atol=1e-5), "T", "rows that are not orthonormal", "T Tᵀ = I")
    return _exact_rate(layer, jnp.asarray(k))


@jax.jit
def _exact_rate(layer: Reparameterized, k: Array) -> Array:
    return 1 / jnp.sum((layer.V @ layer.features(k)) ** 2)


def store_pair(W: ArrayLike, C: ArrayLike, k: ArrayLike, v: ArrayLike) -> Float[Array, "m n"]:
    r"""W after one gradient step on U, with $V=C^{-1/2}$, T = I and the exact rate, on $\frac12\|v-Wk\|^2$ [K-rome].

    Args:
        W: Weights (m, n).
        C: Second moment of the keys already stored (n, n), positive definite.
        k: New key (n,).
        v: Its value (m,).

    Raises:
        ValueError: If a shape does not fit, or C is singular.
    """
    W, k, v = array("W", W, "(m, n)", 2), array("k", k, "(n,)", 1), array("v", v, "(m,)", 1)
    check(W.shape == (len(v), len(k)), "W", f"shape {W.shape}", f"({len(v)}, {len(k)}), from v and k")
    V = matrix_power(C, -0.5)
    check(V.shape[0] == len(k), "C", f"shape {V.shape}", f"({len(k)}, {len(k)}), as the key is {k.shape}")
    layer = Reparameterized.from_weight(W, jnp.eye(len(v), dtype=W.dtype), V)
    return _stepped(layer, k, v)


@jax.jit
def _stepped(layer: Reparameterized, k: Array, v: Array) -> Array:
    gradient_U = layer.T.T @ jnp.outer(layer(k) - v, k) @ layer.V.T
    return layer.T @ (layer.U - _exact_rate(layer, k) * gradient_U) @ layer.V
