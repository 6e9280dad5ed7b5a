"""Edits made one after another, and how a later edit changes the answers of earlier
ones, with and without the written keys added to C.
"""

from functools import partial
from math import inf

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import integer
from rankone._module import Module
from rankone.checks import Outcome, outcome
from rankone.editing.closed_form import matrix, pairs, refuse
from rankone.editing.geometry import (
    KeyGeometry,
    Quality,
    as_moments,
    factored,
    refuse_singular,
)
from rankone.precision import full_precision, smallest_pivot
from rankone.writes import Write
from rankone.writes.rules import normal_equations, one_round, recursion, weight

__all__ = ["Cycles", "SequentialEdit", "cyclic_edit", "sequential_edit"]


class SequentialEdit(Module):
    """Result of `sequential_edit`: all single edits as one change, and the residual of
    every pair after each edit.

    Attributes:
        edit: The sum of all edits, with one column per pair in the order of writing.
        residuals: ‖Wₜkᵢ − vᵢ‖ (m + 1, m): row t is after t edits, row 0 before the
            first.
    """

    edit: Write
    residuals: Float[Array, "T m"]


class Cycles(Module):
    """Result of `cyclic_edit`: all rounds of single edits as one change, and the
    distance to the batch edit after each round.

    Attributes:
        edit: The sum of all rounds.
        errors: Distance to the batch edit, ‖(W_c − Ŵ)K₀‖_F at old keys K₀ with C =
            K₀K₀ᵀ, before the first round and after each (cycles + 1,).
    """

    edit: Write
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
    """Edits that write the pairs one after another, each by the closed form for the
    current matrix [R-S5].

    With `beta` every written key is added to the second moments, C ← C + βkkᵀ, so that
    later edits change the answer at that key less. With β = 0 earlier pairs are not
    protected, with β = ∞ they are fully protected, and with β = ω the sequence equals
    `batch_edit` with this ω (MEMIT). A single solve with the factor of C serves all
    edits, because the rows of every change lie in the span of the m vectors C⁻¹kᵢ.

    Args:
        W: Weights (H, D).
        C: Second moments (D, D), or a `KeyGeometry`.
        K: Keys (D, m), in the order they are written. There may be more than D of them,
            except when `beta` is ∞: then they must be linearly independent.
        V: Values (H, m).
        beta: Weight with which a written key enters C, at least 0.
        omega: As in `batch_edit`.

    Returns:
        The sum of all edits as `edit`, and as `residuals` (m + 1, m) the distance
        ‖Wₜkᵢ − vᵢ‖ of every pair i after t edits.

    Raises:
        ValueError: As for `batch_edit`, or if `beta` is negative.
    """
    W = matrix(W, finite=False)
    C, _ = as_moments(C, W=W)
    K, V = pairs(W, K, V, finite=False)
    weights = weight("omega", omega), weight("beta", beta, least=0.0)
    sequence, quality = _sequence(W, C, K, V, weights)
    refuse_singular("C", quality, C)
    refuse(sequence.edit.outcome, W, K, V)
    return sequence


def cyclic_edit(
    W: Float[ArrayLike, "H D"],
    C: "Float[ArrayLike, 'D D'] | KeyGeometry",
    K: Float[ArrayLike, "D m"],
    V: Float[ArrayLike, "H m"],
    *,
    cycles: int,
) -> Cycles:
    """Edits that write the pairs one after another in repeated rounds, with C
    unchanged: Kaczmarz's method.

    Each write moves every row of W to the nearest solution of one equation Ŵkᵢ = vᵢ,
    where distances between rows are those of the inner product aᵀCb. (The inner product
    of keys is aᵀC⁻¹b.) The rounds converge to the batch edit. For two pairs, each round
    after the first multiplies the error by cos²θ = s₁₂²/(s₁₁s₂₂), where sᵢⱼ = kᵢᵀC⁻¹kⱼ
    and θ is the angle between the two keys.

    Args:
        W: Weights (H, D).
        C: Second moments (D, D), or a `KeyGeometry`.
        K: Keys (D, m), linearly independent.
        V: Values (H, m).
        cycles: Number of rounds.

    Returns:
        The sum of all rounds as `edit`, and as `errors` (cycles + 1,) the distance to
        the batch edit Ŵ before the first round and after each. It is ‖(W_c − Ŵ)K₀‖_F
        at old keys K₀ with C = K₀K₀ᵀ.
    """
    W = matrix(W, finite=False)
    C, _ = as_moments(C, W=W)
    K, V = pairs(W, K, V, finite=False)
    cycles = integer("cycles", cycles, "a positive number of rounds")
    rounds, quality = _rounds(W, C, K, V, cycles)
    refuse_singular("C", quality, C)
    refuse(rounds.edit.outcome, W, K, V)
    return rounds


@jax.jit
@full_precision()
def _sequence(
    W: Array, C: Array | KeyGeometry, K: Array, V: Array, weights: tuple
) -> tuple[SequentialEdit, Quality | None]:
    geometry, quality = factored(C, 0.0)
    omega, beta = weights
    A = geometry.solve(K)
    S = K.T @ A
    left, keys, residuals = recursion(V - W @ K, S, beta, omega)
    M = keys @ S @ keys.T
    # A protected sequence writes along the part of each key that the earlier keys leave
    # free. It must be more than rounding error, as a pivot must be in a batch.
    free = jnp.diagonal(M) / jnp.diagonal(S)
    spent = len(S) > len(A) or ~(free.min() > smallest_pivot(len(S), S.dtype))
    dependent = jnp.isinf(beta) & spent
    fault = _fault(geometry, S, left, dependent)
    edit = Write(left, A @ keys.T, jnp.sum((left @ M) * left), fault)
    return SequentialEdit(edit, residuals), quality


@partial(jax.jit, static_argnames="cycles")
@full_precision()
def _rounds(
    W: Array, C: Array | KeyGeometry, K: Array, V: Array, cycles: int
) -> tuple[Cycles, Quality | None]:
    geometry, quality = factored(C, 0.0)
    A = geometry.solve(K)
    S = K.T @ A
    R = (V - W @ K).astype(A.dtype)

    def round_(
        state: tuple[Array, Array], _: None
    ) -> tuple[tuple[Array, Array], Array]:
        left, E = state
        increment = one_round(E, S)
        E = E - increment @ S
        return (left + increment, E), E

    (left, _), residuals = jax.lax.scan(round_, (R * 0, R), length=cycles)
    E = jnp.concatenate([R[None], residuals])
    solution, pivot = normal_equations(E.reshape(-1, len(S)), S)
    # √tr(E S⁻¹ Eᵀ)
    errors = jnp.sqrt(jnp.sum(E * solution.reshape(E.shape), axis=(1, 2)))
    dependent = ~(pivot > smallest_pivot(len(S), pivot.dtype))
    fault = _fault(geometry, S, left, dependent)
    return Cycles(Write(left, A, jnp.sum((left @ S) * left), fault), errors), quality


def _fault(
    geometry: KeyGeometry, S: Array, left: Array, dependent: ArrayLike = False
) -> Array:
    """Outcome of the sequence: a singular geometry, a zero key or dependent keys, an
    overflow.
    """
    zero = ~(jnp.diagonal(S) > 0).all()
    singular = (geometry.outcome != Outcome.OK, Outcome.SINGULAR)
    return outcome(
        singular,
        (zero | dependent, Outcome.DEPENDENT),
        (~jnp.isfinite(left).all(), Outcome.NOT_FINITE),
    )
