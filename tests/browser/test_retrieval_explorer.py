"""The retrieval explorer, operated as by a reader, and its results compared with
JAX.
"""

import math
import re

import jax
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from standalone import SIZES, pose, reveal, settled, slide, state
from views import walked

import rankone as ro

BUNDLE = "retrieval"
QUICK = {"Y": 2000}  # for tests that need no number of the approximate memory
# two float32 programs that add in different orders; see tests/widgets/test_retrieval.py
RTOL = 1e-4

# Replacement for the kernel in the page: it answers "hello", and a run that returns the
# query itself.
KERNEL = """(content, buffers, answer) => {
  window.asked = [...(window.asked ?? []), content];
  const reply = { id: content.id, device: "test device", energy: -0.5, steps: content.steps, seconds: 0.25 };
  setTimeout(() => answer(reply, content.kind === "run" ? [new DataView(buffers[1])] : []), 20);
}"""

# When the reader pauses, the page measures the map, which takes a core a minute. Here
# the map is requested without its cells.
UNMEASURED = """{
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (message, ...more) {
        const job = { ...message.job, order: [] };
        post.call(this, message.type === "map" ? { ...message, job } : message, ...more);
    };
}"""


@pytest.fixture
def explorer(alone):
    """Makes a page with the widget alone, with reduced motion and the photographs of a
    `detail`.
    """
    from rankone_book.widgets import RetrievalExplorer

    def new(size="desktop", *, detail=32, settings=None, script=UNMEASURED, **options):
        widget = RetrievalExplorer(detail=detail, **(settings or {}))
        traits = {
            name: getattr(widget, name)
            for name in ("pictures", "finer", "names", "scale", "settings")
        }
        return alone(
            BUNDLE,
            size,
            traits=traits,
            script=script,
            **{"reduced_motion": "reduce"} | options,
        )

    return new


def rest(page, i=0):
    """Waits until all requested steps are computed and displayed; returns the state."""
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => "
        "requestAnimationFrame(done)))"
    )
    return settled(
        page, "s.ended && !s.busy && !s.due && !s.playing && s.computed === s.steps", i
    )


def unfold(page):
    page.locator(".r1-more > summary").first.click()


def ask(page, name):
    """Poses a question from the menu behind the buttons."""
    page.get_by_role("button", name="More questions").first.click()
    page.get_by_role("menuitem", name=name).click()


def point(page):
    """The middle of the point on the map."""
    page.locator(".r1-map").scroll_into_view_if_needed()
    box = page.locator(".r1-map .r1-grip").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def pixels(page, panel):
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
    """A Float32Array, as playwright returns it."""
    return np.array(
        list(values.values()) if isinstance(values, dict) else values, np.float32
    )


def step(page):
    """The displayed step alone, because the whole state has thousands of numbers."""
    return page.evaluate("() => document.querySelector('.w').__rankone_state().step")


def check_against_jax(page, leave=True):
    """The energies of each step and both last states equal those of the package from
    the same query.

    The page is left first, because its explorer would continue to measure the map.
    """
    page_state = state(page)
    states = page.evaluate("() => document.querySelector('.w').__rankone_states()")
    if leave:
        page.goto("about:blank")
    settings = page_state["settings"]
    config = page_state["config"]
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
        retrieval = ro.retrieve(
            memory, query, clamp=None if free is None else ~free, **run
        )
        energies = np.array([row[i] for row in page_state["trace"]], float)[
            : len(retrieval.energies)
        ]
        expected = retrieval.energies[: len(energies)]
        np.testing.assert_allclose(
            energies, expected, atol=RTOL * np.abs(expected).max(), rtol=RTOL
        )
        assert np.linalg.norm(
            floats(states[end]) - retrieval.x
        ) < 10 * RTOL * np.linalg.norm(retrieval.x)


def test_without_motion_it_opens_at_the_end_of_a_run_that_succeeds_and_equals_jax(
    explorer,
):
    page = explorer()
    page_state = rest(page)
    assert page_state["preset"] == "start"
    assert page_state["step"] == page_state["steps"] > 20
    expect(page.locator(".r1-of-exact .r1-verdict")).to_have_text("✓ astronaut")
    expect(page.locator(".r1-of-distributed .r1-verdict")).to_have_text("✓ astronaut")
    expect(page.locator(".r1-sentence")).to_contain_text("Both find the picture.")
    check_against_jax(page)


WATCH = """() => {
    const of = (name) => document.querySelector(`.r1-of-${name} canvas`);
    const sum = (canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return data.reduce((hash, v) => (31 * hash + v) | 0, 7);
    };
    window.pictures = [];
    const look = () => {
        if (!of('query')) return requestAnimationFrame(look);
        const now = [sum(of('distributed')), sum(of('exact')), sum(of('query'))];
        if (String(window.pictures.at(-1)) !== String(now)) window.pictures.push([...now, performance.now()]);
        requestAnimationFrame(look);
    };
    look();
}"""
MOVING = {"reduced_motion": "no-preference"}


def watched(page):
    """Each pair of answers that was painted since the last call, with a flag for the
    query, and the time.
    """
    frames = page.evaluate("window.pictures.splice(0)")
    return [
        (there, here, there == query and here == query, when)
        for there, here, query, when in frames
    ]


def played(frames):
    """Seconds from the query to the last new picture. The pictures between them must
    differ.
    """
    begun = max(i for i, (_, _, query, _) in enumerate(frames) if query)
    steps = frames[begun:]
    assert len({(there, here) for there, here, _, _ in steps}) > 8
    return (steps[-1][3] - steps[0][3]) / 1000


def test_runs_of_both_memories_play_from_query_to_end_when_in_view(explorer):
    page = explorer(script=f"{UNMEASURED}; ({WATCH})();", **MOVING)
    end = rest(page)
    frames = watched(page)
    assert 2 < played(frames) < 8
    for memory in (0, 1):
        assert len({pictures[memory] for pictures in frames}) > 8
    assert end["step"] == end["steps"] == 39
    expect(page.locator(".r1-sentence")).to_contain_text("Both find the picture.")


def test_a_slider_shows_ends_while_it_moves_and_plays_when_it_is_let_go(explorer):
    page = explorer(**MOVING)
    rest(page)
    page.evaluate(WATCH)
    box = page.locator("input[data-name=beta]").bounding_box()
    x = box["x"] + box["width"] * 0.8
    y = box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for i in range(30):
        page.mouse.move(x - 4 * i, y)
    settled(page, "!s.busy")
    frames = watched(page)
    assert len(frames) > 5
    assert not any(query for _, _, query, _ in frames)
    assert state(page)["playing"] is False
    page.mouse.up()
    rest(page)
    # on a machine that is not busy
    assert played(watched(page)) == pytest.approx(0.7, abs=0.6)
    page.keyboard.press("ArrowLeft")  # a key is released too
    rest(page)
    played(watched(page))


def test_without_motion_nothing_plays_and_the_scrubber_stands_under_the_pictures(
    explorer,
):
    page = explorer("laptop")
    page.evaluate(WATCH)
    rest(page)
    slide(page, "K", 2)
    page_state = rest(page)
    assert not any(query for _, _, query, _ in watched(page)[1:])
    scrubber = page.get_by_label("Step shown")
    assert scrubber.bounding_box()["y"] + 20 < SIZES["laptop"]["height"]
    scrubber.focus()
    page.keyboard.press("Home")
    assert step(page) == 0
    page.keyboard.press("End")
    assert step(page) == page_state["steps"]


def test_dragging_the_point_shows_one_end_after_another_and_then_plays(explorer):
    page = explorer(**MOVING)
    before = rest(page)
    page.evaluate(WATCH)
    x, y = point(page)
    page.mouse.move(x, y)
    page.mouse.down()
    steps = []
    for i in range(40):
        page.mouse.move(x + 90 * math.sin(i / 5), y - 50 * math.sin(i / 9))
        steps.append(step(page))
    during = settled(page, "!s.busy")
    frames = watched(page)
    page.mouse.up()
    after = rest(page)
    played(watched(page))
    assert min(steps) > 0
    assert not any(query for _, _, query, _ in frames)
    # the machine computes as many ends as it has time for
    assert len({pictures[:2] for pictures in frames}) > 10
    assert during["ends"] - before["ends"] > 5
    assert during["settings"]["beta"] != 75
    assert during["settings"]["Y"] != 60000
    assert after["settings"] == during["settings"]
    check_against_jax(page, leave=False)
    page.keyboard.press("Control+z")
    assert rest(page)["settings"] == before["settings"]  # one drag is one step back


EXTREMES = {  # ends of each slider, and the verdicts and the sentence there
    "beta": [
        ("Home", "✗ a blend", "✗ a blend", "is too small to separate"),
        ("End", "✓", "✗ lost in noise", "Lower β"),
    ],
    "Y": [
        ("Home", "✓", "✗ lost in noise", "Raise Y"),
        ("End", "✓", "✓", "Both memories"),
    ],
    "K": [
        ("Home", "✓", "✓", "Both memories"),
        ("End", "✗ a blend", "✗ a grainy blend", "Raise β and Y"),
    ],
}


