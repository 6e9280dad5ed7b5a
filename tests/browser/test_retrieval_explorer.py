"""The retrieval explorer, driven as a reader does, and compared with JAX for what it
then shows.
"""

import math
import re

import jax
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from standalone import SIZES, settled, slide, state
from views import walked

import rankone as ro

BUNDLE = "retrieval"
QUICK = {"Y": 2000}  # for tests that ask for no number of the approximate memory
# two float32 programs that add in different orders; see tests/widgets/test_retrieval.py
RTOL = 1e-4

# What the kernel's side answers, in the page: "hello" and a run that returns the query
# itself.
KERNEL = """(content, buffers, answer) => {
  window.asked = [...(window.asked ?? []), content];
  const reply = { id: content.id, device: "test device", energy: -0.5, steps: content.steps, seconds: 0.25 };
  setTimeout(() => answer(reply, content.kind === "run" ? [new DataView(buffers[1])] : []), 20);
}"""

# A reader who rests has the map measured, a core's work for a minute: here it is asked
# for without its cells.
UNMEASURED = """{
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (message, ...more) {
        const job = { ...message.job, order: [] };
        post.call(this, message.type === "map" ? { ...message, job } : message, ...more);
    };
}"""


@pytest.fixture
def explorer(alone):
    """A page with the widget alone, with the photographs of a `detail`."""
    from rankone_book.widgets import RetrievalExplorer

    def new(size="desktop", *, detail=32, settings=None, script=UNMEASURED, **options):
        widget = RetrievalExplorer(detail=detail, **(settings or {}))
        traits = {
            name: getattr(widget, name)
            for name in ("pictures", "finer", "names", "scale", "settings")
        }
        return alone(BUNDLE, size, traits=traits, script=script, **options)

    return new


def rest(page, i=0):
    """Waits until all steps of what was asked for are computed and on show; returns the
    state.
    """
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => "
        "requestAnimationFrame(done)))"
    )
    return settled(page, "s.ended && !s.busy && s.computed === s.steps", i)


def unfold(page):
    page.locator(".r1-more > summary").first.click()


def point(page):
    """The middle of the point on the map."""
    box = page.locator(".r1-map .r1-grip").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def shown(page, panel):
    """The pixels of a picture."""
    return page.evaluate(
        """(panel) => {
            const canvas = document.querySelector(`.r1-of-${panel} canvas`);
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            return [...data].filter((_, i) => i % 4 < 3);
        }""",
        panel,
    )


def floats(values):
    """A Float32Array as playwright hands it over."""
    return np.array(
        list(values.values()) if isinstance(values, dict) else values, np.float32
    )


def step(page):
    """The step on show: the whole state is thousands of numbers."""
    return page.evaluate("() => document.querySelector('.w').__rankone_state().step")


def check_against_jax(page, leave=True):
    """Energies of each step and both last states equal the package's own run from the
    same query.

    The page is left meanwhile, because its explorer would go on measuring the map.
    """
    found = state(page)
    states = page.evaluate("() => document.querySelector('.w').__rankone_states()")
    if leave:
        page.goto("about:blank")
    settings = found["settings"]
    config = found["config"]
    if settings["collection"] == "bits":
        Xi = np.asarray(
            ro.data.binary_patterns(500, settings["size"] ** 2, key=jax.random.key(0))
        )[: settings["K"]]
    else:
        pictures = ro.data.photographs(settings["size"])[: settings["K"]]
        Xi = (pictures / np.sqrt(pictures.shape[1])).astype(np.float32)
    key = jax.random.key(settings["seed"])
    options = {"basis": settings["basis"], "projection": "hadamard"}
    features = ro.RandomFeatures(Xi.shape[1], settings["Y"], key=key, **options)
    memories = (
        ro.MrDAM(Xi, settings["beta"]),
        ro.DrDAM.store(Xi, settings["beta"], features),
    )
    query = floats(config["query"])
    free = None if config["free"] is None else floats(config["free"]).astype(bool)
    run = {
        "step_size": settings["eta"],
        "max_steps": settings["steps"],
        "tol": 1e-3 / np.sqrt(query.size),
    }
    for memory, i, end in zip(memories, (0, 1), ("x", "xHat"), strict=True):
        wanted = ro.retrieve(
            memory, query, clamp=None if free is None else ~free, **run
        )
        energies = np.array([row[i] for row in found["trace"]], float)[
            : len(wanted.energies)
        ]
        taken = wanted.energies[: len(energies)]
        np.testing.assert_allclose(
            energies, taken, atol=RTOL * np.abs(taken).max(), rtol=RTOL
        )
        assert np.linalg.norm(
            floats(states[end]) - wanted.x
        ) < 10 * RTOL * np.linalg.norm(wanted.x)


