"""Pieces of the written pages: the element of an anchor, and its HTML for another page.

Beautiful Soup takes seven seconds to parse six chapters, whose formulas are many
thousands of elements. Here their 85 equations and statements are cut out in a twentieth
of a second.
"""

import posixpath
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri

LINK = re.compile(r'<a class="(?:[^"]* )?internal(?: [^"]*)?" href="([^"#]*#[^"]+)"')
IDLE = re.compile(
    r'<a class="headerlink".*?</a>|<span id="[^"]*"></span>| (?:id|role)="[^"]*"|<a [^>]*doc-backlink.*?</a>'
)
EMPTY = re.compile(r"<span\b[^>]*></span>$")


class Written:
    """The pages of a build, read on demand."""

    def __init__(self, app: Sphinx) -> None:
        self._app = app
        self._articles: dict[str, str] = {}
        self._pages = {
            app.builder.get_target_uri(docname): docname
            for docname in app.env.found_docs
        }

    def uri(self, docname: str) -> str:
        """Address of a page from the root of the site."""
        return self._app.builder.get_target_uri(docname)

    def article(self, docname: str) -> str:
        """HTML of the article of a page."""
        if docname not in self._articles:
            path = Path(self._app.outdir, self.uri(docname))
            page = path.read_text(encoding="utf-8") if path.is_file() else ""
            start = max(page.find("<article"), 0)
            self._articles[docname] = page[start : page.rfind("</article>")]
        return self._articles[docname]

    def links(self, docname: str) -> set[str]:
        """The links of a page to anchors of the book, as they are written in it."""
        return {unescape(link) for link in LINK.findall(self.article(docname))}

    def target(self, docname: str, link: str) -> tuple[str | None, str]:
        """The page and the anchor to which a link of a page leads; the page is None if
        it is not in the book.
        """
        path, anchor = urldefrag(link)
        uri = (
            posixpath.normpath(
                posixpath.join(posixpath.dirname(self.uri(docname)), path)
            )
            if path
            else None
        )
        return self._pages.get(uri) if uri else docname, anchor

    def seen_from(self, docname: str, piece: str, reader: str) -> str:
        """HTML of a piece of one page for another page: links have the same targets,
        and ids are removed.
        """
        source = self.uri(docname)
        destination = self.uri(reader)

        def moved(match: re.Match[str]) -> str:
            kind, address = match.groups()
            if urlsplit(address).scheme:
                return match[0]
            path, anchor = urldefrag(address)
            uri = (
                posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
                if path
                else source
            )
            path = (
                "" if uri == destination and anchor else relative_uri(destination, uri)
            )
            return f' {kind}="{path}{"#" * bool(anchor)}{anchor}"'

        return re.sub(r' (href|src)="([^"]*)"', moved, IDLE.sub("", piece)).replace(
            'class="symbol math', 'class="math'
        )


def element(page: str, anchor: str) -> tuple[int, int] | None:
    """Start and end of the element with this id, or of the element around it if it is
    an empty span.

    >>> element('<p>a</p><div id="b"><div>c</div></div>', "b")
    (8, 38)
    """
    at = page.find(f' id="{anchor}"')
    start = page.rfind("<", 0, at) if at >= 0 else -1
    span = _balanced(page, start) if start >= 0 else None
    if span and EMPTY.match(page[slice(*span)]):
        span = _balanced(page, page.rfind("<", 0, start))
    return span


def _balanced(page: str, start: int) -> tuple[int, int] | None:
    match = re.compile(r"<([a-z][\w-]*)").match(page, start)
    if not match:
        return None
    depth = 0
    for tag in re.compile(rf"<(/?){match[1]}(?=[\s>])[^>]*>").finditer(page, start):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return start, tag.end()
    return None


def cells(row: str) -> list[str]:
    """HTML of the cells of a table's row."""
    return re.findall(r"<td\b[^>]*>(.*?)</td>", row, re.DOTALL)


def first_paragraph(piece: str) -> str:
    """The first paragraph of a piece, or nothing."""
    match = re.search(r"<p>.*?</p>", piece, re.DOTALL)
    return match[0] if match else ""


def elements(page: str, start_tag: str) -> Iterator[str]:
    """All elements whose first tag this pattern matches."""
    for match in re.finditer(start_tag, page):
        if span := _balanced(page, match.start()):
            yield page[slice(*span)]
