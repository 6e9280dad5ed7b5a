r"""Which training methods commute with W = TUV: run one on U and on W, and see whether W takes the same path.

Linear methods do, for every T and V; no other method that can be linearised at zero does [K-sharp3].
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from rankone.preconditioning.kronecker import kronecker_preconditioner

__all__ = ["commuting_linear_rules", "descend", "descend_on_U", "gap", "scale_by_polar", "scale_by_shampoo"]

Loss = Callable[[Float[Array, "m n"]], Float[Array, ""]]
Postprocess = Callable[[Array], Array]


def descend(
    loss: Loss,
    W0: Array,
    optimizer: optax.GradientTransformation,
    *,
    steps: int,
    before: Postprocess | None = None,
    after: Postprocess | None = None,
) -> Float[Array, "steps m n"]:
    """Every iterate of an optimiser on a matrix, the start included: with decay [K-decay], a penalty, or any hook.

    Args:
        loss: Of the matrix.
        W0: Start (m, n).
        optimizer: From optax.
        steps: Number of steps.
        before: Applied to each gradient before the optimiser sees it, such as `P.apply`.
        after: Applied to each update that comes out of the optimiser.
    """

    def step(carry: tuple[Array, Any], _: None) -> tuple[tuple[Array, Any], Array]:
        W, state = carry
        gradient = jax.grad(loss)(W)
        updates, state = optimizer.update(before(gradient) if before else gradient, state, W)
        W = W + (after(updates) if after else updates)
        return (W, state), W

    _, path = jax.lax.scan(step, (W0, optimizer.init(W0)), length=steps)
    return jnp.concatenate([W0[None], path])


def descend_on_U(
    loss: Loss, U0: Array, T: Array, V: Array, optimizer: optax.GradientTransformation, *, steps: int
) -> Float[Array, "steps m n"]:
    """The iterates W = TUV while the optimiser trains U, which it sees as any matrix [K-eqU]."""
    path = descend(lambda U: loss(T @ U @ V), U0, optimizer, steps=steps)
    return T @ path @ V


def gap(
    loss: Loss,
    U0: Array,
    T: Array,
    V: Array,
    optimizer: optax.GradientTransformation,
    *,
    steps: int,
    order: str = "gradient",
) -> Float[Array, ""]:
    """Largest distance of any entry of W, over all steps, between the method on U and on W [K-mom, K-adam].

    Args:
        loss: Of W (m, n).
        U0: Start (p, q).
        T: (m, p).
        V: (q, n).
        optimizer: From optax.
        steps: Number of steps.
        order: "gradient" applies P to the gradient, "update" to the optimiser's update, "none" nowhere.
    """
    P = kronecker_preconditioner(T, V).apply
    hooks: dict[str, Any] = {"gradient": {"before": P}, "update": {"after": P}, "none": {}}
    on_W = descend(loss, T @ U0 @ V, optimizer, steps=steps, **hooks[order])
    return jnp.abs(descend_on_U(loss, U0, T, V, optimizer, steps=steps) - on_W).max()


def commuting_linear_rules(pairs: Sequence[tuple[Array, Array]]) -> int:
    r"""Dimension of the space of linear maps Φ of matrices with Φ(AGB) = A Φ(G) B for all given pairs [K-sharp3].

    1 means that only the multiples of the identity are left; two general pairs suffice.

    Args:
        pairs: Square matrices A (m, m) and B (n, n).
    """
    dense = [jnp.kron(B.T, A) for A, B in pairs]
    eye = jnp.eye(len(dense[0]), dtype=dense[0].dtype)
    equations = jnp.concatenate([jnp.kron(eye, K) - jnp.kron(K.T, eye) for K in dense])  # KΦ − ΦK, as a vec
    return int(equations.shape[1] - jnp.linalg.matrix_rank(equations))


def scale_by_polar() -> optax.GradientTransformation:
    r"""Replace a matrix by its polar factor, $G=Q\Sigma R^\top\mapsto QR^\top$: what Muon iterates to [K-muon].

    Equivariant under orthogonal T and V, as the singular vectors turn with the matrix; under no others in general.
    """

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        return jax.tree.map(_polar, updates), state

    return optax.GradientTransformation(lambda params: optax.EmptyState(), update)


def _polar(G: Array) -> Array:
    left, _, right = jnp.linalg.svd(G, full_matrices=False)
    return left @ right


def scale_by_shampoo(damping: float = 1e-6) -> optax.GradientTransformation:
    r"""Full Shampoo: $L^{-1/4}GR^{-1/4}$ with $L=\lambda I+\sum GG^\top$ and $R=\lambda I+\sum G^\top G$ [K-shampoo].

    Args:
        damping: λ, in units of a squared gradient.
    """

    def init(params: Array) -> tuple[Array, Array]:
        m, n = params.shape
        return damping * jnp.eye(m, dtype=params.dtype), damping * jnp.eye(n, dtype=params.dtype)

    def update(G: Array, state: tuple[Array, Array], params: Any = None) -> tuple[Array, Any]:
        L, R = state[0] + G @ G.T, state[1] + G.T @ G
        return _root(L) @ G @ _root(R), (L, R)

    return optax.GradientTransformation(init, update)


def _root(A: Array) -> Array:
    values, vectors = jnp.linalg.eigh(A)
    return (vectors * values**-0.25) @ vectors.T
