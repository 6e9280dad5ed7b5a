"""Triangular solves by blocks: products that read the factor once, however few
right-hand sides there are.

A library's own solve with one right-hand side runs column by column. With the diagonal
blocks inverted beforehand the same substitution is a short sequence of matrix-vector
products; and with each panel of rows in a buffer of its own no product has to copy its
part of the matrix first.
"""

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float

from rankone._module import Module
from rankone.precision import wider

__all__ = ["Triangular", "condition", "of_rows"]

_BLOCK = 256


class Triangular(Module):
    """A triangular factor U (D, D) of UᵀU, in half the memory of a matrix.

    Attributes:
        panels: Rows of U, b at a time, from the diagonal on: (b, D), (b, D − b), …
        blocks: Inverses of the blocks on the diagonal of Uᵀ, (b, b) each.
    """

    panels: tuple[Float[Array, "_ _"], ...]
    blocks: tuple[Float[Array, "_ _"], ...]

    @classmethod
    def of(cls, U: Float[Array, "D D"]) -> "Triangular":
        """`Triangular` made from a matrix U, whose entries below the diagonal are not
        read.
        """
        b = min(_BLOCK, len(U))
        panels = tuple(U[i : i + b, i:] for i in range(0, len(U), b))
        corners = jnp.stack(
            [_completed(jnp.triu(panel[:, : len(panel)]), b) for panel in panels]
        )
        eye = jnp.eye(b, dtype=U.dtype)
        inverses = jax.vmap(lambda corner: solve_triangular(corner.T, eye, lower=True))(
            corners
        )
        return cls(
            panels,
            tuple(
                inverse[: len(p), : len(p)]
                for inverse, p in zip(inverses, panels, strict=True)
            ),
        )

    @property
    def dense(self) -> Float[Array, "D D"]:
        """U as one array (D, D)."""
        D = self.panels[0].shape[1]
        return jnp.triu(
            jnp.concatenate(
                [jnp.pad(p, ((0, 0), (D - p.shape[1], 0))) for p in self.panels]
            )
        )

    @property
    def diagonal(self) -> Float[Array, " D"]:
        """Diagonal of U."""
        return jnp.concatenate(
            [jnp.diagonal(panel[:, : len(panel)]) for panel in self.panels]
        )

    def forward(self, B: Float[Array, "D ..."]) -> Float[Array, "D ..."]:
        """Solution U⁻ᵀB of UᵀX = B."""
        rest = jnp.asarray(B, wider(self.blocks[0], B))
        X = []
        for panel, inverse in zip(self.panels, self.blocks, strict=True):
            b = len(panel)
            X.append(inverse.astype(rest.dtype) @ rest[:b])
            # panel.T @ X[-1] would first be transposed
            rest = (rest - (X[-1].T @ panel.astype(rest.dtype)).T)[b:]
        return jnp.concatenate(X)

    def backward(self, B: Float[Array, "D ..."]) -> Float[Array, "D ..."]:
        """Solution U⁻¹B of UX = B."""
        B = jnp.asarray(B, wider(self.blocks[0], B))
        X = B[:0]
        for panel, inverse in reversed(
            list(zip(self.panels, self.blocks, strict=True))
        ):
            b = len(panel)
            start = len(B) - panel.shape[1]
            # zeros for what is yet to be found: a product with a part of the panel would
            # copy it first
            known = jnp.concatenate([jnp.zeros_like(B[:b]), X])
            residual = B[start : start + b] - panel.astype(B.dtype) @ known
            X = jnp.concatenate([(residual.T @ inverse.astype(B.dtype)).T, X])
        return X


def of_rows(rows: Float[Array, "n D"]) -> tuple[Triangular, Float[Array, " D"]]:
    """U and d of C = rowsᵀ·rows = diag(d)·UᵀU·diag(d), by QR: C is not formed."""
    scale = jnp.linalg.norm(rows, axis=0)
    R = jnp.linalg.qr(rows / scale[None], mode="r")
    return Triangular.of(R * jnp.where(jnp.diagonal(R) < 0, -1, 1)[:, None]), scale


def _completed(corner: Array, b: int) -> Array:
    """A block on the diagonal, made b wide by ones."""
    padding = b - len(corner)
    return jnp.pad(corner, (0, padding)) + jnp.diag(
        (jnp.arange(b) >= b - padding).astype(corner.dtype)
    )


@jax.jit
def condition(factor: Triangular) -> Float[Array, ""]:
    """Lower estimate of the condition number of UᵀU, from three steps of power
    iteration at each end of the spectrum: O(D²).
    """
    U = factor.dense
    start = jnp.cos(jnp.arange(len(U), dtype=U.dtype))  # as good as random

    def unit(x: Array) -> Array:
        return x / jnp.linalg.norm(x)

    def step(_: Array, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        largest, smallest = map(unit, ends)
        return U.T @ (U @ largest), factor.backward(factor.forward(smallest)).astype(
            U.dtype
        )

    # a third of the program, compiled in as much less
    largest, smallest = lax.fori_loop(0, 3, step, (start, start))
    return jnp.linalg.norm(largest) * jnp.linalg.norm(smallest)
