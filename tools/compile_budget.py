"""Renews `tests/compile_budget.toml`: counts the programs that each file of tests
compiles, each in its own process.

`python tools/compile_budget.py` counts all files that test the package,
`... memory/test_descent.py` only the named files.
"""

import math
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import jax

TESTS = Path(__file__).resolve().parents[1] / "tests"
TABLE = TESTS / "compile_budget.toml"
# counts are rounded up to a multiple, so that a change of jax's own caching does not
# count as growth
STEP = 10
# These need the built book or other environments, and compile little. They are counted
# only if they are named.
ELSEWHERE = ("book", "browser", "tools")
HEAD = "# The most programs that each file of tests compiles; made by `python tools/compile_budget.py`.\n"


def count(file: str) -> int:
    """Programs that one file compiles.

    Raises:
        RuntimeError: If one of its tests fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "count")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"tests/{file}",
        ]
        environment = os.environ | {"COMPILE_REPORT": str(report)}
        process = subprocess.run(
            command,
            cwd=TESTS.parent,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if process.returncode:
            raise RuntimeError(f"{file} fails:\n{process.stdout[-2000:]}")
        return int(report.read_text("utf-8"))


def main(files: list[str]) -> None:
    """Count, print and write the table; rows of deleted files are removed."""
    every = [
        path.relative_to(TESTS).as_posix() for path in sorted(TESTS.rglob("test_*.py"))
    ]
    old = tomllib.loads(TABLE.read_text("utf-8"))["most"] if TABLE.is_file() else {}
    table = {
        name: most
        for name, most in old.items()
        if name in every and (files or name.startswith(ELSEWHERE))
    }
    for name in files or [name for name in every if not name.startswith(ELSEWHERE)]:
        programs = count(name)
        table[name] = math.ceil(programs / STEP) * STEP
        print(f"{name}: {programs}", flush=True)
        rows = "".join(
            f'"{key}" = {most}\n' for key, most in sorted(table.items()) if most > STEP
        )
        TABLE.write_text(f'{HEAD}jax = "{jax.__version__}"\n\n[most]\n{rows}', "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
