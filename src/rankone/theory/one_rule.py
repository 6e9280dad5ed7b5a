"""One rule for all writes: a write adds R X KᵀG to a memory, and every method of
writing is a choice of the matrix X [W-rule].

M is a memory (H, F) that reads features, K (F, m) are the features of the keys, V (H,
m) the values, and G (F, F) is the geometry. R = V − MK are the residuals and S = KᵀGK
is the kernel of the keys. U is the part of S above its diagonal. The functions here use
plain double-precision matrices and follow the formulas of the text. `rankone.writes`
implements the rules for practical use.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, ArrayLike, Float
from numpy.typing import NDArray

from rankone._annotated import checked
from rankone._checks import brief, host, instance, not_negative, positive, real
from rankone.precision import double_precision
from rankone.writes import Rule

__all__ = [
    "contraction",
    "delta_layer",
    "dilute_bound",
    "expected_error",
    "first_order_move",
    "matrix_of",
    "overlap",
    "partial_solve",
    "recursive_least_squares",
    "write_one_by_one",
]

Matrix = Float[NDArray, "_ _"]


@checked
def matrix_of(rule: Rule, S: ArrayLike) -> Matrix:
    """Matrix X of a rule of `rankone.writes`, such as `Exact()`, for keys whose kernel
    is S (m, m): the coefficients that the rule gives if the residuals are the identity
    matrix [W-rule].
    """
    instance("rule", rule, Rule, "a rule, such as Exact() or BatchStep()")
    S = _square("S", S)
    with double_precision():
        return np.asarray(_coefficients(rule, np.eye(len(S)), S))


@checked
def partial_solve(
    S: ArrayLike, earlier: float, later: float, slack: float = 0.0
) -> Matrix:
    r"""Matrix X = (diag S + slack·I + earlier·U + later·Uᵀ)⁻¹. Each write subtracts
    fractions of the answers that the earlier and later writes give [W-rule].

    U is the part of S above its diagonal. The fractions (earlier, later) = (0, 0) give
    the batch step and (1, 0) the sequence of delta-rule writes, both at the rates
    1/Sₜₜ. (1, 1) gives the exact write, or with the slack 1/ω the ridge. X also exists
    for all fractions a and b between 0 and 1, with slack s, because for $S\succ0$
    $x^\top X^{-1}x=s\lVert x\rVert^2+(1-\frac{a+b}2)\,x^\top\!\operatorname{diag}(S)\,x
    +\frac{a+b}2\,x^\top Sx>0$.

    Args:
        S: Kernel of the keys (m, m), symmetric.
        earlier: Fraction a of the answers of earlier writes that is subtracted: 1 for
            the delta rule.
        later: Fraction b of the answers of later writes that is subtracted.
        slack: Added to the diagonal, at least 0.
    """
    S = _square("S", S)
    upper_part = np.triu(S, 1)
    lower_part = np.tril(S, -1)
    slack = float(not_negative("slack", slack))
    earlier, later = (
        _number(name, fraction)
        for name, fraction in (("earlier", earlier), ("later", later))
    )
    return np.linalg.inv(
        np.diag(np.diagonal(S) + slack) + earlier * upper_part + later * lower_part
    )


@checked
def write_one_by_one(
    M: ArrayLike,
    K: ArrayLike,
    V: ArrayLike,
    rates: ArrayLike,
    G: ArrayLike | None = None,
) -> Matrix:
    """Memory after the delta rule, M ← M + η (v − Mk) ⊗ Gk, for one pair after another.
    The computation does not use the matrix X [W-rule].

    Args:
        M: Memory before (H, F).
        K: Keys (F, m).
        V: Values (H, m).
        rates: η (m,).
        G: Geometry (F, F); the identity if None.
    """
    M, K, V, G = _problem(M, K, V, G)
    for k, v, rate in zip(K.T, V.T, _rates(rates, K.shape[1]), strict=True):
        M = M + float(rate) * np.outer(v - M @ k, G @ k)
    return np.asarray(M)


@checked
def recursive_least_squares(
    M: ArrayLike, K: ArrayLike, V: ArrayLike, omega: float, G: ArrayLike | None = None
) -> tuple[Matrix, Matrix]:
    """Memory and geometry G after recursive least squares, which updates the geometry
    at each key: G ← G − Gkkᵀ G/(1/ω + kᵀGk) [W-rule].

    Args:
        M: Memory before (H, F).
        K: Keys (F, m).
        V: Values (H, m).
        omega: Weight of each pair, positive.
        G: Geometry before (F, F); the identity if None.
    """
    M, K, V, G = _problem(M, K, V, G)
    positive("omega", omega)
    for k, v in zip(K.T, V.T, strict=True):
        gain = G @ k / (1 / omega + k @ G @ k)
        M = M + np.outer(v - M @ k, gain)
        G = G - np.outer(gain, G @ k)
    return M, G


@checked
def contraction(S: ArrayLike, rates: ArrayLike) -> float:
    """Largest factor by which a round of writes multiplies the residuals, in the norm
    √(r S⁻¹ rᵀ) [W-cycles].

    A round writes every pair once by the delta rule, so that X = (diag(1/η) + U)⁻¹ with
    U the part of S above its diagonal. The factor is ‖I − S^½ X S^½‖. It is below 1 if
    0 < ηₜSₜₜ < 2 for all pairs. The determinant of I − XS is Π(1 − ηₜSₜₜ).

    Args:
        S: Kernel of the keys, symmetric and positive definite.
        rates: η (m,), none of them 0.
    """
    S = _square("S", S)
    if not np.isfinite(S).all():
        raise ValueError("S: got NaN or infinity; it must be finite.")
    values, vectors = np.linalg.eigh(S)
    if not values[0] > 0:
        raise ValueError(
            f"S: got a least eigenvalue of {values[0]:.2g}; "
            "it must be positive definite: remove repeated keys."
        )
    root = vectors * np.sqrt(values) @ vectors.T
    X = np.linalg.inv(np.diag(1 / _nonzero(rates, len(S))) + np.triu(S, 1))
    return float(np.linalg.norm(np.eye(len(S)) - root @ X @ root, 2))


@checked
def overlap(S: ArrayLike) -> float:
    """Total overlap ρ = max_i Σ_{j≠i} |Sᵢⱼ| of one key with all other keys, for Sᵢᵢ = 1
    [W-dilute].

    Args:
        S: Kernel of the keys, symmetric, with ones on its diagonal.
    """
    S = _square("S", S)
    if not np.allclose(np.diagonal(S), 1, atol=1e-6):
        raise ValueError(
            "S: got a diagonal that is not 1; it must be scaled so that each S_ii is 1."
        )
    return float(np.abs(S - np.diag(np.diagonal(S))).sum(1).max())


@checked
def dilute_bound(rho: float) -> float:
    """Bound ρ/(1 − ρ) on the sum of absolute values in any row of S⁻¹ − I or (I + U)⁻¹
    − I; inf for ρ ≥ 1 [W-dilute].

    ρ is the `overlap` of S, whose diagonal is 1, and U the part of S above its
    diagonal.
    """
    rho = float(not_negative("rho", rho))
    return rho / (1 - rho) if rho < 1 else float("inf")


@checked
def expected_error(
    w: ArrayLike,
    S: ArrayLike,
    weights: ArrayLike,
    own: ArrayLike = 1.0,
    noise: float = 0.0,
) -> Float[NDArray, " n"]:
    r"""Mean squared error of the answer R w at a query q, if the residuals R have the
    covariance κ and are stored with noise [W-risk].

    The error is $\kappa(q,q)-2w^\top\kappa(K,q)+w^\top(S+s^2I)w$ with $S=\kappa(K,K)$.
    It is least for $w_*=(S+s^2I)^{-1}\kappa(K,q)$. Any other w has an error that is
    larger by $(w-w_*)^\top(S+s^2I)(w-w_*)$.

    Args:
        w: Weight of each stored residual, one query per column (m, n): such as X κ(K,
            q), normalised or not.
        S: Kernel of the keys (m, m).
        weights: κ(K, q), one query per column (m, n).
        own: κ(q, q), one number, or one for each query (n,).
        noise: Standard deviation s of the noise in the stored values.
    """
    w = _matrix("w", w)
    S = _square("S", S)
    weights = _matrix("weights", weights)
    if w.shape != weights.shape:
        raise ValueError(
            f"w: got shape {w.shape}; it must be that of weights, {weights.shape}."
        )
    if len(w) != len(S):
        raise ValueError(
            f"S: got shape {S.shape}; "
            f"it must be ({len(w)}, {len(w)}), as the weights have {len(w)} rows."
        )
    own = np.asarray(host("own", own), float)
    noise = float(not_negative("noise", noise))
    if own.shape not in ((), w.shape[1:]):
        raise ValueError(
            f"own: got shape {own.shape}; "
            f"it must be one number, or of shape {w.shape[1:]}."
        )
    return own - 2 * (w * weights).sum(0) + (w * (S @ w + noise**2 * w)).sum(0)


@checked
def delta_layer(
    K: ArrayLike, V: ArrayLike, Q: ArrayLike, rates: ArrayLike = 1.0
) -> Matrix:
    """Answers of a layer that writes each pair by the delta rule and then answers the
    query of the same column, computed for all columns at once [W-delta].

    The answers are V X (KᵀQ)△ with X = (D⁻¹ + U)⁻¹, where D is the diagonal matrix of
    the rates, U the part of KᵀK above its diagonal, and △ sets the entries below the
    diagonal to 0: each query reads only the pairs up to its own. With X = D instead the
    layer is linear attention.

    Args:
        K: Keys (F, m).
        V: Values (H, m).
        Q: Queries (F, m). Each is answered right after the pair of its column is
            written.
        rates: η (m,), or one number for all; none of them 0.
    """
    K, V, Q = (_matrix(name, value) for name, value in (("K", K), ("V", V), ("Q", Q)))
    for name, value, shape in (("V", V, (len(V), K.shape[1])), ("Q", Q, K.shape)):
        if value.shape != shape:
            raise ValueError(
                f"{name}: got shape {value.shape}; "
                f"it must be {shape}, one column for each key."
            )
    X = np.linalg.inv(np.diag(1 / _nonzero(rates, K.shape[1])) + np.triu(K.T @ K, 1))
    return V @ X @ np.triu(K.T @ Q)


@checked
def first_order_move(
    f: Callable[[Any, Array], Array],
    params: Any,
    K: Float[Array, "D m"],
    V: Float[Array, "H m"],
    q: Float[Array, " D"],
    rate: float | Float[Array, ""],
) -> Float[Array, " H"]:
    """First-order change of f at q by a step on ½ Σ‖f(k) − v‖²: η Σₜ J(q)J(kₜ)ᵀ rₜ with
    J = ∂f/∂params [W-ttt].

    rₜ = vₜ − f(kₜ) are the residuals before the step. The change is exact if f is
    linear in its parameters. For f = Mφ with the parameters M, the kernel J(q)J(kₜ)ᵀ is
    φ(kₜ)ᵀφ(q) times the identity.

    Args:
        f: (params, key (D,)) -> answer (H,).
        params: A pytree, before the step.
        K: Keys (D, m).
        V: Values (H, m).
        q: Query (D,).
        rate: η.
    """

    def loss(p: Any) -> Array:
        return 0.5 * ((jax.vmap(lambda k: f(p, k), 1, 1)(K) - V) ** 2).sum()

    step = jax.tree.map(lambda g: -g * rate, jax.grad(loss)(params))
    return jax.jvp(lambda p: f(p, q), (params,), (step,))[1]


@jax.jit
def _coefficients(rule: Rule, R: Array, S: Array) -> Array:
    return rule.coefficients(R, S)[0]


def _square(name: str, value: ArrayLike) -> Matrix:
    out = _matrix(name, value)
    if len(out) != out.shape[1]:
        raise ValueError(
            f"{name}: got shape {out.shape}; it must be a square matrix, (m, m)."
        )
    return out


def _problem(
    M: ArrayLike, K: ArrayLike, V: ArrayLike, G: ArrayLike | None
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    M, K, V = (_matrix(name, value) for name, value in (("M", M), ("K", K), ("V", V)))
    if M.shape[1] != len(K):
        raise ValueError(
            f"M: got shape {M.shape}; "
            f"it must be (H, {len(K)}), as the keys are {K.shape}."
        )
    if V.shape != (len(M), K.shape[1]):
        raise ValueError(
            f"V: got shape {V.shape}; "
            f"it must be ({len(M)}, {K.shape[1]}): a value for each key."
        )
    G = np.eye(len(K)) if G is None else _square("G", G)
    if len(G) != len(K):
        raise ValueError(
            f"G: got shape {G.shape}; "
            f"it must be ({len(K)}, {len(K)}), as the keys are {K.shape}."
        )
    return M, K, V, G


def _matrix(name: str, value: ArrayLike) -> Matrix:
    out = np.asarray(host(name, value), float)
    if out.ndim != 2 or out.size == 0:
        raise ValueError(
            f"{name}: got shape {out.shape}; it must be a matrix, not empty."
        )
    return out


def _rates(rates: ArrayLike, m: int) -> Float[NDArray, " m"]:
    out = np.asarray(host("rates", rates), float)
    if out.shape not in ((), (m,)):
        raise ValueError(
            f"rates: got shape {out.shape}; it must be one number, or one for each of {m} pairs."
        )
    return np.broadcast_to(out, m)


def _nonzero(rates: ArrayLike, m: int) -> Float[NDArray, " m"]:
    out = _rates(rates, m)
    if not (np.isfinite(out) & (out != 0)).all():
        raise ValueError(
            f"rates: got {brief(rates)}; it must be finite, and none of them 0."
        )
    return out


def _number(name: str, value: float) -> float:
    number = real(name, value, "one number, known before jit")
    if number is None:
        raise ValueError(
            f"{name}: got {brief(value)}; it must be one number, known before jit."
        )
    return float(value)
