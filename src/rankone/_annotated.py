"""Checks of arguments against their annotations: `checked` raises an error that names
the argument if a value does not match.

`checked` is for functions whose annotations state everything that must be checked.
jaxtyping matches the shapes of arrays, and `rankone._checks` checks numbers and texts.
The entries of arrays are not checked.

jaxtyping with beartype would refuse a list, an array of integers, an integer of NumPy
and `beta=2`, which should all be accepted, and would accept −1, True and an empty
array. Plain `raise` statements would repeat these checks in more than two hundred
functions.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial, wraps
from inspect import Parameter, isclass, signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import jax
import numpy as np
from jaxtyping import ArrayLike, Bool, Real, Shaped, jaxtyped

from rankone._checks import (
    boolean,
    brief,
    host,
    instance,
    integer,
    mask,
    random_key,
    real,
    refuse_traced,
)

__all__ = ["Broadcast", "checked"]

F = TypeVar("F", bound=Callable[..., Any])
# annotation of several arguments whose shapes must broadcast with one another
Broadcast = Real[ArrayLike, "*#n"]


def checked(function: F) -> F:
    """Wrapper of `function` that converts lists of numbers to arrays and raises an
    error for an argument that does not match its annotation.

    An integer must be at least 0, and no array may be empty. A function that computes
    in NumPy cannot take a value that jit, vmap or grad traces. JAX's error about such a
    value is replaced by one that names the argument.
    """
    takes = signature(function)
    title = getattr(function, "__qualname__", str(function))
    parameters = takes.parameters.items()
    kinds = {name: _kinds(parameter.annotation) for name, parameter in parameters}
    dims = {name: _dims(kinds[name]) for name in kinds}

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = takes.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{title}() {error}") from None
        arguments = bound.arguments
        for name, value in arguments.items():
            arguments[name] = _fitted(name, value, kinds[name])
        _refuse_misfits(arguments, dims)
        try:
            return function(*bound.args, **bound.kwargs)
        except _NO_VALUE:
            # the error may come from a function that the caller passed
            if any(map(callable, arguments.values())):
                raise
            refuse_traced(title, **arguments)
            # all arguments are concrete, and only the operations on them were traced
            with jax.ensure_compile_time_eval():
                return function(*bound.args, **bound.kwargs)

    return call  # type: ignore[return-value]


_NO_VALUE = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)


def _count(name: str, value: Any) -> int:
    """`value` as an integer of at least 0. The function may want more of it than that,
    so the error for a value that is not an integer asks only for an integer.
    """
    number = integer(name, value, "an integer", least=-(10**300), most=10**300)
    hint = "an integer of at least 0"
    return integer(name, number, hint, least=0, most=10**300)


_PLAIN: dict[Any, Callable[[str, Any], Any]] = {
    bool: boolean,
    int: _count,
    float: partial(real, hint="a real number"),
    str: partial(instance, kind=str, requirement="a text"),
}


def _kinds(hint: Any) -> tuple[Any, ...]:
    """The parts of a union, or the annotation alone."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _fitted(name: str, value: Any, kinds: tuple[Any, ...]) -> Any:
    """The value as the function takes it, if it is of one of these kinds."""
    if value is None and NoneType in kinds:
        return None
    kinds, classes = _classes(kinds)
    if name == "key" and kinds == (jax.Array,):
        random_key(name, value)
    elif _dims(kinds) is not None:
        array = (mask if _is_mask(kinds) else host)(name, value)
        return array if isinstance(value, list | tuple) else value
    elif kinds[0] in _PLAIN and len(kinds) == 1:
        number = _PLAIN[kinds[0]](name, value)
        # A number in a JAX array becomes a Python number, because the caller's jit
        # would trace the first operation on the array.
        return number if isinstance(value, jax.Array) and number is not None else value
    elif classes[0] in (Sequence, tuple):
        entries = get_args(kinds[0])
        size = len(value) if isinstance(value, list | tuple) else 0
        if classes[0] is Sequence or entries[-1] is Ellipsis:
            entries = entries[:1] * size
        if not size == len(entries) > 0:
            raise ValueError(
                f"{name}: got {brief(value)}; it must be {_collection(kinds[0])}."
            )
        values = []
        for i, (entry, hint) in enumerate(
            zip(value, map(_kinds, entries), strict=True)
        ):
            place = f"{name}[{i}]"
            values.append(_fitted(place, entry, hint))
            _refuse_misfits({place: values[-1]}, {place: _dims(hint)})
        return tuple(values) if classes[0] is tuple else values
    elif classes == (Callable,):
        if not callable(value):
            raise ValueError(f"{name}: got {brief(value)}; it must be a function.")
    elif all(map(_is_class, classes)):
        instance(name, value, classes, _class_words(classes))
    return value


