"""Change of a deep linear network by one gradient step, with the layers counted from
the output.

Layers are counted from the output: z = W₁W₂…W_N φ, so `W[0]` is W₁. The gradients are
also those of a ReLU network whose pre-activations are all positive [M-(1)].
"""

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from operator import matmul

import numpy as np
from jaxtyping import Array, ArrayLike, Real

from rankone._annotated import checked
from rankone._checks import brief

__all__ = [
    "first_order",
    "layer_gradient",
    "left",
    "longest_chain",
    "product",
    "right",
    "written",
]

# The functions take arrays of NumPy or of JAX. The book passes float64 of NumPy.
Matrix = np.ndarray | Array


@checked
def product(W: Sequence[Matrix]) -> Matrix:
    """Product W₁W₂…W_N. Applied to φ, it gives the output before the step [M-pre]."""
    check_chain(W)
    return reduce(matmul, W)


@checked
def left(W: Sequence[Matrix], i: int) -> Matrix:
    """Product W₁…W_{i−1} of the layers after layer i, the identity for i = 1. Its
    transpose carries the error back to layer i.
    """
    return product([np.eye(len(W[0])), *W[: i - 1]])


@checked
def right(W: Sequence[Matrix], i: int) -> Matrix:
    """Product W_{i+1}…W_N of the layers before layer i, the identity for i = N. It
    carries φ forward to layer i.

    In a ReLU network this product applied to φ must have no negative entry, because a
    ReLU would clip it [M-appA-psd]. If the layers are Wᵢ = M̃ᵢM̃_{i+1}⁻¹, the telescope
    of the universality proof with M̃_{N+1} = I, the product is M̃_{i+1} [M-appA-idx].
    """
    return product([*W[i:], np.eye(np.shape(W[-1])[-1])])


@checked
def layer_gradient(W: Sequence[Matrix], i: int, e: Matrix, phi: Matrix) -> Matrix:
    """Gradient of the loss with respect to Wᵢ, (W₁…W_{i−1})ᵀ e φᵀ (W_{i+1}…W_N)ᵀ, of
    rank one [M-grad].

    Args:
        W: Weights, W₁ first.
        i: Layer, from 1 at the output to N.
        e: Error ∇_z L at the output.
        phi: Input of the stack.
    """
    check_ends(W, e, phi)
    return np.outer(left(W, i).T @ e, right(W, i) @ phi)


@checked
def first_order(W: Sequence[Matrix], e: Matrix, phi: Matrix) -> Matrix:
    """Sum Σᵢ PᵢPᵢᵀ e φᵀ QᵢᵀQᵢ, which is the negative of the first-order change of the
    product by a step of α = 1 [M-prod, M-prod2, M-z*].

    Here Pᵢ = W₁…W_{i−1} and Qᵢ = W_{i+1}…W_N. The paper prints Pᵢ for the last factor
    Qᵢ.

    Args:
        W: Weights, W₁ first.
        e: Error ∇_z L at the output.
        phi: Input of the stack.
    """
    check_ends(W, e, phi)
    terms = ((left(W, i), right(W, i)) for i in range(1, len(W) + 1))
    return np.sum([P @ np.outer(P.T @ e, Q @ phi) @ Q for P, Q in terms], 0)


def check_chain(W: Sequence[Matrix]) -> None:
    """ValueError unless the matrices W can be multiplied in their order."""
    fits = all(np.ndim(matrix) == 2 for matrix in W) and all(
        matrix.shape[1] == len(next_matrix) for matrix, next_matrix in pairwise(W)
    )
    if not fits:
        raise ValueError(
            f"W: got {brief([np.shape(matrix) for matrix in W])}; it must be matrices, of "
            "which each has as many columns as the next has rows."
        )


def check_ends(W: Sequence[Matrix], e: Matrix, phi: Matrix) -> None:
    """ValueError unless e is as long as the output of the stack, and phi as its
    input.
    """
    check_chain(W)
    for name, vector, length in (
        ("e", e, len(W[0])),
        ("phi", phi, np.shape(W[-1])[-1]),
    ):
        if np.shape(vector) != (length,):
            raise ValueError(
                f"{name}: got shape {np.shape(vector)}; "
                f"it must be of shape ({length},), as W requires."
            )


@checked
def longest_chain(W: Sequence[Matrix], G: Sequence[Matrix]) -> float:
    """Largest entry, in absolute value, of any product GᵢW_{i+1}…W_{k−1}G_k with i < k.
    If it is 0, the step W − αG is exactly first order for every step size α [M-S1].
    """
    N = len(W)
    if not all(np.ndim(matrix) == 2 for matrix in G):
        raise ValueError(
            f"G: got {brief([np.shape(matrix) for matrix in G])}; it must be matrices."
        )
    return max(
        float(np.abs(product([G[i], *W[i + 1 : k], G[k]])).max())
        for i in range(N)
        for k in range(i + 1, N)
    )


@checked
def written(
    A: Real[ArrayLike, "N S"],
    B: Real[ArrayLike, "N J J"],
    e: Real[ArrayLike, " S"],
    phi: Real[ArrayLike, " J"],
    phi_star: Real[ArrayLike, " J"],
    alpha: float,
) -> Matrix:
    """Change of the slots at x* by the step, z* = −α Σᵢ Aᵢe φ(x)ᵀ BᵢᵀBᵢ φ'(x*) [M-eq3].

    The stack has two channels. The forward channel passes the features on; the written
    channel is 0 before the step, and the step writes into it. The slots are the S
    outputs of the written channel.


    Args:
        A: Diagonals of the matrices Aᵢ = PᵢPᵢᵀ (N, S), where Pᵢ is the product of the
            layers after layer i in the written channel.
        B: Products Bᵢ of the layers before layer i in the forward channel (N, J, J),
            for J features.
        e: Error in the written channel (S,).
        phi: Features of x before the step (J,).
        phi_star: Features of x* after it (J,).
        alpha: Step size.
    """
    kernel = np.einsum("d,nkd,nke,e->n", phi, B, B, phi_star)
    return -alpha * (kernel @ A) * e
