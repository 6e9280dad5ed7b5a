"""Proved bounds on the distance between the exact and the distributed memory [D-thm2,
D-cor1, corrected: D-sharp3].

All bounds are computed before a run, by arithmetic on a few numbers. The arithmetic is
in double precision, because the bounds span hundreds of orders of magnitude. The bounds
hold for sincos features with independent Gaussian frequencies. If a hypothesis fails,
the bound is infinite, and the record names the hypothesis. `rankone.theory.barrier`
computes how many frequencies suffice for retrieval [D-sharp10], and
`rankone.theory.drift` certifies a run around one well separated pattern [D-sharp9].
"""

from collections.abc import Callable
from math import exp, expm1, inf, isfinite, log, log1p, sqrt

from jaxtyping import ArrayLike

from rankone._annotated import Broadcast, checked
from rankone._checks import brief, positive, real, refuse_traced
from rankone._module import Module
from rankone.theory.kernel_error import (
    check_counts,
    check_probability,
    uniform_derivative_error,
    uniform_kernel_error,
)

__all__ = [
    "Divergence",
    "divergence_bound",
    "energy_drift",
    "gradient_errors",
    "query_factor",
    "softmax_lipschitz",
]


# The fixed point is multiplied by this factor and then checked, so that rounding cannot
# make the bound too small.
_SLACK = 1 + 1e-6


@checked
def softmax_lipschitz(*, spread: float, K: int) -> float:
    """Smallest Λ with ‖softmax(x) − softmax(z)‖₁ ≤ Λ‖x − z‖₁ if the entries of x differ
    from each other by at most δ (`spread`), and those of z too [D-lem1].

    Λ is the supremum of 2p(1 − p) over p ≤ e^δ/(e^δ + K − 1), the largest value that
    one of the K softmax weights can have. Λ is at most min(1/2, 2e^δ/K). The paper
    prints e^δ/K.
    """
    p = min(1 / (1 + (K - 1) * exp(-spread)), 0.5)
    return 2 * p * (1 - p)


@checked
def energy_drift(
    *, step_size: float, error: Broadcast, gradient: Broadcast
) -> ArrayLike:
    """Upper bound (η/2)(‖e‖² − ‖∇E‖²) on the rise of E in a step 0 < η ≤ 1 against ∇E +
    e, from the two norms [D-eq55].

    The step is x ← x − η(∇E + e), where e is the error of the gradient. The arguments
    `error` and `gradient` are ‖e‖ and ‖∇E‖.
    """
    return step_size / 2 * (error**2 - gradient**2)


@checked
def query_factor(*, beta: float, K: int, distance: float) -> float:
    """Factor e^(βE) of a query at `distance` r from one pattern and at distance 1 from
    the K − 1 others [D-eq59].

    The factor is e^(βr²/2)/(1 + (K − 1)e^(−β(1 − r²)/2)). The paper prints r in place
    of r² and omits K − 1.
    """
    return exp(beta * distance**2 / 2) / (
        1 + (K - 1) * exp(-beta * (1 - distance**2) / 2)
    )


@checked
def gradient_errors(
    *,
    K: int,
    beta: float,
    energy: float,
    gradient: float,
    diameter: float,
    eps0: float,
    eps1: float,
) -> tuple[float, float]:
    """Bounds on ‖ĝ_A − ∇E‖ and ‖ĝ_B − ∇E‖ from uniform kernel errors [D-lem3].

    Here ĝ_A is the gradient of the estimated energy (Algorithm 1), and ĝ_B the
    barycentric field of eq. 29. With u = Kε₀e^(βE) and the diameter d, the two bounds
    are Ke^(βE)/(1 − u)·(ε₁/√β + ε₀‖∇E‖) and ud/(1 − u) if u < 1; otherwise both are
    infinite.

    Args:
        K: Number of patterns.
        beta: Inverse temperature, 1/unit².
        energy: E(x), or an upper bound of it, in unit².
        gradient: ‖∇E(x)‖, or an upper bound of it, in the unit of the patterns.
        diameter: Largest distance between two patterns, in the same unit.
        eps0: ε₀, a bound on the kernel error.
        eps1: ε₁, a bound on the error of the kernel's derivative.
    """
    check_counts(K=K)
    positive("beta", beta)
    _not_negative(gradient=gradient, diameter=diameter, eps0=eps0, eps1=eps1)
    number = real("energy", energy, "one number, in unit²")
    if number is None:
        raise ValueError(
            f"energy: got {brief(energy)}; it must be known, outside of jit."
        )
    return _errors(
        K,
        float(beta),
        float(energy),
        float(gradient),
        float(diameter),
        float(eps0),
        float(eps1),
    )


