"""Tours: the allowed source, the page that is built from it, and the answers to the
guesses.
"""

import re
from html import unescape
from io import StringIO
from pathlib import Path
from urllib.parse import parse_qsl

import node
import pytest
from sphinx.application import Sphinx

from extensions.course.reading import WORD
from extensions.pages.explorer_links import _value, state_of
from rankone_book.widgets import RetrievalExplorer

ROOT = Path(__file__).parents[2]
PAGES = [
    path
    for path in sorted((ROOT / "book").rglob("*.md"))
    if re.search(r"^:::\{tour\}", path.read_text(encoding="utf-8"), re.M)
]
GOOD = """1. {try}`Half is hidden <retrieval?>`. {at}`The *vector* <vector>` heals it.
2. Now the cover is black. Who finds it?

   - [ ] Both memories
   - [x] Only the list

   {try}`Only the list <retrieval?fill=black>`. Black is *far* away.
3. Make both fail.

   > Lower β: {try}`a blend <retrieval?beta=20>`.
"""


def built(tmp_path: Path, tour: str) -> tuple[str, str]:
    """A page with a tour, built by Sphinx alone, and the warnings of the build."""
    source = tmp_path / "source"
    (source / "frontend" / "retrieval").mkdir(parents=True)
    presets = ROOT / "frontend" / "retrieval" / "presets.js"
    (source / "frontend" / "retrieval" / "presets.js").write_bytes(presets.read_bytes())
    page = f"# Page\n\n:::{{tour}} Take it\n{tour}:::\n"
    (source / "page.md").write_text(page, encoding="utf-8")
    index = "# Book\n\n```{toctree}\npage\n```\n"
    (source / "index.md").write_text(index, encoding="utf-8")
    warnings = StringIO()
    app = Sphinx(
        source,
        None,
        tmp_path / "html",
        tmp_path / "doctrees",
        "html",
        confoverrides={
            "extensions": ["myst_nb"],
            "myst_enable_extensions": ["colon_fence", "tasklist"],
            "html_theme": "basic",
        },
        status=None,
        warning=warnings,
    )
    app.setup_extension("extensions.pages.explorer_links")
    app.setup_extension("extensions.pages.tours")
    app.build()
    lines = warnings.getvalue().splitlines()
    messages = [line for line in lines if "No page shows the explorer" not in line]
    return (tmp_path / "html" / "page.html").read_text("utf-8"), "\n".join(messages)


def test_a_tour_is_a_folded_list_with_no_box_and_one_marked_answer(
    tmp_path: Path,
) -> None:
    html, warnings = built(tmp_path, GOOD)
    assert warnings == ""
    fold = re.findall(
        r'<details class="tour" data-tour="retrieval">.*?</details>', html, re.S
    )
    assert len(fold) == 1
    assert "<summary>Take it</summary>" in fold[0]
    assert "checkbox" not in fold[0]
    assert fold[0].count('class="r1-try"') == 3
    part = '<span class="tour-at" data-at=".r1-of-vector">The *vector*</span>'
    assert part in fold[0]
    assert fold[0].count("<blockquote>") == 1
    assert len(re.findall(r'<ul class="[^"]*tour-guess[^"]*">', fold[0])) == 1
    right = re.findall(r'<li class="[^"]*tour-right[^"]*">(.*?)</li>', fold[0], re.S)
    assert [re.sub("<[^>]+>", "", text).strip() for text in right] == ["Only the list"]
    assert 'src="_static/tour.js' in html
    assert 'href="_static/tour.css' in html


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("[x]", "[ ]"), "one box that is ticked, and this has 0"),
        (("[ ] Both", "[x] Both"), "one box that is ticked, and this has 2"),
        (("<retrieval?fill=black>", "<editing?>"), "['editing', 'retrieval']"),
        (("1. {try}", "Words first.\n\n1. {try}"), "one numbered list"),
        (("<vector>", "<wall>"), "speaks of 'wall': the parts are K, Y, bars, beta"),
        (("fill=black", "fill=blue"), "fill"),
    ],
)
def test_a_tour_with_invalid_cards_is_refused(
    tmp_path: Path, change: tuple[str, str], words: str
) -> None:
    _, warnings = built(tmp_path, GOOD.replace(*change))
    assert words in warnings


