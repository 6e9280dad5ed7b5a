"""Draws the stills of the explorers from the built book: `python tools/draw_stills.py`.

It draws the stills that are missing or were drawn with another bundle. `--all` draws
all of them again, which is necessary after a change of the pages' style.

Each explorer is opened on its page with reduced motion, in the light theme, and shows
the answer that it hides until there is a guess. Its picture, a WebP of at most 32 kB,
and its row in `stills.json` go to `book/_static/stills`;
`book/extensions/pages/stills.py` puts them into the pages.
"""

import io
import json
import math
import re
import sys
import threading
from pathlib import Path
from typing import Any

import chromium
from PIL import Image
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    ViewportSize,
    sync_playwright,
)
from serve import server

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "book"))

from extensions.pages.stills import (
    FOLDER,
    HEIGHTS,
    STATE,
    Shown,
    due,
    rows,
    shown_in,
)

STATES = re.compile(rf'<script type="{re.escape(STATE)}">(.*?)</script>', re.S)
MOST = 32_000  # bytes of a still
SCALES = (2, 1.5, 1)  # pixels of a still per pixel of the page: the largest that fits
QUALITIES = (80, 60, 40, 30, 20, 12)
STANDS = """(model) => {
    const tag = [...document.querySelectorAll('script[type$="widget-view+json"]')]
        .find((each) => JSON.parse(each.textContent).model_id === model);
    const place = tag?.previousElementSibling;
    return place?.querySelector('.r1') ? place : null;
}"""
READY = "(place) => !place.querySelector('[aria-busy=true]')"
ALONE = """(place) => {
    for (let part = place; part.tagName !== 'ARTICLE'; part = part.parentElement)
        for (const other of [...part.parentElement.children])
            if (other !== part && !other.contains(place) && other.tagName !== 'SCRIPT') other.remove();
    scrollTo(0, 0);
}"""  # otherwise the rest of the page would be laid out again for each width
LEFT_OUT = """
.bd-header, .bd-header-article { visibility: hidden; }
.r1-more, .r1-chart-block, .r1-tools, .r1-body:not(.r1-one-screen) > .r1-side { display: none !important; }
.r1-map image { display: none; }
.r1-wall { filter: blur(1.5px) opacity(0.6); }
"""  # controls, which do nothing in a picture; pictures in a map, which appear as it is computed;
# and the sharp edges in a wall, whose thousands exceed the size of a still
WORDS = """(place) => [...place.querySelectorAll('.r1-ask, [role=status]')].map((part) => part.textContent.trim())
    .filter((text) => text).join(' ')"""


def shown_on(site: Path) -> dict[str, tuple[Path, str, Shown]]:
    """Key of each still → the first page that shows its explorer, the id of its model
    there, and the explorer.
    """
    explorers: dict[str, tuple[Path, str, Shown]] = {}
    for page in sorted(site.rglob("*.html")):
        for state in STATES.findall(page.read_text(encoding="utf-8")):
            for model, explorer in shown_in(json.loads(state)).items():
                explorers.setdefault(
                    explorer.key, (page.relative_to(site), model, explorer)
                )
    return explorers


def light(picture: bytes) -> bytes:
    """The picture as WebP, in the largest scale and the best quality that its limit of
    bytes allows.

    Raises:
        ValueError: If the picture exceeds the limit in every scale and quality.
    """
    with Image.open(io.BytesIO(picture)) as image:
        solid = image.convert("RGB")
    for scale in SCALES:
        size = (
            round(solid.width * scale / SCALES[0]),
            round(solid.height * scale / SCALES[0]),
        )
        scaled = solid.resize(size, Image.Resampling.LANCZOS)
        for quality in QUALITIES:
            buffer = io.BytesIO()
            scaled.save(buffer, "WEBP", quality=quality, method=6)
            if buffer.tell() <= MOST:
                return buffer.getvalue()
    raise ValueError(f"picture: {solid.size} pixels do not fit into {MOST:,} bytes")


