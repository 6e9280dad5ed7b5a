r"""The preconditioner that gradient descent on U applies to W = TUV, as an operator
that is never formed.

P = VᵀV ⊗ TTᵀ has (mn)² entries; its two factors have m² + n², and P vec(G) is the vec
of TTᵀ G VᵀV [K-eqP, K-unn-cost]. In indices, ∂W_ij/∂U_st = T_is V_tj [K-ein]. The
preconditioners of this form are exactly the Kronecker products of two positive
semidefinite matrices [K-unn]. Newton's step does not depend on T and V [K-newton].
"""

from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, Int, Real

from rankone._annotated import checked
from rankone._checks import array, brief, choice, host, numbers, readable
from rankone._module import Module
from rankone.checks import Outcome, outcome
from rankone.precision import full_precision, wider
from rankone.preconditioning.powers import symmetric_power
from rankone.writes.write import Write

__all__ = [
    "Factors",
    "KroneckerPreconditioner",
    "kronecker_preconditioner",
    "unvec",
    "vec",
]


class Factors(Module):
    """The two fixed matrices of W = TUV; `T, V = factors` unpacks them [K-eqW].

    Attributes:
        T: Output side (m, p).
        V: Input side (q, n).
        outcome: Code of `rankone.checks.Outcome` of the computation of T and V; None if
            they were given.
    """

    T: Float[Array, "m p"]
    V: Float[Array, "q n"]
    outcome: Int[Array, ""] | None = None

    def __init__(
        self, T: ArrayLike, V: ArrayLike, outcome: Int[Array, ""] | None = None
    ) -> None:
        if outcome is not None:
            outcome = host("outcome", outcome)
            if not jnp.issubdtype(outcome.dtype, jnp.integer):
                raise ValueError(
                    f"outcome: got {brief(outcome)}; "
                    "it must be an integer, of checks.Outcome."
                )
        self.T = array("T", T, "(m, p)", 2)
        self.V = array("V", V, "(q, n)", 2)
        self.outcome = outcome

    def __iter__(self) -> Iterator[Array]:
        return iter((self.T, self.V))


def vec(X: Real[ArrayLike, "m n"], *, order: str = "column") -> Real[Array, " m*n"]:
    """A matrix as one vector: its columns, or its rows, one below the other [K-vec].

    With columns, vec(AXB) = (Bᵀ ⊗ A) vec(X); with rows, which is what `ravel()` does in
    JAX and NumPy, vec(AXB) = (A ⊗ Bᵀ) vec(X).

    Args:
        X: Matrix (m, n).
        order: "column", as in the book, or "row".

    >>> import numpy as np, rankone as ro
    >>> print(ro.preconditioning.vec(np.array([[1, 2], [3, 4]])))
    [1 3 2 4]
    """
    choice("order", order, ("column", "row"))
    X = numbers("X", X)
    if X.ndim != 2:
        raise ValueError(f"X: got shape {X.shape}; it must be a matrix (m, n).")
    return (X.T if order == "column" else X).ravel()


@checked
def unvec(
    x: Real[ArrayLike, " mn"], shape: tuple[int, int], *, order: str = "column"
) -> Real[Array, "m n"]:
    """The matrix (m, n) = `shape` whose `vec` is x (mn,) [K-vec]."""
    choice("order", order, ("column", "row"))
    x = numbers("x", x)
    if x.shape != (shape[0] * shape[1],):
        raise ValueError(
            f"x: got shape {x.shape}; "
            f"it must be a vector of {shape[0]}·{shape[1]} entries."
        )
    return x.reshape(shape[::-1]).T if order == "column" else x.reshape(shape)


