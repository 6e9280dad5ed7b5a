"""`` {try}`set β to 5 <retrieval?beta=5>` ``: words of a sentence that set an explorer
to the state they name.

After the explorer's name come settings as its Python class takes them, values as JSON
without the quotes of strings, or `q=` and the key of a question. The words link to the
first explorer of that name on their page, or else in the chapter of that name, or else
on the first page that shows one. An explorer, a setting, a value or a question that
does not exist fails the build. In a notebook and in print the words are plain text.
"""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import ReferenceRole
from sphinx.util.osutil import relative_uri

from extensions.claims.table import text_nodes
from extensions.pages.stills import explorers
from rankone_book import widgets
from rankone_book.widgets import sketch
from rankone_book.widgets._explorer import Settings

# title of the link, which a screen reader says and a tooltip shows
PURPOSE = "Sets the explorer"
_logger = logging.getLogger(__name__)


class explorer_link(nodes.Inline, nodes.TextElement):
    """Words that set an explorer, with its name, `explorer`, and the `state` that they
    set.
    """


def takes() -> dict[str, Settings]:
    """Settings of the explorers, by the names of their folders; a sketch has the name
    of its figure.
    """
    names = (name for name in widgets.__all__ if name.endswith("Explorer"))
    return {
        name.removesuffix("Explorer").lower(): getattr(widgets, name)._takes
        for name in names
    } | sketch._TAKES


def questions(root: Path, explorer: str) -> list[str]:
    """Keys of the questions above an explorer, as its source lists them."""
    return re.findall(
        r'^ +key: "(\w+)"', _source(root, explorer).read_text(encoding="utf-8"), re.M
    )


def _source(root: Path, explorer: str) -> Path:
    presets = root / "frontend" / explorer / "presets.js"
    return (
        presets if presets.exists() else root / "frontend" / "sketch" / f"{explorer}.js"
    )


def state_of(root: Path, target: str) -> tuple[str, dict[str, Any]]:
    """The explorer and the state that a target such as `retrieval?beta=5&fill=black`
    names.

    Raises:
        ValueError: If there is no such explorer, question or setting, or a setting is
            out of its range.
    """
    explorer, _, query = target.partition("?")
    settings_of = takes()
    if explorer not in settings_of:
        raise ValueError(
            f"there is no explorer {explorer!r}: they are {', '.join(sorted(settings_of))}"
        )
    state = {
        name: _value(text)
        for name, text in parse_qsl(
            query, keep_blank_values=True, strict_parsing=bool(query)
        )
    }
    if "q" in state and state["q"] not in questions(root, explorer):
        raise ValueError(
            f"{explorer} asks no question {state['q']!r}; its questions are "
            f"{', '.join(questions(root, explorer))}"
        )
    settings_of[explorer].checked(
        {name: value for name, value in state.items() if name != "q"}
    )
    return explorer, state


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def fragment(explorer: str, state: dict[str, Any]) -> str:
    """The part of an address that sets an explorer."""
    return f"#r1:{explorer}?" + "&".join(
        f"{name}={quote(_text(value), safe='')}" for name, value in state.items()
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


class TryRole(ReferenceRole):
    """Words that set an explorer."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Check the state. The page of the explorer is known when every page has been
        read.
        """
        words = text_nodes(self.title)
        root = Path(self.env.srcdir)
        try:
            explorer, state = state_of(root, self.target)
        except ValueError as error:
            _logger.warning(
                "{try}`%s`: %s",
                self.text,
                error,
                location=self.get_location(),
                type="try",
            )
            return words, []
        self.env.note_dependency(str(_source(root, explorer)))
        return [explorer_link("", "", *words, explorer=explorer, state=state)], []


def _page(app: Sphinx, docname: str, explorer: str) -> str | None:
    """The page that shows an explorer: this one, that of its name, or the first."""
    pages = sorted(
        app.env.toctree_includes[app.config.root_doc],
        key=lambda page: Path(page).name != explorer,
    )
    shows = (
        page
        for page in [docname, *pages]
        if explorer in {entry.name for entry in explorers(app, page).values()}
    )
    return next(shows, None)


def _resolve(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    uri = app.builder.get_target_uri(docname)
    for link in doctree.findall(explorer_link):
        page = _page(app, docname, link["explorer"])
        if page is None:
            _logger.warning(
                "No page shows the explorer %s",
                link["explorer"],
                location=docname,
                type="try",
            )
            continue
        path = (
            ""
            if page == docname
            else relative_uri(uri, app.builder.get_target_uri(page))
        )
        link["refuri"] = path + fragment(link["explorer"], link["state"])


def _visit(self: Any, node: explorer_link) -> None:
    link = {"href": node["refuri"], "title": PURPOSE} if "refuri" in node else {}
    self.body.append(self.starttag(node, "a", "", CLASS="r1-try", **link))


def _depart(self: Any, _node: explorer_link) -> None:
    self.body.append("</a>")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_node(explorer_link, html=(_visit, _depart))
    app.add_role("try", TryRole())
    app.connect("doctree-resolved", _resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
