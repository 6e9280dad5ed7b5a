"""Environments with other versions of Python and of packages than the book's own, made
by uv.

Tests make such environments too (`test_colab.py`, `test_installed.py`). They could not
call a session of nox.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from uv import find_uv_bin

__all__ = ["python", "pythons", "remade", "run", "uv"]

# once, because sysconfig is not safe to call from two threads at a time
UV = find_uv_bin()
VERSIONS = ["3.11", "3.12", "3.13", "3.14"]  # as requirements.in says
# Environment variables without those that point Python to other places. pip does not
# compile packages when it installs them: modules are compiled when they are imported.
CLEAN = {
    key: value
    for key, value in os.environ.items()
    if not key.startswith(("PYTHON", "JUPYTER", "VIRTUAL_ENV"))
}
CLEAN["PIP_NO_COMPILE"] = "1"


def python(version: str) -> Path | None:
    """A Python of a version such as "3.13" on this machine, from the path or from
    pyenv, or None.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    candidates = [
        sys.executable,
        shutil.which(f"python{version}"),
        *sorted(pyenv.glob(f"{version}.*/bin/python")),
    ]
    return next(
        (Path(path) for path in candidates if path and _version(path) == version), None
    )


def pythons() -> list[Path]:
    """The Pythons of this machine in `VERSIONS`, oldest first, one of each version."""
    return [path for version in VERSIONS if (path := python(version))]


def _version(path: Path | str) -> str:
    ask = "import sys; print(*sys.version_info[:2], sep='.')"
    return subprocess.run(
        [path, "-c", ask], capture_output=True, text=True, env=CLEAN, check=False
    ).stdout.strip()


def uv(*arguments: object) -> str:
    """Output of uv for some arguments."""
    return run([UV, *arguments])


def run(command: list[Any], **options: Any) -> str:
    """Output of a command.

    Raises:
        RuntimeError: If it fails; the message is all its output.
    """
    process = subprocess.run(
        [*map(str, command)],
        env=CLEAN,
        capture_output=True,
        text=True,
        timeout=600,
        **options,
    )
    if process.returncode:
        raise RuntimeError(
            f"{' '.join(map(str, command))}\n{process.stdout}{process.stderr}"
        )
    return process.stdout


def remade(folder: Path, python: Path, *requirements: object) -> Path:
    """The Python of an environment with the packages that `uv pip install` installs for
    some arguments.

    Args:
        folder: Folder of the environment, which is reused while Python, the arguments
            and the files that they name are the same.
        python: Python on which the environment is based.
        requirements: Arguments of `uv pip install`.
    """
    texts = [
        path.read_text("utf-8")
        for path in map(Path, map(str, requirements))
        if path.is_file()
    ]
    content = "\n".join([str(python), *map(str, requirements), *texts])
    stamp = folder / "made-from.txt"
    executable = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not stamp.is_file() or stamp.read_text("utf-8") != content:
        uv("venv", "--quiet", "--clear", "--seed", "--python", python, folder)
        uv("pip", "install", "--quiet", "--python", executable, *requirements)
        stamp.write_text(content, "utf-8")
    return executable