@pytest.mark.parametrize("name", EXTREMES)
def test_at_each_end_of_a_slider_one_sentence_says_what_is_seen_and_why(explorer, name):
    page = explorer()
    for key, exact, distributed, words in EXTREMES[name]:
        page.locator(f"input[data-name={name}]").focus()
        page.keyboard.press(key)
        rest(page)
        expect(page.locator(".r1-of-exact .r1-verdict")).to_contain_text(exact)
        expect(page.locator(".r1-of-distributed .r1-verdict")).to_contain_text(
            distributed
        )
        expect(page.locator(".r1-sentence")).to_contain_text(words)


def strip(page):
    """The width of the strip of T on the page, and its pixels."""
    return page.evaluate(
        """() => {
            const canvas = document.querySelector('.r1-strip');
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            return [canvas.getBoundingClientRect().width, [...data]];
        }"""
    )


def test_storing_a_picture_does_not_lengthen_the_vector_and_removing_it_restores_it(
    explorer,
):
    page = explorer()
    rest(page)
    width, values = strip(page)
    assert len(set(values)) > 20
    page.get_by_role("button", name="rocket", exact=True).click()
    assert rest(page)["numbers"] == {"exact": 7 * 3072, "distributed": 120_000}
    more, sums = strip(page)
    assert more == width
    assert np.abs(np.subtract(sums, values)).max() > 10
    page.get_by_role("button", name="rocket", exact=True).click()
    rest(page)
    # equal up to a rounding of float32
    assert np.abs(np.subtract(strip(page)[1], values)).max() <= 1
    slide(page, "Y", 5)
    rest(page)
    longer, same = strip(page)
    assert longer > width
    assert len(same) > len(values)


def strokes(page):
    """Functions that draw a stroke over the query with the mouse and with a finger."""
    canvas = page.locator(".r1-query")

    def places(points):
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        return [
            (box["x"] + x * box["width"], box["y"] + y * box["height"])
            for x, y in points
        ]

    def mouse(points):
        (x, y), *others = places(points)
        page.mouse.move(x, y)
        page.mouse.down()
        for x, y in others:
            page.mouse.move(x, y, steps=8)
        page.mouse.up()

    def finger(points):
        session = page.context.new_cdp_session(page)
        for i, (x, y) in enumerate(places(points)):
            kind = "touchMove" if i else "touchStart"
            session.send(
                "Input.dispatchTouchEvent",
                {"type": kind, "touchPoints": [{"x": x, "y": y}]},
            )
        session.send(
            "Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []}
        )

    return mouse, finger


@pytest.mark.parametrize("size", ["laptop", "phone"])
def test_a_drawing_can_be_stored_and_is_restored_after_scribbling_over_it(
    explorer, size
):
    page = explorer(size)
    rest(page)
    stroke = strokes(page)[size == "phone"]
    page.get_by_role("button", name="Draw", exact=True).click()
    stroke([(0.25, 0.25), (0.75, 0.25), (0.75, 0.75), (0.25, 0.75), (0.25, 0.25)])
    page.get_by_role("button", name="Store it").click()
    page_state = rest(page)
    assert page_state["settings"]["also"] == [-1]
    assert page_state["numbers"]["exact"] == 7 * 3072
    expect(page.locator(".r1-of-exact .r1-verdict")).to_have_text("nothing to find")
    drawing = np.array(pixels(page, "exact")).reshape(32, 32, 3)
    assert (drawing[8, 8:24] < 150).all(
        axis=1
    ).sum() > 10  # the upper side of the square
    stroke([(0.3, 0.3), (0.7, 0.35), (0.3, 0.4)])
    after = rest(page)
    assert 60 < after["config"]["freedom"] / 3 < 500
    for memory in ("exact", "distributed"):
        expect(page.locator(f".r1-of-{memory} .r1-verdict")).to_contain_text(
            "✓ your picture 1"
        )
        assert (
            np.abs(np.array(pixels(page, memory)).reshape(32, 32, 3) - drawing).mean()
            < 4
        )
    page.get_by_role("button", name="your picture 1 (true picture)").click()
    expect(page.locator(".r1-sentence")).to_contain_text("not stored")


def test_drawing_can_be_cancelled_and_an_empty_drawing_is_not_stored(explorer):
    page = explorer()
    rest(page)
    before = pixels(page, "query")
    page.get_by_role("button", name="Draw", exact=True).click()
    page.get_by_role("button", name="Store it").click()
    expect(page.locator(".r1-sentence")).to_have_text("Draw something first.")
    strokes(page)[0]([(0.2, 0.2), (0.8, 0.8)])
    assert pixels(page, "query") != before
    page.get_by_role("button", name="Cancel").click()
    assert pixels(page, "query") == before
    expect(page.locator(".r1-sentence")).to_contain_text("Both find")
    assert state(page)["settings"]["also"] == []


def test_a_finger_scrolls_over_the_query_until_scribble_is_pressed(explorer):
    page = explorer("phone")
    rest(page)
    finger = strokes(page)[1]
    finger([(0.3, 0.2), (0.6, 0.3)])
    assert rest(page)["config"]["freedom"] == 1536
    page.get_by_role("button", name="Scribble").click()
    finger([(0.3, 0.2), (0.6, 0.3)])
    assert rest(page)["config"]["freedom"] > 1536


def test_the_true_picture_is_shown_when_it_is_asked_for(explorer):
    page = explorer()
    rest(page)
    truth = page.get_by_role("img", name="Original: astronaut")
    expect(truth).to_be_hidden()
    page.get_by_role("button", name="Original").click()
    expect(truth).to_be_visible()
    slide(page, "beta", 1)
    expect(truth).to_be_hidden()


@pytest.mark.parametrize("size", ["laptop", walked("phone")])
def test_each_stop_of_a_slider_spans_three_pixels_and_values_do_not_move_the_slider(
    explorer, size
):
    page = explorer(size)
    rest(page)
    thumb = 16
    tracks = {
        name: page.locator(f"input[data-name={name}]") for name in ("beta", "Y", "K")
    }
    boxes = {name: track.bounding_box() for name, track in tracks.items()}
    for name, track in tracks.items():
        assert (boxes[name]["width"] - thumb) / float(track.get_attribute("max")) >= 3
    assert len({(box["x"], box["width"]) for box in boxes.values()}) == 1
    for name, track in tracks.items():
        for key in ("Home", "End"):
            track.focus()
            page.keyboard.press(key)
            assert track.bounding_box() == boxes[name]


def test_a_press_beside_the_point_and_the_arrow_keys_move_it(explorer):
    page = explorer()
    rest(page)
    x, y = point(page)
    page.mouse.click(x - 300, y - 40)
    settings = rest(page)["settings"]
    assert settings["beta"] < 30
    assert settings["Y"] > 70000
    moved = point(page)
    assert abs(moved[0] - (x - 300)) < 2
    assert abs(moved[1] - (y - 40)) < 2
    for key, name, more in (
        ("ArrowRight", "beta", True),
        ("Shift+ArrowDown", "Y", False),
    ):
        page.keyboard.press(key)
        after = rest(page)["settings"]
        assert (after[name] > settings[name]) is more
        settings = after
    expect(page.locator(".r1-map .r1-grip")).to_have_attribute(
        "aria-valuetext", re.compile(r"^β [\d.]+, Y [\d,]+, K 6$")
    )
    page.get_by_role("button", name="K × Y").click()
    page.locator(".r1-map .r1-grip").focus()
    page.keyboard.press("ArrowRight")
    assert rest(page)["settings"]["K"] == 7


def test_the_map_is_shaded_at_once_and_measured_while_the_reader_rests(explorer):
    page = explorer(settings={"Y": 2000, "K": 2, "steps": 10}, script="")
    first = page.locator(".r1-map rect").evaluate_all(
        "(all) => all.map((r) => r.getAttribute('fill'))"
    )
    assert len(first) == 200
    assert len(set(first)) > 20  # the closed form, before any cell was measured
    page.wait_for_function(
        "() => document.querySelector('.w').__rankone_state().mapped > 12",
        timeout=60_000,
    )
    expect(page.locator(".r1-map image")).to_have_attribute(
        "href", re.compile("^data:image/png")
    )
    page.locator("input[data-name=K]").focus()
    page.keyboard.press("ArrowRight")
    assert state(page)["mapped"] == 0  # another K is another map
    mapped = page.wait_for_function(
        "() => document.querySelector('.w').__rankone_state().mapped"
    ).json_value()
    slide(page, "beta", 1)
    assert rest(page)["mapped"] >= mapped  # another β is another point of the same map


def test_finer_photographs_come_when_they_are_asked_for(explorer):
    page = explorer(detail=64)
    assert rest(page)["config"]["D"] == 3072
    ask(page, "Figure 1")
    page.get_by_role("button", name="Just show me").click()
    page.wait_for_function(
        "() => document.querySelector('.w').__rankone_state().ended", timeout=60_000
    )
    page_state = state(page)
    assert page_state["config"]["D"] == 12288
    np.testing.assert_allclose(
        floats(page_state["config"]["truth"]),
        ro.data.photographs(64)[0] / np.sqrt(12288),
        rtol=1e-5,
        atol=1e-6,
    )


