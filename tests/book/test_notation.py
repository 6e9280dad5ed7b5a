"""The names that the tables of notation give are names of the package."""

import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import rankone as ro
from rankone.language import rewriting
from rankone.writes import kernels

PAGE = Path(__file__).parents[2] / "book" / "notation.md"
# classes of the objects that the tables name
OBJECTS = {
    "edit": ro.RankOneEdit,
    "kernel": kernels.Kernel,
    "memory": ro.ResMem,
    "value": rewriting.Value,
}


def codes(page: str) -> Iterator[str]:
    """Code in the tables. A name that begins with a dot belongs to the object before
    it.
    """
    for row in re.findall(r"^\| \$.*\|$", page, re.M):
        owner = ""
        for code in re.findall(r"`([^`]+)`", row.strip("| ").rpartition(" | ")[2]):
            whole = f"{owner}{code}" if code.startswith(".") else code
            owner = whole.rpartition(".")[0]
            yield whole


@cache
def modules() -> dict[str, list[ModuleType]]:
    """Public modules by the last part of their names."""
    by_name: dict[str, list[ModuleType]] = {}
    for each in pkgutil.walk_packages(ro.__path__, "rankone."):
        if "._" not in each.name:
            module = importlib.import_module(each.name)
            by_name.setdefault(each.name.rpartition(".")[2], []).append(module)
    return by_name


@cache
def public() -> dict[str, list[Any]]:
    """Classes and functions that a module of the package defines."""
    by_name: dict[str, list[Any]] = {}
    for module in [one for named in modules().values() for one in named]:
        for name, definition in vars(module).items():
            if (
                name[0] != "_"
                and getattr(definition, "__module__", "") == module.__name__
            ):
                by_name.setdefault(name, []).append(definition)
    return by_name


def parameters(definition: Any) -> set[str]:
    """Names of the arguments that a class or a function takes."""
    try:
        return (
            {*inspect.signature(definition).parameters}
            if callable(definition)
            else set()
        )
    except ValueError:  # an exception has no signature
        return set()


def members(definition: Any) -> dict[str, Any]:
    """Fields, methods and properties of a class; of a module, what it defines."""
    if not inspect.isclass(definition):
        return vars(definition) if isinstance(definition, ModuleType) else {}
    fields = (
        dataclasses.fields(definition) if dataclasses.is_dataclass(definition) else ()
    )
    return dict.fromkeys(field.name for field in fields) | dict(
        inspect.getmembers(definition)
    )


@cache
def words() -> set[str]:
    """Every name that can stand alone in the tables: of a class, a function, a field, a
    method, or an argument of one of these.
    """
    every = [definition for named in public().values() for definition in named]
    inner = [
        pair
        for definition in every
        if inspect.isclass(definition)
        for pair in members(definition).items()
    ]
    methods = [member for _, member in inner if inspect.isfunction(member)]
    names = {*public(), *(name for name, _ in inner)}
    return names.union(*map(parameters, [*every, *methods]))


def unknown(code: str) -> list[str]:
    """Names in a piece of code that the package does not have."""
    path, arguments = re.fullmatch(r"([\w.]+)(?:\[\d\])?(?:\((.*)\))?", code).groups()
    owner, _, name = path.rpartition(".")
    owners = [
        *modules().get(owner, []),
        *public().get(owner, []),
        *([OBJECTS[owner]] if owner in OBJECTS else []),
    ]
    matches = [
        members(definition)[name]
        for definition in owners
        if name in members(definition)
    ]
    if not matches and (owner or name not in words()):
        return [path]
    argument_names = {*re.findall(r"\w+", arguments or "")}
    takes = [
        parameters(definition) for definition in [*public().get(name, []), *matches]
    ]
    return (
        [] if any(argument_names <= each for each in takes) else sorted(argument_names)
    )


@pytest.mark.parametrize("code", sorted({*codes(PAGE.read_text(encoding="utf-8"))}))
def test_a_name_in_a_table_of_notation_is_one_of_the_package(code: str) -> None:
    assert unknown(code) == []


def test_a_name_that_the_package_does_not_have_is_noticed() -> None:
    row = "| $s$ | $V$ | scalar | `thresholds.noise`, `.loudness`, `laws`, `laws.leverage` |"
    names = [
        *codes(row),
        "kernels.rbf_kernel",
        "edit.price",
        "Ridge(sigma)",
        "adapt(x)",
    ]
    assert [one for one in names if unknown(one)] == [
        "thresholds.loudness",
        "laws",
        "laws.leverage",
        "kernels.rbf_kernel",
        "edit.price",
        "Ridge(sigma)",
    ]
