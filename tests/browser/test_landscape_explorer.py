"""The landscape explorer and the small figures, operated as by a reader."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from standalone import drag, pose, state
from views import walked

BUNDLE = "landscape"
LAYERS = [{"W": [[1.0], [-1.0]], "b": [0.0, 0.5]}, {"W": [[0.5, 0.7]], "b": [0.1]}]
FACTS = [
    {
        "name": "Hungary",
        "target": "Oslo",
        "neighbours": [["Austria", 0.42, -7.5, -2.0], ["France", 0.2, -12.5, -10.7]],
    },
    {
        "name": "Japan",
        "target": "Hanoi",
        "neighbours": [["China", 0.5, -3.0, 1.0], ["Nepal", 0.01, -9.0, -8.9]],
    },
]


def pixel(page, plane):
    """The colour in a corner of a landscape."""
    return page.evaluate(
        "n => "
        "[...document.querySelectorAll('.r1-ground')[n].getContext('2d').getImageData(3, "
        "3, 1, 1).data]",
        plane,
    )


def image(page, plane):
    """The painted landscape, with its overlays."""
    return page.evaluate(
        "n => document.querySelectorAll('.r1-ground')[n].toDataURL()", plane
    )


def test_the_query_is_dragged_from_basin_to_basin_and_the_keys_bring_it_back(explorer):
    page = explorer(
        settings={
            "view": "exact",
            "patterns": [[0.6, 0], [-0.6, 0]],
            "query": [0.3, 0.3],
        }
    )
    assert state(page)["exact"][-1] == pytest.approx([0.6, 0], abs=0.01)
    query = page.locator("[data-handle=query]").first
    drag(page, query, (-180, 0))
    assert state(page)["settings"]["query"][0] < -0.2
    assert state(page)["exact"][-1] == pytest.approx([-0.6, 0], abs=0.01)
    query.focus()
    for _ in range(6):
        page.keyboard.press("Shift+ArrowRight")
    assert state(page)["exact"][-1] == pytest.approx([0.6, 0], abs=0.01)
    page.keyboard.press("Control+z")
    assert state(page)["exact"][-1] == pytest.approx([-0.6, 0], abs=0.01)


def test_page_down_goes_through_the_patterns_and_the_pictures_follow(explorer):
    page = explorer(settings={"view": "both", "Y": 64})
    page.locator("[data-handle=p0]").first.focus()
    page.keyboard.press("PageDown")
    expect(page.locator("[data-handle=p1]").first).to_be_focused()
    before = state(page)["settings"]["patterns"]
    picture = image(page, 1)
    for _ in range(3):
        page.keyboard.press("Shift+ArrowUp")
    now = state(page)["settings"]["patterns"]
    assert now[1][1] == pytest.approx(before[1][1] + 0.75)
    assert [now[0], *now[2:]] == [before[0], *before[2:]]
    page.wait_for_function(
        "was => document.querySelectorAll('.r1-ground')[1].toDataURL() !== was",
        arg=picture,
    )


def test_each_frame_of_a_drag_has_a_picture_of_its_own(explorer):
    page = explorer(settings={"view": "both", "Y": 64})
    pictures = page.evaluate("""async () => {
        const frame = () => new Promise(requestAnimationFrame);
        const seen = new Set();
        for (let i = 0; i < 10; i++) {
            const press = new KeyboardEvent('keydown', { key: 'ArrowUp', bubbles: true });
            document.querySelector('[data-handle=p1]').dispatchEvent(press);
            await frame();
            await frame();
            seen.add(document.querySelectorAll('.r1-ground')[1].toDataURL());
        }
        return seen.size;
    }""")
    assert pictures == 10


def test_more_frequencies_bring_the_two_runs_together(explorer):
    page = explorer(settings={"view": "both", "Y": 8, "seed": 3})
    few = state(page)["distance"]
    page.locator("[data-name=Y]").focus()
    page.keyboard.press("End")
    many = state(page)
    assert many["settings"]["Y"] == 4096
    assert max(many["distance"]) < 0.5 * max(few)


def test_a_question_hides_the_run_until_the_reader_has_guessed_and_the_theme_repaints(
    explorer,
):
    page = explorer(settings={"view": "tube"})
    pose(page, "ridge")
    bill = page.locator(".r1-readouts .r1-facts")
    expect(bill).not_to_be_visible()
    expect(page.locator(".r1-status")).to_have_text(
        "The run is drawn once you have guessed."
    )
    page.locator("[data-guess=yes]").click()
    expect(bill).to_be_visible()
    expect(page.locator(".r1-found")).to_contain_text(
        "As you said" if state(page)["distance"][-1] > 0.3 else "Not"
    )
    light = sum(pixel(page, 0)[:3])
    page.evaluate("() => { document.documentElement.dataset.theme = 'dark' }")
    page.wait_for_function(  # the coarse picture may give way to the fine one first
        """was => {
            const [r, g, b] = document.querySelector('.r1-ground').getContext('2d').getImageData(3, 3, 1, 1).data;
            return r + g + b < was;
        }""",
        arg=light,
    )
    assert sum(pixel(page, 0)[:3]) < light


def test_the_task_is_dragged_and_one_step_follows(alone):
    page = alone(
        "sketch",
        traits={"sketch": "inner"},
        settings={"layers": LAYERS, "stepSize": 0.02},
    )
    before = state(page)["lines"]
    drag(page, page.locator("[data-handle=crest]"), (0, 60))
    now = state(page)
    assert now["settings"]["amplitude"] < 2.5
    assert now["lines"]["before"] == before["before"]
    assert now["lines"]["after"] != before["after"]
    page.locator("[data-handle=crest]").focus()
    page.keyboard.press("ArrowLeft")
    assert state(page)["settings"]["phase"] == pytest.approx(
        now["settings"]["phase"] - 0.1, abs=1e-3
    )


def test_choosing_an_edit_shows_its_neighbours(alone):
    page = alone("sketch", traits={"sketch": "neighbours"}, settings={"facts": FACTS})
    expect(page.locator(".r1-facts")).to_contain_text("Austria")
    page.locator("[data-name=fact]").select_option("1")
    expect(page.locator(".r1-facts")).to_contain_text(
        "China, share 0.50lead −3.0 → 1.0, flipped"
    )


def test_sizes_are_typed_and_a_wrong_one_is_named(alone):
    page = alone("sketch", traits={"sketch": "grows"})
    patterns = page.locator("[data-name=K]")
    patterns.fill("1 000 000")
    assert state(page)["settings"]["K"] == 10**6
    expect(page.locator(".r1-facts")).to_contain_text("list, float323.1 GB")
    patterns.fill("many")
    expect(patterns).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".r1-wrong").first).to_contain_text("whole number")
    assert state(page)["settings"]["K"] == 10**6
    patterns.blur()
    expect(patterns).to_have_value("1,000,000")
    page.locator("[data-name=hardware]").select_option("cpu")
    expect(page.locator(".r1-facts")).to_contain_text(
        "List: sent by each devicenothing"
    )


WIDGETS = {
    "exact": ("landscape", {"view": "exact"}),
    "tube": ("landscape", {"view": "tube"}),
    **dict.fromkeys(("bounds", "cosines", "crosstalk", "grows"), ("sketch", {})),
    "inner": ("sketch", {"layers": LAYERS}),
    "neighbours": ("sketch", {"facts": FACTS}),
}


@pytest.mark.parametrize("name", WIDGETS)
@pytest.mark.parametrize("theme", ["light", walked("dark")])
def test_it_is_accessible_and_fits_a_phone_in_both_themes(alone, theme, name):
    bundle, settings = WIDGETS[name]
    page = alone(bundle, "phone", traits={"sketch": name}, settings=settings)
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    page.wait_for_selector(f".r1[data-r1-theme={theme}]")
    report = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
    assert report.response["violations"] == [], report.generate_report()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
