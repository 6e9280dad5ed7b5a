"""A memory that stores keys and residuals and reads them through a kernel."""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float, Int

from rankone._checks import array, boolean, brief, host
from rankone._module import Module
from rankone.precision import full_precision
from rankone.writes.kernels import FeatureKernel, Kernel
from rankone.writes.rules import Exact, Rule
from rankone.writes.write import Write

__all__ = ["KernelMemory", "interpolate"]

_EXACT = Exact()  # made once, because making it takes longer than a small reading


class KernelMemory(Module):
    """Memory of keys K and coefficients R X. Its reading is R X κ(K, q) or, normalised,
    R X κ(K, q) / 1ᵀX κ(K, q) [W-five, W-ratio].

    R are the residuals stored at the keys, κ is the kernel, and the rule of writing
    chooses the matrix X. Use `KernelMemory.store` to make a memory.

    Attributes:
        keys: Keys K (D, m), one per column.
        coefficients: Coefficients R X (H, m).
        ones: Coefficients 1ᵀX (m,) that residuals of 1 would have. A normalised reading
            divides by their answer.
        kernel: Kernel κ.
        outcome: A `rankone.checks.Outcome`.
    """

    keys: Float[Array, "D m"]
    coefficients: Float[Array, "H m"]
    ones: Float[Array, " m"]
    kernel: Kernel
    outcome: Int[Array, ""]

    @classmethod
    def store(
        cls, K: ArrayLike, R: ArrayLike, kernel: Kernel, *, rule: Rule | None = None
    ) -> "KernelMemory":
        """Memory in which the residuals R are written at the keys K.

        Args:
            K: Keys (D, m).
            R: Residuals (H, m): values minus the answers of an earlier memory M₀ at the
                keys, or the values if there is none.
            kernel: Kernel, which says how far a write reaches: any pytree with the
                method `inner` of `Kernel`.
            rule: Rule by which the pairs are written, which chooses X; `Exact()` if
                None.
        """
        return _memory_of(*_arguments(K, R, kernel, rule))

    def read(self, q: ArrayLike, *, normalise: bool = False) -> Float[Array, "H *n"]:
        """Reading R X κ(K, q) at queries q, (D,) or (D, n). If the residuals are those
        of an earlier memory M₀, add its answer M₀φ(q).

        Args:
            q: Queries.
            normalise: True to divide by the answer that residuals of 1 would give. With
                a kernel of two arguments the result is then a ratio of two linear
                memories.
        """
        q = _query(q, len(self.keys))
        return _read(self, q, boolean("normalise", normalise))

    @property
    def write(self) -> Write:
        """The whole memory as one `Write`: a change of a matrix that acts on the
        kernel's features of a query.

        Raises:
            ValueError: If the kernel has no features of finite length.
        """
        if not isinstance(self.kernel, FeatureKernel):
            raise ValueError(
                f"kernel: got {brief(self.kernel)}; it must be a FeatureKernel "
                "(`features` and `dual`): without them no matrix holds the memory."
            )
        return _write_of(self)


def interpolate(
    K: ArrayLike,
    R: ArrayLike,
    q: ArrayLike,
    kernel: Kernel,
    *,
    rule: Rule | None = None,
    normalise: bool = False,
) -> Float[Array, "H *n"]:
    """Readings R X κ(K, q) at queries q of residuals R that are stored at keys K.

    Args:
        K: Keys (D, m).
        R: Residuals (H, m).
        q: Queries (D,) or (D, n).
        kernel: As in `KernelMemory.store`.
        rule: As in `KernelMemory.store`.
        normalise: As in `KernelMemory.read`.

    >>> import numpy as np
    >>> from rankone.writes import BatchStep, Exact, Gaussian, interpolate
    >>> keys, values = np.array([[0.0, 1.0]]), np.array([[1.0, 2.0]])
    >>> kernel = Gaussian(2 * np.log(2))  # a half at distance 1
    >>> for rule in (BatchStep(), Exact()):
    ...     print(np.asarray(interpolate(keys, values, keys, kernel, rule=rule)).round(3))
    [[2.  2.5]]
    [[1. 2.]]
    """
    K, R, kernel, rule = _arguments(K, R, kernel, rule)
    q = _query(q, len(K))
    return _interpolated(K, R, q, kernel, rule, boolean("normalise", normalise))


def _arguments(
    K: ArrayLike, R: ArrayLike, kernel: Kernel, rule: Rule | None
) -> tuple[Array, Array, Kernel, Rule]:
    # isinstance of a protocol takes ten times as long as looking up its one method
    if isinstance(kernel, type) or not callable(getattr(kernel, "inner", None)):
        raise ValueError(
            f"kernel: got {brief(kernel)}; it must be a kernel with the method inner, "
            "such as Gaussian(1.0)."
        )
    if rule is not None and not isinstance(rule, Rule):
        raise ValueError(
            f"rule: got {brief(rule)}; "
            "it must be a rule, such as Exact() or BatchStep()."
        )
    K = array("K", K, "(D, m): one key per column", 2)
    R = array("R", R, "(H, m): one residual per column", 2)
    if R.shape[1] != K.shape[1]:
        raise ValueError(
            f"R: got shape {R.shape}; "
            f"it must be (H, {K.shape[1]}): a residual for each key."
        )
    return K, R, kernel, _EXACT if rule is None else rule


def _query(q: ArrayLike, D: int) -> Array:
    requirement = f"({D}, n): one query per column"
    ndim = q.ndim if isinstance(q, jax.Array) else host("q", q).ndim
    queries = array("q", q, requirement, ndim)
    if queries.ndim not in (1, 2) or queries.shape[0] != D:
        raise ValueError(f"q: got shape {queries.shape}; it must be {requirement}.")
    return queries


@partial(jax.jit, static_argnames="normalise")
def _interpolated(
    K: Array, R: Array, q: Array, kernel: Kernel, rule: Rule, normalise: bool
) -> Array:
    return _read(_memory_of(K, R, kernel, rule), q, normalise)


@jax.jit
def _memory_of(K: Array, R: Array, kernel: Kernel, rule: Rule) -> KernelMemory:
    extended = jnp.concatenate([R, jnp.ones((1, R.shape[1]), R.dtype)])
    coefficients, outcome = rule.coefficients(extended, kernel.inner(K, K))
    return KernelMemory(K, coefficients[:-1], coefficients[-1], kernel, outcome)


def _read(memory: KernelMemory, q: Array, normalise: bool) -> Array:
    return (_ratio if normalise else _sum)(memory, q)


@jax.jit
@full_precision()
def _sum(memory: KernelMemory, q: Array) -> Array:
    return memory.coefficients @ _weights(memory, q)


@jax.jit
@full_precision()
def _ratio(memory: KernelMemory, q: Array) -> Array:
    weights = _weights(memory, q)
    return (memory.coefficients @ weights) / (memory.ones @ weights)[None]


def _weights(memory: KernelMemory, q: Array) -> Array:
    weights = memory.kernel.inner(memory.keys, q.reshape(len(q), -1))
    return weights.reshape(-1, *q.shape[1:])


@jax.jit
def _write_of(memory: KernelMemory) -> Write:
    assert isinstance(memory.kernel, FeatureKernel)
    return Write(
        memory.coefficients, memory.kernel.dual(memory.keys), outcome=memory.outcome
    )
