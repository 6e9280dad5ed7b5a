"""The book's tables of claims and of errata, made from `claims.yml` and from the
figures measured in this build.

`{claims-table}` and `{errata-table}` read the rows when the page is read. Once every
page is known, they fill in what only the whole build has: the number of the statement
to which a row points, and the figures that the chapters recorded with
`rankone_book.claims.measured`. MyST-NB writes those records beside each executed
notebook, cached or fresh, so that a page never shows a figure of another build. A
missing figure or label, and a figure that does not meet its condition, raise a warning,
and a warning fails the build.
"""

import json
import re
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.nodes import make_id
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.nodes import make_refnode

from extensions.claims.links import (
    Row,
    claims_page,
    code_of,
    faults,
    find_label,
    locate_source,
    locate_test,
    read_claims,
    recorded_figures,
)
from extensions.claims.phrases import FILE as PHRASES
from extensions.claims.phrases import PRINTED, phrases, remember
from extensions.course.contents import contents
from rankone_book.records import coverage, load_record

HEADS = {
    "claims": ["Claim", "What holds", "Measured in this build", "Where"],
    "errata": [
        "Where",
        "Printed",
        "The problem, and a number of this build",
        "Repair",
    ],
}
KINDS = {
    "false": "false",
    "gap": "a gap",
    "loose": "true but loose",
    "slip": "a slip of the pen",
}
RELATIONS = {"=", "<", ">", r"\le", r"\ge", r"\approx", r"\preceq", r"\quad"}
NAME = r"((?<![\w-])[A-Z]-\w+(?:-\w+)*)"  # of a claim
_logger = logging.getLogger(__name__)


class claims_node(nodes.General, nodes.Element):
    """Rows of one of the tables, before they are gathered by chapter."""


class pending_figure(nodes.Inline, nodes.Element):
    """A figure of this build, by its key. With `named`, the phrase that says what it is
    comes first.
    """


class pending_target(nodes.Inline, nodes.Element):
    """A link to a label, or (with `kind`) to a claim's row on the page of that kind."""


def text_nodes(source: str) -> list[nodes.Node]:
    """Plain text with $...$ as docutils nodes."""
    children: list[nodes.Node] = []
    for i, part in enumerate(re.split(r"\$([^$]+)\$", source)):
        children += (
            [nodes.math(piece, piece) for piece in breakable(part)]
            if i % 2
            else [nodes.Text(part)]
            if part
            else []
        )
    return children


def breakable(latex: str, long: int = 30) -> list[str]:
    """A long formula cut before its outer relations, where a narrow column may break
    the line.
    """
    pieces = [""]
    depth = 0
    for token in re.findall(r"\\[a-zA-Z]+|\\.|.", latex):
        depth += (token == "{") - (token == "}")
        if token in RELATIONS and depth == 0 and len(pieces[-1]) > long:
            pieces.append("{}")  # an empty term before the relation, for its spacing
        pieces[-1] += token
    return pieces


def _paragraph(
    *children: nodes.Node | str, classes: tuple[str, ...] = ()
) -> nodes.paragraph:
    parts: list[nodes.Node] = []
    for child in children:
        parts += text_nodes(child) if isinstance(child, str) else [child]
    return nodes.paragraph("", "", *parts, classes=list(classes))


def _figure(row: Row, key: str, *, named: bool = False) -> nodes.Node:
    return pending_figure(
        key=key, claim=row["id"], promised=bool(row["chapter"]), named=named
    )


def _name(kind: str, row: Row, *children: nodes.Node) -> nodes.paragraph:
    """A row's name, and a permanent link to the row."""
    place = make_id(f"{kind}-{row['id']}")
    link = f'<a class="headerlink" href="#{place}" aria-label="Permanent link to {row["id"]}">#</a>'
    return _paragraph(
        *children, nodes.raw("", link, format="html"), classes=("row-name",)
    )


def _row(kind: str, row: Row, cells: list[list[nodes.Node]]) -> nodes.row:
    node = nodes.row(
        label=row["chapter"], claim=row["id"], ids=[make_id(f"{kind}-{row['id']}")]
    )
    node += [nodes.entry("", *cell) for cell in cells]
    return node


