"""Every page of the built book loads nothing from other sites, has no broken part, is
light enough, and has no barrier.
"""

import gzip
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
import yaml
from accessibility import barriers
from playwright.sync_api import TimeoutError as TooLate

from extensions.course.contents import contents
from extensions.pages.explorer_links import state_of

ROOT = Path(__file__).parents[2]
WEIGHT = 600_000  # gzipped bytes of everything that a page fetches
PLOTLY = 1_000_000  # the limit for a page with plotly
SHIFT = 0.05  # layout shift allowed while the page loads and is read
FORMULA = re.compile(r"\$[^$\s`][^$`]*\$|^```\{math\}", re.MULTILINE)


def listed_pages() -> list[str]:
    """Paths of the pages in the table of contents, and of the page that Sphinx adds."""
    return [*(f"{page.document}.html" for page in contents(ROOT)), "search.html"]


# each size and each theme only once, because a visit takes seconds
SCREENS = [
    ("desktop", "light"),
    ("phone", "dark"),
]
VIEWS = [(path, *screen) for path in listed_pages() for screen in SCREENS]
LEADING = [
    path
    for path in listed_pages()[:-1]
    if "{try}`" in (ROOT / path).with_suffix(".md").read_text("utf-8")
]
STATE = "(explorer) => explorer.closest('.r1').__rankone_state()"
SETTINGS = """() => [...document.querySelectorAll('.r1')].filter((each) => each.__rankone_state)
    .map((each) => each.__rankone_state().settings)"""
AS_IT_OPENED = """() => {
    for (const undo of document.querySelectorAll('.r1 button[aria-label=Undo]'))
        for (let i = 0; i < 100 && undo.ariaDisabled !== 'true'; i++) undo.click();
    document.activeElement.blur();
    scrollTo(0, 0);
}"""
IN_VIEW = "(element) => { const { top } = element.getBoundingClientRect(); return top > -1 && top < innerHeight / 2; }"


def prose(source: str) -> str:
    """A page's text without its code."""
    return re.sub(
        r"^```(?!\{math\}).*?^```", "", source, flags=re.MULTILINE | re.DOTALL
    )


@cache
def weight(path: Path) -> int:
    """Gzipped bytes of a file."""
    return len(gzip.compress(path.read_bytes()))


@pytest.fixture(scope="module")
def view(request: pytest.FixtureRequest, reader: Callable) -> Iterator[Any]:
    """A page in one size and theme, scrolled through once. All checks of the view use
    this visit.
    """
    path, size, theme = request.param
    watched = reader(size, theme)
    watched.open(path)
    watched.see_all()
    yield watched
    watched.leave()


def in_views(views: list[tuple[str, str, str]]) -> pytest.MarkDecorator:
    """A mark for tests of these views: `make test` visits each page on the first
    screen, `make walk` on the others.
    """
    cases = []
    for view in views:
        name = "-".join(view)
        marks = [pytest.mark.xdist_group(name)]  # one process visits a view
        if view[1:] != SCREENS[0]:
            marks.append(pytest.mark.walk)
        cases.append(pytest.param(view, id=name, marks=marks))
    return pytest.mark.parametrize("view", cases, indirect=True)


in_every_view = in_views(VIEWS)


@in_every_view
def test_a_page_makes_no_external_requests_and_has_no_missing_files_or_errors(
    view: Any,
) -> None:
    assert view.elsewhere == []
    assert view.missing == []
    assert view.errors == []


@in_every_view
def test_formulas_have_letters_mathml_and_tex_without_a_script(view: Any) -> None:
    """Each formula has letters to see, MathML for screen readers and TeX to copy, and
    no script sets it.
    """
    bare = """(formulas) => formulas.filter((each) => {
        const whole = each.dataset.tex && each.querySelector('mjx-c') && each.querySelector('math')?.textContent;
        return !whole || each.querySelector('mjx-merror, merror');
    }).map((each) => each.outerHTML)"""
    formulas = view.page.locator(".math")
    source = ROOT / view.path.replace(".html", ".md")
    assert formulas.evaluate_all(bare) == []
    assert bool(formulas.count()) >= bool(
        source.is_file() and FORMULA.search(prose(source.read_text()))
    )
    assert not [url for url in view.requests if re.search("mathjax.*js|katex", url)]
    # an accent does not count as overflow
    assert view.page.locator("mjx-container[tabindex]:not([display])").count() == 0


