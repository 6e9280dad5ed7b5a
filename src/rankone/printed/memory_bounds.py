"""The bounds on the divergence of the two memories, and the proofs of their lemmas, as
the paper prints them.

The bounds are base-10 logarithms. Each line of a proof is an inequality. For each line
the functions return the left side divided by the right side, and the line is true where
this ratio is at most 1. The code follows the paper line by line and is not optimised.
"""

from math import comb, exp, log, log1p, sqrt

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.special import lambertw

from rankone._annotated import checked
from rankone._checks import brief, positive
from rankone.memory.distributed import DrDAM
from rankone.memory.exact import MrDAM
from rankone.theory.drift import Drift, kernel_gap
from rankone.theory.kernel_error import check_counts, check_probability

__all__ = [
    "gronwall_coefficients",
    "lemma_2",
    "lemma_3",
    "log10_corollary",
    "log10_gronwall",
    "log10_lipschitz",
    "log10_theorem",
    "rahimi_recht",
    "recursion",
]


@checked
@jax.jit
def lemma_2(
    memory: MrDAM, x: Float[Array, "N D"], z: Float[Array, "N D"]
) -> dict[str, Array]:
    """Ratio of the two sides of each of eqs 18 to 27 [D-eq18, D-eq19-21, D-eq22,
    D-eq23, D-eq24-26, D-eq27] at pairs of states of the cube
    [0, 1/√D]^D.

    "eq18" is not a ratio: it is the largest difference between ∇E and x − sm(−β‖x −
    ξ^μ‖²/2)Ξ, with sm the softmax over μ. Eq. 22 is evaluated with the spectral norm
    ‖Ξ‖₂, and eq. 26 with its printed factor 4.

    Args:
        memory: The exact memory.
        x: States (N, D).
        z: States, as many as x.
    """
    Xi, beta, K = memory.Xi, memory.beta, len(memory.Xi)

    def square(y: Array) -> Array:
        return ((y[:, None] - Xi[None]) ** 2).sum(-1)

    sm_x, sm_z = (jax.nn.softmax(-beta / 2 * square(y)) for y in (x, z))
    gradients = _length(memory.gradient(x) - memory.gradient(z))
    change = jnp.abs(sm_x - sm_z).sum(-1)
    shift = _length(x - z)
    logits = beta / 2 * jnp.abs(square(z) - square(x)).sum(-1)
    return {
        "eq18": jnp.abs(memory.gradient(x) - (x - sm_x @ Xi)).max(),
        "eq19-21": gradients / (shift + _length((sm_x - sm_z) @ Xi)),
        "eq22": _length((sm_x - sm_z) @ Xi) / (change * jnp.linalg.norm(Xi, 2)),
        "eq23": change / (jnp.exp(beta / 2) / K * logits),
        "eq24-26": logits / (2 * beta * K * shift),
        "eq27": gradients / ((1 + 2 * K * beta * jnp.exp(beta / 2)) * shift),
    }


@checked
@jax.jit
def lemma_3(memory: MrDAM, copy: DrDAM, x: Float[Array, "N D"]) -> dict[str, Array]:
    """Ratio of the two sides of each of eqs 35 to 47 [D-eq35-37, D-eq39-42, D-eq43-46,
    D-eq47], with ε₀ the largest kernel error at these states.

    The proof of eqs 43 to 46 needs k̂ ≥ 0. Where k̂ is negative the ratio may exceed 1.

    Args:
        memory: The exact memory.
        copy: Its distributed copy.
        x: States (N, D).
    """
    gap = kernel_gap(copy, memory.Xi, x)
    k = jnp.exp(-memory.beta / 2 * ((x[:, None] - memory.Xi[None]) ** 2).sum(-1))
    S = k.sum(-1, keepdims=True)
    S_hat = (k + gap).sum(-1, keepdims=True)
    error = _length(k @ memory.Xi / S - (k + gap) @ memory.Xi / S_hat)
    first = _length(gap @ memory.Xi / S)
    second = _length((k + gap) @ memory.Xi * (1 / S - 1 / S_hat))
    bound = jnp.abs(gap).max() * len(memory.Xi) / S[:, 0]
    return {
        "eq35-37": error / (first + second),
        "eq39-42": first / bound,
        "eq43-46": second / bound,
        "eq47": error / (2 * bound),
    }


@checked
@jax.jit
def recursion(memory: MrDAM, run: Drift) -> dict[str, Array]:
    """Ratio of the two sides of eqs 48 to 54 at each step of a `Drift` [D-eq48-53,
    D-eq54]: the distance over Σd⁽ᵗ⁾, and d⁽ᵗ⁾ over its bound η‖∇E(x) − ∇E(x̂)‖ +
    η‖∇E(x̂) − ∇Ê(x̂)‖ at step t, where d⁽ᵗ⁾ is the norm of the change of x⁽ᵗ⁾ − x̂⁽ᵗ⁾
    in one step.
    """
    gap = run.exact - run.distributed
    steps = jnp.linalg.norm(jnp.diff(gap, axis=0), axis=-1)
    gradient_change = jnp.linalg.norm(
        memory.gradient(run.exact[:-1]) - memory.gradient(run.distributed[:-1]), axis=-1
    )
    return {
        "eq48-53": run.distance[1:] / jnp.cumsum(steps, axis=0),
        "eq54": steps / (run.step_size * (gradient_change + run.errors)),
    }


