"""A server of the built book, a browser, and pages that record all their requests and
errors.
"""

import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import chromium
import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Request,
    Response,
    expect,
    sync_playwright,
)
from serve import server
from standalone import Kept, opener, page_of, reveal

ROOT = Path(__file__).parents[2]
HTML = ROOT / "_build" / "html"
SIZES = {
    "desktop": {"width": 1280, "height": 900},
    "phone": {"width": 390, "height": 844},
}
# a screen with the contents beside the text
WIDE = {
    "desktop": {"viewport": {"width": 1440, "height": 900}},
    "phone": {},
}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
]
SHIFTS = """() => new Promise((resolve) => {
    const name = (node) => (node?.outerHTML ?? node?.textContent ?? 'what is gone').slice(0, 120);
    const beside = (node) => (node?.closest ? node : node?.parentElement)?.closest('.bd-sidebar-secondary');
    new PerformanceObserver((list) => {
        let windows = [];
        for (const { value, startTime, sources, hadRecentInput } of list.getEntries()) {
            if (hadRecentInput || (sources.length && sources.every(({ node }) => beside(node)))) continue;
            const last = windows.at(-1);
            if (!last || startTime - last.end > 1000 || startTime - last.start > 5000)
                windows.push({ sum: 0, start: startTime, moved: [] });
            Object.assign(windows.at(-1), { sum: windows.at(-1).sum + value, end: startTime });
            windows.at(-1).moved.push([value, sources.map(({ node }) => name(node))]);
        }
        const worst = windows.reduce((a, b) => (b.sum > a.sum ? b : a), { sum: 0, moved: [] });
        resolve([worst.sum, worst.moved.sort((a, b) => b[0] - a[0]).slice(0, 3)]);
    }).observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => resolve([0, []]), 1000); // an observer is not told that there was none
})"""

# Observers report each change, instead of a check in each frame, because the browser
# draws no frame that nothing requests.
LAID_OUT = """() => new Promise((resolve) => {
    const root = document.documentElement;
    const look = () => {
        const state = document.querySelector('script[type="application/vnd.jupyter.widget-state+json"]');
        const { widgets, laid } = root.dataset;
        if (laid === 'out' && (!state || widgets === 'ready')) resolve(true);
    };
    new MutationObserver(look).observe(root, { attributes: true });
    look();
})"""


@dataclass
class Watched:
    """A page, with a record of its requests, its missing files and its errors, until it
    is left.
    """

    page: Page
    site: str
    path: str = ""
    requests: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for event, note in self._notes.items():
            self.page.on(event, note)

    @property
    def _notes(self) -> dict[str, Callable[[Any], None]]:
        return {
            "request": self._note_request,
            "response": self._note_response,
            "pageerror": self._note_error,
            "console": self._note_line,
        }

    def _note_request(self, request: Request) -> None:
        self.requests.append(request.url)

    def _note_response(self, response: Response) -> None:
        if response.status >= 400:
            self.missing.append(f"{response.status} {response.url}")

    def _note_error(self, error: Error) -> None:
        self.errors.append(str(error))

    def _note_line(self, line: ConsoleMessage) -> None:
        if line.type == "error":
            self.errors.append(line.text)

    def leave(self) -> None:
        """Stop recording, before the page goes to another path."""
        for event, note in self._notes.items():
            self.page.remove_listener(event, note)

    @property
    def elsewhere(self) -> list[str]:
        """Requests that left this machine."""
        local = ("data", "blob", "about")
        return [
            url
            for url in self.requests
            if urlsplit(url).scheme not in local
            and urlsplit(url).netloc != urlsplit(self.site).netloc
        ]

    def open(self, path: str) -> Page:
        """Go to a page of the book, and wait until its widgets are ready and the whole
        page is laid out.
        """
        self.path = path
        self.page.goto(f"{self.site}/{path}", wait_until="load")
        self._wait(LAID_OUT)
        return self.page

    def see_all(self) -> None:
        """Scroll through the page as a reader does, so that the parts which are drawn
        only in view are drawn.
        """
        self._wait(
            """async () => {
                const frame = () => new Promise(requestAnimationFrame);
                const second = () => new Promise((resolve) => setTimeout(resolve, 1000)); // a busy machine skips frames
                for (let y = 0; y < document.body.scrollHeight; y += innerHeight) {
                    scrollTo(0, y);
                    await Promise.race([frame(), second()]);
                }
                scrollTo(0, 0);
                return true;
            }"""
        )
        self._wait(
            "() => "
            "document.querySelectorAll('.plotly-figure:not([data-drawn])').length === "
            "0"
        )
        self.page.wait_for_load_state("networkidle")

    def shift(self) -> tuple[float, list]:
        """Layout shift of the page in its worst 5 seconds, as browsers measure it, and
        the elements that moved most.

        The contents beside the text do not count, because they unfold at the reader's
        position.
        """
        return tuple(self.page.evaluate(SHIFTS))

    # unlike `evaluate`, it times out if no frame is ever drawn
    def _wait(self, condition: str) -> None:
        self.page.wait_for_function(condition, timeout=60_000)


