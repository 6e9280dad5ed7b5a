r"""The constrained problem behind an edit: its Lagrangian, its dual, and the linear
system that solves both.

Minimise $\tfrac12\lVert\hat WK-V\rVert_F^2$ subject to $\hat Wk=v$, for keys K (D, n)
and values V (H, n); k (D,), v and the multiplier Λ (H,), weights (H, D). C = KKᵀ.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from rankone._annotated import checked
from rankone.writes.rules import normal_equations

__all__ = [
    "block_matrix",
    "dual",
    "kkt_matrix",
    "lagrangian",
    "lagrangian_by_trace",
    "least_squares",
    "objective",
    "solve_block",
    "solve_kkt",
    "stationarity",
]


Keys = Float[Array, "D n"]
Key = Float[Array, " D"]
Values = Float[Array, "H n"]
Value = Float[Array, " H"]
Weights = Float[Array, "H D"]
Number = Float[Array, ""]


@checked
@jax.jit
def least_squares(K: Keys, V: Values) -> Weights:
    """Weights W that minimise ‖WK − V‖: unique if the keys span the space, otherwise
    those of least norm [R-eq5, R-eq6].
    """
    return jnp.linalg.lstsq(K.T, V.T)[0].T


@checked
@jax.jit
def objective(W_hat: Weights, K: Keys, V: Values) -> Number:
    """Objective ½‖ŴK − V‖²_F, convex with Hessian C ⊗ I [R-eq5, R-2nd-order]."""
    return 0.5 * jnp.sum((W_hat @ K - V) ** 2)


@checked
@jax.jit
def lagrangian(
    W_hat: Weights, multiplier: Value, K: Keys, V: Values, k: Key, v: Value
) -> Number:
    """Lagrangian L(Ŵ, Λ) = ½‖ŴK − V‖² − Λᵀ(Ŵk − v): it is affine in Λ, so that it has
    no minimum over Λ unless Ŵk = v [R-eq8, R-txt8].
    """
    return objective(W_hat, K, V) - multiplier @ (W_hat @ k - v)


@checked
@jax.jit
def lagrangian_by_trace(
    W_hat: Weights, multiplier: Value, K: Keys, V: Values, k: Key, v: Value
) -> tuple[Number, Float[Array, "H H"]]:
    """Lagrangian L in its expanded form, and the matrix whose trace is the `objective`.
    Without the trace this matrix cannot be added to the number Λᵀ(Ŵk − v) [R-eq9].

    Returns:
        L, and the matrix ½(ŴK)(ŴK)ᵀ − V(ŴK)ᵀ + ½VVᵀ (H, H), which is not symmetric in
        general.
    """
    answer = W_hat @ K
    square = 0.5 * answer @ answer.T - V @ answer.T + 0.5 * V @ V.T
    return jnp.trace(square) - multiplier @ (W_hat @ k - v), square


@checked
@jax.jit
def stationarity(
    W_hat: Weights, multiplier: Value, K: Keys, V: Values, k: Key
) -> Weights:
    """Derivative ∂L/∂Ŵ = ŴKKᵀ − VKᵀ − Λkᵀ, zero at the solution [R-eq10, R-eq11]."""
    return (W_hat @ K - V) @ K.T - jnp.outer(multiplier, k)


@checked
@jax.jit
def dual(multiplier: Value, K: Keys, V: Values, k: Key, v: Value) -> Number:
    """Dual function, the minimum of L over Ŵ: ½‖WK − V‖² + Λᵀr − ½s‖Λ‖², concave, with
    its maximum at Λ = r/s [R-txt8].

    W are the least-squares weights without the constraint, r = v − Wk is the residual,
    and s = kᵀC⁻¹k with C = KKᵀ.
    """
    W = least_squares(K, V)
    u, _ = normal_equations(k[None], K @ K.T)
    s = u[0] @ k
    return (
        objective(W, K, V)
        + multiplier @ (v - W @ k)
        - 0.5 * s * multiplier @ multiplier
    )


@checked
@jax.jit
def block_matrix(k: Key, u: Key) -> Float[Array, "D+1 D+1"]:
    """The matrix [[I, k], [−uᵀ, 0]] of [Ŵ Λ]·M = [W v]; its determinant is uᵀk
    [R-eq15].

    u = C⁻¹k with C = KKᵀ is the direction of the edit Ŵ = W + Λuᵀ.
    """
    top = jnp.concatenate([jnp.eye(len(k), dtype=k.dtype), k[:, None]], axis=1)
    return jnp.concatenate([top, jnp.append(-u, 0)[None]])


@checked
@jax.jit
def solve_block(W: Weights, k: Key, v: Value, u: Key) -> tuple[Weights, Value]:
    """Edited weights Ŵ and multiplier Λ together, from the block system [R-eq14,
    R-eq15, R-eq16]. Arguments as in `block_matrix`; W are the weights before the edit.
    """
    solution = jnp.linalg.solve(
        block_matrix(k, u).T, jnp.concatenate([W, v[:, None]], axis=1).T
    ).T
    return solution[:, :-1], solution[:, -1]


@checked
@partial(jax.jit, static_argnames="H")
def kkt_matrix(K: Keys, k: Key, H: int) -> Float[Array, "N N"]:
    """Matrix of all HD + H conditions of eq. 10 and eq. 7 for (vec Ŵ, Λ), with vec by
    columns and without any simplification [R-eq17].

    Eq. 10 says that `stationarity` is zero, and eq. 7 is the constraint Ŵk = v.
    """
    identity = jnp.eye(H, dtype=K.dtype)
    constraint = jnp.kron(k[:, None], identity)  # (HD, H)
    top = jnp.concatenate([jnp.kron(K @ K.T, identity), -constraint], axis=1)
    bottom = jnp.concatenate([constraint.T, jnp.zeros((H, H), K.dtype)], axis=1)
    return jnp.concatenate([top, bottom])


@checked
@jax.jit
def solve_kkt(K: Keys, V: Values, k: Key, v: Value) -> tuple[Weights, Value]:
    """Edited weights Ŵ and multiplier Λ from the full linear system, for comparison
    with the closed form [R-eq17].
    """
    H = len(v)
    D = len(k)
    solution = jnp.linalg.solve(kkt_matrix(K, k, H), jnp.append((V @ K.T).T.ravel(), v))
    return solution[: H * D].reshape(D, H).T, solution[H * D :]
