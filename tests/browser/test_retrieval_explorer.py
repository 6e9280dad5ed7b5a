"""The retrieval explorer, driven as a reader does, and compared with JAX for what it then shows."""

import base64
import json
import re
from pathlib import Path

import jax
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from standalone import check_reader_may_slow, paused, pauser

import rankone as ro

ROOT = Path(__file__).parents[2]
BUNDLE = ROOT / "src" / "rankone" / "widgets" / "static" / "retrieval.js"
SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
RTOL = 1e-4  # two float32 programs that add in different orders; see tests/widgets/test_retrieval.py
SHORT = {"steps": 50}
ADDRESS = "http://explorer.test/"

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Retrieval explorer</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>body{margin:0}main{padding:8px}</style>
</head><body><main><h1>Explorer</h1><h2>Widget</h2><div class="w"></div>MORE</main><script type="module">
import widget from "./retrieval.js";
const pictures = Uint8Array.from(atob("PIXELS"), (c) => c.charCodeAt(0));
const traits = { pictures: new DataView(pictures.buffer), names: NAMES, settings: SETTINGS };
const kernel = KERNEL;
for (const el of document.querySelectorAll(".w")) {
  let hear = null;
  const send = (content, callbacks, buffers) => kernel?.(content, buffers, (...answer) => hear(...answer));
  const model = { get: (name) => traits[name], on: (_, action) => { hear = action; }, off() {}, send };
  el.cleanup = await widget.render({ model, el });
}
document.documentElement.dataset.ready = "yes";
</script></body></html>"""

# What the kernel's side answers, in the page: "hello" and a run that returns the query itself.
KERNEL = """(content, buffers, answer) => {
  window.asked = [...(window.asked ?? []), content];
  const reply = { id: content.id, device: "test device", energy: -0.5, steps: content.steps, seconds: 0.25 };
  setTimeout(() => answer(reply, content.kind === "run" ? [new DataView(buffers[1])] : []), 20);
}"""


@pytest.fixture(scope="module")
def pixels():
    return np.round(255 * ro.data.photographs(64)).astype(np.uint8)


@pytest.fixture
def explorer(browser, pixels):
    """A page with the widget alone: `explorer("phone")`; errors in its console fail the test."""
    contexts, errors = [], []

    def new(size="desktop", kernel="null", widgets=1, settings=None, script="", **options):
        phone = {"has_touch": True, "is_mobile": True} if size == "phone" else {}
        context = browser.new_context(viewport=SIZES[size], **phone, **options)
        context.add_init_script(script)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
        html = PAGE.replace("PIXELS", base64.b64encode(pixels.tobytes()).decode()).replace("KERNEL", kernel)
        html = html.replace("NAMES", json.dumps(ro.data.photograph_names()))
        html = html.replace("SETTINGS", json.dumps(settings or {}))
        html = html.replace("MORE", '<div class="w"></div>' * (widgets - 1))
        code = {"body": BUNDLE.read_text(encoding="utf8"), "content_type": "text/javascript"}
        page.route(
            ADDRESS + "**",
            lambda route: (
                route.fulfill(**code)
                if route.request.url.endswith(".js")
                else route.fulfill(body=html, content_type="text/html")
            ),
        )
        page.goto(ADDRESS)
        page.wait_for_selector("html[data-ready]")
        return page

    yield new
    for context in contexts:
        context.close()
    assert errors == []


def state(page, i=0):
    """What the widget shows, as numbers."""
    return page.evaluate("(i) => document.querySelectorAll('.w')[i].__rankone_state()", i)


def rest(page, i=0):
    """Waits until everything asked for is computed and playing has ended; returns the state."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    settled = """(i) => {
        const s = document.querySelectorAll('.w')[i].__rankone_state();
        return s.info && !s.busy && s.computed >= s.steps && !s.playing && s;
    }"""
    return page.wait_for_function(settled, arg=i, timeout=60_000).json_value()


def hurry(page):
    """Draws at once instead of 60 steps a second."""
    page.get_by_label("Speed", exact=True).select_option("at once")


def slide(page, name, presses):
    """Moves a slider by the keyboard, as a reader does."""
    slider = page.locator(f"input[data-name={name}]")
    slider.focus()
    for _ in range(abs(presses)):
        page.keyboard.press("ArrowRight" if presses > 0 else "ArrowLeft")


def floats(values):
    """A Float32Array as playwright hands it over."""
    return np.array(list(values.values()) if isinstance(values, dict) else values, np.float32)


def memories(shown, pixels):
    """The two memories that the page's settings describe, made by the package."""
    settings = shown["settings"]
    pictures = ro.data.photographs(settings["size"])[settings["stored"]]
    Xi = (pictures / np.sqrt(pictures.shape[1])).astype(np.float32)
    key = jax.random.key(settings["seed"])
    options = {"basis": settings["basis"], "projection": "hadamard"}
    features = ro.RandomFeatures(Xi.shape[1], settings["Y"], key=key, **options)
    return ro.MrDAM(Xi, settings["beta"]), ro.DrDAM.store(Xi, settings["beta"], features)