def _claim_row(row: Row, code: list[nodes.Node]) -> nodes.row:
    status: nodes.Node = nodes.inline(
        "", row["status"], classes=["claim-status", make_id(row["status"])]
    )
    if "errata" in row:
        status = pending_target("", status, kind="errata", claim=row["id"])
    ranges = re.search(r"\d-\d", row["id"])  # as in D-eq19-21, which names them
    names = nodes.strong(
        "", ", ".join([row["id"], *([] if ranges else row.get("includes", []))])
    )
    figures = [_paragraph(_figure(row, key, named=True)) for key in row["figures"]]
    # a figure of provenance already says it
    if not any(key.endswith(".provenance") for key in row["figures"]):
        figures += [
            _paragraph(f"recorded: {coverage(load_record(name))}")
            for name in row.get("records", [])
        ]
    where: list[nodes.Node] = (
        [_paragraph(pending_target(label=row["chapter"]))] if row["chapter"] else []
    )
    where += code
    where += [_paragraph(f"explorer: {row['widget']}")] if "widget" in row else []
    where += (
        [_paragraph(f"Not covered further: {row['uncovered']}")]
        if row.get("uncovered")
        else []
    )
    name = [_name("claims", row, names), _paragraph(status)]
    return _row("claims", row, [name, [_paragraph(row["statement"])], figures, where])


def linked_names(source: str, names: Container[str]) -> list[nodes.Node]:
    """Plain text with $...$ as docutils nodes, in which the name of a row is a link."""
    children: list[nodes.Node] = []
    for node in text_nodes(source):
        parts = re.split(NAME, node) if isinstance(node, nodes.Text) else [node]
        children += [
            pending_target("", nodes.Text(part), kind="claims", claim=part)
            if part in names
            else nodes.Text(part)
            if isinstance(part, str)
            else part
            for part in parts
        ]
    return children


def _erratum_row(row: Row, names: Container[str]) -> nodes.row:
    erratum = row["errata"]
    number = []
    if "refuted_by" in erratum:
        number = [
            _paragraph(
                erratum["number"] + ": ",
                nodes.strong("", "", _figure(row, erratum["refuted_by"])),
            )
        ]
    claim = pending_target("", nodes.Text(row["id"]), kind="claims", claim=row["id"])
    kind = (
        [nodes.Text(", "), nodes.Text(KINDS[erratum["kind"]])]
        if erratum.get("first")
        else []
    )
    where = [
        _paragraph(erratum["where"], classes=("erratum-where",)),
        _name("errata", row, claim, *kind),
    ]
    where += (
        [_paragraph(pending_target(label=row["chapter"]))] if row["chapter"] else []
    )
    return _row(
        "errata",
        row,
        [
            where,
            [_paragraph(*linked_names(erratum["printed"], names))],
            [_paragraph(*linked_names(erratum["why"], names)), *number],
            [_paragraph(*linked_names(erratum["repair"], names))],
        ],
    )


class ClaimsTable(SphinxDirective):
    """Every claim, its status, its figures in this build, and where it is derived,
    computed and tested.
    """

    kind = "claims"

    def run(self) -> list[nodes.Node]:
        """Make the rows; numbers and figures are filled in when the whole book is
        read.
        """
        self.env.metadata[self.env.docname]["claims_page"] = self.kind
        path = Path(self.env.srcdir, self.config.claims_file)
        self.env.note_dependency(str(path))
        self.env.note_dependency(str(Path(self.env.srcdir, PHRASES)))
        for record in Path(self.env.srcdir, "experiments", "results").glob("*.json"):
            self.env.note_dependency(str(record))
        node = claims_node()
        node += [self.row(row) for row in read_claims(path) if self.shows(row)]
        return [node]

    def shows(self, _row: Row) -> bool:
        """True if a row belongs in this table."""
        return True

    def row(self, row: Row) -> nodes.row:
        """One claim."""
        code = [
            *self._code(row, "source", locate_source),
            *self._code(row, "test", locate_test),
        ]
        return _claim_row(row, [*code, *self._changes(row)])

    def _changes(self, row: Row) -> Iterator[nodes.Node]:
        root = Path(self.env.srcdir)
        source = row["source"] or ""
        result = _mutation(root).get(source)
        if result and result["changes"] and _is_current(root, source, result):
            noticed = result["changes"] - len(result["survived"])
            yield _paragraph(
                f"small changes to the code that tests noticed: {noticed} of "
                f"{result['changes']}"
            )

    def _code(self, row: Row, field: str, locate: Any) -> Iterator[nodes.Node]:
        if row[field]:
            text = nodes.literal(
                "", row[field].rpartition("::")[2].removeprefix("rankone.")
            )
            url = self.config.html_theme_options.get("repository_url")
            branch = self.config.html_theme_options.get("repository_branch") or "main"
            try:
                path, line = locate(Path(self.env.srcdir), row[field])
            except LookupError as error:
                _logger.warning(
                    "%s: %s",
                    row["id"],
                    error,
                    type="claims",
                    subtype=field,
                    location=self.get_location(),
                )
                url = None
            link = (
                nodes.reference(
                    "", "", text, refuri=f"{url}/blob/{branch}/{path}#L{line}"
                )
                if url
                else text
            )
            yield _paragraph("code: " if field == "source" else "test: ", link)