@in_every_view
def test_the_layout_of_a_page_hardly_shifts_while_it_loads(view: Any) -> None:
    shift, moved = view.shift()
    assert shift <= SHIFT, moved


@in_every_view
def test_page_is_light_enough(view: Any, built: Path) -> None:
    paths = {
        unquote(urlsplit(url).path)
        for url in view.requests
        if url.startswith(view.site)
    }
    sizes = {name: weight(built / name.lstrip("/")) for name in paths}
    plotly = {
        name: size for name, size in sizes.items() if name.endswith("vendor/plotly.js")
    }
    assert len(sizes) > 5, "the page was not loaded"
    assert bool(plotly) == bool(view.page.locator(".plotly-figure").count())
    assert sum(sizes.values()) <= (PLOTLY if plotly else WEIGHT), sorted(
        sizes.items(), key=lambda item: -item[1]
    )[:6]


@in_every_view
def test_page_shows_no_raw_markup(view: Any) -> None:
    text = view.page.evaluate(
        """() => {
            const article = document.querySelector('#main-content').cloneNode(true);
            article.querySelectorAll('pre, code, script, style, math').forEach((each) => each.remove());
            return article.textContent;
        }"""
    )
    assert (
        re.findall(
            r"\{(?:eq|ref|prf:ref|cite\w*|numref|glue\w*|doc|term)[:\w]*\}`?|:::|\?\?|\$\$",
            text,
        )
        == []
    )
    assert re.findall(r"\|[-–—]+:?\|", text) == []  # a table that was left as text


@in_every_view
def test_every_picture_has_a_text(view: Any) -> None:
    bare = "img:not([alt]), article img:is([alt=''], [alt*='_images/'])"
    assert (
        view.page.locator(bare).evaluate_all(
            "images => images.map((image) => image.outerHTML)"
        )
        == []
    )


@in_every_view
def test_figures_drawn_for_a_phone_are_used_on_phones_only_and_fit(
    view: Any, request: pytest.FixtureRequest
) -> None:
    _, size, _ = request.node.callspec.id.rsplit("-", 2)
    # the content of a closed fold is not laid out
    wrong = """(phone) => [...document.querySelectorAll('picture > img')].filter((image) => {
        if (!image.checkVisibility()) return false;
        const box = image.closest('figure') ?? image.closest('.cell_output');
        return image.currentSrc.endsWith('-phone.webp') !== phone || box.scrollWidth > box.clientWidth;
    }).map((image) => image.outerHTML)"""
    with suppress(TooLate):  # a busy machine may still be laying the figures out
        view.page.wait_for_function(
            f"(phone) => ({wrong})(phone).length === 0",
            arg=size == "phone",
            timeout=10_000,
        )
    assert view.page.evaluate(wrong, size == "phone") == []


@in_every_view
def test_hardly_a_formula_has_to_be_scrolled(view: Any) -> None:
    wide = "(boxes) => boxes.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.textContent)"
    assert (
        len(view.page.locator('mjx-container[display="true"]').evaluate_all(wide)) <= 2
    )


@in_every_view
def test_page_is_in_its_theme_and_fits_its_screen(
    view: Any, request: pytest.FixtureRequest
) -> None:
    _, theme = request.node.callspec.id.rsplit("-", 2)[1:]
    assert view.page.evaluate("document.documentElement.dataset.theme") == theme
    assert (
        view.page.evaluate("document.documentElement.scrollWidth")
        <= view.page.viewport_size["width"]
    )


