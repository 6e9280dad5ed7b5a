"""Cards and the search, used by pointer, by key and by finger, from a server and from a
folder.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

PAGE = "book/chapters/hopfield.html"
CARD = "#r1-preview"
FOUND = """<main role="main"><button>Menu</button><article class="bd-article"><h1>Title</h1><pre>code</pre>
<p>Of <span class="math"><math><mfrac><msub><mi>α</mi><mi>c</mi></msub><mn>2</mn></mfrac></math></span> here.</p>
</article></main>"""
NUMBER = "a.number[data-figure='D-eq2.critical_load']"


@pytest.fixture
def folder(browser: Any, built: Path) -> Iterator[Callable[[str], Any]]:
    """Opens a page of the book from its folder, where no page may read another page."""
    said: list[str] = []
    with browser.new_context() as context:
        page = context.new_page()
        page.on("pageerror", lambda error: said.append(str(error)))

        def go(path: str, query: str = "") -> Any:
            page.goto((built / path).as_uri() + query)
            return page

        yield go
        assert said == []


def test_a_pointer_or_a_key_opens_a_card_and_goes_into_it(folder: Any) -> None:
    page = folder(PAGE)
    card = page.locator(CARD)
    number = page.locator(NUMBER).first
    # nothing is loaded before a card is requested
    assert not page.locator("script[src*='/previews/']").count()
    # The test advances the page's clock, because on a busy machine the card would close
    # before the pointer reaches it.
    page.clock.install(time=0)
    page.clock.pause_at(1)
    number.hover()
    page.clock.run_for(200)
    card.wait_for()
    for part in (
        "D-eq2",
        "holds",
        "0.1379",
        "between 0.137 and 0.139",
        "critical_load",
        "test_memory_matrix",
    ):
        assert part in card.inner_text()
    assert "mjx-c" in card.inner_html()
    assert number.get_attribute("aria-describedby") == card.get_attribute("id")
    link = card.get_by_role("link", name="The cell that computed it")
    link.hover(trial=True)  # the card has stopped moving
    words = number.bounding_box()
    there = link.bounding_box()
    # on the way the pointer is over the text
    page.mouse.move(words["x"] + 5, words["y"] + words["height"] + 2)
    page.mouse.move(there["x"] + 5, there["y"] + 5)
    page.locator(f"{CARD}:hover").wait_for()
    page.clock.run_for(500)
    assert card.is_visible()
    page.clock.resume()
    cell = page.locator(link.get_attribute("href"))
    assert "critical_load" in cell.locator("pre").first.text_content()
    page.mouse.move(2, 2)
    card.wait_for(state="hidden")
    for selector, words in [
        ("article a.internal[href='#equation-eq-hop-lse']:visible", "(8)"),
        ("article .bibtex-citation a", "Neural networks and physical systems"),
        ("article span.symbol[data-tex='K']", "number of patterns"),
    ]:
        page.locator(selector).first.hover()
        card.get_by_text(words).first.wait_for()
        box = card.bounding_box()
        screen = page.viewport_size
        assert 0 <= box["x"] <= screen["width"] - box["width"]
        assert 0 <= box["y"] <= screen["height"] - box["height"]
    page.mouse.move(2, 2)
    card.wait_for(state="hidden")
    number.evaluate("(each) => each.focus({ focusVisible: true })")
    card.wait_for()
    page.keyboard.press("ArrowDown")
    assert card.evaluate("(each) => each.contains(document.activeElement)")
    page.keyboard.press("Escape")
    card.wait_for(state="hidden")
    assert number.evaluate("(each) => each === document.activeElement")
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    card.wait_for()
    page.emulate_media(media="print")
    assert not card.is_visible()


def test_a_finger_opens_a_sheet_and_its_second_tap_follows_the_link(visit: Any) -> None:
    page = visit("phone").open(PAGE)
    card = page.locator(CARD)
    number = page.locator(NUMBER).first
    number.scroll_into_view_if_needed()
    number.tap()
    card.wait_for()
    box = card.bounding_box()
    assert (box["x"], box["width"]) == (0, 390)
    assert box["y"] + box["height"] == pytest.approx(844, abs=1)
    assert "#cell" not in page.url
    card.get_by_role("button", name="Close").tap()
    card.wait_for(state="hidden")
    number.tap()
    card.wait_for()
    number.evaluate("(each) => each.click()")  # the number may be under the sheet
    page.wait_for_url("**#cell-*")
    assert not card.is_visible()


def test_the_search_answers_while_a_reader_types(visit: Any, folder: Any) -> None:
    watched = visit()
    page = watched.open("book/intro.html")
    assert not any("definitions.js" in url for url in watched.requests)
    page.keyboard.press("Control+k")
    page.keyboard.type("ROME")
    answers = page.locator(".live-search li")
    expect(answers.first.locator("a")).to_have_text("Editing one fact")
    assert 1 < answers.count() <= 8
    page.keyboard.type(" zzz")
    page.wait_for_function("!document.querySelector('.live-search li')")
    for _ in " zzz":
        page.keyboard.press("Backspace")
    answers.first.wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/book/chapters/editing.html#*")
    assert watched.errors == []
    page = folder("book/intro.html", "")
    page.locator(".search-button-field").first.click()
    page.keyboard.type("interference")
    page.locator(".live-search li a").first.wait_for()


def test_the_search_page_lists_the_definition_first_without_raw_tex(
    visit: Any, folder: Any
) -> None:
    watched = visit()
    page = watched.open("search.html?q=D-thm2")
    first = page.locator("ul.search li a").first
    assert first.inner_text() == "D-thm2"
    assert first.get_attribute("href").endswith("book/claims.html#claims-d-thm2")
    page.locator("#search-results p.context").nth(4).wait_for()
    said = page.locator("p.context").all_inner_texts()
    assert all(said)
    assert not [text for text in said if "\\" in text]
    assert (
        page.evaluate("(html) => Search.htmlToText(html)", FOUND)
        == "Title Of α_c/2 here."
    )
    assert watched.errors == []
    page = folder("search.html", "?q=Kantorovich")
    assert "kantorovich" in page.locator("ul.search li a").first.inner_text()
    assert page.locator("ul.search p.context").first.inner_text()
