"""Runs the tests of what changed since the branch left main, committed or not: `python tools/changed.py`.

Tests mirror the package: a change in `src/rankone/editing` runs `tests/editing`, one in a module that all parts share
runs them all. What needs the built book, a browser or other environments is left to `make test`.
"""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
WITH_BOOK = {"book", "browser", "benchmarks", "exercises", "experiments", "references", "tools"}
QUICK = ["tests/checks", "tests/test_examples.py"]  # of every public name


def git(*arguments: str) -> list[str]:
    """The lines that git prints."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def changed() -> list[str]:
    """Files that differ from where this branch left main, and new ones."""
    base = git("merge-base", "HEAD", "main") or git("merge-base", "HEAD", "origin/main") or ["HEAD"]
    return [*git("diff", "--name-only", base[0]), *git("ls-files", "--others", "--exclude-standard")]


def selected(files: Iterable[str], tests: Path = ROOT / "tests") -> list[str]:
    """What to give to pytest for some changed files, each test once.

    Args:
        files: Paths in the repository.
        tests: The folder of tests.
    """
    parts = {path.name for path in tests.iterdir() if path.is_dir() and any(path.glob("test_*.py"))} - WITH_BOOK
    chosen: set[str] = set()
    for path in map(PurePosixPath, files):
        part = (
            path.parts[2] if path.is_relative_to("src/rankone") else path.parts[1] if path.parts[0] == "tests" else ""
        )
        alone = tests / part / f"test_{path.stem}.py"
        if path.parts[0] == "tests" and path.name.startswith("test_"):
            chosen |= {str(path)} if part not in WITH_BOOK and (tests.parent / path).is_file() else set()
        elif part in parts:
            chosen.add(f"tests/{part}/{alone.name}" if alone.is_file() else f"tests/{part}")
        elif part and part not in WITH_BOOK and path.suffix == ".py":
            chosen |= {f"tests/{each}" for each in parts}
    inside = {each for each in chosen if str(PurePosixPath(each).parent) in chosen}
    return sorted((chosen - inside) | set(QUICK))


if __name__ == "__main__":
    chosen = selected(changed())
    print("pytest", *chosen)
    command = [sys.executable, "-m", "pytest", "-q", "--numprocesses", "2", "--dist", "loadfile", *chosen]
    sys.exit(subprocess.run(command, cwd=ROOT, check=False).returncode)
