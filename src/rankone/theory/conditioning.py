"""Effect of a Kronecker preconditioner on conditioning, convergence, bias and noise of
a quadratic.

The loss is ½(w − w*)ᵀH(w − w*) with w = vec W and W = TUV, and descent trains U. The
results are theorems, proved in the chapter. On one pair (k, v), with V = C^(-1/2) and T
= I, a step changes W by η (v − Wk)(C⁻¹k)ᵀ. At η = 1/(kᵀC⁻¹k) this is the edit of ROME
[K-rome].
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, Real

from rankone._annotated import checked
from rankone._checks import (
    array,
    brief,
    known,
    not_negative,
    positive,
    renamed,
)
from rankone.preconditioning.kronecker import KroneckerPreconditioner
from rankone.preconditioning.layers import Reparameterized
from rankone.preconditioning.whitening import matrix_power

__all__ = [
    "contraction",
    "implicit_bias",
    "nearest_kronecker",
    "stationary_covariance",
    "steps_to_tolerance",
    "store_pair",
    "whitened_spectrum",
]


@checked
def whitened_spectrum(
    A: Real[ArrayLike, "n n"],
    D: Real[ArrayLike, "m m"],
    T: Real[ArrayLike, "m p"],
    V: Real[ArrayLike, "q n"],
) -> Float[Array, " k"]:
    """Eigenvalues, in decreasing order, of the curvature with respect to U, (VAVᵀ) ⊗
    (TᵀDT), if the curvature with respect to W is A ⊗ D [K-sharp1].

    They are the products of the eigenvalues of the two small matrices, so that
    condition numbers multiply.

    Args:
        A: Input-side factor of the curvature (n, n).
        D: Output-side factor of the curvature (m, m).
        T: Output-side factor of W = TUV (m, p).
        V: Input-side factor of W = TUV (q, n).
    """
    T = array("T", T, "(m, p)", 2)
    V = array("V", V, "(q, n)", 2)
    return _whitened_spectrum(jnp.asarray(A), jnp.asarray(D), T, V)


@jax.jit
def _whitened_spectrum(A: Array, D: Array, T: Array, V: Array) -> Array:
    return KroneckerPreconditioner(T.T @ D @ T, V @ A @ V.T).eigenvalues()


@checked
def steps_to_tolerance(
    eigenvalues: Real[ArrayLike, " k"],
    error: Real[ArrayLike, " k"],
    *,
    tol: float,
    most: int = 1_000_000,
) -> int:
    """Number of steps of gradient descent to a given relative error, at the best fixed
    rate 2/(λ_max + λ_min) [K-sharp1].

    Args:
        eigenvalues: Eigenvalues of the curvature, positive (k,).
        error: Components of the initial error along the eigenvectors (k,).
        tol: Norm of the error to reach, relative to the initial one.
        most: Limit of the search, which stops at the first power of two that is at
            least `most`, and returns it if the error is still too large.
    """
    values = np.asarray(eigenvalues)
    error = np.asarray(error)
    if not values.min() > 0:
        raise ValueError(
            f"eigenvalues: got {brief(float(values.min()))}; "
            "it must be positive, or the error never vanishes."
        )
    factors = np.abs(1 - 2 * values / (values.max() + values.min()))

    def relative_error(steps: int) -> float:
        return float(np.linalg.norm(error * factors**steps) / np.linalg.norm(error))

    low = 0
    high = 1
    while relative_error(high) > tol and high < most:
        low = high
        high = 2 * high
    # The error falls at every step, so bisection finds the first step at which it is
    # at most `tol`.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if relative_error(middle) > tol else (low, middle)
    return high


@checked
def contraction(
    H: Real[ArrayLike, "k k"], H0: Real[ArrayLike, "k k"]
) -> Float[Array, ""]:
    """Contraction per step of descent preconditioned by H0⁻¹: the smallest ρ with (1 −
    ρ)H0 ≼ H ≼ (1 + ρ)H0 [K-sharp2].

    Each step of descent at the rate 1, preconditioned by H0⁻¹, multiplies the error by
    at most ρ in the norm of H0.

    Args:
        H: True curvature (k, k), symmetric.
        H0: Curvature that the preconditioner was made for, positive definite.
    """
    H = array("H", H, "(k, k)", 2)
    H0 = array("H0", H0, "(k, k)", 2)
    return _contraction(H, H0)


@jax.jit
def _contraction(H: Array, H0: Array) -> Array:
    lower = jnp.linalg.cholesky(H0)
    quotient = jnp.linalg.solve(lower, jnp.linalg.solve(lower, H).T)
    return jnp.abs(jnp.linalg.eigvalsh((quotient + quotient.T) / 2) - 1).max()


@checked
def implicit_bias(
    X: Real[ArrayLike, "N n"], Y: Real[ArrayLike, "N m"], V: Real[ArrayLike, "q n"]
) -> Float[Array, "m n"]:
    """Limit of gradient descent on U from zero if many W fit: Yᵀ(XRXᵀ)⁻¹XR with R = VᵀV
    [K-sharp4].

    The limit is the same for every invertible T. If V is invertible too, the limit has
    the smallest ‖T⁻¹WV⁻¹‖_F of all W that fit.

    Args:
        X: Inputs, one per row (N, n), N ≤ n, linearly independent.
        Y: Outputs (N, m).
        V: Input-side factor (q, n), such that XVᵀ has rank N.
    """
    X = array("X", X, "(N, n)", 2)
    Y = array("Y", Y, "(N, m)", 2)
    V = array("V", V, "(q, n)", 2)
    if X.shape[0] > X.shape[1]:
        raise ValueError(
            f"X: got shape {X.shape}; "
            "it must be (N, n) with N ≤ n, so that some W fits exactly."
        )
    return _implicit_bias(X, Y, V)


@jax.jit
def _implicit_bias(X: Array, Y: Array, V: Array) -> Array:
    XR = (X @ V.T) @ V
    return jnp.linalg.solve(XR @ X.T, Y).T @ XR


@checked
def stationary_covariance(
    H: Real[ArrayLike, "k k"],
    C: Real[ArrayLike, "k k"],
    P: Real[ArrayLike, "k k"],
    learning_rate: ArrayLike,
    momentum: ArrayLike = 0.0,
) -> Float[Array, "k k"]:
    """Stationary covariance of w under w ← w − ηP(Hw + noise) with heavy ball
    [K-sharp5].

    It is computed for any P, from a linear system of (2k)² unknowns. For a symmetric P
    the excess loss, ½ tr(H·result), has a closed form, `noise_floor.noise_floor`.

    Let M be the matrix of one step on a pair of successive states. The covariance S of
    the pair solves S = MSMᵀ + Q, where Q is η²PCPᵀ for the newer state and 0 elsewhere.
    The result is the block of S for one state. For P = H⁻¹ and the momentum β it is
    η(1 + β) / ((1 − β)(2(1 + β) − η)) H⁻¹CH⁻¹.

    Args:
        H: Curvature (k, k), positive definite.
        C: Covariance of the gradient's noise (k, k).
        P: Preconditioner (k, k).
        learning_rate: η, small enough that descent converges.
        momentum: β of heavy ball.

    Raises:
        ValueError: If descent diverges at this rate.
    """
    H, C, P = (
        array(name, value, "(k, k)", 2)
        for name, value in (("H", H), ("C", C), ("P", P))
    )
    positive("learning_rate", learning_rate)
    not_negative("momentum", momentum)
    M = _two_states(H, P, jnp.asarray(learning_rate), jnp.asarray(momentum))
    if known(M):
        radius = float(np.abs(np.linalg.eigvals(np.asarray(M))).max())
        if not radius < 1:
            raise ValueError(
                f"learning_rate: got {brief(learning_rate)}; "
                f"it must be smaller: the iteration's spectral radius is {radius:.3g}."
            )
    return _stationary_covariance(M, C, P, learning_rate)


@jax.jit
def _two_states(H: Array, P: Array, learning_rate: Array, momentum: Array) -> Array:
    """Matrix of one step of heavy ball on a state and the one before it (2k, 2k)."""
    eye = jnp.eye(len(H), dtype=H.dtype)
    return jnp.block(
        [
            [(1 + momentum) * eye - learning_rate * P @ H, -momentum * eye],
            [eye, 0 * eye],
        ]
    )


@jax.jit
def _stationary_covariance(
    M: Array, C: Array, P: Array, learning_rate: ArrayLike
) -> Array:
    k = len(C)
    forcing = jnp.zeros_like(M).at[:k, :k].set(learning_rate**2 * P @ C @ P.T)
    solution = jnp.linalg.solve(
        jnp.eye(len(M) ** 2, dtype=M.dtype) - jnp.kron(M, M), forcing.ravel()
    )
    return solution.reshape(M.shape)[:k, :k]


@checked
def nearest_kronecker(
    F: Real[ArrayLike, "mn mn"], shape: tuple[int, int]
) -> tuple[Float[Array, "n n"], Float[Array, "m m"], Float[Array, ""]]:
    """Matrices B (n, n) and A (m, m) for which B ⊗ A is nearest to F, and the relative
    error of this approximation [K-sharp6].

    Rearrange the entries of F so that each block becomes a row. The same rearrangement
    of B ⊗ A has rank one, so the best B and A come from the leading singular pair of
    the rearranged F. If F is positive semidefinite, so are B and A.

    Args:
        F: Matrix (mn, mn) that acts on vec W, in which the columns of W are stacked.
        shape: (m, n), the shape of W.

    Returns:
        B, A, and the relative error ‖F − B ⊗ A‖_F / ‖F‖_F = √(1 − s₁²/Σsᵢ²), with the
        singular values sᵢ of the rearranged F.
    """
    m, n = shape
    F = array("F", F, f"({m * n}, {m * n})", 2)
    if F.shape != (m * n, m * n):
        raise ValueError(
            f"F: got shape {F.shape}; "
            f"it must be ({m * n}, {m * n}), for a matrix of shape {shape}."
        )
    return _nearest_kronecker(F, m, n)


@partial(jax.jit, static_argnames=("m", "n"))
def _nearest_kronecker(F: Array, m: int, n: int) -> tuple[Array, Array, Array]:
    blocks = F.reshape(n, m, n, m).transpose(0, 2, 1, 3).reshape(n * n, m * m)
    left, values, right = jnp.linalg.svd(blocks, full_matrices=False)
    root = jnp.sqrt(values[0]) * jnp.where(
        left[:, 0].reshape(n, n).trace() < 0, -1.0, 1.0
    )
    B = root * left[:, 0].reshape(n, n)
    A = root * right[0].reshape(m, m)
    return B, A, jnp.sqrt(jnp.maximum(1 - values[0] ** 2 / (values**2).sum(), 0))


@renamed(A="C")
@checked
def store_pair(
    W: ArrayLike, C: ArrayLike, k: ArrayLike, v: ArrayLike
) -> Float[Array, "m n"]:
    r"""Weights W after one gradient step on U, with $V=C^{-1/2}$, T = I and the rate
    $1/(k^\top C^{-1}k)$, on $\frac12\|v-Wk\|^2$ [K-rome].

    Of all matrices that map k to v, the result changes the answers to keys of second
    moment C the least, in mean square.

    Args:
        W: Weights (m, n).
        C: Second moment of the keys already stored (n, n), positive definite.
        k: New key (n,).
        v: Its value (m,).

    Raises:
        ValueError: If a shape does not fit, or C is singular.
    """
    W = array("W", W, "(m, n)", 2)
    k = array("k", k, "(n,)", 1)
    v = array("v", v, "(m,)", 1)
    if W.shape != (len(v), len(k)):
        raise ValueError(
            f"W: got shape {W.shape}; it must be ({len(v)}, {len(k)}), from v and k."
        )
    V = matrix_power(C, -0.5)
    if V.shape[0] != len(k):
        raise ValueError(
            f"C: got shape {V.shape}; "
            f"it must be ({len(k)}, {len(k)}), as the key is {k.shape}."
        )
    layer = Reparameterized.from_weight(W, jnp.eye(len(v), dtype=W.dtype), V)
    return _stepped(layer, k, v)


@jax.jit
def _stepped(layer: Reparameterized, k: Array, v: Array) -> Array:
    gradient_U = layer.T.T @ jnp.outer(layer(k) - v, k) @ layer.V.T
    rate = 1 / jnp.sum((layer.V @ k) ** 2)
    return layer.T @ (layer.U - rate * gradient_U) @ layer.V
