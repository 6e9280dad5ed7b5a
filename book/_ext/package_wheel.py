"""The package's wheel of this very build, published beside the pages for their notebooks."""

import csv
import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin


class Wheel(NamedTuple):
    """A published wheel: its address on the site, its version and commit, and a fingerprint of its files."""

    address: str
    build: str
    fingerprint: str


def publish(root: Path, outdir: Path, site: str) -> Wheel:
    """Build the wheel of a tree and lay it under the pages, in a folder named after its version and commit.

    Args:
        root: Root of the repository.
        outdir: Where the pages are written; wheels of earlier builds leave it.
        site: Address of the published pages.
    """
    shutil.rmtree(outdir / "wheels", ignore_errors=True)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", outdir / "wheels", root]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"The package's wheel was not built:\n{done.stdout}{done.stderr}")
    file = next((outdir / "wheels").glob("*.whl"))
    build = f"{file.name.split('-')[1]}-{commit(root)}"
    (outdir / "wheels" / build).mkdir()
    file = file.rename(outdir / "wheels" / build / file.name)
    return Wheel(urljoin(site, file.relative_to(outdir).as_posix()), build, fingerprint(file))


def commit(root: Path) -> str:
    """The commit of a tree in short; it says where files have changed since, or where git knows of none."""
    git = ["git", "-C", str(root)]
    try:
        found = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
        changed = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "no-commit"
    return found.stdout.strip() + "-changed" * bool(changed.stdout)


def fingerprint(wheel: Path) -> str:
    """A hash of the package's files in a wheel, equal to what a notebook finds of the installed ones.

    Whoever installed them, and from where: the record of an installed package keeps the hash of every file.
    """
    with zipfile.ZipFile(wheel) as archive:
        record = next(name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
        rows = [*csv.reader(archive.read(record).decode().splitlines())]
    lines = sorted({f"{name} {digest.partition('=')[2]}" for name, digest, _ in rows if name.startswith("rankone/")})
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
