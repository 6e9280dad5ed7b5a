"""Fixtures and options of all tests."""

import gc
import os
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import jax
import pytest
from compiled_programs import compile_budget  # noqa: F401  a fixture of every file
from jaxtyping import install_import_hook
from quick import Quick

# modules with assertions, whose failures show the values as in a test file
pytest.register_assert_rewrite("exercise_pages", "node")
# not if other versions of JAX are tested, because the types are the same
if find_spec("beartype"):
    install_import_hook("rankone", "shapes.checked")  # before the package is imported
# tests compile many programs and run each of them once
jax.config.update("jax_disable_most_optimizations", True)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `make check`."""
    parser.addoption(
        "--quick",
        action="store_true",
        help="skip what needs the built book or starts another program",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Apply the option."""
    if config.getoption("quick"):
        config.pluginmanager.register(Quick())
        # skipped tests leave files and sockets open
        ignored = "ignore::pytest.PytestUnraisableExceptionWarning"
        config.addinivalue_line("filterwarnings", ignored)


def pytest_collection_finish() -> None:
    """Exclude everything imported so far from garbage collection, and make collections
    rarer.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)


MOST_PROCESSES = 8  # with more, all would wait for the longest file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process per core, so that as many files are tested in parallel."""
    return min(max(os.cpu_count() or 2, 2), MOST_PROCESSES)


LIBRARY = {
    "checks",
    "editing",
    "maml",
    "memory",
    "nn",
    "preconditioning",
    "printed",
    "residual",
    "theory",
}
LIBRARY |= {"universality", "writes"}
ADDS_AXES = {  # files in which other packages add axes implicitly, and which packages
    "editing/test_trees.py": "layers of equinox and flax",
    "preconditioning/test_curvature.py": "layers of equinox and flax",
}
ADDS_TYPES = {
    "editing/test_trees.py": "layers of equinox and flax",
    "maml/test_learners.py": "schedules of optax",
    "memory/test_implicit.py": "steps of optax",
    "preconditioning/test_transforms.py": "schedules of optax",
    "preconditioning/test_whitening.py": "schedules of optax",
    "residual/test_resmem.py": "schedules of optax",
}


@pytest.fixture(scope="module", autouse=True)
def nothing_promoted(request: pytest.FixtureRequest) -> Iterator[None]:
    """In tests of the library, no array is implicitly broadcast to more axes or
    promoted to another type.
    """
    path = request.path.relative_to(Path(__file__).parent)
    file = path.as_posix()
    library = path.parts[0] in LIBRARY
    rank = "raise" if library and file not in ADDS_AXES else "allow"
    types = "strict" if library and file not in ADDS_TYPES else "standard"
    with jax.numpy_rank_promotion(rank), jax.numpy_dtype_promotion(types):
        yield


@pytest.fixture(autouse=True)
def double_by_default() -> Iterator[bool]:
    """True if this process computes in double precision. A test that changes this
    fails.
    """
    before = jax.config.read("jax_enable_x64")
    yield before
    if (after := jax.config.read("jax_enable_x64")) != before:
        jax.config.update("jax_enable_x64", before)
        pytest.fail(
            f"the test leaves jax_enable_x64 = {after}: restore it, or use the fixture "
            "x64"
        )


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return Path(__file__).parents[1]


@pytest.fixture(scope="session")
def light() -> dict[str, str]:
    """Environment variables for scripts that compile many programs and run each of them
    once, as the tests do.
    """
    return os.environ | {"JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}


@pytest.fixture
def x64() -> Iterator[None]:
    """Runs a test in double precision. For a whole file:
    `pytestmark = pytest.mark.usefixtures("x64")`.
    """
    from rankone.precision import (
        double_precision,  # imported here, because the import hook must be first
    )

    with double_precision():
        yield


@pytest.fixture
def experiment(
    monkeypatch: pytest.MonkeyPatch, root: Path
) -> Iterator[Callable[[str], ModuleType]]:
    """Imports a script of `experiments/` by its name, and removes it from the imported
    modules afterwards.
    """
    folder = root / "experiments"
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    yield lambda name: __import__(name)
    for module in set(sys.modules) - before:
        if (
            folder
            in Path(getattr(sys.modules[module], "__file__", None) or "/").parents
        ):
            del sys.modules[module]
