"""A tour of an explorer, one card at a time, as a numbered list in a page's source:

    :::{tour} Take the tour: twelve cards that set the explorer above
    1. {try}`Half of a picture is hidden <retrieval?>`, and two memories bring it back.
       {at}`The vector <vector>` does not grow.
    2. The cover turns black. Which memory still finds the picture?
       - [ ] Both
       - [x] Only the exact memory
       - [ ] Neither

       {try}`Only the exact memory <retrieval?fill=black>`: black is farther away.
    3. Your turn: make both fail.

       > Lower β: {try}`both return a blend <retrieval?beta=20>`.
    :::

Each item is a card. The first `{try}` of a card sets the explorer; a card without one
leaves the explorer as the card before set it. `{at}` outlines the part of the explorer
that the card mentions; `PARTS` names the parts. A list of boxes, one of which is
ticked, asks for a guess. The text after it is the answer, and its first `{try}` sets
the explorer once the reader has guessed. If a card sets a task, a quotation is the
answer. `tour.js` shows the cards over the page, below the explorer, and a link to the
tour's label starts it. Without the script, in print and in a notebook, the page has the
list itself, folded, with no box ticked.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import ReferenceRole, SphinxDirective

from extensions.claims.table import text_nodes
from extensions.pages.explorer_links import explorer_link

TITLE = "Take the tour"
GUESS = "tour-guess"
RIGHT = "tour-right"
MOST = 20  # cards of a tour
# explorer → name of a part that a card may mention → its CSS selector
PARTS = {
    "retrieval": {
        "query": ".r1-of-query",
        "list": ".r1-of-list",
        "vector": ".r1-of-vector",
        "strip": ".r1-strip",
        "exact": ".r1-of-exact",
        "distributed": ".r1-of-distributed",
        "step": ".r1-scrub",
        "beta": ".r1-field:has([data-name=beta])",
        "Y": ".r1-field:has([data-name=Y])",
        "K": ".r1-field:has([data-name=K])",
        "inside": ".r1-machine",
        "map": ".r1-map",
        "bars": ".r1-bars",
        "gauge": ".r1-gauge:first-child",
    }
}
_logger = logging.getLogger(__name__)


class tour(nodes.General, nodes.Element):
    """A numbered list of cards, with the `title` of its fold and its `explorer`."""


class explorer_part(nodes.Inline, nodes.TextElement):
    """Words of a card that mention a `part` of the explorer; the tour adds its
    `selector`.
    """


class PartRole(ReferenceRole):
    """Words of a card that speak of a part of the explorer."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Store the part's name; the tour around it knows the explorer."""
        return [explorer_part("", "", *text_nodes(self.title), part=self.target)], []


class TourDirective(SphinxDirective):
    """The cards of a tour, as a numbered list."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Mark the guesses, and warn of faults."""
        node = tour("", *self.parse_content_to_nodes())
        node["title"] = self.arguments[0] if self.arguments else TITLE
        mark_guesses(node)
        for fault in faults(node):
            _logger.warning("%s", fault, location=self.get_location(), type="tour")
        links = list(node.findall(explorer_link))
        node["explorer"] = links[0]["explorer"] if links else ""
        for part in node.findall(explorer_part):
            part["selector"] = PARTS.get(node["explorer"], {}).get(part["part"], "")
        return [node]


def mark_guesses(node: nodes.Element) -> None:
    """Turn lists of boxes into guesses: the boxes are removed, and the item whose box
    is ticked gets a class.
    """
    for box in list(node.findall(nodes.raw)):
        if "task-list-item-checkbox" not in box.astext():
            continue
        item = box.parent
        while not isinstance(item, nodes.list_item):
            item = item.parent
        item["classes"] = [RIGHT] if "checked=" in box.astext() else []
        item.parent["classes"] = [GUESS]
        box.parent.remove(box)


def faults(node: nodes.Element) -> list[str]:
    """Faults that keep a list from being a tour, in words."""
    lists = [child for child in node.children if isinstance(child, nodes.Element)]
    if len(lists) != 1 or not isinstance(lists[0], nodes.enumerated_list):
        return ["A tour is one numbered list, an item per card."]
    cards = lists[0].children
    found = []
    if not 2 <= len(cards) <= MOST:
        found.append(f"A tour has 2 to {MOST} cards, and this one has {len(cards)}.")
    named = {link["explorer"] for link in node.findall(explorer_link)}
    if len(named) != 1:
        found.append(
            f"A tour sets one explorer, and this one sets {sorted(named) or 'none'}."
        )
    known = {name for explorer in named for name in PARTS.get(explorer, {})}
    found += [
        f"A card speaks of {part['part']!r}: the parts are {', '.join(sorted(known))}."
        for part in node.findall(explorer_part)
        if part["part"] not in known
    ]
    for guess in node.findall(nodes.bullet_list):
        if GUESS not in guess["classes"]:
            continue
        ticked = sum(RIGHT in item["classes"] for item in guess.children)
        if ticked != 1:
            found.append(f"A guess has one box that is ticked, and this has {ticked}.")
    return found


def _visit(self: Any, node: tour) -> None:
    self.body.append(
        self.starttag(node, "details", CLASS="tour", **{"data-tour": node["explorer"]})
    )
    self.body.append(f"<summary>{self.encode(node['title'])}</summary>\n")


def _depart(self: Any, _node: tour) -> None:
    self.body.append("</details>\n")


def _visit_part(self: Any, node: explorer_part) -> None:
    at = {"data-at": node["selector"]} if node.get("selector") else {}
    self.body.append(self.starttag(node, "span", "", CLASS="tour-at", **at))


def _depart_part(self: Any, _node: explorer_part) -> None:
    self.body.append("</span>")


def load(
    app: Sphinx, _page: str, _template: str, _context: dict[str, Any], doctree: Any
) -> None:
    """Add the style and the script of tours to pages with a tour."""
    if doctree is not None and any(doctree.findall(tour)):
        app.add_css_file("tour.css")
        app.add_js_file("tour.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_node(tour, html=(_visit, _depart))
    app.add_node(explorer_part, html=(_visit_part, _depart_part))
    app.add_directive("tour", TourDirective)
    app.add_role("at", PartRole())
    app.connect("html-page-context", load)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