def test_pinning_keeps_a_state_visible_beside_later_ones(explorer):
    page = explorer()
    rest(page)
    picture = pixels(page, "distributed")
    pin = page.locator("button[data-name=pin]")
    pin.click()
    expect(page.locator(".r1-ghosts")).to_be_visible()
    expect(page.locator(".r1-ghosts")).to_contain_text("β 75, Y 60,000, K 6")
    slide(page, "beta", 12)
    rest(page)
    ghost = page.evaluate(
        """() => {
            const canvas = document.querySelectorAll('.r1-ghosts canvas')[1];
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            return [...data].filter((_, i) => i % 4 < 3);
        }"""
    )
    assert ghost == picture
    assert pixels(page, "distributed") != picture
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
    "beta": (5, lambda new, old: new["info"]["pull"] != old["info"]["pull"]),
    "Y": (5, lambda new, old: new["info"]["pull"] > old["info"]["pull"]),
    "K": (6, lambda new, old: new["info"]["roughness"] > old["info"]["roughness"]),
    "eta": (5, lambda new, old: new["trace"][5][0] < old["trace"][5][0]),
    "fraction": (10, lambda new, old: new["info"]["pull"] != old["info"]["pull"]),
    "noise": (5, lambda new, old: new["config"]["query"] != old["config"]["query"]),
    "steps": (-1, lambda new, old: new["steps"] < old["steps"]),
}


def test_every_slider_changes_what_is_computed_as_it_should(explorer):
    page = explorer(settings=QUICK | {"steps": 20, "beta": 30})
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
    assert before["numbers"]["exact"] == 12 * 3072
    check_against_jax(page)


@pytest.mark.parametrize("basis", ["cos", "exp", "expexp"])
def test_every_basis_equals_jax(explorer, basis):
    # at this D, positive features diverge within ten steps
    page = explorer(settings={"beta": 1, "steps": 3})
    unfold(page)
    page.get_by_label("Features", exact=True).select_option(basis)
    assert rest(page)["settings"]["basis"] == basis
    check_against_jax(page)


def test_five_hundred_patterns_of_bits_equal_jax(explorer):
    # with so much noise, two computations agree only for a few steps
    page = explorer(settings={"collection": "bits", "K": 500, "Y": 3000, "steps": 2})
    page_state = rest(page)
    assert page_state["numbers"] == {"exact": 500 * 100, "distributed": 6000}
    assert page_state["relativeNoise"] is None  # the bounds apply to fewer patterns
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
    expect(page.locator(".r1-found")).to_contain_text("lower β")
    expect(page.locator(".r1-of-distributed .r1-verdict")).to_have_text("✗ overflowed")
    expect(page.locator(".r1-status")).to_contain_text("Distributed memory: overflowed")
    assert "NaN" not in page.locator(".w").inner_text()


def test_each_memory_has_one_name_and_says_what_it_holds(explorer):
    page = explorer()
    rest(page)
    boxes = [page.locator(f".r1-of-{name}") for name in ("list", "vector")]
    expect(boxes[0]).to_contain_text(
        "Exact memory: a list, 6 × 3,072 = 18,432 numbers; blue: weight in answer",
        use_inner_text=True,
    )
    expect(boxes[1]).to_contain_text(
        "Distributed memory: one vector T: each picture becomes "
        "2Y = 120,000 numbers; T sums all 6; fixed length",
        use_inner_text=True,  # the words that are left out here are shown on a phone
    )
    expect(page.locator("label", has_text="β selectivity")).to_be_visible()
    slide(page, "K", 2)
    rest(page)
    expect(boxes[0]).to_contain_text("8 × 3,072 = 24,576 numbers")
    expect(boxes[1]).to_contain_text("120,000 numbers")
    words = page.locator(".w").inner_text().lower()
    for other in (
        "sharpness",
        "truth",
        "the list brings",
        "the vector’s answer",
        "pull",
    ):
        assert other not in words


@pytest.mark.parametrize("size", ["desktop", walked("phone")])
def test_verdicts_are_not_cut_off_and_have_two_words_per_line_on_average(
    explorer, size
):
    page = explorer(size)
    rest(page)
    for name, key in (("beta", "Home"), ("beta", "End"), ("K", "End")):
        page.locator(f"input[data-name={name}]").press(key)
        rest(page)
        for memory in ("exact", "distributed"):
            caption = page.locator(f".r1-of-{memory} figcaption")
            cut = "(e) => e.scrollHeight > e.clientHeight || e.scrollWidth > e.clientWidth"
            assert not caption.evaluate(cut)
            verdict = caption.locator(".r1-verdict")
            lines = verdict.evaluate(
                "(e) => { const range = document.createRange(); range.selectNodeContents(e);"
                " return new Set([...range.getClientRects()].map((r) => Math.round(r.y))).size; }"
            )
            assert lines <= len(verdict.inner_text().split()) / 2


def test_a_playing_run_is_described_by_its_steps_and_judged_when_it_has_settled(
    explorer,
):
    page = explorer(settings={"beta": 190})
    end = rest(page)
    scrubber = page.get_by_label("Step shown")
    verdicts = [
        page.locator(f".r1-of-{memory} .r1-verdict")
        for memory in ("exact", "distributed")
    ]
    scrubber.fill("2")
    expect(page.locator(".r1-sentence")).to_contain_text(
        "The distributed memory follows its noise"
    )
    expect(verdicts[0]).to_have_text("on its way")
    # its picture no longer changes, while the other picture does
    scrubber.fill(str(end["steps"] - 5))
    expect(verdicts[0]).to_have_text("✓ astronaut")
    expect(verdicts[1]).to_have_text("on its way")
    page.locator("input[data-name=beta]").press("Home")
    rest(page)
    scrubber.fill("2")
    expect(page.locator(".r1-sentence")).to_contain_text("both memories move")


@pytest.mark.parametrize("size", ["laptop", walked("phone")])
def test_before_the_guess_no_part_of_the_explorer_shows_the_answer(explorer, size):
    page = explorer(size)
    rest(page)
    page.evaluate("document.body.style.paddingBottom = '2000px'")
    long, _ = strip(page)
    pill = page.get_by_role("button", name="Is a short vector enough?", exact=True)
    pill.scroll_into_view_if_needed()
    top = page.evaluate("scrollY")
    pill.click()
    # the question and its guesses are in view, and the page has moved only as far as
    # needed
    for part in (".r1-ask", "[data-guess=none]", "[data-skip]"):
        expect(page.locator(part)).to_be_in_viewport(ratio=1)
    room = page.locator(".r1-say").bounding_box()["height"] + 60
    assert abs(page.evaluate("scrollY") - top) < room
    for memory in ("exact", "distributed"):
        later = page.locator(f".r1-of-{memory}").get_by_text("after your guess")
        expect(later).to_be_visible()
    # the vector has its new length, and shows none of its old entries
    short, blank = strip(page)
    assert short < long / 4
    assert len({tuple(blank[i : i + 4]) for i in range(0, len(blank), 4)}) == 1
    expect(page.locator(".r1-of-vector")).to_contain_text("2,000 numbers")
    # nothing has run, and nothing can be started
    expect(page.locator(".r1-steps")).to_have_text("not run yet")
    for name in ("Play", "One step", "Back to the start", "Look inside"):
        expect(page.get_by_role("button", name=name)).to_be_disabled()
    expect(page.get_by_label("Step shown")).to_be_disabled()
    page.locator(".r1-questions button").first.press("k")
    page.locator(".r1-questions button").first.press("l")
    assert step(page) == 0
    map_ = page.locator("figure:has(> .r1-map)")
    expect(map_).to_contain_text("Drawn once you have guessed.")
    page.get_by_role("button", name="Neither").click()
    page_state = rest(page)
    assert page_state["step"] == page_state["steps"]
    expect(page.get_by_role("button", name="Play")).to_be_enabled()
    expect(page.get_by_text("after your guess").first).to_be_hidden()
    expect(map_).not_to_contain_text("Drawn once")
    assert strip(page)[0] == short
    assert len(set(strip(page)[1])) > 20


def test_a_definition_comes_at_once_and_covers_neither_its_label_nor_the_playback(
    explorer,
):
    page = explorer("laptop")
    rest(page)
    for name in ("selectivity", "frequencies", "pictures"):
        label = page.locator(".r1-three label", has_text=name)
        tip = page.locator(
            f".r1-three .r1-field:has(label:has-text('{name}')) .r1-definition"
        )
        page.evaluate(
            "(tip) => { window.opened = null; const begun = performance.now();"
            " new MutationObserver(() => { window.opened ??= performance.now() - begun; })"
            ".observe(tip, { attributes: true }); }",
            tip.element_handle(),
        )
        label.locator(".r1-term").hover()
        expect(tip).to_be_visible()
        box = tip.bounding_box()
        for other in (label, page.locator(".r1-playback")):
            at = other.bounding_box()
            assert (
                box["y"] >= at["y"] + at["height"]
                or box["y"] + box["height"] <= at["y"]
            )
        page.mouse.move(0, 0)
        expect(tip).to_be_hidden()


