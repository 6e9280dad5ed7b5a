"""Links in the text that set an explorer: their allowed attributes, and their targets
in the pages and the notebooks.
"""

import re
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl, urldefrag

import nbformat
import node
import pytest

from extensions.pages.explorer_links import (
    PURPOSE,
    fragment,
    questions,
    state_of,
    takes,
)

ROOT = Path(__file__).parents[2]
HTML = ROOT / "_build" / "html"
LINK = re.compile(r'<a class="r1-try[^"]*"([^>]*)>(.*?)</a>', re.S)


def links() -> list[tuple[Path, str, str]]:
    """Page, attributes and words of every such link of the built book."""
    pages = [path for path in HTML.rglob("*.html") if "_static" not in path.parts]
    return [
        (path, *link)
        for path in pages
        for link in LINK.findall(path.read_text(encoding="utf-8"))
    ]


def address(attributes: str) -> str:
    return unescape(re.findall(r'href="([^"]*)"', attributes)[0])


def test_a_target_names_an_explorer_and_its_state() -> None:
    state = state_of(ROOT, "editing?geometry=identity&ridge=0.5&k=[1,-0.5]&q=few")
    assert state == (
        "editing",
        {"geometry": "identity", "ridge": 0.5, "k": [1, -0.5], "q": "few"},
    )
    assert state_of(ROOT, "residual") == ("residual", {})


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("nowhere?beta=5", "no explorer 'nowhere'"),
        ("editing?rigde=1", "one of the settings"),
        ("editing?geometry=round", "geometry"),
        ("editing?ridge=-1", "ridge"),
        ("preconditioning?conditionT=31", "conditionT"),
        ("residual?n=2.5", "n"),
        ("editing?q=nothing", "asks no question 'nothing'"),
        ("editing?beta", "beta"),
    ],
)
def test_a_link_to_an_unknown_explorer_setting_or_question_is_refused(
    target: str, words: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        state_of(ROOT, target)


def test_a_link_address_encodes_the_state_in_the_form_that_pages_parse() -> None:
    state = {"q": "few", "k": [1, -0.5], "geometry": "keys", "best": True}
    link = fragment("editing", state)
    assert link.startswith("#r1:editing?q=few&k=%5B1%2C-0.5%5D&")
    assert not set(link) & set(" [],\"'<>")
    assert dict(parse_qsl(link.partition("?")[2]))["best"] == "true"
    assert fragment("editing", {}) == "#r1:editing?"


@pytest.mark.parametrize(
    "explorer",
    [name for name in takes() if (ROOT / "frontend" / name / "presets.js").exists()],
)
def test_the_questions_in_python_are_those_of_the_explorers_script(
    explorer: str,
) -> None:
    bridge = f"""import * as asked from "./{explorer}/presets.js";
        const named = {{ names: ["a", "b", "c"] }};
        const presets = asked.PRESETS ?? asked.presetsOf(named);
        process.stdout.write(JSON.stringify(presets.map(({{ key }}) => key)));"""
    keys = node.answer(bridge, None)
    assert questions(ROOT, explorer) == keys


def test_every_link_of_the_book_leads_to_an_explorer_that_is_there() -> None:
    assert len(links()) > 20
    for page, attributes, _ in links():
        path, place = urldefrag(address(attributes))
        explorer, _ = state_of(ROOT, place.removeprefix("r1:"))
        target = (page.parent / path).resolve() if path else page
        text = target.read_text(encoding="utf-8")
        assert (
            f".{explorer.title()}Explorer" in text or f'"sketch": "{explorer}"' in text
        ), (page, place)
        assert f'title="{PURPOSE}"' in attributes


def test_notebooks_keep_the_words_of_explorer_links_without_the_link() -> None:
    for page, _, words in links():
        notebook = HTML / "notebooks" / f"{page.stem}.ipynb"
        if page.parent.name != "chapters" or "<" in words:
            continue
        text = "\n".join(
            cell.source for cell in nbformat.read(notebook, as_version=4).cells
        )
        assert unescape(words) in " ".join(text.split())
        assert "#r1:" not in text
