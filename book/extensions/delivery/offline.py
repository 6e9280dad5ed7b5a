"""Removes from every page the files that unused extensions still add, and that they
would fetch from other sites.
"""

from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

UNUSED = ("sphinx_thebe", "sphinx_comments")  # live kernels and annotations
FILES = ("thebe", "sphinx-comments")


def disconnect_unused(app: Sphinx, config: Config) -> None:
    """Stop these extensions from writing into pages; jupyter-book loads them whatever
    the configuration says.
    """
    for listeners in app.events.listeners.values():
        listeners[:] = [
            listener
            for listener in listeners
            if not listener.handler.__module__.startswith(UNUSED)
        ]


def drop_unused_files(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Drop the scripts and styles that they added while loading."""
    for kind in ("script_files", "css_files"):
        files = context.get(kind, [])
        context[kind] = [
            file
            for file in files
            if not any(name in str(file.filename) for name in FILES)
        ]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, to run before those extensions load and after the theme."""
    app.connect("config-inited", disconnect_unused, priority=1)
    app.connect("html-page-context", drop_unused_files, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
