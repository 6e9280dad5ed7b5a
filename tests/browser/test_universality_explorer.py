"""The universality explorer, operated as by a reader, and its results compared with
JAX.
"""

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from standalone import pose, settled, slide, state
from views import walked

from rankone.precision import double_precision
from rankone.universality import Constants, adapt, predict, universal_learner

BUNDLE = "universality"
PUBLISHED = {"construction": "seed", "size": 8}
OPTIONS = {"settings": PUBLISHED}
GRID = (np.arange(200) + 0.2) / 200
PRESETS = [
    "two",
    "further",
    "learn",
    "kink",
    "switch",
    "alpha",
    "margin",
    "bits",
    "shallow",
    "draw",
]


def rest(page):
    """Waits until no network is being fitted; returns the state."""
    return settled(page, "!s.waiting")


def ask(page, preset, guess=None):
    """Selects a question and predicts, or skips the guess."""
    pose(page, preset)
    page.locator(f"[data-guess={guess}]" if guess else "[data-skip]").click()


def check_against_jax(page_state, tolerance=1e-9):
    """The curve after the step equals that of the package's network, adapted by
    jax.grad.
    """
    settings = page_state["settings"]
    assert settings["target"] == "sine"
    margin = 4.0 if settings["construction"] == "two_layers" else 1.0
    constants = Constants(
        offset=settings["offset"], switch=settings["switch"], margin=margin
    )
    with double_precision():
        network = universal_learner(
            lambda x, y, xs: y * np.sin(2 * np.pi * (xs - x)),
            construction=settings["construction"],
            constants=constants,
            **{
                "cells"
                if settings["construction"] in ("seed", "logdepth")
                else "units": settings["size"]
            },
        )
        after = adapt(
            network,
            settings["x"],
            settings["y"],
            alpha=settings["ratio"] * network.alpha,
        )
        np.testing.assert_allclose(
            page_state["after"], predict(after, GRID), rtol=tolerance, atol=tolerance
        )
        np.testing.assert_allclose(
            page_state["before"], predict(network, GRID), atol=tolerance
        )


def fired(page_state):
    return [
        i for i, slot in enumerate(page_state["slots"]) if (slot["share"] or 0) > 0.5
    ]


def test_after_the_guess_the_explorer_shows_a_learnt_curve_and_a_finding(explorer):
    page = explorer(guess=True)
    assert state(page)["pending"]
    expect(page.locator(".r1-found")).to_be_empty()
    page.locator("[data-guess=never]").click()
    page_state = rest(page)
    check_against_jax(page_state)
    assert page_state["preset"] == "learn"
    assert page_state["deviation"] < 1e-4
    expect(page.locator(".r1-found")).to_contain_text("✓ As you said.")
    expect(page.locator(".r1-status")).to_contain_text("before the step")


def written(page):
    """Position of the step's written values in the plane of the slots, in its units."""
    dot = page.locator(".r1-written")
    return float(dot.get_attribute("cx")), float(dot.get_attribute("cy"))


def test_it_opens_on_two_layers_and_their_plane_of_two_slots(explorer):
    page = explorer(guess=True, settings={})
    rest(page)
    assert state(page)["settings"]["construction"] == "two_layers"
    plane = page.locator(".r1-slot-plane")
    expect(plane).not_to_be_visible()
    page.locator("[data-guess=ray]").click()
    page_state = rest(page)
    expect(plane).to_be_visible()
    expect(page.locator(".r1-found")).to_contain_text("As you said. Ray 15 of 50")
    assert page_state["settings"]["size"] == 200
    rays = page.locator(".r1-rays").get_attribute("d")
    assert rays.count("M") == 50
    kinks = [
        path.get_attribute("d").count("M") for path in page.locator(".r1-kinks").all()
    ]
    assert 12 < sum(kinks) <= 24
    assert min(kinks) > 0


def test_a_longer_step_moves_the_point_along_its_ray_and_another_x_to_another(explorer):
    page = explorer(settings={"size": 50, "construction": "two_layers"})
    rest(page)
    left, top = written(page)
    origin = page.locator(".r1-origin-dot")
    zero = [float(origin.get_attribute(name)) for name in ("cx", "cy")]
    slide(page, "ratio", 3)
    right, higher = written(page)
    assert right > left + 5
    slopes = [(zero[1] - y) / (x - zero[0]) for x, y in ((left, top), (right, higher))]
    assert slopes[0] == pytest.approx(slopes[1], abs=0.01)
    page.get_by_role("slider", name="Training pair").focus()
    page.keyboard.press("Shift+ArrowRight")
    x, y = written(page)
    assert (zero[1] - y) / (x - zero[0]) > slopes[1] + 0.03


