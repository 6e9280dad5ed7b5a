"""A page prints completely, the book becomes one PDF, and the site opens from a
folder.
"""

import io
import shutil
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bind_book import MANY, Heading, Printed, rows
from print_book import ROOT, book, link_targets, reader
from pypdf import PdfReader, PdfWriter
from serve import server
from zip_site import pack, rooted

# A4 paper between its margins, in pixels of the page
PAPER = {
    "width": 665,
    "height": 980,
}
PAGE = """<!doctype html><html lang="en" data-content_root="./"><article><section id="{id}">
<h1>{title}</h1><p>About {id}.</p><div class="plotly-figure"></div>
<p><a href="{other}.html#{other}-end">there</a> <a href="#{id}-end">below</a></p>
<section id="{id}-end" style="break-before: page"><h2>The end of {id}</h2><p>Last.</p></section>
</section></article><script>
const place = document.querySelector(".plotly-figure");
const draw = () => Object.assign(place, {{ textContent: "Drawn late." }}).dataset.drawn = "true";
place.scrollIntoView = () => setTimeout(draw, 2000);
</script><p class="version">Version 1<a href="/">.</a></p></html>"""
CUT = """() => [...document.querySelectorAll('article :is(pre, table, .math, mjx-container, img, p)')]
    .filter((each) => each.checkVisibility() && each.getBoundingClientRect().right > innerWidth + 1)
    .map((each) => each.outerHTML.slice(0, 120))"""
DEAD = """() => [...document.querySelectorAll(`button, nav, .bd-header, .bd-sidebar-primary, .widget-subarea,
    .claims-filter, .sd-summary-state-marker`)]
    .filter((each) => each.checkVisibility()).map((each) => each.outerHTML.slice(0, 120))"""
FOLDED = """() => [...document.querySelectorAll('article details > :not(summary)')]
    .filter((each) => !each.closest('.widget-subarea, .cell.tag_hide-input'))
    .filter((each) => !each.checkVisibility({ contentVisibilityAuto: true }))
    .map((each) => each.outerHTML.slice(0, 120))"""


