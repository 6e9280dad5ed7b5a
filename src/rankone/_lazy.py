"""Names of a package that are imported when they are first used."""

import importlib
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any

__all__ = ["on_demand"]


def on_demand(
    package: str, parts: Collection[str], homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for a package, under `if not TYPE_CHECKING`: type
    checkers know a misspelt name.

    Args:
        package: Its full name, `__name__`.
        parts: Names of its modules.
        homes: Each public name, and the module of the package that defines it.
    """
    names = vars(sys.modules[package])

    def find(name: str) -> Any:
        if name in parts:
            return importlib.import_module(f"{package}.{name}")
        if name in homes:
            value = names[name] = getattr(
                importlib.import_module(f"{package}.{homes[name]}"), name
            )
            return value
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find, lambda: sorted({*names, *parts, *homes})