def check_against_jax(shown, states, pixels):
    """Energies and states after some steps equal the package's own run from the same query."""
    query = floats(shown["query"])
    free = None if shown["free"] is None else floats(shown["free"]).astype(bool)
    options = {"step_size": shown["settings"]["eta"], "max_steps": shown["steps"], "tol": 0}
    pairs = zip(memories(shown, pixels), ("energyExact", "energyDistributed"), ("x", "xHat"), strict=True)
    for memory, energies, end in pairs:
        wanted = ro.retrieve(memory, query, clamp=None if free is None else ~free, **options)
        found = np.array(shown["series"][energies], float)
        scale = np.abs(wanted.energies).max()
        np.testing.assert_allclose(found, wanted.energies, atol=RTOL * scale, rtol=RTOL)
        x = floats(states[end])
        assert np.linalg.norm(x - wanted.x) < RTOL * np.linalg.norm(wanted.x)


def test_it_opens_on_a_run_that_succeeds_and_equals_jax(explorer, pixels):
    page = explorer()
    shown = state(page)
    page.wait_for_function("() => document.querySelector('.w').__rankone_state().step > 3")  # it plays by itself
    hurry(page)
    shown = rest(page)
    assert shown["preset"] == "start"
    assert shown["record"]["nearestDistributed"] == shown["record"]["nearestExact"] == 0
    assert shown["info"]["pull"] > 2
    expect(page.locator(".r1-found")).to_contain_text("Both arrive")
    page.locator("input[data-name=steps]").focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    shown = rest(page)
    assert shown["steps"] == 20
    check_against_jax(shown, page.evaluate("() => document.querySelector('.w').__rankone_states()"), pixels)


SLIDERS = {
    "beta": ("beta", 20, lambda new, old: new["info"]["pull"] < old["info"]["pull"]),
    "Y": ("Y", 20, lambda new, old: new["info"]["pull"] > old["info"]["pull"]),
    "K": (None, 6, lambda new, old: new["info"]["roughness"] > old["info"]["roughness"]),
    "eta": ("eta", 10, lambda new, old: new["series"]["energyExact"][5] < old["series"]["energyExact"][5]),
    "fraction": ("fraction", 20, lambda new, old: new["info"]["pull"] != old["info"]["pull"]),
    "noise": ("noise", 10, lambda new, old: new["query"] != old["query"]),
    "steps": ("steps", -1, lambda new, old: new["steps"] < old["steps"]),
}


def test_every_slider_changes_what_is_computed_as_it_should(explorer, pixels):
    page = explorer(settings={"steps": 20})
    hurry(page)
    before = rest(page)
    for name, (setting, presses, changed) in SLIDERS.items():
        words = page.locator(f".r1-field:has(input[data-name={name}]) output").inner_text()
        slide(page, name, presses)
        after = rest(page)
        if setting:
            assert after["settings"][setting] != before["settings"][setting], name
        assert changed(after, before), name
        text = page.locator(f".r1-field:has(input[data-name={name}]) output").inner_text()
        assert text != words
        assert text == page.locator(f"input[data-name={name}]").get_attribute("aria-valuetext")
        before = after
    assert before["numbers"]["exact"] == 14 * 3072
    check_against_jax(before, page.evaluate("() => document.querySelector('.w').__rankone_states()"), pixels)


@pytest.mark.parametrize("basis", ["cos", "exp", "expexp"])
def test_every_basis_equals_jax(explorer, pixels, basis):
    page = explorer(settings={"beta": 1, "steps": 3})  # positive features run away within ten steps at this D
    hurry(page)
    page.get_by_label("Features", exact=True).select_option(basis)
    shown = rest(page)
    assert shown["settings"]["basis"] == basis
    check_against_jax(shown, page.evaluate("() => document.querySelector('.w').__rankone_states()"), pixels)


