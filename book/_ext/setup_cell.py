"""The first code cell of a chapter's notebook: it installs the book's package, then only what is missing.

It never installs jax, whose GPU build a fresh install would replace. The repository is the one of `_config.yml`.
"""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

from repository import repository
from sphinx.application import Sphinx

PROVIDED = {"jax", "jaxlib", "numpy", "rankone"}  # never installed by a notebook, or installed on its own
SETUP = """\
# Set-up. Installs the book's package if it is missing, then only what else is; jax stays as it is, with its GPU.
import importlib.util, subprocess, sys

def install(*packages):
    subprocess.check_call([sys.executable, "-m", "pip", "install", "--quiet", *packages])

if importlib.util.find_spec("rankone") is None:
    install("--no-deps", "rankone @ git+{repository}@{branch}")
needed = {needed}
missing = [package for module, package in needed.items() if importlib.util.find_spec(module) is None]
if missing:
    install(*missing)
if "google.colab" in sys.modules:
    from google.colab import output
    output.enable_custom_widget_manager()
"""


def set_up(app: Sphinx, sources: list[str]) -> str:
    """The cell, for a chapter with these code cells."""
    address, branch = repository(app)
    return SETUP.format(repository=address, branch=branch, needed=json.dumps(needed(Path(app.srcdir), sources)))


def imported(source: str, everywhere: bool = True) -> set[str]:
    """Modules that a source imports: anywhere, or only where importing it runs them."""
    tree = ast.parse(re.sub(r"^[%!].*", "", source, flags=re.MULTILINE))
    found: set[str] = set()
    for node in ast.walk(tree) if everywhere else tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {".".join(parts[:n]) for name in found for parts in [name.split(".")] for n in range(1, len(parts) + 1)}


def needed(root: Path, sources: list[str]) -> dict[str, str]:
    """Modules that a chapter needs beyond what Colab and jax bring, with the package that holds each.

    Args:
        root: Root of the repository, with its pyproject.toml; the book's package lies under src.
        sources: The chapter's code cells.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    base = {re.split(r"[^\w.]", requirement)[0] for requirement in project["dependencies"]}
    named = base.union(*map(imported, sources))
    waiting, seen = set(named), set[str]()
    while waiting:
        seen.add(module := waiting.pop())
        stem = root.joinpath("src", *module.split("."))
        for file in (stem.with_suffix(".py"), stem / "__init__.py"):
            if module.startswith("rankone") and file.is_file():
                # what a cell names it may call, functions that import included; what lies below is only loaded
                waiting |= imported(file.read_text(encoding="utf-8"), everywhere=module in named) - seen
    tops = {module.partition(".")[0] for module in seen} - PROVIDED - set(sys.stdlib_module_names)
    packages = _packages()
    return {module: packages[module][0] for module in sorted(tops & set(packages))}


@cache
def _packages() -> Mapping[str, list[str]]:
    """Top-level modules of this environment, with the packages that hold them: every file of each is looked at."""
    return packages_distributions()