def test_it_opens_at_the_end_of_a_run_that_succeeds_and_equals_jax(explorer):
    page = explorer()
    found = rest(page)
    assert found["preset"] == "start"
    assert found["step"] == found["steps"] > 20
    expect(page.locator(".r1-of-exact .r1-verdict")).to_have_text("✓ astronaut")
    expect(page.locator(".r1-of-distributed .r1-verdict")).to_have_text("✓ astronaut")
    expect(page.locator(".r1-found")).to_contain_text("Here both do")
    check_against_jax(page)


WATCH = """() => {
    const of = (name) => document.querySelector(`.r1-of-${name} canvas`);
    const sum = (canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return data.reduce((hash, v) => (31 * hash + v) | 0, 7);
    };
    window.query = sum(of('query'));
    window.pictures = [];
    window.moves = [];
    const look = () => { window.pictures.push(sum(of('distributed')), sum(of('exact'))); requestAnimationFrame(look); };
    look();
}"""


def test_dragging_the_point_shows_one_end_after_another_and_never_the_start(explorer):
    page = explorer()
    before = rest(page)
    page.evaluate(WATCH)
    x, y = point(page)
    page.mouse.move(x, y)
    page.mouse.down()
    steps = []
    for i in range(40):
        page.mouse.move(x + 50 * math.sin(i / 5), y - 30 * math.sin(i / 9))
        steps.append(step(page))
    during = state(page)
    page.mouse.up()
    seen = page.evaluate("[window.query, window.pictures]")
    after = rest(page)
    assert min(steps) > 0
    assert seen[0] not in seen[1]  # the query, which is the state at step 0
    assert len(set(seen[1])) > 10  # as many ends as this machine had time for
    assert during["ends"] - before["ends"] > 5
    assert during["settings"]["beta"] != 60
    assert during["settings"]["Y"] != 20000
    assert after["settings"] == during["settings"]
    check_against_jax(page, leave=False)
    page.keyboard.press("Control+z")
    assert rest(page)["settings"] == before["settings"]  # one drag is one step back


def test_a_press_beside_the_point_and_the_arrow_keys_move_it(explorer):
    page = explorer()
    rest(page)
    x, y = point(page)
    page.mouse.click(x - 80, y - 40)
    found = rest(page)["settings"]
    assert found["beta"] < 30
    assert found["Y"] > 30000
    moved = point(page)
    assert abs(moved[0] - (x - 80)) < 2
    assert abs(moved[1] - (y - 40)) < 2
    for key, name, more in (
        ("ArrowRight", "beta", True),
        ("Shift+ArrowDown", "Y", False),
    ):
        page.keyboard.press(key)
        after = rest(page)["settings"]
        assert (after[name] > found[name]) is more
        found = after
    expect(page.locator(".r1-map .r1-grip")).to_have_attribute(
        "aria-valuetext", re.compile(r"^β [\d.]+, Y [\d,]+, K 8$")
    )
    page.get_by_role("button", name="K × Y").click()
    page.locator(".r1-map .r1-grip").focus()
    page.keyboard.press("ArrowRight")
    assert rest(page)["settings"]["K"] == 9