def test_pictures_go_in_and_out_by_mouse_and_keyboard(explorer):
    page = explorer(settings=SHORT)
    hurry(page)
    rest(page)
    tile = page.get_by_role("button", name="galaxies", exact=True)
    tile.click()
    assert rest(page)["settings"]["stored"] == [*range(8), 12]
    assert tile.get_attribute("aria-pressed") == "true"
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    assert rest(page)["settings"]["stored"] == [*range(8), 12, 13]
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    shown = rest(page)
    assert shown["settings"]["stored"] == [*range(8), 13]
    assert shown["numbers"]["exact"] == 9 * 3072
    page.get_by_label("True picture", exact=True).select_option(label="petals")
    shown = rest(page)
    assert shown["record"]["nearestExact"] == 8
    page.get_by_label("Collection").select_option("letters")
    assert rest(page)["settings"]["stored"] == list(range(9))
    expect(page.get_by_role("button", name="letter A (true picture)")).to_have_attribute("aria-pressed", "true")


def test_painting_by_mouse_and_by_keyboard_and_restoring(explorer, pixels):
    page = explorer()
    hurry(page)
    shown = rest(page)
    assert shown["preset"] is not None
    old = floats(shown["query"]).reshape(32, 32, 3)
    canvas = page.get_by_role("application")
    box = canvas.bounding_box()
    cell = box["width"] / 32
    page.mouse.move(box["x"] + 4.5 * cell, box["y"] + 4.5 * cell)
    page.mouse.down()
    page.mouse.move(box["x"] + 12.5 * cell, box["y"] + 4.5 * cell, steps=8)
    page.mouse.up()
    shown = rest(page)
    assert shown["preset"] is None  # no answer is given to a question that was painted over
    query = floats(shown["query"]).reshape(32, 32, 3)
    painted = np.any(query != old, axis=2)
    colour = np.array([0xD5, 0x5E, 0x00]) / 255 / np.sqrt(3072)
    np.testing.assert_allclose(query[painted], np.broadcast_to(colour, (painted.sum(), 3)), rtol=1e-5)
    assert painted[4, 4:12].all()
    assert 4 * 8 <= painted.sum() <= 4 * 14
    assert floats(shown["free"]).reshape(32, 32, 3)[4, 4].all()  # what is painted over is not known
    canvas.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    page.get_by_role("button", name="Restore").click()
    canvas.focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press(" ")
    restored = floats(rest(page)["query"]).reshape(32, 32, 3)
    rows, columns = np.nonzero(np.any(restored != query, axis=2))
    assert (set(rows), set(columns)) == ({4, 5, 6}, {12, 13, 14})  # the brush's 4 × 4 around row 5, column 13
    page.get_by_role("button", name="Clear paint").click()
    np.testing.assert_array_equal(floats(rest(page)["query"]).reshape(32, 32, 3), old)


def test_a_quick_stroke_has_no_gaps_and_reset_puts_the_brush_away(explorer):
    page = explorer(settings=SHORT)
    hurry(page)
    old = floats(rest(page)["query"]).reshape(32, 32, 3)
    paint, size = page.get_by_role("button", name="Paint", exact=True), page.locator("input[data-name=brush]")
    canvas = page.get_by_role("application")
    paint.click()
    size.focus()
    page.keyboard.press("Home")
    assert canvas.evaluate("(c) => getComputedStyle(c).touchAction") == "none"
    box = canvas.bounding_box()
    cell = box["width"] / 32
    page.mouse.move(box["x"] + 2.5 * cell, box["y"] + 4.5 * cell)
    page.mouse.down()
    page.mouse.move(box["x"] + 28.5 * cell, box["y"] + 10.5 * cell)
    page.mouse.up()
    painted = np.any(floats(rest(page)["query"]).reshape(32, 32, 3) != old, axis=2)
    assert painted.any(axis=0)[2:29].all()
    assert painted.sum() == 27
    page.get_by_role("button", name="Reset").click()
    expect(paint).to_have_attribute("aria-pressed", "false")
    expect(size).to_have_attribute("aria-valuetext", "4 px")
    assert canvas.evaluate("(c) => getComputedStyle(c).touchAction") == "auto"
    hurry(page)
    rest(page)
    canvas.focus()
    page.keyboard.press(" ")
    painted = np.any(floats(rest(page)["query"]).reshape(32, 32, 3) != old, axis=2)
    assert painted.sum() <= 4 * 4  # the brush that is shown is the brush that paints


