"""A still picture of each explorer as its page opens it, shown until the explorer
starts, in print, and in a notebook.

`make stills` draws the stills that are missing or stale from the built book
(`tools/draw_stills.py`) into `book/_static/stills`, with one row each in `stills.json`.
Two pages that open an explorer with the same settings share a still. Long settings that
a cell computes, such as the weights of a network, are not compared, because they may
differ between machines. A page is built without a missing still, so that there is a
book from which to draw it. A test compares the rows with bundles and pages.
"""

import base64
import hashlib
import json
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri

from extensions.pages.repository import repository, site

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
CODE = ["_esm"]  # the trait with a widget's code, as a widget's state names it
FOLDER = Path("book", "_static", "stills")
LONG = 200  # longer settings, in characters of JSON, are computed ones
# widths of the window at which heights are measured
HEIGHTS = {
    "phone": 390,
    "tablet": 900,
    "desk": 1366,
}
FIGURE = """<figure class="r1-still" style="{heights}">
<img src="{source}" width="{width}" height="{height}" alt="{alt}">
<figcaption>As it opens. It can be tried at <a href="{address}">{address}</a></figcaption>
</figure>
"""
IN_NOTEBOOK = (
    '<figure><a href="{address}"><img src="data:image/webp;base64,{data}" width="{width}" alt="{alt}"></a>'
    '<figcaption>Interactive figure: run this cell, or <a href="{address}">open it live</a>.</figcaption></figure>'
)


class Shown(NamedTuple):
    """An explorer on a page: its name, the settings that it opens with, and a mark of
    its bundle.
    """

    name: str
    settings: dict[str, Any]
    bundle: str

    @property
    def key(self) -> str:
        """Name of its still: the explorer's name, and a hash of settings that differ
        from its own.
        """
        pairs = sorted(
            json.dumps(pair, separators=(",", ":")) for pair in self.settings.items()
        )
        brief = "".join(pair for pair in pairs if len(pair) <= LONG)
        return (
            f"{self.name}-{hashlib.sha256(brief.encode()).hexdigest()[:8]}"
            if brief
            else self.name
        )

    @property
    def address(self) -> str:
        """The fragment of an address that leads to the explorer as it opens."""
        return f"#r1:{self.name}?"


def mark(data: str) -> str:
    """A hash of a text, as a short name."""
    return hashlib.sha256(data.encode()).hexdigest()[:16]


def shown_in(state: dict[str, Any]) -> dict[str, Shown]:
    """Explorers in the state of a notebook's or a page's widgets, by the id of their
    model.

    A page of the built book loads their code from a script, whose name is the hash of
    the code (`on_demand.py`).
    """
    result = {}
    for model, entry in state.get("state", {}).items():
        traits = entry["state"]
        module, _, kind = traits.get("_anywidget_id", "").rpartition(".")
        if module.startswith("rankone_book.widgets"):
            name = traits.get("sketch") or kind.removesuffix("Explorer").lower()
            elsewhere = {
                part["path"][0]: part.get("name") for part in entry.get("buffers", [])
            }
            bundle = mark(traits[CODE[0]]) if CODE[0] in traits else elsewhere[CODE[0]]
            # only if the cell chose the questions
            questions = (
                {"questions": traits["questions"]} if traits.get("questions") else {}
            )
            result[model] = Shown(name, traits["settings"] | questions, bundle)
    return result


def explorers(app: Sphinx, docname: str) -> dict[str, Shown]:
    """Explorers on a page that Sphinx has read."""
    files = NbMetadataCollector.get_js_files(app.env, docname)
    _, attributes = files.get("ipywidgets_state", (None, {}))
    return shown_in(json.loads(attributes.get("body", "{}")))


def rows(root: Path) -> dict[str, dict[str, Any]]:
    """Every still by its key: its size, the heights of its explorer, its text, and the
    hash of its bundle.
    """
    path = root / FOLDER / "stills.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def due(table: dict[str, dict[str, Any]], shown: Iterable[Shown]) -> set[str]:
    """Keys of the explorers whose still is not in a table of rows, or was drawn with
    another bundle.
    """
    return {
        explorer.key
        for explorer in shown
        if table.get(explorer.key, {}).get("bundle") != explorer.bundle
    }


def stale(root: Path, shown: Iterable[Shown]) -> list[str]:
    """Faults of the stills of these explorers, in words."""
    table = rows(root)
    by_key = {explorer.key: explorer for explorer in shown}
    faults = [f"{key} has no still" for key in sorted(by_key.keys() - table.keys())]
    faults += [f"{key} is on no page" for key in sorted(table.keys() - by_key.keys())]
    others = due(table, by_key.values()) & table.keys()
    return faults + [f"{key} was drawn with another bundle" for key in sorted(others)]


def in_notebook(root: Path, explorer: Shown, address: str) -> str | None:
    """HTML of the still with its picture, for a notebook, or None if there is no
    still.
    """
    row = rows(root).get(explorer.key)
    if row is None:
        return None
    data = base64.b64encode(
        (root / FOLDER / f"{explorer.key}.webp").read_bytes()
    ).decode()
    return IN_NOTEBOOK.format(
        address=escape(address), data=data, width=row["width"], alt=escape(row["alt"])
    )


def _figure(
    app: Sphinx, docname: str, explorer: Shown, row: dict[str, Any]
) -> nodes.raw:
    uri = app.builder.get_target_uri(docname)
    words = {
        "heights": ";".join(
            f"--{name}:{height}px" for name, height in row["heights"].items()
        ),
        "source": relative_uri(uri, f"_static/stills/{explorer.key}.webp"),
        "width": row["width"],
        "height": row["height"],
        "alt": escape(row["alt"]),
        "address": escape(
            (site(app) if repository(app)[0] else "") + uri + explorer.address
        ),
    }
    return nodes.raw("", FIGURE.format(**words), format="html")


def _insert(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put each still before the tag of its explorer."""
    models = explorers(app, docname) if app.builder.format == "html" else {}
    table = rows(Path(app.srcdir)) if models else {}
    for view in [
        raw for raw in doctree.findall(nodes.raw) if models and VIEW in raw.astext()
    ]:
        model = json.loads(view.astext().partition(">")[2].removesuffix("</script>"))[
            "model_id"
        ]
        if model in models and models[model].key in table:
            view.parent.insert(
                view.parent.index(view),
                _figure(app, docname, models[model], table[models[model].key]),
            )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_css_file("explorers.css")
    app.connect("doctree-resolved", _insert)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
