"""A widget alone on a page, from its committed bundle, for browser tests."""

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

STATIC = Path(__file__).parents[1] / "src" / "rankone_book" / "widgets" / "static"
SIZES = {
    "desktop": {"width": 1280, "height": 900},
    "laptop": {"width": 780, "height": 712},  # an explorer's room in 1366 × 768
    "phone": {"width": 390, "height": 844},
}
ADDRESS = "http://explorer.test/"

PAGE = """<!doctype html><html lang="en" data-widgets="ready"><head><meta charset="utf-8"><title>Explorer</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>body{margin:0}main{padding:8px}
html[data-theme=dark] body{background:#14181e;color:#fff}</style>
</head><body><main><h1>Explorer</h1><h2>Widget</h2><div class="w"></div>MORE</main><script type="module">
import widget from "./widget.js";
const bytes = (text) => new DataView(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
const revived = (_, value) => (value?.base64 === undefined ? value : bytes(value.base64));
const kernel = KERNEL;
for (const el of document.querySelectorAll(".w")) {
  const traits = JSON.parse(TRAITS, revived);
  let hear = null;
  const set = (name, value) => { traits[name] = value; };
  const on = (_, action) => { hear = action; };
  const send = (content, callbacks, buffers) => kernel?.(content, buffers, (...answer) => hear(...answer));
  const model = { get: (name) => traits[name], set, save_changes() {}, on, off() {}, send };
  el.traits = traits;
  el.cleanup = await widget.render({ model, el });
}
document.documentElement.dataset.ready = "yes";
</script></body></html>"""


class Kept:
    """Pages that are reused by later tests, each in its own browser context, because
    reuse halves the time to open a page.

    Args:
        make: Function that opens a new page, for a screen and the options of a
            playwright context.
    """

    def __init__(self, make: Callable[..., Any]) -> None:
        self.make = make
        self.free: dict[str, Any] = {}
        self.busy: list[tuple[str, Any, Any]] = []

    def page(self, *view: str, **options: Any) -> Any:
        """A page that is not in use: a free one of the same view, or a new one."""
        key = json.dumps([view, options], sort_keys=True)
        page = self.free.pop(key, None) or self.make(*view, **options)
        self.busy.append((key, page, page.viewport_size))
        return page

    def release(self) -> None:
        """Empty the pages in use, which stops their scripts, and keep one page of each
        view for other tests.
        """
        for key, page, screen in self.busy:
            if key in self.free:
                page.context.close()
                continue
            page.unroute_all()
            page.goto("about:blank")
            page.emulate_media(media="null")
            page.mouse.move(0, 0)
            if page.viewport_size != screen:
                page.set_viewport_size(screen)
            self.free[key] = page
        self.busy.clear()

    def close(self) -> None:
        """Close all contexts."""
        for page in self.free.values():
            page.context.close()
        self.free.clear()


def page_of(browser: Any, size: str, script: str = "", **options: Any) -> Any:
    """A page in its own context, in which `script` runs before any other script."""
    phone = {"has_touch": True, "is_mobile": True} if size == "phone" else {}
    context = browser.new_context(viewport=SIZES[size], **phone, **options)
    context.add_init_script(script)
    return context.new_page()


@contextmanager
def opener(pages: Kept) -> Iterator[Callable[..., Any]]:
    """A function that opens pages, `new("residual", "phone", settings={…})`; errors in
    a console fail the test at its end.

    A `script` runs in the page before any other. A `kernel` is a function in the page
    that receives the widget's messages: `(content, buffers, answer) => …`. A trait may
    be bytes.

    Args:
        pages: Where the pages come from, as `page_of` makes them.
    """
    errors: list[str] = []
    heard: list[Any] = []

    def note_error(error: Any) -> None:
        errors.append(str(error))

    def note_line(line: Any) -> None:
        if line.type == "error":
            errors.append(line.text)

    def new(
        bundle: str,
        size: str = "desktop",
        *,
        settings: dict[str, Any] | None = None,
        traits: dict[str, Any] | None = None,
        widgets: int = 1,
        script: str = "",
        kernel: str = "null",
        **options: Any,
    ) -> Any:
        page = pages.page(size, script, **options)
        page.on("pageerror", note_error)
        page.on("console", note_line)
        heard.append(page)
        state = json.dumps(
            {"settings": settings or {}} | (traits or {}), default=_as_text
        )
        filled = {
            "KERNEL": kernel,
            "MORE": '<div class="w"></div>' * (widgets - 1),
            "TRAITS": json.dumps(state),
        }
        html = PAGE
        for name, text in filled.items():
            html = html.replace(name, text)
        code = (STATIC / f"{bundle}.js").read_text(encoding="utf8")
        page.route(
            ADDRESS, lambda route: route.fulfill(body=html, content_type="text/html")
        )
        page.route(
            ADDRESS + "*.js",
            lambda route: route.fulfill(body=code, content_type="text/javascript"),
        )
        page.goto(ADDRESS)
        page.wait_for_selector("html[data-ready]")
        return page

    yield new
    for page in heard:
        page.remove_listener("pageerror", note_error)
        page.remove_listener("console", note_line)
    pages.release()
    assert errors == []