@pytest.mark.parametrize("theme", ["dark", walked("light")])
def test_pictures_that_are_not_stored_can_be_seen(explorer, theme):
    page = explorer(color_scheme=theme)
    rest(page)
    tile = page.locator(".r1-of-list .r1-tile[aria-pressed=false]").first
    pixels = np.asarray(picture_of(tile.screenshot()))[4:-4, 4:-4, :3].astype(float)
    ground = np.asarray(picture_of(page.locator(".r1-of-list").screenshot()))[3, 20, :3]
    assert np.abs(pixels - ground).mean() > 20
    assert pixels.std() > 8


def picture_of(png):
    """A screenshot as pixels."""
    import io

    from PIL import Image

    return Image.open(io.BytesIO(png)).convert("RGB")


@pytest.mark.parametrize("size", ["laptop", walked("phone")])
def test_questions_wait_for_a_guess_and_then_say_whether_it_was_right(explorer, size):
    page = explorer(size)
    rest(page)
    page.get_by_role("button", name="Do 24 pictures fit?", exact=True).click()
    expect(page.locator(".r1-ask")).to_contain_text("?")
    # the answer is not shown yet
    expect(page.locator(".r1-of-exact .r1-verdict")).to_have_text("?")
    assert page.get_by_role("meter").count() == 0
    assert state(page)["mapped"] == 0  # the new map has no cell of the old map
    page.get_by_role("button", name="Both memories").click()
    expect(page.locator(".r1-found")).to_contain_text(
        "✗ Not as you said. Even the exact memory returns a blend"
    )
    expect(page.locator(".r1-of-exact .r1-verdict")).to_contain_text(
        "✗ a blend of about 9 pictures"
    )
    meters = page.get_by_role("meter")
    expect(meters.nth(1)).to_have_attribute(
        "aria-valuetext", re.compile("a blend of several")
    )
    page.get_by_role("button", name="Is a larger β better?").click()
    page.get_by_role("button", name="Only the exact memory").click()
    expect(page.locator(".r1-found")).to_contain_text("✓ As you said.")
    expect(page.locator(".r1-of-distributed .r1-verdict")).to_have_text(
        "✗ lost in noise"
    )
    expect(meters.nth(0)).to_have_attribute(
        "aria-valuetext", re.compile("follows the noise")
    )


def test_pictures_go_in_and_out_by_mouse_and_keyboard(explorer):
    page = explorer(settings=QUICK)
    rest(page)
    tile = page.get_by_role("button", name="galaxies", exact=True)
    tile.click()
    assert rest(page)["settings"]["also"] == [12]
    assert tile.get_attribute("aria-pressed") == "true"
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    assert rest(page)["settings"]["also"] == [12, 13]
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page_state = rest(page)
    assert page_state["settings"]["also"] == [13]
    assert page_state["numbers"]["exact"] == 7 * 3072
    unfold(page)
    page.get_by_label("True picture", exact=True).select_option(label="petals")
    assert rest(page)["record"]["nearestExact"] == 6
    page.get_by_label("Collection").select_option("bits")
    assert rest(page)["settings"]["K"] == 50
    expect(
        page.get_by_role("button", name="pattern 1 (true picture)")
    ).to_have_attribute("aria-pressed", "true")


def test_an_uploaded_picture_is_stored_kept_when_K_changes_and_restored_by_undo(
    explorer, tmp_path
):
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
    page_state = rest(page)
    assert page_state["settings"]["also"] == [-1]
    assert page_state["settings"]["target"] == -1
    expect(page.locator(".r1-of-query .r1-verdict")).to_have_text("your picture 1")
    page.get_by_role("button", name="your picture 1 (true picture)").click()
    expect(page.locator(".r1-of-query .r1-verdict")).to_have_text(
        "your picture 1, not stored"
    )
    page.get_by_role("button", name="Undo").click()
    assert rest(page)["settings"]["also"] == [-1]
    page.get_by_label("Add your own").set_input_files(tmp_path / "broken.png")
    expect(page.locator(".r1-ask")).to_contain_text("broken.png could not be read")


def test_mouse_and_keyboard_paint_the_query_and_restore_its_pixels(explorer):
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
    page_state = rest(page)
    # painting over the query ends the question without an answer
    assert page_state["preset"] is None
    query = floats(page_state["config"]["query"]).reshape(32, 32, 3)
    painted = np.any(query != old, axis=2)
    colour = np.array([0x80, 0x80, 0x80]) / 255 / np.sqrt(3072)
    np.testing.assert_allclose(
        query[painted], np.broadcast_to(colour, (painted.sum(), 3)), rtol=1e-5
    )
    assert painted[4, 4:12].all()  # a quick stroke has no gaps
    # painted pixels count as unknown
    assert floats(page_state["config"]["free"]).reshape(32, 32, 3)[4, 4].all()
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
    for selector, handled in (
        (".r1-strip", True),
        (".r1-query", True),
        ("input[type=file]", False),
    ):
        assert page.evaluate(DROP, [selector, "dragover"]) is handled
        assert page.evaluate(DROP, [selector, "drop"]) is handled
    # the query is the second of the three
    expect(page.locator(".r1-ask")).to_contain_text("x.txt could not be read")


def test_where_nothing_is_covered_there_is_nothing_to_find(explorer):
    page = explorer(settings={"fraction": 0})
    assert rest(page)["record"]["errorExact"] == 0
    expect(page.locator(".r1-of-exact .r1-verdict")).to_have_text("nothing to find")
    assert "Infinity" not in page.locator(".w").inner_text()


def test_play_step_and_scrub_go_through_the_descent(explorer):
    page = explorer()
    end = rest(page)
    last = pixels(page, "distributed")
    scrubber = page.get_by_label("Step shown")
    scrubber.focus()
    page.keyboard.press("Home")
    assert step(page) == 0
    np.testing.assert_array_equal(pixels(page, "exact"), pixels(page, "query"))
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
    assert pixels(page, "distributed") == last
    series = {
        name: np.array(values, float)[1:]
        for name, values in rest(page)["bounds"].items()
    }
    distance = np.array([row[2] for row in end["trace"]], float)[1:]
    assert np.all(distance <= series["local"] * (1 + RTOL))
    expect(page.locator(".r1-plot-note").last).to_contain_text("Paper: 10")


def test_the_address_contains_only_changed_settings_and_restores_them(explorer):
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
    settings = rest(page)["settings"]
    assert (settings["collection"], settings["size"], settings["across"]) == (
        "bits",
        10,
        "K",
    )


