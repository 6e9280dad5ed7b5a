"""The residual explorer, operated as by a reader, and its results compared with JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from standalone import (
    SIZES,
    check_reader_may_slow,
    paused,
    pauser,
    pose,
    settled,
    slide,
    state,
)
from views import walked

from rankone.precision import double_precision
from rankone.printed.resmem_rate import theorem_printed
from rankone.residual import ResMem
from rankone.theory.linear_resmem import constrained_erm, sample_ball
from rankone.theory.nearest_neighbour import nearest_neighbour_risk
from rankone.theory.resmem_rates import helpful_noise

BUNDLE = "residual"
OPTIONS = {"reduced_motion": "reduce"}
SLIDERS = {"L": -3, "d": 2, "k": 4, "sigma": 20, "noise": 8, "n": 2}
SMALL = {"n": 24}


def rest(page, i=0):
    """Waits until the risks at this n are measured and playing has ended; returns the
    state.
    """
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => "
        "requestAnimationFrame(done)))"
    )
    return settled(page, "s.risks[s.step] && s.sweep.length && !s.playing", i)


def floats(values):
    """A typed array, as playwright returns it."""
    return np.array(list(values.values()) if isinstance(values, dict) else values)


def line_points(page, title, tone):
    """The coordinates of the line of that colour in the chart of that title."""
    d = page.locator(
        f".r1-plot:visible:has(figcaption:text-is('{title}')) .r1-xy path.r1-{tone}"
    ).last.get_attribute("d")
    return np.array([[float(v) for v in point.split()] for point in d[1:].split("L")])


def check_against_jax(page_state):
    """Points, base and residuals on the stage, and the laws, equal the package's."""
    s = page_state["settings"]
    model = page_state["model"]
    n = s["n"]
    d = s["d"]
    k_points, k_noise = jax.random.split(jax.random.key(s["seed"]))
    X = np.asarray(sample_ball(n, d, key=k_points))
    np.testing.assert_allclose(
        floats(model["X"]).reshape(n, d), X, rtol=1e-5, atol=1e-6
    )
    y = X[:, 0] + np.sqrt(s["noise"]) * np.asarray(jax.random.normal(k_noise, (n,)))
    np.testing.assert_allclose(floats(model["y"]), y, rtol=1e-5, atol=1e-5)
    with double_precision():
        theta = np.asarray(
            constrained_erm(jnp.asarray(X, float), jnp.asarray(y, float), s["L"]).theta
        )
    np.testing.assert_allclose(floats(model["theta"]), theta, atol=1e-5)
    np.testing.assert_allclose(floats(model["residuals"]), y - X @ theta, atol=2e-5)
    law = page_state["law"]
    distance = float(nearest_neighbour_risk(n, d).exact) / d
    assert law["memory"] == pytest.approx(
        s["noise"] + (1 - s["L"]) ** 2 * distance, rel=1e-3
    )
    assert law["printed"] == pytest.approx(
        float(theorem_printed(n, d, s["L"])), rel=1e-9
    )
    assert page_state["threshold"] == pytest.approx(
        max(0, float(helpful_noise(n, d, s["L"]))), abs=1e-3
    )


def test_it_opens_on_a_memory_that_helps_and_equals_jax(explorer):
    page = explorer(guess=True)
    assert state(page)["pending"]
    expect(page.locator("[data-cell=memory-measured]")).to_have_text("?")
    page.locator("[data-guess=rest]").click()
    page_state = rest(page)
    assert page_state["preset"] == "start"
    risk = page_state["risks"][page_state["step"]]
    assert risk["memory"] < 0.1 * risk["base"]
    expect(page.locator(".r1-found")).to_contain_text(
        "✓ As you said. At n = 64 the base alone has risk"
    )
    expect(page.locator(".r1-found")).to_contain_text(
        "The risk of the base stops falling"
    )
    expect(page.locator(".r1-status")).to_contain_text("The memory helps")
    check_against_jax(page_state)


def test_the_drawn_sum_equals_the_prediction_of_resmem(explorer):
    page = explorer(settings={"d": 2, "k": 5, "sigma": 0.5, "noise": 0.1, "n": 48})
    page_state = rest(page)
    path = line_points(page, "Base + memory", "distributed")
    assert len(path) == 161
    s = page_state["settings"]
    model = page_state["model"]
    reach = 2.0
    x = np.linspace(-reach, reach, 161)
    queries = np.stack([x, np.zeros(161)], 1)
    X = floats(model["X"]).reshape(-1, 2)
    residuals = floats(model["residuals"])
    memory = ResMem(k=s["k"], sigma=s["sigma"]).fit_residuals(X, residuals[:, None])
    expected = (
        queries @ floats(model["theta"]) + np.asarray(memory.correction(queries))[:, 0]
    )
    high = 1.05 * max(reach, np.abs(floats(model["y"])).max())
    np.testing.assert_allclose(
        path[:, 0], 38 + 200 * (x + reach) / (2 * reach), atol=0.06
    )
    np.testing.assert_allclose(
        path[:, 1], 148 - 138 * (expected + high) / (2 * high), atol=0.1
    )


