"""The one base of every public class: a frozen dataclass that is a JAX pytree.

    class Gain(Module):
        right: Float[Array, ""]
        name: str = static(default="gain")

A subclass becomes a frozen dataclass by being defined. Its fields are the leaves of the
pytree, those marked `static` are part of its structure. `__post_init__` checks and
converts the arguments (`self._set`); JAX rebuilds a pytree around tracers and
placeholders, which never go through it. Equality, hash, representation, pickle, copy
and `dataclasses.replace` then work alike for all: a field that is derived from others
is `field(init=False)`, so that `replace` derives it anew.

A `NamedTuple` stays where another library wants a tuple (the states of optax), a plain
dataclass where nothing is ever traced and no array is held (settings of the book's
tools); the file says so.
"""

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

import jax
import numpy as np

__all__ = ["Module", "static"]

_SHORT = {"float": "f", "int": "i", "uint": "u", "complex": "c", "bfloat": "bf"}


def static(**options: Any) -> Any:
    """A field of the pytree's structure, hashable and never traced; options as of
    `dataclasses.field`.
    """
    return dataclasses.field(**options, metadata={"static": True})


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field, static))
class Module:
    """A frozen dataclass whose fields are the leaves of a JAX pytree; see the text
    above.
    """

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Any]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclasses.dataclass(frozen=True, eq=False, repr=False)(cls)
        _register(cls)

    def _set(self, **values: Any) -> None:
        """Set fields of a module that is being made; for `__post_init__` alone."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> Any:
        """True if both have the same class and structure and equal arrays of equal
        types; NaN equals NaN.
        """
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        (mine, structure) = jax.tree.flatten(self)
        (theirs, other_structure) = jax.tree.flatten(other)
        return structure == other_structure and all(map(_same, mine, theirs))  # type: ignore[operator]

    def __hash__(self) -> int:
        """Hash of the structure and the shapes; it reads no array."""
        leaves, structure = jax.tree.flatten(self)
        return hash((type(self), structure, *map(np.shape, leaves)))

    def __repr__(self) -> str:
        """One line: arrays by type and shape, scalars by value."""
        shown = (
            (f.name, getattr(self, f.name, None))
            for f in dataclasses.fields(self)
            if f.repr
        )
        fields = (f"{name}={_brief(value)}" for name, value in shown)
        return f"{type(self).__name__}({', '.join(fields)})"


def _register(cls: type[Module]) -> None:
    fields = dataclasses.fields(cls)
    meta = tuple(f.name for f in fields if f.metadata.get("static"))
    data = tuple(f.name for f in fields if not f.metadata.get("static"))
    keys = tuple(jax.tree_util.GetAttrKey(name) for name in data)

    def flatten(node: Any) -> tuple[tuple, tuple]:
        held = node.__dict__
        return tuple([held[name] for name in data]), tuple(
            [held[name] for name in meta]
        )

    def flatten_with_keys(node: Any) -> tuple[tuple, tuple]:
        leaves, structure = flatten(node)
        return tuple(zip(keys, leaves, strict=True)), structure

    def unflatten(structure: Iterable, leaves: Iterable) -> Any:
        node = object.__new__(cls)
        node.__dict__.update(zip(data, leaves, strict=True))
        node.__dict__.update(zip(meta, structure, strict=True))
        return node

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    traced = isinstance(a, jax.core.Tracer) or isinstance(b, jax.core.Tracer)
    types = {leaf.dtype for leaf in (a, b) if hasattr(leaf, "dtype")}
    if traced or len(types) > 1 or np.shape(a) != np.shape(b):
        return False
    a, b = (
        jax.random.key_data(leaf) if _is_key(leaf) else np.asarray(leaf)
        for leaf in (a, b)
    )
    return bool(((a == b) | ((a != a) & (b != b))).all())


def _is_key(leaf: Any) -> bool:
    return hasattr(leaf, "dtype") and jax.dtypes.issubdtype(
        leaf.dtype, jax.dtypes.prng_key
    )


def _brief(value: Any) -> str:
    if isinstance(value, Module):
        return repr(value)
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        if (
            value.shape == ()
            and not isinstance(value, jax.core.Tracer)
            and jax.dtypes.issubdtype(value.dtype, np.number)
        ):
            return f"{np.asarray(value).item():.6g}"
        name = str(value.dtype)
        kind = name.rstrip("0123456789")
        return f"{_SHORT.get(kind, kind)}{name[len(kind) :]}[{','.join(map(str, value.shape))}]"
    if isinstance(value, tuple | list) and len(value) > 4:
        return f"{type(value).__name__} of {len(value)}: {_brief(value[0])}, …"
    if isinstance(value, tuple | list):
        inside = ", ".join(map(_brief, value)) + (
            "," if isinstance(value, tuple) and len(value) == 1 else ""
        )
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{key!r}: {_brief(part)}" for key, part in value.items())
            + "}"
        )
    return getattr(value, "__name__", None) or repr(value)
