"""Interference of edits, in closed form: with misjudged and estimated geometries, for
many keys at once, and for many edits in a row.
"""

from math import ceil, inf

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float
from numpy.typing import NDArray

from rankone._annotated import Broadcast, checked
from rankone._checks import array, brief, integer, real

__all__ = [
    "batch_inflation",
    "capacity",
    "efficiency",
    "efficiency_law",
    "forgetting",
    "inflation",
    "kantorovich",
    "leverage",
    "mean_inflation",
    "sample_size",
    "sequence_mixture",
    "sequential_residual",
]


@checked
@jax.jit
def leverage(K: Float[Array, "D n"]) -> Float[Array, " n"]:
    """Leverages hⱼ = kⱼᵀC⁻¹kⱼ in [0, 1] of all keys, which sum to the rank of the keys.
    They are computed by QR of Kᵀ, without C.
    """
    Q = jnp.linalg.qr(K.T)[0]
    return jnp.sum(Q**2, axis=1)


@checked
@jax.jit
def inflation(
    C: Float[Array, "D D"], u: Float[Array, " D"], k: Float[Array, " D"]
) -> Float[Array, ""]:
    r"""Ratio of the interference of an edit along any direction u to the least possible
    interference [R-S2].

    $J(u)/J(C^{-1}k)=\frac{u^\top Cu\;k^\top C^{-1}k}{(u^\top k)^2}=1+\lVert\delta\rVert_C^2/s$
    for $\delta=u-C^{-1}k$, u scaled so that $u^\top k=s$. An error in u raises the
    interference only to second order.

    Args:
        C: The true second moments.
        u: Direction that the edit used, of any length, with uᵀk ≠ 0.
        k: The edited key.
    """
    return (u @ C @ u) * (k @ jnp.linalg.solve(C, k)) / (u @ k) ** 2


@checked
@jax.jit
def kantorovich(condition: ArrayLike) -> Float[Array, ""]:
    """Largest inflation (1 + κ)²/4κ by a surrogate Ĉ, with κ = cond(Ĉ^(−1/2) C
    Ĉ^(−1/2)) [R-S2].
    """
    kappa = jnp.asarray(condition)
    return (1 + kappa) ** 2 / (4 * kappa)


@checked
@jax.jit
def efficiency(
    C: Float[Array, "D D"], C_hat: Float[Array, "D D"], k: Float[Array, " D"]
) -> Float[Array, ""]:
    """Efficiency ρ in (0, 1] of an edit made with the estimate Ĉ: the least possible
    interference over that of the edit [R-S3].
    """
    return 1 / inflation(C, jnp.linalg.solve(C_hat, k), k)


@checked
def efficiency_law(n: int, D: int) -> tuple[float, float]:
    """Parameters (a, b) of the Beta distribution of ρ when Ĉ comes from n Gaussian
    keys: ((n−D+2)/2, (D−1)/2), for every C and k [R-S3].

    Raises:
        ValueError: If n < D: Ĉ is then singular.
    """
    D = integer("D", D, "a positive length of a key")
    n = integer("n", n, f"at least D={D} keys", least=D)
    return (n - D + 2) / 2, (D - 1) / 2


@checked
def mean_inflation(n: int, D: int) -> float:
    """Mean inflation E 1/ρ = (n − 1)/(n − D) when C is estimated from n keys; it is 2
    at n = 2D − 1 [R-S3].

    Raises:
        ValueError: If n ≤ D, where the mean is infinite.
    """
    D = integer("D", D, "a positive length of a key")
    n = integer(
        "n", n, f"more than D={D} keys; with fewer the mean is infinite", least=D + 1
    )
    return (n - 1) / (n - D)


@checked
def sample_size(target: float, D: int) -> int:
    """Least number of keys to estimate C from, for a mean inflation of at most `target`
    > 1 [R-S3].
    """
    D = integer("D", D, "a positive length of a key")
    requirement = "above 1 and finite: only the true C has an inflation of 1"
    target = real("target", target, requirement) or 0.0
    if not 1 < target < inf:
        raise ValueError(f"target: got {brief(target)}; it must be {requirement}.")
    n = ceil((target * D - 1) / (target - 1) - 1e-9)
    return max(n, D + 1)


@checked
def capacity(n: int, D: int, m: int) -> float:
    """Mean interference per edit, divided by ‖r‖², when m random keys are edited at
    once in a memory of n other keys: n/(D−m−1) [R-S4].

    Raises:
        ValueError: If m ≥ D − 1, where the mean is infinite.
    """
    n = integer("n", n, "a positive number of keys")
    D = integer("D", D, "a positive length of a key")
    m = integer(
        "m", m, f"between 1 and D−2={D - 2}: beyond, the mean is infinite", most=D - 2
    )
    return n / (D - m - 1)


