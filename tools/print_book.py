"""Prints the built book as one PDF: `python tools/print_book.py`.

Chromium prints the pages of the contents one by one, then a title page with a table of
contents, and `bind_book` binds them into one file. Explorers appear as stills
(`make stills`) with their addresses.
"""

import re
import sys
import threading
import time
from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import chromium
from bind_book import END, Heading, Printed, bind, place_all, rows
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    PdfMargins,
    Route,
    sync_playwright,
)
from pypdf import PdfWriter
from serve import server

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "book"))

from extensions.course.contents import contents  # the path was just added

OUTPUT = ROOT / "_build" / "rank-one.pdf"
LINK = re.compile(r'<a [^>]*href="([^"]+)"')
READY = """async () => {
    for (const image of document.querySelectorAll('img[loading]')) image.loading = 'eager';
    for (const figure of document.querySelectorAll('.plotly-figure:not([data-drawn])')) figure.scrollIntoView();
    await window.MathJax?.startup?.promise;
    await Promise.all([...document.fonts].map((face) => face.load().catch(() => null))); // none is awaited unasked
    await document.fonts.ready;
    const images = [...document.images].filter((image) => image.checkVisibility());
    await Promise.all(images.map((image) => image.decode().catch(() => null)));
    const missing = () => document.querySelector('.plotly-figure:not([data-drawn])') !== null;
    for (let tenth = 0; missing() && tenth < 3000; tenth++) await new Promise((resolve) => setTimeout(resolve, 100));
    return !missing();
}"""
# Chromium writes a named destination only for anchors that a link of the same page
# targets. A last page, which is not bound, has links to all anchors that other pages
# and the contents use.
NAME = """([end, anchors]) => {
    const last = document.createElement('div');
    last.id = end;
    last.style.breakBefore = 'page';
    for (const id of [end, ...anchors]) {
        const link = Object.assign(document.createElement('a'), { href: `#${id}`, textContent: id });
        last.append(link, ' ');
    }
    document.querySelector('article').append(last);
}"""
HEADINGS = """() => [...document.querySelectorAll('article section :is(h1, h2, h3)')].map((heading) => {
    const words = heading.cloneNode(true);
    words.querySelectorAll('.headerlink').forEach((part) => part.remove());
    return [Number(heading.tagName[1]), heading.closest('section').id, words.textContent.trim()];
})"""
TITLE = """() => [
    document.querySelector('article h1').firstChild.textContent,
    document.querySelector('article section > p').textContent,
    document.querySelector('.version')?.firstChild.textContent ?? '',
    new URL(`${document.documentElement.dataset.content_root}_static/fonts.css`, location.href).href,
]"""
FRONT = """<!doctype html><html lang="en"><link rel="stylesheet" href="{fonts}"><style>
body {{ font: 10.5pt/1.4 "Source Serif 4", serif; color: #16151a; margin: 0; }}
h1 {{ font-size: 40pt; font-weight: 600; margin: 60mm 0 4mm; }}
.about {{ font-size: 14pt; }}
section {{ break-before: page; }}
ol {{ list-style: none; margin: 0; padding: 0; }}
li {{ display: flex; gap: 1em; justify-content: space-between; break-inside: avoid; }}
li span {{ font-variant-numeric: lining-nums tabular-nums; }}
a {{ color: inherit; text-decoration: none; }}
.d0 {{ font-weight: 600; margin-top: 1.2em; break-after: avoid; }}
.d1 {{ margin-top: 0.4em; }}
.d2 {{ padding-left: 1.5em; font-size: 9pt; color: #4a4852; }}
</style><article><h1>{title}</h1><p class="about">{about}</p><p>{version}</p>
<section><h2>Contents</h2><ol>{lines}</ol></section></article>"""
LINE = '<li class="d{}"><a href="{}">{}</a><span>{}</span></li>'


def listed(root: Path) -> list[tuple[str | None, str]]:
    """Pages in the order of the book: for each the part that begins with it, or None,
    and its path.
    """
    pages = contents(root)
    before = ["", *(page.part for page in pages)]
    return [
        (page.part if page.part != part else None, f"{page.document}.html")
        for page, part in zip(pages, before, strict=False)
    ]


