"""The preconditioning explorer, operated as by a reader, and its results compared with
JAX.
"""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from standalone import SIZES, paused, pauser, pose, settled, slide, state
from views import walked

from rankone.precision import double_precision

BUNDLE = "preconditioning"
OPTIONS = {"reduced_motion": "reduce"}
W_STAR = np.array([[0.9, 0.5], [-0.6, 0.8]])
ACTIONS = {
    "conditionV": 10, "angleV": 20, "conditionT": 10, "angleT": -20, "conditionA": 10, "angleA": 15,
    "conditionD": 10, "share": 10, "steps": -1,
}  # fmt: skip


def rest(page, i=0):
    """Waits until all steps are counted and playing has ended; returns the state."""
    return settled(page, "s.counts && !s.playing", i)


def jax_path(page_state, onto):
    """Gradient descent with jax.grad, on U ("U") or on W with the gradient multiplied
    by P ("P"), or plain ("W").
    """
    problem = page_state["problem"]
    s = page_state["settings"]
    with double_precision():
        A, D, T, V = (jnp.array(problem[name]) for name in "ADTV")
        W = jnp.array(s["start"])
        rest = jnp.array(problem["rest"]).reshape(2, 2).T

        def loss(W):
            return 0.5 * jnp.trace(D @ (W - W_STAR) @ A @ (W - W_STAR).T)

        place = (lambda U: rest + T @ U @ V) if onto == "U" else (lambda W: W)
        before = (lambda g: T @ T.T @ g @ V.T @ V) if onto == "P" else (lambda g: g)
        x = jnp.linalg.pinv(T) @ W @ jnp.linalg.pinv(V) if onto == "U" else W
        eta = page_state["etas"]["plain" if onto == "W" else "explicit"]
        slope = jax.jit(jax.grad(lambda x: loss(place(x))))
        path = [place(x)]
        for _ in range(s["steps"]):
            x = x - eta * before(slope(x))
            path.append(place(x))
        return np.array(path), np.array([loss(W) for W in path])


def check_against_jax(page_state):
    for kind, onto in (("plain", "W"), ("reparameterised", "U"), ("explicit", "P")):
        path, losses = jax_path(page_state, onto)
        page_path = (
            np.array(page_state["paths"][kind]["w"])
            .reshape(-1, 2, 2)
            .transpose(0, 2, 1)
        )
        np.testing.assert_allclose(page_path, path, atol=1e-9 * np.abs(path).max())
        np.testing.assert_allclose(
            page_state["paths"][kind]["loss"], losses, rtol=1e-7, atol=1e-12
        )


def test_the_explorer_opens_with_two_equal_paths_that_match_jax(explorer):
    page = explorer(guess=True)
    # the parts that show the answer are hidden when the page opens
    assert rest(page)["pending"]
    expect(page.locator("[data-cell=explicit-loss]")).to_have_text("?")
    expect(page.locator(".r1-found")).to_be_empty()
    page.locator("[data-guess=together]").click()
    page_state = rest(page)
    assert page_state["preset"] == "start"
    assert max(page_state["gap"]) < 1e-12
    assert (
        page_state["counts"]["plain"]
        > page_state["counts"]["explicit"]
        == page_state["counts"]["reparameterised"]
    )
    expect(page.locator(".r1-found")).to_contain_text(
        "✓ As you said. They stay together"
    )
    check_against_jax(page_state)


def test_it_plays_by_itself_and_pauses_steps_and_scrubs(explorer):
    page = explorer(reduced_motion="no-preference", script=pauser(3))
    stopped = paused(page)
    assert 3 < stopped < 100
    page.get_by_role("button", name="One step").click()
    page.keyboard.press("l")
    page.keyboard.press("j")
    assert state(page)["step"] == stopped + 1
    page.get_by_label("Step shown").focus()
    page.keyboard.press("End")
    assert state(page)["step"] == 100
    page.keyboard.press("Home")
    page.keyboard.press("k")
    assert state(page)["step"] == 0  # the slider keeps its own keys
    page.get_by_label("Speed", exact=True).select_option("10")
    page.get_by_role("button", name="Play").focus()
    page.keyboard.press("k")
    assert state(page)["playing"]


@pytest.mark.parametrize("size", ["desktop", walked("phone")])
def test_every_slider_changes_what_is_computed(explorer, size):
    page = explorer(size)
    page.locator(".r1-more > summary").click()
    before = rest(page)
    for name, presses in ACTIONS.items():
        slide(page, name, presses)
        after = rest(page)
        assert after["settings"][name] != before["settings"][name], name
        assert after["paths"]["explicit"] != before["paths"]["explicit"], name
        text = page.locator(
            f".r1-field:has(input[data-name={name}]) output"
        ).inner_text()
        assert text == page.locator(f"input[data-name={name}]").get_attribute(
            "aria-valuetext"
        )
        before = after
    assert before["preset"] is None
    check_against_jax(before)
    slide(page, "tolerance", 1)
    counts = [after["counts"]["explicit"] for after in (before, rest(page))]
    assert None in counts or counts[1] > counts[0]
    assert (
        page.evaluate("document.querySelector('.w').traits.settings.steps")
        == before["settings"]["steps"]
    )


