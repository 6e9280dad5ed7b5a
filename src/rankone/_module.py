"""The base class of the public classes that hold arrays: an `equinox.Module` that is
cheap to call.

Fields are the leaves of the pytree, except that a field `equinox.field(static=True)` is
part of its structure. `__post_init__` checks and converts the arguments. A field that
is derived from others is `equinox.field(init=False, default=None)` and is set in
`__check_init__`, so that `dataclasses.replace` derives it again.
"""

from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import wadler_lindig as wl

__all__ = ["Module", "assembled", "derive"]

M = TypeVar("M", bound="Module")


class Module(eqx.Module):
    """An `equinox.Module` with plain methods, safe copies, and a one-line `repr`."""

    # Equinox turns a method into a pytree at each look-up. That takes 20 µs, which is
    # more than many of the compiled functions here take.
    __getattribute__ = object.__getattribute__

    def __reduce__(self) -> tuple:
        # Equinox, up to 0.13.8 at least, treats an object that `copy` or `pickle` made
        # as still under construction: its fields can be assigned, and it is never
        # freed.
        return _restored, (type(self), self.__dict__)

    def __eq__(self, other: object) -> Any:
        # On the host, because equinox would compile a program for each shape. NaN equals
        # NaN here, so that a memory equals its copy.
        if type(self) is not type(other):
            return NotImplemented
        leaves, structure = jax.tree.flatten(jax.device_get(self))
        other_leaves, other_structure = jax.tree.flatten(jax.device_get(other))
        # the type stubs of jax do not describe a structure
        structures_match: bool = structure == other_structure  # type: ignore[operator]
        return structures_match and all(map(_equal_leaves, leaves, other_leaves))

    def __hash__(self) -> int:
        # of the structure and the shapes, because an array has no hash
        leaves, structure = jax.tree.flatten(self)
        return hash((structure, *map(np.shape, leaves)))

    def __repr__(self) -> str:
        return wl.pformat(
            self,
            width=2**31,
            custom=_summary,
            hide_defaults=False,
            show_type_module=False,
        )


def derive(module: Module, **fields: Any) -> None:
    """Set derived fields of a module. To be called only from the module's
    `__check_init__`.

    Equinox warns if a derived array is set earlier, because a gradient with respect to
    the module has a separate entry for it.
    """
    for name, value in fields.items():
        object.__setattr__(module, name, value)


def assembled(cls: type[M], fields: dict[str, Any]) -> M:
    """A module of fields that need no check, because they were checked or computed."""
    module = object.__new__(cls)
    module.__dict__.update(fields)
    return module


def _restored(cls: type[M], fields: dict[str, Any]) -> M:
    """A module from a copy or a pickle, on the devices that it was placed on."""
    module = assembled(cls, fields)
    placement = getattr(module, "placement", None)
    return module if placement is None else module._placed(placement)  # type: ignore[attr-defined]


def _equal_leaves(a: Any, b: Any) -> bool:
    """True if two leaves have the same type, shape and entries."""
    if bool(eqx.tree_equal(a, b)):
        return True
    arrays = isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
    if not arrays or a.dtype != b.dtype or not jnp.issubdtype(a.dtype, jnp.inexact):
        return False
    return a.shape == b.shape and bool(((a == b) | ((a != a) & (b != b))).all())


def _summary(value: Any) -> wl.AbstractDoc | None:
    """Scalars by value, functions by name, and long sequences by their first entry."""
    if isinstance(value, jax.Array | np.ndarray | np.generic) and value.ndim == 0:
        is_concrete = not isinstance(value, jax.core.Tracer)
        if is_concrete and jnp.issubdtype(value.dtype, np.number):
            return wl.TextDoc(f"{np.asarray(value).item():.6g}")
    if isinstance(value, tuple | list) and len(value) > 4:
        first = wl.pformat(value[0], width=2**31, custom=_summary)
        return wl.TextDoc(f"{type(value).__name__} of {len(value)}: {first}, …")
    if isinstance(value, jax.Array | np.ndarray):
        return wl.array_summary(value.shape, value.dtype.name, kind=None)
    name = getattr(value, "__name__", None)
    return wl.TextDoc(name) if callable(value) and name else None
