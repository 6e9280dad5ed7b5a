"""Definitions, which the search lists first: the places that define something, by all
names that a reader may type.

The names are: for chapters, their titles and the names of their methods; for sections,
their titles; for claims, their ids and the numbers that their sources print; for
statements and equations, their numbers; for functions and classes, their names; for
symbols, the letter, its name, and the name in the code. `search.js` ranks the
definitions while a reader types, and on the search page, where the results of Sphinx's
own search of the text follow. All names are in one script, which a page loads when its
search is opened. A page that is opened from a folder can load a script too.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from html import escape, unescape
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from docutils.nodes import make_id
from sphinx.application import Sphinx

from extensions.claims.links import claims_page, find_label, read_claims
from extensions.pages.written_pages import (
    Written,
    cells,
    element,
    elements,
    first_paragraph,
)

FILE = "definitions.js"  # below _static
SET = re.compile(
    r"<mjx-container.*?<math\b[^>]*>(.*?)</math></mjx-assistive-mml></mjx-container>",
    re.DOTALL,
)
# parts beside the text
BESIDE = re.compile(r'<a class="headerlink".*?</a>|<span class="eqno">.*?</span>')
BLOCK = re.compile(r"<(?!/?(?:m[a-z]+|code|em|strong|sub|sup)\b)[^>]*>")
LETTER = re.compile(r"\\([A-Za-z]+)")
ACCENT = re.compile(
    r"\\(?:hat|bar|tilde|check|math[a-z]+|boldsymbol|lVert|rVert)(?![A-Za-z])"
)
SHORT = {
    "thm": "Theorem",
    "prop": "Proposition",
    "cor": "Corollary",
    "lem": "Lemma",
    "rem": "Remark",
}
SHORT |= {"alg": "Algorithm", "eq": "Equation", "fig": "Figure", "tab": "Table"}
PRINTED = re.compile(rf"(\w)-({'|'.join(SHORT)})([A-Z]?\.?\d+(?:\.\d+)?[A-Z]?)")
NUMBER = re.compile(r'<span class="eqno">\(([^)<]+)\)')
COURSE = "book/course.yml"  # has the names of each chapter's methods
HEADING = re.compile(
    r'<section\b[^>]* id="(?P<anchor>[^"]+)">\s*(?:<span id="[^"]*"></span>\s*)*'
    r"<h(?P<level>[123])>(?P<title>.*?)</h[123]>",
    re.DOTALL,
)


class Definition(NamedTuple):
    """A place that defines something: names, a title in HTML, its kind, its address,
    and its text in HTML.
    """

    names: list[str]
    title: str
    kind: str
    link: str
    says: str


def short(piece: str) -> str:
    """A piece of a page as one line of text and formulas, without links. Formulas are
    MathML, which the browser draws.
    """
    light = SET.sub(r"<math>\1</math>", BESIDE.sub("", piece))
    text = BLOCK.sub(" ", re.sub(r"</?(?:span|a)\b[^>]*>", "", light))
    return " ".join(re.sub(r"<(code|em|strong)\b[^>]*>", r"<\1>", text).split())


def letters(tex: str) -> Iterator[str]:
    r"""Names of a symbol: its letter as a reader types it, its name, and both without
    accent and index.

    >>> sorted(letters(r"\hat\beta_i"))
    ['beta', 'beta_i', 'hat beta', 'hat beta_i', 'hat β', 'hat β_i', 'β', 'β_i']
    """
    bare = ACCENT.sub("", tex)
    forms = [bare, re.split(r"[_^(\[]", bare)[0]]
    typed = [
        name
        for form in forms
        for name in (_typed(form, _greek), _typed(form, str))
        if name
    ]
    yield from typed
    if r"\hat" in tex:
        yield from (f"hat {name}" for name in typed)


def _typed(tex: str, write: Callable[[str], str]) -> str:
    return re.sub(r"[{}\\]", "", LETTER.sub(lambda match: write(match[1]), tex)).strip()


def _greek(name: str) -> str:
    name = name.removeprefix("var")
    case = "CAPITAL" if name[:1].isupper() else "SMALL"
    try:
        return unicodedata.lookup(
            f"GREEK {case} LETTER {name.upper().replace('LAMBDA', 'LAMDA')}"
        )
    except KeyError:
        return name


def printed(claim: str) -> list[str]:
    """Names of the statement that the source of a claim prints, from the claim's id.

    >>> printed("S-thm5.3"), printed("D-eq12"), printed("D-sharp4")
    (['Theorem 5.3 of S', 'thm 5.3 of S'], ['Equation 12 of D', 'eq 12 of D'], [])
    """
    match = PRINTED.fullmatch(claim)
    return (
        [f"{kind} {match[3]} of {match[1]}" for kind in (SHORT[match[2]], match[2])]
        if match
        else []
    )


def _kind(whole: bool, chapter: bool, title: str) -> str:
    if not whole:
        return f"section, {title}"
    return "chapter" if chapter else "page"


class Defined:
    """The definitions of a build."""

    def __init__(self, app: Sphinx) -> None:
        self.app = app
        self.env = app.env
        self.pages = Written(app)

    def all(self) -> Iterator[Definition]:
        """Chapters and sections, symbols, claims, statements, equations, the package."""
        yield from self.sections()
        yield from self.symbols()
        yield from self.claims()
        yield from self.statements()
        yield from self.equations()
        yield from self.objects()

    def _piece(self, page: str, anchor: str) -> str:
        span = element(self.pages.article(page), anchor)
        return self.pages.article(page)[slice(*span)] if span else ""

    def _link(self, page: str, anchor: str) -> str:
        return f"{self.pages.uri(page)}#{anchor}"

    def sections(self) -> Iterator[Definition]:
        """Pages and their sections, each with its first paragraph."""
        course = Path(self.app.srcdir, COURSE)
        chapters = (
            yaml.safe_load(course.read_text("utf-8"))["chapters"]
            if course.is_file()
            else []
        )
        methods = {
            f"book/chapters/{chapter['name']}": chapter.get("names", [])
            for chapter in chapters
        }
        for page, node in self.env.titles.items():
            if page.startswith("book/api/"):  # its objects have entries of their own
                continue
            article = self.pages.article(page)
            for heading in HEADING.finditer(article):
                title = short(heading["title"])
                whole = heading["level"] == "1"
                yield Definition(
                    [title, *methods.get(page, [])] if whole else [title],
                    title,
                    _kind(whole, page in methods, node.astext()),
                    self._link(page, heading["anchor"]),
                    short(
                        first_paragraph(article[heading.end() : heading.end() + 4000])
                    ),
                )

    def symbols(self) -> Iterator[Definition]:
        """Rows of the tables of notation."""
        for page, metadata in self.env.metadata.items():
            for part, anchor_of in metadata.get("symbols", {}).items():
                for anchor in dict.fromkeys(anchor_of.values()):
                    symbol, meaning, _, code = cells(self._piece(page, anchor))
                    names = [
                        name
                        for tex, row in anchor_of.items()
                        if row == anchor
                        for name in letters(tex)
                    ]
                    names += re.findall(r'<span class="pre">([^<]+)</span>', code)
                    says = f"{short(meaning)} {short(code)}"
                    yield Definition(
                        names,
                        short(symbol),
                        f"symbol, {part}",
                        self._link(page, anchor),
                        says,
                    )

    def claims(self) -> Iterator[Definition]:
        """Rows of the table of claims."""
        if not (page := claims_page(self.env)):
            return
        for row in read_claims(Path(self.app.srcdir, self.app.config.claims_file)):
            anchor = make_id("claims-" + row["id"])
            if texts := cells(self._piece(page, anchor)):
                ids = [row["id"], *row.get("includes", [])]
                names = [*ids, *(name for claim in ids for name in printed(claim))]
                yield Definition(
                    names,
                    row["id"],
                    f"claim: {row['status']}",
                    self._link(page, anchor),
                    short(texts[1]),
                )

    def statements(self) -> Iterator[Definition]:
        """Theorems and other statements, by number."""
        for label in getattr(self.env, "proof_list", {}):
            page, anchor, number = find_label(self.env, label) or ("", "", "")
            if page and number[-1:].isdigit():
                piece = self._piece(page, anchor)
                title, _, body = piece.partition("</p>")
                title = short(title.partition("</span>")[2])
                name = f"{number} {title}".strip()
                kind, _, count = number.rpartition(" ")
                names = [
                    number,
                    *(
                        f"{abbreviation} {count}"
                        for abbreviation, whole in SHORT.items()
                        if whole == kind
                    ),
                ]
                yield Definition(
                    names,
                    name,
                    self.env.titles[page].astext(),
                    self._link(page, anchor),
                    short(body),
                )

    def equations(self) -> Iterator[Definition]:
        """Equations by number."""
        equations = self.env.get_domain("math").equations  # type: ignore[attr-defined]
        for label, (page, _) in sorted(equations.items(), key=lambda item: item[1][1]):
            piece = self._piece(page, anchor := make_id(f"equation-{label}"))
            if number := NUMBER.search(piece):
                names = [f"Equation {number[1]}", f"eq {number[1]}"]
                title = f"Equation ({number[1]})"
                about = self.env.titles[page].astext()
                yield Definition(
                    names, title, about, self._link(page, anchor), short(piece)
                )

    def objects(self) -> Iterator[Definition]:
        """Objects in the reference of the package."""
        for name, entry in self.env.get_domain("py").objects.items():  # type: ignore[attr-defined]
            if not entry.aliased and entry.docname in self.env.found_docs:
                article = self.pages.article(entry.docname)
                start, end = element(article, entry.node_id) or (0, 0)
                after = article[start if entry.objtype == "module" else end :][:6000]
                says = first_paragraph(next(elements(after, r"<dd"), "") or after)
                last = name.rpartition(".")[2]
                ours = name.replace("rankone.", "ro.", 1)
                title = f"<code>{escape(name)}</code>"
                link = self._link(entry.docname, entry.node_id)
                yield Definition(
                    [last, name, ours], title, entry.objtype, link, short(says)
                )


def load(
    app: Sphinx, page: str, _template: str, _context: dict[str, Any], _doctree: Any
) -> None:
    """Load the definitions on the search page; other pages load them when their search
    is opened.
    """
    app.add_css_file("previews.css")
    app.add_js_file("live-search.js", loading_method="defer")
    if page == "search":
        app.add_js_file(FILE, defer="defer")
        app.add_js_file("search.js", defer="defer")


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the definitions of all pages."""
    if exception is None and app.builder.format == "html":
        rows = [
            [list(dict.fromkeys(map(unescape, definition.names))), *definition[1:]]
            for definition in Defined(app).all()
        ]
        text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
        Path(app.outdir, "_static", FILE).write_text(
            f"const DEFINITIONS = {text};\n", encoding="utf-8"
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    for extension in ("extensions.claims.table", "extensions.pages.notation"):
        app.setup_extension(extension)
    app.connect("html-page-context", load)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