def test_a_run_that_leaves_every_scale_says_so(explorer):
    page = explorer()
    hurry(page)
    rest(page)
    page.get_by_label("Features", exact=True).select_option("exp")
    rest(page)
    expect(page.locator(".r1-status")).to_contain_text("Distributed: off every scale")
    energy = page.get_by_role("img", name=re.compile("^Energy"))
    expect(energy).to_have_attribute("aria-label", re.compile("distributed off every scale"))
    expect(page.get_by_role("img", name=re.compile("^Distance"))).to_have_attribute(
        "aria-label", re.compile("measured off every scale, local bound off every scale, law none")
    )
    assert "NaN" not in page.locator(".w").inner_text()


DROP = """([selector, kind]) => {
    const files = new DataTransfer();
    files.items.add(new File(["x"], "x.txt", { type: "text/plain" }));
    const event = new DragEvent(kind, { dataTransfer: files, bubbles: true, cancelable: true });
    document.querySelector(selector).dispatchEvent(event);
    return event.defaultPrevented;
}"""


def test_a_file_dropped_beside_its_targets_opens_nothing(explorer):
    page = explorer(settings=SHORT)
    rest(page)
    for selector, kept in (("canvas[aria-label^=True]", True), (".r1-query", True), ("input[type=file]", False)):
        assert page.evaluate(DROP, [selector, "dragover"]) is kept
        assert page.evaluate(DROP, [selector, "drop"]) is kept
    expect(page.locator(".r1-ask")).to_contain_text("x.txt could not be read")  # by the query, the second of the three


def test_where_nothing_is_covered_nothing_is_wrong(explorer):
    page = explorer(settings=SHORT)
    hurry(page)
    page.locator("input[data-name=fraction]").focus()
    page.keyboard.press("Home")
    assert rest(page)["record"]["errorExact"] == 0
    expect(page.locator(".r1-facts")).not_to_contain_text("Infinity")


def test_play_pause_step_scrub_and_keys(explorer):
    page = explorer(script=pauser(5))
    stopped = paused(page)
    assert 5 < stopped < 200
    page.wait_for_timeout(150)
    assert state(page)["step"] == stopped
    page.get_by_role("button", name="One step").click()
    assert state(page)["step"] == stopped + 1
    page.keyboard.press("l")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert state(page)["step"] == stopped
    before = state(page)["record"]
    page.wait_for_function("() => document.querySelector('.w').__rankone_state().computed === 200")
    scrubber = page.get_by_label("Step shown")
    scrubber.focus()
    page.keyboard.press("End")
    assert state(page)["step"] == 200
    assert state(page)["record"]["energyExact"] < before["energyExact"]
    page.keyboard.press("Home")
    assert state(page)["step"] == 0
    box = scrubber.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert abs(state(page)["step"] - 100) <= 4
    page.get_by_label("Speed", exact=True).select_option("10")
    page.get_by_role("button", name="Back to the start").click()
    assert state(page)["step"] == 0
    page.keyboard.press("k")
    assert state(page)["playing"]


def test_what_is_drawn_is_what_is_computed(explorer):
    page = explorer()
    hurry(page)
    rest(page)

    def drawn(name):
        return page.evaluate(
            """async (name) => {
                const canvas = document.querySelector(`canvas[aria-label^="${name}"]`);
                const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
                return [...data].filter((_, i) => i % 4 < 3);
            }""",
            name,
        )

    states = page.evaluate("() => document.querySelector('.w').__rankone_states()")
    for name, key in (("State of the exact", "x"), ("State of the distributed", "xHat")):
        wanted = np.clip(np.round(255 * np.sqrt(3072) * floats(states[key])), 0, 255)
        assert np.abs(np.array(drawn(name)) - wanted).max() <= 1
    lines = page.locator(".r1-plot path.r1-line")
    assert lines.count() == 6
    assert all(len(lines.nth(i).get_attribute("d")) > 100 for i in range(6))
    page.get_by_label("Step shown").focus()
    page.keyboard.press("Home")
    assert state(page)["step"] == 0
    expect(page.get_by_role("meter")).to_have_attribute("aria-valuetext", re.compile("above 2"))


