"""Checks of the arguments of public functions. A bad argument raises a ValueError that
names the argument and suggests a fix.

Shapes and static arguments are always checked. Values are checked where that is free,
as `rankone.checks` describes, and never while jit traces them.

A function may be called with concrete arrays inside a program that the caller's jit,
scan or pmap is tracing. JAX then traces every operation on these arrays, so that the
result has no value, although the operands have one. Values are therefore checked in
NumPy, by `np.asarray` of an array that is `readable` or `known`, or by `concrete`,
which runs a function of JAX on known arrays outside the trace.

Annotations, and therefore beartype, cannot state conditions on values. All checks are
in one file, so that every function treats a number of Python, NumPy or JAX, known or
traced, in the same way.
"""

import math
import mmap
import operator
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import ContextDecorator, suppress
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, TypeGuard

import jax
import jax.numpy as jnp
import numpy as np
from jax.dtypes import canonicalize_dtype
from jax.sharding import AxisType, get_abstract_mesh
from jaxtyping import Array, ArrayLike

from rankone._axes import is_explicit, on_automatic

__all__ = [
    "Numbers",
    "aligned",
    "array",
    "as_array",
    "boolean",
    "brief",
    "choice",
    "concrete",
    "copied",
    "enabled",
    "floating",
    "host",
    "inputs",
    "instance",
    "integer",
    "is_traced",
    "is_tracing",
    "known",
    "mask",
    "not_negative",
    "numbers",
    "pieces",
    "positive",
    "random_key",
    "readable",
    "real",
    "refuse_traced",
    "release",
    "renamed",
    "scalar",
    "settled",
    "states",
    "vectors",
]

enabled: ContextVar[bool] = ContextVar("value_checks", default=True)
_MOST = 2**31 - 1  # largest size or index in JAX
_ALIGNMENT = 64  # bytes, as XLA requires of a buffer on the host
_PIECE = 2**22  # bytes checked at a time
# numbers in an array, or in nested lists that numpy converts
Numbers = ArrayLike | float | Sequence[Any]


def is_traced(*values: Any) -> bool:
    """True if any leaf of `values` is being traced by jit, grad or vmap, and so has no
    concrete value.
    """
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(values))


def is_tracing() -> bool:
    """True if every operation is being traced, as in the body of a function under jit or
    scan, so that results have no value, although their operands may have one.
    """
    return isinstance(_nothing(), jax.core.Tracer)


def refuse_traced(title: str, **arguments: Any) -> None:
    """ValueError if an argument is traced. `title` is the name of the calling function,
    which computes on the host.
    """
    for name, value in arguments.items():
        if is_traced(value):
            raise ValueError(
                f"{name}: got a traced value; it must be known: {title} computes on "
                "the host, so call it outside of jit, vmap and grad, or close over a "
                "number."
            )


class renamed(ContextDecorator):
    """Context manager or decorator that renames an argument in errors: with
    `renamed(rows="embeddings")` an error about `rows` names `embeddings`. An error
    begins with the name of an argument, or of a part of it such as `rows[1]`, and a
    colon.
    """

    # a class, because `contextlib.contextmanager` takes four times as long

    def __init__(self, **names: str) -> None:
        self.names = names

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, _: Any) -> None:
        if not isinstance(error, ValueError):
            return
        name, _, problem = str(error).partition(": ")
        for inner, outer in self.names.items():
            if name == inner or name.startswith((f"{inner}[", f"{inner}.")):
                part = name.removeprefix(inner)
                raise ValueError(f"{outer}{part}: {problem}") from error


def readable(*values: Any) -> bool:
    """True if checks of values are on and all leaves are concrete and on the host, so
    that reading the leaves costs nothing.
    """
    if not enabled.get():
        return False
    for value in values:
        # nearly every call passes an array, whose only leaf is the array itself
        leaves = (value,) if isinstance(value, jax.Array) else jax.tree.leaves(value)
        if not all(map(_on_host, leaves)):
            return False
    return True


