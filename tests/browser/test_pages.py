"""Every page of the built book: nothing from elsewhere, nothing broken, light enough, open to every reader."""

import gzip
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from accessibility import barriers

ROOT = Path(__file__).parents[2]
WEIGHT = 1_600_000  # bytes, gzipped, of all that a page without plotly fetches


def listed_pages() -> list[str]:
    """Paths of the pages in the table of contents, and the one that Sphinx adds."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    entries = [entry for part in toc.get("parts", []) for entry in part["chapters"]]
    chapters = [page["file"] for entry in entries for page in (entry, *entry.get("sections", []))]
    return [f"{page}.html" for page in [toc["root"], *chapters, "search"]]


SCREENS = [("desktop", "light"), ("phone", "dark")]  # each size and each theme once: a visit takes seconds
VIEWS = [(path, *screen) for path in listed_pages() for screen in SCREENS]


@cache
def weight(path: Path) -> int:
    """Bytes of a file as it travels."""
    return len(gzip.compress(path.read_bytes()))


@pytest.fixture(scope="module")
def view(request: pytest.FixtureRequest, reader: Callable) -> Iterator[Any]:
    """A page in one size and theme, scrolled through once: all the checks of that view share the visit."""
    path, size, theme = request.param
    watched = reader(size, theme)
    watched.open(path)
    watched.see_all()
    yield watched
    watched.page.close()


in_every_view = pytest.mark.parametrize("view", VIEWS, indirect=True, ids=["-".join(view) for view in VIEWS])


@in_every_view
def test_page_asks_only_this_machine_and_finds_everything(view: Any) -> None:
    assert view.elsewhere == []
    assert view.missing == []
    assert view.errors == []
    assert view.page.locator("mjx-merror").count() == 0


@in_every_view
def test_page_is_light_enough(view: Any, built: Path) -> None:
    asked = {unquote(urlsplit(url).path) for url in view.requests if url.startswith(view.site)}
    sizes = {name: weight(built / name.lstrip("/")) for name in asked}
    plotly = {name: size for name, size in sizes.items() if name.endswith("vendor/plotly.js")}
    assert len(sizes) > 5, "the page was not loaded"
    assert bool(plotly) == ('class="plotly-figure"' in view.page.content())
    assert sum(sizes.values()) - sum(plotly.values()) <= WEIGHT, sorted(sizes.items(), key=lambda item: -item[1])[:6]


@in_every_view
def test_page_shows_no_raw_markup(view: Any) -> None:
    text = view.page.evaluate(
        """() => {
            const article = document.querySelector('#main-content').cloneNode(true);
            article.querySelectorAll('pre, code, script, style').forEach((each) => each.remove());
            return article.textContent;
        }"""
    )
    assert re.findall(r"\{(?:eq|ref|prf:ref|cite\w*|numref|glue\w*|doc|term)[:\w]*\}`?|:::|\?\?|\$\$", text) == []
    assert re.findall(r"\|[-–—]+:?\|", text) == []  # a table that was left as text


@in_every_view
def test_every_picture_has_a_text(view: Any) -> None:
    bare = "img:not([alt]), article img:is([alt=''], [alt*='_images/'])"
    assert view.page.locator(bare).evaluate_all("images => images.map((image) => image.outerHTML)") == []


@in_every_view
def test_page_is_in_its_theme_and_fits_its_screen(view: Any, request: pytest.FixtureRequest) -> None:
    _, theme = request.node.callspec.id.rsplit("-", 2)[1:]
    assert view.page.evaluate("document.documentElement.dataset.theme") == theme
    assert view.page.evaluate("document.documentElement.scrollWidth") <= view.page.viewport_size["width"]


@in_every_view
def test_nothing_moves_for_a_reader_who_asked_for_stillness(view: Any) -> None:
    """Not even for .01 ms: with a duration on every element, each change of style starts thousands of transitions."""
    moving = """() => [...document.querySelectorAll('*')].filter((element) => {
        const { transitionDuration, animationDuration } = getComputedStyle(element);
        return [transitionDuration, animationDuration].some((times) => times.split(', ').some((time) => time !== '0s'));
    }).map((element) => element.outerHTML.slice(0, 160))"""
    assert view.page.evaluate(moving) == []


@in_every_view
def test_page_has_no_barrier(view: Any) -> None:  # the last check of a view: it changes the page
    found = barriers(view.page)
    assert not found, "\n".join(found)


def test_the_index_of_search_is_loaded_where_it_is_searched(visit: Any) -> None:
    watched = visit()
    page = watched.open("book/intro.html")
    assert not any("searchindex" in url for url in watched.requests)
    page.keyboard.press("Control+k")
    page.keyboard.type("interference")
    page.keyboard.press("Enter")
    page.locator("#search-results li a").first.wait_for()
    assert "/search.html" in page.url
    assert watched.errors == []


def test_repository_is_named_in_one_place() -> None:
    url = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"]
    name = url.removeprefix("https://github.com/")
    skipped = {".git", ".venv", "_build", "node_modules"}
    files = [path for path in ROOT.rglob("*") if path.is_file() and not skipped & set(path.parts)]
    texts = [path for path in files if name in path.read_bytes().decode("utf8", "ignore")]
    assert [path.name for path in texts] == ["_config.yml"]