@in_every_view
def test_with_reduced_motion_no_element_has_a_transition_or_animation(
    view: Any, built: Path
) -> None:
    """There is no duration, not even of .01 ms: with a duration on every element, each
    change of style would start thousands of transitions.
    """
    moving = """() => [...document.querySelectorAll(':not(mjx-container *)')].filter((element) => {
        const { transitionDuration, animationDuration } = getComputedStyle(element);
        return [transitionDuration, animationDuration].some((times) => times.split(', ').some((time) => time !== '0s'));
    }).map((element) => element.outerHTML.slice(0, 160))"""
    assert view.page.evaluate(moving) == []
    # the style of the formulas' thousands of letters has no transition
    style = built / "_static" / "formulas.css"
    assert not re.search("transition|animation", style.read_text())


@in_views([(path, *SCREENS[0]) for path in LEADING])
def test_each_explorer_link_sets_its_state_and_back_returns_to_the_text(
    view: Any,
) -> None:
    """Links that set an explorer: each sets its settings, shows the explorer, and leads
    back.
    """
    page = view.page
    before = page.evaluate(SETTINGS)
    # a tour is folded, and has tests of its own
    links = page.locator("a.r1-try:not(.tour a)")
    assert links.count() > 0
    for link in links.all():
        address, place = urldefrag(link.get_attribute("href"))
        assert not address, "the chapter has no such explorer"
        name, state = state_of(ROOT, place.removeprefix("r1:"))
        explorer = page.locator(f"[data-explorer={name}]").first
        link.click()
        back = explorer.get_by_role("button", name="Back to the text")
        back.wait_for()
        page_state = explorer.evaluate(STATE)
        settings = {key: value for key, value in state.items() if key != "q"}
        assert {key: page_state["settings"][key] for key in settings} == settings
        assert state.get("q") in (None, page_state["preset"])
        assert explorer.evaluate(IN_VIEW)
        back.click()
        assert link.evaluate("(element) => element === document.activeElement")
    page.evaluate(AS_IT_OPENED)
    page.mouse.move(0, 0)
    assert page.evaluate(SETTINGS) == before


# the last check of a view: it changes the page
@in_every_view
def test_page_has_no_barrier(
    view: Any,
) -> None:
    violations = barriers(view.page)
    assert not violations, "\n".join(violations)


def test_a_copied_formula_is_its_tex(visit: Any) -> None:
    """The formula is selected by two clicks, or with the words around it."""
    page = visit().open("book/chapters/hopfield.html")
    page.evaluate(
        "document.addEventListener('copy', (e) => { window.copied = "
        "e.clipboardData.getData('text/plain'); })"
    )

    def copied() -> str:
        page.keyboard.press("Control+c")
        return page.evaluate("window.copied")

    formula = page.locator("article p .math").first
    tex = formula.get_attribute("data-tex")
    formula.dblclick()
    assert copied() == f"${tex}$"
    assert "chosen" in (formula.get_attribute("class") or "")
    paragraph = page.locator("article section > p:has(.math)").first
    paragraph.evaluate("(each) => getSelection().selectAllChildren(each)")
    words = copied()
    inside = paragraph.locator(".math").first.get_attribute("data-tex")
    assert f"${inside}$" in words
    assert (
        paragraph.evaluate(
            "(each) => each.firstChild.textContent.trim().split(/\\s+/)[0]"
        )
        in words
    )
    block = page.locator("div.math").first
    block.evaluate("(each) => getSelection().selectAllChildren(each)")
    assert f"$${block.get_attribute('data-tex')}$$" in copied()


def test_a_screen_reader_is_given_every_formula_that_is_laid_out(visit: Any) -> None:
    page = visit("phone").open("book/intro.html")
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")[
        "nodes"
    ]
    laid_out = "(all) => all.filter((one) => one.checkVisibility({ contentVisibilityAuto: true })).length"
    formulas = [
        node for node in nodes if node.get("role", {}).get("value") == "MathMLMath"
    ]
    assert len(formulas) == page.locator("math").evaluate_all(laid_out) > 10