@pytest.mark.parametrize("size", ["desktop", walked("phone")])
def test_dragging_the_pair_moves_the_cell_that_fires(explorer, size):
    page = explorer(size)
    before = fired(state(page))
    box = (
        page.get_by_role("slider", name="Training pair")
        .locator(".r1-grip-dot")
        .bounding_box()
    )
    x = box["x"] + box["width"] / 2
    y = box["y"] + box["height"] / 2
    width = page.locator(".r1-curve > svg").bounding_box()["width"]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 0.4 * width, y + 0.1 * width, steps=4)
    page.mouse.up()
    page_state = state(page)
    assert page_state["settings"]["x"] > 0.65
    assert page_state["settings"]["y"] < 0.5
    assert fired(page_state) != before
    assert len(fired(page_state)) == 1
    check_against_jax(page_state)


def test_arrow_keys_move_both_handles(explorer):
    page = explorer()
    pair, probe = (
        page.get_by_role("slider", name=name)
        for name in ("Training pair", "Where to look")
    )
    pair.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "Shift+ArrowLeft"):
        page.keyboard.press(key)
    settings = state(page)["settings"]
    assert (settings["x"], settings["y"]) == (pytest.approx(0.24), pytest.approx(0.66))
    before = fired(state(page))
    probe.focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    assert state(page)["settings"]["probe"] == pytest.approx(0.72)
    assert fired(state(page)) != before


@pytest.mark.parametrize(
    ("name", "presses", "key"), [("offset", -9, "offset"), ("switch", -9, "switch")]
)
def test_setting_offset_or_switch_to_zero_breaks_the_network_as_in_jax(
    explorer, name, presses, key
):
    page = explorer(settings=PUBLISHED | {"size": 4})
    slide(page, name, presses)
    page_state = state(page)
    assert page_state["settings"][key] == 0
    assert page_state["deviation"] > 0.5
    assert fired(page_state) == []
    check_against_jax(page_state)


def test_another_step_size_misses_the_table_as_in_jax(explorer):
    page = explorer(settings=PUBLISHED | {"size": 4})
    slide(page, "ratio", 3)
    page_state = state(page)
    assert page_state["settings"]["ratio"] == 1.1
    assert page_state["deviation"] > 0.05
    check_against_jax(page_state)


@pytest.mark.parametrize(
    "construction", ["logdepth", "constant", "shallow", "two_layers"]
)
def test_each_construction_is_the_package_s(explorer, construction):
    page = explorer()
    page.get_by_label("Construction").select_option(construction)
    if construction != "logdepth":
        slide(page, "size", -3)
        page_state = rest(page)
        assert page_state["settings"]["size"] == 50
        check_against_jax(page_state, 1e-6)
        return
    check_against_jax(state(page))


def test_each_move_of_a_drag_is_drawn_and_only_a_new_pair_changes_the_network(explorer):
    page = explorer()
    lines = """async (name) => {
        const input = document.querySelector(`input[data-name=${name}]`);
        const seen = { after: new Set(), words: new Set() };
        for (let i = 1; i <= 20; i++) {
            await new Promise(requestAnimationFrame);
            input.value = 0.2 + 0.03 * i;
            input.dispatchEvent(new Event("input", { bubbles: true }));
            seen.after.add(document.querySelector(".r1-curve path.r1-line.r1-distributed").getAttribute("d"));
            seen.words.add(document.querySelector("[aria-label^='Where to look']").getAttribute("transform"));
        }
        return [seen.after.size, seen.words.size];
    }"""
    assert page.evaluate(lines, "y")[0] == 20
    assert page.evaluate(lines, "probe") == [1, 20]


def test_the_page_stays_usable_during_a_fit_and_reuses_earlier_fits(explorer):
    page = explorer(settings={"construction": "constant", "size": 50})
    first = rest(page)
    page.get_by_label("Construction").select_option("two_layers")
    page.locator("input[data-name=size]").focus()
    page.keyboard.press("End")
    assert state(page)["waiting"]
    expect(page.locator(".r1-status")).to_contain_text("Fitting 400 units")
    assert rest(page)["after"] != first["after"]
    page.get_by_label("Construction").select_option("constant")
    slide(page, "size", -3)
    assert rest(page)["after"] == first["after"]
    assert not state(page)["waiting"]


