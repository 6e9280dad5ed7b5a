"""The layers of the package: the allowed imports of each, and one name for one
thing.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "rankone"
MODULES = sorted(SOURCE.rglob("*.py"))
UPPER = {"theory", "printed"}  # layers above the rest of the library
MAY = {"printed": {"printed", "theory"}, "theory": {"theory"}}
UNAVOIDABLE = {
    *(("__init__.py", layer) for layer in UPPER),  # the package imports all its parts
    (
        "language/surgery.py",
        "printed",
    ),  # it offers the mixed key of the authors' code as an option
}
SAME_NAME = {"__init__.py": "what makes a folder a package"}


def imported(path: Path) -> Iterator[str]:
    """Full names of all modules of the package that a file imports, wherever in the
    file, for type checkers too.
    """
    package = ["rankone", *path.relative_to(SOURCE).parent.parts]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*start, node.module or ""]).strip(".")
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def upper(path: Path) -> set[str]:
    """The layers on top of the library that a file imports."""
    parts = [name.split(".") for name in imported(path)]
    return {
        names[1] for names in parts if names[0] == "rankone" and len(names) > 1
    } & UPPER


@pytest.mark.parametrize(
    "path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix()
)
def test_a_module_imports_only_its_own_layer_and_those_below(path: Path) -> None:
    name = path.relative_to(SOURCE).as_posix()
    allowed = MAY.get(name.split("/")[0], set()) | {
        layer for file, layer in UNAVOIDABLE if file == name
    }
    assert upper(path) <= allowed


@pytest.mark.parametrize(
    "path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix()
)
def test_the_library_imports_nothing_of_the_book(path: Path) -> None:
    assert [
        name for name in imported(path) if name.partition(".")[0] == "rankone_book"
    ] == []


def test_the_list_of_exceptions_contains_only_needed_ones() -> None:
    assert {
        (name, layer)
        for name, layer in UNAVOIDABLE
        if layer not in upper(SOURCE / name)
    } == set()


def test_no_two_modules_have_one_name() -> None:
    names = Counter(path.name for path in MODULES)
    assert {name for name, times in names.items() if times > 1} == SAME_NAME.keys()


def test_imports_are_found_in_every_form(monkeypatch: pytest.MonkeyPatch) -> None:
    forms = "import rankone_book.claims\ndef f():\n    from rankone import printed\nfrom ..theory import drift"
    monkeypatch.setattr(Path, "read_text", lambda *_: forms)
    assert upper(SOURCE / "editing" / "file.py") == UPPER
    assert "rankone_book.claims" in imported(SOURCE / "editing" / "file.py")
