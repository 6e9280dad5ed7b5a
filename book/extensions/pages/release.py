"""Version of the book, in the footer of every page, in the address of a release, and in
links to a release.

`tools/publish.py` keeps the site of each release under its version. The environment
variable BOOK_BASEURL gives the build of a release its address.
"""

import os
import subprocess
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from extensions.pages.repository import all_versions, repository


def version(root: Path) -> str:
    """The package's version, as pyproject.toml names it."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]["version"]


@cache
def commit(root: Path) -> str:
    """The commit that is checked out, shortened; empty outside a repository."""
    return _git(root, "rev-parse", "--short=7", "HEAD")


@cache
def published(root: Path) -> bool:
    """True if the commit that is checked out, or one before it, is a release."""
    return bool(_tags(root))


@cache
def release(root: Path) -> str:
    """The newest tag "v…" up to the commit that is checked out, or the tag of the next
    release if there is none.
    """
    return next(iter(_tags(root)), f"v{version(root)}")


def _tags(root: Path) -> list[str]:
    return _git(
        root, "tag", "--list", "v[0-9]*", "--merged", "HEAD", "--sort=-version:refname"
    ).split()


def _git(root: Path, *arguments: str) -> str:
    try:
        process = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True
        )
    except FileNotFoundError:  # a source archive on a machine without git
        return ""
    return process.stdout.strip()


def released_page(app: Sphinx, docname: str) -> str:
    """Permanent address of a page in the newest release."""
    return f"{all_versions(app)}{release(Path(app.srcdir))}/{app.builder.get_target_uri(docname)}"


def _address(_app: Sphinx, config: Config) -> None:
    config.html_baseurl = os.environ.get("BOOK_BASEURL") or config.html_baseurl


def _footer(
    app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: Any
) -> None:
    root = Path(app.srcdir)
    text = f"Version {version(root)}" + (
        f", commit {commit(root)}" if commit(root) else ""
    )
    if repository(app)[0]:
        text += f'. <a href="{all_versions(app)}versions/">All versions</a>'
    context["theme_extra_footer"] = f'<p class="version">{text}</p>'


def setup(app: Sphinx) -> dict[str, Any]:
    """Give the site its address and each page its version."""
    app.connect("config-inited", _address)
    app.connect("html-page-context", _footer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