def _mutation(root: Path) -> dict[str, Any]:
    path = root / "tests" / "mutation.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _is_current(root: Path, source: str, result: dict[str, Any]) -> bool:
    """True if a function still computes what it computed when its tests were tried."""
    try:
        return result["state"] == code_of(root, source).state
    except LookupError:  # the module is gone
        return False


class MutationCount(SphinxDirective):
    """One paragraph: how many of the small changes in the functions that claims name
    were noticed by the tests.
    """

    def run(self) -> list[nodes.Node]:
        """Count."""
        root = Path(self.env.srcdir)
        self.env.note_dependency(str(root / "tests" / "mutation.json"))
        results = [
            result
            for source, result in _mutation(root).items()
            if _is_current(root, source, result)
        ]
        if not results:
            return []
        total = sum(result["changes"] for result in results)
        survived = sum(len(result["survived"]) for result in results)
        why = sum(len(result.get("reasons", {})) for result in results)
        remainder = (
            f"each of the other {survived}"
            if why == survived
            else f"{why} of the other {survived}"
        )
        sentence = (
            f"Would the tests notice a mistake? In {len(results)} functions that "
            f"claims name, {total} small changes were made individually: another sign, "
            "factor, power, constant or reduction. The tests of the claims noticed "
            f"{total - survived}. Why {remainder} need not be noticed is said in "
        )
        return [
            nodes.paragraph(
                "",
                "",
                nodes.Text(sentence),
                nodes.literal("", "tests/mutation.json"),
                nodes.Text("."),
            )
        ]


