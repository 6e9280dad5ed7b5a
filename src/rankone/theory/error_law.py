"""Errors of the distributed memory's energy and gradient, predicted without a
simulation.

The features are sincos, with independent Gaussian frequencies. At a state x, let Δ_μ =
x − ξ^μ and K∓_μν = exp(−β‖Δ_μ ∓ Δ_ν‖²/2). A frequency ω contributes X = Σ_μ cos √β⟨ω,
Δ_μ⟩ to the estimate Ŝ of the partition sum. The errors follow from the second moments
of X and ∇X [D-sharp2], and so does their dependence on Y, K, D and β [D-unn6].
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from rankone._annotated import checked
from rankone._checks import Numbers, brief, choice, positive, states
from rankone._module import Module
from rankone.memory.exact import MrDAM

__all__ = ["ErrorLaw", "error_law", "hessian", "lipschitz"]

FIELDS = ("autodiff", "barycentric")


class ErrorLaw(Module):
    """Errors of a distributed memory at some states, exact to first order in the noise,
    for any number of frequencies Y; made by `error_law`.

    Attributes:
        S: Partition sum S(x) = exp(−βE(x)) (...).
        V: Y·Var Ŝ(x) (...), with Ŝ the estimate of S by the features.
        M_A: Y times the mean squared error of ĝ_A = ∇Ê, the gradient of Algorithm 1, in
            unit² (...).
        M_B: Y times the mean squared error of the barycentric field ĝ_B of eq. 29, in
            unit² (...).
        beta: Inverse temperature, 1/unit².
        count: Number of patterns stored.
    """

    S: Float[Array, "..."]
    V: Float[Array, "..."]
    M_A: Float[Array, "..."]
    M_B: Float[Array, "..."]
    beta: Float[Array, ""]
    count: Float[Array, ""]

    @checked
    def noise(self, Y: ArrayLike) -> Float[Array, "..."]:
        """Relative standard deviation √(V/Y)/S of Ŝ. The law is of first order in this
        number, so use it only where the number is at most 0.1.
        """
        return _noise(self, self._matching_shape("Y", Y))

    @checked
    def energy_error(self, Y: ArrayLike) -> Float[Array, "..."]:
        """Mean |Ê − E| to first order, √(2/π)·√(V/Y)/(βS), in unit²."""
        return (2 / jnp.pi) ** 0.5 * self.noise(Y) / self.beta

    @checked
    def gradient_error(
        self, Y: ArrayLike, field: str = "autodiff"
    ) -> Float[Array, "..."]:
        """Root mean square of ‖ĝ − ∇E‖ to first order, √(M/Y), for "autodiff" (ĝ_A) or
        "barycentric" (ĝ_B).
        """
        return jnp.sqrt(self._moment(field) / self._matching_shape("Y", Y))

    @checked
    def clipped_energy_error(
        self, Y: ArrayLike, clip: ArrayLike | None = None
    ) -> Float[Array, "..."]:
        """Mean |Ê − E| for a Gaussian Ŝ and the exact logarithm instead of its first
        order. It is accurate even where the memory fails.

        Args:
            Y: Number of frequencies.
            clip: The ε of the published log max(Ŝ, ε). By default the logarithm is
                replaced below the floor of `DrDAM` by its tangent, as in `DrDAM`.
        """
        return _clipped_energy_error(
            self,
            self._matching_shape("Y", Y),
            None if clip is None else self._matching_shape("clip", clip),
        )

    @checked
    def features_for_energy(self, error: ArrayLike) -> Float[Array, "..."]:
        """Frequencies Y ≃ V/(βεS)² for a root-mean-square energy error ε (unit²)."""
        return (
            self.V
            / (self.beta * jnp.asarray(self._matching_shape("error", error)) * self.S)
            ** 2
        )

    @checked
    def features_for_gradient(
        self, error: ArrayLike, field: str = "autodiff"
    ) -> Float[Array, "..."]:
        """Frequencies Y ≃ M/ε² for a root-mean-square gradient error ε (unit)."""
        return (
            self._moment(field) / jnp.asarray(self._matching_shape("error", error)) ** 2
        )

    @checked
    def gradient_error_bound(
        self, Y: ArrayLike, *, s: ArrayLike = 3.0, t: ArrayLike = 3.0
    ) -> Float[Array, "..."]:
        """Bound on ‖ĝ_A − ∇E‖ at one fixed state, with probability ≥ 1 − s⁻² − t⁻²; ∞
        where s·noise ≥ 1.

        The error of the gradient is exactly a quotient with the denominator Ŝ (lemma
        D-lem3'). The bound applies Chebyshev's inequality to Ŝ, with s standard
        deviations, and to the numerator, with t. Nothing is linearised.
        """
        s = self._matching_shape("s", s)
        t = self._matching_shape("t", t)
        shrink = 1 - s * self.noise(Y)
        return jnp.where(
            shrink > 0,
            t * self.gradient_error(Y) / jnp.where(shrink > 0, shrink, 1),
            jnp.inf,
        )

    def _matching_shape(self, name: str, value: ArrayLike) -> ArrayLike:
        fits = broadcasts(jnp.shape(value), self.S.shape) or broadcasts(
            self.S.shape, jnp.shape(value)
        )
        if not fits:
            raise ValueError(
                f"{name}: got shape {jnp.shape(value)}; "
                f"it must be a number, or of a shape that goes with {self.S.shape}."
            )
        return value

    def _moment(self, field: str) -> Float[Array, "..."]:
        choice("field", field, FIELDS)
        return self.M_A if field == "autodiff" else self.M_B


def broadcasts(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """True if numpy broadcasts an array of shape `shape` to the shape `target`."""
    pairs = zip(shape[::-1], target[::-1], strict=False)
    return len(shape) <= len(target) and all(
        length in (1, target_length) for length, target_length in pairs
    )


@jax.jit
def _noise(law: ErrorLaw, Y: ArrayLike) -> Array:
    return jnp.sqrt(law.V / Y) / law.S


@jax.jit
def _clipped_energy_error(law: ErrorLaw, Y: ArrayLike, clip: ArrayLike | None) -> Array:
    # Trapezoidal rule with steps of 0.016 standard deviations. Its relative error is
    # 1e-4, because the integrand has a kink.
    g = jnp.expand_dims(jnp.linspace(-8, 8, 1001), range(law.S.ndim))
    weights = jnp.exp(-(g**2) / 2)
    S = law.S[..., None]
    estimate = S * (1 + law.noise(Y)[..., None] * g)
    floor = (
        jnp.sqrt(law.count / (2 * jnp.asarray(Y))) / 8
        if clip is None
        else jnp.asarray(clip)
    )
    log = jnp.log(jnp.maximum(estimate, floor))
    if clip is None:
        log = log + jnp.minimum(estimate / floor - 1, 0)
    return (jnp.abs(log - jnp.log(S)) * weights).sum(-1) / weights.sum() / law.beta


@checked
def error_law(memory: MrDAM, x: Numbers) -> ErrorLaw:
    """`ErrorLaw` at states x: errors of energy and gradient of a distributed copy of
    `memory`, exact to first order in the noise [D-sharp2].

    The law explains how the measured errors fall with Y and grow with K, D and β
    [D-fig5, D-obs1, D-obs2, D-obs3].

    V = ½Σ_μν (K⁻_μν + K⁺_μν) − S² = ½Σ_μν (√K⁻_μν − √K⁺_μν)² with K∓_μν = exp(−β‖Δ_μ ∓
    Δ_ν‖²/2) and Δ_μ = x − ξ^μ. The code computes the second form, a sum of squares, so
    that the terms do not cancel each other. It needs O(K²D) time per state, and O(K²)
    memory in all, because it computes one state after another.

    Args:
        memory: The exact memory `MrDAM(Xi, beta)`, with the log-sum-exp energy.
        x: States (..., D), in the unit of the patterns.

    Returns:
        An `ErrorLaw` with fields of shape (...).

    Raises:
        ValueError: If the memory is not the log-sum-exp memory of eq. 11, or x does not
            fit.
    """
    _check_gaussian(memory)
    x = states("x", x, memory.D)
    return _error_law(memory.Xi, memory.beta, x)


@jax.jit
def _error_law(
    Xi: Float[Array, "K D"], beta: Array, x: Float[Array, "... D"]
) -> ErrorLaw:
    moments = jax.lax.map(
        lambda state: _moments_at(Xi, beta, state), x.reshape(-1, x.shape[-1])
    )
    S, V, M_A, M_B = (row.reshape(x.shape[:-1]) for row in moments)
    return ErrorLaw(S, V, M_A, M_B, beta, jnp.asarray(len(Xi), Xi.dtype))


def _moments_at(
    Xi: Float[Array, "K D"], beta: Array, x: Float[Array, " D"]
) -> tuple[Array, ...]:
    """(S, V, M_A, M_B) at one state."""
    delta = x[None] - Xi
    inner = delta @ delta.T
    square = jnp.diagonal(inner)
    pair = square[:, None] + square[None]
    k = jnp.exp(-beta / 2 * square)
    S = k.sum()
    # The softmax does not underflow. So where S underflows, only the quantities that
    # are divided by S become ∞.
    gradient = jax.nn.softmax(-beta / 2 * square) @ delta
    root_minus = jnp.exp(-beta / 4 * (pair - 2 * inner))
    root_plus = jnp.exp(-beta / 4 * (pair + 2 * inner))
    minus = root_minus**2
    plus = root_plus**2
    # K⁻ + K⁺ − 2 k_μ k_ν, whose sum over μ and ν is twice the variance of X
    spread = (root_minus - root_plus) ** 2
    slope = (
        beta
        / 2
        * (
            (Xi.shape[1] - beta * pair) * (minus - plus)
            + 2 * beta * inner * (minus + plus)
        ).sum()
    )
    cross = -2 * beta**2 * (plus.sum(1) @ (delta @ gradient))
    level = beta**2 / 2 * (gradient @ gradient) * (minus + plus).sum()
    from_mean = gradient[None] - delta
    barycentre = ((spread @ from_mean) * from_mean).sum()
    M_A = jnp.maximum(slope + cross + level, 0) / (beta * S) / (beta * S)
    return S, spread.sum() / 2, M_A, barycentre / (2 * S) / S


@checked
def hessian(memory: MrDAM, x: Numbers) -> Float[Array, "... D D"]:
    """Hessian of the exact energy, ∇²E(x) = I − β Cov_p(x)(ξ) [D-sharp1].

    p(x) is the softmax over the patterns. By Popoviciu's inequality the eigenvalues lie
    in [1 − βd²/4, 1], where d is the largest distance between two patterns.

    Args:
        memory: The exact memory `MrDAM(Xi, beta)`, with the log-sum-exp energy.
        x: States (..., D), in the unit of the patterns.
    """
    _check_gaussian(memory)
    x = states("x", x, memory.D)
    return _hessians(memory.Xi, memory.beta, x)


@jax.jit
def _hessians(
    Xi: Float[Array, "K D"], beta: Array, x: Float[Array, "... D"]
) -> Float[Array, "... D D"]:
    def hessian(state: Array) -> Array:
        delta = state[None] - Xi
        p = jax.nn.softmax(-beta / 2 * (delta**2).sum(-1))
        centred = delta - (p @ delta)[None]
        return jnp.eye(len(state), dtype=state.dtype) - beta * centred.T @ (
            p[:, None] * centred
        )

    return jax.lax.map(hessian, x.reshape(-1, x.shape[-1])).reshape(
        *x.shape, x.shape[-1]
    )


@checked
def lipschitz(*, beta: ArrayLike, diameter: ArrayLike) -> Float[Array, ""]:
    """Best Lipschitz constant of ∇E, max(1, βd²/4 − 1), for patterns of diameter d in D
    ≥ 2 [D-sharp1].

    Args:
        beta: Inverse temperature, 1/unit².
        diameter: Largest distance between two patterns, in the same unit.
    """
    positive("beta", beta)
    return _lipschitz(beta, diameter)


@jax.jit
def _lipschitz(beta: ArrayLike, diameter: ArrayLike) -> Array:
    return jnp.maximum(1.0, jnp.asarray(beta) * jnp.asarray(diameter) ** 2 / 4 - 1)


def _check_gaussian(memory: MrDAM) -> None:
    form = (memory.similarity, memory.separation, memory.Q, memory.g)
    if form != ("l2", "exp", "log", "identity"):
        raise ValueError(
            f"memory: got {brief(form)}; "
            "it must be that of MrDAM(Xi, beta), with its default similarity, "
            "separation, Q and g."
        )