@pytest.fixture(scope="session")
def built() -> Path:
    """The folder of the built book, rebuilt if it is out of date."""
    subprocess.run(["make", "--silent", "html"], cwd=ROOT, check=True, timeout=900)
    return HTML


@pytest.fixture(scope="session")
def site(built: Path) -> Iterator[str]:
    """Address of a server of the built book on this machine."""
    with server(built, first_port=8100) as service:
        threading.Thread(target=service.serve_forever, daemon=True).start()
        yield f"http://localhost:{service.server_port}"
        service.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium without a window."""
    path = chromium.find()
    if path is None:
        pytest.fail(chromium.ADVICE)
    expect.set_options(timeout=30_000)  # a busy machine may be slow
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def context_of(
    browser: Browser, size: str, theme: str, script: str = "", **options: object
) -> BrowserContext:
    """A reader's browser with a screen and a theme. All its pages have one cache.

    No page restores the state of an earlier page. `script` runs before anything else on
    each page.
    """
    phone = {"has_touch": True, "is_mobile": True} if size == "phone" else {}
    context = browser.new_context(
        **{"viewport": SIZES[size], "color_scheme": theme, **phone, **options}
    )
    stored = f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}')"
    context.add_init_script(
        f"if (location.protocol !== 'about:') {{ sessionStorage.clear(); {stored}; }}"
    )
    context.add_init_script(script)
    return context


@pytest.fixture(scope="session")
def reader(browser: Browser, site: str) -> Iterator[Callable[[str, str], Watched]]:
    """The page of a reader who goes through the book in one tab with reduced motion,
    for each size and theme.
    """
    tabs: dict[tuple[str, str], Page] = {}

    def page(size: str, theme: str) -> Watched:
        if (size, theme) not in tabs:
            context = context_of(
                browser, size, theme, reduced_motion="reduce", **WIDE[size]
            )
            tabs[size, theme] = context.new_page()
        return Watched(tabs[size, theme], site)

    yield page
    for tab in tabs.values():
        tab.context.close()


@pytest.fixture(scope="session")
def book_pages(browser: Browser) -> Iterator[Kept]:
    """Pages for the book, which the tests reuse."""
    pages = Kept(
        lambda size, theme, **options: context_of(
            browser, size, theme, **options
        ).new_page()
    )
    yield pages
    pages.close()


@pytest.fixture
def visit(book_pages: Kept, site: str) -> Iterator[Callable[..., Watched]]:
    """Makes a page for this test: `visit("phone", "dark")`. `.open(path)` goes to a
    page of the book.
    """
    visits: list[Watched] = []

    def new(size: str = "desktop", theme: str = "light", **options: object) -> Watched:
        watched = Watched(book_pages.page(size, theme, **options), site)
        visits.append(watched)
        return watched

    yield new
    for watched in visits:
        watched.leave()
    book_pages.release()


@pytest.fixture(scope="session")
def widget_pages(browser: Browser) -> Iterator[Kept]:
    """Pages for widgets, which the tests reuse."""
    pages = Kept(partial(page_of, browser))
    yield pages
    pages.close()


@pytest.fixture
def alone(widget_pages: Kept) -> Iterator[Callable[..., Page]]:
    """Makes a page with one widget alone: `alone("sketch", "phone", settings={…})`.
    Errors in its console fail the test.
    """
    with opener(widget_pages) as new:
        yield new


@pytest.fixture
def explorer(
    alone: Callable[..., Page], request: pytest.FixtureRequest
) -> Callable[..., Page]:
    """The same for the bundle `BUNDLE` of a file of tests, with the file's `OPTIONS`.

    The parts that the opening question hides are shown, unless the test makes a guess:
    `guess=True`.
    """
    named = request.module

    def new(size: str = "desktop", *, guess: bool = False, **options: object) -> Page:
        page = alone(named.BUNDLE, size, **getattr(named, "OPTIONS", {}) | options)
        if not guess:
            reveal(page)
        return page

    return new