def test_with_the_best_factors_descent_converges_in_one_step(explorer):
    page = explorer(settings={"conditionA": 40, "conditionD": 9})
    page.locator(".r1-more > summary").click()
    page.get_by_role("button", name="V = A⁻¹ᐟ²").click()
    half = rest(page)
    assert half["counts"]["explicit"] > 5
    page.get_by_role("button", name="T = D⁻¹ᐟ²").click()
    page_state = rest(page)
    assert (
        page_state["counts"]["explicit"] == page_state["counts"]["reparameterised"] == 1
    )
    expect(page.locator("[data-name=condition-preconditioned]")).to_have_text("1")
    expect(page.locator("[data-cell=explicit-count]")).to_have_text("1")
    page.get_by_role("button", name="T = V = I").click()
    page_state = rest(page)
    assert page_state["counts"]["plain"] == page_state["counts"]["explicit"] > 100


def test_with_V_of_one_row_P_is_singular_and_the_path_equals_jax(explorer):
    page = explorer()
    page.locator(".r1-more > summary").click()
    page.get_by_label("V has one row").check()
    page_state = rest(page)
    assert np.shape(page_state["problem"]["V"]) == (1, 2)
    expect(page.locator("[data-name=condition-P]")).to_have_text("singular")
    expect(page.locator(".r1-row-figure").first).to_contain_text("fixed part")
    check_against_jax(page_state)
    page.get_by_label("T has one column").check()
    check_against_jax(rest(page))


@pytest.mark.parametrize(
    ("question", "fate"),
    [("heavy", "together"), ("penalty", "known"), ("adam", "apart")],
)
def test_the_reader_predicts_before_the_paths_are_shown(explorer, question, fate):
    page = explorer()
    pose(page, question)
    page_state = rest(page)
    assert page_state["pending"]
    paths = page.locator(".r1-path-explicit.r1-path, .r1-path-reparameterised.r1-path")
    assert (
        paths.evaluate_all("paths => paths.map((p) => p.getAttribute('d'))") == [""] * 4
    )
    expect(page.locator("[data-cell=explicit-loss]")).to_have_text("?")
    expect(page.locator("[data-cell=explicit-count]")).to_have_text("?")
    page.locator(f"[data-guess={fate}]").click()
    page_state = rest(page)
    assert not page_state["pending"]
    assert page_state["fate"] == fate
    expect(page.locator(".r1-found")).to_contain_text("✓ As you said")
    assert all(
        len(d) > 50
        for d in paths.evaluate_all("paths => paths.map((p) => p.getAttribute('d'))")
    )
    pose(page, question)
    page.locator(
        "[data-guess=together]" if fate != "together" else "[data-guess=apart]"
    ).click()
    rest(page)
    expect(page.locator(".r1-found")).to_contain_text("✗ Not as you said")


def test_a_prediction_can_be_made_by_keyboard_and_the_optimiser_can_be_changed(
    explorer,
):
    page = explorer()
    rest(page)
    pose(page, "heavy")
    assert state(page)["pending"]
    page.locator("[data-guess=together]").focus()
    page.keyboard.press("Enter")
    page_state = rest(page)
    assert (page_state["pending"], page_state["fate"]) == (False, "together")
    page.get_by_label("Method on each path").select_option("nesterov")
    assert (state(page)["pending"], state(page)["preset"]) == (False, None)
    assert page.locator("input[data-name=momentum]").is_visible()
    assert not page.locator("input[data-name=lambda]").is_visible()
    expect(page.locator(".r1-verdict")).to_contain_text("They stay together")


def test_with_a_penalty_the_gap_converges_to_the_computed_amount(explorer):
    page = explorer(settings={"method": "penalty", "steps": 500})
    page_state = rest(page)
    H, P = (np.array(page_state["problem"][name]) for name in "HP")
    pull = H @ W_STAR.T.ravel()
    decay = page_state["settings"]["lambda"]
    own = np.linalg.solve(H + decay * np.linalg.inv(P), pull)
    other = np.linalg.solve(H + decay * np.eye(4), pull)
    assert page_state["known"] == pytest.approx(np.linalg.norm(own - other), rel=1e-9)
    assert page_state["gap"][-1] == pytest.approx(page_state["known"], rel=1e-6)
    expect(page.locator(".r1-verdict")).to_contain_text("the gap settles at")


