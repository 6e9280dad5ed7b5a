"""Fingerprints: hashes of everything that a run depends on, so that its saved files are
not taken for those of another run.
"""

import hashlib
from dataclasses import fields, is_dataclass
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

import jax
import numpy as np

__all__ = ["fingerprint"]


def fingerprint(value: Any) -> str:
    """Hash of the given values. Arrays count with their dtypes, and functions with
    their code and the variables that they close over.

    Raises:
        ValueError: If a part of the value cannot be compared between two processes.
    """
    return hashlib.sha256(repr(_plain_form(value)).encode()).hexdigest()


def _plain_form(value: Any) -> Any:
    """`value` as nested tuples of plain values, the same in every process."""
    if value is None or isinstance(
        value, bool | int | float | complex | str | bytes | np.dtype
    ):
        return type(value).__name__, repr(value)
    if isinstance(value, jax.Array) and jax.dtypes.issubdtype(
        value.dtype, jax.dtypes.prng_key
    ):
        return "key", str(value.dtype), _plain_form(jax.random.key_data(value))
    if isinstance(value, np.ndarray | np.generic | jax.Array):
        host = np.asarray(value)
        return (
            "array",
            host.dtype.name,
            host.shape,
            hashlib.sha256(host.tobytes()).hexdigest(),
        )
    if isinstance(value, dict):
        return "dict", tuple(
            sorted((repr(key), _plain_form(part)) for key, part in value.items())
        )
    if isinstance(value, list | tuple):
        return type(value).__name__, tuple(map(_plain_form, value))
    if isinstance(value, partial):
        return (
            "partial",
            _plain_form(value.func),
            _plain_form(value.args),
            _plain_form(value.keywords),
        )
    if isinstance(value, MethodType):
        return "method", _plain_form(value.__func__), _plain_form(value.__self__)
    return _of_code(value)


def _of_code(value: Any) -> Any:
    if hasattr(value, "__wrapped__"):  # which jit and decorators set
        return "wrapped", type(value).__qualname__, _plain_form(value.__wrapped__)
    if isinstance(value, FunctionType):
        cells = tuple(
            _plain_form(cell.cell_contents) for cell in value.__closure__ or ()
        )
        return (
            "function",
            value.__module__,
            value.__qualname__,
            _compiled(value.__code__),
            cells,
            _plain_form(value.__defaults__),
        )
    if isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
        return "name", value.__module__, value.__qualname__
    if is_dataclass(value):
        attributes = tuple(
            (field.name, _plain_form(getattr(value, field.name, None)))
            for field in fields(value)
        )
        return type(value).__module__, type(value).__qualname__, attributes
    if hasattr(value, "__dict__"):
        return (
            type(value).__module__,
            type(value).__qualname__,
            _plain_form(vars(value)),
        )
    raise ValueError(
        f"checkpoint: got a run with {value!r:.99}; "
        "it must be of functions, arrays, numbers and texts."
    )


def _compiled(code: CodeType) -> Any:
    return (
        hashlib.sha256(code.co_code).hexdigest(),
        code.co_names,
        tuple(map(_constant, code.co_consts)),
    )


def _constant(value: Any) -> Any:
    if isinstance(value, CodeType):
        return _compiled(value)
    # the order of a set differs between processes
    return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)
