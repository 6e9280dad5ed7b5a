"""Edits one after another: what a later one does to an earlier one, with and without telling C of it."""

from dataclasses import dataclass
from functools import partial
from math import inf

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import check, is_traced
from rankone._pytree import pytree
from rankone.editing.closed_form import matrix, pairs
from rankone.editing.geometry import KeyGeometry, as_geometry
from rankone.precision import precision_of
from rankone.writes.write import LowRankEdit

__all__ = ["Cycles", "SequentialEdit", "cyclic_edit", "sequential_edit"]


@pytree(data=["edit", "residuals"])
@dataclass(frozen=True)
class SequentialEdit:
    """A sequence of single edits as one change, and how well each pair is remembered after every edit.

    Attributes:
        edit: The sum of all edits; columns in their order.
        residuals: ‖Wₜkᵢ − vᵢ‖ (m + 1, m): row t is after t edits, row 0 before the first.
    """

    edit: LowRankEdit
    residuals: Float[Array, "T m"]


@pytree(data=["edit", "errors"])
@dataclass(frozen=True)
class Cycles:
    """Single edits, repeated round after round.

    Attributes:
        edit: All rounds as one change.
        errors: Distance to the batch edit, ‖(W_c − Ŵ)K‖_F, before the first cycle and after each (cycles + 1,).
    """

    edit: LowRankEdit
    errors: Float[Array, " T"]


def sequential_edit(
    W: Float[ArrayLike, "H D"],
    C: "Float[ArrayLike, 'D D'] | KeyGeometry",
    K: Float[ArrayLike, "D m"],
    V: Float[ArrayLike, "H m"],
    *,
    beta: ArrayLike = 0.0,
    omega: ArrayLike = inf,
) -> SequentialEdit:
    """Write the pairs one after another, each by the closed form at that moment [R-S5].

    With `beta` the geometry learns of every pair written, C ← C + βkkᵀ, so that later edits spare it: 0 forgets,
    ∞ protects it wholly, and β = ω makes the sequence equal to the batch of MEMIT. The factor of C is used once: all
    that happens stays in the span of the m solved keys.

    Args:
        W: Weights (H, D).
        C: Second moments (D, D), or a `KeyGeometry`.
        K: Keys (D, m), in the order they are written; there may be more than D of them when `beta` is 0.
        V: Values (H, m).
        beta: Weight with which a written key enters C, at least 0.
        omega: As in `batch_edit`.

    Raises:
        ValueError: As `batch_edit`, or if `beta` is negative.
    """
    W, geometry = matrix(W), as_geometry(C)
    K, V = pairs(W, geometry, K, V)
    for name, value in (("beta", beta), ("omega", omega)):
        if not is_traced(value):
            check(float(value) >= 0, name, float(value), "at least 0; inf is allowed")  # type: ignore[arg-type]
    with precision_of(W, geometry, K, V):
        return _sequence(W, geometry, K, V, beta, omega)


def cyclic_edit(
    W: Float[ArrayLike, "H D"],
    C: "Float[ArrayLike, 'D D'] | KeyGeometry",
    K: Float[ArrayLike, "D m"],
    V: Float[ArrayLike, "H m"],
    *,
    cycles: int,
) -> Cycles:
    """Write the pairs in turn, over and over, C unchanged: Kaczmarz's method in the geometry C⁻¹.

    It converges to the batch edit; for two pairs the error shrinks by cos²θ = s₁₂²/(s₁₁s₂₂) a cycle after the first.

    Args:
        W: Weights (H, D).
        C: Second moments (D, D), or a `KeyGeometry`.
        K: Keys (D, m), linearly independent.
        V: Values (H, m).
        cycles: Number of rounds.
    """
    W, geometry = matrix(W), as_geometry(C)
    K, V = pairs(W, geometry, K, V)
    check(cycles > 0, "cycles", cycles, "a positive number")
    with precision_of(W, geometry, K, V):
        return _rounds(W, geometry, K, V, cycles)


@jax.jit
def _sequence(W: Array, geometry: KeyGeometry, K: Array, V: Array, beta: ArrayLike, omega: ArrayLike) -> SequentialEdit:
    A = geometry.solve(K)
    S = K.T @ A
    m, dtype = K.shape[1], A.dtype
    slack, loss = 1 / jnp.asarray(beta, dtype), 1 / jnp.asarray(omega, dtype)

    def write(state: tuple, i: Array) -> tuple:
        E, M, B = state  # residuals V − WₜK; KᵀCₜ⁻¹K; Cₜ⁻¹K = A B
        row, s = M[i], M[i, i]
        left = E[:, i] / (s + loss)
        E = E - left[:, None] * row
        column, shrink = B[:, i], row / (slack + s)
        state = E, M - row[:, None] * shrink, B - column[:, None] * shrink
        return state, (left, column, jnp.linalg.norm(E, axis=0))

    E = (V - W @ K).astype(dtype)
    left: Array
    columns: Array
    residuals: Array
    _, (left, columns, residuals) = jax.lax.scan(write, (E, S, jnp.eye(m, dtype=dtype)), jnp.arange(m))
    right = A @ columns.T
    inside = columns @ S @ columns.T
    edit = LowRankEdit(left.T, right, jnp.sum((left.T @ inside) * left.T))
    return SequentialEdit(edit, jnp.concatenate([jnp.linalg.norm(E, axis=0)[None], residuals]))


@partial(jax.jit, static_argnames="cycles")
def _rounds(W: Array, geometry: KeyGeometry, K: Array, V: Array, cycles: int) -> Cycles:
    A = geometry.solve(K)
    S = K.T @ A
    start = (V - W @ K).astype(A.dtype)

    def write(E: Array, i: Array) -> tuple[Array, Array]:
        left = E[:, i] / S[i, i]
        return E - left[:, None] * S[i], left

    def round_(E: Array, _: None) -> tuple[Array, tuple[Array, Array]]:
        E, left = jax.lax.scan(write, E, jnp.arange(K.shape[1]))
        return E, (left.T, _distance(E, S))

    _, (lefts, errors) = jax.lax.scan(round_, start, length=cycles)
    left = lefts.sum(0)
    edit = LowRankEdit(left, A, jnp.sum((left @ S) * left))
    return Cycles(edit, jnp.concatenate([_distance(start, S)[None], errors]))


def _distance(E: Array, S: Array) -> Array:
    """√tr(E S⁻¹ Eᵀ): what the batch edit would still have to change, in the norm of C."""
    return jnp.sqrt(jnp.sum(E.T * jnp.linalg.solve(S, E.T)))
