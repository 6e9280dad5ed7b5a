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

# helpers that assert: a failure there shows the values, as in a test file
pytest.register_assert_rewrite("exercise_pages", "node")
# not where other versions of jax are tried: types are the same there
if find_spec("beartype"):
    install_import_hook("rankone", "shapes.checked")  # before the package is imported
# tests compile much and run it once
jax.config.update("jax_disable_most_optimizations", True)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `make check`."""
    parser.addoption(
        "--quick",
        action="store_true",
        help="skip what needs the built book or starts another program",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Turn the option on."""
    if config.getoption("quick"):
        config.pluginmanager.register(Quick())
        # skipped tests leave files and sockets open
        ignored = "ignore::pytest.PytestUnraisableExceptionWarning"
        config.addinivalue_line("filterwarnings", ignored)


def pytest_collection_finish() -> None:
    """What is imported by now stays: the search for garbage need not look through it,
    nor so often.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)


MOST_PROCESSES = 8  # beyond, all wait for the file that takes longest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """A process per core, so that as many files as that are tested side by side."""
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
ADDS_AXES = {  # files in which others promote unasked, and who
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
    """In tests of the library no array gains an axis, and none another type, unless the
    code says so.
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
    """Whether this process computes in double precision; fails a test after which that
    has changed.
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
    """This process's variables, for scripts that compile much and run it once, as the
    tests do.
    """
    return os.environ | {"JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}


@pytest.fixture
def x64() -> Iterator[None]:
    """A test in double precision: for a whole file,
    `pytestmark = pytest.mark.usefixtures("x64")`.
    """
    from rankone.precision import (
        double_precision,  # here, because the hook comes before the package
    )

    with double_precision():
        yield


@pytest.fixture
def experiment(
    monkeypatch: pytest.MonkeyPatch, root: Path
) -> Iterator[Callable[[str], ModuleType]]:
    """Imports a script of `experiments/` by its name, and forgets it afterwards."""
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
