"""All targets and pictures of the built pages exist."""

import re
from functools import cache
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

SITE = Path("_build/html")
ADDRESS = re.compile(r'\s(?:href|src|srcset)="([^"]*)"')
OWN = "r1:"  # first characters of an explorer's address, which another test checks


def pages(site: Path = SITE) -> list[Path]:
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


@cache
def places(path: Path) -> set[str]:
    return set(
        map(
            unescape,
            re.findall(r'\s(?:id|name)="([^"]*)"', path.read_text(encoding="utf-8")),
        )
    )


def dead(page: Path) -> list[str]:
    """Addresses on a page that point into the site, but to no file, or to no place in a
    file.
    """
    addresses = []
    for address in map(
        unescape,
        ADDRESS.findall(
            re.sub(r"<script.*?</script>", "", page.read_text(), flags=re.S)
        ),
    ):
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (
            (page.parent / unquote(parts.path)).resolve()
            if parts.path
            else page.resolve()
        )
        place = unquote(parts.fragment)
        known = target.suffix != ".html" or not place or place.startswith(OWN)
        if not target.exists() or not (known or place in places(target)):
            addresses.append(address)
    return addresses


@pytest.mark.parametrize(
    "page", pages(), ids=lambda path: path.relative_to(SITE).as_posix()
)
def test_no_address_is_dead(page: Path) -> None:
    assert dead(page) == []


def below(contents: dict) -> list[tuple[str, list[str]]]:
    """Each page of the contents that has pages below it, and these."""
    chapters = [chapter for part in contents["parts"] for chapter in part["chapters"]]
    return [
        (chapter["file"], [page["file"] for page in chapter["sections"]])
        for chapter in chapters
        if "sections" in chapter
    ]


@pytest.mark.parametrize(
    ("chapter", "others"), below(yaml.safe_load(Path("_toc.yml").read_text()))
)
def test_pages_that_continue_a_chapter_are_listed_in_the_menu_of_each(
    chapter: str, others: list[str]
) -> None:
    for file in (chapter, *others):
        page = SITE / f"{file}.html"
        html = page.read_text(encoding="utf-8")
        links = re.findall(r'class="toctree-l2.*?href="([^"#]*)', html, re.S)
        # a page's own address is `#`, without its name
        targets = {
            (page.parent / link).resolve() if link else page.resolve() for link in links
        }
        assert targets == {(SITE / f"{other}.html").resolve() for other in others}


def test_one_page_lists_the_works_so_that_every_citation_leads_there() -> None:
    """If several pages listed a work, all links to it would lead to the page that is
    read last.
    """
    lists = [
        path.name
        for path in Path("book").rglob("*.md")
        if "```{bibliography}" in path.read_text(encoding="utf-8")
    ]
    assert lists == ["bibliography.md"]


def test_a_dead_address_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "there.html").write_text('<p id="a&lt;b"></p>')
    (tmp_path / "page.html").write_text(
        '<a href="there.html#a%3Cb"></a><a href="there.html#c"></a><img src="no.png"><source srcset="no.webp">'
        '<a href="https://example.org/no"></a><a href="#"></a><a href="#d"></a><script src="no.js"></script>'
    )
    assert dead(tmp_path / "page.html") == ["there.html#c", "no.png", "no.webp", "#d"]
