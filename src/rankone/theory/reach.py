"""Reach share: the fraction of a gradient that W = W0 + TUV can follow when only U is
trained.

Let G be the gradient with respect to W, and let T have orthonormal columns and V
orthonormal rows. To first order, the first step of descent on U lowers the loss by
η‖TᵀGVᵀ‖², and the first step on all of W by η‖G‖². These functions compute the ratio.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float, Real

from rankone._checks import array, integer

__all__ = ["best_share", "example_share", "reach_share"]


def reach_share(
    G: Real[ArrayLike, "m n"], T: Real[ArrayLike, "m p"], V: Real[ArrayLike, "q n"]
) -> Float[Array, ""]:
    """Reach share of G: the fraction of ‖G‖² in the range of T and the row space of V,
    ‖TT⁺GV⁺V‖²/‖G‖² [K-sharp8].

    Args:
        G: Gradient with respect to W (m, n), not zero.
        T: (m, p).
        V: (q, n).

    Raises:
        ValueError: If the shapes of G, T and V do not fit.

    >>> import numpy as np
    >>> print(f"{reach_share(np.diag([3.0, 4.0]), np.array([[0.0], [1.0]]), np.eye(2)):.2f}")
    0.64
    """
    G = array("G", G, "(m, n)", 2)
    T = array("T", T, "(m, p)", 2)
    V = array("V", V, "(q, n)", 2)
    if G.shape != (T.shape[0], V.shape[1]):
        raise ValueError(
            f"G: got shape {G.shape}; it must be ({T.shape[0]}, {V.shape[1]}), because "
            f"T is {T.shape} and V is {V.shape}."
        )
    return _share(G, T, V)


@jax.jit
def _share(G: Array, T: Array, V: Array) -> Array:
    projection = T @ (jnp.linalg.pinv(T) @ G @ jnp.linalg.pinv(V)) @ V
    return jnp.sum(projection**2) / jnp.sum(G**2)


def best_share(G: Real[ArrayLike, "m n"], rank: int) -> Float[Array, ""]:
    """Largest reach share of any T with `rank` columns and V with `rank` rows: Σσᵢ²
    over the `rank` largest singular values of G, divided by Σσᵢ² over all [K-sharp8].

    Args:
        G: Gradient with respect to W (m, n), not zero.
        rank: Number of columns of T and rows of V.
    """
    G = array("G", G, "(m, n)", 2)
    return _best(G, integer("rank", rank, "a rank that W can have", most=min(G.shape)))


@partial(jax.jit, static_argnums=1)
def _best(G: Array, rank: int) -> Array:
    sizes = jnp.linalg.svd(G, compute_uv=False) ** 2
    return sizes[:rank].sum() / sizes.sum()


def example_share(
    A: Real[ArrayLike, "n n"],
    D: Real[ArrayLike, "m m"],
    T: Real[ArrayLike, "m p"],
    V: Real[ArrayLike, "q n"],
) -> Float[Array, ""]:
    """Reach share of the gradients δxᵀ of single examples, as a ratio of means over the
    examples, where δ and x are independent [K-sharp8].

    x is the input of the layer and δ the derivative of the loss with respect to its
    output.

    Args:
        A: Second moment of x (n, n).
        D: Second moment of δ (m, m).
        T: (m, p).
        V: (q, n).
    """
    A = array("A", A, "(n, n)", 2)
    D = array("D", D, "(m, m)", 2)
    T = array("T", T, "(m, p)", 2)
    V = array("V", V, "(q, n)", 2)
    if A.shape != (V.shape[1],) * 2:
        raise ValueError(
            f"A: got shape {A.shape}; "
            f"it must be ({V.shape[1]}, {V.shape[1]}), because V is {V.shape}."
        )
    if D.shape != (T.shape[0],) * 2:
        raise ValueError(
            f"D: got shape {D.shape}; "
            f"it must be ({T.shape[0]}, {T.shape[0]}), because T is {T.shape}."
        )
    return _expected_share(A, D, T, V)


@jax.jit
def _expected_share(A: Array, D: Array, T: Array, V: Array) -> Array:
    def part(moment: Array, basis: Array) -> Array:
        return jnp.trace(jnp.linalg.pinv(basis) @ moment @ basis) / jnp.trace(moment)

    return part(D, T) * part(A, V.T)