def known(*values: Any) -> bool:
    """True if all leaves are concrete and on this machine, and checks of values are
    on.
    """
    return (
        enabled.get()
        and not is_traced(values)
        and all(
            getattr(leaf, "is_fully_addressable", True)
            for leaf in jax.tree.leaves(values)
        )
    )


def concrete(function: Callable[..., Any], *values: Any) -> Any:
    """Result of `function` as NumPy arrays, for values that are `known`, even while jit
    traces the calling code.
    """
    result = function(*values)
    # only for a traced result: outside of a trace, this context would compile each
    # operation of `function`
    if is_traced(result):
        with jax.ensure_compile_time_eval():
            result = function(*values)
    return jax.tree.map(np.asarray, result)


def choice(name: str, value: Any, options: Any) -> None:
    """ValueError unless `value` is one of the named `options`."""
    if not isinstance(value, Hashable) or value not in options:
        raise ValueError(
            f"{name}: got {brief(value)}; it must be one of "
            f"{', '.join(map(repr, options))}."
        )


def boolean(name: str, value: Any) -> bool:
    """`value` if it is a boolean of Python's or numpy's."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}: got {brief(value)}; it must be True or False.")
    return bool(value)


def instance(name: str, value: Any, kind: Any, requirement: str) -> None:
    """ValueError unless `value` is an instance of a class or protocol."""
    if not isinstance(value, kind) or isinstance(value, type):
        raise ValueError(f"{name}: got {brief(value)}; it must be {requirement}.")


def integer(
    name: str,
    value: Any,
    hint: str = "a positive integer",
    *,
    least: int = 1,
    most: int = _MOST,
) -> int:
    """`value` as a Python integer from `least` to `most`. Python and NumPy integers are
    accepted; booleans and floats such as 3.0 are not.
    """
    number = None
    with suppress(TypeError):
        number = None if isinstance(value, bool | np.bool_) else operator.index(value)
    if number is None:
        raise ValueError(f"{name}: got {brief(value)}; it must be {hint}.")
    if number < least:
        raise ValueError(f"{name}: got {brief(value)}; it must be {hint}.")
    if number > most:
        raise ValueError(
            f"{name}: got {brief(value)}; it must be {hint}, at most {most:,}."
        )
    return number


def real(name: str, value: Any, hint: str, *, dtype: Any = None) -> float | None:
    """`value` as a Python number, rounded to `dtype` if one is given; None if the value
    cannot be read (it is traced, or not on the host).

    Raises:
        ValueError: If the value is not one real number, but a boolean, NaN, a complex
            number, a text, or an array of several numbers.
    """
    # nearly every call passes a float; NaN, which differs from itself, is refused below
    if type(value) is float and value == value:
        return value if dtype is None else _rounded(np.float64(value), dtype)
    if is_traced(value) or (isinstance(value, jax.Array) and not _on_host(value)):
        if jnp.ndim(value) != 0:
            raise ValueError(
                f"{name}: got shape {jnp.shape(value)}; it must be {hint}."
            )
        return None
    # numpy stores an integer of more than 64 bits as an object
    if isinstance(value, int) and not isinstance(value, bool):
        value = (
            float(value) if abs(value) < 2**1023 else np.inf if value > 0 else -np.inf
        )
    number = np.asarray(None)
    with suppress(ValueError):  # rows of different lengths
        number = np.asarray(value)
    is_number = (
        number.ndim == 0
        and number.dtype != bool
        and _is_real(number.dtype)
        and not np.isnan(number)
    )
    if not is_number:
        raise ValueError(f"{name}: got {brief(value)}; it must be {hint}.")
    return float(number) if dtype is None else _rounded(number, dtype)


def positive(
    name: str, value: Any, hint: str = "a positive finite number", *, dtype: Any = None
) -> None:
    """ValueError unless `value` is a positive finite scalar, also once it is rounded to
    `dtype`.
    """
    number = real(name, value, hint, dtype=dtype)
    # processors may treat smaller numbers as 0
    least = 0.0 if dtype is None else float(jnp.finfo(dtype).tiny)
    if not (number is None or (0 < number < np.inf and least <= number)):
        raise ValueError(f"{name}: got {brief(value)}; it must be {hint}.")


def not_negative(
    name: str, value: Any, hint: str = "a finite number of at least 0"
) -> Any:
    """`value` as a finite Python number of at least 0; unchanged if the value cannot be
    read.
    """
    number = real(name, value, hint)
    if not (number is None or 0 <= number < np.inf):
        raise ValueError(f"{name}: got {brief(value)}; it must be {hint}.")
    return value if number is None else number


def floating(name: str, dtype: Any, requirement: str = "float32 or float64") -> Any:
    """Dtype with which JAX computes for `dtype` under the current settings, if that is
    float32 or float64.
    """
    with suppress(TypeError, ValueError):
        if (canonical := jnp.dtype(canonicalize_dtype(dtype))) in (
            jnp.float32,
            jnp.float64,
        ):
            return canonical
    raise ValueError(f"{name}: got {brief(dtype)}; it must be {requirement}.")


def random_key(name: str, key: Any) -> None:
    """ValueError unless `key` is one JAX random key, new style or old."""
    dtype = getattr(key, "dtype", None)
    shape = getattr(key, "shape", None)
    new = (
        dtype is not None and jnp.issubdtype(dtype, jax.dtypes.prng_key) and shape == ()
    )
    old = dtype == jnp.uint32 and shape == jax.random.key_data(jax.random.key(0)).shape
    if not new and not old:
        raise ValueError(
            f"{name}: got {brief(key)}; it must be a JAX random key, such as "
            "jax.random.key(0)."
        )


def as_array(value: Any) -> Any:
    """`value` as an array. A JAX array is returned unchanged; any other concrete value
    becomes a NumPy array, because reading a NumPy array compiles nothing.
    """
    if isinstance(value, jax.Array):
        return _free(value)
    return jnp.asarray(value) if is_traced(value) else np.asarray(value)


def host(name: str, value: Any) -> Any:
    """`value` as an array of real numbers. A JAX array is returned unchanged, and any
    other value becomes a NumPy array; the entries are neither copied nor checked.
    """
    try:
        result = as_array(value)
    except (TypeError, ValueError, OverflowError) as error:  # rows of different lengths
        raise ValueError(
            f"{name}: got {brief(value)}; it must be an array of real numbers."
        ) from error
    if not _is_real(result.dtype):
        raise ValueError(
            f"{name}: got an array of dtype {result.dtype}; it must be an array of real "
            "numbers."
        )
    return result


def mask(name: str, value: Any) -> Any:
    """`value` as an array of True and False."""
    result: Any = np.asarray(None)
    with suppress(TypeError, ValueError):  # rows of different lengths
        result = as_array(value)
    if result.dtype != bool:
        raise ValueError(
            f"{name}: got {brief(value)}; it must be an array of True and False."
        )
    return result


def array(
    name: str,
    value: Numbers,
    shape: str,
    ndim: int,
    *,
    once: bool = False,
    finite: bool = True,
) -> Array:
    """`value` as a floating JAX array of `ndim` axes with finite entries.

    Args:
        name: Name of the argument.
        value: Value of the argument.
        shape: Required shape, for the message.
        ndim: Number of axes.
        once: True while an object is constructed, so that values on a device are
            checked as well.
        finite: False to skip the check of a floating JAX array, if NaN or infinity
            shows in the caller's result. The caller then calls `array` again, for an
            error that names the argument.
    """
    result = _lifted(name, value)
    if result.ndim != ndim:
        raise ValueError(
            f"{name}: got shape {result.shape}; it must be an array of shape {shape}."
        )
    if result.size == 0:
        raise ValueError(
            f"{name}: got shape {result.shape}; it must be a non-empty array of shape "
            f"{shape}."
        )
    if not finite and settled(result):
        return result
    return _finite(name, result, once)


def states(name: str, value: Numbers, D: int) -> Array:
    """`value` as a floating JAX array (..., D) with finite entries."""
    result = _lifted(name, value)
    if result.ndim < 1 or result.shape[-1] != D:
        raise ValueError(
            f"{name}: got shape {result.shape}; it must be an array of shape (..., "
            f"{D}): one vector per row, as long as the stored vectors."
        )
    return _finite(name, result, once=False)


def vectors(name: str, value: Numbers) -> Array:
    """`value` as a floating JAX array (..., L) with finite entries, for any L."""
    result = _lifted(name, value)
    if result.ndim < 1:
        raise ValueError(
            f"{name}: got shape {result.shape}; it must be an array of shape (..., L), "
            "with L entries per row."
        )
    return _finite(name, result, once=False)


def inputs(x: Numbers, n: int) -> Array:
    """The inputs of a layer (..., n); their values are not looked at."""
    x = numbers("x", x)
    if x.ndim < 1 or x.shape[-1] != n:
        raise ValueError(
            f"x: got shape {x.shape}; it must be of shape (..., {n}): one input per "
            "row."
        )
    return x


def numbers(name: str, value: Numbers) -> Array:
    """`value` as a JAX array of real numbers, of any shape; they are not looked at."""
    if isinstance(value, jax.Array) and value.dtype == canonicalize_dtype(value.dtype):
        result: Array | np.ndarray = _free(value)
    else:
        result = _lifted(name, value)
    if not _is_real(result.dtype):
        raise ValueError(
            f"{name}: got an array of dtype {result.dtype}; it must be an array of real "
            "numbers."
        )
    return jax.device_put(result) if isinstance(result, np.ndarray) else result


def scalar(value: ArrayLike, dtype: Any = None) -> Array:
    """A checked number as an array without axes; without a `dtype` a number of Python's
    keeps its weak type, as in `jnp.asarray`.
    """
    if isinstance(value, jax.Array):
        return value if dtype is None else jnp.asarray(value, dtype)
    # a compiled program takes a quarter of the time of `jnp.asarray` or `device_put`
    return _unchanged(value if dtype is None else np.asarray(value, dtype))


def settled(value: Any) -> TypeGuard[Array]:
    """True for a JAX array whose floating dtype JAX is set to use, so that it needs no
    conversion. Nearly every call passes such an array.
    """
    return (
        isinstance(value, jax.Array)
        and value.dtype.kind == "f"
        and value.dtype == canonicalize_dtype(value.dtype)
    )


def brief(value: Any) -> str:
    """`repr(value)` on one line, cut to 120 characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 120 else text[:117] + "..."


