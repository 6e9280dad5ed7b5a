"""Takes the README's picture of the built book: `python tools/screenshot.py`."""

import sys
import threading
from pathlib import Path

import chromium
from playwright.sync_api import Page, sync_playwright
from serve import server

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "book" / "_static" / "screenshot.png"


def take(page: Page, address: str, picture: Path, seconds: float = 6) -> None:
    """Open a page, let its widget play for a while, and save a picture of the
    window.
    """
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1000 * seconds)
    page.screenshot(path=picture)


def main(chapter: str = "book/intro.html") -> None:
    """Serve the book, open the page and take the picture."""
    path = chromium.find() or sys.exit(chromium.ADVICE)
    with server(ROOT / "_build" / "html") as site, sync_playwright() as playwright:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"]
        )
        page = browser.new_page(
            viewport={"width": 1280, "height": 900}, device_scale_factor=1
        )
        take(page, f"http://localhost:{site.server_port}/{chapter}", PICTURE)
        browser.close()
        site.shutdown()
    print(f"Wrote {PICTURE.relative_to(ROOT)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
