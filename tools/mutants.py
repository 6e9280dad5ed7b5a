"""Changes one formula of the package at a time and runs the tests that should notice: do the tests bite?

    python tools/mutants.py [--only ID ...] [--table tests/mutants.yml]

A row of the table names a file of `src/rankone`, a piece of it that occurs once, what to write instead, the test files
and (as `pick`) the expression for pytest's `-k`. A row with `survives` gives the reason why no test needs to notice.
Each change is made in a copy of `src` in a temporary folder; the working tree is not touched. Exits with 1 if a change
that should be noticed is not, or if a row no longer fits the code.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib.util import cache_from_source
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
LIMIT = 600  # seconds for the tests of one mutant: a formula that never ends is noticed, too
OUTCOMES = {0: "survived", 1: "killed"}  # pytest's exit codes; any other means that the tests did not run


def read(table: Path, only: list[str]) -> list[dict[str, str]]:
    """The rows of the table, or those with the ids in `only`.

    Raises:
        ValueError: `only` names no row, or two rows share an id.
    """
    rows = yaml.safe_load(table.read_text())
    ids = Counter(row["id"] for row in rows)
    wrong = [name for name in only if name not in ids] + [name for name, times in ids.items() if times > 1]
    if wrong:
        raise ValueError(f"{table}: no row or more than one has the id {', '.join(wrong)}; each id names one row")
    return [row for row in rows if not only or row["id"] in only]


def outcome(row: dict[str, str], source: Path) -> str:
    """Makes the row's change in the copy `source`, runs its tests, undoes the change; says how the tests ended."""
    file = source / "rankone" / row["file"]
    text = file.read_text() if file.exists() else ""
    if text.count(row["old"]) != 1:
        return f"stale: {row['file']} holds the old piece {text.count(row['old'])} times"
    tests = [str(ROOT / "tests" / name) for name in row["tests"].split()]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests, "-k", row.get("pick", "")]
    compiled = Path(cache_from_source(str(file)))
    compiled.unlink(missing_ok=True)
    file.write_text(text.replace(row["old"], row["new"]))
    try:
        run = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(source)},
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired:
        return "killed"
    finally:
        file.write_text(text)
        compiled.unlink(missing_ok=True)
    return OUTCOMES.get(run.returncode) or f"broken: {(run.stdout + run.stderr).strip().splitlines()[-1]}"


def main() -> int:
    """Runs the table and prints a line per mutant, then the counts per package."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="run only the rows with these ids")
    parser.add_argument("--table", type=Path, default=ROOT / "tests" / "mutants.yml")
    arguments = parser.parse_args()
    rows = read(arguments.table, arguments.only)
    counts: Counter[tuple[str, str]] = Counter()
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source)
        for i, row in enumerate(rows, 1):
            start = time.monotonic()
            how = outcome(row, source)
            expected = how == "killed" or (how == "survived" and "survives" in row)
            bad += [] if expected else [row["id"]]
            counts[row["file"].split("/")[0], how.split(":")[0]] += 1
            reason = f" ({row['survives']})" if "survives" in row else ""
            seconds = time.monotonic() - start
            print(f"[{i}/{len(rows)}] {row['id']} {how}{reason}, {seconds:.0f} s", flush=True)
    for package in sorted({package for package, _ in counts}):
        ends = {how: number for (name, how), number in sorted(counts.items()) if name == package}
        print(f"{package}: " + ", ".join(f"{number} {how}" for how, number in ends.items()))
    if bad:
        print(f"not as they should be: {' '.join(bad)}")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
