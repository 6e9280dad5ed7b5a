"""Checks of arguments at the public boundary: every bad input gets a ValueError that says what to try.

Values that jit is tracing are not looked at; shapes and static arguments always are.
"""

from collections.abc import Hashable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike

__all__ = ["array", "as_array", "check", "choice", "is_traced", "numbers", "positive", "random_key"]
__all__ += ["scalar", "states", "whole"]


def is_traced(*values: Any) -> bool:
    """Whether any leaf of `values` has no concrete value yet, because jit, grad or vmap is tracing it."""
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(values))


def check(condition: bool, name: str, got: Any, wanted: str) -> None:
    """Raise a ValueError naming the argument, what it got and what to try, unless `condition` holds."""
    if not condition:
        raise ValueError(f"{name}: got {got!r}; it must be {wanted}.")


def choice(name: str, got: Any, options: Any) -> None:
    """Raise unless `got` is one of the named `options`."""
    check(isinstance(got, Hashable) and got in options, name, got, "one of " + ", ".join(map(repr, options)))


def positive(name: str, value: Any, hint: str = "a positive finite number") -> None:
    """Raise unless `value` is a positive finite scalar."""
    number = scalar(name, value, hint)
    check(number is None or 0 < number < np.inf, name, number, hint)


def scalar(name: str, value: Any, hint: str) -> float | None:
    """`value` as a Python number, None while it is traced; raise unless it is one real number."""
    if is_traced(value):
        return None
    long = isinstance(value, int) and abs(value) >= 2**63  # an object to numpy, and to us a number like others
    number = np.asarray(float(value) if long else value)  # not jnp: inside jit that would trace even a constant
    check(number.ndim == 0 and _real(number.dtype), name, value, hint)
    return float(number)


def whole(name: str, value: Any, hint: str = "a positive integer", least: int = 1) -> int:
    """`value` as a Python integer of at least `least`, if it is one of Python's or numpy's; True is none."""
    counts = isinstance(value, int | np.integer) and not isinstance(value, bool)
    check(counts and int(value) >= least, name, value, hint)
    return int(value)


def random_key(name: str, key: Any) -> None:
    """Raise unless `key` is one JAX random key, new style or old."""
    dtype, shape = getattr(key, "dtype", None), getattr(key, "shape", None)
    new = dtype is not None and jnp.issubdtype(dtype, jax.dtypes.prng_key) and shape == ()
    old = dtype == jnp.uint32 and shape == jax.random.key_data(jax.random.key(0)).shape
    check(new or old, name, key, "a JAX random key, such as jax.random.key(0)")


def as_array(value: Any) -> Any:
    """`value` as an array: a JAX one as it is, another in numpy, where looking at it compiles nothing."""
    return np.asarray(value) if not isinstance(value, jax.Array) and not is_traced(value) else jnp.asarray(value)


def array(name: str, value: ArrayLike, shape: str, ndim: int) -> Array:
    """`value` as a floating JAX array of `ndim` axes with finite entries; `shape` says what was wanted."""
    out = _lifted(name, value)
    check(out.ndim == ndim, name, f"shape {out.shape}", f"an array of shape {shape}")
    check(out.size > 0, name, f"shape {out.shape}", f"a non-empty array of shape {shape}")
    return _finite(name, out)


def states(name: str, value: ArrayLike, D: int) -> Array:
    """`value` as a floating JAX array (..., D) with finite entries."""
    out = _lifted(name, value)
    wanted = f"an array of shape (..., {D}): one state a row, of the length of the stored patterns"
    check(out.ndim >= 1 and out.shape[-1] == D, name, f"shape {out.shape}", wanted)
    return _finite(name, out)


def numbers(name: str, value: ArrayLike) -> Array:
    """`value` as a JAX array of real numbers, of any shape; they are not looked at."""
    out = _lifted(name, value)
    check(_real(out.dtype), name, out.dtype, "an array of real numbers")
    return jax.device_put(out) if isinstance(out, np.ndarray) else out


def _lifted(name: str, value: ArrayLike) -> Array | np.ndarray:
    """`value` as an array of a JAX type; what lies on the host as a numpy copy, to be checked and converted there."""
    try:
        if type(value) not in (np.ndarray, list, tuple) or is_traced(value):
            return jnp.asarray(value)
        host = np.asarray(value)
        return np.array(host, jax.dtypes.canonicalize_dtype(host.dtype))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: got {value!r:.99}; it must be an array of real numbers.") from error


def _real(dtype: Any) -> bool:
    return any(jnp.issubdtype(dtype, kind) for kind in (jnp.bool_, jnp.integer, jnp.floating))


def _finite(name: str, value: Array | np.ndarray) -> Array:
    if not jnp.issubdtype(value.dtype, jnp.floating):
        check(_real(value.dtype), name, value.dtype, "an array of real numbers")
        value = value.astype(jnp.result_type(float))
    if not is_traced(value):
        check(
            bool(np.isfinite(np.asarray(value)).all()),
            name,
            "NaN or infinity",
            "finite; look for missing values in the data",
        )
    # Not jnp.asarray: it compiles a program for every shape. The copy is our own, so that it may be shared.
    return jax.device_put(value) if isinstance(value, np.ndarray) else value
