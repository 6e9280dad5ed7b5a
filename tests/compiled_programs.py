"""Limits for the number of programs that a file of tests asks JAX to compile, because
most of a test's time is tracing and compiling.

Requests are counted, so that the count of a file does not depend on the persistent
cache. The programs of a file are dropped after its last test, so that no file uses
those of another. The limit is on counts and not on seconds, because all machines
compile equally many programs. `tests/compile_budget.toml` has the limit of each file,
and `.venv/bin/python tools/compile_budget.py` renews it.
"""

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import pytest

TABLE = Path(__file__).with_name("compile_budget.toml")
UNLISTED = 10  # programs that a file without an entry in the table may compile
# JAX forgets the programs of a function that is collected as garbage, and the time of
# the collection differs from run to run: `memory/test_memories.py` asked for 329 to 333
# programs.
SLACK = 1.02
compiled = 0


def _count(event: str, _seconds: float, **_: object) -> None:
    global compiled
    compiled += event == "/jax/core/compile/backend_compile_duration"


jax.monitoring.register_event_duration_secs_listener(_count)


def excess(file: str, count: int, table: dict[str, Any]) -> str | None:
    """Message for a file (its path in tests/) that compiles too many programs. None if
    it does not, or if the version of JAX is not that of the table.
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
    jax.clear_caches()  # otherwise the process would grow to gigabytes
    if report := os.environ.get("COMPILE_REPORT"):
        Path(report).write_text(str(count), "utf-8")
    elif said := excess(
        request.path.relative_to(TABLE.parent).as_posix(),
        count,
        tomllib.loads(TABLE.read_text()),
    ):
        pytest.fail(said, pytrace=False)
