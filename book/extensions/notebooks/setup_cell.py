"""The first code cell of a chapter's notebook: it installs missing packages, and prints
the device and versions on which the notebook runs.

It installs the wheels of the build that wrote the notebook. It never installs jax,
which could replace a GPU build. If the installation fails, one sentence says what to
do.
"""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions, requires
from pathlib import Path

from extensions.execution.runs import Cost
from extensions.notebooks.package_wheel import PACKAGES, Wheels

# modules that a notebook has, or that the set-up installs separately
PROVIDED = {
    "IPython",
    "jax",
    "jaxlib",
    "numpy",
    *PACKAGES,
}
# module -> pip's arguments, if they are not the name of its package
INSTALLED_BY: dict[str, str] = {}

SETUP = """\
# @title Set-up: run this first
# It installs the book's two packages, of the build that made this notebook, and what else is missing here.
# jax stays as it is, with its GPU.
import hashlib, importlib.metadata, importlib.util, subprocess, sys

WHEELS = <addresses>
FILES = "<fingerprint>"  # a hash of the files in those wheels
NEEDED = <needed>

class Advice(Exception):
    def _render_traceback_(self):
        return [str(self)]  # one sentence in place of a traceback

def has(module):
    return getattr(importlib.util.find_spec(module), "origin", None) is not None

def pip(*packages):
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--retries", "2", *packages]
    run = subprocess.run(command, capture_output=True, text=True)
    importlib.invalidate_caches()
    if "404 Client Error" in run.stderr:
        raise Advice(f"{packages[0]} is not there (any more): take this notebook anew from <page>.")
    if run.returncode:
        raise Advice(f"pip could not install {packages[0]}: check the network, then run this cell again.")

def installed(name):  # its files; none where it is missing, or a development install
    found = next(iter(importlib.metadata.distributions(name=name)), None)
    return [file for file in found and found.files or [] if file.hash and file.parts[0] == name]

def build():  # of the packages that are installed: False in a development install
    files = installed("rankone") + installed("rankone_book")
    lines = sorted(f"{file} {file.hash.value}" for file in files)
    return "rankone/__init__.py" in map(str, files) and hashlib.sha256("\\n".join(lines).encode()).hexdigest()[:12]

if not has("jax"):
    raise Advice("This notebook needs jax: install it as docs.jax.dev/en/latest/installation.html says.")
keep = [f"{name}=={importlib.metadata.version(name)}" for name in ("jax", "jaxlib", "numpy")]
for module, packages in NEEDED.items():
    if not has(module):
        pip(*packages.split(), *keep)
if not has("rankone") and not has("rankone_book"):
    pip(*WHEELS, "--no-deps")
elif build() not in (FILES, False):
    print("The rankone that is installed here is not of this notebook's build: replacing it.")
    try:
        pip(*WHEELS, "--no-deps", "--force-reinstall")
        for module in [name for name in sys.modules if name.startswith("rankone")]:
            del sys.modules[module]
    except Advice as advice:
        print(advice, "Until then the installed one is used.")

try:
    import rankone
    from rankone_book.notebook import report
except ImportError as error:  # an older jax
    raise Advice(error) from None
report({FILES: "<build>", False: "in development"}.get(build(), "of another build"), <facts>)
"""


def set_up(
    root: Path, sources: list[str], wheels: Wheels, page: str, cost: Cost | None
) -> str:
    """Source of the set-up cell.

    Args:
        root: Root of the repository.
        sources: The chapter's code cells.
        wheels: The wheels of this build.
        page: Address of the chapter's page.
        cost: Cost of the chapter in this build, or None if it is not known.
    """
    took = (
        {name: value and round(value) for name, value in cost._asdict().items()}
        if cost
        else {}
    )
    facts = {"tested": tested_jax(root)} | took
    values = {
        "addresses": json.dumps(wheels.addresses),
        "build": wheels.build,
        "fingerprint": wheels.fingerprint,
        "needed": json.dumps(needed(root, sources)),
        "page": page,
        "facts": ", ".join(f"{name}={value!r}" for name, value in facts.items()),
    }
    return re.sub(r"<(\w+)>", lambda match: values[match[1]], SETUP)


def tested_jax(root: Path) -> tuple[str, str]:
    """The oldest and the newest jax that the tests run on: the package's lower bound,
    and the version that the book pins.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    pins = (root / "requirements.txt").read_text(encoding="utf-8").splitlines()
    (oldest,) = re.findall(
        r"^jax>=([\d.]+)", "\n".join(project["dependencies"]), re.MULTILINE
    )
    (newest,) = re.findall(r"^jax==([\d.]+)", "\n".join(pins), re.MULTILINE)
    return oldest, newest


@cache
def imported(source: str, everywhere: bool = True) -> frozenset[str]:
    """Modules that a source imports: anywhere in it, or only at its top level."""
    tree = ast.parse(re.sub(r"^[%!].*", "", source, flags=re.MULTILINE))
    names: set[str] = set()
    typing = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    never = {
        child
        for node in typing
        for statement in node.body
        for child in ast.walk(statement)
    }
    for node in set(ast.walk(tree)) - never if everywhere else tree.body:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    parted = [name.split(".") for name in names]
    return frozenset(
        ".".join(parts[:n]) for parts in parted for n in range(1, len(parts) + 1)
    )


def needed(root: Path, sources: list[str]) -> dict[str, str]:
    """Modules to install for a chapter, with the package of each: not those in
    `PROVIDED`, nor those that come with another package.

    Args:
        root: Root of the repository, with its pyproject.toml; the book's packages are
            under src.
        sources: The chapter's code cells.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    base = {
        re.split(r"[^\w.]", requirement)[0] for requirement in project["dependencies"]
    }
    names = base.union(*map(imported, sources))
    waiting = set(names)
    modules = set[str]()
    while waiting:
        modules.add(module := waiting.pop())
        stem = root.joinpath("src", *module.split("."))
        for file in (stem.with_suffix(".py"), stem / "__init__.py"):
            if module.startswith("rankone") and file.is_file():
                # A cell may call any function of a module that it names, also one that
                # imports. Modules below are only loaded.
                waiting |= (
                    imported(
                        file.read_text(encoding="utf-8"), everywhere=module in names
                    )
                    - modules
                )
    tops = {module.partition(".")[0] for module in modules} - set(
        sys.stdlib_module_names
    )
    packages = {
        module: _packages()[module][0] for module in sorted(tops & set(_packages()))
    }
    brought = set().union(
        *map(_required, {*packages.values(), *PROVIDED} - set(PACKAGES))
    )
    return {
        module: INSTALLED_BY.get(module, package)
        for module, package in packages.items()
        if module not in PROVIDED and _name(package) not in brought
    }


@cache
def _required(package: str) -> set[str]:
    """Packages that another requires, without its extras."""
    return {_name(line) for line in requires(package) or () if "extra ==" not in line}


def _name(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement)[0].replace("_", "-").lower()


@cache
def _packages() -> Mapping[str, list[str]]:
    """Top-level modules of this environment, with their packages. It is cached, because
    it reads the list of every package's files.
    """
    return packages_distributions()
