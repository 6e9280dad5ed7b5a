"""Tours: cards that lead a reader through an explorer, with a guess between them."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from views import walked

TOURS = {"book/intro.html": "retrieval", "book/chapters/retrieval.html": "retrieval"}
AT = "document.querySelector('.widget-subarea > div').__rankone_state()"
# hashes of the answers of both memories
PICTURES = """() => ['exact', 'distributed'].map((name) => {
    const canvas = document.querySelector(`.r1-of-${name} canvas`);
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.reduce((hash, v) => (31 * hash + v) | 0, 7);
}).join()"""
# Without this, the map would be measured during the whole test.
UNMEASURED = """{
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (message, ...more) {
        const job = { ...message.job, order: [] };
        post.call(this, message.type === "map" ? { ...message, job } : message, ...more);
    };
}"""


def rest(page):
    """Waits until the run of the displayed settings has ended; returns the settings."""
    page.wait_for_timeout(50)
    page.wait_for_function(
        f"() => {{ const s = {AT}; return s.ended && !s.busy && !s.due && !s.playing; }}",
        timeout=60_000,
    )
    return page.evaluate(f"{AT}.settings")


def check_outlines(page):
    """Checks that exactly the parts that the card mentions are outlined."""
    selectors = page.locator(".tour-card .tour-at").evaluate_all(
        "(parts) => [...new Set(parts.map((part) => part.dataset.at))]"
    )
    for selector in selectors:
        part = page.locator(f".r1-body {selector}")
        expect(part).to_have_count(1)
        expect(part).to_be_visible()
        expect(part).to_have_css("outline-style", "solid")
    expect(page.locator(".tour-outlined")).to_have_count(len(selectors))


def begun(visit, path, size="desktop", theme="light", **options):
    """A page on which the tour was started."""
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
        # the parts that the card mentions are outlined in the explorer, and visible
        check_outlines(page)
        if options.count():
            guesses += 1
            assert now == settings[-1]  # the answer is not shown yet
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
            check_outlines(page)
        if links[at] is None:
            assert now == settings[-1]
        settings.append(now)
        pictures.append(page.evaluate(PICTURES))
        query = page.locator(".r1-query").first.bounding_box()
        dock = page.locator(".tour-dock").bounding_box()
        assert query["y"] >= 0
        assert query["y"] + query["height"] <= dock["y"]
        forward.click()
        if page.locator(".tour-answer").count() and not options.count():
            # the answer to the task of the last card
            assert rest(page) != settings[-1]
            forward.click()
    assert guesses > 1
    # equal settings give equal pictures, and different settings different pictures,
    # whatever is open
    closed = {str(each | {"inside": -1}) for each in settings}
    assert len(set(pictures)) == len(closed)
    assert len(set(pictures)) >= len(
        {link for link in links if link and "inside" not in link}
    )
    expect(page.locator(".tour-dock")).to_have_count(0)
    expect(page.locator(".tour-outlined")).to_have_count(0)
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
    page.keyboard.press("Enter")  # shows the answer
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
    expect(page.get_by_role("button", name="Start again")).to_be_hidden()


def test_the_tour_started_by_the_leads_link_resumes_at_its_card_and_restarts(
    visit,
):
    page = visit(reduced_motion="reduce", script=UNMEASURED).open("book/intro.html")
    link = page.get_by_role("link", name="Take the tour.")
    link.click()
    place = page.locator(".tour-place")
    expect(place).to_have_text("1 of 12")
    assert page.evaluate("location.hash") in ("", "#r1:retrieval?")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    blend = rest(page)
    assert blend["beta"] == 20
    page.keyboard.press("Escape")
    expect(link).to_be_focused()
    page.locator("input[data-name=beta]").press("End")
    assert rest(page)["beta"] == 200
    page.keyboard.press("Home")
    link.press("Enter")
    expect(place).to_have_text("3 of 12")
    assert rest(page) == blend
    # a card without settings of its own keeps those of the card before it
    page.keyboard.press("ArrowRight")
    page.locator("input[data-name=K]").press("End")
    rest(page)
    page.locator(".tour-next").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(place).to_have_text("2 of 12")
    first = rest(page)
    assert (first["beta"], first["K"]) == (75, 6)
    page.get_by_role("button", name="Start again").click()
    expect(place).to_have_text("1 of 12")
    expect(page.locator(".tour-next")).to_be_focused()
    expect(page.locator(".r1-sentence").first).to_contain_text("Both find")


def test_a_card_opens_the_vector_and_the_next_one_closes_it(visit):
    _, page = begun(visit, "book/intro.html")
    forward = page.locator(".tour-next")
    machine = page.locator(".r1-machine")
    while page.locator(".tour-place").inner_text() != "5 of 12":
        expect(machine).to_be_hidden()
        forward.click()
        rest(page)
    expect(machine).to_be_visible()
    expect(forward).to_be_focused()
    expect(page.locator(".r1-cover")).to_be_hidden()  # it would cover the vector
    # the reader goes to a deeper level by hand
    page.locator(".r1-door:visible").click()
    forward.click()
    rest(page)
    expect(machine).to_be_hidden()
    for memory in ("exact", "distributed"):
        expect(page.locator(f".r1-of-{memory} canvas").first).to_be_visible()


def test_the_last_card_says_what_the_reader_has_done_and_shows_a_way(visit):
    _, page = begun(visit, "book/intro.html")
    forward = page.locator(".tour-next")
    while page.locator(".tour-place").inner_text() != "12 of 12":
        forward.click()
    start = rest(page)
    feedback = page.locator(".tour-told")
    expect(feedback).to_have_text("")
    page.locator("input[data-name=Y]").press("Home")
    rest(page)
    expect(feedback).to_contain_text("Only the distributed memory fails here.")
    expect(page.locator(".tour-answer")).to_have_count(0)
    expect(forward).to_have_text("Show me")
    forward.click()
    assert rest(page) == start | {"beta": 150}
    expect(page.locator(".r1-of-distributed .r1-verdict")).to_contain_text("✗")
    page.locator(".tour-answer a").nth(1).click()
    assert rest(page) == start | {"beta": 150, "Y": 200_000}
    expect(page.locator(".r1-of-distributed .r1-verdict")).to_contain_text("✓")
    expect(forward).to_have_text("Done")


def test_no_card_covers_the_explorers_sentence_or_the_part_it_describes(visit):
    screen = {"width": 1366, "height": 768}
    _, page = begun(visit, "book/intro.html", viewport=screen)
    forward = page.locator(".tour-next")
    while page.locator(".tour-dock").count():
        rest(page)
        top = page.locator(".tour-dock").bounding_box()["y"]
        at = page.locator(".tour-place").inner_text()
        for part in page.locator(".r1-sentence, .tour-outlined").all():
            box = part.bounding_box()
            assert box["y"] >= 0, at
            assert box["y"] + box["height"] <= top, at
        forward.click()


@pytest.mark.parametrize(
    ("size", "theme"), [("phone", "light"), walked("phone", "dark")]
)
def test_on_a_phone_a_card_leaves_the_pictures_visible(visit, size, theme):
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
        for button in page.locator(".tour-dock button:visible").all():
            assert button.bounding_box()["height"] >= 32
        page.locator(".tour-next").tap()


@pytest.mark.parametrize("theme", ["light", walked("dark")])
def test_axe_finds_nothing_in_a_card(visit, theme):
    _, page = begun(visit, "book/intro.html", "desktop", theme)
    for _ in range(4):
        rest(page)
        violations = Axe().run(page, context=".tour-dock").response["violations"]
        assert [(v["id"], [n["html"] for n in v["nodes"]]) for v in violations] == []
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


def test_a_finger_on_the_leads_link_starts_the_tour_with_the_explorer_in_view(visit):
    page = visit("phone", reduced_motion="reduce", script=UNMEASURED).open(
        "book/intro.html"
    )
    link = page.get_by_role("link", name="Take the tour.")
    rest(page)
    link.tap()
    expect(page.locator(".tour-place")).to_have_text("1 of 12")
    # following the link would have led to the list of cards, far below
    page.wait_for_timeout(1000)
    pictures = page.locator(".r1-of-exact canvas").bounding_box()
    assert 0 <= pictures["y"] < page.viewport_size["height"] / 2
    assert "tour-intro" not in page.url