def test_the_map_is_shaded_at_once_and_measured_while_the_reader_rests(explorer):
    page = explorer(settings={"Y": 2000, "K": 2, "steps": 10}, script="")
    first = page.locator(".r1-map rect").evaluate_all(
        "(all) => all.map((r) => r.getAttribute('fill'))"
    )
    assert len(first) == 200
    assert len(set(first)) > 20  # the closed form, before anything was measured
    page.wait_for_function(
        "() => document.querySelector('.w').__rankone_state().mapped > 12",
        timeout=60_000,
    )
    firm = page.locator(".r1-map rect[opacity='1']").count()
    assert firm > 12
    page.locator("input[data-name=K]").focus()
    page.keyboard.press("ArrowRight")
    assert state(page)["mapped"] == 0  # another K is another map
    mapped = page.wait_for_function(
        "() => document.querySelector('.w').__rankone_state().mapped"
    ).json_value()
    slide(page, "beta", 1)
    assert rest(page)["mapped"] >= mapped  # another β another point of the same one


def test_finer_photographs_come_when_they_are_asked_for(explorer):
    page = explorer(detail=64)
    assert rest(page)["config"]["D"] == 3072
    page.get_by_role("button", name="Figure 1").click()
    page.get_by_role("button", name="Just show me").click()
    page.wait_for_function(
        "() => document.querySelector('.w').__rankone_state().ended", timeout=60_000
    )
    found = state(page)
    assert found["config"]["D"] == 12288
    np.testing.assert_allclose(
        floats(found["config"]["truth"]),
        ro.data.photographs(64)[0] / np.sqrt(12288),
        rtol=1e-5,
        atol=1e-6,
    )


def test_pinning_keeps_a_state_beside_what_comes(explorer):
    page = explorer()
    rest(page)
    kept = shown(page, "distributed")
    pin = page.locator("button[data-name=pin]")
    pin.click()
    expect(page.locator(".r1-ghosts")).to_be_visible()
    expect(page.locator(".r1-ghosts")).to_contain_text("β 60, Y 20,000, K 8")
    slide(page, "beta", 12)
    rest(page)
    unfold(page)
    ghost = page.evaluate(
        """() => {
            const canvas = document.querySelectorAll('.r1-ghosts canvas')[1];
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            return [...data].filter((_, i) => i % 4 < 3);
        }"""
    )
    assert ghost == kept
    assert shown(page, "distributed") != kept
    lines = page.locator(".r1-charts path.r1-quiet")
    assert all(len(lines.nth(i).get_attribute("d")) > 50 for i in range(3))
    pin.click()
    expect(page.locator(".r1-ghosts")).to_be_hidden()


def test_the_axes_of_the_energies_do_not_move_with_beta(explorer):
    page = explorer(settings=QUICK)
    rest(page)
    unfold(page)
    marks = page.locator(".r1-charts figure").first.locator(".r1-axes text")
    expect(marks).not_to_have_count(0)
    before = marks.all_text_contents()
    assert all(before)
    slide(page, "beta", -40)
    rest(page)
    expect(marks).to_have_text(before)


SLIDERS = {
    "beta": (5, lambda new, old: new["info"]["pull"] < old["info"]["pull"]),
    "Y": (5, lambda new, old: new["info"]["pull"] > old["info"]["pull"]),
    "K": (6, lambda new, old: new["info"]["roughness"] > old["info"]["roughness"]),
    "eta": (5, lambda new, old: new["trace"][5][0] < old["trace"][5][0]),
    "fraction": (10, lambda new, old: new["info"]["pull"] != old["info"]["pull"]),
    "noise": (5, lambda new, old: new["config"]["query"] != old["config"]["query"]),
    "steps": (-1, lambda new, old: new["steps"] < old["steps"]),
}