@checked
def batch_inflation(S: Float[ArrayLike, "N N"]) -> Float[NDArray, " N"]:
    r"""Ratio of the interference of an edit in a batch of m of N keys to that of the
    edit alone, for m = 1 … N [R-S7].

    $\frac{N-m+1}m\,e_{m-1}/e_m$ with the elementary symmetric polynomials of the
    eigenvalues of $\Gamma_{ij}=s_{ij}/\sqrt{s_{ii}s_{jj}}$: the mean of
    $\frac1m\operatorname{tr}\Gamma_A^{-1}$ over the batches $A$ of m keys, each with a
    weight in proportion to $\det\Gamma_A$. The batches may consist of other keys from
    the same distribution.

    Args:
        S: KᵀC⁻¹K of the N keys.

    Returns:
        One number for each m, 1 for m = 1; inf where m keys are never independent.

    Raises:
        ValueError: If S is not square, or a diagonal entry is not positive.
    """
    S = _gram(S, "(N, N): KᵀC⁻¹K")
    lengths = np.sqrt(np.diag(S))
    N = len(S)
    values = np.linalg.eigvalsh(S / np.outer(lengths, lengths))
    log_e = np.concatenate([[0.0], np.full(N, -np.inf)])  # of e₀ … e_N
    for value in values[values > N * np.finfo(float).eps]:
        log_e[1:] = np.logaddexp(log_e[1:], log_e[:-1] + np.log(value))
    m = np.arange(1, N + 1)
    domain = np.isfinite(log_e[1:])
    ratio = np.exp(
        np.where(domain, log_e[:-1], np.inf) - np.where(domain, log_e[1:], 0.0)
    )
    return (N - m + 1) / m * ratio


@checked
@jax.jit
def sequential_residual(
    t: Broadcast, T: Broadcast, D: Broadcast
) -> Float[Array, "..."]:
    r"""Mean squared residual per output of edit number t < T after T exact edits with C
    fixed, to O(1/D) [R-S5].

    $(1-e^{-(T-t)/D})(2-e^{-T/D})$ for isotropic keys, a memory that starts empty and
    targets of variance 1: about D more edits erase an edit.

    Args:
        t: Number of the edit, from 1.
        T: Edits made altogether.
        D: Length of a key.
    """
    t = jnp.asarray(t, float)
    T = jnp.asarray(T, float)
    return (1 - jnp.exp(-(T - t) / D)) * (2 - jnp.exp(-T / D))


@checked
def sequence_mixture(
    S: Float[ArrayLike, "m m"], beta: float = 0.0
) -> Float[NDArray, "m m"]:
    r"""Matrix M with R′ = RM, which maps the residuals before the first of m single
    edits to those after the last [R-S9].

    M does not depend on the values. If the values are independent and have one
    variance, the mean squared residual of edit i is $\sum_jM_{ji}^2$ of what it was.

    Args:
        S: KᵀC⁻¹K of the keys, in the order they are written.
        beta: Weight with which a written key enters C, as in
            `rankone.editing.sequential_edit`; finite.

    Raises:
        ValueError: If S is not square, its diagonal not positive, or beta is negative
            or not finite.
    """
    S = _gram(S, "(m, m): KᵀC⁻¹K")
    weight = real("beta", beta, "a finite weight, at least 0")
    if not (weight is not None and 0 <= weight < inf):
        raise ValueError(
            f"beta: got {brief(beta)}; it must be a finite weight, at least 0."
        )
    # the row of S that each edit sees, C having learned of those before
    identity = np.eye(len(S))
    rows = S
    if weight:
        L = np.linalg.cholesky(S + identity / weight)
        D = np.diag(L) ** 2
        L = L / np.diag(L)
        rows = (
            np.diag(D - 1 / weight)
            + np.triu((L * D).T, 1)
            - np.tril(np.linalg.inv(L), -1) / weight
        )
    rows = rows / np.diag(rows)[:, None]
    return identity - np.linalg.solve(identity + np.triu(rows, 1), rows)


@checked
@jax.jit
def forgetting(
    S: Float[Array, "2 2"], residual: ArrayLike, beta: ArrayLike = 0.0
) -> Float[Array, ""]:
    r"""Change of the answer to the first key by the second of two edits.

    $\lVert r_2\rVert|s_{12}|/[(1+\beta s_{11})s_{22}-\beta s_{12}^2]$, exactly.

    Args:
        S: Kᵀ C⁻¹ K of the two keys.
        residual: ‖r₂‖ that the second edit has to write.
        beta: Weight with which the first key entered C.
    """
    return (
        jnp.asarray(residual)
        * jnp.abs(S[0, 1])
        / ((1 + beta * S[0, 0]) * S[1, 1] - beta * S[0, 1] ** 2)
    )


def _gram(S: ArrayLike, requirement: str) -> NDArray:
    """The square matrix S, of positive diagonal, in double precision."""
    array("S", S, requirement, 2)
    S = np.asarray(S, float)  # JAX would cut it to single precision
    if S.shape[0] != S.shape[1]:
        raise ValueError(f"S: got shape {S.shape}; it must be square.")
    least = np.diag(S).min()
    if not least > 0:
        raise ValueError(
            f"S: got a diagonal entry {least:.2g}; it must have a positive diagonal."
        )
    return S