def test_a_start_is_dragged_and_moved_by_keys(explorer):
    page = explorer()
    rest(page)
    handle = page.get_by_role("slider", name="Start of row 1")
    box = handle.bounding_box()
    x = box["x"] + box["width"] / 2
    y = box["y"] + box["height"] / 2
    plane = page.locator(".r1-row").first.bounding_box()
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(
        plane["x"] + 0.75 * plane["width"], plane["y"] + 0.25 * plane["height"], steps=4
    )
    page.mouse.up()
    page_state = rest(page)
    np.testing.assert_allclose(
        page_state["settings"]["start"][0], [1.8, 1.8], atol=0.05
    )
    assert page_state["settings"]["start"][1] == [1.6, -0.8]
    check_against_jax(page_state)
    second = page.get_by_role("slider", name="Start of row 2")
    second.focus()
    for key in ("ArrowUp", "ArrowLeft", "ArrowLeft"):
        page.keyboard.press(key)
    np.testing.assert_allclose(
        rest(page)["settings"]["start"][1], [1.4, -0.7], atol=1e-9
    )
    expect(second).to_have_attribute("aria-valuetext", "x 1.40, y −0.70")
    for _ in range(60):
        page.keyboard.press("ArrowDown")
    assert rest(page)["settings"]["start"][1][1] == -3


def test_what_is_drawn_is_what_is_computed(explorer):
    page = explorer()
    page_state = rest(page)
    line = page.locator(".r1-path-explicit.r1-path").first.get_attribute("d")
    points = np.array(
        [[float(v) for v in point.split()] for point in line[1:].split("L")]
    )
    w = np.array(page_state["paths"]["explicit"]["w"])[:, [0, 2]]
    expected = 320 * np.stack([w[:, 0] + 3.6, 3.6 - w[:, 1]], 1) / 7.2
    np.testing.assert_allclose(points, expected, atol=0.06)
    page.get_by_label("Step shown").focus()
    page.keyboard.press("Home")
    assert (
        page.locator(".r1-path-explicit.r1-path").first.get_attribute("d").count("L")
        == 0
    )
    lines = page.locator(".r1-plot path.r1-line")
    assert all(len(lines.nth(i).get_attribute("d")) > 100 for i in range(4))


def test_divergence_of_plain_descent_is_reported_in_words(explorer):
    page = explorer(
        settings={
            "share": 1.1,
            "conditionA": 1000,
            "conditionT": 30,
            "conditionV": 30,
            "steps": 500,
        }
    )
    page_state = rest(page)
    expect(page.locator("[data-cell=plain-count]")).to_have_text("runs away")
    expect(page.locator("[data-cell=plain-loss]")).to_have_text("off every scale")
    assert page_state["step"] == 500


@pytest.mark.parametrize("method", ["heavy", "penalty", "decoupled"])
def test_the_verdict_says_that_a_too_long_step_diverges(explorer, method):
    page = explorer(settings={"share": 1.1, "steps": 500, "method": method})
    assert rest(page)["fate"] == "away"
    words = page.locator(".r1-verdict")
    expect(words).to_contain_text("The step is too long, and a path runs away.")
    expect(words).not_to_contain_text(re.compile("✓|✗|rounding"))
    assert page.locator(".r1-end").count() == 0
    assert page.locator("path.r1-line.r1-law").get_attribute("d") == ""


def test_the_verdict_says_when_a_gap_has_not_settled(explorer):
    page = explorer(settings={"share": 1, "steps": 500, "method": "penalty"})
    assert rest(page)["counts"]["explicit"] is None
    expect(page.locator(".r1-verdict")).to_contain_text(
        "the gap has not settled in 20,000 steps"
    )


@pytest.mark.parametrize("size", ["desktop", walked("phone")])
def test_it_fits_the_page(explorer, size):
    page = explorer(size)
    rest(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
    box = page.locator(".r1-rows").bounding_box()
    assert box["y"] + box["height"] < SIZES[size]["height"]


@pytest.mark.parametrize("theme", ["light", walked("dark")])
@pytest.mark.parametrize("question", ["start", "penalty"])
def test_axe_finds_nothing(explorer, theme, question):
    page = explorer(color_scheme=theme)
    pose(page, question)
    rest(page)
    assert page.locator(f".w[data-r1-theme={theme}]").count() == 1
    violations = Axe().run(page).response["violations"]
    assert [(v["id"], [n["html"] for n in v["nodes"]]) for v in violations] == []


def test_two_explorers_on_a_page_are_independent_and_reset_restores_one(explorer):
    page = explorer(widgets=2)
    pose(page, "adam", 1)
    rest(page, 1)
    assert (state(page, 0)["preset"], state(page, 1)["preset"]) == ("start", "adam")
    page.get_by_role("button", name="Reset").nth(1).click()
    assert rest(page, 1)["settings"] == state(page, 0)["settings"]
    names = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(names) == len(set(names))
    page.evaluate("document.querySelectorAll('.w')[0].cleanup()")


def test_controls_and_drawings_fit_on_one_screen(explorer):
    page = explorer(settings={"method": "penalty"})
    page.set_viewport_size({"width": 1366, "height": 768})
    # the width of the book's column
    page.add_style_tag(content="main { width: 757px; padding: 0 !important }")
    rest(page)
    tops = page.evaluate("""() => ["body", "side", "stage-block"].map((name) => {
        const box = document.querySelector(`.r1-${name}`).getBoundingClientRect();
        return name === "body" ? box.top : box.bottom;
    })""")
    assert max(tops[1:]) - tops[0] < 768 - 54  # below the book's header bar
