"""Interference of edits, in closed form: with a wrong or an estimated second-moment
matrix, for many keys at once, and for many edits in a row.

The interference of an edit is the sum of the squared changes of the answers at the
stored keys. For a rank-one edit a uᵀ it is ‖a‖²uᵀCu, where C = KKᵀ is the
second-moment matrix of the stored keys K.
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

    C = KKᵀ is not formed: the leverages come from a QR decomposition of Kᵀ. This
    requires that K has full rank.
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

    The interference of an edit along u is J(u), and the direction C⁻¹k has the least:
    $J(u)/J(C^{-1}k)=\frac{u^\top Cu\;k^\top C^{-1}k}{(u^\top k)^2}
    =1+\lVert\delta\rVert_C^2/s$ with $s=k^\top C^{-1}k$ and $\delta=u-C^{-1}k$, if u is
    scaled so that $u^\top k=s$. An error δ in u therefore raises the interference only
    to second order.

    Args:
        C: The true second moments.
        u: Direction of the edit, of any length, with uᵀk ≠ 0.
        k: The edited key.
    """
    return (u @ C @ u) * (k @ jnp.linalg.solve(C, k)) / (u @ k) ** 2


@checked
@jax.jit
def kantorovich(condition: ArrayLike) -> Float[Array, ""]:
    """Largest inflation (1 + κ)²/4κ by a surrogate Ĉ, with κ = cond(Ĉ^(−1/2) C
    Ĉ^(−1/2)) [R-S2].

    The surrogate is used in place of the true second moments C, and κ is the argument
    `condition`.
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
    keys: ((n−D+2)/2, (D−1)/2), for every C and k [R-S3]. Here ρ is the `efficiency`.

    Raises:
        ValueError: If n < D: Ĉ is then singular.
    """
    D = integer("D", D, "a positive length of a key")
    n = integer("n", n, f"at least D={D} keys", least=D)
    return (n - D + 2) / 2, (D - 1) / 2


@checked
def mean_inflation(n: int, D: int) -> float:
    """Mean inflation E 1/ρ = (n − 1)/(n − D) when C is estimated from n keys; it is 2
    at n = 2D − 1 [R-S3]. The keys are Gaussian, of length D.

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
    once in a memory of n other keys: n/(D−m−1) [R-S4]. Here r is the residual of an
    edit, and D the length of a key. The m keys are independent and 𝒩(0, Σ), and C = nΣ
    is the mean of the second-moment matrix of the n keys.

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
    r"""Mean ratio of the interference of an edit in a batch of m keys to that of the
    edit alone, over the batches of m of N keys, for m = 1 … N [R-S7].

    The ratio is $\frac{N-m+1}m\,e_{m-1}/e_m$, where $e_m$ is the elementary symmetric
    polynomial of degree m in the eigenvalues of the matrix $\Gamma$ with the entries
    $\Gamma_{ij}=S_{ij}/\sqrt{S_{ii}S_{jj}}$. It is the mean of
    $\frac1m\operatorname{tr}\Gamma_A^{-1}$ over all batches $A$ of m keys, with weights
    in proportion to $\det\Gamma_A$. The ratio also predicts the interference in batches
    of other keys from the same distribution.

    Args:
        S: Products kᵢᵀC⁻¹kⱼ of the N edited keys.

    Returns:
        One number for each m; 1 for m = 1, and inf where no m of the keys are linearly
        independent.

    Raises:
        ValueError: If S is not square, or a diagonal entry is not positive.
    """
    S = _gram(S, "(N, N): KᵀC⁻¹K")
    lengths = np.sqrt(np.diag(S))
    N = len(S)
    values = np.linalg.eigvalsh(S / np.outer(lengths, lengths))
    log_e = np.concatenate([[0.0], np.full(N, -np.inf)])  # logarithms of e₀ … e_N
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

    The law is $(1-e^{-(T-t)/D})(2-e^{-T/D})$, for isotropic keys, a memory that starts
    empty, and targets of variance 1. About D further edits erase an edit.

    Args:
        t: Number of the edit, from 1.
        T: Total number of edits.
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

    M does not depend on the values. If the residuals before the first edit are
    independent, with mean 0 and one variance, the sequence multiplies the mean squared
    residual of edit i by $\sum_jM_{ji}^2$.

    Args:
        S: Products kᵢᵀC⁻¹kⱼ of the edited keys, in the order they are written, with C
            before the first edit.
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
    # Row i is the row of S at edit i, when the keys before it have entered C.
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
    r"""Norm of the change of the answer to the first key by the second of two edits.

    It is exactly $\lVert r_2\rVert|s_{12}|/[(1+\beta
    s_{11})s_{22}-\beta s_{12}^2]$, with $s_{ij}$ the entries of S.

    Args:
        S: Products kᵢᵀC⁻¹kⱼ of the two edited keys, with C before the first key entered
            it.
        residual: Norm ‖r₂‖ of the residual that the second edit writes.
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
    S = np.asarray(S, float)  # NumPy, because JAX may round to single precision
    if S.shape[0] != S.shape[1]:
        raise ValueError(f"S: got shape {S.shape}; it must be square.")
    least = np.diag(S).min()
    if not least > 0:
        raise ValueError(
            f"S: got a diagonal entry {least:.2g}; it must have a positive diagonal."
        )
    return S
