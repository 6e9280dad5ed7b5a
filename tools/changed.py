"""`make check`: lints the files that changed since the branch left main, committed or
not, and runs the tests that concern them.

The tests that concern a change follow from the files, not from a list:

- A module of a package: its own test file, and the tests of its part and of
  `tests/checks` that name something which the module defines. If there is none, or if
  two modules of the part import it, the whole part. If all parts share it, all parts.
- A page or a table of the book: `tests/book`, and the tests that name the file.
- A file of the front end: JavaScript's own tests, and those of the explorer, or of all
  explorers if they share it.
- Anything else: the tests that import it or name it.

Tests run with `--quick` (`tests/quick.py`), which skips those that need the built book
or start other programs. pytest-testmon selects tests by the code that they ran before.
It does not track pages, tables and scripts, and has no data in a fresh clone.
"""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path, PurePosixPath

from few_tests import names_of

ROOT = Path(__file__).resolve().parents[1]
ALWAYS = {
    "tests/checks/test_annotated.py",
    "tests/checks/test_checks.py",
    "tests/checks/test_composition.py::test_every_public_function_that_takes_arrays_is_tested_for_composition",
    "tests/checks/test_module.py::test_every_public_class_is_made_here",
    "tests/tools/test_bad_inputs.py::test_every_public_function_is_called_by_an_example_or_a_record",
    "tests/tools/test_layers.py",
}
# folders of tests that belong to no part of the library
OTHERS = {
    "book",
    "browser",
    "benchmarks",
    "exercises",
    "experiments",
    "references",
    "tools",
}
# fails for a check without a row in tools/rubrics.toml
WRITTEN_HALF = "tests/exercises/test_assignment.py::test_every_check_has_a_written_half"
# fails for an explorer that lacks a part
PARTS_OF_EXPLORERS = "tests/widgets/test_settings.py"
EXAMPLES = "tests/test_examples.py::test_the_examples_print_the_output_they_show"
SHARED = 2  # a module that this many others of its part import concerns the whole part
# folders whose modules have common names → folders of tests that may use them
HOMES = {
    "benchmarks": {"benchmarks"},
    "experiments": {"book", "experiments"},
}
# folders of tools that tests use: a test of a tool concerns the files that the tool
# names
BY_TOOLS = (
    "tools",
    "book/extensions",
)


def git(*arguments: str) -> list[str]:
    """The lines that git prints."""
    process = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return process.stdout.splitlines()


def changed() -> list[str]:
    """Files that differ from where this branch left main, and new ones."""
    base = (
        git("merge-base", "HEAD", "main")
        or git("merge-base", "HEAD", "origin/main")
        or ["HEAD"]
    )
    return [
        *git("diff", "--name-only", base[0]),
        *git("ls-files", "--others", "--exclude-standard"),
    ]


def linters(files: Iterable[str]) -> list[str]:
    """The targets of the Makefile whose result the changed files can change."""
    paths = [PurePosixPath(file) for file in files]
    targets = ["lint-text"]
    if any(
        path.suffix in (".py", ".toml") or path.name == "requirements.txt"
        for path in paths
    ):
        targets.append("lint-types")
    front = (
        PurePosixPath("frontend"),
        PurePosixPath("book/_static"),
        PurePosixPath("book/extensions"),
    )
    ends = (".js", ".cjs", ".mjs", ".ts", ".css", ".json")
    if any(
        path.is_relative_to(folder) and path.suffix in ends
        for path in paths
        for folder in front
    ):
        targets.append("lint-frontend")
    return targets


def selected(files: Iterable[str]) -> list[str]:
    """The files and tests for pytest to run after a change of some files, each test
    once.
    """
    tests: set[str] = set(ALWAYS)
    for path in map(PurePosixPath, files):
        if path.is_relative_to("tests"):
            tests |= _by_test_file(path)
        elif path.is_relative_to("src/rankone_book/exercises"):
            tests |= {WRITTEN_HALF, _test_file("tests/exercises", path.parts[3])}
        elif path.is_relative_to("src") and path.suffix == ".py":
            tests |= _by_module(path)
            if path.is_relative_to("src/rankone_book/widgets"):
                tests.add(PARTS_OF_EXPLORERS)
        elif path.parts[0] == "frontend":
            tests |= {
                "tests/test_frontend.py",
                PARTS_OF_EXPLORERS,
                _test_file("tests/widgets", path.parts[1]),
            }
        elif path.is_relative_to("src/rankone_book/widgets") and path.suffix != ".py":
            tests |= {PARTS_OF_EXPLORERS, _test_file("tests/widgets", path.stem)}
        elif path.parts[0] == "book" and path.suffix in (".md", ".yml", ".bib"):
            tests |= {"tests/book"} | _naming(path)
        else:
            tests |= _naming(path)
    return sorted(test for test in tests if not tests & {*_above(test)})


def _above(test: str) -> Iterator[str]:
    """The file of a test, and the folders of a file."""
    file, _, name = test.partition("::")
    if name:
        yield file
    yield from map(str, PurePosixPath(file).parents)


@cache
def parts() -> frozenset[str]:
    """The folders of tests of the library."""
    folders = (
        path.name for path in (ROOT / "tests").iterdir() if any(path.glob("test_*.py"))
    )
    return frozenset(folders) - OTHERS


def _by_test_file(path: PurePosixPath) -> set[str]:
    """The tests that concern a changed file in tests/."""
    if not (ROOT / path).is_file() or path.is_relative_to("tests/browser"):
        return set()
    if path.name.startswith("test_"):
        return {str(path)}
    if path.name == "conftest.py" and len(path.parts) > 2:
        return {str(path.parent)}
    common = ROOT / "tests/conftest.py"
    # as in install_import_hook("rankone", "shapes.checked")
    hooks = {text.partition(".")[0] for text in _texts(common)}
    if path.name == "conftest.py" or path.stem in _imported(common) | hooks:
        return {f"tests/{part}" for part in parts()}
    return _naming(path)