def test_the_bounds_hold_at_every_step(explorer):
    page = explorer()
    hurry(page)
    series = {name: np.array(values, float)[1:] for name, values in rest(page)["series"].items() if name != "printed"}
    assert np.all(series["distance"] <= series["local"] * (1 + RTOL))
    assert np.all(series["local"] < 4 * series["distance"])
    expect(page.locator(".r1-plot-note").last).to_contain_text("Printed: 10³")


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_presets_pose_their_question_and_answer_it(explorer, size):
    page = explorer(size)
    hurry(page)
    rest(page)
    for name, gauge in (
        ("Black instead of grey", "between"),
        ("Raise β", "below 0.7"),
        ("Too many memories", "between"),
    ):
        page.get_by_role("button", name=name).click()
        expect(page.locator(".r1-ask")).to_contain_text("?")
        shown = rest(page)
        assert shown["step"] == shown["steps"]
        expect(page.locator(".r1-found")).not_to_be_empty()
        expect(page.get_by_role("meter")).to_have_attribute("aria-valuetext", re.compile(gauge))
    page.get_by_role("button", name="Raise β").click()
    rest(page)
    expect(page.locator(".r1-verdict.r1-wrong")).to_contain_text("outside the range of pictures")
    page.get_by_role("button", name="Black instead of grey").click()
    rest(page)
    expect(page.locator(".r1-verdict.r1-wrong")).to_contain_text("✗")
    page.get_by_role("button", name="Reset").click()
    assert rest(page)["settings"] == state(page)["settings"]
    assert state(page)["preset"] == "start"


def test_the_largest_setting_runs_live(explorer):
    page = explorer()
    hurry(page)
    page.get_by_role("button", name="The paper’s Figure 2").click()
    page.wait_for_function(
        "() => { const s = document.querySelector('.w').__rankone_state(); return s.D === 12288 && s.computed > 20; }"
    )
    shown = state(page)
    assert shown["numbers"] == {"exact": 245_760, "distributed": 400_000}
    assert shown["record"]["energyDistributed"] is not None


