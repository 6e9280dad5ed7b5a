"""Simulation of the linear model of the ResMem theory: a base model that is too small,
and a memory of its residuals.

For several neighbours the formula of the risk is derived only heuristically; the
simulation measures this risk [S-S5].
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from rankone._annotated import checked
from rankone._checks import (
    Numbers,
    array,
    as_array,
    brief,
    integer,
    not_negative,
    numbers,
    positive,
    random_key,
    real,
)
from rankone._module import Module
from rankone.residual.search import ExactSearch

__all__ = [
    "ERM",
    "LinearRisks",
    "constrained_erm",
    "joint_erm",
    "sample_ball",
    "simulate",
]

# Points are padded to a multiple of this number of coordinates, so that all dimensions
# up to this multiple use one compiled program.
_WIDTH = 8
_AT_ONCE = 10  # data sets simulated at once: more would only take more memory


class ERM(Module):
    """Least-squares solution in a ball, with the multiplier that proves it optimal.

    Attributes:
        theta: θ_n (d,), of norm at most L, the radius of the ball.
        multiplier: λ_n ≥ 0, with (Σ_n + λ_n I) θ_n = Σ_n θ_* if the data have no noise,
            where Σ_n = XᵀX/n and θ_* are the true weights; 0 if the constraint is not
            active. For `joint_erm` the rows of this X are the differences x_i − x_j.
    """

    theta: Float[Array, " d"]
    multiplier: Float[Array, ""]


class LinearRisks(Module):
    """Squared errors against the true function, one for each repetition: arrays (...,
    repetitions) for n (...).

    θ_n are the weights of the base model, θ_* those of the truth, and θ_∞ = Lθ_*. x is
    a test point and x_(1) the mean of its k nearest stored points, for k = 1 the
    nearest one. Squares that contain x are means over the test points.

    Attributes:
        base: ‖θ_n − θ_*‖², the risk of the base model, exactly [S-5.2].
        resmem: Risk of the base plus the remembered residual [S-eq10].
        neighbours: Risk of the neighbours' labels alone [S-remE.1].
        distance: Z_n, the squared distance to the nearest stored point, or the mean
            squared distance to the k neighbours [S-eq11].
        estimation: ‖θ_n − θ_∞‖² [S-eq23, S-eq38].
        cancelled: ⟨θ_n − θ_∞, x − x_(1)⟩², the part of `resmem` that is quadratic in
            the estimation error θ_n − θ_∞ [S-eq22-loose].
        limit: ⟨θ_* − θ_∞, x − x_(1)⟩², the paper's T₂ [S-eq40].
        norm: ‖θ_n‖ [S-eq26].
        multiplier: λ_n, which tends to 1/L − 1 [S-5.2].
    """

    base: Array
    resmem: Array
    neighbours: Array
    distance: Array
    estimation: Array
    cancelled: Array
    limit: Array
    norm: Array
    multiplier: Array


@checked
def sample_ball(n: int, d: int, *, key: Array) -> Float[Array, "n d"]:
    """Points uniform in the ball of radius √(d + 2), where each coordinate has variance
    1 [S-A5.1].
    """
    return _ball(key, n, d)


@partial(jax.jit, static_argnames=("n", "d"))
def _ball(key: Array, n: int, d: int) -> Array:
    return _into_ball(jax.random.normal(key, (n, d + 2)), d)


def _into_ball(normal: Array, d: int | Array) -> Array:
    """Points uniform in the ball of radius √(d + 2) in d dimensions, from rows of at
    least d + 2 standard normal numbers: the first d coordinates of a uniform point on
    the sphere in d + 2 dimensions. The coordinates of the result from d on are zero.
    """
    columns = jnp.arange(normal.shape[1])[None]
    length = jnp.linalg.norm(
        jnp.where(columns < d + 2, normal, 0), axis=1, keepdims=True
    )
    points = jnp.where(columns < d, normal, 0)[:, :-2]
    return jnp.sqrt(jnp.asarray(d + 2, normal.dtype)) * points / length


@checked
def constrained_erm(X: Numbers, y: Numbers, L: Numbers) -> ERM:
    """Least-squares solution over ‖θ‖ ≤ L, from the multiplier of this constraint
    [S-eq7, S-eq25, S-eq26, S-eq27, S-eq28,29].

    With Σ_n = XᵀX/n the solution is θ_n = (Σ_n + λ_n I)⁻¹ Xᵀy/n for the least λ_n ≥ 0
    at which the norm is at most L. The norm decreases with λ, so that bisection finds
    λ_n. The paper prints ‖θ‖² − L in place of ‖θ‖² − L².

    Args:
        X: Inputs (n, d).
        y: Targets (n,).
        L: Radius of the ball, positive.
    """
    positive("L", L)
    return _erm(*_regression(X, y), L)


def _regression(X: Numbers, y: Numbers) -> tuple[Array, Array]:
    inputs = array("X", X, "(n, d): one input per row", 2)
    targets = as_array(y)
    if targets.shape != (len(inputs),):
        raise ValueError(
            f"y: got shape {targets.shape}; "
            f"it must be shape ({len(inputs)},): one per row."
        )
    return inputs, numbers("y", targets)


@jax.jit
def _erm(X: Array, y: Array, L: Numbers) -> ERM:
    return _constrained(
        X.T @ X / len(X), X.T @ y.astype(X.dtype) / len(X), jnp.asarray(L, X.dtype)
    )


def _constrained(Sigma: Array, moment: Array, L: Array) -> ERM:
    """Constrained least-squares weights from Σ_n = XᵀX/n and Xᵀy/n."""
    moments, axes = jnp.linalg.eigh(Sigma)
    b = axes.T @ moment
    null = moments <= len(b) * jnp.finfo(b.dtype).eps * moments[-1]

    def at(lam: Array) -> Array:
        return jnp.where(
            null & (lam <= 0), 0, b / jnp.where(null & (lam <= 0), 1, moments + lam)
        )

    def halve(ends: tuple[Array, Array], _: None) -> tuple[tuple[Array, Array], None]:
        low, high = ends
        middle = (low + high) / 2
        long = jnp.linalg.norm(at(middle)) > L
        return (jnp.where(long, middle, low), jnp.where(long, high, middle)), None

    highest = jnp.linalg.norm(b) / jnp.maximum(L, jnp.finfo(b.dtype).tiny ** 0.5)
    # So many halvings give all digits of λ, unless λ is below eps · highest.
    halvings = 2 * (jnp.finfo(b.dtype).nmant + 1)
    (_, lam), _ = jax.lax.scan(
        halve, (jnp.zeros_like(highest), highest), None, length=halvings
    )
    lam = jnp.where(jnp.linalg.norm(at(jnp.zeros_like(lam))) <= L, 0, lam)
    return ERM(axes @ at(lam), lam)


@checked
def joint_erm(
    X: Numbers, y: Numbers, L: Numbers, *, nearest: Numbers | None = None
) -> ERM:
    """Base model trained jointly with the memory of its residuals: least squares on the
    leave-one-out errors of the sum of both [S-disc].

    If the memory reads the nearest other row j, the error at x_i is ⟨θ, x_i − x_j⟩ −
    (y_i − y_j). Joint training is therefore least squares on differences. With many
    uniform points it minimises the Dirichlet energy of the residual, the mean of its
    squared gradient, and not its mean square [S-sharp4].

    Args:
        X: Inputs (n, d), or features of them.
        y: Targets (n,).
        L: Radius of the ball, positive.
        nearest: Index of the nearest other row, for each row (n,). By default it is
            searched among the rows of X. Pass it if X are features of the points, and
            the neighbours are those of the points themselves.
    """
    positive("L", L)
    X, targets = _regression(X, y)
    j = (
        ExactSearch(X).search(X, 2).indices[:, 1]
        if nearest is None
        else numbers("nearest", nearest)
    )
    rows = j.shape == (len(X),) and jnp.issubdtype(j.dtype, jnp.integer)
    if not rows:
        raise ValueError(
            f"nearest: got {j.dtype} of shape {j.shape}; "
            f"it must be shape ({len(X)},): the row nearest to each."
        )
    return _erm(*_differences(X, targets, j), L)


@jax.jit
def _differences(X: Array, y: Array, j: Array) -> tuple[Array, Array]:
    return X - X[j], y - y[j]


@checked
def simulate(
    n: Numbers,
    d: int,
    L: float,
    *,
    key: Array,
    repetitions: int = 100,
    queries: int = 100,
    noise: float = 0.0,
    k: int = 1,
    split: bool = False,
) -> LinearRisks:
    """Risks in repetitions of the paper's experiment [S-A5.2, S-eq8,9]: y = ⟨θ_*, x⟩
    with ‖θ_*‖ = 1, and a base model with ‖θ‖ ≤ L.

    Args:
        n: Number of stored examples, or several numbers. Several use nested data sets
            and one compiled program.
        d: Dimension.
        L: Radius of the base model's class, in [0, 1): below 1 the class does not
            contain the truth.
        key: JAX random key.
        repetitions: Number of independent data sets.
        queries: Number of test points for each data set.
        noise: Variance σ² of Gaussian noise on the labels. The errors are measured
            against the truth without noise.
        k: Number of neighbours, equally weighted.
        split: True if the base model learns from n other examples than those that the
            memory stores [S-S2].
    """
    sizes = np.asarray(n)
    small = real("L", L, "in [0, 1): the base model must be too small")
    if not (small is None or 0 <= small < 1):
        raise ValueError(
            f"L: got {brief(L)}; "
            "it must be in [0, 1): the base model must be too small."
        )
    not_negative("noise", noise, "a variance: a finite number of at least 0")
    positive = sizes.size > 0 and sizes.dtype.kind in "iu" and bool(sizes.min() >= 1)
    if not positive:
        raise ValueError(f"n: got {brief(n)}; it must be positive integers.")
    counts = {"d": d, "repetitions": repetitions, "queries": queries}
    d, repetitions, queries = (integer(name, count) for name, count in counts.items())
    k = integer(
        "k",
        k,
        "a positive number of neighbours, not above the least n",
        most=int(sizes.min()),
    )
    random_key("key", key)
    width = -(-d // _WIDTH) * _WIDTH
    shape = int(sizes.max()), width, queries, k, bool(split)
    risks = _simulate(
        numbers("n", sizes.ravel()),
        jax.random.split(key, repetitions),
        d,
        L,
        noise,
        *shape,
    )
    return jax.tree.map(lambda part: part.reshape(*sizes.shape, repetitions), risks)


@partial(jax.jit, static_argnums=(5, 6, 7, 8, 9))
def _simulate(
    sizes: Array,
    keys: Array,
    d: Array,
    L: float,
    noise: float,
    most: int,
    width: int,
    queries: int,
    k: int,
    split: bool,
) -> LinearRisks:
    def repeat(key: Array) -> LinearRisks:
        # All random numbers come from one draw, because each further draw takes as long
        # to compile as the rest of the program.
        normal = jax.random.normal(key, ((1 + split) * most + queries, width + 3))
        X = _into_ball(normal[:most, 1:], d)
        y_noise = normal[:most, 0]
        q = _into_ball(normal[most : most + queries, 1:], d)
        y = X[:, 0] + jnp.sqrt(noise) * y_noise  # θ_* = e₁: the points are isotropic
        learning_points = _into_ball(normal[most + queries :, 1:], d)
        learn_from = (learning_points, learning_points[:, 0]) if split else (X, y)
        # All distances, because with so few coordinates per point no search is faster.
        square = ((q[:, None] - X[None]) ** 2).sum(-1)
        return jax.lax.map(
            lambda n: _measure(n, X, y, q, square, learn_from, L, k), sizes
        )

    # Batches have one size, because a remainder would compile a second program.
    at_once = next(b for b in range(_AT_ONCE, 0, -1) if len(keys) % b == 0)
    return jax.tree.map(
        lambda part: part.T, jax.lax.map(repeat, keys, batch_size=at_once)
    )


def _measure(
    n: Array,
    X: Array,
    y: Array,
    q: Array,
    square: Array,
    learn_from: tuple[Array, Array],
    L: float,
    k: int,
) -> LinearRisks:
    """The errors when only the first n rows are known."""
    active = jnp.arange(len(X)) < n
    Z = jnp.where(active[:, None], learn_from[0], 0)
    count = n.astype(X.dtype)
    erm = _constrained(
        Z.T @ Z / count, Z.T @ learn_from[1] / count, jnp.asarray(L, X.dtype)
    )
    square = jnp.where(active[None], square, jnp.inf)
    neighbours = square.argmin(1)[:, None] if k == 1 else jax.lax.top_k(-square, k)[1]

    def neighbour_mean(values: Array) -> Array:
        return values[neighbours].mean(1)

    truth = jnp.zeros(X.shape[1], X.dtype).at[0].set(1)
    step = q - X[neighbours].mean(1)
    error = q @ (erm.theta - truth) + neighbour_mean(y - X @ erm.theta)
    return LinearRisks(
        base=((erm.theta - truth) ** 2).sum(),
        resmem=(error**2).mean(),
        neighbours=((neighbour_mean(y) - q[:, 0]) ** 2).mean(),
        distance=jnp.take_along_axis(square, neighbours, 1).mean(),
        estimation=((erm.theta - L * truth) ** 2).sum(),
        cancelled=((step @ (erm.theta - L * truth)) ** 2).mean(),
        limit=((step[:, 0] * (1 - L)) ** 2).mean(),
        norm=jnp.linalg.norm(erm.theta),
        multiplier=erm.multiplier,
    )