def test_a_page_is_laid_out_in_pieces_from_the_top_down(visit: Any) -> None:
    """Parts far below wait until the browser is idle, which the test decides here."""
    watched = visit(
        script="window.requestIdleCallback = (next) => { window.next = next; }"
    )
    page = watched.page
    page.goto(f"{watched.site}/book/chapters/universality_further.html")
    page.wait_for_function("Boolean(window.next)")
    words = page.locator(".bd-article section > p > *")
    visibility = "(each) => each.checkVisibility({ contentVisibilityAuto: true })"
    guess = page.evaluate("document.body.scrollHeight")
    assert words.first.evaluate(visibility)
    assert not words.last.evaluate(visibility)
    pieces = page.evaluate(
        "() => { let n = 0; for (; !document.documentElement.dataset.laid; n++) "
        "next(); return n; }"
    )
    assert pieces > 5
    assert words.last.evaluate(visibility)
    assert page.evaluate("document.body.scrollHeight") != guess


def test_the_notation_does_not_move_while_its_rows_arrive(visit: Any) -> None:
    """On a slow connection the first rows of a table are visible before the last rows
    arrive.
    """
    page = visit().open("book/notation.html")
    widths = (
        "(heads) => heads.map((head) => Math.round(head.getBoundingClientRect().width))"
    )
    heads = page.locator("table th")
    whole = heads.evaluate_all(widths)
    page.locator("tbody tr:nth-child(n + 2)").evaluate_all(
        "(rows) => rows.forEach((row) => row.remove())"
    )
    assert heads.evaluate_all(widths) == whole


def test_a_strip_of_symbols_appears_only_once_it_is_complete(visit: Any) -> None:
    """The widths of its columns depend on all rows, so the strip waits for the element
    after it.
    """
    page = visit().open("book/chapters/distributed.html")
    strip = page.locator("table.symbols")
    assert strip.is_visible()
    strip.evaluate(
        "(strip) => { while (strip.parentElement.nextElementSibling) "
        "strip.parentElement.nextElementSibling.remove(); }"
    )
    assert not strip.is_visible()


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


def test_a_first_visit_is_in_the_readers_theme_and_without_complaint(
    browser: Any, site: str
) -> None:
    for theme in ("light", "dark"):
        with browser.new_context(color_scheme=theme) as context:
            page = context.new_page()
            said = []
            page.on(
                "console",
                lambda line, said=said: (
                    said.append(line.text) if line.type == "error" else None
                ),
            )
            page.goto(f"{site}/book/notation.html")
            assert page.evaluate("document.documentElement.dataset.theme") == theme
            assert said == []


@pytest.mark.parametrize("path", listed_pages()[:-1])
def test_every_page_has_the_tags_for_the_preview_of_a_shared_link(
    path: str, built: Path
) -> None:
    head = (built / path).read_text().partition("</head>")[0]
    tags = dict(
        re.findall(r'<meta (?:name|property)="([\w:]+)" content="([^"]*)"', head)
    )
    (address,) = re.findall(r'<link rel="canonical" href="([^"]*)"', head)
    assert address.endswith(f"/{path}")
    assert tags["og:url"] == address
    assert tags["description"]
    assert tags["description"] == tags["og:description"]
    picture = urlsplit(tags["og:image"]).path.partition("/_static/")[2]
    assert (built / "_static" / picture).is_file()


def test_repository_is_named_in_one_place() -> None:
    url = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"]
    name = url.removeprefix("https://github.com/")
    skipped = {".git", ".venv", "_build", "node_modules"}
    files = [
        path
        for path in ROOT.rglob("*")
        if path.is_file() and not skipped & set(path.parts)
    ]
    texts = [
        path for path in files if name in path.read_bytes().decode("utf8", "ignore")
    ]
    assert [path.name for path in texts] == ["_config.yml"]
