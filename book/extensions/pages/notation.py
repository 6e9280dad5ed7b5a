"""Symbols of the tables of notation, and the formulas of the text that are one of them.

A table named `tbl-notation-…` applies to the part of the book whose title is its
caption. An inline formula of that part that consists of one symbol of the first column
gets the class `symbol`; its card (`previews.py`) shows the row.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from extensions.course.contents import contents

RELATION = re.compile(r"=|>|\\sim(?![a-z])|\\in(?![a-z])")
OPEN = "([{"
CLOSED = ")]}"


def symbols_of(tex: str) -> Iterator[str]:
    r"""The symbols that a formula of the first column explains: those left of its
    relation, one at a time.

    >>> list(symbols_of(r"\beta>0")), list(symbols_of("w,m_1")), list(symbols_of(r"k_\beta(x,\xi)=1"))
    (['\\beta'], ['w', 'm_1'], ['k_\\beta(x,\\xi)'])
    """
    depth = 0
    names = [""]
    for letter in RELATION.split(plain(tex))[0]:
        depth += (letter in OPEN) - (letter in CLOSED)
        if letter == "," and depth == 0:
            names.append("")
        else:
            names[-1] += letter
    yield from (name.strip() for name in names if name.strip() not in ("", r"\dots"))


def plain(tex: str) -> str:
    """TeX with single spaces, and none at its ends."""
    return " ".join(tex.split())


def read_rows(app: Sphinx, doctree: nodes.document) -> None:
    """Give ids to the rows of a page's tables of notation, and store their symbols as
    caption → TeX → id of the row.
    """
    for table in doctree.findall(nodes.table):
        if table.next_node(nodes.entry).astext() == "Symbol":
            table["classes"].append("symbols")  # shown when all rows have come
        names = [name for name in table["names"] if name.startswith("tbl-notation-")]
        if names:
            symbols = app.env.metadata[app.env.docname].setdefault("symbols", {})
            symbols[table.next_node(nodes.title).astext()] = dict(
                _symbols_of_rows(table, names[0].removeprefix("tbl-notation-"))
            )


def _symbols_of_rows(table: nodes.table, part: str) -> Iterator[tuple[str, str]]:
    for n, row in enumerate(table.next_node(nodes.tbody).findall(nodes.row), 1):
        row["ids"].append(f"symbol-{part}-{n}")
        for formula in row[0].findall(nodes.math):
            yield from ((name, row["ids"][-1]) for name in symbols_of(formula.astext()))


def symbols_in(app: Sphinx, docname: str) -> tuple[str, dict[str, str]]:
    """The page of notation, and the symbols that apply to a page: TeX → id of the
    row.
    """
    part = next(
        (page.part for page in contents(Path(app.srcdir)) if page.document == docname),
        None,
    )
    for page, metadata in app.env.metadata.items():
        if part in metadata.get("symbols", {}):
            return page, metadata["symbols"][part]
    return "", {}


def mark(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Mark the formulas of a page that are symbols, outside titles and links."""
    _, symbols = symbols_in(app, docname)
    for formula in doctree.findall(nodes.math) if symbols else ():
        within = formula.parent
        while within is not None and not isinstance(
            within, nodes.reference | nodes.title
        ):
            within = within.parent
        if within is None and plain(formula.astext()) in symbols:
            formula["classes"].append("symbol")


def _outdated(
    _app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], _: set[str]
) -> list[str]:
    """All pages, if a table has changed, because all depend on the tables."""
    tables = {page for page, metadata in env.metadata.items() if "symbols" in metadata}
    return sorted(env.found_docs - added) if tables & changed else []


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("env-get-outdated", _outdated)
    app.connect("doctree-read", read_rows)
    app.connect("doctree-resolved", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
