"""The mosaic explorer, operated as by a reader, and its results compared with JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from standalone import check_reader_may_slow, paused, pauser, pose, settled, slide
from views import walked

import rankone as ro
from rankone_book.characters import characters, packed_characters

BUNDLE = "mosaic"
SMALL = {"K": 100, "Y": 4096, "beta": 40, "target": 44}
# counts how often pictures have arrived
COUNTED = """{
    const later = Response.prototype.arrayBuffer;
    window.unpacked = 0;
    Response.prototype.arrayBuffer = function () {
        window.unpacked++;
        return later.call(this);
    };
}"""
DONE = "s.exact.done && s.distributed.done && !s.playing && !s.due"


@pytest.fixture
def explorer(alone):
    """Makes a page with the widget alone, with reduced motion."""

    def new(size="desktop", *, settings=None, **options):
        return alone(
            BUNDLE,
            size,
            traits={
                "tiles": packed_characters(0, 2500),
                "others": packed_characters(2500),
            },
            settings=SMALL | (settings or {}),
            **{"reduced_motion": "reduce"} | options,
        )

    return new


def rest(page, i=0):
    """Waits until both runs are computed and displayed; returns the state."""
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => "
        "requestAnimationFrame(done)))"
    )
    return settled(page, DONE, i)


def wall(page, track):
    """The painted wall."""
    return page.evaluate(
        "track => document.querySelector(`.r1-of-${track} .r1-wall`).toDataURL()", track
    )


def light(page, place, track="exact", K=100):
    """The opacity of the middle of a picture's square on a wall; 0 if the square is
    empty.
    """
    n = int(np.ceil(np.sqrt(K)))
    return page.evaluate(
        """([track, row, column, n]) => {
            const canvas = document.querySelector(`.r1-of-${track} .r1-wall`);
            const cell = canvas.width / n;
            const at = [column * cell + 1, row * cell + 1, cell - 2, cell - 2].map(Math.round);
            const { data } = canvas.getContext("2d").getImageData(...at);
            return data.filter((_, i) => i % 4 === 3).reduce((sum, a) => sum + a, 0) / (data.length / 4);
        }""",
        [track, place // n, place % n, n],
    )


def press(page, place, track="exact", K=100):
    """Position of a picture on a wall."""
    n = int(np.ceil(np.sqrt(K)))
    box = page.locator(f".r1-of-{track} .r1-wall").bounding_box()
    cell = box["width"] / n
    x = box["x"] + (place % n + 0.5) * cell
    return x, box["y"] + (place // n + 0.5) * cell


def test_both_runs_end_where_the_package_ends(explorer):
    page = explorer()
    page_state = rest(page)
    s = page_state["settings"]
    Xi = characters(s["K"]) / 16
    known = np.arange(256) < 192
    query = np.where(known, Xi[s["target"]], 0.5 / 16)
    features = ro.RandomFeatures(
        256, s["Y"], key=jax.random.key(s["seed"]), projection="hadamard"
    )
    memories = {
        "exact": ro.MrDAM(jnp.asarray(Xi), s["beta"]),
        "distributed": ro.DrDAM.store(Xi, s["beta"], features),
    }
    for name, memory in memories.items():
        end = ro.retrieve(
            memory,
            query,
            step_size=s["eta"],
            max_steps=s["steps"],
            tol=0,
            clamp=known,
            progress=False,
        )
        # the page computes in float32: errors of steps add up, pixels are 1/16
        np.testing.assert_allclose(page_state[name]["x"], end.x, atol=2e-3 / 16)
        wrong = ((np.asarray(end.x) > 1 / 32) != (Xi[s["target"]] > 1 / 32)).sum()
        assert page_state[name]["wrong"] == wrong


def test_frames_differ_as_the_run_plays_and_both_memories_find_the_picture(explorer):
    page = explorer(
        settings={"Y": 16384}, reduced_motion="no-preference", script=pauser(2)
    )
    early = paused(page)
    assert early < 40
    middle = [wall(page, track) for track in ("exact", "distributed")]
    page.get_by_role("button", name="Play", exact=True).click()
    page_state = rest(page)
    assert page_state["step"] == page_state["steps"] == 40
    for before, track in zip(middle, ("exact", "distributed"), strict=True):
        assert wall(page, track) != before
        assert page_state[track]["wrong"] == 0
    expect(page.locator(".r1-sentence")).to_contain_text("So did the vector.")


def test_more_pictures_are_lit_at_the_start_of_a_run_than_at_its_end(explorer):
    page = explorer(settings={"beta": 30})
    rest(page)
    end = wall(page, "exact")
    lit = [light(page, place) for place in range(100)]
    page.get_by_role("button", name="Back to the start").click()
    before = [light(page, place) for place in range(100)]
    assert np.argmax(lit) == np.argmax(before) == SMALL["target"]
    others = np.arange(100) != SMALL["target"]
    assert np.mean(before, where=others) > np.mean(lit, where=others) + 1
    page.locator("[data-name=scrub]").focus()
    page.keyboard.press("End")
    assert wall(page, "exact") == end


def test_with_reduced_motion_the_reader_can_still_choose_a_playing_speed(explorer):
    page = explorer()
    rest(page)
    page.locator("summary", has_text="More").click()
    check_reader_may_slow(page)


def test_clicks_and_arrow_keys_choose_the_picture_to_retrieve(explorer):
    page = explorer()
    rest(page)
    page.mouse.click(*press(page, 57, "distributed"))
    page_state = rest(page)
    assert page_state["settings"]["target"] == 57
    assert page_state["exact"]["wrong"] == 0
    page.locator(".r1-of-exact .r1-wall").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    assert rest(page)["settings"]["target"] == 66
    page.keyboard.press("Control+z")
    assert rest(page)["settings"]["target"] == 57  # both presses are one gesture
    label = page.locator(".r1-of-exact .r1-wall").get_attribute("aria-label")
    assert label is not None
    assert label.startswith("Wall of 100 pictures of the exact memory. Query: ")


def test_a_tap_chooses_the_picture_to_retrieve(explorer):
    page = explorer("phone")
    rest(page)
    page.locator(".r1-of-exact .r1-wall").scroll_into_view_if_needed()
    page.touchscreen.tap(*press(page, 23))
    assert rest(page)["settings"]["target"] == 23


@pytest.mark.parametrize(
    ("name", "key", "exact", "distributed"),
    [
        ("beta", "Home", False, False),
        ("Y", "Home", True, False),
        ("Y", "End", True, True),
        ("K", "Home", True, True),
    ],
)
def test_at_the_ends_of_sliders_the_expected_memories_find_the_picture(
    explorer, name, key, exact, distributed
):
    page = explorer(settings={"Y": 16384})
    rest(page)
    page.locator(f"input[data-name={name}]").focus()
    page.keyboard.press(key)
    page_state = rest(page)
    assert (page_state["exact"]["wrong"] == 0) == exact
    assert (page_state["distributed"]["wrong"] == 0) == distributed
    law = page_state["law"]["needed"]
    words = page.locator(".r1-sentence").inner_text()
    # Otherwise the vector is not the cause.
    few = exact and page_state["settings"]["Y"] < law
    assert ("more than the" in words) == few


def test_with_ten_thousand_pictures_the_list_succeeds_and_the_vector_fails(explorer):
    page = explorer(settings={"K": 900, "Y": 1024, "beta": 70}, script=COUNTED)
    rest(page)
    assert page.evaluate("() => window.unpacked") == 1
    slide(page, "K", 4)
    page_state = rest(page)
    assert page.evaluate("() => window.unpacked") == 2  # those beyond 2,500
    assert page_state["settings"]["K"] == 10000
    assert page_state["exact"]["wrong"] == 0
    assert page_state["exact"]["spread"] < 1.5
    assert page_state["distributed"]["wrong"] > 0
    assert page_state["law"]["needed"] > 100 * page_state["settings"]["Y"]


# the result of each question, by the law and by trial with the same pictures
@pytest.mark.parametrize(
    ("question", "guess", "right"),
    [
        ("half", "exact", True),
        ("half", "both", False),
        ("cold", "neither", True),
        ("crowd", "exact", True),
    ],
)
def test_a_question_hides_both_runs_until_the_reader_has_guessed(
    explorer, question, guess, right
):
    page = explorer()
    rest(page)
    pose(page, question)
    unlit = wall(page, "exact")
    assert settled(page, "s.pending")["exact"]["steps"] == 0
    page.locator(f"[data-guess={guess}]").click()
    rest(page)
    assert wall(page, "exact") != unlit
    finding = page.locator(".r1-found")
    expect(finding).to_contain_text("✓ As you said." if right else "✗ Not as you said.")
    expect(page.locator("[data-preset=half]")).to_have_attribute(
        "aria-pressed", str(question == "half").lower()
    )


def test_without_workers_the_page_computes_itself(explorer):
    page = explorer(script="delete window.Worker;", settings={"Y": 1024})
    page_state = rest(page)
    assert page_state["exact"]["wrong"] == 0
    assert page_state["distributed"]["steps"] == 40


@pytest.mark.parametrize("theme", ["light", walked("dark")])
def test_it_is_accessible_and_fits_a_phone_in_both_themes(explorer, theme):
    page = explorer("phone")
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    page.wait_for_selector(f".r1[data-r1-theme={theme}]")
    rest(page)
    report = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
    assert report.response["violations"] == [], report.generate_report()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