def test_own_pictures_are_stored_or_asked_for(explorer, tmp_path):
    from PIL import Image

    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 255, (90, 120, 3), np.uint8)).save(tmp_path / "mine.png")
    (tmp_path / "broken.png").write_text("no picture")
    page = explorer(settings=SHORT)
    hurry(page)
    rest(page)
    page.get_by_label("Add your own").set_input_files(tmp_path / "mine.png")
    page.wait_for_function("() => document.querySelector('.w').__rankone_state().settings.target === -1")
    shown = rest(page)
    assert shown["settings"]["stored"][-1] == -1
    assert shown["record"]["nearestExact"] == 8
    page.get_by_label("Add your own").set_input_files(tmp_path / "broken.png")
    expect(page.locator(".r1-ask")).to_contain_text("broken.png could not be read")


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_it_fits_the_page(explorer, size):
    page = explorer(size)
    hurry(page)
    rest(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
    box = page.locator(".r1-stage").bounding_box()
    assert box["y"] + box["height"] < SIZES[size]["height"] + (0 if size == "desktop" else 200)
    if size == "desktop":
        assert page.locator(".r1-body").bounding_box()["height"] < 960


@pytest.mark.parametrize("width", [320, 360, 390, 620])
def test_the_scrubber_has_a_line_of_its_own_on_a_phone(explorer, width):
    page = explorer("phone", settings=SHORT)
    page.set_viewport_size({"width": width, "height": 844})
    row, scrubber = (page.locator(name).bounding_box() for name in (".r1-playback", ".r1-scrub"))
    assert scrubber["width"] == row["width"] > 280
    play, steps = (page.locator(f".r1-playback {name}").bounding_box() for name in (".r1-main", ".r1-steps"))
    assert play["y"] < steps["y"] + steps["height"] < scrubber["y"] + scrubber["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_forced_colours_keep_what_backgrounds_tell(explorer):
    page = explorer(forced_colors="active", reduced_motion="reduce")
    rest(page)
    colour = "(e) => getComputedStyle(e).backgroundColor"
    pressed, other = (page.locator(f".r1-question[aria-pressed={is_on}]").first for is_on in ("true", "false"))
    assert pressed.evaluate(colour) != other.evaluate(colour)
    assert pressed.evaluate("(e) => getComputedStyle(e).color") != pressed.evaluate(colour)
    ground = page.locator(".w").evaluate(colour)
    zones = [page.locator(".r1-zone").nth(i).evaluate(colour) for i in range(3)]
    assert len({ground, page.locator(".r1-needle").evaluate(colour), *zones}) == 5
    assert page.locator(".r1-scrub").evaluate("(e) => getComputedStyle(e).forcedColorAdjust") == "none"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(explorer, theme):
    page = explorer(color_scheme=theme, reduced_motion="reduce")
    rest(page)
    assert page.locator(f".w[data-r1-theme={theme}]").count() == 1
    found = Axe().run(page).response["violations"]
    assert [(v["id"], [n["html"] for n in v["nodes"]]) for v in found] == []


def test_reduced_motion_shows_the_end_at_once(explorer):
    page = explorer(reduced_motion="reduce")
    shown = rest(page)
    assert shown["step"] == shown["steps"] == 200
    assert page.evaluate("getComputedStyle(document.querySelector('.r1-needle')).transitionDuration") == "0s"


def test_reduced_motion_is_a_speed_that_the_reader_may_change(explorer):
    page = explorer(reduced_motion="reduce", settings=SHORT)
    rest(page)
    check_reader_may_slow(page)
    assert rest(page)["step"] == 200


def test_dark_follows_the_page(explorer):
    page = explorer()
    ground = "getComputedStyle(document.querySelector('.w')).backgroundColor"
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.wait_for_function(f"{ground} === 'rgb(20, 24, 30)'")
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    page.wait_for_function(f"{ground} === 'rgb(255, 255, 255)'")
    page.evaluate("delete document.documentElement.dataset.theme; document.body.dataset.jpThemeLight = 'false'")
    page.wait_for_function(f"{ground} === 'rgb(20, 24, 30)'")


def test_two_on_a_page_do_not_meet_and_unmounting_stops_the_worker(explorer):
    page = explorer(widgets=2)
    page.get_by_label("Speed", exact=True).nth(0).select_option("at once")
    page.get_by_label("Speed", exact=True).nth(1).scroll_into_view_if_needed()
    page.get_by_label("Speed", exact=True).nth(1).select_option("at once")
    rest(page, 0)
    rest(page, 1)
    page.get_by_role("button", name="Raise β").nth(1).click()
    assert rest(page, 1)["settings"]["beta"] == 200
    assert state(page, 0)["settings"]["beta"] == 60
    names = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(names) == len(set(names))
    assert len(page.workers) == 2
    page.evaluate("document.querySelectorAll('.w')[0].cleanup()")
    for _ in range(300):  # the browser says so when it gets to it
        if len(page.workers) < 2:
            break
        page.wait_for_timeout(100)
    assert len(page.workers) == 1


def test_without_workers_it_computes_on_the_page(explorer, pixels):
    page = explorer()
    page.add_init_script("window.Worker = class { constructor() { throw new Error('none here'); } };")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    hurry(page)
    slide(page, "steps", -3)
    shown = rest(page)
    assert page.workers == []
    check_against_jax(shown, page.evaluate("() => document.querySelector('.w').__rankone_states()"), pixels)


def test_a_kernel_is_offered_where_there_is_one(explorer):
    page = explorer(kernel=KERNEL, settings=SHORT)
    hurry(page)
    shown = rest(page)
    run = page.get_by_role("button", name="Run in JAX")
    expect(run).to_be_enabled()
    run.click()
    expect(page.locator(".r1-jax")).to_contain_text("50 steps in 0.25 s on test device")
    expect(page.get_by_text("In JAX", exact=True)).to_be_visible()
    asked = page.evaluate("window.asked")[-1]
    assert {name: asked[name] for name in ("beta", "Y", "K", "seed")} == {"beta": 60, "Y": 20000, "K": 8, "seed": 0}
    assert asked["eta"] == shown["settings"]["eta"]
    slide(page, "beta", 1)
    expect(page.get_by_text("In JAX", exact=True)).to_be_hidden()


def test_without_a_kernel_the_button_says_why_it_is_off(explorer):
    page = explorer()
    expect(page.get_by_role("button", name="Run in JAX")).to_be_disabled()
    expect(page.locator(".r1-jax")).to_contain_text("Needs a live kernel")


def test_the_book_opens_with_it(visit):
    watched = visit()
    page = watched.open("book/intro.html")
    page.locator(".r1-stage").first.scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('.r1-verdict')?.textContent !== ''")
    page.get_by_label("Speed", exact=True).first.select_option("at once")
    expect(page.locator(".r1-found").first).to_contain_text("Both arrive", timeout=30_000)
    assert watched.elsewhere == []
    assert watched.errors == []
