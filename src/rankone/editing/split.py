"""Cholesky's factorisation of a matrix that is split over devices, and the two
triangular solves with its factor.

Each device holds an equal part of the rows of C, and computes the same rows of the
factor U of C = UᵀU. The rows are eliminated in blocks. In every step the device that
owns a block sends it to all others. Every device then factors the block, and eliminates
it from its own remaining rows. A solve takes the devices in order, and sends each part
of the solution once. No array on a device is larger than its rows of C.

JAX's own factorisation needs the whole matrix on every device. JAXMg splits the matrix,
but needs several NVIDIA GPUs.
"""

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.linalg import solve_triangular
from jax.sharding import PartitionSpec as P
from jaxtyping import Array, Float

from rankone._axes import on_automatic
from rankone._mesh import Placement, placement_of, refuse_explicit
from rankone._module import Module, assembled
from rankone.precision import accurate_difference, wider

__all__ = ["SplitTriangular", "factor_rows", "split_difference", "split_rows"]

# Largest D for which every device factors all of C, which is then 1 GB in float32.
_LARGE = 16_384
_BLOCK = 256  # rows that are eliminated at a time, at most
_HIGHEST = lax.Precision.HIGHEST  # TF32 would cost the factor half of its digits


class SplitTriangular(Module):
    """A triangular factor U (D, D) of UᵀU, whose rows are split over devices. It has
    the methods of `Triangular`.

    Attributes:
        dense: U, upper triangular (D, D).
        diagonal: Diagonal of U (D,), on every device.
        placement: How the rows are split; None if they are all on one device, as in a
            copy that was loaded on a machine without those devices.
    """

    dense: Float[Array, "D D"]
    diagonal: Float[Array, " D"]
    placement: Placement | None = eqx.field(static=True)

    def forward(self, B: Float[Array, "D ..."]) -> Float[Array, "D ..."]:
        """Solution U⁻ᵀB of UᵀX = B, with its rows split as those of U are."""
        B = jnp.asarray(B, wider(self.dense, B))
        if self.placement is None:
            return solve_triangular(self.dense.astype(B.dtype), B, trans=1)
        axis = self.placement.axis
        return self.placement.run(
            lambda U, B: _forward(U, B, axis),
            (self.dense.astype(B.dtype), B),
            (self.placement.spec(), P()),
            self.placement.spec(),
        )

    def backward(self, B: Float[Array, "D ..."]) -> Float[Array, "D ..."]:
        """Solution U⁻¹B of UX = B, on every device."""
        B = jnp.asarray(B, wider(self.dense, B))
        if self.placement is None:
            return solve_triangular(self.dense.astype(B.dtype), B)
        axis = self.placement.axis
        return self.placement.run(
            lambda U, B: _backward(U, B, axis),
            (self.dense.astype(B.dtype), B),
            (self.placement.spec(), self.placement.spec()),
            P(),
        )

    def _placed(self, placement: Placement) -> "SplitTriangular":
        """The same factor on the devices of a placement, for a copy."""
        fields = placement.placed(self, "dense").__dict__
        return assembled(SplitTriangular, fields | {"placement": placement})


def split_rows(C: Array) -> tuple[Array, Placement | None]:
    """C with its rows split over devices, and the placement of the rows. If C is split
    by columns, C.T is returned, which equals C. The placement is None if C is small or
    not split.
    """
    if len(C) <= _LARGE or isinstance(C, jax.core.Tracer):
        return C, None
    C = on_automatic(C)
    axes: tuple[Any, ...] = tuple(getattr(C.sharding, "spec", ()))
    if len(axes) == 2 and axes[0] is None and axes[1] is not None:
        C = C.T
    placement = placement_of(C)
    refuse_explicit(placement, "a C whose rows are split")
    return C, placement


def factor_rows(
    C: Float[Array, "D D"], placement: Placement
) -> tuple[SplitTriangular, Float[Array, " D"]]:
    """Factors U and d of C = diag(d)·UᵀU·diag(d), with dᵢ = √Cᵢᵢ."""
    U, diagonal, scale = placement.run(
        lambda C: _factor(C, placement.axis),
        (C,),
        (placement.spec(),),
        (placement.spec(), P(), P()),
    )
    return SplitTriangular(U, diagonal, placement), scale


