"""Rules by which residuals R are written: the choice of X in R X κ(K, q).

Here S = κ(K, K) (m, m) is the kernel of the m keys with one another, and U is its
strictly upper triangular part.
"""

from math import inf
from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.dtypes import canonicalize_dtype
from jax.scipy.linalg import cho_solve, solve_triangular
from jaxtyping import Array, ArrayLike, Float, Int, Real

from rankone._annotated import checked
from rankone._checks import brief, integer, numbers, real
from rankone._module import Module
from rankone.checks import Outcome, outcome
from rankone.precision import full_precision, smallest_pivot

__all__ = [
    "BatchStep",
    "Cycled",
    "Exact",
    "InSequence",
    "Recursive",
    "Ridge",
    "Rule",
    "normal_equations",
    "one_round",
    "recursion",
    "weight",
]


@runtime_checkable
class Rule(Protocol):
    """Protocol of a rule of writing, which chooses X in the coefficients R X of the
    residuals R, for the kernel S of the keys with one another.
    """

    def coefficients(
        self, R: Float[Array, "H m"], S: Float[Array, "m m"], /
    ) -> tuple[Float[Array, "H m"], Int[Array, ""]]:
        """Coefficients R X of the residuals R (H, m), for the kernel S (m, m), and the
        code of a `rankone.checks.Outcome`.
        """
        ...


class BatchStep(Module):
    """Rule that writes all pairs in one step of gradient descent: X = D, the diagonal
    matrix of the rates. From an empty memory this is Hebb's rule.

    Attributes:
        rates: Rates η (m,), or one rate for all pairs.
    """

    rates: Real[ArrayLike, "*m"] = 1.0

    def __post_init__(self) -> None:
        self.rates = _rates(self.rates)

    @checked
    @jax.jit
    def coefficients(
        self, R: Float[Array, "H m"], S: Float[Array, "m m"]
    ) -> tuple[Float[Array, "H m"], Int[Array, ""]]:
        """Coefficients R D."""
        return _finite(R * jnp.broadcast_to(jnp.asarray(self.rates, R.dtype), R.shape))


class InSequence(Module):
    """Rule that writes one pair after another, each once, by the delta rule
    (Widrow–Hoff): X = (D⁻¹ + U)⁻¹, with the rates in D and the strict upper part U of
    S.

    Attributes:
        rates: Rates η (m,), or one rate for all pairs; None for the rate 1/Sₜₜ of pair
            t, with which the memory answers each pair exactly just after it is written.
    """

    rates: Real[ArrayLike, "*m"] | None = None

    def __post_init__(self) -> None:
        if self.rates is not None:
            self.rates = _rates(self.rates)

    @checked
    @jax.jit
    def coefficients(
        self, R: Float[Array, "H m"], S: Float[Array, "m m"]
    ) -> tuple[Float[Array, "H m"], Int[Array, ""]]:
        """Coefficients R (D⁻¹ + U)⁻¹."""
        return _finite(one_round(R, S, self.rates))


class Cycled(Module):
    """Rule that writes the pairs in sequence, round after round (Kaczmarz's method,
    Gauss–Seidel on A S = R for the coefficients A = R X). With more rounds X → S⁻¹, if
    0 < ηₜSₜₜ < 2 for every pair t.

    Attributes:
        rounds: Number of times each pair is written.
        rates: As in `InSequence`.
    """

    rounds: int = eqx.field(static=True)
    rates: Real[ArrayLike, "*m"] | None = None

    def __post_init__(self) -> None:
        self.rounds = integer("rounds", self.rounds)
        if self.rates is not None:
            self.rates = _rates(self.rates)

    @checked
    @jax.jit
    @full_precision()
    def coefficients(
        self, R: Float[Array, "H m"], S: Float[Array, "m m"]
    ) -> tuple[Float[Array, "H m"], Int[Array, ""]]:
        """Coefficients R X: the sum over all rounds."""
        return _finite(
            jax.lax.fori_loop(
                0,
                self.rounds,
                lambda _, A: A + one_round(R - A @ S, S, self.rates),
                R * 0,
            )
        )


class Ridge(Module):
    """Least squares that balances the new pairs against the answers that the memory
    already gives: X = (S + I/ω)⁻¹.

    Attributes:
        omega: Weight ω of each new pair; at inf the pairs are answered exactly.
    """

    omega: Real[ArrayLike, ""]

    def __post_init__(self) -> None:
        self.omega = jnp.asarray(weight("omega", self.omega), float)

    @checked
    @jax.jit
    def coefficients(
        self, R: Float[Array, "H m"], S: Float[Array, "m m"]
    ) -> tuple[Float[Array, "H m"], Int[Array, ""]]:
        """Coefficients R (S + I/ω)⁻¹."""
        A, pivot = normal_equations(R, S, 1 / jnp.asarray(self.omega))
        dependent = ~(pivot > smallest_pivot(len(S), pivot.dtype))
        return A, outcome(
            (dependent, Outcome.DEPENDENT), (~jnp.isfinite(A).all(), Outcome.NOT_FINITE)
        )


class Exact(Module):
    """Rule by which every pair is answered exactly: X = S⁻¹. Among all changes Δ of the
    matrix that do so, the write has the least tr(ΔG⁻¹Δᵀ).
    """

    @checked
    @jax.jit
    def coefficients(
        self, R: Float[Array, "H m"], S: Float[Array, "m m"]
    ) -> tuple[Float[Array, "H m"], Int[Array, ""]]:
        """Coefficients R S⁻¹."""
        return Ridge(inf).coefficients(R, S)