def _test_file(folder: str, name: str) -> str:
    """The test file of that name in a folder of tests, or the folder if there is
    none.
    """
    file = f"{folder}/test_{name}.py"
    return file if (ROOT / file).is_file() else folder


def _by_module(path: PurePosixPath) -> set[str]:
    """The tests that concern a changed module of a package."""
    module = ".".join(path.relative_to("src").with_suffix("").parts).removesuffix(
        ".__init__"
    )
    deleted = not (ROOT / path).is_file()
    examples = (
        {f"{EXAMPLES}[{module}]"}
        if not deleted and ">>> " in (ROOT / path).read_text(encoding="utf-8")
        else set()
    )
    part = path.parts[2]
    if part not in parts():
        everywhere = (
            path.parts[1] == "rankone"
            and len(path.parts) == 3
            and (deleted or _importers(path))
        )
        return examples | (
            {f"tests/{folder}" for folder in parts()} if everywhere else _naming(path)
        )
    if deleted or path.name == "__init__.py" or len(_importers(path)) >= SHARED:
        return examples | {f"tests/{part}"}
    test_file = ROOT / "tests" / part / f"test_{path.stem}.py"
    names = _defined(ROOT / path)
    single = {f"tests/{part}/{test_file.name}"} if test_file.is_file() else set()
    for file in [
        *test_file.parent.glob("test_*.py"),
        *(ROOT / "tests/checks").glob("test_*.py"),
    ]:
        relative = file.relative_to(ROOT).as_posix()
        single |= {
            f"{relative}::{test}"
            for test in _tests(file)
            if names & names_of(file, test)
        }
    alone = any(test.startswith(f"tests/{part}/") for test in single)
    return examples | (single if alone else {f"tests/{part}"})


@cache
def _importers(path: PurePosixPath) -> frozenset[Path]:
    """The modules in a module's folder, or below it, that import it."""
    modules = (ROOT / path).parent.rglob("*.py")
    return frozenset(
        module
        for module in modules
        if module.name != "__init__.py" and path.stem in _imported(module)
    )


@cache
def _imported(file: Path) -> frozenset[str]:
    """The last names of the modules that a file may import: `a.b.c` gives c, and
    `from a.b import c` b and c.
    """
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.name.rpartition(".")[2] for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.rpartition(".")[2])
    return frozenset(names)


@cache
def _texts(file: Path) -> tuple[str, ...]:
    """The constant texts in a file."""
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    return tuple(
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _defined(module: Path) -> set[str]:
    """Names of the top-level functions and classes of a module. Methods are left out,
    because their names occur in other classes too.
    """
    body = ast.parse(module.read_text(encoding="utf-8")).body
    return {
        node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def _tests(file: Path) -> list[str]:
    """The tests and classes of tests at the top of a file."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    names = [
        node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    return [name for name in names if name.startswith(("test_", "Test"))]


def _naming(path: PurePosixPath) -> set[str]:
    """The test files that import a file, or name it in a text, and those that use a
    tool which names it in a text.

    A table or a page is named by its file's name. An experiment is named without the
    ending, as in `experiment("figure6")`.
    """
    stem = path.stem
    files = {
        file
        for file in (ROOT / "tests").rglob("test_*.py")
        if "browser" not in file.parts
    }
    if path.parts[0] in HOMES:
        files = {file for file in files if file.parent.name in HOMES[path.parts[0]]}
    if path.suffix == ".py":
        selection = {file for file in files if stem in _imported(file)}
    else:
        tools = [tool for folder in BY_TOOLS for tool in (ROOT / folder).glob("*.py")]
        using = {
            tool.stem
            for tool in tools
            if any(path.name in text for text in _texts(tool))
        }
        selection = {file for file in files if using & _imported(file)}
    selection |= {
        file for file in files if any(path.name in text for text in _texts(file))
    }
    if path.parts[0] in ("book", "experiments"):
        selection |= {
            file
            for file in files
            if file.parent.name in ("exercises", "experiments") and stem in _texts(file)
        }
    return {file.relative_to(ROOT).as_posix() for file in selection}


def main() -> int:
    """Lint and test in parallel; the exit status is 0 if both pass."""
    files = changed()
    tests = selected(files)
    targets = linters(files)
    whole = sorted(test for test in tests if "::" not in test)
    print(
        f"{len(files)} changed files lead to:",
        *targets,
        *whole,
        f"and {len(tests) - len(whole)} more tests",
        flush=True,
    )
    pytest = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rfE",
        "--quick",
        "--numprocesses",
        "2",
        "--dist",
        "worksteal",
        *tests,
    ]
    lint = ["make", "--silent", "--keep-going", *targets]
    sys.stdout.flush()
    with ThreadPoolExecutor(1) as pool:
        linted = pool.submit(
            lambda: subprocess.run(
                lint, cwd=ROOT, capture_output=True, text=True, check=False
            )
        )
        tested = subprocess.run(pytest, cwd=ROOT, check=False)
        report = linted.result()
    print(report.stdout, report.stderr, sep="", end="")
    print(
        "lint:",
        "FAILED" if report.returncode else "passed",
        "· tests:",
        "FAILED" if tested.returncode else "passed",
    )
    print(
        "Not run: tests/browser, the tests that are counted above as skipped, and all "
        "that the change does not name."
    )
    print("`make test` runs them; `make compat` tries other versions.")
    return tested.returncode or report.returncode


if __name__ == "__main__":
    sys.exit(main())