UNDER_STILLS = """() => [...document.querySelectorAll('.r1-still')].map((still) =>
    still.parentElement.getBoundingClientRect().bottom - still.getBoundingClientRect().bottom)"""


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A site of two short pages, each of two sheets, that lead to each other's second
    sheet.
    """
    tmp_path = tmp_path_factory.mktemp("short")
    for id_, other in (("one", "two"), ("two", "one")):
        text = PAGE.format(id=id_, other=other, title=f"Page {id_}")
        (tmp_path / f"{id_}.html").write_text(text)
    shutil.copytree(
        ROOT / "book/_static/vendor/fonts", tmp_path / "_static/vendor/fonts"
    )
    shutil.copy(ROOT / "book/_static/fonts.css", tmp_path / "_static")
    with server(tmp_path, first_port=8300) as service:
        threading.Thread(target=service.serve_forever, daemon=True).start()
        yield tmp_path, f"http://localhost:{service.server_port}"
        service.shutdown()


@pytest.fixture(scope="module")
def bound(browser: Any, short: tuple[Path, str]) -> PdfReader:
    """The two pages as a book, the second of which begins a part."""
    site, base = short
    context = reader(browser)
    document = book(context, site, base, [(None, "one.html"), ("A part", "two.html")])
    context.close()
    document.write(site / "book.pdf")
    return PdfReader(site / "book.pdf")


def test_the_book_has_its_pages_numbers_and_contents(bound: PdfReader) -> None:
    texts = [" ".join(page.extract_text().split()) for page in bound.pages]
    assert len(texts) == 6  # title, contents, and two sheets of each page
    assert texts[0] == "Page one About one. Version 1"
    assert (
        texts[1]
        == "Contents Page one 3 The end of one 4 A part 5 Page two 5 The end of two 6 2"
    )
    assert texts[3] == "The end of one Last. 4"
    assert texts[5] == "The end of two Last. 6"


def test_a_page_is_printed_when_its_figures_are_drawn(bound: PdfReader) -> None:
    assert ["Drawn late." in page.extract_text() for page in bound.pages] == [
        False,
        False,
        True,
        False,
        True,
        False,
    ]


def test_the_title_is_set_in_the_type_of_the_text(bound: PdfReader) -> None:
    fonts = bound.pages[0]["/Resources"]["/Font"].get_object().values()
    assert all("SourceSerif4" in font.get_object()["/BaseFont"] for font in fonts)


def test_the_contents_leave_out_what_many_pages_have() -> None:
    blank = PdfWriter()
    stream = io.BytesIO()
    blank.add_blank_page(100, 100)
    blank.write(stream)

    def listed(pages: int) -> list[str]:
        headings = [Heading(1, "top", "Top"), Heading(2, "references", "References")]
        return [
            words
            for _, words, _, _ in rows(
                [Printed("x", stream.getvalue(), headings) for _ in range(pages)], {}
            )
        ]

    assert listed(MANY) == ["Top", "References"] * MANY
    assert listed(MANY + 1) == ["Top"] * (MANY + 1)


def test_the_book_has_bookmarks(bound: PdfReader) -> None:
    def listed(items: list[Any], depth: int = 0) -> Iterator[tuple[int, str, int]]:
        for item in items:
            if isinstance(item, list):
                yield from listed(item, depth + 1)
            else:
                yield depth, item.title, bound.get_destination_page_number(item) + 1

    first = [(0, "Page one", 3), (1, "The end of one", 4)]
    assert list(listed(bound.outline)) == [
        *first,
        (0, "A part", 5),
        (1, "Page two", 5),
        (2, "The end of two", 6),
    ]


def test_links_lead_within_the_book(bound: PdfReader) -> None:
    sheets = [page.indirect_reference for page in bound.pages]

    def led(sheet: int) -> list[int]:
        links = [entry.get_object() for entry in bound.pages[sheet]["/Annots"]]
        return [sheets.index(link["/Dest"][0]) + 1 for link in links]

    assert led(1) == [3, 4, 5, 5, 6]
    assert led(2) == [6, 4]
    assert led(4) == [4, 6]


def test_only_anchors_that_other_pages_lead_to_are_named(
    short: tuple[Path, str],
) -> None:
    assert link_targets(short[0], ["one.html", "two.html"]) == {
        "one.html": {"one-end"},
        "two.html": {"two-end"},
    }


def test_a_link_to_an_unknown_anchor_leads_to_the_beginning_of_the_page(
    bound: PdfReader,
) -> None:
    stream = bound.stream
    stream.seek(0)
    printed = Printed("", stream.read(), [], first=7)
    assert printed.length == 6
    assert printed.place("nowhere") == (7, None)


def test_a_chapter_prints_whole(visit: Any) -> None:
    watched = visit("desktop", "dark", viewport=PAPER)
    watched.page.emulate_media(media="print")
    page = watched.open("book/chapters/editing.html")
    assert page.evaluate(DEAD) == []
    assert page.evaluate(FOLDED) == []
    assert page.evaluate(CUT) == []
    assert page.locator(".r1-still img").is_visible()
    assert "#r1:editing?" in page.locator(".r1-still figcaption").inner_text()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") in {
        "rgb(255, 255, 255)",
        "rgba(0, 0, 0, 0)",
    }


def test_no_space_is_left_on_paper_for_elements_that_are_not_printed(
    browser: Any, site: str
) -> None:
    context = reader(browser)
    page = context.new_page()
    page.goto(f"{site}/book/chapters/kernels.html", wait_until="load")
    page.emulate_media(media="print")
    stills = page.evaluate(UNDER_STILLS)
    page.goto(f"{site}/book/claims.html", wait_until="load")
    assert page.evaluate(DEAD) == []
    context.close()
    assert stills
    assert max(stills) < 40


def test_the_site_opens_from_a_folder(
    built: Path, browser: Any, tmp_path: Path
) -> None:
    pack(built, tmp_path / "book.zip")
    with zipfile.ZipFile(tmp_path / "book.zip") as packed:
        packed.extractall(tmp_path)
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "rank-one" / "index.html").as_uri())
    page.locator(".widget-subarea .r1-body").wait_for(timeout=60_000)
    page.goto((tmp_path / "rank-one" / "search.html").as_uri() + "?q=interference")
    page.locator("#search-results li a").first.wait_for(timeout=60_000)
    page.close()
    assert errors == []


def test_a_page_that_needs_a_server_is_not_packed(tmp_path: Path) -> None:
    assert rooted(
        '<a href="/book/x.html"><img src="_static/x.png"><a href="../x.html">'
    ) == ["/book/x.html"]
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "x.html").write_text('<img src="/x.png">')
    with pytest.raises(ValueError, match=r"x\.html: the link /x\.png begins"):
        pack(tmp_path / "site", tmp_path / "x.zip")
