"""Publishes the built book on the branch gh-pages: the newest build at the root, each
release under its version.

    python tools/publish.py _build/html REMOTE         # replaces the root
    python tools/publish.py _build/html REMOTE v0.1.0  # adds the folder v0.1.0

Nothing overwrites a release later. Everything in wheels/ stays too, because notebooks
that readers have saved install from there. The branch has a single commit, so that it
does not grow by replaced files. A push that would lose another's commit is refused and
repeated.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
BRANCH = "gh-pages"
RELEASE = re.compile(r"v\d[\w.]*")
AUTHOR = (
    "user.name=github-actions[bot]",
    "user.email=41898282+github-actions[bot]@users.noreply.github.com",
)
LIST = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Rank One: versions</title>
<style>:root {{ color-scheme: light dark }} body {{ font: 1.1rem/1.6 serif; margin: 2rem auto; padding: 0 1rem;
max-width: 40rem }}</style></head>
<body><main><h1>Versions of this book</h1>
<ul>
<li><a href="../">The book as it is now</a></li>
{items}
</ul></main></body>
</html>
"""


class Refused(Exception):
    """Refusal of git, with its message."""


def git(folder: Path, *arguments: str) -> str:
    """Output of a git command; raises Refused with git's message."""
    settings = [part for setting in AUTHOR for part in ("-c", setting)]
    process = subprocess.run(
        ["git", "-C", str(folder), *settings, *arguments],
        capture_output=True,
        text=True,
    )
    if process.returncode:
        raise Refused(process.stderr.strip())
    return process.stdout.strip()


def publish(
    site: Path,
    remote: str,
    tag: str | None = None,
    *,
    message: str = "Publish the book",
) -> None:
    """Publish a built site at the root, or as a release.

    Args:
        site: Folder of the built pages.
        remote: Address or path of the repository.
        tag: Tag of the release, such as "v0.1.0"; None for the root.
        message: Message of the commit.

    Raises:
        ValueError: If the tag is not the name of a release, or that release is already
            published.
        Refused: If git refuses three attempts; more than one is needed if others push
            at the same time.
    """
    if tag is not None and not RELEASE.fullmatch(tag):
        raise ValueError(
            f"tag: got {tag!r}; it must be the name of a release, such as 'v0.1.0'."
        )
    for attempt in range(3):
        try:
            return _attempt(site, remote, tag, message)
        except Refused:
            if attempt == 2:
                raise


def _attempt(site: Path, remote: str, tag: str | None, message: str) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        git(folder, "init", "--quiet")
        old = git(folder, "ls-remote", remote, f"refs/heads/{BRANCH}").partition("\t")[
            0
        ]
        if old:
            git(folder, "fetch", "--quiet", "--depth", "1", remote, old)
            git(folder, "checkout", "--quiet", "FETCH_HEAD")
        arrange(site, folder, tag)
        git(folder, "add", "--all", "--force")
        commit = git(folder, "commit-tree", git(folder, "write-tree"), "-m", message)
        lease = f"--force-with-lease=refs/heads/{BRANCH}:{old}"
        git(folder, "push", "--quiet", lease, remote, f"{commit}:refs/heads/{BRANCH}")


def arrange(site: Path, folder: Path, tag: str | None) -> None:
    """Put a site into the published folder, and list the published versions.

    Raises:
        ValueError: If the release is already published.
    """
    if tag is not None:
        if (folder / tag).exists():
            raise ValueError(
                f"release {tag} is published already, and stays as it is: choose "
                "another version"
            )
        shutil.copytree(site, folder / tag)
    else:
        for path in folder.iterdir():
            if path.name not in {".git", "wheels"} and not RELEASE.fullmatch(path.name):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        names = {path.name for path in folder.glob("wheels/*")}
        shutil.copytree(
            site, folder, ignore=_within("wheels", names), dirs_exist_ok=True
        )
    (folder / ".nojekyll").touch()
    _list_versions(folder)


def _within(name: str, names: set[str]) -> Callable[[str, list[str]], set[str]]:
    return lambda folder, _names: names if Path(folder).name == name else set()


def _list_versions(folder: Path) -> None:
    tags = [
        path.name
        for path in folder.iterdir()
        if path.is_dir() and RELEASE.fullmatch(path.name)
    ]
    tags.sort(
        key=lambda tag: [int(number) for number in re.findall(r"\d+", tag)],
        reverse=True,
    )
    folder.joinpath("versions.json").write_text(
        json.dumps({"releases": [tag[1:] for tag in tags]}) + "\n"
    )
    items = "\n".join(
        f'<li><a href="../{tag}/">Release {tag[1:]}</a></li>' for tag in tags
    )
    folder.joinpath("versions").mkdir(exist_ok=True)
    folder.joinpath("versions", "index.html").write_text(
        LIST.format(items=items), encoding="utf-8"
    )


def main() -> int:
    """Publish as the command line says; the tag of a release must be the version of
    pyproject.toml.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("remote")
    parser.add_argument("tag", nargs="?")
    options = parser.parse_args()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]["version"]
    if options.tag not in {None, f"v{version}"}:
        print(
            f"The tag {options.tag} does not name the version of pyproject.toml, "
            f"{version}.",
            file=sys.stderr,
        )
        return 1
    try:
        publish(options.site, options.remote, options.tag)
    except (ValueError, Refused) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