def link_targets(site: Path, paths: Sequence[str]) -> dict[str, set[str]]:
    """Path → anchors on that page to which other pages link."""
    anchors_of: dict[str, set[str]] = {path: set() for path in paths}
    for path in paths:
        for link in LINK.findall((site / path).read_text(encoding="utf-8")):
            target, anchor = urldefrag(urljoin(path, link))
            if anchor and target in anchors_of and target != path:
                anchors_of[target].add(unquote(anchor))
    return anchors_of


def paper(page: Page) -> bytes:
    """PDF that Chromium prints of a page."""
    margin: PdfMargins = {
        "top": "18mm",
        "bottom": "20mm",
        "left": "17mm",
        "right": "17mm",
    }
    return page.pdf(format="A4", print_background=True, margin=margin)


def reader(browser: Browser) -> BrowserContext:
    """A browser context with the light theme and reduced motion, in which explorers
    stay stills.
    """
    context = browser.new_context(color_scheme="light", reduced_motion="reduce")
    # milliseconds; a busy machine can be slow
    context.set_default_timeout(300_000)
    context.add_init_script(
        "localStorage.setItem('mode', 'light'); localStorage.setItem('theme', 'light')"
    )
    context.route(re.compile(r"/vendor/widgets\.js"), lambda route: route.abort())
    context.route(re.compile(r"\.css\b"), _patient)
    return context


def _patient(route: Route) -> None:
    """Change style sheets so that printing waits for the typeface, without which a
    screen would go on.
    """
    answer = route.fetch()
    route.fulfill(
        response=answer,
        body=answer.text().replace("font-display: optional", "font-display: block"),
    )


def printed(context: BrowserContext, address: str, anchors: set[str]) -> Printed:
    """A page of the site in print, with destinations for its headings and for these
    anchors.
    """
    page = context.new_page()
    page.goto(address, wait_until="load")
    assert page.evaluate(READY), f"{address}: a figure is not drawn"
    headings = [Heading(*heading) for heading in page.evaluate(HEADINGS)]
    page.evaluate(
        NAME, [END, sorted(anchors | {heading.anchor for heading in headings})]
    )
    document = Printed(address, paper(page), headings)
    page.close()
    return document


def front(
    context: BrowserContext, first: str, book: Sequence[Printed], parts: dict[str, str]
) -> Printed:
    """The title page and the contents, with the page numbers that `place_all` has set.
    `first` is the address of the first page.
    """
    page = context.new_page()
    page.goto(first)
    title, about, version, fonts = page.evaluate(TITLE)
    page.goto(fonts)  # the address must not be that of a page in the book
    lines = [
        LINE.format(depth, escape(address), escape(words), n)
        for depth, words, address, n in rows(book, parts)
    ]
    words = {"title": title, "about": about, "version": version}
    page.set_content(
        FRONT.format(
            fonts=fonts,
            lines="".join(lines),
            **{k: escape(v) for k, v in words.items()},
        )
    )
    page.evaluate("document.fonts.ready.then(() => true)")
    document = Printed("", paper(page), [])
    page.close()
    return document


def book(
    context: BrowserContext,
    site: Path,
    base: str,
    order: Sequence[tuple[str | None, str]],
) -> PdfWriter:
    """The book of these pages; each comes with the part that begins with it, or
    None.
    """
    anchors = link_targets(site, [path for _, path in order])
    pages = []
    for _, path in order:
        pages.append(printed(context, f"{base}/{path}", anchors[path]))
        print(f"{path}: {pages[-1].length} pages", flush=True)
    parts = {f"{base}/{path}": part for part, path in order if part}
    place_all([draft := front(context, pages[0].address, pages, parts), *pages])
    place_all([final := front(context, pages[0].address, pages, parts), *pages])
    assert draft.length == final.length  # other numbers break no line
    return bind([final, *pages], "Rank One", parts)


def main(folder: str = "_build/html") -> None:
    """Print the whole book."""
    path = chromium.find() or sys.exit(chromium.ADVICE)
    begun = time.perf_counter()
    with server(Path(folder).resolve()) as service, sync_playwright() as playwright:
        threading.Thread(target=service.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        writer = book(
            reader(browser),
            Path(folder),
            f"http://localhost:{service.server_port}",
            listed(ROOT),
        )
        browser.close()
        service.shutdown()
    writer.write(OUTPUT)
    size = OUTPUT.stat().st_size / 1e6
    seconds = time.perf_counter() - begun
    print(
        f"Wrote {OUTPUT.relative_to(ROOT)}: {len(writer.pages)} pages, {size:.1f} MB, in "
        f"{seconds:.0f} s"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