def _on_host(leaf: Any) -> bool:
    if isinstance(leaf, jax.core.Tracer) or not isinstance(leaf, jax.Array):
        return not isinstance(leaf, jax.core.Tracer)
    return _is_host(leaf.sharding)


@lru_cache(maxsize=1024)
def _is_host(sharding: Any) -> bool:
    # reading an array that is split over devices would copy it into one piece
    is_single = len(sharding.device_set) == 1 or sharding.is_fully_replicated
    return (
        is_single
        and sharding.is_fully_addressable
        and all(device.platform == "cpu" for device in sharding.device_set)
    )


def _lifted(name: str, value: Numbers) -> Array | np.ndarray:
    """`value` as an array of a JAX type; what lies on the host as a numpy copy, to be
    checked and converted there.
    """
    if isinstance(value, jax.Array):
        value = _free(value)
    if settled(value):
        return value
    try:
        if isinstance(value, np.memmap):
            return copied(value)
        if type(value) not in (np.ndarray, list, tuple) or is_traced(value):
            result = jnp.asarray(value)
            double = result.dtype == np.float64  # made in a block that enabled float64
            return result.astype(canonicalize_dtype(np.float64)) if double else result
        return copied(np.asarray(value))
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"{name}: got {brief(value)}; it must be an array of real numbers."
        ) from error