def test_every_slider_changes_what_is_computed_as_it_should(explorer):
    page = explorer(settings=QUICK | {"steps": 20})
    before = rest(page)
    unfold(page)
    for name, (presses, changed) in SLIDERS.items():
        words = page.locator(
            f".r1-field:has(input[data-name={name}]) output"
        ).inner_text()
        slide(page, name, presses)
        after = rest(page)
        assert after["settings"][name] != before["settings"][name], name
        assert changed(after, before), name
        text = page.locator(
            f".r1-field:has(input[data-name={name}]) output"
        ).inner_text()
        assert text != words
        before = after
    assert before["numbers"]["exact"] == 14 * 3072
    check_against_jax(page)


@pytest.mark.parametrize("basis", ["cos", "exp", "expexp"])
def test_every_basis_equals_jax(explorer, basis):
    # positive features run away within ten steps at this D
    page = explorer(settings={"beta": 1, "steps": 3})
    unfold(page)
    page.get_by_label("Features", exact=True).select_option(basis)
    assert rest(page)["settings"]["basis"] == basis
    check_against_jax(page)


def test_five_hundred_patterns_of_bits_equal_jax(explorer):
    # in so much noise no two agree for long
    page = explorer(settings={"collection": "bits", "K": 500, "Y": 3000, "steps": 2})
    found = rest(page)
    assert found["numbers"] == {"exact": 500 * 100, "distributed": 6000}
    assert found["relativeNoise"] is None  # the bounds are for fewer
    expect(page.locator(".r1-of-distributed .r1-muted")).to_have_text(
        re.compile("of the bits wrong")
    )
    check_against_jax(page)


def test_an_overflow_is_said_in_words_with_what_to_do(explorer):
    page = explorer()
    rest(page)
    unfold(page)
    page.get_by_label("Features", exact=True).select_option("exp")
    page.wait_for_function(
        "() => document.querySelector('.w').__rankone_state().overflow !== null"
    )
    expect(page.locator(".r1-found")).to_contain_text(
        "The exp features overflowed at step"
    )
    expect(page.locator(".r1-found")).to_contain_text("Lower β")
    expect(page.locator(".r1-of-distributed .r1-verdict")).to_have_text("✗ overflowed")
    expect(page.locator(".r1-status")).to_contain_text("Distributed: overflowed")
    assert "NaN" not in page.locator(".w").inner_text()


@pytest.mark.parametrize("size", ["laptop", walked("phone")])
def test_questions_wait_for_a_guess_and_then_say_whether_it_was_right(explorer, size):
    page = explorer(size)
    rest(page)
    page.get_by_role("button", name="Too many", exact=True).click()
    expect(page.locator(".r1-ask")).to_contain_text("?")
    # nothing tells yet
    expect(page.locator(".r1-of-exact .r1-verdict")).to_have_text("?")
    assert page.get_by_role("meter").count() == 0
    assert state(page)["mapped"] == 0  # no cell of the last map on the next
    page.get_by_role("button", name="Both find it").click()
    expect(page.locator(".r1-found")).to_contain_text(
        "✗ Not as you said. Even the exact memory returns a blend"
    )
    expect(page.locator(".r1-of-exact .r1-verdict")).to_contain_text("✗ a blend of 1")
    meters = page.get_by_role("meter")
    expect(meters.nth(1)).to_have_attribute(
        "aria-valuetext", re.compile("one valley for many")
    )
    page.get_by_role("button", name="Raise β").click()
    page.get_by_role("button", name="Only the exact one").click()
    expect(page.locator(".r1-found")).to_contain_text("✓ As you said.")
    expect(page.locator(".r1-of-distributed .r1-verdict")).to_have_text(
        "✗ outside every picture"
    )
    expect(meters.nth(0)).to_have_attribute(
        "aria-valuetext", re.compile("its own noise")
    )


