"""The matrices that make layer i answer for one cell, or one bit, of (x, x*), and the
telescope that installs them.

A feature vector has two halves of J entries. Before the step it is φ(x) = [e_j; 0] for
x in cell j, and after the step φ'(x*) = [0; e_l] for x* in cell l. The kernel of layer
i is kᵢ(x, x*) = φ(x)ᵀ BᵢᵀBᵢ φ'(x*) [M-kern].
"""

import numpy as np
from numpy.typing import NDArray

from rankone._annotated import checked
from rankone._checks import integer, not_negative, positive
from rankone._module import Module

__all__ = [
    "Selector",
    "amplifiers",
    "bit_selector",
    "cell_index",
    "cell_selector",
    "kernels",
    "seed_matrix",
]
__all__ += ["telescope", "unipotent"]

Matrix = NDArray[np.float64]


class Selector(Module):
    """Matrices that select cells in a stack of layers, and the weights with which a
    reader decodes a cell from the slots.

    Attributes:
        B: Forward products, one for each selecting layer (n, 2J, 2J).
        A: Diagonals of the backward products (n, S), which say what a layer writes to
            each of the S slots.
        decode: Weights of the slots (J², S), one row per cell. They give 1 for the
            cell's own slot vector and at most 0 for those of other cells, up to ε and a
            positive factor.
    """

    B: Matrix
    A: Matrix
    decode: Matrix

    @property
    def J(self) -> int:
        """Number of cells on an axis."""
        return self.B.shape[-1] // 2

    def kernels(self) -> Matrix:
        """Kernels (J², n) of every layer, for x in cell j and x* in cell l at row j +
        Jl.
        """
        return kernels(self.B).transpose(2, 1, 0).reshape(self.J**2, -1)


@checked
def seed_matrix(j: int, l: int, J: int, epsilon: float) -> Matrix:  # noqa: E741
    """The printed B of a cell, [[E_jj, E_jl], [E_lj, 0]] + εI [M-appA-Bpd, M-appC-B].

    Its eigenvalues are (1 ± √5)/2 + ε and ε, so B is positive definite only for ε >
    0.618. The argument needs less: entries ≥ 0, and an off-diagonal block of B²
    proportional to E_jl. The block here is exactly (1 + 2ε)E_jl.
    """
    J = integer("J", J)
    place = f"the number of a cell: from 0 to J − 1 = {J - 1}"
    for name, cell in (("j", j), ("l", l)):
        integer(name, cell, place, least=0, most=J - 1)
    B = epsilon * np.eye(2 * J)
    B[j, j] += 1
    B[j, J + l] = B[J + l, j] = 1
    return B


@checked
def unipotent(U: Matrix) -> Matrix:
    """The matrix I + [[0, U], [0, 0]]: for any U ≥ 0 its kernel is exactly U_jl [M-S2].

    For U = E_jl its condition number is 2.618, the square of the golden ratio, and its
    inverse is 2I − B. No ε is needed.
    """
    U = np.asarray(U)
    if U.ndim != 2 or U.shape[0] != U.shape[1]:
        raise ValueError(f"U: got shape {U.shape}; it must be square, (J, J).")
    J = len(U)
    B = np.eye(2 * J)
    B[:J, J:] = U
    return B


@checked
def kernels(B: Matrix) -> Matrix:
    """Kernels of layers at all cells: the block of BᵀB with [e_j; 0] on the left and
    [0; e_l] on the right, (..., J, J) [M-kern, M-eq6].
    """
    B = np.asarray(B)
    if B.ndim < 2 or B.shape[-1] != B.shape[-2] or B.shape[-1] % 2 != 0:
        raise ValueError(
            f"B: got shape {B.shape}; it must be (..., 2J, 2J), for J cells on an axis."
        )
    J = B.shape[-1] // 2
    return (np.swapaxes(B, -1, -2) @ B)[..., :J, J:]


@checked
def cell_index(j: int, l: int, J: int) -> int:  # noqa: E741
    """Position of the cell (j, l): j + Jl. The printed j + J·L is the same for every l
    [M-index].

    >>> cell_index(1, 2, J=4)
    9
    """
    return j + J * l


@checked
def amplifiers(n: int, S: int, epsilon: float) -> Matrix:
    """Diagonals of A for n layers: ε everywhere, and 1 + ε at entry p of layer p, which
    writes slot p [M-Ajl, M-v].
    """
    return epsilon + np.eye(integer("n", n), integer("S", S))


