"""The surface explorer, operated as by a reader."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from standalone import drag, pose, settled, slide, state
from views import walked

from rankone_book.widgets import SurfaceExplorer

BUNDLE = "surface"
WIDGET = SurfaceExplorer()
OPTIONS = {"traits": {"pictures": bytes(WIDGET.pictures), "names": list(WIDGET.names)}}
PICTURES = """() => {
    const all = document.querySelectorAll('.r1-surface canvas, .r1-surface-pictures canvas');
    return [...all].map((canvas) => canvas.toDataURL());
}"""


def played(page):
    """The state after a run was played to its end."""
    return settled(page, "!s.playing && s.step === s.steps")


def test_the_run_plays_when_the_explorer_opens(explorer):
    page = explorer()
    begun = settled(page, "s.playing && s.step > 2")
    expect(page.locator(".r1-found")).to_be_empty()
    surface, start, now = page.evaluate(PICTURES)
    ended = played(page)
    assert begun["step"] < ended["step"] == 40
    later = page.evaluate(PICTURES)
    assert later[0] != surface
    assert later[1] == start
    assert later[2] != now
    assert ended["nearest"] == 0
    expect(page.locator(".r1-found")).to_contain_text("from the astronaut")


def test_the_reader_scrubs_and_both_pictures_of_the_state_follow(explorer):
    page = explorer()
    played(page)
    slide(page, "scrub", -30)
    assert state(page)["step"] == 10
    expect(page.locator(".r1-surface-pictures")).to_contain_text("step 10")
    pictures = page.evaluate(PICTURES)
    slide(page, "scrub", -9)
    expect(page.locator(".r1-surface-pictures")).to_contain_text("step 1")
    assert page.evaluate(PICTURES)[2] != pictures[2]


def test_lowering_beta_merges_the_wells_in_sight_and_raising_it_parts_them(explorer):
    page = explorer()
    played(page)
    before = page.evaluate(PICTURES)[0]
    slide(page, "beta", -60)
    merged = played(page)
    assert len(merged["rests"]) == 1
    assert merged["apart"] > 0.1
    assert page.evaluate(PICTURES)[0] != before
    slide(page, "beta", 60)
    assert len(played(page)["rests"]) == 3


def test_the_start_is_dragged_into_another_well_and_the_run_plays_again(explorer):
    page = explorer()
    played(page)
    start = page.locator("[data-handle=query]")
    drag(page, start, (200, 40))
    moved = played(page)
    assert moved["settings"]["start"] == "blend"
    assert moved["nearest"] == 1
    assert max(moved["heights"]) < 1e-9
    page.keyboard.press("Control+z")
    assert played(page)["nearest"] == 0


def test_a_drag_across_the_surface_turns_it_and_leaves_the_run_alone(explorer):
    page = explorer()
    before = played(page)
    picture = page.evaluate(PICTURES)[0]
    box = page.locator(".r1-surface").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + 20, steps=5)
    page.mouse.up()
    after = state(page)
    assert after["settings"]["turn"] == pytest.approx(50, abs=2)
    assert after["path"] == before["path"]
    assert not after["playing"]
    page.wait_for_function(f"was => ({PICTURES})()[0] !== was", arg=picture)


def test_the_question_about_wells_hides_the_surface_until_there_is_a_guess(explorer):
    page = explorer(guess=True)
    played(page)
    pose(page, "merge")
    status = page.locator(".r1-status")
    expect(status).to_have_text("The run is drawn once you have guessed.")
    page.wait_for_timeout(400)
    blank = page.evaluate(
        """() => {
            const canvas = document.querySelector('.r1-surface canvas');
            const { width, height } = canvas;
            const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
            let filled = 0;
            for (let i = 3; i < data.length; i += 4) filled += data[i] > 0;
            return filled / (width * height);
        }"""
    )
    assert blank < 0.1  # three pictures on their stems
    page.locator("[data-guess='1']").click()
    played(page)
    expect(page.locator(".r1-found")).to_contain_text("As you said")
    expect(page.locator(".r1-found")).to_contain_text("There is one well")


def test_with_reduced_motion_the_explorer_shows_the_end_of_the_run(explorer):
    page = explorer(reduced_motion="reduce")
    assert state(page)["step"] == 40
    assert not state(page)["playing"]
    expect(page.locator(".r1-found")).to_contain_text("from the astronaut")


@pytest.mark.parametrize("theme", ["light", walked("dark")])
def test_it_is_accessible_and_fits_a_phone_in_both_themes(explorer, theme):
    page = explorer("phone")
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    page.wait_for_selector(f".r1[data-r1-theme={theme}]")
    report = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
    assert report.response["violations"] == [], report.generate_report()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
