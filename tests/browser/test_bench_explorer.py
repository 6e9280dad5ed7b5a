"""The memory bench, operated as by a reader."""

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from standalone import drag, pose, slide, state

from rankone.writes import BatchStep, Exact, InSequence, Laplace, Ridge, interpolate

BUNDLE = "bench"
RULES = (BatchStep(), InSequence(), Ridge(4.0), Exact())
LINE = np.linspace(-1.3, 1.3, 261)


def read_by(page_state, rule):
    """The package's readings along the line, from the pairs stored on the page."""
    keys = np.transpose(page_state["keys"])[:1]
    values = np.asarray(page_state["values"])[None]
    return interpolate(
        keys, values, LINE[None], Laplace(page_state["settings"]["width"]), rule=rule
    )[0]


def test_keys_of_the_slider_stop_at_each_method_and_results_equal_the_packages(
    explorer,
):
    page = explorer()
    output = page.locator(".r1-way output")
    page.locator("[data-name=way]").focus()
    page.keyboard.press("Home")
    for mark, formula in enumerate(
        ("X = D", "X = (D⁻¹ + U)⁻¹", "X = (S + I/ω)⁻¹", "X = S⁻¹")
    ):
        expect(output).to_have_text(formula)
        page_state = state(page)
        np.testing.assert_allclose(
            page_state["curve"], read_by(page_state, RULES[mark]), atol=1e-4
        )
        expect(page.locator(".r1-mark-button").nth(mark)).to_have_attribute(
            "aria-pressed", "true"
        )
        page.keyboard.press("PageUp")
    slide(page, "way", -2)
    expect(output).to_contain_text("0.025 I")
    assert state(page)["settings"]["way"] == pytest.approx(2.9)


def test_a_pair_is_dragged_and_its_address_brings_it_back(explorer):
    page = explorer(settings={"way": 3})
    before = state(page)
    grip = page.locator("[data-handle=k6]").first
    drag(page, grip, (30, -40))
    after = state(page)
    assert after["keys"][6][0] > before["keys"][6][0] + 0.05
    assert after["values"][6] > before["values"][6] + 0.2
    # the readings are exact, wherever the pair is
    np.testing.assert_allclose(after["read"], after["values"], atol=1e-9)
    assert [after["values"][i] for i in (0, 9)] == [before["values"][i] for i in (0, 9)]
    grip.focus()
    page.keyboard.press("PageDown")
    expect(page.locator("[data-handle=k7]").first).to_be_focused()
    page.wait_for_function("() => location.hash.includes('pairs=')")
    other = explorer(settings={"way": 3})
    other.evaluate(
        "hash => { location.hash = hash }", page.evaluate("() => location.hash")
    )
    expect(other.locator(".r1-return")).to_be_hidden()
    np.testing.assert_allclose(
        state(other)["settings"]["pairs"], after["settings"]["pairs"], atol=1e-4
    )
    page.keyboard.press("Control+z")
    assert state(page)["values"] == before["values"]


def test_a_question_hides_the_result_and_the_divide_box_changes_method_and_answer(
    explorer,
):
    page = explorer()
    pose(page, "off")
    bill = page.locator(".r1-facts")
    read = page.locator(".r1-line-view path.r1-exact")
    expect(bill).not_to_be_visible()
    expect(read).to_have_attribute("d", "")
    page.locator("[data-guess=stays]").click()
    expect(bill).to_be_visible()
    expect(page.locator(".r1-found")).to_contain_text("As you said")
    assert len(read.get_attribute("d")) > 1000
    first = page.locator(".r1-mark-button").first
    expect(first).to_contain_text("ResMem")
    page.locator("[data-name=divide]").uncheck()
    expect(first).to_contain_text("MAML")
    assert abs(state(page)["curve"][-1]) < 0.05
    # the guess was about the settings of the question
    expect(page.locator(".r1-found")).not_to_contain_text("you said")
    expect(page.locator(".r1-found")).to_contain_text("without the division")


@pytest.mark.parametrize("size", ["laptop", "phone"])
def test_the_names_under_the_slider_are_above_the_status_line(explorer, size):
    page = explorer(size)
    boxes = [box.bounding_box() for box in page.locator(".r1-mark-button").all()]
    assert len(boxes) == 4
    below = max(box["y"] + box["height"] for box in boxes)
    assert below <= page.locator(".r1-status").bounding_box()["y"] + 1


def test_for_two_equal_keys_the_status_says_that_there_is_no_X(explorer):
    page = explorer(settings={"way": 3, "pairs": [[0, 0, 0], [0, 0, 1], [0.5, 0, 0]]})
    expect(page.locator(".r1-status")).to_contain_text("There is no X here")
    assert state(page)["X"] is None
    slide(page, "way", -20)
    expect(page.locator(".r1-status")).to_contain_text("Ridge regression")


def test_on_a_phone_keys_move_in_the_plane_without_accessibility_violations(explorer):
    page = explorer("phone", settings={"view": "plane", "way": 3})
    paint = "n => document.querySelectorAll('.r1-field-ground')[n].toDataURL()"
    picture, truth = (page.evaluate(paint, n) for n in (0, 1))
    page.locator("[data-handle=k9]").first.focus()
    for _ in range(3):
        page.keyboard.press("Shift+ArrowUp")
    assert state(page)["keys"][9][1] == pytest.approx(0.45)
    assert page.evaluate(paint, 0) != picture
    assert page.evaluate(paint, 1) == truth
    for theme in ("light", "dark"):
        page.evaluate(
            "theme => { document.documentElement.dataset.theme = theme }", theme
        )
        page.wait_for_selector(f".r1[data-r1-theme={theme}]")
        report = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
        assert report.response["violations"] == [], report.generate_report()
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert page.evaluate(paint, 1) != truth  # repainted
