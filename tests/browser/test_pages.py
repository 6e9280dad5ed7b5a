"""Every page of the built book: nothing from elsewhere, nothing broken, light enough, open to every reader."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe

ROOT = Path(__file__).parents[2]
WEIGHT = 1_500_000  # bytes, gzipped, of all that a page without plotly fetches
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def listed_pages() -> list[str]:
    """Paths of the pages in the table of contents, and the two that Sphinx adds."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    chapters = [entry["file"] for part in toc.get("parts", []) for entry in part["chapters"]]
    return [f"{page}.html" for page in [toc["root"], *chapters, "search", "genindex"]]


PAGES = listed_pages()
everywhere = pytest.mark.parametrize("path", PAGES)


@everywhere
def test_page_asks_only_this_machine_and_finds_everything(path: str, visit: Callable) -> None:
    watched = visit()
    page = watched.open(path)
    watched.see_all()
    assert watched.elsewhere == []
    assert watched.missing == []
    assert watched.errors == []
    assert page.locator("mjx-merror").count() == 0


@everywhere
def test_page_is_light_enough(path: str, visit: Callable, built: Path) -> None:
    watched = visit()
    watched.open(path)
    watched.see_all()
    asked = {unquote(urlsplit(url).path) for url in watched.requests if url.startswith(watched.site)}
    sizes = {name: len(gzip.compress((built / name.lstrip("/")).read_bytes())) for name in asked}
    plotly = {name: size for name, size in sizes.items() if name.endswith("vendor/plotly.js")}
    assert len(sizes) > 5, "the page was not loaded"
    assert bool(plotly) == ('class="plotly-figure"' in (built / path).read_text())
    assert sum(sizes.values()) - sum(plotly.values()) <= WEIGHT, sorted(sizes.items(), key=lambda item: -item[1])[:6]


@everywhere
def test_page_shows_no_raw_markup(path: str, visit: Callable) -> None:
    page = visit().open(path)
    text = page.evaluate(
        """() => {
            const article = document.querySelector('#main-content').cloneNode(true);
            article.querySelectorAll('pre, code, script, style').forEach((each) => each.remove());
            return article.textContent;
        }"""
    )
    assert re.findall(r"\{(?:eq|ref|prf:ref|cite\w*|numref|glue\w*|doc|term)[:\w]*\}`?|:::|\?\?|\$\$", text) == []


@everywhere
def test_every_picture_has_a_text(path: str, visit: Callable) -> None:
    page = visit().open(path)
    bare = "img:not([alt]), article img:is([alt=''], [alt*='_images/'])"
    assert page.locator(bare).evaluate_all("images => images.map((image) => image.outerHTML)") == []


@everywhere
@pytest.mark.parametrize(("size", "theme"), [("desktop", "light"), ("phone", "dark")])
def test_page_has_no_barrier(path: str, size: str, theme: str, visit: Callable) -> None:
    watched = visit(size, theme, reduced_motion="reduce")
    page = watched.open(path)
    watched.see_all()
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    results = Axe().run(page, options={"runOnly": {"type": "tag", "values": TAGS}})
    found = [
        f"{violation['impact']} {violation['id']}: {node['target']} {node['html'][:160]} {node['failureSummary']}"
        for violation in results.response["violations"]
        if violation["impact"] != "minor"  # a table head that is only a formula counts as empty there
        for node in violation["nodes"]
    ]
    assert not found, "\n".join(found)


@everywhere
def test_page_fits_a_phone(path: str, visit: Callable) -> None:
    page = visit("phone").open(path)
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


def test_repository_is_named_in_one_place() -> None:
    url = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"]
    name = url.removeprefix("https://github.com/")
    skipped = {".git", ".venv", "_build", "node_modules"}
    files = [path for path in ROOT.rglob("*") if path.is_file() and not skipped & set(path.parts)]
    texts = [path for path in files if name in path.read_bytes().decode("utf8", "ignore")]
    assert [path.name for path in texts] == ["_config.yml"]
