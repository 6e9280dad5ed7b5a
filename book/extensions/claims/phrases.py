"""Phrases that say what each figure on the page of claims is, from the tables of the
chapters, else from `phrases.yml`.

In a table, the phrase of a figure is the first cell of its row. If the table has
several columns of figures, the head of the column follows.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from extensions.claims.links import read_yaml
from extensions.claims.measured_lines import number

FILE = "book/phrases.yml"
PRINTED = "printed-differently"  # class of the mark that leads to the errata
FORMULA = re.compile(r"\$[^$]*\$")
# beginnings of phrases that need the row above them
LEANING = (
    "the same",
    "and ",
    "of ",
    "… ",
)
_logger = logging.getLogger(__name__)


def remember(app: Sphinx, doctree: nodes.document) -> None:
    """Store the phrases of a page with it: key of a figure → its phrase."""
    if page_phrases := dict(
        reversed(
            [pair for table in doctree.findall(nodes.table) for pair in _of(table)]
        )
    ):
        app.env.metadata[app.env.docname]["phrases"] = page_phrases


def phrases(env: BuildEnvironment) -> dict[str, str]:
    """Key of a figure → its phrase, from every page and from the file. A key in both
    raises a warning.
    """
    in_tables = {
        key: words
        for page in env.metadata.values()
        for key, words in page.get("phrases", {}).items()
    }
    file_phrases: dict[str, str] = read_yaml(Path(env.srcdir, FILE))
    for key in sorted(in_tables.keys() & file_phrases):
        _logger.warning(
            "%s: a table says what %r is", FILE, key, type="claims", subtype="phrase"
        )
    return in_tables | file_phrases


def _of(table: nodes.table) -> Iterator[tuple[str, str]]:
    thead = table.next_node(nodes.thead)
    tbody = table.next_node(nodes.tbody)
    heads = [_words(entry) for entry in thead.findall(nodes.entry)] if thead else []
    for row in tbody.findall(nodes.row):
        first, *others = row.findall(nodes.entry)
        words = _words(first)
        if not words or words.lower().startswith(LEANING):
            continue
        for n, entry in enumerate(others, 1):
            keys = [figure["key"] for figure in entry.findall(number)]
            column = heads[n] if len(others) > 1 and n < len(heads) else ""
            phrase = ", ".join(filter(None, [words, column]))
            if len(keys) == 1 and re.search("[A-Za-z]{2}", FORMULA.sub("", phrase)):
                yield keys[0], phrase


def _words(entry: nodes.entry) -> str:
    """The words of a cell, its formulas between dollars, without the mark that leads to
    the errata. Empty if the cell has a computed number, a reference or raw HTML.
    """
    if any(
        entry.findall(
            lambda node: isinstance(node, number | addnodes.pending_xref | nodes.raw)
        )
    ):
        return ""
    # by identity, because texts compare as strings
    marks = {
        id(text)
        for mark in entry.findall(_is_mark)
        for text in mark.findall(nodes.Text)
    }
    texts = [text for text in entry.findall(nodes.Text) if id(text) not in marks]
    return "".join(
        f"${text}$" if isinstance(text.parent, nodes.math) else str(text)
        for text in texts
    ).strip()


def _is_mark(node: nodes.Node) -> bool:
    return isinstance(node, nodes.inline) and PRINTED in node["classes"]