def test_a_list_of_one_card_is_no_tour(tmp_path: Path) -> None:
    _, warnings = built(tmp_path, GOOD.partition("\n2. ")[0] + "\n")
    assert "2 to 20 cards, and this one has 1" in warnings


def test_the_lead_links_to_the_tour_which_takes_about_five_minutes() -> None:
    text = (ROOT / "book" / "intro.md").read_text(encoding="utf-8")
    lead = text.partition("```{code-cell}")[0]
    assert "[Take the tour.](#tour-intro)" in lead
    tour = re.search(r"^\(tour-intro\)=\n:::\{tour\}(.*?)^:::$", text, re.M | re.S)
    assert tour is not None
    title, _, cards = tour[1].partition("\n")
    assert title.endswith("five minutes")
    words = len(re.sub(r"<[^>]*>|\{\w+\}|- \[.\]", "", cards).split())
    runs = len(re.findall(r"\{try\}`", cards))
    hands = len(re.findall("Drag |Look inside|: move |Your turn", cards))
    # time to read, to watch each run, to look at each card, and to do the tasks of some
    # cards
    seconds = WORD * words + 1.5 * runs + 3 * len(re.findall(r"^\d+\. ", cards, re.M))
    seconds += 20 * hands
    assert 4.25 < seconds / 60 <= 5.5


BRIDGE = """
import { answer as asked } from "../tests/widgets/retrieval_bridge.mjs";
const answer = (job) => asked(["verdicts", job]);
"""
WHO = {
    (True, True): "Both memories",
    (True, False): "Only the exact memory",
    (False, True): "Only the distributed memory",
    (False, False): "Neither",
}


def guesses(path: Path) -> list[tuple[dict[str, object], str]]:
    """Each guess of a page's tours: the settings of its answer, and the ticked
    option.
    """
    text = path.read_text(encoding="utf-8")
    pairs = []
    for tour in re.findall(r"^:::\{tour\}.*?^:::$", text, re.M | re.S):
        for card in re.split(r"^\d+\. ", tour, flags=re.M)[1:]:
            ticked = re.findall(r"- \[x\] (.*)", card)
            if not ticked:
                continue
            answer = card.rpartition("- [")[2]
            target = re.findall(r"<retrieval\?([^>]*)>", answer)[0]
            state_of(ROOT, f"retrieval?{target}")
            settings = {
                key: _value(value) for key, value in parse_qsl(unescape(target))
            }
            pairs.append((settings, ticked[0]))
    return pairs


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_card_sets_what_the_explorer_takes(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for tour in re.findall(r"^:::\{tour\}.*?^:::$", text, re.M | re.S):
        for target in re.findall(r"\{try\}`[^`<]*<([^>]*)>`", tour):
            state_of(ROOT, target)


def test_there_are_tours_with_guesses() -> None:
    assert {"intro.md", "retrieval.md"} <= {path.name for path in PAGES}
    assert all(len(guesses(path)) > 1 for path in PAGES)


def test_the_repair_on_the_last_card_of_the_first_tour_works() -> None:
    explorer = RetrievalExplorer()
    text = (ROOT / "book" / "intro.md").read_text(encoding="utf-8")
    tour = re.findall(r"^:::\{tour\}.*?^:::$", text, re.M | re.S)[0]
    quotation = "".join(re.findall(r"^ +> .*$", tour, re.M))
    targets = re.findall(r"<retrieval\?([^>]*)>", quotation)
    cases = [
        {key: _value(value) for key, value in parse_qsl(target)} for target in targets
    ]
    sheet = {"packed": list(explorer.pictures), **explorer.scale}
    job = {"sheet": sheet, "names": explorer.names, "cases": cases}
    broken, repaired = node.reply(BRIDGE, job)
    assert tuple(broken) == (True, False)
    assert tuple(repaired) == (True, True)
    # the repair keeps all settings of the broken case
    assert all(cases[1][name] == value for name, value in cases[0].items())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_answer_of_each_guess_is_what_the_explorer_finds(path: Path) -> None:
    explorer = RetrievalExplorer()
    sheet = {"packed": list(explorer.pictures), **explorer.scale}
    pairs = guesses(path)
    cases = [settings for settings, _ in pairs]
    job = {"sheet": sheet, "names": explorer.names, "cases": cases}
    for (settings, ticked), right in zip(pairs, node.reply(BRIDGE, job), strict=True):
        assert ticked == WHO[tuple(right)], settings