@pytest.mark.parametrize("size", ["desktop", walked("phone")])
def test_every_slider_changes_what_is_computed(explorer, size):
    page = explorer(size, settings=SMALL | {"k": 2})
    before = rest(page)
    for name, presses in SLIDERS.items():
        slide(page, name, presses)
        after = rest(page)
        assert after["settings"][name] != before["settings"][name], name
        assert after["risks"][after["step"]] != before["risks"][before["step"]], name
        text = page.locator(
            f".r1-field:has(input[data-name={name}]) output"
        ).inner_text()
        assert text == page.locator(f"input[data-name={name}]").get_attribute(
            "aria-valuetext"
        )
        before = after
    assert before["preset"] is None
    check_against_jax(before)
    page.locator(".r1-more > summary").click()
    page.get_by_role("button", name="Draw other examples").click()
    after = rest(page)
    assert after["model"]["X"] != before["model"]["X"]
    check_against_jax(after)
    assert page.evaluate("document.querySelector('.w').traits.settings.seed") == 1


def test_it_races_by_itself_and_pauses_steps_and_scrubs(explorer):
    page = explorer(
        reduced_motion="no-preference", settings={"n": 4096}, script=pauser(2)
    )
    stopped = paused(page)
    assert 2 < stopped < 22
    page.get_by_role("button", name="One step").click()
    assert state(page)["step"] == stopped + 1
    page.keyboard.press("j")
    assert state(page)["step"] == stopped
    page.get_by_label("Step shown").focus()
    page.keyboard.press("Home")
    page_state = rest(page)
    assert (page_state["step"], page_state["settings"]["n"]) == (0, 2)
    assert (
        len(
            page.locator(
                ".r1-plot:has(figcaption:text-is('Risk as n grows')) .r1-xy "
                "circle:visible"
            ).all()
        )
        == 3
    )
    page.keyboard.press("End")
    assert state(page)["settings"]["n"] == 4096
    expect(page.locator(".r1-steps")).to_have_text("n = 4,096")


def test_noise_beyond_the_border_hurts_and_averaging_repairs_it(explorer):
    page = explorer()
    pose(page, "noise")
    expect(page.locator("[data-cell=memory-measured]")).to_have_text("?")
    page.locator("[data-guess=pays]").click()
    page_state = rest(page)
    risk = page_state["risks"][page_state["step"]]
    assert page_state["settings"]["noise"] > page_state["threshold"]
    assert risk["memory"] > risk["base"]
    expect(page.locator(".r1-found")).to_contain_text(
        "✗ Not as you said. The memory hurts here"
    )
    expect(page.locator(".r1-status")).to_contain_text("The memory hurts")
    label = page.get_by_text("hurts from", exact=False).locator("visible=true").last
    expect(label).to_have_text(f"hurts from {page_state['threshold']:.2g}")
    pose(page, "average")
    page.locator("[data-skip]").click()
    page_state = rest(page)
    risk = page_state["risks"][page_state["step"]]
    assert risk["memory"] < risk["base"]


def test_in_the_plane_the_memory_is_about_as_good_as_nearest_neighbours(explorer):
    page = explorer()
    pose(page, "plane")
    page.locator("[data-skip]").click()
    page_state = rest(page)
    risk = page_state["risks"][page_state["step"]]
    assert risk["memory"] < risk["base"]
    assert risk["memory"] == pytest.approx(risk["neighbours"], abs=0.01)
    assert page.locator("input[data-name=flips]").is_visible()
    assert not page.locator("input[data-name=noise]").is_visible()
    pixels = page.evaluate(
        """() => {
            const canvas = document.querySelector('canvas[aria-label^="Base + memory"]');
            const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            const at = (x, y) => [...data.slice(4 * (y * canvas.width + x), 4 * (y * canvas.width + x) + 3)];
            return [at(4, 4), at(canvas.width - 4, canvas.height - 4)];
        }"""
    )
    assert pixels[0][0] > pixels[0][2]  # orange above the border
    assert pixels[1][2] > pixels[1][0]  # blue under it
    page.get_by_role("button", name="A line").focus()
    page.keyboard.press("Enter")
    assert rest(page)["settings"]["view"] == "line"
    expect(page.locator("input[data-name=noise]")).to_be_visible()


