"""Programs that a file of tests may ask JAX to compile: most of a test's time is
tracing and compiling.

Counted are requests, so that a file has one count whether the persistent cache is full
or empty. Its programs are dropped after it, so that no file lives on another's. Counts
are limited, and not seconds, because all machines compile equally many programs.
`tests/compile_budget.toml` holds the most for each file, and
`.venv/bin/python tools/compile_budget.py` renews it.
"""

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import pytest

TABLE = Path(__file__).with_name("compile_budget.toml")
UNLISTED = 10  # programs that a file may compile which the table does not name
# jax forgets the programs of a function that is garbage, and when that is collected
# differs from run to run: `memory/test_memories.py` was seen to ask for 329 to 333.
SLACK = 1.02
compiled = 0


def _count(event: str, _seconds: float, **_: object) -> None:
    global compiled
    compiled += event == "/jax/core/compile/backend_compile_duration"


jax.monitoring.register_event_duration_secs_listener(_count)


def excess(file: str, count: int, table: dict[str, Any]) -> str | None:
    """What to say of a file, by its path in tests/, that compiles too much; None on
    another jax than was counted on.
    """
    most = table["most"].get(file, UNLISTED)
    if count <= SLACK * most or table["jax"] != jax.__version__:
        return None
    return (
        f"{file} compiles {count} programs, its budget is {most}: share shapes and "
        "dtypes between tests, and jit at the outermost call; where the growth is "
        f"meant, run `.venv/bin/python tools/compile_budget.py {file}`"
    )


@pytest.fixture(scope="module", autouse=True)
def compile_budget(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail in a file's last test if the file has compiled more programs than its budget
    allows.
    """
    before = compiled
    yield
    count = compiled - before
    jax.clear_caches()  # a process that keeps every file's programs grows to gigabytes
    if report := os.environ.get("COMPILE_REPORT"):
        Path(report).write_text(str(count), "utf-8")
    elif said := excess(
        request.path.relative_to(TABLE.parent).as_posix(),
        count,
        tomllib.loads(TABLE.read_text()),
    ):
        pytest.fail(said, pytrace=False)
