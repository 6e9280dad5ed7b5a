"""Cards, which show what an equation number, a statement, a citation, a symbol or a
computed number stands for, beside the text that mentions it.

When all pages are written, each gets a script with the cards that it can show, cut from
the pages to which its links lead. Formulas are typeset already, and nothing is loaded
before a reader points at something (`previews.js`). A page opened from a folder may
load a script, but not fetch another page. The extension sphinx-tippy would not do: it
fetches its scripts from other sites, loads every card with the page, typesets in the
browser, and has no cards for numbers.
"""

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils.nodes import make_id
from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri

from extensions.claims.links import (
    Figure,
    Row,
    claims_page,
    conditions,
    read_claims,
    recorded_figures,
)
from extensions.pages.notation import plain, symbols_in
from extensions.pages.written_pages import (
    Written,
    cells,
    element,
    elements,
    first_paragraph,
)

FOLDER = "previews"  # below _static
SIGNS = {"<": "below", "<=": "at most", ">": "above", ">=": "at least", "=": "equal to"}
ALIKE = "letters-that-look-alike"  # the list on the page of notation


class Cards:
    """The cards of a build, page by page."""

    def __init__(self, app: Sphinx) -> None:
        self.app = app
        self.pages = Written(app)
        rows = read_claims(Path(app.srcdir, app.config.claims_file))
        self.claims = {
            name: row for row in rows for name in [row["id"], *row.get("includes", [])]
        }
        self.conditions = conditions(rows)
        self.figures = recorded_figures(app.env)
        self.claims_page = claims_page(app.env)

    def of(self, docname: str) -> dict[str, str]:
        """The cards of a page: link, TeX of a symbol or key of a number → HTML."""
        cards = {
            link: self._linked(docname, link)
            for link in sorted(self.pages.links(docname))
        }
        cards |= dict(self._symbols(docname))
        for key, (cell, code) in (
            self.app.env.metadata[docname].get("measured", {}).items()
        ):
            claim = self._claim(docname, key)
            if claim and claim not in cards:
                cards[claim] = self._linked(docname, claim)
            cards[key] = number_card(
                self._value(docname, key),
                cell,
                code,
                claim,
                self.conditions.get(key, ""),
            )
        return {key: card for key, card in cards.items() if card}

    def _value(self, docname: str, key: str) -> Figure:
        return self.figures.get(docname, {}).get(key, Figure("", None))

    def _linked(self, docname: str, link: str) -> str:
        page, anchor = self.pages.target(docname, link)
        card = about(self.pages.article(page), anchor) if page else ""
        if not page or not card:
            return ""
        note = "" if page == docname else _from(link, self._title(page))
        return self.pages.seen_from(page, card, docname) + note

    def _title(self, page: str) -> str:
        return self.app.env.titles[page].astext()

    def _claim(self, docname: str, key: str) -> str:
        """The link from a page to the row of the claim that a figure tests, or ""."""
        if not (row := claim_of(key, self.claims)) or self.claims_page is None:
            return ""
        to = relative_uri(self.pages.uri(docname), self.pages.uri(self.claims_page))
        return f"{to}#{make_id('claims-' + row['id'])}"

    def _symbols(self, docname: str) -> Iterator[tuple[str, str]]:
        page, anchor_of = symbols_in(self.app, docname)
        notation = self.pages.article(page) if anchor_of else ""
        span = element(notation, ALIKE) if anchor_of else None
        items = list(elements(notation[slice(*span)], r"<li>")) if span else []
        for tex, anchor in anchor_of.items():
            row = element(notation, anchor)
            if row and f'data-tex="{escape(tex)}"' in self.pages.article(docname):
                card = symbol_card(
                    notation[slice(*row)],
                    next((item for item in items if begins(item, tex)), ""),
                )
                link = f"{relative_uri(self.pages.uri(docname), self.pages.uri(page))}#{anchor}"
                yield (
                    plain(tex),
                    self.pages.seen_from(page, card, docname)
                    + _from(link, self._title(page)),
                )


def _from(link: str, title: str) -> str:
    return f'<p class="card-from"><a href="{escape(link)}">{escape(title)}</a></p>'