@pytest.mark.parametrize("preset", PRESETS)
def test_each_question_has_an_answer(explorer, preset):
    page = explorer()
    pose(page, preset)
    page_state = rest(page)
    assert (page_state["preset"], page_state["pending"]) == (preset, True)
    assert (
        page.locator(".r1-curve path.r1-line.r1-distributed").get_attribute("d") == ""
    )
    page.locator("[data-skip]").click()
    assert not rest(page)["pending"]
    assert (
        page.locator(".r1-curve path.r1-line.r1-distributed").get_attribute("d") != ""
    )
    pressed = page.locator(".r1-question[aria-pressed=true]").evaluate_all(
        "all => all.map((b) => b.dataset.preset)"
    )
    assert pressed == ([preset] if preset in PRESETS[:3] else [])
    expect(page.locator(".r1-ask")).not_to_be_empty()
    expect(page.locator(".r1-found")).not_to_be_empty()
    finding = page.locator(".r1-found").inner_text()
    assert not {"NaN", "undefined", "null"} & set(finding.split())


def test_a_drawn_target_is_learnt(explorer):
    page = explorer()
    ask(page, "draw")
    before = state(page)
    box = page.locator(".r1-pencil").bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 5, box["y"] + box["height"] - 10, steps=8)
    page.mouse.up()
    page_state = state(page)
    assert page_state["settings"]["profile"] != before["settings"]["profile"]
    assert page_state["wanted"] != before["wanted"]
    assert page_state["deviation"] < 1e-3
    assert page_state["preset"] == "draw"  # its question stays
    page.locator(".r1-pencil").focus()
    for key in ("ArrowLeft", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    assert state(page)["settings"]["profile"] != page_state["settings"]["profile"]


def test_an_answer_takes_later_changes_of_the_settings_into_account(explorer):
    page = explorer()
    ask(page, "switch", "no")
    expect(page.locator(".r1-found")).to_contain_text("no cell fires")
    page.locator(".r1-more > summary").click()
    slide(page, "probe", round((0.3 - state(page)["settings"]["probe"]) * 100))
    cells = state(page)["settings"]["size"]
    expect(page.locator(".r1-found")).to_contain_text(f"{cells**2} cells fire")
    slide(page, "y", 0)
    page.keyboard.press("Home")
    expect(page.locator(".r1-found")).to_contain_text("no cell is written")
    ask(page, "learn")
    cells = page.get_by_role("figure").filter(has_text="Which cells fired")
    expect(cells).to_contain_text("The outlined one should")
    slide(page, "y", 0)
    page.keyboard.press("Home")
    expect(page.locator(".r1-found")).to_contain_text("promised only inside")
    expect(cells).to_contain_text("0 of 64 cells fired")
    expect(cells).not_to_contain_text("should")


def test_reset_brings_the_first_question_back(explorer):
    page = explorer()
    page.locator(".r1-more > summary").click()
    slide(page, "x", 20)
    slide(page, "offset", -9)
    assert state(page)["preset"] is None
    page.get_by_role("button", name="Reset").click()
    page_state = state(page)
    assert (
        page_state["preset"],
        page_state["settings"]["x"],
        page_state["settings"]["offset"],
    ) == (
        "two",
        0.3,
        1e-4,
    )


def test_two_widgets_on_a_page_do_not_disturb_each_other(explorer):
    page = explorer(widgets=2)
    pose(page, "kink", 1)
    assert state(page, 0)["settings"]["offset"] == 1e-4
    assert state(page, 1)["settings"]["offset"] == 0


@pytest.mark.parametrize("size", ["desktop", walked("phone")])
@pytest.mark.parametrize("theme", ["light", walked("dark")])
@pytest.mark.parametrize("preset", ["two", "learn", "draw"])
def test_no_barriers_and_no_sideways_scrolling(explorer, size, theme, preset):
    page = explorer(size, color_scheme=theme)
    pose(page, preset)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    rest(page)  # while a network is fitted, the old curve is faint
    violations = Axe().run(page).response["violations"]
    assert [(v["id"], v["nodes"][0]["html"]) for v in violations] == []


def test_closing_leaves_nothing_behind(explorer):
    page = explorer()
    page.evaluate("() => document.querySelector('.w').cleanup()")
    page.evaluate("() => document.documentElement.setAttribute('data-theme', 'dark')")
    page.wait_for_timeout(50)
    assert page.locator(".w").get_attribute("data-r1-theme") == "light"


def test_controls_and_drawings_fit_on_one_screen(explorer):
    page = explorer()
    page.set_viewport_size({"width": 1366, "height": 768})
    # the width of the book's column
    page.add_style_tag(content="main { width: 757px; padding: 0 !important }")
    rest(page)
    tops = page.evaluate("""() => ["body", "side", "stage-block"].map((name) => {
        const box = document.querySelector(`.r1-${name}`).getBoundingClientRect();
        return name === "body" ? box.top : box.bottom;
    })""")
    assert max(tops[1:]) - tops[0] < 768 - 54  # below the book's header bar
