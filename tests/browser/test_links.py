"""Words that set an explorer, followed by a reader: each sets what it says, shows it, and leads back."""

from pathlib import Path
from typing import Any
from urllib.parse import urldefrag

import pytest
from explorer_links import state_of

ROOT = Path(__file__).parents[2]
PAGES = ["intro", *(f"chapters/{path.stem}" for path in sorted((ROOT / "book" / "chapters").glob("*.md")))]
LEADING = [page for page in PAGES if "{try}`" in (ROOT / "book" / f"{page}.md").read_text(encoding="utf-8")]
STATE = "(explorer) => explorer.closest('.r1').__rankone_state()"
IN_VIEW = "(element) => { const { top } = element.getBoundingClientRect(); return top > -1 && top < innerHeight / 2; }"


@pytest.mark.parametrize("path", LEADING)
def test_each_link_sets_what_it_says_and_leads_back(visit: Any, path: str) -> None:
    page = visit(reduced_motion="reduce").open(f"book/{path}.html")
    links = page.locator("a.r1-try")
    assert links.count() > 0
    for link in links.all():
        address, place = urldefrag(link.get_attribute("href"))
        assert not address, "the chapter has no such explorer"
        name, state = state_of(ROOT, place.removeprefix("r1:"))
        explorer = page.locator(f"[data-explorer={name}]").first
        link.click()
        back = explorer.get_by_role("button", name="Back to the text")
        back.wait_for()
        shown = explorer.evaluate(STATE)
        wanted = {key: value for key, value in state.items() if key != "q"}
        assert {key: shown["settings"][key] for key in wanted} == wanted
        assert state.get("q") in (None, shown["preset"])
        assert explorer.evaluate(IN_VIEW)
        back.click()
        assert link.evaluate("(element) => element === document.activeElement")