def opened(
    context: BrowserContext, address: str, model: str, width: int
) -> tuple[Page, Any]:
    """The explorer alone on its page, in a window of this width, when it has finished
    computing.

    A page is loaded for each width, because some charts choose their form when they are
    drawn.
    """
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": 768})
    page.goto(address)
    place = page.wait_for_function(STANDS, arg=model, timeout=60_000).as_element()
    assert place is not None
    place.evaluate(ALONE)
    page.wait_for_timeout(1500)  # it computes when it comes into view
    page.wait_for_function(READY, arg=place, timeout=120_000)
    return page, place


def height(place: Any) -> int:
    """Height of an explorer in pixels, without the space that was reserved for it."""
    place.evaluate("(place) => { place.style.minHeight = 0; }")
    return math.ceil(place.bounding_box()["height"])


def reader(browser: Browser) -> BrowserContext:
    """A browser context with reduced motion and the light theme."""
    size: ViewportSize = {"width": HEIGHTS["desk"], "height": 768}
    context = browser.new_context(
        viewport=size,
        device_scale_factor=SCALES[0],
        color_scheme="light",
        reduced_motion="reduce",
    )
    context.add_init_script(
        "localStorage.setItem('mode', 'light'); localStorage.setItem('theme', 'light')"
    )
    context.route(re.compile("mathjax|plotly"), lambda route: route.abort())
    return context


def draw(
    context: BrowserContext, address: str, model: str, explorer: Shown
) -> tuple[bytes, dict[str, Any]]:
    """The still of one explorer, and its row."""
    high = {}
    for name, width in HEIGHTS.items():  # the picture is taken of the last, "desk"
        page, place = opened(context, address, model, width)
        high[name] = height(place)
        if name != "desk":
            page.close()
    words = " ".join(
        f"The {explorer.name} explorer as it opens. {place.evaluate(WORDS)}".split()
    )
    if (skip := place.query_selector("[data-skip]")) and skip.is_visible():
        skip.click()  # a picture has no button for the answer
        page.wait_for_timeout(1500)
        page.wait_for_function(READY, arg=place, timeout=120_000)
    page.add_style_tag(content=LEFT_OUT)
    picture = place.screenshot()
    box = place.bounding_box()
    assert box is not None
    row = {
        "alt": words,
        "bundle": explorer.bundle,
        "width": round(box["width"]),
        "height": round(box["height"]),
        "heights": high,
    }
    page.close()
    return light(picture), row


def main(folder: str = "_build/html", *, every: bool = False) -> None:
    """Draw the stills that are due, or all, and remove those that no page shows any
    more.
    """
    path = chromium.find() or sys.exit(chromium.ADVICE)
    site = Path(folder).resolve()
    stills = ROOT / FOLDER
    explorers = shown_on(site)
    before = rows(ROOT)
    stale = (
        explorers.keys()
        if every
        else due(before, (explorer for _, _, explorer in explorers.values()))
    )
    pictures: dict[str, tuple[bytes, dict[str, Any]]] = {}
    with server(site) as service, sync_playwright() as playwright:
        threading.Thread(target=service.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        context = reader(browser)
        for key in sorted(stale):
            page, model, explorer = explorers[key]
            pictures[key] = draw(
                context,
                f"http://localhost:{service.server_port}/{page}",
                model,
                explorer,
            )
            print(
                f"{key}: {len(pictures[key][0]) / 1000:.0f} KB, "
                f"{pictures[key][1]['heights']}",
                flush=True,
            )
        browser.close()
        service.shutdown()
    stills.mkdir(exist_ok=True)
    for old in stills.glob("*.webp"):
        if old.stem not in explorers:
            old.unlink()
    for key, (picture, _) in pictures.items():
        (stills / f"{key}.webp").write_bytes(picture)
    entries = before | {key: row for key, (_, row) in pictures.items()}
    table = {key: entries[key] for key in sorted(explorers)}
    text = json.dumps(table, ensure_ascii=False, indent=1) + "\n"
    print(f"{len(pictures)} of {len(explorers)} stills drawn.")
    (stills / "stills.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    folders = [argument for argument in sys.argv[1:] if argument != "--all"]
    main(*folders, every="--all" in sys.argv)