def claim_of(key: str, claims: dict[str, Row]) -> Row | None:
    """The claim whose id, or an id that its row includes, is the start of a figure's
    key up to a dot.
    """
    ends = [n for n, letter in enumerate(key) if letter == "."]
    return next((claims[key[:n]] for n in reversed(ends) if key[:n] in claims), None)


def about(page: str, anchor: str) -> str:
    """HTML of the card for an anchor of a page."""
    span = element(page, anchor)
    if span is None:
        return ""
    start, end = span
    piece = page[start:end]
    if piece.startswith('<details class="tour"'):
        return ""  # a link to a tour starts it
    if piece.startswith("<tr"):
        columns = cells(piece)
        if anchor.startswith("claims-"):
            del columns[2:3]  # without the figures, which are in the text
        return f'<div class="card-row">{"".join(f"<div>{cell}</div>" for cell in columns)}</div>'
    if piece.startswith("<section"):
        heading = next(elements(piece, r"<h[1-6]"), "")
        return heading + first_paragraph(piece) if heading else piece
    if piece.startswith("<dt"):
        text = (
            next(elements(page[end : end + 4000], r"<dd"), "") or page[end : end + 4000]
        )
        return f'<dl class="py">{piece}<dd>{first_paragraph(text)}</dd></dl>'
    return piece


def symbol_card(row: str, alike: str) -> str:
    """A row of the notation, and the meaning of its letter elsewhere."""
    symbol, meaning, *notes = cells(row)
    pairs = zip(("shape", "in the code"), notes, strict=True)
    lines = [
        f"{name} {note}" for name, note in pairs if note.replace("<p></p>", "").strip()
    ]
    below = "".join(
        f"<div>{note}</div>"
        for note in [*lines, alike.removeprefix("<li>").removesuffix("</li>")]
        if note
    )
    return f'<div class="card-symbol">{symbol}{meaning}</div><div class="card-notes">{below}</div>'


def begins(item: str, tex: str) -> bool:
    """True if an item of the list of letters that look alike begins with this
    symbol.
    """
    first = item.partition("data-tex=")[2]
    return first.startswith(f'"{escape(tex)}"')


def number_card(
    figure: Figure, cell: str, code: str, claim: str, condition: str
) -> str:
    """The card of a computed number; the page inserts the card of the claim.

    Args:
        figure: Text of the figure on the page, and its full number.
        cell: Id of the cell that computed it.
        code: The line that recorded it.
        claim: Link to the row of the claim that it tests, or "".
        condition: Condition on the figure, or "".
    """
    whole = "" if figure.number is None else str(figure.number)
    full = f" in full <code>{whole}</code>" if whole not in ("", figure.text) else ""
    check = (
        f'<p class="card-held">The build checks that it is {escape(in_words(condition))}.</p>'
        if condition
        else ""
    )
    row = f'<div data-card="{escape(claim)}"></div>' if claim else ""
    return (
        f'<p class="card-value"><strong>{escape(figure.text)}</strong>{full}</p>{check}{row}'
        f'<pre>{escape(code)}</pre><p><a href="#{cell}">The cell that computed it</a></p>'
    )


def in_words(condition: str) -> str:
    """A condition on a figure in words: "below 0.9"."""
    sign, _, amount = condition.partition(" ")
    return f"{SIGNS[sign]} {amount}" if sign in SIGNS else condition


def load(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Let a page show cards, and give it the address of its own."""
    if doctree is not None:
        app.add_css_file("previews.css")
        app.add_js_file(
            "previews.js",
            defer="defer",
            **{"data-cards": context["pathto"](_script(page), resource=True)},
        )


def _script(page: str) -> str:
    return f"_static/{FOLDER}/{page}.js"


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the cards of every page."""
    if exception or app.builder.format != "html":
        return
    cards = Cards(app)
    for docname in app.env.found_docs:
        path = Path(app.outdir, _script(docname))
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(cards.of(docname), ensure_ascii=False, sort_keys=True)
        path.write_text(f"previews({text});\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    for extension in ("claims.table", "claims.measured_lines", "pages.notation"):
        app.setup_extension(f"extensions.{extension}")
    app.connect("html-page-context", load)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
