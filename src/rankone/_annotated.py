"""Functions that refuse, by name, what is not what the annotations of their arguments say.

For the formulas of `theory` and `printed` and for small functions, whose annotations say all that there is to check:
real numbers, integers, shapes, and things of a class. Values are looked at where `rankone._checks` looks at them.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, isclass, signature
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import jax
import numpy as np

from rankone._checks import boolean, check, host, instance, integer, random_key, real

__all__ = ["checked"]

F = TypeVar("F", bound=Callable[..., Any])


def checked(function: F) -> F:
    """`function`, called with lists and tuples of numbers as arrays, and with nothing that its annotations exclude.

    Sizes of the same name are the same in all arguments. An integer is at least 0, and no array empty.
    """
    takes = signature(function)
    hints = {name: one.annotation for name, one in takes.parameters.items()}

    @wraps(function)
    def asked(*args: Any, **kwargs: Any) -> Any:
        given, sizes = takes.bind(*args, **kwargs), dict[str, int]()
        for name, value in given.arguments.items():
            given.arguments[name] = _fit(name, value, hints[name], sizes)
        return function(*given.args, **given.kwargs)

    return asked  # type: ignore[return-value]


def _fit(name: str, value: Any, hint: Any, sizes: dict[str, int]) -> Any:
    """`value`, as it goes to the function."""
    kinds = list(get_args(hint)) if get_origin(hint) in (Union, UnionType) else [hint]
    if value is None and NoneType in kinds:
        return None
    if kinds == [jax.Array] and name == "key":
        random_key(name, value)
    elif any(map(_is_array, kinds)):
        return _array(name, value, next((one.dim_str for one in kinds if hasattr(one, "dim_str")), "..."), sizes)
    elif kinds[0] in _PLAIN:
        _PLAIN[kinds[0]](name, value)
    elif get_origin(hint) is Sequence:
        check(isinstance(value, list | tuple) and len(value) > 0, name, value, "a list, not empty")
        return [_fit(f"{name}[{i}]", one, get_args(hint)[0], {}) for i, one in enumerate(value)]
    elif get_origin(hint) is tuple:
        check(isinstance(value, list | tuple) and len(value) == len(get_args(hint)), name, value, f"a {hint}")
        return tuple(_fit(f"{name}[{i}]", one, get_args(hint)[i], {}) for i, one in enumerate(value))
    elif isclass(kinds[0]) and kinds[0] not in (Any, Parameter.empty) and not getattr(kinds[0], "_is_protocol", False):
        instance(name, value, kinds[0], f"an instance of {kinds[0].__name__}")
    elif get_origin(hint) is Callable:
        check(callable(value), name, value, "a function")
    return value


_PLAIN: dict[Any, Callable[[str, Any], Any]] = {
    bool: boolean,
    int: lambda name, value: integer(name, value, "an integer of at least 0", least=0, most=10**300),
    float: lambda name, value: real(name, value, "a real number"),
    str: lambda name, value: instance(name, value, str, "a text"),
}


def _is_array(kind: Any) -> bool:
    return hasattr(kind, "dim_str") or kind is jax.Array or (get_origin(kind) or kind) is np.ndarray


def _array(name: str, value: Any, dims: str, sizes: dict[str, int]) -> Any:
    """`value` if it is of real numbers and of a shape that is written as "K D" or "... D"; a list as an array."""
    out, tokens = host(name, value), dims.split()
    free = [i for i, token in enumerate(tokens) if token.startswith((".", "*"))]
    front, back = (tokens[: free[0]], tokens[free[0] + 1 :]) if free else (tokens, [])
    shape, wanted = out.shape, f"of shape ({', '.join(tokens)}), not empty"
    fits = len(shape) >= len(front) + len(back) if free else len(shape) == len(tokens)
    check(fits and out.size > 0, name, f"shape {shape}", wanted)
    lengths = [*zip(front, shape, strict=False), *zip(back, shape[len(shape) - len(back) :], strict=True)]
    for token, length in lengths:
        named = token.isidentifier() and token != "_"
        known = int(token) if token.isdigit() else sizes.setdefault(token, length) if named else length
        check(length == known, name, f"shape {shape}", f"{wanted}, where {token} is {known}")
    return out if isinstance(value, list | tuple) else value