def _length(v: Array) -> Array:
    return jnp.linalg.norm(v, axis=-1)


_LOG10 = log(10)


@checked
def log10_lipschitz(*, beta: float, K: int) -> float:
    """Logarithm (base 10) of the printed Lipschitz constant B = 1 + 2Kβe^(β/2)
    [D-lem2]. The best constant is `error_law.lipschitz`.
    """
    _check_numbers(beta=beta)
    check_counts(K=K)
    return _log_B(beta, K) / _LOG10


@checked
def log10_theorem(
    *, beta: float, K: int, energy: float, eps0: float, step_size: float, steps: int
) -> float:
    """Logarithm (base 10) of the bound of Theorem 2, the right side of eq. 12 [D-thm2,
    D-eq12].

    Args:
        beta: Inverse temperature, 1/unit².
        K: Number of patterns.
        energy: E(x) of the start, unit².
        eps0: Kernel error, the paper's C₁√(D/Y).
        step_size: η.
        steps: Number of steps L.
    """
    _check_numbers(beta=beta, eps0=eps0, step_size=step_size)
    check_counts(K=K, steps=steps)
    log_q = log(step_size * steps) + _log_B(beta, K)
    lead = log(2 * step_size * steps * K * eps0) + beta * energy
    return (lead + _log_geometric(log_q, steps)) / _LOG10


@checked
def log10_corollary(*, beta: float, energy: float, eps0: float, C2: float) -> float:
    """Logarithm (base 10) of the bound of Corollary 1, the right side of eq. 13, for η
    = C₂/(LB) [D-cor1, D-eq13].

    Here C₂ < 1 is the argument `C2`, L the number of steps, and B the constant of
    `log10_lipschitz`. The other arguments are as in `log10_theorem`.
    """
    _check_numbers(beta=beta, eps0=eps0, C2=C2)
    if not C2 < 1:
        raise ValueError(f"C2: got {brief(C2)}; it must be below 1.")
    return (log(eps0 * C2 / (beta * (1 - C2))) + beta * (energy - 0.5)) / _LOG10


@checked
def log10_gronwall(u: float, steps: int) -> tuple[float, float]:
    """Logarithms (base 10) of Σ_j C(L, j+1)uʲ = ((1+u)ᴸ − 1)/u, which times ηA solves
    the recursion, and of the printed LΣ_j(Lu)ʲ [D-eq56-58].

    Args:
        u: ηB; one step multiplies a distance by at most 1 + u.
        steps: Number of steps L.
    """
    _check_numbers(u=u)
    check_counts(steps=steps)
    exponent = steps * log1p(u)
    exact = exponent + log1p(-exp(-exponent)) - log(u)
    return exact / _LOG10, (log(steps) + _log_geometric(log(steps * u), steps)) / _LOG10


@checked
def rahimi_recht(*, D: int, Y: int, radius: float, delta: float = 0.05) -> float:
    """Kernel error ε by Claim 1 of Rahimi and Recht 2007, 2⁸(√D R/ε)² exp(−Yε²/4(D +
    2)) = δ, for comparison with `net_error` [D-U0].

    Args:
        D: Dimension.
        Y: Number of frequencies.
        radius: R, the diameter of the set of inputs, hence the largest ‖Δ‖.
        delta: Probability of failure.
    """
    check_counts(D=D, Y=Y)
    check_probability(delta)
    rate = Y / (4 * (D + 2))
    return sqrt(lambertw(2**8 * D * radius**2 * rate / delta).real / rate)


@checked
def gronwall_coefficients(steps: int) -> dict[str, list[int]]:
    """Coefficients of ηA(ηB)ʲ after L steps: those of the recursion ("exact"), of eq.
    56 ("eq56") and of eq. 57 ("eq57") [D-eq56-58].

    The recursion D⁽ᵗ⁺¹⁾ = (1 + ηB)D⁽ᵗ⁾ + ηA with D⁽⁰⁾ = 0 bounds the distance of the
    two runs. A bounds the error of the gradient, and B is the Lipschitz constant of ∇E.
    """
    # eq. 56 without its outermost sum
    nested = [comb(steps + j - 1, j) for j in range(steps)]
    return {
        "exact": [comb(steps, j + 1) for j in range(steps)],
        "eq56": [steps, comb(steps + 1, 2), *(steps * n for n in nested[2:])][:steps],
        "eq57": [steps ** (j + 1) for j in range(steps)],
    }


def _check_numbers(**values: float) -> None:
    for name, number in values.items():
        positive(name, number)


def _log_B(beta: float, K: int) -> float:
    return float(np.logaddexp(0, log(2 * K * beta) + beta / 2))


def _log_geometric(log_q: float, steps: int) -> float:
    """Logarithm of Σ_{j<L} qʲ."""
    return float(np.logaddexp.reduce(log_q * np.arange(steps)))
