r"""The preconditioner that gradient descent on U applies to W = TUV, as an operator that is never formed.

In indices, $\partial W_{ij}/\partial U_{st}=T_{is}V_{tj}$ [K-ein]; the products that arise are those of two positive
semidefinite matrices [K-unn], and Newton's step does not depend on them [K-newton].

$P=V^\top V\otimes TT^\top$ has $(mn)^2$ entries; its two factors have $m^2+n^2$, and $P\,\mathrm{vec}(G)$ is the vec of
$TT^\top G\,V^\top V$ [K-eqP, K-unn-cost].
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import array, check, choice, numbers
from rankone._pytree import pytree

__all__ = ["Factors", "KroneckerPreconditioner", "kronecker_preconditioner", "unvec", "vec"]


class Factors(NamedTuple):
    """The two fixed matrices of W = TUV [K-eqW].

    Attributes:
        T: Output side (m, p).
        V: Input side (q, n).
    """

    T: Float[Array, "m p"]
    V: Float[Array, "q n"]


def vec(X: Float[ArrayLike, "m n"], *, order: str = "column") -> Float[Array, " mn"]:
    r"""A matrix as one vector: its columns, or its rows, one below the other [K-vec].

    With columns, $\mathrm{vec}(AXB)=(B^\top\otimes A)\,\mathrm{vec}(X)$; with rows, which is what `ravel()` does in JAX
    and NumPy, $\mathrm{vec}(AXB)=(A\otimes B^\top)\,\mathrm{vec}(X)$.

    Args:
        X: Matrix (m, n).
        order: "column", as in the book, or "row".
    """
    choice("order", order, ("column", "row"))
    X = jnp.asarray(X)
    return (X.T if order == "column" else X).ravel()


def unvec(x: Float[ArrayLike, " mn"], shape: tuple[int, int], *, order: str = "column") -> Float[Array, "m n"]:
    """The matrix (m, n) = `shape` whose `vec` is x (mn,) [K-vec]."""
    choice("order", order, ("column", "row"))
    x = jnp.asarray(x)
    check(x.shape == (shape[0] * shape[1],), "x", f"shape {x.shape}", f"a vector of {shape[0]}·{shape[1]} entries")
    return x.reshape(shape[::-1]).T if order == "column" else x.reshape(shape)


@pytree(data=("left", "right"), meta=("order",))
@dataclass(frozen=True)
class KroneckerPreconditioner:
    r"""$P=R\otimes L$ with $L=TT^\top$ and $R=V^\top V$, held as its two factors [K-eqP, K-eqdU].

    `P @ g` takes a vec (mn,), or several as columns (mn, k); `P.apply(G)` takes the matrix (m, n) itself, which costs
    the two products $LG$ and $(LG)R$ and no copy. Make one with `kronecker_preconditioner`.

    Attributes:
        left: TTᵀ (m, m), on the output side.
        right: VᵀV (n, n), on the input side.
        order: How vecs are stacked, "column" or "row".
    """

    left: Float[Array, "m m"]
    right: Float[Array, "n n"]
    order: str = "column"

    @property
    def shape(self) -> tuple[int, int]:
        """(mn, mn), as of the dense matrix."""
        size = len(self.left) * len(self.right)
        return size, size

    def apply(self, G: Float[ArrayLike, "m n"]) -> Float[Array, "m n"]:
        """TTᵀ G VᵀV for a matrix G (m, n), or a batch of them (..., m, n) [K-eq2]."""
        return _between(self.left, self._fitting(G, "(..., {}, {}): a matrix, or a batch of them"), self.right)

    def __matmul__(self, g: Float[ArrayLike, " mn"]) -> Float[Array, " mn"]:
        """P g for a vec g (mn,), or for the columns of g (mn, k) [K-eq1]."""
        g = numbers("g", g)
        size, m, n = self.shape[0], len(self.left), len(self.right)
        fits = g.ndim in (1, 2) and g.shape[0] == size
        check(fits, "g", f"shape {g.shape}", f"({size},) or ({size}, k): a vec has {m}·{n} entries")
        return _on_vecs(self, g)

    def to_dense(self) -> Float[Array, "mn mn"]:
        """All (mn)² entries: for looking at, and for tests."""
        return jnp.kron(self.right, self.left) if self.order == "column" else jnp.kron(self.left, self.right)

    def eigenvalues(self) -> Float[Array, " mn"]:
        """The mn eigenvalues, falling: every product of one of `left` and one of `right` [K-unn-rank, K-penalty]."""
        return _products(self.left, self.right)

    def squared_norm(self, G: Float[ArrayLike, "m n"]) -> Float[Array, ""]:
        r"""$g^\top Pg=\|T^\top GV^\top\|_F^2$: what norm clipping or a line search on U sees of a gradient [K-norm]."""
        G = self._fitting(G, "({}, {}): one matrix")
        check(G.ndim == 2, "G", f"shape {G.shape}", "one matrix: jax.vmap takes a batch")
        return _squared_norm(self, G)

    def _fitting(self, G: ArrayLike, wanted: str) -> Array:
        G, shape = numbers("G", G), (len(self.left), len(self.right))
        check(G.ndim >= 2 and G.shape[-2:] == shape, "G", f"shape {G.shape}", "of shape " + wanted.format(*shape))
        return G


def kronecker_preconditioner(T: ArrayLike, V: ArrayLike, *, order: str = "column") -> KroneckerPreconditioner:
    r"""The preconditioner of gradient descent on U, where W = TUV: $P=V^\top V\otimes TT^\top$ [K-eqP].

    Args:
        T: Output-side factor (m, p); any p.
        V: Input-side factor (q, n); any q.
        order: Stacking of the vecs it acts on: "column", as in the book, or "row", as `ravel()` does.

    Returns:
        A linear operator: `P @ vec`, `P.apply(G)`, `P.to_dense()`.

    Raises:
        ValueError: If T or V is not a matrix of finite numbers, or the order is unknown.
    """
    choice("order", order, ("column", "row"))
    T, V = array("T", T, "(m, p)", 2), array("V", V, "(q, n)", 2)
    left, right = _squares(T, V)
    return KroneckerPreconditioner(left, right, order)


@jax.jit
def _squares(T: Array, V: Array) -> tuple[Array, Array]:
    return T @ T.T, V.T @ V


@jax.jit
def _between(left: Array, G: Array, right: Array) -> Array:
    return left @ G @ right


@jax.jit
def _on_vecs(P: KroneckerPreconditioner, g: Array) -> Array:
    m, n = len(P.left), len(P.right)
    batch = g.T.reshape(-1, *((n, m) if P.order == "column" else (m, n)))
    out = P.right @ batch @ P.left if P.order == "column" else P.apply(batch)
    return out.reshape(-1, m * n).T.reshape(g.shape)


@jax.jit
def _products(left: Array, right: Array) -> Array:
    """Products of the eigenvalues of two symmetric matrices, falling."""
    return jnp.sort(jnp.outer(jnp.linalg.eigvalsh(left), jnp.linalg.eigvalsh(right)).ravel())[::-1]


@jax.jit
def _squared_norm(P: KroneckerPreconditioner, G: Array) -> Array:
    return jnp.vdot(G, P.apply(G))
