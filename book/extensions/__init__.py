"""Sphinx extensions of this book, in the order in which they are set up.

`claims` links each number of the text to the cell that computed it. `pages` makes the
parts of a page beside its text, `notebooks` writes each chapter as a notebook, `course`
makes the pages for teachers, `delivery` decides which files a browser loads and when,
and `execution` runs the cells.

Each module does one thing for a page, and can be read, or left out of the list, on its
own.
"""

from typing import Any

from sphinx.application import Sphinx

EXTENSIONS = (
    "pages.repository",
    "delivery.offline",
    "pages.formulas",
    "delivery.plotly_figures",
    "execution.runs",
    "delivery.lean_style",
    "delivery.first_paint",
    "delivery.light_pictures",
    "delivery.on_demand",
    "pages.punctuation",
    "claims.table",
    "claims.measured_lines",
    "pages.notation",
    "pages.previews",
    "pages.definitions",
    "pages.explorer_links",
    "pages.tours",
    "pages.stills",
    "notebooks.notebook",
    "notebooks.solutions",
    "pages.release",
    "pages.cards",
    "course.overview",
    "pages.api",
)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all of them with Sphinx."""
    for name in EXTENSIONS:
        app.setup_extension(f"{__name__}.{name}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