def _as_text(value: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(value).decode()}


# As one string, because playwright takes a tenth of a second to send thousands of
# numbers individually.
STATE = """(i) => JSON.stringify(document.querySelectorAll('.w')[i].__rankone_state(), (_, value) => {
    if (ArrayBuffer.isView(value)) return [...value];
    return Number.isFinite(value) || typeof value !== 'number' ? value ?? null : { number: String(value) };
})"""


def state(page: Any, i: int = 0) -> dict[str, Any]:
    """State of the i-th widget."""
    return json.loads(page.evaluate(STATE, i), object_hook=_as_number)


def _as_number(item: dict[str, Any]) -> Any:
    return (
        float(item["number"].replace("Infinity", "inf"))
        if item.keys() == {"number"}
        else item
    )


def settled(page: Any, condition: str, i: int = 0) -> dict[str, Any]:
    """The state of the i-th widget once a condition holds, which is a JavaScript
    expression of the state `s`.

    The condition is evaluated 20 times a second, not in every frame, because the widget
    takes longer to return its state than to draw.
    """
    script = f"(i) => {{ const s = document.querySelectorAll('.w')[i].__rankone_state(); return {condition}; }}"
    page.wait_for_function(script, arg=i, polling=50, timeout=120_000)
    return state(page, i)


def pauser(step: int) -> str:
    """A script for the start of a page, which presses Pause in the first frame beyond
    `step`.

    A press from outside the page is slow, and may come after the end.
    """
    return """{
        const look = () => {
            const button = document.querySelector("button[aria-label='Pause']");
            if (!button || document.querySelector(".w").__rankone_state().step <= STEP) {
                requestAnimationFrame(look);
                return;
            }
            button.click();
            document.documentElement.dataset.paused = "yes";
        };
        requestAnimationFrame(look);
    }""".replace("STEP", str(step))


def paused(page: Any) -> int:
    """The step at which `pauser` has stopped a widget."""
    page.wait_for_selector("html[data-paused]")
    return state(page)["step"]


def check_reader_may_slow(page: Any) -> None:
    """Check that a widget under reduced motion shows the speed "at once", and plays at
    another speed if the reader chooses one.
    """
    speed = page.get_by_label("Speed", exact=True)
    selection = "(s) => s.selectedOptions[0].text"
    assert speed.evaluate(selection) == "at once"
    speed.select_option("10 a second")
    page.get_by_role("button", name="Back to the start").click()
    page.add_script_tag(content=pauser(1))
    page.get_by_role("button", name="Play").click()
    assert 1 < paused(page) < 5
    assert speed.evaluate(selection) == "10 a second"
    page.get_by_role("button", name="Reset").click()
    assert speed.evaluate(selection) == "at once"


def drag(page: Any, locator: Any, by: tuple[float, float], moves: int = 10) -> None:
    """Drag with the mouse from the middle of the located element."""
    box = locator.bounding_box()
    x = box["x"] + box["width"] / 2
    y = box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for i in range(1, moves + 1):
        page.mouse.move(x + by[0] * i / moves, y + by[1] * i / moves)
    page.mouse.up()


def pose(page: Any, key: str, i: int = 0) -> None:
    """Choose a question of the i-th widget, by its button or in the menu behind the
    buttons.
    """
    widget = page.locator(".r1-body").nth(i)
    button = widget.locator(f"[data-preset={key}]")
    if button.count():
        button.click()
        return
    widget.locator("button[data-name=questions]").click()
    widget.locator(f"[data-item={key}]").click()


def reveal(page: Any) -> None:
    """Make every widget show the answer that it hides until the reader has guessed."""
    skips = page.locator("[data-skip]:visible")
    while skips.count():
        skips.first.click()


def slide(page: Any, name: str, presses: int, i: int = 0) -> None:
    """Moves a slider by the keyboard, as a reader does."""
    page.locator(f"input[data-name={name}]").nth(i).focus()
    for _ in range(abs(presses)):
        page.keyboard.press("ArrowRight" if presses > 0 else "ArrowLeft")