def test_pictures_go_in_and_out_by_mouse_and_keyboard(explorer):
    page = explorer(settings=QUICK)
    rest(page)
    unfold(page)
    tile = page.get_by_role("button", name="galaxies", exact=True)
    tile.click()
    assert rest(page)["settings"]["also"] == [12]
    assert tile.get_attribute("aria-pressed") == "true"
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    assert rest(page)["settings"]["also"] == [12, 13]
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    found = rest(page)
    assert found["settings"]["also"] == [13]
    assert found["numbers"]["exact"] == 9 * 3072
    page.get_by_label("True picture", exact=True).select_option(label="petals")
    assert rest(page)["record"]["nearestExact"] == 8
    page.get_by_label("Collection").select_option("bits")
    assert rest(page)["settings"]["K"] == 50
    expect(
        page.get_by_role("button", name="pattern 1 (true picture)")
    ).to_have_attribute("aria-pressed", "true")


def test_an_own_picture_is_stored_survives_K_and_comes_back_by_undo(explorer, tmp_path):
    from PIL import Image

    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 255, (90, 120, 3), np.uint8)).save(
        tmp_path / "mine.png"
    )
    (tmp_path / "broken.png").write_text("no picture")
    page = explorer(settings=QUICK)
    rest(page)
    unfold(page)
    page.get_by_label("Add your own").set_input_files(tmp_path / "mine.png")
    page.wait_for_function(
        "() => document.querySelector('.w').__rankone_state().settings.target === -1"
    )
    assert rest(page)["settings"]["also"] == [-1]
    slide(page, "K", 1)
    found = rest(page)
    assert found["settings"]["also"] == [-1]
    assert found["settings"]["target"] == -1
    expect(page.locator(".r1-of-truth .r1-muted")).to_have_text("stored")
    page.get_by_role("button", name="your picture 1 (true picture)").click()
    expect(page.locator(".r1-of-truth .r1-muted")).to_have_text("not stored")
    page.get_by_role("button", name="Undo").click()
    assert rest(page)["settings"]["also"] == [-1]
    page.get_by_label("Add your own").set_input_files(tmp_path / "broken.png")
    expect(page.locator(".r1-ask")).to_contain_text("broken.png could not be read")


def test_painting_by_mouse_and_by_keyboard_and_restoring(explorer):
    page = explorer(settings=QUICK)
    old = floats(rest(page)["config"]["query"]).reshape(32, 32, 3)
    unfold(page)
    canvas = page.get_by_role("application")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    cell = box["width"] / 32
    page.mouse.move(box["x"] + 4.5 * cell, box["y"] + 4.5 * cell)
    page.mouse.down()
    page.mouse.move(box["x"] + 12.5 * cell, box["y"] + 4.5 * cell)
    page.mouse.up()
    found = rest(page)
    # no answer is given to a question that was painted over
    assert found["preset"] is None
    query = floats(found["config"]["query"]).reshape(32, 32, 3)
    painted = np.any(query != old, axis=2)
    colour = np.array([0xD5, 0x5E, 0x00]) / 255 / np.sqrt(3072)
    np.testing.assert_allclose(
        query[painted], np.broadcast_to(colour, (painted.sum(), 3)), rtol=1e-5
    )
    assert painted[4, 4:12].all()  # a quick stroke has no gaps
    # what is painted over is not known
    assert floats(found["config"]["free"]).reshape(32, 32, 3)[4, 4].all()
    page.get_by_role("button", name="Restore").click()
    canvas.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press(" ")
    restored = floats(rest(page)["config"]["query"]).reshape(32, 32, 3)
    assert np.any(restored != query, axis=2).sum() <= 16
    page.get_by_role("button", name="Clear paint").click()
    np.testing.assert_array_equal(
        floats(rest(page)["config"]["query"]).reshape(32, 32, 3), old
    )


DROP = """([selector, kind]) => {
    const files = new DataTransfer();
    files.items.add(new File(["x"], "x.txt", { type: "text/plain" }));
    const event = new DragEvent(kind, { dataTransfer: files, bubbles: true, cancelable: true });
    document.querySelector(selector).dispatchEvent(event);
    return event.defaultPrevented;
}"""


