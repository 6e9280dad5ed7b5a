r"""The matrices that make layer i answer for one cell, or one bit, of (x, x*), and the telescope that installs them.

Feature vectors have two halves of J: before the step x sits in the first, [e_j; 0]; after it x* in the second,
[0; e_l]. The kernel of a layer is $k_i(x,x^*)=\tilde\phi(x)^\top B_i^\top B_i\tilde\phi'(x^*)$ [M-kern].
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Selector", "amplifiers", "bit_selector", "cell_index", "cell_selector", "kernels", "seed_matrix"]
__all__ += ["telescope", "unipotent"]

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Selector:
    """What a stack selects, and how a reader finds a cell in what it wrote.

    Attributes:
        B: Forward products, one for each selecting layer (n, 2J, 2J).
        A: Diagonals of the backward products (n, S): which of the S slots the layer writes.
        decode: (J², S): weights of the slots that give 1 for the cell's own slot vector and at most 0 for others, up
            to ε and to a positive factor.
    """

    B: Matrix
    A: Matrix
    decode: Matrix

    @property
    def J(self) -> int:
        """Cells on an axis."""
        return self.B.shape[-1] // 2

    def kernels(self) -> Matrix:
        """(J², n): the kernel of every layer for x in cell j and x* in cell l, at row j + Jl."""
        return kernels(self.B).transpose(2, 1, 0).reshape(self.J**2, -1)


def seed_matrix(j: int, l: int, J: int, epsilon: float) -> Matrix:  # noqa: E741
    r"""$B_{jl}=\begin{bmatrix}E_{jj}&E_{jl}\\E_{lj}&0\end{bmatrix}+\epsilon I$ [M-appA-Bpd, M-appC-B].

    Its eigenvalues are $\frac{1\pm\sqrt5}2+\epsilon$ and ε: positive definite only for ε > 0.618. What the argument
    needs is less: entries ≥ 0, and the off-diagonal block of B², which is exactly (1 + 2ε)E_jl.
    """
    B = epsilon * np.eye(2 * J)
    B[j, j] += 1
    B[j, J + l] = B[J + l, j] = 1
    return B


def unipotent(U: Matrix) -> Matrix:
    r"""$I+\begin{bmatrix}0&U\\0&0\end{bmatrix}$: for any U ≥ 0 its kernel is exactly $U_{jl}$ [M-S2].

    For U = E_jl its condition number is φ² = 2.618, its inverse 2I − B, and no ε is needed.
    """
    J = len(U)
    B = np.eye(2 * J)
    B[:J, J:] = U
    return B


def kernels(B: Matrix) -> Matrix:
    """The block of BᵀB that meets [e_j; 0] on the left and [0; e_l] on the right: (..., J, J) [M-kern, M-eq6]."""
    J = B.shape[-1] // 2
    return (np.swapaxes(B, -1, -2) @ B)[..., :J, J:]


def cell_index(j: int, l: int, J: int) -> int:  # noqa: E741
    """Position of the cell (j, l): j + Jl. The printed j + J·L is the same for every l [M-index]."""
    return j + J * l


def amplifiers(n: int, S: int, epsilon: float) -> Matrix:
    """Diagonals of A for n layers, the p-th of which writes slot p: ε everywhere and 1 + ε at p [M-Ajl, M-v]."""
    return epsilon + np.eye(n, S)


def cell_selector(J: int, epsilon: float, *, printed: bool = True, reference: bool = False) -> Selector:
    """One layer and one slot for each of the J² cells [M-idea1, M-S2].

    Args:
        J: Cells on an axis.
        epsilon: ε of A, and of the printed B.
        printed: The printed B_jl; otherwise the unipotent one.
        reference: Add a slot written by a layer with kernel 0 and subtract it when reading: ε then cancels, however
            large, and so does the 1 that a trainable bias adds to every kernel.
    """
    e = np.eye(J)
    make = (lambda j, m: seed_matrix(j, m, J, epsilon)) if printed else (lambda j, m: unipotent(np.outer(e[j], e[m])))
    B, decode = [make(c % J, c // J) for c in range(J * J)], np.eye(J * J)
    if reference:
        B, decode = [*B, np.eye(2 * J)], np.hstack([decode, -np.ones((J * J, 1))])
    return Selector(np.stack(B), amplifiers(len(B), len(B), epsilon), decode)


def bit_selector(J: int, epsilon: float, *, reference: bool = False) -> Selector:
    r"""One layer for each bit of j and of l, and one for all cells: 2⌈log₂J⌉ + 1 of them [M-S3].

    With T bits and slots v₀ = Δ (all cells) and v_b = Δ·(bit b), a cell is read as
    Δ(#matching bits − T + 1) = Σ_{b set} v_b + Σ_{b not set} (v₀ − v_b) − (T − 1)v₀.
    """
    bits = max(1, (J - 1).bit_length())
    table = np.arange(J)[:, None] >> np.arange(bits) & 1  # (J, bits)
    ones = np.ones(J)
    U = [np.outer(column, ones) for column in table.T] + [np.outer(ones, column) for column in table.T]
    U = [np.outer(ones, ones), *U]
    words = np.hstack([np.tile(table, (J, 1)), np.repeat(table, J, 0)])  # row j + Jl: bits of j, then of l
    decode = np.hstack([1 - words.sum(1, keepdims=True), 2.0 * words - 1])
    if reference:
        U, decode = [*U, np.zeros((J, J))], np.hstack([decode, -decode.sum(1, keepdims=True)])
    return Selector(np.stack([unipotent(u) for u in U]), amplifiers(len(U), len(U), epsilon), decode)


def telescope(selector: Selector, *, epsilon: float, damping: float) -> Matrix:
    r"""The N = n + 2 weight matrices whose products are the selector's: (N, width, width), first applied first.

    $\tilde W_i=\tilde M_i\tilde M_{i+1}^{-1}$ and $\bar W_i=\bar M_{i-1}^{-1}\bar M_i$ with i counted from the output
    [M-appA-tele]. $\tilde M_{N+1}=I$ and $\bar M_0=I$ are forced, so layers 1 and N can select nothing; here
    $\tilde M_1=\tilde M_2=I$ gives them the kernel 0, and $\bar M_N=\mu I$ keeps the features' own gradient out
    [M-appA-bdry, M-eq2]. All $\bar M_i$ are diagonal, and so are their quotients [M-appA-Wbar].

    Args:
        selector: Of cells or of bits.
        epsilon: $\bar M_{N-1}^2$, what layer N writes.
        damping: μ.
    """
    n, S = selector.A.shape
    half = selector.B.shape[-1]
    eye = np.eye(half)[None]
    forward = np.concatenate([eye, eye, selector.B, eye])  # M̃₁ … M̃_{N+1}
    ends = np.array([[1.0], [epsilon], [damping**2]]) * np.ones(S)
    backward = np.sqrt(np.concatenate([ends[:1], selector.A, ends[1:]]))  # diagonals of M̄₀ … M̄_N
    W = np.zeros((n + 2, half + S + 1, half + S + 1))
    W[:, :half, :half] = np.linalg.solve(forward[1:].swapaxes(1, 2), forward[:-1].swapaxes(1, 2)).swapaxes(1, 2)
    slots = half + np.arange(S)
    W[:, slots, slots] = backward[1:] / backward[:-1]
    W[:, -1, -1] = 1
    return W[::-1]