@pytest.mark.parametrize("size", ["laptop", walked("phone")])
def test_it_stands_on_one_screen(explorer, size):
    page = explorer(size)
    rest(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
    pictures = page.locator(".r1-pictures .r1-picture:visible")
    top = pictures.first.bounding_box()["y"]
    parts = [pictures.nth(i) for i in range(3)]
    parts += [
        page.locator(f"input[data-name={name}]") for name in ("scrub", "beta", "Y", "K")
    ]
    parts += [page.locator(".r1-sentence"), page.get_by_role("button", name="Play")]
    for part in parts:
        box = part.bounding_box()
        assert box["y"] + box["height"] - top < SIZES[size]["height"] - 120, part
    if size == "laptop":
        lefts = [
            page.locator(part).bounding_box()["x"]
            for part in (".r1-query", ".r1-of-list", ".r1-of-exact")
        ]
        assert lefts == sorted(lefts)  # the query, the memory, the answer
        return
    page.evaluate("scrollTo(0, 700)")
    row = page.locator(".r1-pictures").bounding_box()
    assert 0 <= row["y"] < 40  # the pictures stay in view above the dragged control
    assert row["height"] < 180


# Parts that are outside their box, or whose content overflows. The last word below a
# slider may extend beyond the slider's end.
CROWDED = """() => {
    const boxes = document.querySelectorAll(
        '.r1-memory, .r1-set .r1-field, .r1-of-query figcaption, .r1-own');
    return [...boxes].flatMap((box) => {
        const b = box.getBoundingClientRect();
        return [...box.children].filter((part) => !part.matches('.r1-stops')).filter((part) => {
            const r = part.getBoundingClientRect();
            const cut = part.clientWidth > 0 && part.scrollWidth > part.clientWidth + 1;
            return part.checkVisibility() && (cut || r.top < b.top - 1 || r.left < b.left - 1
                || r.right > b.right + 1 || r.bottom > b.bottom + 1);
        }).map((part) => `${box.className}: ${part.className || part.textContent}`);
    });
}"""


@pytest.mark.parametrize("width", [700, 720, 760, 790, 860, 1280])
def test_words_and_pictures_keep_to_their_boxes_at_every_width(explorer, width):
    page = explorer("laptop")
    rest(page)
    page.set_viewport_size({"width": width, "height": 768})
    page.wait_for_function("(width) => innerWidth === width", arg=width)
    assert page.evaluate(CROWDED) == []


# Drawings and captions of a level that overlap the words above or the line below it.
OVERLAID = """() => {
    const shown = (parts) => [...document.querySelectorAll(parts)]
        .filter((part) => part.checkVisibility());
    const box = (part) => part.getBoundingClientRect();
    const [words, foot, machine] = ['.r1-machine-words', '.r1-foot', '.r1-machine']
        .map((part) => box(shown(part)[0]));
    return shown('.r1-level :is(svg, canvas, figcaption, small)')
        .filter((part) => !part.closest('.r1-foot'))
        .filter((part) => box(part).top < words.bottom - 1 || box(part).bottom > foot.top + 1)
        .map((part) => part.outerHTML.slice(0, 80))
        .concat(foot.bottom > machine.bottom ? ['the last line'] : []);
}"""


@pytest.mark.parametrize("width", [700, 720, 760, 790, 860, 1280])
def test_no_drawing_inside_the_vector_overlaps_its_words(explorer, width):
    page = explorer("laptop")
    rest(page)
    page.set_viewport_size({"width": width, "height": 768})
    page.get_by_role("button", name="Look inside").click()
    for level in range(1, 6):
        page.locator(".r1-crumb", has_text=re.compile(f"^{level}$")).click()
        expect(page.locator(".r1-crumb[aria-current]")).to_have_text(str(level))
        assert page.evaluate(OVERLAID) == [], level


@pytest.mark.parametrize(
    "screen", [(1024, 768), (1280, 720), (1366, 1000), (1920, 1080)], ids=str
)
def test_words_and_pictures_keep_to_their_boxes_in_a_hall(explorer, screen):
    page = explorer("laptop")
    rest(page)
    width, height = screen
    page.set_viewport_size({"width": width, "height": height})
    page.locator("[data-name=hall]").click()
    expect(page.locator("dialog.r1-hall .r1-memory").first).to_be_visible()
    page.wait_for_function("(width) => innerWidth === width", arg=width)
    assert page.evaluate(CROWDED) == []


def test_the_map_does_not_move_when_a_drag_begins(explorer):
    page = explorer("laptop")
    rest(page)
    page.get_by_role("button", name="Does the cover matter?").click()
    page.get_by_role("button", name="Just show me").click()
    expect(page.locator(".r1-found")).not_to_be_empty()
    x, y = point(page)
    before = page.locator(".r1-map").bounding_box()
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 20, y)
    assert page.locator(".r1-map").bounding_box() == before
    page.mouse.up()
    assert rest(page)["settings"]["Y"] == pytest.approx(60000, rel=0.05)


