"""Takes from every page what the theme adds and this book does not use; nothing comes from another host."""

from typing import Any

from sphinx.application import Sphinx

UNUSED = ("thebe", "sphinx-comments")  # live kernels and annotations, both fetched from elsewhere


def drop_unused_scripts(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Drop the scripts and styles of extensions that the book leaves off."""
    for kind in ("script_files", "css_files"):
        context[kind] = [asset for asset in context.get(kind, []) if not is_unused(asset)]


def is_unused(asset: Any) -> bool:
    """Whether a script or style, in a file or inline, belongs to an extension that is off."""
    text = f"{getattr(asset, 'filename', asset)} {getattr(asset, 'attributes', {}).get('body', '')}"
    return any(name in text for name in UNUSED)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, behind the theme."""
    app.connect("html-page-context", drop_unused_scripts, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
