"""The common parts of all explorers, on a page of the book, operated with mouse and
keys as by a reader and a lecturer.
"""

import csv
import re

import pytest
from playwright.sync_api import expect
from views import walked

PAGE = "book/chapters/editing.html"
STATE = "() => [...document.querySelectorAll('.r1')].find((el) => el.__rankone_state).__rankone_state()"
TEXT = """() => {
    const link = Object.assign(document.createElement('a'), {href: '#r1:editing?q=few', textContent: 'three keys'});
    const paragraphs = [...document.querySelectorAll('article section p')]
        .filter((paragraph) => paragraph.checkVisibility());
    paragraphs[paragraphs.length - 1].append(' Try ', link);
}"""

OVERTAKEN = """() => {  // the explorer writes its address after a link was followed and before that is told
    const before = location.href;
    location.hash = '#r1:editing?q=few';
    history.replaceState(null, '', before);
}"""


def setting(page, name):
    return page.evaluate(STATE)["settings"][name]


def drag(page, name, dx, dy):
    grip = page.locator(f"[data-handle='{name}'] .r1-hit")
    grip.scroll_into_view_if_needed()
    box = grip.bounding_box()
    x = box["x"] + box["width"] / 2
    y = box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + dx, y + dy, steps=6)
    page.mouse.up()


def test_links_undo_and_the_address_restore_a_state(visit):
    watched = visit()
    page = watched.open(PAGE)
    first = setting(page, "v")
    drag(page, "v", 40, -30)
    moved = setting(page, "v")
    assert moved != first
    expect(page).to_have_url(re.compile(rf"#r1:editing\?v=%5B{moved[0]:.6g},"))
    copied = page.url

    page.keyboard.press("Control+z")  # six moves of the pointer were one drag
    assert setting(page, "v") == first
    expect(page.get_by_role("button", name="Undo")).to_have_attribute(
        "aria-disabled", "true"
    )
    page.keyboard.press("Control+Shift+z")
    assert setting(page, "v") == moved

    page.evaluate(TEXT)
    page.get_by_role("link", name="three keys").click()
    # a browser reports a new address later
    page.wait_for_function("() => (" + STATE + ")().preset === 'few'")
    expect(page.locator(".r1-ask")).to_be_in_viewport()
    back = page.get_by_role("button", name="Back to the text")
    back.click()
    expect(page.get_by_role("link", name="three keys")).to_be_focused()
    expect(page.get_by_role("link", name="three keys")).to_be_in_viewport()
    expect(back).to_be_hidden()

    # the address is written only from time to time
    expect(page).to_have_url(re.compile(r"#r1:editing\?q=few$"))
    page.goto(copied)
    page.wait_for_function(
        "(x) => Math.abs((" + STATE + ")().settings.v[0] - x) < 1e-4", arg=moved[0]
    )
    assert watched.errors == []


def test_a_page_opens_at_the_state_of_its_address_and_ignores_invalid_values(visit):
    watched = visit()
    page = watched.open(
        PAGE + "#r1:editing?v=%5B1e999,0%5D&W=nonsense&__proto__=1&k=%5B1,-1%5D&q=no"
    )
    page.wait_for_function("() => (" + STATE + ")().settings.k[1] === -1")
    assert setting(page, "v") == [1.2, 0.4]
    assert setting(page, "W") == [[0.7, -0.5], [0.3, 0.9]]
    expect(page.locator(".r1-ask")).to_be_in_viewport()
    page.evaluate(
        """() => new Promise((told) => {
            addEventListener('hashchange', () => requestAnimationFrame(() => requestAnimationFrame(told)));
            location.hash = '#r1:residual?k=[2,2]';
        })"""
    )
    assert setting(page, "k") == [1, -1]
    page.evaluate(OVERTAKEN)
    page.wait_for_function("() => (" + STATE + ")().preset === 'few'")
    expect(page).to_have_url(re.compile(r"#r1:editing\?q=few$"))
    assert watched.errors == []


