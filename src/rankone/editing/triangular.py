"""Triangular solves by blocks: products that read the factor once, however few
right-hand sides there are.

A library's own solve with one right-hand side runs column by column. If the diagonal
blocks are inverted in advance, the same substitution is a short sequence of
matrix-vector products. Each panel of rows is an array of its own, so that no product
has to copy its part of the matrix first.
"""

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float

from rankone._module import Module
from rankone.editing.split import SplitTriangular
from rankone.precision import full_precision, wider

__all__ = ["Triangular", "condition", "of_rows"]

# Smallest and largest size of a block. Small blocks are many, which takes time to
# compile; the inverses of large blocks take memory.
_BLOCK = 256, 512


class Triangular(Module):
    """A triangular factor U (D, D) of UᵀU, without the zeros below its blocks.

    Attributes:
        corners: Blocks of U on its diagonal, (b, b) each.
        inverses: Inverses of the transposed corners, (b, b) each.
        panels: Rows of U to the right of each corner but the last: (b, D − b),
            (b, D − 2b), …
    """

    corners: tuple[Float[Array, "_ _"], ...]
    inverses: tuple[Float[Array, "_ _"], ...]
    panels: tuple[Float[Array, "_ _"], ...]

    @classmethod
    def of(cls, U: Float[Array, "D D"]) -> "Triangular":
        """`Triangular` made from a matrix U, whose entries below the diagonal are not
        read.
        """
        D = len(U)
        least, largest = _BLOCK
        b = min(D, max(least, min(D // 4, largest)))
        corners = tuple(jnp.triu(U[i : i + b, i : i + b]) for i in range(0, D, b))
        panels = tuple(U[i : i + b, i + b :] for i in range(0, D - b, b))
        eye = jnp.eye(b, dtype=U.dtype)
        padded = jax.vmap(lambda corner: solve_triangular(corner.T, eye, lower=True))(
            jnp.stack([_completed(corner, b) for corner in corners])
        )
        inverses = tuple(
            inverse[: len(corner), : len(corner)]
            for inverse, corner in zip(padded, corners, strict=True)
        )
        return cls(corners, inverses, panels)

    @property
    def dense(self) -> Float[Array, "D D"]:
        """The factor U as one array (D, D)."""
        *corners, last = self.corners
        rows = [
            jnp.concatenate([corner, panel], axis=1)
            for corner, panel in zip(corners, self.panels, strict=True)
        ]
        rows.append(last)
        D = rows[0].shape[1]
        return jnp.concatenate(
            [jnp.pad(row, ((0, 0), (D - row.shape[1], 0))) for row in rows]
        )

    @property
    def diagonal(self) -> Float[Array, " D"]:
        """Diagonal of U."""
        return jnp.concatenate(list(map(jnp.diagonal, self.corners)))

    def forward(self, B: Float[Array, "D ..."]) -> Float[Array, "D ..."]:
        """Solution U⁻ᵀB of UᵀX = B."""
        X = jnp.asarray(B, wider(self.inverses[0], B))
        for i, inverse in enumerate(self.inverses):
            span = self._span(i)
            solution = inverse.astype(X.dtype) @ X[span]
            X = X.at[span].set(solution)
            if i < len(self.panels):
                panel = self.panels[i].astype(X.dtype)
                # `panel.T @ solution` would first transpose a copy of the panel
                X = X.at[span.stop :].add(-(solution.T @ panel).T)
        return X

    def backward(self, B: Float[Array, "D ..."]) -> Float[Array, "D ..."]:
        """Solution U⁻¹B of UX = B."""
        X = jnp.asarray(B, wider(self.inverses[0], B))
        for i, inverse in reversed(list(enumerate(self.inverses))):
            span = self._span(i)
            residual = X[span]
            if i < len(self.panels):
                residual = residual - self.panels[i].astype(X.dtype) @ X[span.stop :]
            X = X.at[span].set((residual.T @ inverse.astype(X.dtype)).T)
        return X

    def _span(self, i: int) -> slice:
        """Rows of a corner."""
        start = i * len(self.corners[0])
        return slice(start, start + len(self.corners[i]))


def of_rows(rows: Float[Array, "n D"]) -> tuple[Triangular, Float[Array, " D"]]:
    """Factors U and d of C = rowsᵀ·rows = diag(d)·UᵀU·diag(d), by QR without forming C."""
    scale = jnp.linalg.norm(rows, axis=0)
    R = jnp.linalg.qr(rows / scale[None], mode="r")
    return Triangular.of(R * jnp.where(jnp.diagonal(R) < 0, -1, 1)[:, None]), scale


def _completed(corner: Array, b: int) -> Array:
    """A block on the diagonal, padded to (b, b) with ones on the diagonal."""
    padding = b - len(corner)
    return jnp.pad(corner, (0, padding)) + jnp.diag(
        (jnp.arange(b) >= b - padding).astype(corner.dtype)
    )


@jax.jit
@full_precision()
def condition(factor: Triangular | SplitTriangular) -> Float[Array, ""]:
    """Lower estimate of the condition number of UᵀU, from three steps of power
    iteration at each end of the spectrum: O(D²).
    """
    U = factor.dense
    start = jnp.cos(jnp.arange(len(U), dtype=U.dtype))  # in place of random numbers

    def unit(x: Array) -> Array:
        return x / jnp.linalg.norm(x)

    def step(_: Array, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        largest, smallest = map(unit, ends)
        return U.T @ (U @ largest), factor.backward(factor.forward(smallest)).astype(
            U.dtype
        )

    # As a loop, the program is a third as long, and compiles that much faster.
    largest, smallest = lax.fori_loop(0, 3, step, (start, start))
    return jnp.linalg.norm(largest) * jnp.linalg.norm(smallest)