def test_a_saved_picture_has_crisp_pixels_the_map_the_settings_and_the_address(
    explorer,
):
    from PIL import Image

    page = explorer("laptop", detail=32)
    rest(page)
    page.get_by_role("button", name="Share and export").click()
    with page.expect_download() as waited:
        page.get_by_role("menuitem", name="Save picture (PNG)").click()
    with Image.open(waited.value.path()) as image:
        saved = np.asarray(image.convert("RGB")).astype(int)
    frame, query = (
        page.locator(part).bounding_box() for part in (".r1-stage-block", ".r1-query")
    )
    map_height = page.locator(".r1-map").bounding_box()["height"]
    # the picture has the map too, and lines of text below
    assert saved.shape[0] > 2 * (frame["height"] + map_height)
    left, top = (round(2 * (12 + query[axis] - frame[axis])) for axis in ("x", "y"))
    side = round(2 * query["width"])
    pixel = saved[top : top + side, left : left + side][: side // 4]
    # no interpolated colours
    assert len(np.unique(pixel.reshape(-1, 3), axis=0)) <= 8 * 32 + 32
    words = saved[-80:-8]
    assert (words.max(axis=2) < 120).sum() > 200


@pytest.mark.parametrize("theme", ["light", walked("dark")])
def test_axe_finds_nothing(explorer, theme):
    page = explorer(color_scheme=theme, reduced_motion="reduce")
    rest(page)
    unfold(page)
    assert page.locator(f".w[data-r1-theme={theme}]").count() == 1
    violations = Axe().run(page).response["violations"]
    assert [(v["id"], [n["html"] for n in v["nodes"]]) for v in violations] == []


def test_two_explorers_on_a_page_are_independent_and_unmounting_stops_the_worker(
    explorer,
):
    page = explorer(widgets=2)
    rest(page, 0)
    page.locator(".w").nth(1).scroll_into_view_if_needed()
    rest(page, 1)
    slide(page, "Y", 3, 1)
    assert rest(page, 1)["settings"]["Y"] > 60000
    assert state(page, 0)["settings"]["Y"] == 60000
    names = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(names) == len(set(names))
    assert len(page.workers) == 2
    page.evaluate("document.querySelectorAll('.w')[0].cleanup()")
    for _ in range(300):  # the browser reports it with a delay
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


def test_with_a_kernel_the_run_can_be_repeated_in_jax(explorer):
    page = explorer(kernel=KERNEL)
    page_state = rest(page)
    unfold(page)
    run = page.get_by_role("button", name="Run in JAX")
    expect(run).to_be_enabled()
    run.click()
    expect(page.locator(".r1-jax")).to_contain_text(
        f"{page_state['settings']['steps']} steps in 0.25 s on test device"
    )
    expect(page.get_by_text("In JAX", exact=True)).to_be_visible()
    request = page.evaluate("window.asked")[-1]
    assert {name: request[name] for name in ("beta", "Y", "K", "seed")} == {
        "beta": 75,
        "Y": 60000,
        "K": 6,
        "seed": 0,
    }
    assert request["eta"] == page_state["settings"]["eta"]
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
    page.locator(".r1-query").first.scroll_into_view_if_needed()
    expect(page.locator(".r1-sentence").first).to_contain_text(
        "Both find", timeout=30_000
    )
    opened = {url for url in watched.requests if "/bytes/" in url}
    ask(page, "Figure 1")
    page.get_by_role("button", name="Just show me").click()
    expect(page.locator(".r1-found").first).to_contain_text(
        "Not for this one", timeout=60_000
    )
    assert len({url for url in watched.requests if "/bytes/" in url} - opened) == 1
    assert watched.errors == []


def test_the_explorer_on_the_first_page_of_the_book_retrieves_the_picture(visit):
    watched = visit()
    page = watched.open("book/intro.html")
    page.locator(".r1-query").first.scroll_into_view_if_needed()
    expect(page.locator(".r1-sentence").first).to_contain_text(
        "Both find", timeout=30_000
    )
    assert watched.elsewhere == []
    assert watched.errors == []


@pytest.mark.parametrize(
    ("size", "screen"),
    [
        ("desktop", {"width": 1366, "height": 768}),
        walked("phone", {"width": 390, "height": 844}),
    ],
)
def test_the_first_screen_of_the_book_shows_the_controls_results_and_tour_link(
    visit, size, screen
):
    page = visit(size, viewport=screen).open("book/intro.html")
    page.locator(".r1-sentence").wait_for()
    parts = [
        ".r1-query",
        ".r1-of-exact canvas",
        ".r1-of-distributed canvas",
        ".r1-strip",
        ".r1-of-distributed .r1-verdict",
    ]
    parts += [f"input[data-name={name}]" for name in ("scrub", "beta", "Y", "K")]
    parts += [".r1-of-list strong", ".r1-of-vector strong", ".r1-sentence"]
    parts += [".r1-of-limit .r1-track", ".r1-of-noise .r1-track"]
    parts += [".r1-question", "a[href='#tour-intro']"]
    parts += [".r1-cover input", ".r1-ask"] if size == "desktop" else []
    for part in parts:
        box = page.locator(part).first.bounding_box()
        assert box["y"] + box["height"] < screen["height"], part
    # the text says why the vector is useful, and what to do
    sentence = page.locator(".r1-sentence").first
    expect(sentence).to_contain_text("Each frequency (random weights) estimates")
    expect(sentence).to_contain_text("Can you make one memory fail?")
    query = page.locator(".r1-query").first.bounding_box()
    if size == "desktop":  # no empty place under the query
        own = page.locator(".r1-own").bounding_box()
        assert own["y"] - query["y"] - query["height"] < 30
    code = page.locator(".cell.tag_code-below details.hide").bounding_box()
    assert code["y"] > page.locator(".r1-body").bounding_box()["y"]


def test_each_level_leads_to_the_section_that_derives_it(visit):
    page = visit().open("book/intro.html")
    page.locator(".r1-sentence").wait_for()
    page.get_by_role("button", name="Look inside").click()
    addresses = page.locator(".r1-foot a").evaluate_all(
        "(all) => all.map((a) => a.href)"
    )
    assert len(addresses) == len(LEVELS)
    for address in sorted(set(addresses)):
        page.goto(address)
        heading = page.locator(f"[id='{address.split('#')[1]}']")
        expect(heading.first).to_be_attached()


LEVELS = ["Frequency", "Waves", "Vector T", "Estimate Ŝ", "Step"]


def inside(page, level):
    """Opens the vector and goes to a level with the keyboard."""
    page.get_by_role("button", name="Look inside").press("Enter")
    for _ in range(level):
        page.keyboard.press("Enter")
    expect_level(page, level)


def expect_level(page, level):
    """Expects the given level in the crumbs."""
    expect(page.locator(".r1-crumbs [aria-current]")).to_have_text(str(level + 1))
    expect(page.locator(".r1-crumbs strong")).to_have_text(LEVELS[level])


def line(page):
    """The formula of the displayed level, or the description of the element under the
    pointer.
    """
    return page.locator(".r1-formula:visible").inner_text()


def looked(page, step=None, frequency=0):
    """The numbers that the machine shows for a step, once they have arrived, without
    the pictures.
    """
    handle = page.wait_for_function(
        """([step, frequency]) => {
            const { step: now, machine } = document.querySelector('.w').__rankone_state();
            const { look } = machine;
            if (look?.step !== (step ?? now) || look.frequency !== frequency) return null;
            const { state, next, weights, products, slope, enlarged, numbers: _, ...others } = look;
            return { ...others, phases: [...look.phases], running: [...look.running] };
        }""",
        arg=[step, frequency],
    )
    return handle.json_value()


def painted(page):
    """A screenshot of the machine, to be compared with another."""
    return page.locator(".r1-machine").screenshot(animations="disabled")


def test_a_tap_on_a_word_opens_its_definition_which_stays(explorer):
    """It stays longer than for a pointer, because a finger leaves at once."""
    page = explorer("phone", settings=QUICK)
    rest(page)
    for name in ("limit", "noise"):
        row = page.locator(f".r1-bars .r1-of-{name}")
        row.locator(".r1-term").tap()
        page.wait_for_timeout(600)
        expect(row.locator(".r1-definition")).to_be_visible()


def test_the_answer_to_a_guess_comes_into_view(explorer):
    page = explorer("laptop")
    rest(page)
    page.evaluate("document.querySelector('.w').style.cssText = 'width: 750px'")
    page.evaluate("document.body.style.paddingBottom = '2000px'")
    page.get_by_role("button", name="Is a short vector enough?", exact=True).click()
    said = page.locator(".r1-retrieval .r1-say")
    # the guesses are at the end of the screen, and the answer is longer
    said.evaluate("(e) => scrollBy(0, e.getBoundingClientRect().bottom - innerHeight)")
    page.locator("[data-guess]:visible").first.evaluate("(e) => e.click()")
    rest(page)
    expect(said).to_contain_text("Without visible grain, the vector needs")
    page.wait_for_function(
        "(e) => e.getBoundingClientRect().bottom <= innerHeight + 1",
        arg=said.element_handle(),
        timeout=5000,
    )


def test_a_tap_on_a_definition_closes_it_and_presses_nothing_below(explorer):
    page = explorer("phone", settings=QUICK)
    rest(page)
    page.evaluate(
        "() => { window.pressed = []; document.addEventListener('click', (event) =>"
        " window.pressed.push(event.target.className), true); }"
    )
    row = page.locator(".r1-bars .r1-of-limit")
    tip = row.locator(".r1-definition")
    row.locator(".r1-term").tap()
    expect(tip).to_be_visible()
    tip.tap()
    expect(tip).to_be_hidden()
    assert page.evaluate("window.pressed") == ["r1-term", "r1-definition"]


@pytest.mark.parametrize("size", ["laptop", walked("phone")])
def test_the_vector_opens_level_by_level_and_closes_again(explorer, size):
    page = explorer(size, settings=QUICK)
    rest(page)
    before = page.locator(".r1-body").bounding_box()
    opener = page.get_by_role("button", name="Look inside")
    if size == "phone":
        opener.tap()
    else:
        inside(page, 0)
    machine = page.locator(".r1-machine")
    pictures = []
    for level in range(len(LEVELS)):
        expect_level(page, level)
        # buttons for the way out and for all other levels
        expect(page.locator(".r1-crumbs button")).to_have_count(len(LEVELS))
        expect(page.locator(".r1-level:visible")).to_have_count(1)
        looked(page)
        pictures.append(painted(page))
        door = page.locator(".r1-door:visible")
        box, around = door.bounding_box(), machine.bounding_box()
        assert box["x"] >= around["x"]
        assert box["x"] + box["width"] <= around["x"] + around["width"]
        assert box["y"] + box["height"] <= around["y"] + around["height"]
        if level < len(LEVELS) - 1:
            door.tap() if size == "phone" else page.keyboard.press("Enter")
    assert len(set(pictures)) == len(LEVELS)
    if size == "laptop":  # it replaces the query and the two memories in the same box
        assert page.locator(".r1-body").bounding_box() == before
    answer = page.locator(".r1-of-distributed canvas").bounding_box()
    around = machine.bounding_box()
    if size == "laptop":
        assert answer["x"] > around["x"] + around["width"]
    else:  # the answers, the machine and all sliders fit on a screen
        assert 0 <= answer["y"] < answer["y"] + answer["height"] < around["y"]
        last = page.locator("input[data-name=K]").bounding_box()
        assert around["y"] + around["height"] < last["y"]
        assert last["y"] + last["height"] < SIZES[size]["height"]
    for level in reversed(range(len(LEVELS) - 1)):
        page.keyboard.press("Escape")
        expect_level(page, level)
    page.keyboard.press("Escape")
    expect(machine).to_be_hidden()
    expect(opener).to_be_focused()
    expect(page.locator(".r1-strip")).to_be_visible()
    inside(page, 3)
    page.get_by_role("button", name="Level 1: Frequency").click()
    expect_level(page, 0)
    page.get_by_role("button", name="Back to the pictures").click()
    expect(machine).to_be_hidden()


def test_an_address_opens_the_vector_and_the_next_one_closes_it(explorer):
    page = explorer()
    rest(page)
    page.evaluate("location.hash = '#r1:retrieval?inside=2'")
    expect_level(page, 2)
    # opening the vector does not end the question, and the focus does not move
    assert rest(page)["preset"] == "start"
    assert page.evaluate("document.activeElement === document.body")
    page.locator(".r1-machine").press("Escape")
    page.wait_for_function("() => location.hash === '#r1:retrieval?inside=1'")
    slide(page, "K", 1)
    assert rest(page)["settings"]["inside"] == 1
    page.wait_for_function("() => location.hash === '#r1:retrieval?K=7&inside=1'")
    page.evaluate("location.hash = '#r1:retrieval?beta=60'")
    expect(page.locator(".r1-machine")).to_be_hidden()
    assert rest(page)["settings"]["inside"] == -1
    expect(page.locator("input[data-name=K]")).to_be_focused()


def test_inside_the_vector_the_numbers_are_those_of_the_package(explorer):
    page = explorer(settings=QUICK)
    end = rest(page)
    inside(page, 0)
    page.keyboard.press("ArrowRight")
    machine = looked(page, frequency=1)
    said = []
    for _ in LEVELS:
        said.append(f"{page.locator('.r1-machine-words').inner_text()} {line(page)}")
        page.keyboard.press("Enter")
    states = page.evaluate("() => document.querySelector('.w').__rankone_states()")
    Xi = np.float32(ro.data.photographs(32)[:6] / np.sqrt(3072))
    Y = end["settings"]["Y"]
    beta = end["settings"]["beta"]
    features = ro.RandomFeatures(3072, Y, key=jax.random.key(0), projection="hadamard")
    memory = ro.DrDAM.store(Xi, beta, features)
    x = floats(states["xHat"])
    phi = np.sqrt(Y) * np.asarray(features.phi(np.sqrt(beta) * np.stack([*Xi, x])))
    T = np.sqrt(Y) * np.asarray(memory.T)
    # errors of a phase of a few tens in float32, and of a sum of six terms
    close = {"rtol": RTOL, "atol": 10 * RTOL}
    phases = [*machine["phases"], machine["phase"]]
    np.testing.assert_allclose(np.cos(phases), phi[:, 1], **close)
    np.testing.assert_allclose(np.sin(phases), phi[:, Y + 1], **close)
    np.testing.assert_allclose(machine["entry"]["cos"], T[1], **close)
    np.testing.assert_allclose(machine["entry"]["sin"], T[Y + 1], **close)
    S = float(memory.partition(x))
    np.testing.assert_allclose(machine["S"], S, **close)
    exact = np.exp(-beta * float(ro.MrDAM(Xi, beta).energy(x)))
    np.testing.assert_allclose(machine["exact"], exact, **close)
    # the same numbers in the page's text, rounded as there
    texts = [f"{machine['phase']:.2f}", f"{phi[-1, 1]:.2f}", f"{T[1]:.2f}", f"{S:.3g}"]
    for words, text in zip(said[:4], texts, strict=True):
        assert text.replace("-", "−") in words


def test_inside_the_vector_controls_and_sliders_update_the_drawing(explorer):
    page = explorer(settings=QUICK)
    end = rest(page)
    inside(page, 3)
    frames = [painted(page)]
    scrubber = page.get_by_label("Step shown")
    for at in (0, 5):
        scrubber.fill(str(at))
        looked(page, at)
        frames.append(painted(page))
    page.get_by_role("button", name="Next frequency").click()
    looked(page, 5, 1)
    frames.append(painted(page))
    page.locator(".r1-machine").press("ArrowLeft")
    page.locator(".r1-machine").press("ArrowLeft")
    last = end["settings"]["Y"] - 1
    looked(page, 5, last)
    for name in ("beta", "K", "Y"):
        slide(page, name, -3)
        page_state = rest(page)
        at = min(last, page_state["settings"]["Y"] - 1)
        running = looked(page, page_state["step"], at)["running"]
        assert running[-2] == page_state["settings"]["Y"]
        frames.append(painted(page))
    assert len(set(frames)) == len(frames)


def test_inside_the_vector_the_reader_takes_each_step(explorer):
    page = explorer(settings=QUICK | {"steps": 10})
    rest(page)
    inside(page, 4)
    page.get_by_label("Step shown").fill("7")
    pictures = []
    for at in (7, 8, 9):
        assert not looked(page, at)["atRest"]
        pictures.append(painted(page))
        page.get_by_role("button", name="Take this step").click()
    looked(page, 10)
    pictures.append(painted(page))
    assert len(set(pictures)) == 4
    expect(page.locator(".r1-formula:visible")).to_contain_text("step size η = 0.2")
    assert step(page) == 10
    expect(page.locator(".r1-playback output")).to_have_text("step 10 / 10")


def test_at_the_end_of_a_run_the_last_level_can_restart_it(explorer):
    page = explorer()
    end = rest(page)
    assert end["step"] > 20
    inside(page, 4)
    expect(page.locator(".r1-machine-words")).to_contain_text("At rest")
    page.get_by_role("button", name="From the first step").click()
    looked(page, 0)
    page.get_by_role("button", name="Take this step").click()
    looked(page, 1)
    assert step(page) == 1


def followed(page):
    """The text about the followed pixel, as its row, its column, and the numbers."""
    number = r"\(?(−?[\d.]+)\)?"
    form = rf"Row (\d+), column (\d+), red: {number} [×+] {number} = {number}"
    row, column, *numbers = re.fullmatch(form, line(page)).groups()
    return int(row), int(column), [float(n.replace("−", "-")) for n in numbers]


def test_one_number_is_followed_through_weights_and_steps(explorer):
    page = explorer(settings=QUICK)
    end = rest(page)
    inside(page, 0)
    looked(page)
    formula = line(page)
    row = page.locator(".r1-row:visible")
    row.focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
    down, right, (pixel, weight, product) = followed(page)
    assert (down, right) == (16, 16)  # from the middle, which the first press marks
    rings = row.locator(".r1-brush:visible")
    expect(rings).to_have_count(3)
    states = page.evaluate("() => document.querySelector('.w').__rankone_states()")
    i = 3 * (32 * (down - 1) + right - 1)
    features = ro.RandomFeatures(
        3072, end["settings"]["Y"], key=jax.random.key(0), projection="hadamard"
    )
    unit = np.asarray(features.phi(np.eye(3072, dtype=np.float32)[i]))
    omega = np.arctan2(unit[end["settings"]["Y"]], unit[0])
    x = floats(states["xHat"])
    assert pixel == pytest.approx(x[i] * np.sqrt(3072), rel=0.05, abs=5e-3)
    assert weight == pytest.approx(omega / np.sqrt(3072), rel=0.05)
    assert product == pytest.approx(x[i] * omega, rel=0.05)
    box = row.locator("canvas").nth(2).bounding_box()
    cell = box["width"] / 32
    page.mouse.click(box["x"] + 4.5 * cell, box["y"] + 20.5 * cell)
    assert followed(page)[:2] == (21, 5)
    page.keyboard.press("ArrowRight")  # the press has moved the focus there
    assert followed(page)[:2] == (21, 6)
    page.get_by_label("Step shown").focus()
    expect(rings).to_have_count(0)
    assert line(page) == formula
    page.get_by_label("Step shown").fill("3")
    page.get_by_role("button", name="Level 5: Step").click()
    looked(page, 3)
    before = pixels(page, "distributed")
    page.mouse.move(box["x"] + 16.5 * cell, box["y"] + 25.5 * cell)
    down, right, (pixel, move, after) = followed(page)
    i = 3 * (32 * (down - 1) + right - 1)
    assert after == pytest.approx(pixel + move, abs=2e-3)
    assert 255 * pixel == pytest.approx(before[i], abs=1)
    page.mouse.move(0, 0)
    expect(rings).to_have_count(0)
    page.get_by_role("button", name="Take this step").click()
    looked(page, 4)
    assert 255 * after == pytest.approx(pixels(page, "distributed")[i], abs=1)


@pytest.mark.parametrize("size", ["laptop", walked("phone")])
def test_dots_bars_and_thumbnails_of_one_picture_light_up_together(explorer, size):
    page = explorer(size, settings=QUICK)
    end = rest(page)
    inside(page, 1)
    phases = looked(page)["phases"]
    formula = line(page)
    lit = page.locator(".r1-level:visible .r1-lit")
    dot = page.locator(".r1-level:visible svg").nth(1).locator("[data-m='3']").first
    dot.tap() if size == "phone" else dot.hover()
    expect(lit).to_have_count(3)  # on the circle and on both waves
    assert line(page).startswith(f"temple: phase {phases[3]:.2f}".replace("-", "−"))
    page.get_by_role("button", name="What T holds").click()
    parts = page.locator(".r1-both:visible")
    parts.focus()
    for m, name in enumerate(("astronaut", "cat", "coffee")):
        page.keyboard.press("ArrowRight")
        assert line(page).startswith(f"{name}: phase")
        assert set(lit.evaluate_all("(all) => all.map((e) => e.dataset.m)")) == {str(m)}
    expect(lit).to_have_count(4)  # two bars, the thumbnail and the column around them
    page.keyboard.press("j")
    looked(page, end["step"] - 1)
    expect(lit).to_have_count(4)  # also after redrawing
    page.get_by_role("button", name="Level 2: Waves").click()
    expect(lit).to_have_count(0)
    assert line(page) != formula


def test_the_curve_of_the_estimate_is_never_clipped_and_its_labels_are_apart(explorer):
    page = explorer()
    rest(page)
    inside(page, 3)
    scrubber = page.get_by_label("Step shown")
    for at in (0, 6):
        scrubber.fill(str(at))
        look = looked(page, at)
        running = np.reshape(look["running"], (-1, 2))
        assert running[:, 1].max() > 1.3 * max(look["exact"], look["S"])
        path = page.locator(".r1-sum-level path.r1-line").first.get_attribute("d")
        heights = [float(y) for y in re.findall(r"[ML][\d.]+ (-?[\d.]+)", path)]
        assert len(heights) == len(running)
        slope, offset = np.polyfit(running[:, 1], heights, 1)
        # drawn to a tenth of a pixel, and not clipped
        np.testing.assert_allclose(slope * running[:, 1] + offset, heights, atol=0.1)
    boxes = page.locator(".r1-sum-level svg text").evaluate_all(
        "(all) => all.map((e) => e.getBoundingClientRect().toJSON())"
    )
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            across = min(a["right"], b["right"]) - max(a["left"], b["left"])
            down = min(a["bottom"], b["bottom"]) - max(a["top"], b["top"])
            assert min(across, down) <= 2, (
                a,
                b,
            )  # lines of text touch by their leading


@pytest.mark.parametrize("size", ["desktop", "laptop", "phone"])
def test_inside_the_vector_no_label_is_smaller_than_eleven_pixels(explorer, size):
    page = explorer(size, settings=QUICK)
    rest(page)
    inside(page, 0)
    for _ in LEVELS:
        looked(page)
        sizes = page.locator(".r1-machine").evaluate(
            """(machine) => [...machine.querySelectorAll(
                "text, p, small, figcaption, a, button, li")]
                .filter((e) => e.getClientRects().length > 0)
                .map((e) => {
                    const { a, b } = e.getScreenCTM?.() ?? { a: 1, b: 0 };
                    return Number.parseFloat(getComputedStyle(e).fontSize) * Math.hypot(a, b);
                })"""
        )
        assert len(sizes) > 8
        assert min(sizes) >= 11
        page.keyboard.press("Enter")


def test_each_tile_shows_the_weight_of_its_picture_at_the_step_on_show(explorer):
    page = explorer(settings={"beta": 30})
    end = rest(page)
    tiles = page.locator(".r1-weighed")
    expect(tiles).to_have_count(6)
    states = page.evaluate("() => document.querySelector('.w').__rankone_states()")
    Xi = np.float32(ro.data.photographs(32)[:6] / np.sqrt(3072))
    for at, x in ((end["step"], states["x"]), (0, end["config"]["query"])):
        page.get_by_label("Step shown").fill(str(at))
        d = ((floats(x) - Xi) ** 2).sum(axis=1)
        p = np.asarray(jax.nn.softmax(-end["settings"]["beta"] / 2 * d))
        weights = tiles.evaluate_all(
            "(all) => all.map((e) => Number(e.style.getPropertyValue('--r1-weight')))"
        )
        np.testing.assert_allclose(weights, p, atol=10 * RTOL)
        expect(tiles.nth(1)).to_have_attribute(
            "title", f"cat: weight {100 * p[1]:.0f} %"
        )
    # the name stays, the weight describes it
    expect(page.get_by_role("button", name="cat", exact=True)).to_be_visible()
    page.get_by_role("button", name="cat", exact=True).click()
    rest(page)
    expect(tiles).to_have_count(5)
    pose(page, "beta")
    expect(tiles).to_have_count(0)
    assert "weight" not in page.locator(".r1-tile").first.get_attribute("title")
    reveal(page)
    rest(page)
    expect(tiles).to_have_count(6)


def test_the_zones_of_a_gauge_are_as_high_as_the_gauge(explorer):
    page = explorer()
    rest(page)
    band = page.locator(".r1-band").first
    expect(band).to_be_visible()
    height = band.evaluate("(e) => e.clientHeight")
    zones = band.locator(".r1-zone").evaluate_all(
        "(all) => all.map((e) => [e.clientHeight, e.offsetTop])"
    )
    assert zones == [[height, 0]] * 3


@pytest.mark.parametrize("size", ["laptop", walked("phone")])
def test_labels_under_beta_mark_where_pictures_mix_the_vector_works_and_noise_wins(
    explorer, size
):
    page = explorer(size)
    rest(page)
    of = ".r1-field:has([data-name=beta]) .r1-stretch"
    low, between, high = (
        page.locator(f"{of}.r1-{side}") for side in ("low", "between", "high")
    )
    track = page.locator("input[data-name=beta]")
    for stretch, word in ((low, "pictures mix"), (between, "works"), (high, "noise")):
        expect(stretch).to_have_text(word)
        expect(stretch).to_be_visible()
    around = track.bounding_box()
    boxes = [stretch.bounding_box() for stretch in (low, between, high)]
    ends = [box["x"] + box["width"] for box in boxes]
    assert boxes[0]["x"] == pytest.approx(around["x"] + 8, abs=1)
    assert ends[2] == pytest.approx(around["x"] + around["width"] - 8, abs=1)
    for end, box in zip(ends, boxes[1:], strict=False):
        assert end == pytest.approx(box["x"], abs=1)
    for box in boxes:
        assert box["y"] >= around["y"] + around["height"] / 2 + 4
    # the words are inside their stretches
    text = """(e) => {
        const range = document.createRange();
        range.selectNodeContents(e);
        const { left, right } = range.getBoundingClientRect();
        return [left, right];
    }"""
    left, right = between.evaluate(text)
    assert boxes[1]["x"] <= left < right <= ends[1]
    assert right <= high.evaluate(text)[0]
    # A press sets β to the middle of the stretch in which both memories work.
    press = "tap" if size == "phone" else "click"
    getattr(between, press)()
    state = rest(page)
    assert state["settings"]["beta"] == stop_of(between)
    for name in ("exact", "distributed"):
        expect(page.locator(f".r1-of-{name}")).to_contain_text("✓ astronaut")
    assert track.bounding_box() == around
    borders = stop_of(low), stop_of(high)
    getattr(low, press)()
    beta = rest(page)["settings"]["beta"]
    assert beta == borders[0] < borders[1]
    page.keyboard.press("Escape")  # the definition that a key has opened
    for factor, mixes in ((0.8, True), (1.25, False)):
        page.evaluate(f"location.hash = '#r1:retrieval?beta={factor * beta:.1f}'")
        page.wait_for_function(
            """(b) => Math.abs(
                document.querySelector('.w').__rankone_state().settings.beta - b) < 0.1""",
            arg=factor * beta,
        )
        assert (rest(page)["record"]["mixedExact"] > 2) is mixes
    pose(page, "beta")
    for stretch in (low, between, high):
        expect(stretch).to_be_hidden()


def stop_of(stretch):
    """The value of beta that a press on a stretch sets, from its title."""
    return float(re.search(r"β = ([\d.]+\d)", stretch.get_attribute("title"))[1])


def bars(page):
    """Lengths of the two bars in pixels, and their text for screen readers."""
    page.wait_for_function(
        "() => document.getAnimations().every((a) => a.playState !== 'running')"
    )
    return *(
        page.locator(f".r1-of-{name} .r1-strength").bounding_box()["width"]
        for name in ("limit", "noise")
    ), page.locator(".r1-bars").get_attribute("aria-label")


def test_the_bars_follow_a_drag_and_say_whether_the_vector_will_fail(explorer):
    page = explorer()
    rest(page)
    limit, noise, words = bars(page)
    assert limit > noise > 0
    assert re.fullmatch(
        r"Noise 0\.\d\d, limit 0\.\d\d\. Noise below limit: it should work\.", words
    )
    expect(page.locator(".r1-of-distributed .r1-verdict")).to_contain_text("✓")
    around = page.locator(".r1-bars").bounding_box()
    # during the drag, β lowers the limit and changes nothing else
    box = page.locator("input[data-name=beta]").bounding_box()
    page.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"], box["y"] + box["height"] / 2, steps=5)
    weaker, same, words = bars(page)
    assert weaker < noise == same
    assert words.endswith("Noise above limit: it should fail.")
    page.mouse.up()
    rest(page)
    expect(page.locator(".r1-of-distributed .r1-verdict")).to_contain_text("✗")
    expect(page.locator(".r1-of-exact .r1-verdict")).to_contain_text("✓")
    # the remedy that the first page suggests
    page.evaluate("location.hash = '#r1:retrieval?beta=150&Y=200000'")
    rest(page)
    limit, quieter, words = bars(page)
    assert quieter < same
    assert limit > quieter
    expect(page.locator(".r1-of-distributed .r1-verdict")).to_contain_text("✓")
    # if even the exact memory fails, no noise is allowed
    page.evaluate("location.hash = '#r1:retrieval?K=24'")
    rest(page)
    none, louder, words = bars(page)
    assert none == 0
    assert louder > quieter
    assert words.endswith("The vector fails even without noise.")
    expect(page.locator(".r1-of-exact .r1-verdict")).to_contain_text("✗")
    now = page.locator(".r1-bars").bounding_box()
    assert [now[k] for k in ("x", "width", "height")] == [
        around[k] for k in ("x", "width", "height")
    ]


def test_the_bars_are_hidden_until_the_guess_and_exist_for_photographs_only(explorer):
    page = explorer(settings=QUICK)
    rest(page)
    pose(page, "beta")
    assert bars(page) == (0, 0, "Noise and its limit. Shown after your guess.")
    page.get_by_role("button", name="Neither").click()
    rest(page)
    assert bars(page)[2].endswith("Noise above limit: it should fail.")
    page.evaluate("location.hash = '#r1:retrieval?collection=bits'")
    expect(page.locator(".r1-bars")).to_have_attribute(
        "aria-label", "Noise and its limit. Known for photographs only."
    )
    # for bits, two sliders are below the buttons, and cover none of them
    own = page.locator(".r1-own").bounding_box()
    cover = page.locator(".r1-cover").bounding_box()
    query = page.locator(".r1-query").first.bounding_box()
    assert query["y"] + query["height"] <= own["y"] + 1
    assert own["y"] + own["height"] <= cover["y"] + 5  # the margin around a track


def test_a_question_with_a_guess_closes_the_vector(explorer):
    page = explorer(settings=QUICK)
    rest(page)
    inside(page, 2)
    page.get_by_role("button", name="Is a larger β better?").click()
    expect(page.locator(".r1-machine")).to_be_hidden()
    expect(page.get_by_role("button", name="Look inside")).to_be_disabled()


def test_for_features_other_than_sincos_the_vector_cannot_be_opened(explorer):
    page = explorer(settings=QUICK | {"basis": "cos"})
    rest(page)
    page.get_by_role("button", name="Look inside").click()
    expect(page.locator(".r1-machine-words")).to_contain_text("Choose “sincos”")
    expect(page.locator(".r1-machine-body")).to_be_hidden()


@pytest.mark.parametrize("moves", [True, False])
def test_levels_open_with_an_animation_unless_reduced_motion_is_set(explorer, moves):
    page = explorer(settings=QUICK, **(MOVING if moves else {}))
    rest(page)
    page.evaluate(
        """() => {
            const { animate } = Element.prototype;
            window.moved = 0;
            Element.prototype.animate = function (...how) {
                window.moved++;
                return animate.apply(this, how);
            };
        }"""
    )
    inside(page, 3)
    page.keyboard.press("Escape")
    # five visited levels, and the curve of the fourth
    assert page.evaluate("window.moved") == (6 if moves else 0)


@pytest.mark.parametrize("theme", ["light", walked("dark")])
def test_axe_finds_nothing_inside_the_vector(explorer, theme):
    page = explorer(settings=QUICK, color_scheme=theme)
    rest(page)
    inside(page, 0)
    for _ in LEVELS:
        looked(page)
        violations = Axe().run(page).response["violations"]
        assert [(v["id"], [n["html"] for n in v["nodes"]]) for v in violations] == []
        page.keyboard.press("Enter")
