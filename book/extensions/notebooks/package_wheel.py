"""The wheels of this build's packages, published beside the pages for their
notebooks.
"""

import csv
import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

# each package and the folder of its pyproject.toml
PACKAGES = {
    "rankone": ".",
    "rankone_book": "src/rankone_book",
}


class Wheels(NamedTuple):
    """The published wheels: their addresses on the site, their version and commit, and
    a fingerprint of their files.
    """

    addresses: list[str]
    build: str
    fingerprint: str


def publish(root: Path, outdir: Path, site: str) -> Wheels:
    """Build the wheels of a checkout into the folder of the pages, below `wheels` in a
    folder named after their version and commit.

    Args:
        root: Root of the repository.
        outdir: Folder of the pages; wheels of earlier builds are removed from it.
        site: Address of the published pages.
    """
    shutil.rmtree(outdir / "wheels", ignore_errors=True)
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(outdir / "wheels"),
    ]
    for folder in PACKAGES.values():
        process = subprocess.run(
            [*command, str(root / folder)], capture_output=True, text=True
        )
        if process.returncode:
            raise RuntimeError(
                f"The wheel of {folder} was not built:\n{process.stdout}{process.stderr}"
            )
    built = sorted((outdir / "wheels").glob("*.whl"))
    build = f"{built[0].name.split('-')[1]}-{commit(root)}"
    (outdir / "wheels" / build).mkdir()
    files = [file.rename(outdir / "wheels" / build / file.name) for file in built]
    addresses = [urljoin(site, file.relative_to(outdir).as_posix()) for file in files]
    return Wheels(addresses, build, fingerprint(*files))


def commit(root: Path) -> str:
    """The abbreviated commit of a checkout, with "-changed" if files differ from it;
    "no-commit" without git or a commit.
    """
    git = ["git", "-C", str(root)]
    try:
        head = subprocess.run(
            [*git, "rev-parse", "--short", "HEAD"],
            capture_output=True,
            text=True,
            check=True,
        )
        status = subprocess.run(
            [*git, "status", "--porcelain"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "no-commit"
    return head.stdout.strip() + "-changed" * bool(status.stdout)


def fingerprint(*wheels: Path) -> str:
    """A hash of the packages' files in some wheels, equal to the hash that a notebook
    computes for the installed packages.

    The two are equal however the packages were installed, because an installed package
    has a record of each file's hash.
    """
    lines = set[str]()
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            record = next(
                name
                for name in archive.namelist()
                if name.endswith(".dist-info/RECORD")
            )
            rows = [*csv.reader(archive.read(record).decode().splitlines())]
        for name, digest, _ in rows:
            if name.partition("/")[0] in PACKAGES:
                lines.add(f"{name} {digest.partition('=')[2]}")
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:12]
