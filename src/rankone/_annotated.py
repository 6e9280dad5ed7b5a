"""Functions that refuse, by the name that the caller wrote, what is not what the
annotations of their arguments say.

For the formulas of `theory` and `printed` and for small functions, whose annotations
say all that there is to check: real numbers, integers, shapes, and things of a class.
Values are looked at where `rankone._checks` looks at them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from inspect import Parameter, isclass, signature
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import jax
import numpy as np
from jaxtyping import ArrayLike, Real

from rankone._checks import (
    boolean,
    brief,
    host,
    instance,
    integer,
    is_traced,
    random_key,
    real,
)

__all__ = ["Broadcast", "checked", "refuse_traced", "renamed"]

F = TypeVar("F", bound=Callable[..., Any])
# of several arguments: of shapes that broadcast with one another
Broadcast = Real[ArrayLike, "*#n"]


def checked(function: F) -> F:
    """`function`, called with lists and tuples of numbers as arrays, and with nothing
    that its annotations exclude.

    Sizes of the same name are the same in all arguments, and shapes "*#name" of the
    same name broadcast with one another. An integer is at least 0, and no array empty.

    A function that computes in numpy or with plain numbers cannot take a value that
    jit, vmap or grad traces: JAX's error about that becomes one which names the
    argument.
    """
    takes = signature(function)
    hints = {name: one.annotation for name, one in takes.parameters.items()}
    title = getattr(function, "__qualname__", str(function))

    @wraps(function)
    def asked(*args: Any, **kwargs: Any) -> Any:
        try:
            given = takes.bind(*args, **kwargs)
            sizes = dict[str, Any]()
        except TypeError as error:
            raise TypeError(f"{title}() {error}") from None
        for name, value in given.arguments.items():
            given.arguments[name] = _fit(name, value, hints[name], sizes)
        try:
            return function(*given.args, **given.kwargs)
        except _NO_VALUE:
            # one of the caller's may be what needs a value
            if any(map(callable, given.arguments.values())):
                raise
            refuse_traced(title, **given.arguments)
            # all is known, and only the operations on it were traced
            with jax.ensure_compile_time_eval():
                return function(*given.args, **given.kwargs)

    return asked  # type: ignore[return-value]


_NO_VALUE = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)


def refuse_traced(title: str, **arguments: Any) -> None:
    """Raise if an argument is traced, in a function of this title, which computes on
    the host.
    """
    for name, value in arguments.items():
        wanted = (
            f"known: {title} computes on the host, so call it outside of jit, vmap and "
            "grad, or close over a number"
        )
        if is_traced(value):
            raise ValueError(f"{name}: got a traced value; it must be {wanted}.")


@contextmanager
def renamed(**names: str) -> Iterator[None]:
    """A block, or a function, in which what is refused has the caller's name for it:
    `renamed(rows="embeddings")`.
    """
    try:
        yield
    except ValueError as error:
        named = re.match(r"(\w+)(.*: got )", text := str(error))
        if named is None or named[1] not in names:
            raise
        raise ValueError(names[named[1]] + text[named.end(1) :]) from error


def _fit(name: str, value: Any, hint: Any, sizes: dict[str, Any]) -> Any:
    """`value`, as it goes to the function."""
    kinds = list(get_args(hint)) if get_origin(hint) in (Union, UnionType) else [hint]
    if value is None and NoneType in kinds:
        return None
    kinds = [one for one in kinds if one is not NoneType]
    hint = kinds[0] if len(kinds) == 1 else hint
    if kinds == [jax.Array] and name == "key":
        random_key(name, value)
    elif any(map(_is_array, kinds)):
        return _array(
            name,
            value,
            next((one.dim_str for one in kinds if hasattr(one, "dim_str")), "..."),
            sizes,
        )
    elif len(kinds) == 1 and hint in _PLAIN:
        plain = _PLAIN[hint](name, value)
        # A number in a JAX array would be traced by the first operation on it, inside a
        # program of the caller's.
        return plain if isinstance(value, jax.Array) and plain is not None else value
    elif get_origin(hint) is Sequence:
        if not isinstance(value, list | tuple) or len(value) <= 0:
            raise ValueError(
                f"{name}: got {brief(value)}; it must be a list, not empty."
            )
        return [
            _fit(f"{name}[{i}]", one, get_args(hint)[0], {})
            for i, one in enumerate(value)
        ]
    elif get_origin(hint) is tuple:
        parts = get_args(hint)
        if not (isinstance(value, list | tuple) and len(value) >= len(parts) - 1):
            raise ValueError(f"{name}: got {brief(value)}; it must be a {hint}.")
        parts = parts[:1] * len(value) if parts[1:] == (Ellipsis,) else parts
        if len(value) != len(parts):
            raise ValueError(f"{name}: got {brief(value)}; it must be a {hint}.")
        return tuple(
            _fit(f"{name}[{i}]", one, parts[i], {}) for i, one in enumerate(value)
        )
    elif get_origin(hint) is Callable:
        if not callable(value):
            raise ValueError(f"{name}: got {brief(value)}; it must be a function.")
    elif all(map(_is_class, kinds)):
        classes = tuple(get_origin(kind) or kind for kind in kinds)
        instance(
            name,
            value,
            classes,
            "an instance of " + " or ".join(one.__name__ for one in classes),
        )
    return value


_PLAIN: dict[Any, Callable[[str, Any], Any]] = {
    bool: boolean,
    int: lambda name, value: integer(
        name, value, "an integer of at least 0", least=0, most=10**300
    ),
    float: lambda name, value: real(name, value, "a real number"),
    str: lambda name, value: instance(name, value, str, "a text"),
}


def _is_class(kind: Any) -> bool:
    """True if every value of this kind is an instance of it."""
    kind = get_origin(kind) or kind
    return (
        isclass(kind)
        and kind not in (Any, Parameter.empty, type)
        and not getattr(kind, "_is_protocol", False)
    )


def _is_array(kind: Any) -> bool:
    return (
        hasattr(kind, "dim_str")
        or kind is jax.Array
        or (get_origin(kind) or kind) is np.ndarray
    )


def _array(name: str, value: Any, dims: str, sizes: dict[str, Any]) -> Any:
    """`value` if it is of real numbers and of a shape that is written as "K D" or "...
    D"; a list as an array.
    """
    out = host(name, value)
    tokens = dims.split()
    free = [i for i, token in enumerate(tokens) if token.startswith((".", "*"))]
    front, back = (tokens[: free[0]], tokens[free[0] + 1 :]) if free else (tokens, [])
    shape = out.shape
    wanted = f"of shape ({', '.join(tokens)}), not empty"
    fits = len(shape) >= len(front) + len(back) if free else len(shape) == len(tokens)
    if not fits or out.size == 0:
        raise ValueError(f"{name}: got shape {shape}; it must be {wanted}.")
    lengths = [
        *zip(front, shape, strict=False),
        *zip(back, shape[len(shape) - len(back) :], strict=True),
    ]
    for token, length in lengths:
        named = token.isidentifier() and token != "_"
        known = (
            int(token)
            if token.isdigit()
            else sizes.setdefault(token, length)
            if named
            else length
        )
        if length != known:
            raise ValueError(
                f"{name}: got shape {shape}; "
                f"it must be {wanted}, where {token} is {known}."
            )
    for token in (tokens[i] for i in free if tokens[i].startswith("*#")):
        rest = shape[len(front) : len(shape) - len(back)]
        known = sizes.get(token, ())
        wide = _broadcast(rest, known)
        if wide is None:
            raise ValueError(
                f"{name}: got shape {shape}; "
                f"it must be {wanted}, where {token} broadcasts with {known}."
            )
        sizes[token] = wide
    return out if isinstance(value, list | tuple) else value


def _broadcast(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape that both are broadcast to; None if there is none."""
    try:
        return np.broadcast_shapes(one, other)
    except ValueError:
        return None
