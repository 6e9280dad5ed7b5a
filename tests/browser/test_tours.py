"""Tours: cards that lead a reader through an explorer, with a guess between them."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from views import walked

TOURS = {"book/intro.html": "retrieval", "book/chapters/retrieval.html": "retrieval"}
AT = "document.querySelector('.widget-subarea > div').__rankone_state()"
# of the answers of both memories
PICTURES = """() => ['exact', 'distributed'].map((name) => {
    const canvas = document.querySelector(`.r1-of-${name} canvas`);
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.reduce((hash, v) => (31 * hash + v) | 0, 7);
}).join()"""
# the map would be measured all the while
UNMEASURED = """{
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (message, ...more) {
        const job = { ...message.job, order: [] };
        post.call(this, message.type === "map" ? { ...message, job } : message, ...more);
    };
}"""


def rest(page):
    """Waits until the run of the settings on show has ended; returns the settings."""
    page.wait_for_timeout(50)
    page.wait_for_function(
        f"() => {{ const s = {AT}; return s.ended && !s.busy && !s.due && !s.playing; }}",
        timeout=60_000,
    )
    return page.evaluate(f"{AT}.settings")


def begun(visit, path, size="desktop", theme="light", **options):
    """A page on which the tour has begun."""
    watched = visit(size, theme, reduced_motion="reduce", script=UNMEASURED, **options)
    page = watched.open(path)
    page.locator("details.tour > summary").scroll_into_view_if_needed()
    rest(page)
    page.locator("details.tour > summary").click()
    expect(page.locator(".tour-dock")).to_be_visible()
    return watched, page


@pytest.mark.parametrize("path", TOURS)
def test_each_card_sets_the_explorer_and_a_guess_comes_before_its_answer(visit, path):
    watched, page = begun(visit, path)
    entries = page.evaluate("history.length")
    items = page.locator("details.tour > ol > li")
    cards = items.count()
    assert 8 <= cards <= 20
    links = items.evaluate_all(
        "items => items.map((item) => item.querySelector('a.r1-try')?.hash ?? null)"
    )
    forward = page.locator(".tour-next")
    settings, pictures = [], []
    guesses = 0
    for at in range(cards):
        expect(page.locator(".tour-place")).to_have_text(f"{at + 1} of {cards}")
        options = page.locator(".tour-options button")
        now = rest(page)
        if options.count():
            guesses += 1
            assert now == settings[-1]  # nothing tells the answer
            expect(page.locator(".tour-answer")).to_have_count(0)
            expect(forward).to_have_text("Show me")
            chosen = options.nth(guesses % options.count())
            chosen.click()
            right = page.locator(".tour-is-right")
            expect(right).to_have_count(1)
            is_right = right.inner_text() == chosen.inner_text()
            expect(page.locator(".tour-answer strong")).to_have_text(
                "✓ Right. " if is_right else "✗ Not this time. "
            )
            now = rest(page)
        if links[at] is None:
            assert now == settings[-1]
        settings.append(now)
        pictures.append(page.evaluate(PICTURES))
        query = page.locator(".r1-query").first.bounding_box()
        dock = page.locator(".tour-dock").bounding_box()
        assert query["y"] >= 0
        assert query["y"] + query["height"] <= dock["y"]
        forward.click()
    assert guesses > 1
    # the same settings give the same pictures, and others other ones
    assert len(set(pictures)) == len({str(each) for each in settings})
    assert len(set(pictures)) >= len({link for link in links if link})
    expect(page.locator(".tour-dock")).to_have_count(0)
    expect(page.locator("details.tour > summary")).to_be_focused()
    assert page.evaluate("history.length") == entries
    assert watched.errors == []
    assert watched.elsewhere == []


def test_a_tour_goes_back_can_be_left_and_needs_no_mouse(visit):
    _, page = begun(visit, "book/intro.html")
    first = rest(page)
    expect(page.locator(".tour-next")).to_be_focused()
    expect(page.get_by_role("button", name="Back", exact=True)).to_be_disabled()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tour-place")).to_have_text("3 of 12")
    assert rest(page)["beta"] == 20
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")  # to be shown the answer
    expect(page.locator(".tour-answer")).to_be_visible()
    expect(page.locator(".tour-answer strong")).to_have_text("")
    assert rest(page)["beta"] == 200
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(page.locator(".tour-place")).to_have_text("1 of 12")
    assert rest(page) == first
    page.keyboard.press("Escape")
    expect(page.locator(".tour-dock")).to_have_count(0)
    expect(page.locator("details.tour > summary")).to_be_focused()
    assert page.locator("details.tour").get_attribute("open") is None
    page.keyboard.press("Enter")
    expect(page.locator(".tour-place")).to_have_text("1 of 12")


@pytest.mark.parametrize(
    ("size", "theme"), [("phone", "light"), walked("phone", "dark")]
)
def test_on_a_phone_a_card_leaves_the_pictures_in_sight(visit, size, theme):
    _, page = begun(visit, "book/intro.html", size, theme)
    for _ in range(5):
        rest(page)
        dock = page.locator(".tour-dock").bounding_box()
        screen = page.viewport_size
        assert dock["x"] >= 0
        assert dock["width"] <= screen["width"]
        assert dock["y"] + dock["height"] <= screen["height"] + 1
        for name in ("query", "of-exact canvas", "of-distributed canvas"):
            box = page.locator(f".r1-{name}").first.bounding_box()
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= dock["y"]
        for button in page.locator(".tour-dock button").all():
            assert button.bounding_box()["height"] >= 32
        page.locator(".tour-next").tap()


@pytest.mark.parametrize("theme", ["light", walked("dark")])
def test_axe_finds_nothing_in_a_card(visit, theme):
    _, page = begun(visit, "book/intro.html", "desktop", theme)
    for _ in range(4):
        rest(page)
        found = Axe().run(page, context=".tour-dock").response["violations"]
        assert [(v["id"], [n["html"] for n in v["nodes"]]) for v in found] == []
        page.locator(".tour-next").click()


def test_without_scripts_and_on_paper_a_tour_is_a_list(browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}/book/intro.html")
    card = page.locator("details.tour > ol > li").first
    expect(card).to_be_hidden()
    page.locator("details.tour > summary").click()
    expect(card).to_be_visible()
    assert page.locator("details.tour input").count() == 0
    expect(page.locator(".r1-still").first).to_be_visible()
    page.locator("details.tour > summary").click()
    page.emulate_media(media="print")
    expect(card).to_be_visible()
    context.close()