def _errors(
    K: int,
    beta: float,
    energy: float,
    gradient: float,
    diameter: float,
    eps0: float,
    eps1: float,
) -> tuple[float, float]:
    if beta * energy > 700:
        return inf, inf
    u = K * eps0 * exp(beta * energy)
    if u >= 1:
        return inf, inf
    scale = K * exp(beta * energy) / (1 - u)
    return scale * (eps1 / sqrt(beta) + eps0 * gradient), u * diameter / (1 - u)


class Divergence(Module):
    """Bound on ‖x⁽ᴸ⁾ − x̂⁽ᴸ⁾‖, with all quantities that it contains; made by
    `divergence_bound`. Distances are in the unit of the patterns.

    Attributes:
        bound: Theorem 2′: ηA(ρᴸ − 1)/(ρ − 1), or ∞ if a hypothesis fails.
        tied: Corollary 1′: a bound that also holds if the time ηL is divided into more,
            shorter steps; ∞ if a hypothesis fails.
        A: Bound on ‖ĝ_A − ∇E‖ along the distributed trajectory, where ĝ_A is the
            gradient of the estimated energy.
        rho: Bound 1 + η(βd²/4 − 1) on the growth of a distance in one exact step, with
            d the diameter of the patterns.
        energy: E*, which the exact energy never exceeds along the distributed
            trajectory, in unit².
        reach: r₀, a bound on the distance of the distributed trajectory from every
            pattern.
        eps0: Bound on the kernel error on the ball ‖Δ‖ ≤ √β r₀.
        eps1: Bound on the error of the kernel's derivative on the same ball.
        hypotheses: Name of each hypothesis, and whether it holds.
    """

    bound: float
    tied: float
    A: float
    rho: float
    energy: float
    reach: float
    eps0: float
    eps1: float
    hypotheses: dict[str, bool]

    @property
    def holds(self) -> bool:
        """True if every hypothesis holds."""
        return all(self.hypotheses.values())


