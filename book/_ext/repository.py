"""Where the book's repository and its pages lie: the one place that reads the address in `_config.yml`."""

from urllib.parse import urlsplit

from sphinx.application import Sphinx


def repository(app: Sphinx) -> tuple[str, str]:
    """The repository's address and branch, from _config.yml."""
    options = app.config.html_theme_options
    return (options.get("repository_url") or "").rstrip("/"), options.get("repository_branch") or "main"


def site(app: Sphinx) -> str:
    """Address of the published book: html_baseurl, or GitHub's address for the repository's pages."""
    if app.config.html_baseurl:
        return app.config.html_baseurl.rstrip("/") + "/"
    owner, name = urlsplit(repository(app)[0]).path.strip("/").split("/")
    return f"https://{owner}.github.io/{name}/"


def colab(app: Sphinx, file: str) -> str:
    """Address that opens a published notebook in Colab."""
    path = urlsplit(repository(app)[0]).path.strip("/")
    return f"https://colab.research.google.com/github/{path}/blob/gh-pages/{file}"
