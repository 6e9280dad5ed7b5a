"""Registration of frozen dataclasses whose constructor checks its arguments.

JAX rebuilds a pytree around tracers and placeholders, which must not go through such a constructor.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import jax

__all__ = ["pytree"]

T = TypeVar("T")


def pytree(*, data: Sequence[str], meta: Sequence[str] = ()) -> Callable[[type[T]], type[T]]:
    """Register a class as a JAX pytree: the fields `data` are its leaves, `meta` is static."""

    def register(cls: type[T]) -> type[T]:
        def flatten(node: T) -> tuple[tuple, tuple]:
            return tuple(getattr(node, f) for f in data), tuple(getattr(node, f) for f in meta)

        def flatten_with_keys(node: T) -> tuple[tuple, tuple]:
            keys = (jax.tree_util.GetAttrKey(f) for f in data)
            return tuple(zip(keys, flatten(node)[0], strict=True)), flatten(node)[1]

        def unflatten(static: tuple, leaves: Iterable) -> T:
            node = object.__new__(cls)
            for name, value in zip((*data, *meta), (*leaves, *static), strict=True):
                object.__setattr__(node, name, value)
            return node

        jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)
        return cls

    return register
