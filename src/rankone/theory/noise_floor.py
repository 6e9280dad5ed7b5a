"""Excess loss that noise leaves in the stationary state of descent, compared with the
rate at which descent forgets its start.

The loss is ½wᵀHw. Its gradients contain noise of covariance N, independent from step to
step; P is a preconditioner, and β the momentum of heavy ball. All results are exact and
are proved in the chapter.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, Real

from rankone._annotated import checked
from rankone._checks import array, boolean, brief, positive, readable, real

__all__ = ["lowest_floor", "noise_floor", "slowest_factor"]


@checked
def noise_floor(
    H: Real[ArrayLike, "k k"],
    N: Real[ArrayLike, "k k"],
    P: Real[ArrayLike, "k k"],
    learning_rate: ArrayLike,
    momentum: ArrayLike = 0.0,
) -> Float[Array, ""]:
    r"""Excess loss ½ tr(HS) of w ← w − ηP(Hw + noise) with heavy ball, in the
    stationary state [K-sharp7].

    S is `conditioning.stationary_covariance`, the covariance of w. For a symmetric P
    the excess loss is $\frac12\sum_i\varphi_\beta(h_i)\,q_i^\top
    H^{-1/2}NH^{-1/2}q_i$ with the eigenvectors $q_i$ and eigenvalues $h_i$ of $\eta
    H^{1/2}PH^{1/2}$ and $\varphi_\beta(h)=\frac{h(1+\beta)}{(1-\beta)(2(1+\beta)-h)}$.
    Along each $q_i$ the iteration is a separate recursion with the rate $h_i$, and a
    higher rate leaves more noise.

    Args:
        H: Curvature (k, k), positive definite.
        N: Covariance of the gradient's noise (k, k).
        P: Preconditioner (k, k), symmetric and positive definite.
        learning_rate: η, small enough that descent converges.
        momentum: β of heavy ball, from 0 to below 1.

    Raises:
        ValueError: If a matrix is not definite, the momentum is not in [0, 1), or
            descent diverges at this rate.
    """
    N = array("N", N, "(k, k)", 2)
    rates, noise = _rates(H, N, P, learning_rate, momentum)
    return _floor(rates, noise, momentum)


@checked
def slowest_factor(
    H: Real[ArrayLike, "k k"],
    P: Real[ArrayLike, "k k"],
    learning_rate: ArrayLike,
    momentum: ArrayLike = 0.0,
) -> Float[Array, ""]:
    """Factor per step by which the slowest component of the initial error shrinks: the
    spectral radius of the iteration [K-sharp7].

    Args:
        H: As in `noise_floor`.
        P: As in `noise_floor`.
        learning_rate: As in `noise_floor`.
        momentum: As in `noise_floor`.

    Raises:
        ValueError: As in `noise_floor`.
    """
    rates, _ = _rates(H, H, P, learning_rate, momentum)
    return _radius(rates, momentum)


@checked
def lowest_floor(
    H: Real[ArrayLike, "k k"],
    N: Real[ArrayLike, "k k"],
    factor: ArrayLike,
    *,
    momentum: bool = True,
) -> Float[Array, ""]:
    r"""Least excess loss that any P, rate and momentum can reach if each step
    multiplies the slowest error component by ρ [K-sharp7].

    With momentum the least excess loss is
    $\frac12\mathrm{tr}(H^{-1}N)\frac{(1-\rho)(1+\rho^2)}{(1+\rho)^3}$. It is reached by
    $P=H^{-1}$ at the rate $(1-\rho)^2$ with the momentum $\rho^2$. Without momentum it
    is $\frac12\mathrm{tr}(H^{-1}N)\frac{1-\rho}{1+\rho}$, reached by $P=H^{-1}$ at the
    rate $1-\rho$.

    Args:
        H: As in `noise_floor`.
        N: As in `noise_floor`.
        factor: ρ, as from `slowest_factor`, strictly between 0 and 1.
        momentum: True if heavy ball is allowed.

    Raises:
        ValueError: If the factor is not between 0 and 1.
    """
    H = array("H", H, "(k, k)", 2)
    N = array("N", N, "(k, k)", 2)
    momentum = boolean("momentum", momentum)
    rho = real("factor", factor, "strictly between 0 and 1")
    if not (rho is None or 0 < rho < 1):
        raise ValueError(
            f"factor: got {brief(factor)}; it must be strictly between 0 and 1."
        )
    return _lowest(H, N, factor, momentum)


def _rates(
    H: ArrayLike,
    N: ArrayLike,
    P: ArrayLike,
    learning_rate: ArrayLike,
    momentum: ArrayLike,
) -> tuple[Array, Array]:
    """The rates hᵢ of the separate recursions, ascending, and the variance of the noise
    along the direction of each.
    """
    H, P, N = (
        array(name, value, "(k, k)", 2)
        for name, value in (("H", H), ("P", P), ("N", N))
    )
    for name, value in (("N", N), ("P", P)):
        if value.shape != H.shape:
            raise ValueError(
                f"{name}: got shape {value.shape}; it must be {H.shape}, that of H."
            )
    positive(
        "learning_rate",
        learning_rate,
        "a positive number, small enough that descent converges",
        dtype=H.dtype,
    )
    beta = real("momentum", momentum, "from 0 to below 1")
    if not (beta is None or 0 <= beta < 1):
        raise ValueError(
            f"momentum: got {brief(momentum)}; it must be from 0 to below 1."
        )
    rates, noise = _walks(H, N, P, learning_rate)
    if readable(P):
        matrix = np.asarray(P)
        asymmetry = float(np.abs(matrix - matrix.T).max() / np.abs(matrix).max())
        if not asymmetry <= 1e-3:
            raise ValueError(
                f"P: got asymmetry {asymmetry:.2g}; it must be symmetric; for others "
                "take `conditioning.stationary_covariance`."
            )
    if readable(rates) and beta is not None:
        minimum = float(np.asarray(rates).min())
        maximum = float(np.asarray(rates).max())
        if np.isnan(minimum):
            raise ValueError("H: got no Cholesky factor; it must be positive definite.")
        if not minimum > 0:
            raise ValueError(
                f"P: got ηPH with an eigenvalue {minimum:.3g}; "
                "it must be positive definite."
            )
        if not maximum < 2 * (1 + beta):
            raise ValueError(
                f"learning_rate: got {brief(learning_rate)}; "
                f"it must be below {2 * (1 + beta) / maximum:.3g} times this value."
            )
    return rates, noise


@jax.jit
def _walks(
    H: Array, N: Array, P: Array, learning_rate: ArrayLike
) -> tuple[Array, Array]:
    # With H = LLᵀ, the step on Lᵀw has the symmetric matrix ηLᵀPL, which has the
    # eigenvalues of ηPH.
    root = jnp.linalg.cholesky(H)
    rates, Q = jnp.linalg.eigh(learning_rate * root.T @ P @ root)
    whitened = jnp.linalg.solve(root.T, Q)
    return rates, jnp.sum(whitened * (N @ whitened), axis=0)


@jax.jit
def _floor(rates: Array, noise: Array, momentum: ArrayLike) -> Array:
    variance = rates * (1 + momentum) / ((1 - momentum) * (2 * (1 + momentum) - rates))
    return variance @ noise / 2


@jax.jit
def _radius(rates: Array, momentum: ArrayLike) -> Array:
    """Largest modulus of the roots of z² − (1 + β − h)z + β, over all h."""
    middle = jnp.abs(1 + momentum - rates)
    # 0 where the roots are complex conjugates, whose modulus is √β
    root_gap = jnp.sqrt(jnp.maximum(middle**2 - 4 * momentum, 0))
    return jnp.maximum((middle + root_gap) / 2, jnp.sqrt(momentum)).max()


@jax.jit
def _lowest(H: Array, N: Array, factor: ArrayLike, momentum: ArrayLike) -> Array:
    ratio = (1 - factor) / (1 + factor)
    return (
        jnp.trace(jnp.linalg.solve(H, N))
        / 2
        * ratio
        * jnp.where(momentum, (1 + factor**2) / (1 + factor) ** 2, 1)
    )
