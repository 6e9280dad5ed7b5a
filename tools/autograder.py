"""The archive that Gradescope grades with: checks, pinned requirements and the wheels
that the book publishes.
"""

import json
import re
import secrets
import zipfile
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement

__all__ = ["archive", "pinned"]

ROOT = Path(__file__).resolve().parents[1]
NEEDED = ("rankone", "ipython", "matplotlib")  # to run cells, and to draw


def pinned(names: tuple[str, ...], text: str) -> str:
    """The lines of requirements.txt, with hashes, for packages and all their
    dependencies except this repository's own packages.

    Args:
        names: Names of packages that are installed here, whose metadata name their
            dependencies.
        text: Text of requirements.txt.
    """
    waiting = set(names)
    closure = set[str]()
    while waiting:
        closure.add(name := waiting.pop())
        try:
            below = [Requirement(line) for line in requires(name) or []]
        except PackageNotFoundError:
            # needed only on another platform or Python: keep its line, with its marker
            continue
        mandatory = [r for r in below if "extra" not in str(r.marker)]
        waiting |= {re.sub(r"[-_.]+", "-", r.name).lower() for r in mandatory} - closure
    blocks = re.findall(r"^[a-z0-9].*(?:\n .*)*", text, re.MULTILINE)
    return (
        "\n".join(block for block in blocks if re.split(r"[=\[ ]", block)[0] in closure)
        + "\n"
    )


def archive(chapter: str, packages: list[Path], path: Path) -> None:
    """Write the archive of one chapter.

    Args:
        chapter: Folder of checks in rankone_book.exercises.
        packages: The wheels, which the students' notebooks install too.
        path: Path of the zip file.
    """
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    config = {"chapter": chapter, "secret": secrets.token_hex(16)}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        for script in ("setup.sh", "run_autograder"):
            bundle.write(ROOT / "tools" / "gradescope" / script, script)
        for check in sorted(
            (ROOT / "src/rankone_book/exercises" / chapter).glob("q*.py")
        ):
            bundle.write(check, f"tests/{check.name}")
        for package in packages:
            bundle.write(package, package.name)
        bundle.writestr("requirements.txt", pinned(NEEDED, text))
        bundle.writestr(
            "uv.txt",
            pinned(
                ("uv",), (ROOT / "requirements-tests.txt").read_text(encoding="utf-8")
            ),
        )
        bundle.writestr("config.json", json.dumps(config, indent=1))