class KroneckerPreconditioner(Module):
    """Preconditioner P = R ⊗ L with L = TTᵀ and R = VᵀV, stored as its two factors
    [K-eqP, K-eqdU].

    `P @ g` takes a vec (mn,), or several as columns (mn, k); `P.apply(G)` takes the
    matrix G (m, n) itself, which costs the two products LG and (LG)R and no reordered
    copy of G. `kronecker_preconditioner` makes P from T and V.

    Solvers and libraries of linear operators take P directly:
    `jax.scipy.sparse.linalg.cg(P.__matmul__, g)` runs as it is. lineax takes
    `lineax.FunctionLinearOperator(P.__matmul__, vector, tags)` with
    `vector = jax.ShapeDtypeStruct(P.shape[:1], P.dtype)` and
    `tags = lineax.positive_semidefinite_tag`.

    Attributes:
        left: TTᵀ (m, m), on the output side.
        right: VᵀV (n, n), on the input side.
        order: Order in which a vec stacks the entries of its matrix, "column" or "row".
            With "row", P is L ⊗ R.
        outcome: Code of `rankone.checks.Outcome` for an inverse; None for a P that is
            not an inverse.
    """

    left: Float[Array, "m m"]
    right: Float[Array, "n n"]
    order: str = eqx.field(static=True, default="column")
    outcome: Int[Array, ""] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (mn, mn) of the dense matrix."""
        size = self.left.shape[0] * self.right.shape[0]
        return size, size

    @property
    def dtype(self) -> Any:
        """Data type of the entries."""
        return wider(self.left, self.right)

    @property
    def T(self) -> "KroneckerPreconditioner":
        """The transpose, which is P itself."""
        return self

    def apply(self, G: Real[ArrayLike, "*batch m n"]) -> Float[Array, "*batch m n"]:
        """Preconditioned gradient TTᵀ G VᵀV of a matrix G (m, n), or of a batch (...,
        m, n) [K-eq2].
        """
        return _between(
            self.left,
            self._fitting(G, "(..., {}, {}): a matrix, or a batch of them"),
            self.right,
        )

    def __matmul__(self, g: Real[ArrayLike, "mn *k"]) -> Float[Array, "mn *k"]:
        """P g for a vec g (mn,), or for the columns of g (mn, k) [K-eq1]."""
        g = numbers("g", g)
        size = self.shape[0]
        m = self.left.shape[0]
        n = self.right.shape[0]
        fits = g.ndim in (1, 2) and g.shape[0] == size
        if not fits:
            raise ValueError(
                f"g: got shape {g.shape}; "
                f"it must be ({size},) or ({size}, k): a vec has {m}·{n} entries."
            )
        return _on_vecs(self, g)

    def write(
        self,
        delta: Real[ArrayLike, "m *N"],
        x: Real[ArrayLike, "n *N"],
        rate: ArrayLike,
    ) -> Write:
        """The preconditioned gradient step of W as a `Write`: the outer product of −η
        TTᵀδ and VᵀVx [K-eq2].

        Args:
            delta: ∂ℓ/∂(Wx) of one example (m,), or of several as columns (m, N).
            x: Input of that example (n,), or of several as columns (n, N).
            rate: Step size η; the gradient is summed over the examples.

        >>> import numpy as np, rankone as ro
        >>> P = ro.kronecker_preconditioner(T=np.diag([1.0, 2.0]), V=np.diag([1.0, 1.0, 3.0]))
        >>> print(P.write(np.array([1.0, 0.5]), np.ones(3), rate=0.5).delta)
        [[-0.5 -0.5 -4.5]
         [-1.  -1.  -9. ]]
        """
        delta = numbers("delta", delta)
        x = numbers("x", x)
        m = self.left.shape[0]
        n = self.right.shape[0]
        if delta.ndim not in (1, 2) or delta.shape[0] != m:
            raise ValueError(
                f"delta: got shape {delta.shape}; it must be ({m},) or ({m}, N)."
            )
        fits = x.shape == (n, *delta.shape[1:])
        if not fits:
            raise ValueError(
                f"x: got shape {x.shape}; it must be of shape {(n, *delta.shape[1:])}, "
                f"as delta is {delta.shape}."
            )
        rate = numbers("rate", rate)
        if rate.ndim != 0:
            raise ValueError(f"rate: got shape {rate.shape}; it must be one number.")
        return _write(self, delta, x, rate)

    def to_dense(self) -> Float[Array, "mn mn"]:
        """Dense matrix P with all (mn)² entries, for inspection and for tests."""
        return (
            jnp.kron(self.right, self.left)
            if self.order == "column"
            else jnp.kron(self.left, self.right)
        )

    def inverse(self) -> "KroneckerPreconditioner":
        """Inverse P⁻¹ = R⁻¹ ⊗ L⁻¹, which recovers W's gradient from the preconditioned
        gradient.

        The relative error of P⁻¹(Pg) is about ε·cond(P), where ε is the machine epsilon
        of the dtype and cond(P) the product of the squared condition numbers of T and
        V. P is inverted if at least one digit is correct, ε·cond(P) ≤ 0.1.

        Raises:
            ValueError: If the condition number of P is above that limit, or infinite.
                Where no error can be raised, as inside jit, P⁻¹ is NaN and its
                `outcome` is SINGULAR.

        >>> import numpy as np, rankone as ro
        >>> P = ro.kronecker_preconditioner(np.diag([1.0, 2.0]), np.diag([3.0]))
        >>> [round(float(entry), 3) for entry in P.inverse() @ (P @ np.array([5.0, 7.0]))]
        [5.0, 7.0]
        """
        inverse = _inverse(self)
        if readable(inverse) and int(inverse.outcome) != Outcome.OK:
            raise ValueError(f"P: got {_ill_conditioned(self)}.")
        return inverse

    @jax.jit
    def eigenvalues(self) -> Float[Array, " mn"]:
        """The mn eigenvalues, in decreasing order: all products of an eigenvalue of
        `left` and an eigenvalue of `right` [K-unn-rank, K-penalty].
        """
        return jnp.sort(
            jnp.outer(
                jnp.linalg.eigvalsh(self.left), jnp.linalg.eigvalsh(self.right)
            ).ravel()
        )[::-1]

    def squared_norm(self, G: Real[ArrayLike, "m n"]) -> Float[Array, ""]:
        """Squared norm gᵀPg = ‖TᵀGVᵀ‖² of the gradient of U, for a gradient G of W with
        g = vec G. Norm clipping and line searches on U use this norm [K-norm].
        """
        G = self._fitting(G, "({}, {}): one matrix")
        if G.ndim != 2:
            raise ValueError(
                f"G: got shape {G.shape}; "
                "it must be one matrix; for a batch use jax.vmap."
            )
        return jnp.vdot(G, self.apply(G), precision="highest")

    def _fitting(self, G: ArrayLike, requirement: str) -> Array:
        G = numbers("G", G)
        shape = (self.left.shape[0], self.right.shape[0])
        # the text of the error is formatted only if there is an error
        if G.ndim < 2 or G.shape[-2:] != shape:
            raise ValueError(
                f"G: got shape {G.shape}; "
                f"it must be {'of shape ' + requirement.format(*shape)}."
            )
        return G


def kronecker_preconditioner(
    T: ArrayLike, V: ArrayLike, *, order: str = "column"
) -> KroneckerPreconditioner:
    """The preconditioner P = VᵀV ⊗ TTᵀ that gradient descent on U applies to the
    gradient of W = TUV [K-eqP].

    Args:
        T: Output-side factor (m, p); any p.
        V: Input-side factor (q, n); any q.
        order: Order in which the vecs that P acts on stack a matrix: "column", as in
            the book, or "row", as `ravel()` does.

    Returns:
        The operator P. `P @ x` applies it to a stacked matrix (mn,), and `P.apply(G)`
        to a matrix G (m, n). `P.inverse()` is its inverse, and `P.to_dense()` its
        matrix (mn, mn).

    Raises:
        ValueError: If T or V is not a matrix of finite numbers, or the order is
            unknown.

    >>> import numpy as np, rankone as ro
    >>> P = ro.kronecker_preconditioner(T=np.diag([1.0, 2.0]), V=np.diag([1.0, 1.0, 3.0]))
    >>> P.shape
    (6, 6)
    >>> print(P.apply(np.ones((2, 3))))  # the step on W that one plain step on U makes
    [[ 1.  1.  9.]
     [ 4.  4. 36.]]
    """
    choice("order", order, ("column", "row"))
    left, right = _squares(array("T", T, "(m, p)", 2), array("V", V, "(q, n)", 2))
    return KroneckerPreconditioner(left, right, order)


@jax.jit
@full_precision()
def _squares(T: Array, V: Array) -> tuple[Array, Array]:
    return T @ T.T, V.T @ V


@jax.jit
@full_precision()
def _between(left: Array, G: Array, right: Array) -> Array:
    return left @ G @ right


@jax.jit
@full_precision()
def _write(P: KroneckerPreconditioner, delta: Array, x: Array, rate: Array) -> Write:
    return Write(-rate * (P.left @ delta), P.right @ x)


@jax.jit
@full_precision()
def _on_vecs(P: KroneckerPreconditioner, g: Array) -> Array:
    first, second = (P.right, P.left) if P.order == "column" else (P.left, P.right)
    out = first @ g.T.reshape(-1, len(first), len(second)) @ second
    return out.reshape(-1, len(g)).T.reshape(g.shape)


@jax.jit
def _inverse(P: KroneckerPreconditioner) -> KroneckerPreconditioner:
    (left, left_valid), (right, right_valid) = (
        symmetric_power(side, -1.0) for side in (P.left, P.right)
    )
    ends = [
        jax.lax.stop_gradient(jnp.linalg.eigvalsh(side)) for side in (P.left, P.right)
    ]
    # The condition numbers of the two sides are multiplied, because the products of
    # eigenvalues of both sides could under- or overflow.
    condition = (ends[0][-1] / ends[0][0]) * (ends[1][-1] / ends[1][0]).astype(
        ends[0].dtype
    )
    is_invertible = left_valid & right_valid & (condition <= _worst(P.dtype))
    left, right = (jnp.where(is_invertible, side, jnp.nan) for side in (left, right))
    return KroneckerPreconditioner(
        left, right, P.order, outcome((~is_invertible, Outcome.SINGULAR))
    )


def _worst(dtype: Any) -> float:
    """The condition number from which not one digit of P⁻¹(Pg) is certain."""
    return 0.1 / float(jnp.finfo(dtype).eps)


def _ill_conditioned(P: KroneckerPreconditioner) -> str:
    """Description of the condition of P for an error, with what to try."""
    sides = [np.linalg.eigvalsh(np.asarray(side, float)) for side in (P.left, P.right)]
    singular = any(
        not side[0] > np.finfo(float).eps * len(side) * side[-1] for side in sides
    )
    if singular:
        return (
            "a singular preconditioner; "
            "it must be invertible: T of full row rank and V of full column rank"
        )
    size = float(np.prod([side[-1] / side[0] for side in sides]))
    dtype = jnp.dtype(P.dtype).name
    error = size * float(jnp.finfo(P.dtype).eps)
    return (
        f"a condition number of {size:.0e}; it must be up to {_worst(P.dtype):.0e}, "
        f"beyond which {dtype} leaves no digit of P⁻¹(Pg): its error is about "
        f"{error:.3g} of g; take T and V of smaller condition, or double precision"
    )