def _collection(kind: Any) -> str:
    """What a sequence or a tuple of this kind holds, in words."""
    entries = get_args(kind)
    if get_origin(kind) is tuple and Ellipsis not in entries:
        words = ", ".join(_entry(entry, "{}") for entry in entries)
        return f"a tuple of {len(entries)} entries: {words}"
    return f"a list or tuple of {_entry(entries[0], '{}s')}, one or more"


def _entry(hint: Any, form: str) -> str:
    """One entry in words; `form` is that of the singular or the plural."""
    names = {str: "text", int: "integer", float: "number"}
    words = []
    for kind in _kinds(hint):
        origin = get_origin(kind) or kind
        if _dims((kind,)) is not None:
            name = "array"
        elif origin in (tuple, dict, Sequence):
            name = {tuple: "tuple", dict: "dict"}.get(origin, "list")
        else:
            name = names.get(kind, getattr(kind, "__name__", str(kind)))
        parts = (
            get_args(kind) if origin is tuple and Ellipsis not in get_args(kind) else ()
        )
        inner = ", ".join(_entry(part, "{}") for part in parts)
        words.append(form.format(name) + (f" ({inner})" if inner else ""))
    return " or ".join(words)


@cache
def _classes(kinds: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The kinds but None, and the class of each."""
    kinds = tuple(kind for kind in kinds if kind is not NoneType)
    return kinds, tuple(get_origin(kind) or kind for kind in kinds)


@cache
def _class_words(classes: tuple[type, ...]) -> str:
    words: dict[Any, str] = {str: "a text", Path: "a path"}
    words |= {Mapping: "a mapping", Sequence: "a list"}
    return " or ".join(
        words.get(kind, f"an instance of {kind.__name__}") for kind in classes
    )


def _is_class(kind: Any) -> bool:
    """True if every value of this kind is an instance of it."""
    is_exempt = kind in (Any, Parameter.empty, type) or getattr(
        kind, "_is_protocol", False
    )
    return isclass(kind) and not is_exempt


@cache
def _is_mask(kinds: tuple[Any, ...]) -> bool:
    """True if jaxtyping names an array of True and False."""
    flags = Bool[Any, "..."].dtypes  # type: ignore[attr-defined]
    return any(getattr(kind, "dtypes", None) == flags for kind in kinds)


@cache
def _dims(kinds: tuple[Any, ...]) -> str | None:
    """The dimensions that jaxtyping names, "..." for another array, None for no array."""
    for kind in kinds:
        if hasattr(kind, "dim_str"):
            return kind.dim_str
    arrays = (jax.Array, np.ndarray)
    return "..." if any((get_origin(k) or k) in arrays for k in kinds) else None


def _refuse_misfits(arguments: dict[str, Any], dims: dict[str, str | None]) -> None:
    """ValueError if an array is empty, or does not have its dimensions with the sizes that
    the same dimensions have in earlier arrays.
    """
    arrays: dict[str, tuple[str, tuple[int, ...]]] = {}
    for name, value in arguments.items():
        spec = dims[name]
        if spec is not None and value is not None:
            arrays[name] = (spec, getattr(value, "shape", ()))
    place = _first_misfit(*arrays.values())
    if place is not None:
        name = list(arrays)[place]
        spec, shape = arrays[name]
        sizes = [
            f"{argument} is {arrays[argument][1]}" for argument in list(arrays)[:place]
        ]
        requirement = _shape_words(spec)
        if 0 in shape:
            requirement += ", but not empty"
        elif sizes:
            requirement += f", where {', '.join(sizes)}"
        raise ValueError(f"{name}: got shape {shape}; it must be {requirement}.")


def _shape_words(spec: str) -> str:
    """A shape in words, without the marks by which jaxtyping knows axes that
    broadcast.
    """
    if spec == "...":
        return "of any shape"
    axes = ["..." if axis.startswith("*") else axis for axis in spec.split()]
    shape = f"of shape ({', '.join(axes)}{',' * (len(axes) == 1)})"
    if "#" not in spec:
        return shape
    if axes == ["..."]:
        return "of a shape that broadcasts with the other arrays"
    return f"{shape} and broadcast with the other arrays"


@lru_cache(maxsize=4096)
def _first_misfit(*arrays: tuple[str, tuple[int, ...]]) -> int | None:
    """Position of the first shape that jaxtyping does not match with its dimensions."""
    with jaxtyped("context"):
        for place, (dims, shape) in enumerate(arrays):
            array = jax.ShapeDtypeStruct(shape, np.float32)
            if 0 in shape or not isinstance(array, Shaped[Any, dims]):  # type: ignore[arg-type]
                return place
    return None