def test_a_file_dropped_beside_its_targets_opens_nothing(explorer):
    page = explorer(settings=QUICK)
    rest(page)
    for selector, kept in (
        ("canvas[aria-label^=True]", True),
        (".r1-query", True),
        ("input[type=file]", False),
    ):
        assert page.evaluate(DROP, [selector, "dragover"]) is kept
        assert page.evaluate(DROP, [selector, "drop"]) is kept
    # by the query, the second of the three
    expect(page.locator(".r1-ask")).to_contain_text("x.txt could not be read")


def test_where_nothing_is_covered_there_is_nothing_to_find(explorer):
    page = explorer(settings={"fraction": 0})
    assert rest(page)["record"]["errorExact"] == 0
    expect(page.locator(".r1-of-exact .r1-verdict")).to_have_text("nothing to find")
    assert "Infinity" not in page.locator(".w").inner_text()


def test_play_step_and_scrub_go_through_the_descent(explorer):
    page = explorer()
    end = rest(page)
    unfold(page)
    last = shown(page, "distributed")
    scrubber = page.get_by_label("Step shown")
    scrubber.focus()
    page.keyboard.press("Home")
    assert step(page) == 0
    np.testing.assert_array_equal(shown(page, "exact"), shown(page, "query"))
    page.get_by_role("button", name="One step").click()
    page.keyboard.press("l")
    page.keyboard.press("j")
    assert step(page) == 1
    page.keyboard.press("k")
    page.wait_for_function(
        "() => { const s = document.querySelector('.w').__rankone_state(); return "
        "s.step === s.steps; }"
    )
    assert state(page)["steps"] == end["steps"]
    assert shown(page, "distributed") == last
    series = {
        name: np.array(values, float)[1:]
        for name, values in rest(page)["bounds"].items()
    }
    distance = np.array([row[2] for row in end["trace"]], float)[1:]
    assert np.all(distance <= series["local"] * (1 + RTOL))
    expect(page.locator(".r1-plot-note").last).to_contain_text("Printed: 10")


def test_the_address_is_the_difference_and_leads_back(explorer):
    page = explorer()
    rest(page)
    slide(page, "beta", 6)
    beta = state(page)["settings"]["beta"]
    page.wait_for_function(
        "(hash) => location.hash === hash", arg=f"#r1:retrieval?beta={beta:g}"
    )
    page.evaluate("location.hash = '#r1:retrieval?collection=bits&K=120&across=K'")
    page.wait_for_function(
        "() => document.querySelector('.w').__rankone_state().settings.K === 120"
    )
    found = rest(page)["settings"]
    assert (found["collection"], found["size"], found["across"]) == ("bits", 10, "K")