class Recursive(Module):
    """Recursive least squares: writes in sequence, each of which adds its key to G⁻¹,
    so that later writes change the answer at that key less.

    After the write at a key with the features f = φ(k), the geometry becomes G − GffᵀG
    / (β⁻¹ + fᵀGf), which is the inverse of G⁻¹ + βffᵀ. With β = ω the result is that of
    `Ridge`, in any order of the pairs.

    Attributes:
        omega: As in `Ridge`.
        beta: Weight β of a written key in G⁻¹: ω if None; 0 leaves G unchanged.
    """

    omega: Real[ArrayLike, ""]
    beta: Real[ArrayLike, ""] | None = None

    def __post_init__(self) -> None:
        self.omega = jnp.asarray(weight("omega", self.omega), float)
        self.beta = (
            self.omega
            if self.beta is None
            else jnp.asarray(weight("beta", self.beta, least=0.0), float)
        )

    @checked
    @jax.jit
    @full_precision()
    def coefficients(
        self, R: Float[Array, "H m"], S: Float[Array, "m m"]
    ) -> tuple[Float[Array, "H m"], Int[Array, ""]]:
        """Coefficients R X: the sum of all writes."""
        left, keys, _ = recursion(R, S, jnp.asarray(self.beta), self.omega)
        return _finite(left @ keys)


def normal_equations(
    R: Float[Array, "H m"], S: Float[Array, "m m"], slack: ArrayLike = 0.0
) -> tuple[Float[Array, "H m"], Float[Array, ""]]:
    """Coefficients R (S + slack·I)⁻¹ by a Cholesky factor of the matrix, scaled to unit
    diagonal, and the smallest pivot, which is 0 where the keys are dependent.

    Args:
        R: Residuals.
        S: Kernel of the keys, symmetric.
        slack: Number that is added to the diagonal of S, at least 0.
    """
    relaxed = (S + S.T) / 2 + jnp.diag(jnp.full(len(S), slack, S.dtype))
    # so that keys of very different lengths do not fail
    scale = jnp.sqrt(jnp.diagonal(relaxed))
    factor = jnp.linalg.cholesky(relaxed / scale[None] / scale[:, None])
    pivots = jnp.nan_to_num(jnp.diagonal(factor) ** 2)
    return cho_solve((factor, True), (R / scale[None]).T).T / scale[None], pivots.min()


def recursion(
    R: Float[Array, "H m"], S: Float[Array, "m m"], beta: ArrayLike, omega: ArrayLike
) -> tuple[Float[Array, "H m"], Float[Array, "m m"], Float[Array, "T m"]]:
    """Factors of the writes of recursive least squares, one pair after another. All
    computation stays in the span of the m keys.

    Args:
        R: Residuals before the first write.
        S: Kernel of the keys.
        beta: Weight with which a written key enters the geometry.
        omega: Weight of each pair; inf writes it exactly.

    Returns:
        The left factor of each write, one per column (H, m); its right factor, one per
        row, as coefficients of the m initial dual features G φ(K) (m, m); and the norms
        of all residuals before the first write and after each write (m + 1, m).
    """
    slack = 1 / jnp.asarray(beta, S.dtype)
    loss = 1 / jnp.asarray(omega, S.dtype)

    def write(state: tuple, i: Array) -> tuple:
        E, M, B = (
            # residuals V − WₜK; κₜ(K, K); the keys' duals in terms of the initial duals
            state
        )
        row = M[i]
        s = M[i, i]
        factor = E[:, i] / (s + loss)
        E = E - factor[:, None] * row[None]
        column = B[:, i]
        shrink = row / (slack + s)
        state = E, M - row[:, None] * shrink[None], B - column[:, None] * shrink[None]
        return state, (factor, column, jnp.linalg.norm(E, axis=0))

    R = R.astype(S.dtype)
    m = len(S)
    factor: Array
    keys: Array
    residuals: Array
    _, (factor, keys, residuals) = jax.lax.scan(
        write, (R, S, jnp.eye(m, dtype=S.dtype)), jnp.arange(m)
    )
    return (
        factor.T,
        keys,
        jnp.concatenate([jnp.linalg.norm(R, axis=0)[None], residuals]),
    )


def one_round(R: Array, S: Array, rates: ArrayLike | None = None) -> Array:
    """Coefficients R (D⁻¹ + U)⁻¹ = R (I + D U)⁻¹ D of one round, in which a rate may be
    0. R (I + D U)⁻¹ contains each residual at the time of its write.
    """
    rates = (
        1 / jnp.diagonal(S)
        if rates is None
        else jnp.broadcast_to(jnp.asarray(rates, S.dtype), len(S))
    )
    return (
        solve_triangular(
            rates[:, None] * jnp.triu(S, 1), R.T, trans=1, unit_diagonal=True
        ).T
        * rates[None]
    )


def _finite(A: Array) -> tuple[Array, Array]:
    return A, outcome((~jnp.isfinite(A).all(), Outcome.NOT_FINITE))


def _rates(rates: ArrayLike) -> Array:
    out = jnp.asarray(numbers("rates", rates), float)
    if out.ndim >= 2:
        raise ValueError(
            f"rates: got shape {out.shape}; "
            "it must be one number, or one for each pair."
        )
    return out


def weight(name: str, value: ArrayLike, least: float | None = None) -> ArrayLike:
    """The weight of a pair, as a Python number where its value can be read."""
    hint = (
        "positive; inf writes the pairs exactly"
        if least is None
        else "at least 0; inf is allowed"
    )
    number = real(name, value, hint, dtype=canonicalize_dtype(float))
    if not (number is None or number > 0 or number == least):
        raise ValueError(f"{name}: got {brief(value)}; it must be {hint}.")
    return value if number is None else number
