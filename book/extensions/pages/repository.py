"""Addresses of the book's repository and of its pages, from `_config.yml`, or from the
environment on GitHub's machines.

To publish a copy of the book, change one line there, or none if GitHub builds it.
"""

import os
import re
from urllib.parse import urlsplit

from sphinx.application import Sphinx
from sphinx.config import Config


def repository(app: Sphinx) -> tuple[str, str]:
    """The repository's address and branch."""
    options = app.config.html_theme_options
    return (options.get("repository_url") or "").rstrip("/"), options.get(
        "repository_branch"
    ) or "main"


def site(app: Sphinx) -> str:
    """Address of the published book: html_baseurl, or GitHub's address for the
    repository's pages.
    """
    if app.config.html_baseurl:
        return app.config.html_baseurl.rstrip("/") + "/"
    owner, name = urlsplit(repository(app)[0]).path.strip("/").split("/")
    host = f"{owner.lower()}.github.io"
    return f"https://{host}/" if name.lower() == host else f"https://{host}/{name}/"


def all_versions(app: Sphinx) -> str:
    """Address under which all versions are published: that of this site, without its
    version.
    """
    return re.sub(r"/v\d[^/]*/$", "/", site(app))


def colab(app: Sphinx, file: str, tag: str | None = None) -> str:
    """Address that opens a published notebook of this site, or of a release such as
    "v0.1.0", in Colab.
    """
    path = urlsplit(repository(app)[0]).path.strip("/")
    folder = f"{tag}/" if tag else site(app).removeprefix(all_versions(app))
    return (
        f"https://colab.research.google.com/github/{path}/blob/gh-pages/{folder}{file}"
    )


def read_environment(app: Sphinx, config: Config) -> None:
    """On GitHub's machines, take the repository from the environment."""
    if name := os.environ.get("GITHUB_REPOSITORY"):
        server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
        config.html_theme_options["repository_url"] = f"{server}/{name}"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, to run before all modules that name the repository."""
    app.connect("config-inited", read_environment, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