@checked
def divergence_bound(
    *,
    D: int,
    K: int,
    Y: int,
    beta: float,
    step_size: float,
    steps: int,
    energy: float | None = None,
    diameter: float = 1.0,
    reach: float = 1.0,
    delta: float = 0.05,
    eps0: float | None = None,
    eps1: float | None = None,
) -> Divergence:
    """Bound on the distance between the states of the exact and of the distributed
    memory after L steps: Theorem 2 of the DrDAM paper, repaired [D-sharp3; D-thm2,
    D-cor1].

    ‖x⁽ᴸ⁾ − x̂⁽ᴸ⁾‖ ≤ ηA(ρᴸ − 1)/(ρ − 1) with probability ≥ 1 − δ over the frequencies,
    with A and ρ as in `Divergence`. The bound is for Algorithm 1's gradient
    (`DrDAM.gradient`), with the floor that `DrDAM` puts under the logarithm. The
    theorem as printed is false for this gradient.

    A bounds the error of the gradient. The larger A is, the further the run can stray
    from its energy level and its tube, the surroundings of the patterns, and the larger
    the error can be there. So each assumed bound gives a new one, and A is the least
    that reproduces itself. With too few frequencies there is none: the hypothesis
    "energy level and tube are consistent" then fails, and the bound is ∞. A is computed
    on the host in double precision. So no argument may be traced by jit, vmap or grad.
    A traced function may use a bound that was computed outside of it.

    Args:
        D: Dimension.
        K: Number of patterns.
        Y: Number of frequencies.
        beta: Inverse temperature, 1/unit².
        step_size: η in (0, 1].
        steps: Number of steps L.
        energy: E(x) of the start, unit²; by default its largest possible value,
            reach²/2 − log(K)/β [D-F22a].
        diameter: d, the largest distance between two patterns; 1 under the paper's
            assumption (A1).
        reach: Largest distance from the start to a pattern; 1 under (A1).
        delta: Probability of failure.
        eps0: Bound on the kernel error, to use instead of `uniform_kernel_error`.
        eps1: Bound on the error of the kernel's derivative, to use instead of
            `uniform_derivative_error`.

    Raises:
        ValueError: If a number is out of range, or traced.

    >>> import rankone as ro
    >>> run = {"D": 10, "K": 5, "beta": 2.0, "step_size": 0.5, "steps": 10}
    >>> small = {**run, "diameter": 0.8, "reach": 0.8}
    >>> record = ro.divergence_bound(Y=400_000, **small)
    >>> record.holds, round(record.bound, 2)
    (True, 0.3)
    >>> record = ro.divergence_bound(Y=1000, **small)
    >>> record.bound, [name for name, holds in record.hypotheses.items() if not holds]
    (inf, ['energy level and tube are consistent'])
    """
    check_counts(D=D, K=K, Y=Y, steps=steps)
    numbers = {
        "beta": beta,
        "step_size": step_size,
        "energy": energy,
        "diameter": diameter,
        "reach": reach,
    }
    refuse_traced("divergence_bound", **numbers, delta=delta, eps0=eps0, eps1=eps1)
    check_probability(delta)
    for name, number in (("beta", beta), ("step_size", step_size)):
        positive(name, number)
    kernel = {
        name: number
        for name, number in (("eps0", eps0), ("eps1", eps1))
        if number is not None
    }
    _not_negative(diameter=diameter, reach=reach, **kernel)
    kappa = beta * diameter**2 / 4
    energy = (
        reach**2 / 2 - log(K) / beta
        if energy is None
        else _energy(energy, -log(K) / beta, beta)
    )
    drift = step_size * steps / 2  # E* − E(x) = drift·A², by the energy-drift lemma
    if kappa < 1:
        # E is strongly convex, which bounds its total rise for any number of steps.
        drift = min(drift, 1 / (2 * (1 - kappa)) + step_size / 2)

    def tube(A: float) -> tuple[float, float, float, float]:
        r0 = max(reach, diameter + A)
        uniform = {"D": D, "Y": Y, "radius": sqrt(beta) * r0, "delta": delta / 2}
        e0 = uniform_kernel_error(**uniform) if eps0 is None else eps0  # type: ignore[arg-type]
        e1 = uniform_derivative_error(**uniform) if eps1 is None else eps1  # type: ignore[arg-type]
        return energy + drift * A**2, r0, e0, e1

    def error(A: float) -> float:
        level, r0, e0, e1 = tube(A)
        return _errors(K, beta, level, r0, diameter, e0, e1)[0]

    A = _least_fixed_point(error)
    level, r0, e0, e1 = tube(A if isfinite(A) else 0.0)
    u = K * e0 * exp(min(beta * level, 700))
    hypotheses = {
        "step size at most 1": step_size <= 1,
        "enough features for the derivative bound": isfinite(e1),
        "kernel error below the partition sum": u < 1,
        "energy level and tube are consistent": isfinite(A),
        "estimate above the logarithm's floor": (1 - u) * exp(-beta * level)
        > sqrt(K / (2 * Y)) / 8,
    }
    growth = kappa - 1
    time = step_size * steps
    rho = 1 + step_size * growth
    ok = all(hypotheses.values())
    bound = A * _growth_sum(step_size, growth, steps) if ok else inf
    return Divergence(
        bound,
        A * _tied(time, growth) if ok else inf,
        A,
        rho,
        level,
        r0,
        e0,
        e1,
        hypotheses,
    )


def _not_negative(**values: float) -> None:
    for name, number in values.items():
        if not (real(name, number, "a number of at least 0") or 0.0) >= 0:
            raise ValueError(
                f"{name}: got {brief(number)}; it must be a number of at least 0."
            )


def _energy(energy: float, minimum: float, beta: float) -> float:
    """`energy` as a number; e^−βE cannot exceed K, but for the rounding of float32."""
    requirement = f"an energy of at least −log(K)/β = {minimum:.4g}"
    number = real("energy", energy, requirement)
    if not (number is not None and number >= minimum - 1e-3 / beta):
        raise ValueError(f"energy: got {brief(energy)}; it must be {requirement}.")
    return float(energy)


def _least_fixed_point(
    error: Callable[[float], float], iterations: int = 10_000
) -> float:
    """Least A with error(A) ≤ A, for an increasing `error`; ∞ if there is none."""
    A = error(0.0)
    for _ in range(iterations):
        if not isfinite(A):
            break
        nxt = error(A)
        if nxt <= A * (1 + 1e-12):
            break
        A = nxt
    A *= _SLACK
    return A if error(A) <= A else inf


def _growth_sum(step_size: float, growth: float, steps: int) -> float:
    """η(ρᴸ − 1)/(ρ − 1) with ρ = 1 + η·growth, without cancellation or overflow."""
    if abs(step_size * growth) < 1e-12:
        return step_size * steps
    exponent = steps * log1p(step_size * growth) if step_size * growth > -1 else -inf
    return expm1(exponent) / growth if exponent < 700 else inf


def _tied(time: float, growth: float) -> float:
    if growth <= 0:
        return min(time, 1 / -growth) if growth < 0 else time
    return expm1(time * growth) / growth if time * growth < 700 else inf
