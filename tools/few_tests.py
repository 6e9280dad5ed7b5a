"""Selects few tests that together call given functions: a test runs only if it names a
function that has not been called yet.
"""

import ast
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path

import pytest


class FewTests:
    """A plugin of pytest that skips the tests that name no missing function.

    Args:
        missing: The names of functions, methods and classes that no test has called
            yet.
    """

    def __init__(self, missing: Callable[[], Collection[str]]) -> None:
        self.missing = missing

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Function) -> None:
        """Skip a test, before its fixtures are set up, if it names no missing
        function.
        """
        if not set(self.missing()) & names_of(item.path, item.originalname):
            pytest.skip("it calls nothing new")


def names_of(path: Path, test: str) -> frozenset[str]:
    """Names in a test, and in the helpers and fixtures of its file that the test
    uses.
    """
    parts = _parts(path)
    names = set[str]()
    new = {test}
    while new:
        names |= new
        new = {name for source in new for name in parts.get(source, ())} - names
    return frozenset(names)


@cache
def _parts(path: Path) -> dict[str, set[str]]:
    """Name of each top-level definition of a file → the names in it."""
    parts: dict[str, set[str]] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        for name in [
            getattr(node, "name", ""),
            *(target.id for target in targets if isinstance(target, ast.Name)),
        ]:
            parts.setdefault(name, set()).update(_names_in(node))
    return parts


def _names_in(node: ast.AST) -> set[str]:
    """Every name, attribute, argument and string in a piece of code; fixtures are
    arguments.
    """
    names = {
        getattr(part, "id", None) or getattr(part, "attr", None)
        for part in ast.walk(node)
    }
    names |= {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
    names |= {
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }
    return {name for name in names if name}