class PrintedRole(SphinxRole):
    """`` {printed}`ID ID` `` beside a statement that the sources print differently,
    with a link to each erratum.
    """

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The mark."""
        children = [nodes.Text("(")]
        for i, claim in enumerate(self.text.split(), start=1):
            words = "printed differently" if i == 1 else str(i)
            children += [nodes.Text(", ")] * (i > 1) + [
                pending_target("", nodes.Text(words), kind="errata", claim=claim)
            ]
        return [nodes.inline("", "", *children, nodes.Text(")"), classes=[PRINTED])], []


class ErrataTable(ClaimsTable):
    """Corrections of one kind, or the `first` ones: what is printed, the problem, its
    figure, the repair.
    """

    kind = "errata"
    required_arguments = 1

    def shows(self, row: Row) -> bool:
        """True if a correction is of the kind that the argument names. The `first`
        corrections have a table of their own.
        """
        erratum = row.get("errata", {})
        group = "first" if erratum.get("first") else erratum.get("kind")
        return group == self.arguments[0]

    def row(self, row: Row) -> nodes.row:
        """One correction."""
        path = Path(self.env.srcdir, self.config.claims_file)
        return _erratum_row(row, {other["id"] for other in read_claims(path)})


def _resolve(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    kind = app.env.metadata[docname].get("claims_page", "")
    for fault in (
        faults(app.env, Path(app.srcdir, app.config.claims_file))
        if kind == "claims"
        else ()
    ):
        _logger.warning(fault, type="claims", subtype="holds", location=docname)
    waiting = list(doctree.findall(pending_figure))
    recorded = recorded_figures(app.env).values() if waiting else ()
    figures = {key: figure.text for page in recorded for key, figure in page.items()}
    phrase_of = phrases(app.env) if waiting else {}
    for figure in waiting:
        if figure["promised"] and figure["key"] not in figures:
            _logger.warning(
                "%s: no cell of this build records %r",
                figure["claim"],
                figure["key"],
                type="claims",
                subtype="figure",
                location=docname,
            )
        if figure.get("named") and figure["key"] not in phrase_of:
            _logger.warning(
                "%s: no table and no line of %s says what %r is",
                figure["claim"],
                PHRASES,
                figure["key"],
                type="claims",
                subtype="phrase",
                location=docname,
            )
        words = (
            text_nodes(phrase_of.get(figure["key"], figure["key"]) + ": ")
            if figure.get("named")
            else []
        )
        figure.replace_self(
            [*words, nodes.Text(figures.get(figure["key"], "not measured"))]
        )
    for target in list(doctree.findall(pending_target)):
        target.replace_self(_link(app, docname, target))
    for table in list(doctree.findall(claims_node)):
        rows = list(table.findall(nodes.row))
        table.replace_self(list(_tables(app, docname, kind, rows)))


def _link(app: Sphinx, docname: str, target: pending_target) -> nodes.Node:
    if kind := target.get("kind"):
        place: Any = (
            claims_page(app.env, kind) or docname,
            make_id(f"{kind}-{target['claim']}"),
            "",
        )
    else:
        place = find_label(app.env, target["label"])
    if not place:
        _logger.warning(
            "no page has the label %r",
            target["label"],
            type="claims",
            subtype="label",
            location=docname,
        )
        return nodes.Text(target["label"])
    return make_refnode(
        app.builder,
        docname,
        place[0],
        place[1],
        target.children or nodes.Text(place[2]),
    )


def _tables(
    app: Sphinx, docname: str, kind: str, rows: list[nodes.row]
) -> Iterator[nodes.Node]:
    """One table per chapter, in the order of the contents; rows with no chapter come
    last.
    """
    pages = {
        row["claim"]: (find_label(app.env, row["label"]) or ("",))[0]
        if row["label"]
        else ""
        for row in rows
    }
    order = [
        page.document
        for page in contents(Path(app.srcdir))
        if page.document in pages.values()
    ]
    for page in [*order, *sorted(set(pages.values()) - set(order), reverse=True)]:
        title = app.env.titles[page].astext() if page else "Not in a chapter"
        link = (
            make_refnode(app.builder, docname, page, "", nodes.Text(title))
            if page
            else nodes.Text(title)
        )
        yield _table(
            kind,
            nodes.title("", "", link),
            [row for row in rows if pages[row["claim"]] == page],
        )


def _table(kind: str, title: nodes.title, rows: list[nodes.row]) -> nodes.table:
    heads = nodes.row(
        "", *(nodes.entry("", nodes.paragraph("", head)) for head in HEADS[kind])
    )
    group = nodes.tgroup(
        "", *(nodes.colspec(colwidth=1) for _ in HEADS[kind]), cols=len(HEADS[kind])
    )
    group += [nodes.thead("", heads), nodes.tbody("", *rows)]
    anchor = make_id(f"{kind}-from-{rows[0]['claim']}")
    return nodes.table(
        "", title, group, classes=["claims-table", f"{kind}-table"], ids=[anchor]
    )


def _style(
    app: Sphinx, pagename: str, _template: str, _context: dict[str, Any], _doctree: Any
) -> None:
    if app.env.metadata.get(pagename, {}).get("claims_page"):
        app.add_css_file("claims.css")
        app.add_js_file("claims.js", loading_method="defer")


def _outdated(_app: Sphinx, env: BuildEnvironment, *_changes: set[str]) -> list[str]:
    return [
        docname
        for docname, metadata in env.metadata.items()
        if metadata.get("claims_page")
    ]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives, and fill the tables when every page has been read."""
    app.add_config_value("claims_file", "book/claims.yml", "env")
    app.add_directive("claims-table", ClaimsTable)
    app.add_directive("errata-table", ErrataTable)
    app.add_role("printed", PrintedRole())
    app.add_directive("mutation-count", MutationCount)
    app.connect("env-get-outdated", _outdated)
    app.connect("doctree-read", remember)
    app.connect("doctree-resolved", _resolve)
    app.connect("html-page-context", _style)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