@checked
def cell_selector(
    J: int, epsilon: float, *, printed: bool = True, reference: bool = False
) -> Selector:
    """Selector with one layer and one slot for each of the J² cells [M-idea1, M-S2].

    Args:
        J: Cells on an axis.
        epsilon: ε of A, and of the printed B.
        printed: True for the printed B_jl (`seed_matrix`), False for the `unipotent`
            matrix.
        reference: Add a slot written by a layer with kernel 0 and subtract it when
            reading: this cancels ε, however large, and the 1 that a trainable bias adds
            to every kernel.
    """
    J = integer("J", J)
    e = np.eye(J)
    make = (
        (lambda j, m: seed_matrix(j, m, J, epsilon))
        if printed
        else (lambda j, m: unipotent(np.outer(e[j], e[m])))
    )
    B = [make(c % J, c // J) for c in range(J * J)]
    decode = np.eye(J * J)
    if reference:
        B = [*B, np.eye(2 * J)]
        decode = np.hstack([decode, -np.ones((J * J, 1))])
    return Selector(np.stack(B), amplifiers(len(B), len(B), epsilon), decode)


@checked
def bit_selector(J: int, epsilon: float, *, reference: bool = False) -> Selector:
    """Selector with one layer for each bit of j and of l, and one for all cells:
    2⌈log₂J⌉ + 1 layers [M-S3].

    With T bits and slots v₀ = Δ (all cells) and v_b = Δ·(bit b), a cell is read as
    Δ(#matching bits − T + 1) = Σ_{b set} v_b + Σ_{b not set} (v₀ − v_b) − (T − 1)v₀.
    """
    J = integer("J", J)
    bits = max(1, (J - 1).bit_length())
    table = np.arange(J)[:, None] >> np.arange(bits) & 1  # (J, bits)
    ones = np.ones(J)
    U = [np.outer(column, ones) for column in table.T] + [
        np.outer(ones, column) for column in table.T
    ]
    U = [np.outer(ones, ones), *U]
    # row j + Jl: bits of j, then of l
    words = np.hstack([np.tile(table, (J, 1)), np.repeat(table, J, 0)])
    decode = np.hstack([1 - words.sum(1, keepdims=True), 2.0 * words - 1])
    if reference:
        U = [*U, np.zeros((J, J))]
        decode = np.hstack([decode, -decode.sum(1, keepdims=True)])
    return Selector(
        np.stack([unipotent(u) for u in U]), amplifiers(len(U), len(U), epsilon), decode
    )


@checked
def telescope(selector: Selector, *, epsilon: float, damping: float) -> Matrix:
    """The N = n + 2 weight matrices whose products are the selector's: (N, width,
    width), first applied first.

    In the forward channel W̃ᵢ = M̃ᵢ M̃ᵢ₊₁⁻¹, and in the written channel W̄ᵢ = M̄ᵢ₋₁⁻¹
    M̄ᵢ, where i counts the layers from the output [M-appA-tele]. M̃_{N+1} = I and M̄₀ =
    I are forced, so layers 1 and N cannot select anything. Here M̃₁ = M̃₂ = I gives
    these layers the kernel 0, and M̄_N = μI suppresses the gradient of the features'
    own layer [M-appA-bdry, M-eq2]. All M̄ᵢ are diagonal, and so are their quotients
    [M-appA-Wbar].

    Args:
        selector: From `cell_selector` or `bit_selector`.
        epsilon: ε = M̄²_{N−1}, what layer N writes.
        damping: μ, factor in the weights that lead from the layer of the features to
            the slots.
    """
    positive("epsilon", epsilon)
    not_negative("damping", damping)
    n, S = selector.A.shape
    half = selector.B.shape[-1]
    eye = np.eye(half)[None]
    forward = np.concatenate([eye, eye, selector.B, eye])  # M̃₁ … M̃_{N+1}
    ends = np.array([[1.0], [epsilon], [damping**2]]) * np.ones(S)
    # diagonals of M̄₀ … M̄_N
    backward = np.sqrt(np.concatenate([ends[:1], selector.A, ends[1:]]))
    W = np.zeros((n + 2, half + S + 1, half + S + 1))
    W[:, :half, :half] = np.linalg.solve(
        forward[1:].swapaxes(1, 2), forward[:-1].swapaxes(1, 2)
    ).swapaxes(1, 2)
    slots = half + np.arange(S)
    W[:, slots, slots] = backward[1:] / backward[:-1]
    W[:, -1, -1] = 1
    return W[::-1]
