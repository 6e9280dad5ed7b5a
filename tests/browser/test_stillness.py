"""Explorers without layout shifts: the part that a reader looks at stays in place while
a control changes the words and numbers beside it.
"""

import pytest
from standalone import reveal, settled

from rankone_book.widgets import SurfaceExplorer

SURFACE = SurfaceExplorer()
PICTURES = {"pictures": bytes(SURFACE.pictures), "names": list(SURFACE.names)}
# The browser does not count events of a script as user input, so it reports every shift
# after them.
WATCH = """
    window.moved = [];
    new PerformanceObserver((list) => {
        for (const { value, sources } of list.getEntries())
            window.moved.push([value, sources.map(({ node }) => node?.className ?? '')]);
    }).observe({ type: 'layout-shift', buffered: true });
"""
TURN = """async ([name, kind]) => {
    const control = document.querySelector(`[data-name=${name}]`);
    const values = kind === 'change'
        ? [...control.options].map((option) => option.value)
        : [0, 0.17, 0.33, 0.5, 0.67, 0.83, 1].map((f) => +control.min + f * (control.max - control.min));
    const frame = () => new Promise(requestAnimationFrame);
    for (const value of values) {
        control.value = value;
        control.dispatchEvent(new Event(kind, { bubbles: true }));
        for (let i = 0; i < 3; i++) await frame();
    }
}"""
CONTROLS = [
    ("surface", {}, "beta", "input"),
    ("surface", {}, "covered", "input"),
    ("bench", {"view": "line"}, "way", "input"),
    ("bench", {"view": "plane"}, "way", "input"),
    ("universality", {}, "construction", "change"),
    ("residual", {"view": "waves", "n": 24}, "frequency", "input"),
    ("residual", {"n": 24}, "L", "input"),
]


@pytest.mark.parametrize(("bundle", "settings", "name", "kind"), CONTROLS)
@pytest.mark.parametrize("size", ["laptop", "phone"])
def test_using_a_control_hardly_shifts_the_layout(
    alone, bundle, settings, name, kind, size
):
    traits = PICTURES if bundle == "surface" else None
    page = alone(bundle, size, settings=settings, traits=traits, script=WATCH)
    reveal(page)
    if bundle in ("universality", "residual"):
        settled(page, "!s.waiting && !s.busy && !s.playing")
    page.wait_for_timeout(400)
    page.evaluate("() => { window.moved.length = 0 }")
    page.evaluate(TURN, [name, kind])
    page.wait_for_timeout(600)
    moved = page.evaluate("() => window.moved")
    # Google rates a sum of 0.1 over five seconds as good. Here each single move must be
    # unnoticeable.
    assert [move for move in moved if move[0] > 0.02] == []
