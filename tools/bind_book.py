"""Binds printed pages into one PDF: page numbers, bookmarks, and links that lead within
it.
"""

import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag

from pypdf import PageObject, PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DecodedStreamObject,
    DictionaryObject,
    Fit,
    FloatObject,
    NameObject,
    NullObject,
    TextStringObject,
)

END = "r1-end-of-print"  # anchor after which pages are not bound
FONT = "/R1Number"
NUMBER = "Q /Artifact BMC BT {font} 9 Tf {x:.1f} {y:.1f} Td ({n}) Tj ET EMC"
MANY = 3  # a heading on more pages than this is left out of the contents
BOTTOM = 30  # points from the foot of a page to its number


class Heading(NamedTuple):
    """A heading of a page: its depth, its anchor and its words."""

    depth: int
    anchor: str
    words: str


@dataclass
class Printed:
    """A page of the site in print: its address, its PDF and its headings. `first` is
    the index of its first page in the book.
    """

    address: str
    pdf: bytes
    headings: list[Heading]
    first: int = 0

    @cached_property
    def reader(self) -> PdfReader:
        """The PDF, opened."""
        return PdfReader(io.BytesIO(self.pdf))

    @cached_property
    def _places(self) -> dict[str, Any]:
        return {
            name.lstrip("/"): place
            for name, place in self.reader.named_destinations.items()
        }

    @cached_property
    def length(self) -> int:
        """Number of pages to bind."""
        return self._page(END) if END in self._places else len(self.reader.pages)

    def _page(self, anchor: str) -> int:
        return self.reader.get_destination_page_number(self._places[anchor]) or 0

    def place(self, anchor: str) -> tuple[int, float | None]:
        """The page of the book and the height on it of an anchor; the beginning of this
        document if the anchor is not known.
        """
        if anchor not in self._places or (page := self._page(anchor)) >= self.length:
            return self.first, None
        return self.first + page, float(self._places[anchor].top or 0)


def place_all(printed: Sequence[Printed]) -> None:
    """Set `first` so that each page of the site begins where the one before it ends."""
    first = 0
    for document in printed:
        document.first = first
        first += document.length


def bind(printed: Sequence[Printed], title: str, parts: dict[str, str]) -> PdfWriter:
    """The book.

    Args:
        printed: Pages of the site, in order, after `place_all`.
        title: Title of the PDF.
        parts: Address → name of the part that begins there.
    """
    writer = PdfWriter()
    for document in printed:
        writer.append(document.reader, pages=(0, document.length), import_outline=False)
    by_address = {document.address: document for document in printed}
    for document in printed:
        for page in writer.pages[document.first : document.first + document.length]:
            _lead(writer, page, document, by_address)
    _number(writer)
    _bookmark(writer, printed, parts)
    writer.add_metadata({"/Title": title})
    writer.root_object[NameObject("/Lang")] = TextStringObject("en")
    writer.compress_identical_objects(remove_unreferenced=True)
    return writer


def _lead(
    writer: PdfWriter,
    page: PageObject,
    document: Printed,
    by_address: dict[str, Printed],
) -> None:
    """Make links of a page to a place of the book lead to that place in the PDF."""
    for entry in page.get("/Annots", ()):
        link = entry.get_object()
        if target := _target(link, document, by_address):
            number, top = target
            link.pop("/A", None)
            height = NullObject() if top is None else FloatObject(top)
            destination = [
                writer.pages[number].indirect_reference,
                NameObject("/XYZ"),
                NullObject(),
                height,
                NullObject(),
            ]
            link[NameObject("/Dest")] = ArrayObject(destination)


def _target(
    link: DictionaryObject, document: Printed, by_address: dict[str, Printed]
) -> tuple[int, float | None] | None:
    action = link.get("/A", {})
    if "/Dest" in link or "/D" in action:
        return document.place(str(link.get("/Dest", action.get("/D"))).lstrip("/"))
    address, anchor = urldefrag(str(action.get("/URI", "")))
    return by_address[address].place(unquote(anchor)) if address in by_address else None


def _number(writer: PdfWriter) -> None:
    """Write the page number at the foot of every page but the first."""
    kind = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    font = writer._add_object(
        DictionaryObject({NameObject(k): NameObject(v) for k, v in kind.items()})
    )
    before = writer._add_object(_stream("q"))
    for n, page in enumerate(writer.pages[1:], 2):
        resources: Any = page["/Resources"].get_object()
        fonts = resources.setdefault(
            NameObject("/Font"), DictionaryObject()
        ).get_object()
        fonts[NameObject(FONT)] = font
        x = float(page.mediabox.width) / 2 - 2.5 * len(str(n))
        contents = page["/Contents"].get_object()
        streams = (
            list(contents)
            if isinstance(contents, ArrayObject)
            else [page.raw_get("/Contents")]
        )
        after = writer._add_object(
            _stream(NUMBER.format(font=FONT, x=x, y=BOTTOM, n=n))
        )
        page[NameObject("/Contents")] = ArrayObject([before, *streams, after])


def _stream(code: str) -> DecodedStreamObject:
    stream = DecodedStreamObject()
    stream.set_data(f"\n{code}\n".encode())
    return stream


def _bookmark(
    writer: PdfWriter, printed: Sequence[Printed], parts: dict[str, str]
) -> None:
    def mark(words: str, place: tuple[int, float | None], parent: Any) -> Any:
        number, top = place
        return writer.add_outline_item(
            title=words,
            page_number=number,
            parent=parent,
            fit=Fit.xyz(top=top),
            is_open=False,
        )

    part = None
    for document in printed:
        if document.address in parts:
            part = mark(parts[document.address], (document.first, None), None)
        above = [part]
        for heading in document.headings:
            above = above[: heading.depth]
            above.append(mark(heading.words, document.place(heading.anchor), above[-1]))


def rows(
    printed: Sequence[Printed], parts: dict[str, str]
) -> Iterator[tuple[int, str, str, int]]:
    """Lines of the contents: depth (0 for a part), words, address, and the page counted
    from 1.

    A heading that many pages have, such as that of their references, would not help to
    find anything, and is left out.
    """
    times = Counter(
        heading.words
        for document in printed
        for heading in document.headings
        if heading.depth == 2
    )
    for document in printed:
        if document.address in parts:
            yield 0, parts[document.address], document.address, document.first + 1
        for depth, anchor, words in document.headings:
            if depth == 1 or (depth == 2 and times[words] <= MANY):
                yield (
                    depth,
                    words,
                    f"{document.address}#{anchor}",
                    document.place(anchor)[0] + 1,
                )