def test_the_menu_gives_link_picture_data_and_python(visit):
    page = visit(permissions=["clipboard-read", "clipboard-write"]).open(PAGE)
    page.get_by_role("button", name="Share and export").focus()
    page.keyboard.press("ArrowDown")
    items = page.get_by_role("menuitem")
    expect(items.first).to_be_focused()
    assert "Copy as Python" in items.all_inner_texts()
    page.keyboard.press("Enter")
    expect(page.locator(".r1-said")).to_have_text("Link copied.")
    assert (
        page.evaluate("navigator.clipboard.readText()")
        == page.url.split("#")[0] + "#r1:editing?"
    )

    def take(letter):
        page.keyboard.press("Enter")
        for _ in range(letter.count("+")):
            page.keyboard.press("ArrowDown")
        with page.expect_download() as waited:
            page.keyboard.press("Enter")
        return waited.value.path()

    assert take("++").read_bytes()[1:4] == b"PNG"
    with take("+++").open(encoding="utf8") as file:
        rows = list(csv.DictReader(file))
    values = page.evaluate(STATE)["measured"]
    assert [float(row["measured"]) for row in rows] == pytest.approx(values)
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_be_hidden()
    expect(page.get_by_role("button", name="Share and export")).to_be_focused()


def test_a_lecture_is_held_with_keys_alone_and_printed(visit):
    watched = visit()
    page = watched.open(PAGE + "?lecture=editing:identity,unknown,third")
    page.evaluate("() => { window.print = () => { window.printed = true; }; }")
    where = page.locator(".r1-where")
    finding = page.locator(".r1-hall .r1-found")
    expect(where).to_have_text("Question 1 of 2")
    expect(finding).to_be_empty()
    page.keyboard.press("ArrowRight")  # shows the answer, then goes on
    expect(finding).to_contain_text("times the least")
    page.keyboard.press("ArrowRight")
    expect(where).to_have_text("Question 2 of 2")
    page.keyboard.press("2")
    expect(finding).to_contain_text("✓ As you said.")
    page.keyboard.press("PageUp")
    expect(where).to_have_text("Question 1 of 2")
    assert page.locator(".r1-hall .r1-first > :visible").count() == 3
    words = page.locator(".r1-hall .r1-ask").evaluate(
        "(el) => parseFloat(getComputedStyle(el).fontSize)"
    )
    assert words >= 24

    page.keyboard.press("Control+p")
    page.wait_for_function("() => window.printed")
    stills = page.locator(".r1-handout section")
    expect(stills).to_have_count(2)  # each is drawn when it has converged
    page.emulate_media(media="print")
    assert (
        len(
            set(
                stills.locator("img").evaluate_all("(all) => all.map((one) => one.src)")
            )
        )
        == 2
    )
    expect(stills.nth(1)).to_contain_text("The second edit has moved the first answer")
    expect(page.locator("article")).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    expect(page.locator(".r1-handout")).to_have_count(0)

    page.keyboard.press("Escape")
    expect(page.locator("dialog.r1-hall")).to_have_count(0)
    expect(page.locator(".r1-editing .r1-question").first).to_be_visible()
    assert watched.errors == []


@pytest.mark.parametrize("size", ["laptop", walked("phone")])
def test_stage_controls_and_readouts_stand_on_one_screen(visit, size):
    laptop = {"viewport": {"width": 1366, "height": 768}}
    page = visit(
        *(["phone"] if size == "phone" else []), **(laptop if size == "laptop" else {})
    ).open(PAGE)
    page.evaluate("document.querySelector('.r1-body').scrollIntoView()")
    if size == "laptop":
        for part in (".r1-ask", ".r1-stage-block", ".r1-first", ".r1-readouts"):
            expect(page.locator(part)).to_be_in_viewport(ratio=1)
    else:
        page.locator("input[data-name=count]").scroll_into_view_if_needed()
        top = page.evaluate("scrollY")
        page.mouse.wheel(0, 250)  # the planes stay in sight over the controls
        page.wait_for_function("(top) => scrollY >= top + 200", arg=top)
        expect(page.locator(".r1-plane").first).to_be_in_viewport(ratio=1)


def test_pointer_keyboard_and_screen_reader_get_the_definition_of_a_label(visit):
    page = visit().open(PAGE)
    ridge = page.locator("input[data-name=ridge]")
    expect(ridge).to_have_accessible_description(
        re.compile("Added to the diagonal of C")
    )
    tip = page.get_by_role("tooltip").filter(has_text="Added to the diagonal of C")
    expect(tip).to_be_hidden()
    page.locator("label", has_text="ridge").locator(".r1-term").hover()
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.locator("select[data-name=geometry]").focus()
    page.keyboard.press("Tab")
    expect(tip).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(tip).to_be_hidden()