def split_difference(
    B: Float[Array, "D *m"],
    C: Float[Array, "D D"],
    X: Float[Array, "D *m"],
    placement: Placement,
) -> Float[Array, "D *m"]:
    """Residual B − CX, which each device sums for its rows as `accurate_difference`
    does.
    """
    return placement.run(
        lambda B, C, X: accurate_difference(B, C.T, X),
        (B, C, X),
        (placement.spec(), placement.spec(), P()),
        placement.spec(),
    )


def _factor(C: Array, axis: Any) -> tuple[Array, Array, Array]:
    """A device's rows (n, D) of U, the diagonal of U, and the scale."""
    n, D = C.shape
    start = n * lax.axis_index(axis)
    own = jnp.arange(n), start + jnp.arange(n)  # indices of C's diagonal
    roots = jnp.sqrt(C[own])
    scale = lax.all_gather(roots, axis, tiled=True)
    rows = C / scale[None] / roots[:, None]
    b = max(size for size in range(1, min(n, _BLOCK) + 1) if n % size == 0)
    for first in range(0, D, n):
        # the rows that are left do not need the columns of earlier devices
        eliminate = partial(_eliminate, first=first, b=b, axis=axis)
        rest = lax.fori_loop(0, n // b, eliminate, rows[:, first:])
        rows = jnp.concatenate([rows[:, :first], rest], axis=1)
    U = jnp.where(jnp.arange(D)[None] >= own[1][:, None], rows, 0)
    return U, lax.all_gather(U[own], axis, tiled=True), scale


def _eliminate(i: Array, rows: Array, *, first: int, b: int, axis: Any) -> Array:
    """A device's rows (n, D − first), after the i-th block of the device whose rows
    begin at `first` was factored, and eliminated from all rows after it.
    """
    n = len(rows)
    start = n * lax.axis_index(axis)
    is_owner = start == first
    block = lax.dynamic_slice_in_dim(rows, i * b, b)
    block = lax.psum(jnp.where(is_owner, block, 0), axis)
    corner = lax.dynamic_slice_in_dim(block, i * b, b, 1)
    L = jnp.linalg.cholesky(corner, symmetrize_input=False)
    block = solve_triangular(L, block, lower=True)
    block = jnp.where(jnp.arange(block.shape[1])[None] >= i * b, block, 0)
    # the columns of the block that stand above this device's part of the diagonal; 0
    # where its rows are finished
    above = lax.dynamic_slice_in_dim(block, jnp.maximum(start - first, 0), n, 1)
    above = jnp.where(start >= first, above, 0)
    rows = rows - jnp.matmul(above.T, block, precision=_HIGHEST)
    finished = lax.dynamic_update_slice_in_dim(rows, block, i * b, 0)
    return jnp.where(is_owner, finished, rows)


def _forward(U: Array, B: Array, axis: Any) -> Array:
    """A device's rows of U⁻ᵀB, given its rows of U and all of B."""
    n, D = U.shape
    place = lax.axis_index(axis)
    corner = lax.dynamic_slice_in_dim(U, n * place, n, 1)

    def own(known: Array, right: Array) -> tuple[Array, Array]:
        solution = solve_triangular(corner, right, trans=1)
        return known + jnp.matmul(U.T, solution, precision=_HIGHEST), solution

    def step(i: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        # `known` is what this device's part of the solution adds to each row of UᵀX
        known, solution = state
        part = lax.psum(lax.dynamic_slice_in_dim(known, i * n, n), axis)
        right = lax.dynamic_slice_in_dim(B, i * n, n) - part
        return lax.cond(
            place == i, lambda: own(known, right), lambda: (known, solution)
        )

    zeros = jnp.zeros_like(B), jnp.zeros_like(B, shape=(n, *B.shape[1:]))
    return lax.fori_loop(0, D // n, step, zeros)[1]


def _backward(U: Array, B: Array, axis: Any) -> Array:
    """All of U⁻¹B, given a device's rows of U and of B."""
    n, D = U.shape
    place = lax.axis_index(axis)
    corner = lax.dynamic_slice_in_dim(U, n * place, n, 1)

    def own(X: Array) -> Array:
        right = B - jnp.matmul(U, X, precision=_HIGHEST)
        return solve_triangular(corner, right)

    def step(i: Array, X: Array) -> Array:
        last = D // n - 1 - i  # X is zero where it is not solved yet
        part = lax.cond(place == last, lambda: own(X), lambda: jnp.zeros_like(B))
        return lax.dynamic_update_slice_in_dim(X, lax.psum(part, axis), last * n, 0)

    X = jnp.zeros_like(B, shape=(D, *B.shape[1:]))
    return lax.fori_loop(0, D // n, step, X)
