"""Second moments C = KKᵀ of the keys that a weight matrix already answers, factored
once and reused for every edit.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, ArrayLike, Float, Int

from rankone._annotated import checked
from rankone._checks import (
    array,
    brief,
    choice,
    concrete,
    host,
    integer,
    is_traced,
    known,
    not_negative,
    numbers,
    real,
    settled,
)
from rankone._mesh import Placement
from rankone._module import Module, assembled
from rankone.checks import Outcome, outcome
from rankone.editing.split import (
    SplitTriangular,
    factor_rows,
    split_difference,
    split_rows,
)
from rankone.editing.triangular import Triangular, condition, of_rows
from rankone.precision import (
    accurate_difference,
    at_least_single,
    canonical,
    full_precision,
    smallest_pivot,
    wider,
)

__all__ = [
    "KeyGeometry",
    "Quality",
    "as_moments",
    "factored",
    "refuse_singular",
    "transposed",
]

_REMEDY = (
    "positive definite: C has no inverse in this precision. Add a ridge (ridge=1e-3 * "
    "trace(C) / D is a start), give it the keys (KeyGeometry.from_keys), or factor in "
    "double (precision='float64', where JAX is set to float64)"
)
_KEYS_REMEDY = (
    "of keys that span all dimensions in this precision: give more keys, or a ridge to "
    "KeyGeometry.from_keys"
)


class KeyGeometry(Module):
    r"""Inner product $a^\top C^{-1}b$ of keys, stored as a triangular factor of C, the
    second moments of the old keys. An edit computed with this inner product has the
    least interference at the old keys [R-eq13].

    $C=\operatorname{diag}(d)\,U^\top U\operatorname{diag}(d)$ with $d_i=\sqrt{C_{ii}}$.
    The scale is divided out first, so that the factor does not depend on the units of C
    or of a key entry [R-scale]. Only the diagonal blocks of U are inverted. With their
    inverses a solve is a sequence of matrix products, which reads U twice.

    Make a geometry with `from_moments` or `from_keys`. `from_keys` is more precise,
    because it never forms C, whose condition number is the square of that of the keys.
    A geometry is a `rankone.writes.FeatureKernel` with the kernel κ(a, b) = aᵀC⁻¹b.

    If C has more than 16,384 rows, and they or its columns are split over a mesh of
    devices, C is factored there: no device ever stores all of C or of U. A smaller C is
    factored as a whole on every device. So is every C that jit traces, because a traced
    array does not say on which devices it lies.

    Attributes:
        factor: U, upper triangular (D, D), stored in blocks or split over devices.
        scale: d (D,).
        C: The matrix itself (D, D), which the refinement in `solve` needs; None if the
            geometry was made from keys.

    >>> import numpy as np, rankone as ro
    >>> geometry = ro.KeyGeometry.from_moments(np.diag([1.0, 4.0]))
    >>> geometry.solve(np.array([1.0, 1.0])).tolist()
    [1.0, 0.25]
    >>> float(geometry.inner(np.array([1.0, 1.0]), np.array([0.0, 2.0])))
    0.5
    """

    factor: Triangular | SplitTriangular
    scale: Float[Array, " D"]
    C: Float[Array, "D D"] | None = None

    @classmethod
    def from_moments(
        cls, C: ArrayLike, *, ridge: ArrayLike = 0.0, precision: str = "input"
    ) -> "KeyGeometry":
        """Geometry of C + ridge·I from its Cholesky factor, in D³/3 operations.

        Args:
            C: Second moments of the keys (D, D): their sum or their mean. The choice
                sets the unit of a ridge, of the weights of later edits (`omega` of
                `batch_edit`, `beta` of `sequential_edit`), and of the interference of
                the edits. The matrix after an exact edit does not depend on this
                choice.
            ridge: Added to the diagonal, in the unit of C; at least 0.
            precision: "input", or "float64" to factor and solve in double precision for
                inputs of any dtype, where JAX is set to float64.

        Raises:
            ValueError: If C is not square, symmetric and finite, or is singular in this
                precision; if `precision` is "float64" where JAX is set to float32.
        """
        choice("precision", precision, ("input", "float64"))
        wide = jnp.result_type(float)
        if precision != "input" and wide != jnp.float64:
            raise ValueError(
                f"precision: got {brief(precision)} where JAX is set to float32; it "
                "must be 'input'; or call this inside `with "
                "rankone.precision.double_precision():`."
            )
        if isinstance(C, KeyGeometry):
            raise ValueError(f"C: got {brief(C)}; it must be an array of real numbers.")
        moments, ridge = _checked_moments(C, ridge)
        assert isinstance(moments, jax.Array)
        moments = moments.astype(wide) if precision == "float64" else moments
        moments, placement = split_rows(moments)
        geometry, quality = _factor(moments, ridge, placement)
        refuse_singular("C", quality, moments, ridge)
        # without a ridge, store C itself and not the copy that jit returns
        plain = isinstance(ridge, float) and ridge == 0
        if not plain:
            return geometry
        return assembled(KeyGeometry, geometry.__dict__ | {"C": moments})

    @classmethod
    def from_keys(cls, K: ArrayLike, *, ridge: ArrayLike = 0.0) -> "KeyGeometry":
        """Geometry of C = KKᵀ + ridge·I from the QR decomposition of Kᵀ (with √ridge·I
        below it). C, whose condition number is the square of that of K, is never
        formed.

        Args:
            K: Keys (D, n), one per column; n ≥ D unless there is a ridge.
            ridge: As in `from_moments`.

        Raises:
            ValueError: If there is no ridge and there are fewer keys than dimensions,
                or the keys do not span all dimensions in this precision.
        """
        K = at_least_single(array("K", K, "(D, n): one key per column", 2))
        ridge = not_negative("ridge", ridge)
        (D, n) = K.shape
        if not (n >= D or not isinstance(ridge, float) or ridge > 0):
            raise ValueError(
                f"K: got {n} keys of length {D}; it must be at least as many keys as "
                "dimensions, or ridge>0; for one key per row give K.T."
            )
        geometry, quality = _from_keys(K, ridge)
        refuse_singular("K", quality)
        return geometry

    def observe(self, keys: ArrayLike, *, weight: ArrayLike = 1.0) -> "KeyGeometry":
        """Geometry of C + weight·keys·keysᵀ, by QR of the factor with the new keys
        below it; C is not formed.

        Args:
            keys: (D, n) or one key (D,).
            weight: Weight of each new key, at least 0; `beta` in `sequential_edit`.

        Raises:
            ValueError: If the keys do not fit, or the factor is split over devices.
        """
        if isinstance(self.factor, SplitTriangular):
            raise ValueError(
                "keys: got keys for a geometry that is split over devices; it must be a "
                "geometry that is not split; update the moments with these keys, and "
                "call from_moments again."
            )
        columns = host("keys", keys)
        K = array(
            "keys",
            columns,
            f"({self.D}, n): one key per column",
            1 if columns.ndim == 1 else 2,
        )
        if K.shape[0] != self.D:
            raise ValueError(
                f"keys: got shape {K.shape}; it must be ({self.D}, n), as long as the "
                f"keys of the geometry{transposed('keys', K.shape, self.D)}."
            )
        not_negative("weight", weight)
        geometry, quality = _observed(canonical(self), K.reshape(self.D, -1), weight)
        refuse_singular("keys", quality)
        return geometry

    @property
    def D(self) -> int:
        """Length of a key."""
        return self.scale.shape[0]

    @property
    def outcome(self) -> Int[Array, ""]:
        """`Outcome.SINGULAR` if C has no inverse in this precision, for use inside jit,
        where no error can be raised.
        """
        return _outcome(self)

    def whiten(self, B: ArrayLike) -> Float[Array, "D ..."]:
        """Whitened keys, (D,) or (D, m): the inner product of two whitened keys is
        aᵀC⁻¹b.
        """
        return _whitened(canonical(self), self._keys("B", B))

    def inner(self, a: ArrayLike, b: ArrayLike) -> Float[Array, "..."]:
        """Kernel κ(a, b) = aᵀC⁻¹b, which says how much an edit at a changes the answer
        at b [R-S6]. a is (D,) or (D, m), and b (D,) or (D, n); the result of two
        matrices is (m, n).
        """
        return _inner(canonical(self), self._keys("a", a), self._keys("b", b))

    @checked
    def features(self, a: Float[Array, "D n"]) -> Float[Array, "D n"]:
        """The keys themselves. With `features` and `dual` the geometry is a
        `rankone.writes.FeatureKernel`.
        """
        return a

    def dual(self, a: ArrayLike) -> Float[Array, "D ..."]:
        """Dual vector C⁻¹a of a key a. An edit at a adds a multiple of it to each row
        of the matrix.
        """
        return _solve(canonical(self), self._keys("a", a), 0)

    def solve(self, B: ArrayLike, *, refine: int = 0) -> Float[Array, "D ..."]:
        """Solution C⁻¹B of a linear system for keys B (D,) or (D, m).

        Args:
            B: Right-hand sides.
            refine: Number of refinement steps, which sum the residual B − CX as if in
                twice the precision. Each step multiplies the relative error by that of
                a solve with the factor, until only the last digits are uncertain. The
                result is then in JAX's default dtype: float64 where that is enabled,
                float32 elsewhere. Refinement needs the C of `from_moments`.

        Raises:
            ValueError: If the geometry came from keys and `refine` is not 0.
        """
        refine = integer("refine", refine, "a number of steps, 0 for none", least=0)
        if refine and self.C is None:
            raise ValueError(
                f"refine: got {brief(refine)}; "
                "it must be 0 for a geometry made from keys: it has no C."
            )
        return _solve(canonical(self), self._keys("B", B), refine)

    def _keys(self, name: str, value: ArrayLike) -> Array:
        keys = numbers(name, value)
        D = self.D
        # `array` would need the message in every call, also where nothing is wrong
        if keys.ndim not in (1, 2) or len(keys) != D:
            raise ValueError(
                f"{name}: got shape {keys.shape}; it must be ({D},) or ({D}, m): keys "
                f"in columns{transposed(name, keys.shape, D)}."
            )
        return keys

    def _scaled(self, B: Array) -> Array:
        scale = (self.scale if B.ndim == 1 else self.scale[:, None]).astype(
            wider(B, self.scale)
        )
        return B.astype(scale.dtype) / scale


def as_moments(
    C: "ArrayLike | KeyGeometry", ridge: ArrayLike = 0.0, W: Array | None = None
) -> "tuple[Array | KeyGeometry, ArrayLike]":
    """C and the ridge in the form that compiled functions take. C is a square array,
    whose values `refuse_singular` checks afterwards, or a geometry; a large C that is
    split over devices becomes a geometry.

    Args:
        C: Second moments (D, D), or a geometry made of them.
        ridge: Added to the diagonal of an array.
        W: Weights (H, D) to which C must fit.
    """
    C, ridge = _checked_moments(C, ridge, W)
    if isinstance(C, KeyGeometry) or split_rows(C)[1] is None:
        return C, ridge
    return KeyGeometry.from_moments(C, ridge=ridge), 0.0


def _checked_moments(
    C: "ArrayLike | KeyGeometry", ridge: ArrayLike = 0.0, W: Array | None = None
) -> "tuple[Array | KeyGeometry, ArrayLike]":
    """`as_moments` without the factorisation."""
    if isinstance(C, KeyGeometry):
        width = C.D
        requirement = "0 with a KeyGeometry: give the ridge to from_moments"
        if real("ridge", ridge, requirement) not in (None, 0):
            raise ValueError(f"ridge: got {brief(ridge)}; it must be {requirement}.")
    else:
        shape = "(D, D): the second moments of the keys"
        if not settled(C):
            C = array("C", C, shape, 2)
        if not (C.ndim == 2 and C.shape[0] == C.shape[1] > 0):
            raise ValueError(f"C: got shape {C.shape}; it must be square, {shape}.")
        width = C.shape[0]
        ridge = not_negative("ridge", ridge)
    if W is not None and W.shape[1] != width:
        D = W.shape[1]
        raise ValueError(
            f"C: got ({width}, {width}); "
            f"it must be ({D}, {D}), as W is {W.shape}; keys go into C one per column."
        )
    if isinstance(C, KeyGeometry):
        return canonical(C), 0.0
    return at_least_single(C), ridge


def transposed(name: str, shape: tuple[int, ...], D: int) -> str:
    """End of an error message: a hint to transpose keys of length D that came one per
    row; empty for any other shape.
    """
    return (
        f"; it has one key per row: give {name}.T"
        if len(shape) == 2 and shape[0] != D == shape[1]
        else ""
    )


# Five numbers: 1 if the product of C with one vector is finite, else 0; the relative
# asymmetry of this product; the condition number of UᵀU; the smallest pivot over the
# largest; and the value up to which that ratio is only rounding error.
Quality = Float[Array, " 5"]


def refuse_singular(
    name: str, quality: Quality | None, C: Any = None, ridge: ArrayLike = 0.0
) -> None:
    """ValueError if C has no inverse. If its values cannot be read, as inside jit,
    `outcome` reports the failure instead.
    """
    if quality is not None and is_traced(quality) and C is not None and known(C, ridge):
        # jit traces another argument. C is concrete, and can be factored and checked.
        quality = concrete(lambda C, ridge: _factor(C, ridge)[1], C, ridge)
    if quality is None or not known(quality):
        return
    finite, skew, size, pivot, least = np.asarray(quality).tolist()
    if not finite:
        raise ValueError(
            f"{name}: got NaN or infinity; "
            "it must be finite; look for missing values in the data."
        )
    if not skew < 1e-3:
        raise ValueError(
            f"{name}: got a relative asymmetry of {skew:.1e}; it must be symmetric."
        )
    remedy = _REMEDY if name == "C" else _KEYS_REMEDY
    if not pivot > least:
        raise ValueError(
            f"{name}: got a smallest pivot of {pivot:.1e} of the largest; "
            f"it must be {remedy}."
        )
    if not size < _worst(quality.dtype):
        raise ValueError(
            f"{name}: got a condition number of {size:.0e}; it must be {remedy}."
        )


def _worst(dtype: Any) -> float:
    # from this condition number on no digit of a solution is right
    return 2 / float(jnp.finfo(dtype).eps)


def _floor(geometry: KeyGeometry) -> float:
    return smallest_pivot(geometry.D, geometry.scale.dtype) ** (
        1 if geometry.C is not None else 2
    )


@jax.jit
def _smallest(factor: Triangular | SplitTriangular) -> Array:
    """Smallest pivot over the largest."""
    pivots = factor.diagonal**2
    return pivots.min() / pivots.max()


@jax.jit
def _outcome(geometry: KeyGeometry) -> Array:
    return outcome((~(_smallest(geometry.factor) > _floor(geometry)), Outcome.SINGULAR))


@partial(jax.jit, static_argnames="placement")
@full_precision()
def _factor(
    C: Array, ridge: ArrayLike, placement: Placement | None = None
) -> tuple[KeyGeometry, Quality]:
    """Geometry of C + ridge·I = diag(d)·UᵀU·diag(d) with dᵢ = √Cᵢᵢ, by Cholesky's
    factorisation; and its `Quality`. U is NaN if no digit of a solution would be right.
    The rows of C may be split over devices.
    """
    probe = jnp.cos(jnp.arange(len(C), dtype=C.dtype))
    rows = C @ probe
    size = jnp.abs(rows).max() + jnp.finfo(C.dtype).tiny
    skew = jnp.abs(rows - probe @ C).max() / size
    C = C + jnp.asarray(ridge, C.dtype) * jnp.eye(len(C), dtype=C.dtype)
    U: Triangular | SplitTriangular
    if placement is None:
        scale = jnp.sqrt(jnp.diagonal(C))
        # C.T equals C. The factorisation works on columns, and with C.T it does not
        # first transpose a row-major array.
        correlations = C.T / scale[None] / scale[:, None]
        U = Triangular.of(jnp.linalg.cholesky(correlations, symmetrize_input=False).T)
    else:
        U, scale = factor_rows(C, placement)
    number = condition(lax.stop_gradient(U))
    good = number < _worst(C.dtype)
    factor = jax.tree.map(lambda leaf: jnp.where(good, leaf, jnp.nan), U)
    least = smallest_pivot(len(C), C.dtype)
    finite = jnp.isfinite(rows).all().astype(C.dtype)
    quality = jnp.stack([finite, skew, number, _smallest(U), least])
    return KeyGeometry(factor, scale, C), quality


def factored(
    C: Array | KeyGeometry, ridge: ArrayLike
) -> tuple[KeyGeometry, Quality | None]:
    """`KeyGeometry` of C + ridge·I, computed inside a compiled function, and the
    `Quality` from which `refuse_singular` judges its factor. A geometry is returned as
    it is, with None.
    """
    return (C, None) if isinstance(C, KeyGeometry) else _factor(C, ridge)


@jax.jit
@full_precision()
def _from_keys(K: Array, ridge: ArrayLike) -> tuple[KeyGeometry, Quality]:
    return _from_rows(jnp.zeros((0, len(K)), K.dtype), K, ridge)


@jax.jit
@full_precision()
def _observed(
    geometry: KeyGeometry, K: Array, weight: ArrayLike
) -> tuple[KeyGeometry, Quality]:
    rows = geometry.factor.dense * geometry.scale[None]  # R with C = RᵀR
    # keys of a narrower dtype must not reduce the precision of the geometry
    K = K.astype(wider(K, rows))
    return _from_rows(rows, jnp.sqrt(jnp.asarray(weight, K.dtype)) * K, 0.0)


def _from_rows(R: Array, K: Array, ridge: ArrayLike) -> tuple[KeyGeometry, Quality]:
    """Geometry of RᵀR + KKᵀ + ridge·I, and how good it is."""
    root = jnp.sqrt(jnp.asarray(ridge, K.dtype)) * jnp.eye(len(K), dtype=K.dtype)
    U, scale = of_rows(jnp.concatenate([R.astype(K.dtype), K.T, root]))
    least = smallest_pivot(len(K), K.dtype) ** 2
    return KeyGeometry(U, scale), jnp.stack([1.0, 0.0, 0.0, _smallest(U), least])


@jax.jit
@full_precision()
def _whitened(geometry: KeyGeometry, B: Array) -> Array:
    return geometry.factor.forward(geometry._scaled(B))


@jax.jit
@full_precision()
def _inner(geometry: KeyGeometry, a: Array, b: Array) -> Array:
    return _whitened(geometry, a).T @ _whitened(geometry, b)


@partial(jax.jit, static_argnames="steps")
@full_precision()
def _solve(geometry: KeyGeometry, B: Array, steps: int) -> Array:
    X = _substituted(geometry, B)
    if steps:
        B = B.astype(float)
        X = X.astype(float)
    for _ in range(steps):
        residual = _difference(geometry, B, X).astype(geometry.scale.dtype)
        X = X + _substituted(geometry, residual).astype(X.dtype)
    return X


def _difference(geometry: KeyGeometry, B: Array, X: Array) -> Array:
    """B − CX, summed as if in twice the precision."""
    assert geometry.C is not None
    placement = getattr(geometry.factor, "placement", None)
    if placement is None:
        return accurate_difference(B, geometry.C, X)
    return split_difference(B, geometry.C, X, placement)


def _substituted(geometry: KeyGeometry, B: Array) -> Array:
    return geometry._scaled(
        geometry.factor.backward(geometry.factor.forward(geometry._scaled(B)))
    )