@pytest.mark.parametrize("size", ["laptop", walked("phone")])
def test_it_stands_on_one_screen(explorer, size):
    page = explorer(size)
    rest(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
    top = page.locator(".r1-body").bounding_box()["y"]
    parts = {
        name: page.locator(f".r1-{name}").first.bounding_box()
        for name in ("stage", "map", "three", "readouts")
    }
    if size == "laptop":
        for name, box in parts.items():
            assert box["y"] + box["height"] - top < SIZES[size]["height"], name
        return
    unfold(page)
    page.evaluate("scrollTo(0, 500)")
    strip = page.locator(".r1-stage").bounding_box()
    assert 0 <= strip["y"] < 40  # the pictures stay in sight over what is dragged
    assert strip["height"] < 160


def test_nothing_moves_under_the_hand_that_begins_to_drag(explorer):
    page = explorer("laptop")
    rest(page)
    page.get_by_role("button", name="Black cover").click()
    page.get_by_role("button", name="Just show me").click()
    expect(page.locator(".r1-found")).not_to_be_empty()
    before = page.locator(".r1-map").bounding_box()
    x, y = point(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 20, y)
    assert page.locator(".r1-map").bounding_box() == before
    page.mouse.up()
    assert rest(page)["settings"]["Y"] == pytest.approx(20000, rel=0.05)


@pytest.mark.parametrize("theme", ["light", walked("dark")])
def test_axe_finds_nothing(explorer, theme):
    page = explorer(color_scheme=theme, reduced_motion="reduce")
    rest(page)
    unfold(page)
    assert page.locator(f".w[data-r1-theme={theme}]").count() == 1
    found = Axe().run(page).response["violations"]
    assert [(v["id"], [n["html"] for n in v["nodes"]]) for v in found] == []


def test_two_on_a_page_do_not_meet_and_unmounting_stops_the_worker(explorer):
    page = explorer(widgets=2)
    rest(page, 0)
    page.locator(".w").nth(1).scroll_into_view_if_needed()
    rest(page, 1)
    page.get_by_role("button", name="Ten times Y").nth(1).click()
    assert rest(page, 1)["settings"]["Y"] == 200000
    assert state(page, 0)["settings"]["Y"] == 20000
    names = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(names) == len(set(names))
    assert len(page.workers) == 2
    page.evaluate("document.querySelectorAll('.w')[0].cleanup()")
    for _ in range(300):  # the browser says so when it gets to it
        if len(page.workers) < 2:
            break
        page.wait_for_timeout(100)
    assert len(page.workers) == 1


def test_without_workers_it_computes_on_the_page(explorer):
    page = explorer(
        settings={"steps": 20},
        script="window.Worker = class { constructor() { throw new Error('none here'); } };",
    )
    rest(page)
    assert page.workers == []
    check_against_jax(page)


def test_a_kernel_is_offered_where_there_is_one(explorer):
    page = explorer(kernel=KERNEL)
    found = rest(page)
    unfold(page)
    run = page.get_by_role("button", name="Run in JAX")
    expect(run).to_be_enabled()
    run.click()
    expect(page.locator(".r1-jax")).to_contain_text("40 steps in 0.25 s on test device")
    expect(page.get_by_text("In JAX", exact=True)).to_be_visible()
    asked = page.evaluate("window.asked")[-1]
    assert {name: asked[name] for name in ("beta", "Y", "K", "seed")} == {
        "beta": 60,
        "Y": 20000,
        "K": 8,
        "seed": 0,
    }
    assert asked["eta"] == found["settings"]["eta"]
    slide(page, "beta", 1)
    expect(page.get_by_text("In JAX", exact=True)).to_be_hidden()


def test_without_a_kernel_the_button_says_why_it_is_off(explorer):
    page = explorer(settings=QUICK)
    unfold(page)
    expect(page.get_by_role("button", name="Run in JAX")).to_be_disabled()
    expect(page.locator(".r1-jax")).to_contain_text("Needs a live kernel")


def test_the_book_fetches_finer_photographs_when_a_reader_asks(visit):
    watched = visit()
    page = watched.open("book/chapters/retrieval.html")
    page.locator(".r1-stage").first.scroll_into_view_if_needed()
    expect(page.locator(".r1-found").first).to_contain_text(
        "Here both do", timeout=30_000
    )
    opened = {url for url in watched.requests if "/bytes/" in url}
    page.get_by_role("button", name="Figure 1").click()
    page.get_by_role("button", name="Just show me").click()
    expect(page.locator(".r1-found").first).to_contain_text(
        "Not for this one", timeout=60_000
    )
    assert len({url for url in watched.requests if "/bytes/" in url} - opened) == 1
    assert watched.errors == []


def test_the_book_opens_with_it(visit):
    watched = visit()
    page = watched.open("book/intro.html")
    page.locator(".r1-stage").first.scroll_into_view_if_needed()
    expect(page.locator(".r1-found").first).to_contain_text(
        "Here both do", timeout=30_000
    )
    assert watched.elsewhere == []
    assert watched.errors == []