def test_the_rough_wave_is_the_better_one_to_learn_at_64_examples_and_not_at_three(
    explorer,
):
    page = explorer(guess=True)
    pose(page, "rough")
    stage = page.locator(".r1-parts:visible")
    expect(stage).to_have_count(1)
    expect(stage).to_contain_text("base: one wave")
    page.locator("[data-guess=yes]").click()
    page_state = rest(page)
    expect(page.locator(".r1-found")).to_contain_text("✓ As you said. The sum has risk")
    risk = page_state["risks"][page_state["step"]]
    assert risk["memory"] == pytest.approx(page_state["waves"]["memory"], rel=0.25)
    assert page_state["waves"]["other"] < 0.2 * risk["memory"]
    rough = line_points(page, "Which wave should the base learn?", "distributed")
    slide(page, "frequency", -4)
    slower = rest(page)
    assert slower["settings"]["frequency"] == 4
    assert slower["preset"] == "rough"
    assert slower["waves"]["memory"] < 0.5 * page_state["waves"]["memory"]
    assert rough.shape[0] > 5
    page.get_by_role("button", name="base: rough", exact=True).click()
    new_state = rest(page)
    assert new_state["settings"]["learns"] == "rough"
    assert new_state["waves"]["memory"] == slower["waves"]["other"]
    page.locator("input[data-name=n]").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    few = rest(page)
    assert few["settings"]["n"] == 3
    assert few["waves"]["memory"] > few["waves"]["other"]


def test_curves_follow_a_drag_while_measuring_and_progress_is_shown(explorer):
    page = explorer(settings={"d": 8, "n": 1024})
    page.wait_for_function(
        "document.querySelector('.r1-status').textContent.includes('% done')"
    )
    moved = """async () => {
        const input = document.querySelector("input[data-name=L]");
        const seen = new Set();
        for (let i = 1; i <= 20; i++) {
            await new Promise(requestAnimationFrame);
            input.value = 0.05 * i;
            input.dispatchEvent(new Event("input", { bubbles: true }));
            seen.add(document.querySelector(".r1-parts path.r1-exact").getAttribute("d"));
        }
        return seen.size;
    }"""
    assert page.evaluate(moved) == 20
    page_state = rest(page)
    assert page_state["settings"]["L"] == 1
    assert page_state["risks"][page_state["step"]]["base"] < 0.1


@pytest.mark.parametrize(
    "settings",
    [
        {"L": 1.2, "d": 8, "k": 64, "sigma": 10, "noise": 1, "n": 4096},
        {"L": 1, "d": 1, "k": 64, "n": 2},
        {"view": "plane", "L": 0, "k": 64, "sigma": 0.01, "flips": 0.5, "n": 2},
    ],
)
def test_the_ends_of_the_sliders_are_drawn(explorer, settings):
    page = explorer(settings=settings)
    page_state = rest(page)
    assert page_state["settings"] == page_state["settings"] | settings
    paths = page.locator("path.r1-line").evaluate_all(
        "paths => paths.map((p) => p.getAttribute('d') ?? '')"
    )
    assert not any("NaN" in d or "Infinity" in d for d in paths)
    expect(page.locator("[data-cell=memory-measured]")).not_to_have_text("…")


def test_the_status_says_when_the_memory_changes_nothing(explorer):
    page = explorer(settings=SMALL | {"L": 1, "d": 3})
    rest(page)
    expect(page.locator(".r1-status")).to_contain_text("The memory changes nothing")


def test_the_note_says_when_the_measured_curves_do_not_cross(explorer):
    page = explorer(settings={"view": "plane", "L": 0, "n": 96})
    assert rest(page)["threshold"] is None
    note = page.locator(".r1-plot-note:visible").last
    expect(note).to_contain_text("the measured curves do not cross here")
    expect(note).not_to_contain_text("green")


def test_with_reduced_motion_the_reader_can_still_choose_a_playing_speed(explorer):
    page = explorer(settings=SMALL)
    rest(page)
    check_reader_may_slow(page)


@pytest.mark.parametrize("size", ["desktop", walked("phone")])
@pytest.mark.parametrize("view", ["line", "plane", "waves"])
def test_it_fits_the_page(explorer, size, view):
    page = explorer(size, settings=SMALL | {"view": view})
    rest(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
    box = page.locator(".r1-parts:visible").bounding_box()
    assert box["y"] + box["height"] < SIZES[size]["height"]


@pytest.mark.parametrize("theme", ["light", walked("dark")])
@pytest.mark.parametrize("view", ["line", "plane", "waves"])
def test_axe_finds_nothing(explorer, theme, view):
    page = explorer(color_scheme=theme, settings=SMALL | {"view": view})
    rest(page)
    assert page.locator(f".w[data-r1-theme={theme}]").count() == 1
    violations = Axe().run(page).response["violations"]
    assert [(v["id"], [n["html"] for n in v["nodes"]]) for v in violations] == []


def test_two_explorers_on_a_page_are_independent_and_reset_restores_one(explorer):
    page = explorer(widgets=2)
    pose(page, "flips", 1)
    rest(page, 1)
    assert (state(page, 0)["preset"], state(page, 1)["preset"]) == ("start", "flips")
    page.get_by_role("button", name="Reset").nth(1).click()
    assert rest(page, 1)["settings"] == state(page, 0)["settings"]
    names = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(names) == len(set(names))
    page.evaluate("document.querySelectorAll('.w')[0].cleanup()")


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