def copied(value: np.ndarray) -> np.ndarray:
    """Copy of an array in a dtype that JAX uses, at an aligned address, which JAX on
    the CPU uses without a second copy.
    """
    dtype = np.dtype(canonicalize_dtype(value.dtype))
    if dtype.hasobject or dtype.kind not in "biufV":
        return np.array(value, dtype)
    copy = aligned(value.shape, dtype)
    if isinstance(value, np.memmap) and value.ndim:
        for target, part in zip(pieces(copy), pieces(value), strict=True):
            target[...] = part
            release(value)
    else:
        copy[...] = value
    return copy


def aligned(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Uninitialised array at an aligned address, which JAX on the CPU uses without a
    copy.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    space = np.empty(size + _ALIGNMENT, np.uint8)
    # not `ctypes.data`, which takes several times as long
    address, _ = space.__array_interface__["data"]
    start = -address % _ALIGNMENT
    return space[start : start + size].view(dtype).reshape(shape)


def pieces(value: np.ndarray) -> Iterator[np.ndarray]:
    """Iterator over slices of an array, a few rows each, so that intermediate results
    stay small.
    """
    if value.ndim == 0 or value.nbytes <= _PIECE:
        yield value
        return
    rows = max(1, _PIECE * len(value) // value.nbytes)
    for start in range(0, len(value), rows):
        yield value[start : start + rows]


def release(value: np.ndarray) -> None:
    """Release the pages of a memory-mapped file that has been read. Other arrays are
    left alone.
    """
    file = getattr(value, "_mmap", None)
    # a private map ("c") would lose what was written to it
    is_file_map = getattr(value, "mode", "c") in ("r", "r+", "w+")
    if file is not None and is_file_map and hasattr(mmap, "MADV_DONTNEED"):
        file.madvise(mmap.MADV_DONTNEED)


def _rounded(number: Any, dtype: Any) -> float:
    with np.errstate(over="ignore", under="ignore"):
        return float(number.astype(dtype))


def _is_real(dtype: Any) -> bool:
    return dtype.kind in "biuf" or any(
        jnp.issubdtype(dtype, kind) for kind in (jnp.bool_, jnp.integer, jnp.floating)
    )


def _finite(name: str, value: Array | np.ndarray, once: bool) -> Array:
    # the kind first: its look-up is faster, and decides for float32 and float64
    if value.dtype.kind != "f" and not jnp.issubdtype(value.dtype, jnp.floating):
        if not _is_real(value.dtype):
            raise ValueError(
                f"{name}: got an array of dtype {value.dtype}; it must be an array of real "
                "numbers."
            )
        value = value.astype(jnp.result_type(float))
    if enabled.get() and _on_host(value):  # `readable`, for a single array
        # counted, because `.all()` of a small array takes twice as long
        is_finite = all(
            np.count_nonzero(np.isfinite(part)) == part.size
            for part in pieces(np.asarray(value))
        )
    else:
        is_finite = not (once and known(value)) or bool(concrete(_all_finite, value))
    if not is_finite:
        raise ValueError(
            f"{name}: got NaN or infinity; it must be finite; look for missing values "
            "in the data."
        )
    # Not jnp.asarray, which compiles a program for every shape. JAX may share the
    # memory of the NumPy array, because it is a copy that nobody else has.
    return jax.device_put(value) if isinstance(value, np.ndarray) else value


def _free(value: Array) -> Array:
    """A JAX array on automatic axes of its mesh, unless jit traces it, or the caller has
    set a mesh with explicit axes.
    """
    if isinstance(value, jax.core.Tracer) or not is_explicit(value):
        return value
    is_set = AxisType.Explicit in get_abstract_mesh().axis_types
    return value if is_set else on_automatic(value)


@jax.jit
def _all_finite(value: Array) -> Array:
    return jnp.isfinite(value).all()


@jax.jit
def _unchanged(value: Array) -> Array:
    return value


@jax.jit
def _nothing() -> Array:
    return jnp.zeros(())
