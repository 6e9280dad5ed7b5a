"""The Colab notebooks say what the pages say, in plain Markdown; `test_colab.py` runs them."""

import html
import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
HTML = ROOT / "_build" / "html"
CHAPTERS = sorted(p.stem for p in (ROOT / "book" / "chapters").glob("*.md") if "kernelspec" in p.read_text("utf-8"))
RAW = [
    "{eq}",
    "{prf:",
    "{ref}",
    "{numref}",
    "{doc}",
    "{glue",
    "{cite",
    "{code-cell}",
    ":::",
    "```{",
    ".md)",
    "<cite",
    "??",
]


def read(chapter: str) -> nbformat.NotebookNode:
    return nbformat.read(HTML / "notebooks" / f"{chapter}.ipynb", as_version=4)


def prose(chapter: str) -> str:
    return "\n\n".join(cell.source for cell in read(chapter).cells if cell.cell_type == "markdown")


def page(chapter: str) -> str:
    return html.unescape((HTML / "book" / "chapters" / f"{chapter}.html").read_text(encoding="utf-8"))


def unresolved(text: str) -> list[str]:
    """Marks of MyST that a notebook would show as they are."""
    return [mark for mark in RAW if mark in text]


def dangling(text: str) -> set[str]:
    """Links within a notebook that lead nowhere."""
    return set(re.findall(r"\]\(#([^)]+)\)", text)) - set(re.findall(r'<a name="([^"]+)">', text))


def test_every_chapter_has_a_notebook() -> None:
    assert CHAPTERS
    assert sorted(path.stem for path in (HTML / "notebooks").glob("*.ipynb")) == CHAPTERS


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_notebook_is_valid_and_plain_markdown(chapter: str) -> None:
    nbformat.validate(read(chapter))
    assert unresolved(prose(chapter)) == []
    assert dangling(prose(chapter)) == set()


@pytest.mark.parametrize("mark", RAW)
def test_unresolved_myst_would_be_seen(mark: str) -> None:
    assert mark in unresolved(f"See {mark} here.")


def test_a_dangling_link_would_be_seen() -> None:
    assert dangling('[a](#x) [b](#y) <a name="x"></a>') == {"y"}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_notebook_numbers_what_the_page_numbers(chapter: str) -> None:
    tags = re.findall(r"\\tag\{([\d.]+)\}", prose(chapter))
    assert tags == re.findall(r'<span class="eqno">\(([\d.]+)\)', page(chapter))
    named = re.findall(r'<span class="caption-number">([A-Z][a-z]+ [\d.]+\d) *</span>', page(chapter))
    assert [name for name in named if f"**{name}**" not in prose(chapter)] == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_outputs_are_kept(chapter: str) -> None:
    code = [cell for cell in read(chapter).cells if cell.cell_type == "code"][1:]
    assert all(cell.execution_count for cell in code)
    assert not any(output.output_type == "error" for cell in code for output in cell.outputs)
    pictures = [o for cell in code for o in cell.outputs if "image/png" in o.get("data", {})]
    shown = re.findall(r'<img[^>]+src="\.\./\.\./_images/[0-9a-f]{64}\.png"', page(chapter))
    assert len(pictures) == len(shown)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_page_links_to_its_notebook(chapter: str) -> None:
    links = re.search(r'<p class="notebook-links">(.*?)</p>', page(chapter), re.S)
    assert links
    assert re.search(
        rf"https://colab\.research\.google\.com/github/[\w.-]+/[\w.-]+/blob/gh-pages/notebooks/{chapter}\.ipynb",
        links[1],
    )
    assert f'href="../../notebooks/{chapter}.ipynb" download' in links[1]
