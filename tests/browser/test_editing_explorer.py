"""The editing explorer, operated as by a reader, and its results compared with JAX."""

import re

import jax.numpy as jnp
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from standalone import SIZES, pose, state
from views import walked

import rankone.editing as editing
from rankone.precision import double_precision

BUNDLE = "editing"
QUESTIONS = ("start", "identity", "member", "few", "line", "ridge", "third", "cycle")
RTOL = 1e-8


def grip(page, name):
    return page.locator(f"[data-handle='{name}']")


def place(page, name):
    """Position of a handle, as its label states it."""
    words = grip(page, name).get_attribute("aria-valuetext").replace("−", "-")
    return [float(v) for v in re.fullmatch(r"x (\S+), y (\S+)", words).groups()]


def drag(page, name, dx, dy):
    """Takes a handle and moves it by pixels."""
    # away from the edges, beyond which a drag is not possible
    grip(page, name).evaluate("(each) => each.scrollIntoView({ block: 'center' })")
    box = grip(page, name).locator(".r1-hit").bounding_box()
    x = box["x"] + box["width"] / 2
    y = box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + dx / 2, y + dy / 2)
    page.mouse.move(x + dx, y + dy)
    page.mouse.up()


def check_against_jax(page_state):
    """The displayed edit, applied after the stored ones, equals the package's."""
    settings = page_state["settings"]
    with double_precision():
        keys = jnp.asarray(settings["keys"])
        W = jnp.asarray(settings["W"])
        used = settings["used"]
        C = (
            jnp.eye(2)
            if settings["geometry"] == "identity"
            else keys[:used].T @ keys[:used] * len(keys) / used
        )
        for i in settings["order"]:
            pair = settings["pairs"][i]
            edit = editing.rank_one_edit(
                W,
                C,
                jnp.asarray(pair["k"]),
                jnp.asarray(pair["v"]),
                ridge=settings["ridge"],
            )
            W = edit.apply(W)
            C = C + settings["beta"] * jnp.outer(
                jnp.asarray(pair["k"]), jnp.asarray(pair["k"])
            )
        k = jnp.asarray(settings["k"])
        v = jnp.asarray(settings["v"])
        edit = editing.rank_one_edit(W, C, k, v, ridge=settings["ridge"])
        after = edit.apply(W)
        np.testing.assert_allclose(page_state["W"], W, rtol=RTOL, atol=1e-9)
        np.testing.assert_allclose(page_state["edit"]["W"], after, rtol=RTOL, atol=1e-9)
        change = np.linalg.norm((after - W) @ keys.T, axis=0)
        np.testing.assert_allclose(page_state["measured"], change, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(page_state["law"], change, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("size", ["desktop", walked("phone")])
def test_it_opens_on_an_edit_that_equals_jax(explorer, size):
    page = explorer(size)
    page_state = state(page)
    assert page_state["preset"] == "start"
    check_against_jax(page_state)
    assert page_state["total"] == pytest.approx(page_state["least"])
    expect(page.locator(".r1-status")).to_contain_text("Interference")


@pytest.mark.parametrize("size", ["desktop", walked("phone")])
def test_key_value_and_cloud_are_dragged(explorer, size):
    page = explorer(size)
    before = state(page)
    drag(page, "k", 30, 20)
    after = state(page)
    assert after["settings"]["k"][0] > before["settings"]["k"][0] + 0.2
    assert after["settings"]["k"][1] < before["settings"]["k"][1] - 0.1
    drag(page, "v", -25, -15)
    assert state(page)["settings"]["v"][0] < before["settings"]["v"][0] - 0.2
    drag(page, "key:9", 20, -20)
    keys = state(page)["settings"]["keys"]
    assert keys[9][0] > before["settings"]["keys"][9][0] + 0.1
    assert keys[:9] == before["settings"]["keys"][:9]
    drag(page, "axis:0", 12, -18)
    page_state = state(page)
    assert all(
        a != b for a, b in zip(page_state["settings"]["keys"], keys, strict=True)
    )
    check_against_jax(page_state)


def test_handles_move_by_keyboard_and_keys_share_one_tab_stop(explorer):
    page = explorer()
    before = state(page)["settings"]
    grip(page, "k").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowUp")
    k = state(page)["settings"]["k"]
    assert k == pytest.approx([before["k"][0] + 0.05, before["k"][1] + 0.25])
    expect(grip(page, "k")).to_have_attribute(
        "aria-valuetext", re.compile(r"x 0\.65, y 1\.65")
    )
    assert page.locator("[data-handle^='key:'][tabindex='0']").count() == 1
    grip(page, "key:0").focus()
    page.keyboard.press("PageDown")
    page.keyboard.press("ArrowLeft")
    keys = state(page)["settings"]["keys"]
    assert keys[1][0] == pytest.approx(before["keys"][1][0] - 0.05)
    assert keys[0] == before["keys"][0]
    check_against_jax(state(page))


def test_handles_stay_in_the_plane(explorer):
    page = explorer()
    drag(page, "v", 900, 0)
    assert state(page)["settings"]["v"][0] == 3
    drag(page, "axis:0", 900, -900)
    assert place(page, "axis:0") == [3, 3]
    drag(page, "axis:1", 0, -30)
    assert np.abs([place(page, f"axis:{i}") for i in (0, 1)]).max() <= 3


def test_an_axis_of_the_cloud_follows_the_pointer(explorer):
    page = explorer()
    plane = page.locator(".r1-plane").first.bounding_box()
    unit = plane["width"] / 6
    x0 = plane["x"] + 3 * unit
    y0 = plane["y"] + 3 * unit
    x, y = place(page, "axis:0")
    page.mouse.move(x0 + unit * x, y0 - unit * y)
    page.mouse.down()
    for x, y in ((1, 2.2), (0.5, 2.3), (0, 2.3), (-1, 2), (-0.3, 0.2), (0.4, -1)):
        page.mouse.move(x0 + unit * x, y0 - unit * y)
        assert place(page, "axis:0") == pytest.approx([x, y], abs=0.02)
    page.mouse.up()
    a, b = state(page)["axes"]
    assert np.dot(a, b) == pytest.approx(0, abs=1e-9)
    check_against_jax(state(page))
    page.get_by_role("button", name="Reset").click()
    assert place(page, "axis:0") == pytest.approx([1.95, 1.65])


def test_the_keyboard_moves_an_axis_of_the_cloud(explorer):
    page = explorer()
    x, y = place(page, "axis:0")
    grip(page, "axis:0").focus()
    for i in range(1, 61):
        page.keyboard.press("ArrowLeft")
        assert place(page, "axis:0") == pytest.approx([x - 0.05 * i, y], abs=0.011)
    expect(grip(page, "axis:0")).to_be_focused()


def test_each_choice_of_C_and_the_ridge_gives_the_jax_result(explorer):
    page = explorer()
    page.locator("select[data-name=geometry]").select_option("identity")
    page_state = state(page)
    assert page_state["total"] > 1.2 * page_state["least"]
    check_against_jax(page_state)
    expect(page.locator("input[data-name=ridge]")).to_be_disabled()
    page.locator("select[data-name=geometry]").select_option("keys")
    page.locator("input[data-name=ridge]").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page_state = state(page)
    assert page_state["settings"]["ridge"] == 1
    assert page_state["total"] > page_state["least"]
    check_against_jax(page_state)
    page.locator("input[data-name=ridge]").focus()
    page.keyboard.press("Home")
    page.locator("input[data-name=used]").focus()
    page.keyboard.press("Home")
    page_state = state(page)
    assert page_state["settings"]["used"] == 1
    assert page_state["edit"] is None
    expect(page.locator(".r1-facts")).to_contain_text("C is singular")
    expect(page.locator("button[data-name=keep]")).to_be_disabled()


def test_edits_are_kept_repeated_undone_and_cleared(explorer):
    page = explorer()
    pose(page, "third")
    page.get_by_role("button", name="Keep this edit").click()
    page_state = state(page)
    assert page_state["settings"]["order"] == [0, 1, 2]
    assert len(page_state["past"]) == 4
    assert page_state["past"][3][2] < 1e-9
    check_against_jax(page_state)
    cells = page.locator(".r1-table tbody td")
    assert cells.count() == 12
    assert float(cells.nth(3).inner_text()) == pytest.approx(
        page_state["past"][3][0], abs=0.006
    )
    page.get_by_role("button", name="Drop the last").click()
    assert len(state(page)["settings"]["pairs"]) == 2
    page.locator(".r1-more > summary").click()
    page.get_by_role("button", name="Repeat all once").click()
    assert state(page)["settings"]["order"] == [0, 1, 0, 1]
    page.locator("input[data-name=beta]").focus()
    page.keyboard.press("End")
    page_state = state(page)
    assert page_state["past"][2][0] < 1e-3
    check_against_jax(page_state)
    page.get_by_role("button", name="Clear").click()
    assert state(page)["settings"]["order"] == []
    page.keyboard.press("Escape")
    grip(page, "k").focus()
    page.keyboard.press("e")
    assert state(page)["settings"]["order"] == [0]
    for _ in range(12):
        page.keyboard.press("e")
    assert len(state(page)["settings"]["pairs"]) == 8
    expect(page.locator("button[data-name=keep]")).to_be_disabled()
    page.keyboard.press("r")
    assert state(page)["settings"]["order"] == []


def test_a_residual_too_short_to_see_has_no_letter(explorer):
    page = explorer()
    letter = page.locator(".r1-plane-text", has_text=re.compile("^r$"))
    expect(letter).to_have_count(1)
    page.get_by_role("button", name="Keep this edit").click()
    expect(letter).to_have_count(0)
    assert "e-" not in page.locator(".r1-matrices").inner_text()


@pytest.mark.parametrize("size", ["desktop", walked("phone")])
def test_questions_are_posed_and_answered(explorer, size):
    page = explorer(size)
    assert page.locator(".r1-question").count() == 3  # the others are in a menu
    for i, key in enumerate(QUESTIONS):
        pose(page, key)
        expect(page.locator(".r1-ask")).to_contain_text("?")
        expect(page.locator(".r1-found")).to_be_empty()
        # nothing shows the answer before the guess
        assert page.locator(".r1-bar-fill").count() == 0
        guesses = page.get_by_role("group", name="Your prediction").get_by_role(
            "button"
        )
        assert guesses.count() in (3, 4)
        guesses.nth(i % 2).click()
        expect(page.locator(".r1-found")).to_contain_text(
            re.compile("^(✓ As|✗ Not as) you said. ")
        )
        assert page.locator(".r1-bar-fill").count() > 0
        assert (
            page.evaluate("document.documentElement.scrollWidth")
            <= SIZES[size]["width"]
        )
    page.get_by_role("button", name="Reset").click()
    assert state(page)["preset"] == "start"


def test_an_answer_refers_to_the_question_even_after_changes(explorer):
    page = explorer()
    pose(page, "cycle")
    page.locator(".r1-more > summary").click()
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("button", name="Just show me").click()
    expect(page.locator(".r1-found")).to_contain_text("In the question’s own setting")


def test_many_edits_follow_the_law(explorer):
    page = explorer()
    page.locator(".r1-more > summary").click()
    page.locator("input[data-name=dimension]").focus()
    for _ in range(16):
        page.keyboard.press("ArrowRight")
    page.locator("input[data-name=edits]").focus()
    page.keyboard.press("End")
    many = state(page)["many"]
    assert len(many["values"]) == len(many["law"]) == 128
    assert np.mean(many["values"]) == pytest.approx(np.mean(many["law"]), rel=0.1)
    old = many["values"]
    page.get_by_role("button", name="Draw others").click()
    assert state(page)["many"]["values"] != old


def test_the_bars_are_what_is_measured(explorer):
    page = explorer()
    page_state = state(page)
    top = max(page_state["measured"])
    heights = page.locator(".r1-bar-fill").evaluate_all(
        "(bars) => bars.map((b) => parseFloat(b.style.height))"
    )
    np.testing.assert_allclose(
        heights, 100 * np.array(page_state["measured"]) / top, rtol=1e-3
    )
    ticks = page.locator(".r1-bar-tick").evaluate_all(
        "(bars) => bars.map((b) => parseFloat(b.style.bottom))"
    )
    np.testing.assert_allclose(
        ticks, 100 * np.array(page_state["law"]) / top, rtol=1e-3
    )
    expect(page.get_by_role("img", name=re.compile("^Ŵ = "))).to_have_count(1)


def test_the_kernel_receives_the_settings_on_show(explorer):
    page = explorer()
    drag(page, "v", 20, 10)
    v = state(page)["settings"]["v"]
    assert v != [1.2, 0.4]
    page.wait_for_function(
        "(v) => JSON.stringify(document.querySelector('.w').traits.shown?.v) === "
        "JSON.stringify(v)",
        arg=v,
    )


def test_the_explorer_opens_with_settings_given_from_python(explorer):
    own = {"keys": [[1, 0], [0, 1], [1, 1]], "k": [1, -1], "geometry": "identity"}
    page = explorer(settings=own)
    page_state = state(page)
    assert page_state["preset"] is None
    assert page_state["settings"]["used"] == 3
    check_against_jax(page_state)


@pytest.mark.parametrize("theme", ["light", walked("dark")])
@pytest.mark.parametrize("question", ["start", "cycle"])
def test_axe_finds_nothing(explorer, theme, question):
    page = explorer(color_scheme=theme)
    pose(page, question)
    assert page.locator(f".w[data-r1-theme={theme}]").count() == 1
    violations = Axe().run(page).response["violations"]
    assert [(v["id"], [n["html"] for n in v["nodes"]]) for v in violations] == []
