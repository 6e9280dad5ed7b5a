"""The Colab notebooks have the text of the pages in plain Markdown; `test_colab.py`
runs them.
"""

import ast
import html
import json
import re
from pathlib import Path

import nbformat
import pytest

from extensions.claims.links import conditions, read_claims, read_formats
from rankone_book.claims import format_of

ROOT = Path(__file__).parents[2]
HTML = ROOT / "_build" / "html"
CHAPTERS = sorted(
    p.stem
    for p in (ROOT / "book" / "chapters").glob("*.md")
    if "kernelspec" in p.read_text("utf-8")
)
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
    return "\n\n".join(
        cell.source for cell in read(chapter).cells if cell.cell_type == "markdown"
    )


def page(chapter: str) -> str:
    return html.unescape(
        (HTML / "book" / "chapters" / f"{chapter}.html").read_text(encoding="utf-8")
    )


def unresolved(text: str) -> list[str]:
    """Marks of MyST that a notebook would show as they are."""
    return [mark for mark in RAW if mark in text]


def dangling(text: str) -> set[str]:
    """Links within a notebook that have no target: an `id` for JupyterLab 4 and VS
    Code, and a `name` for Colab.
    """
    return set(re.findall(r"\]\(#([^)]+)\)", text)) - set(
        re.findall(r'<a id="([^"]+)" name="\1">', text)
    )


def outputs(chapter: str, mime: str) -> list[nbformat.NotebookNode]:
    """Outputs of a notebook that have data of a MIME type."""
    all_outputs = (
        output for cell in read(chapter).cells for output in cell.get("outputs", [])
    )
    return [output for output in all_outputs if mime in output.get("data", {})]


def measured_by(cell: nbformat.NotebookNode) -> dict[str, str]:
    """The printed lines of a cell: figure -> text."""
    printed = "".join(
        output.text for output in cell.outputs if output.output_type == "stream"
    )
    return dict(re.findall(r"^(\S+\.\S+)  +(\S.*?)$", printed, re.MULTILINE))


def test_every_chapter_has_a_notebook() -> None:
    assert CHAPTERS
    assert (
        sorted(path.stem for path in (HTML / "notebooks").glob("*.ipynb")) == CHAPTERS
    )


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_notebook_is_valid_and_plain_markdown(chapter: str) -> None:
    nbformat.validate(read(chapter))
    assert unresolved(prose(chapter)) == []
    assert dangling(prose(chapter)) == set()


@pytest.mark.parametrize("mark", RAW)
def test_unresolved_myst_would_be_seen(mark: str) -> None:
    assert mark in unresolved(f"See {mark} here.")


def test_a_dangling_link_would_be_seen() -> None:
    assert dangling(
        '[a](#x) [b](#y) [c](#z) <a id="x" name="x"></a> <a name="y"></a> <a id="z"></a>'
    ) == {"y", "z"}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_notebook_has_one_section_of_references_and_the_citations_lead_there(
    chapter: str,
) -> None:
    text = prose(chapter)
    cited = set(re.findall(r"\]\(#work-([^)]+)\)", text))
    before, heading, listed = text.partition("\n## References\n")
    assert "## References" not in before + listed
    assert bool(heading) == bool(cited)
    assert cited <= set(
        re.findall(r'^- <a id="work-([^"]+)" name="work-\1">', listed, re.MULTILINE)
    )
    # no citation leads to the site instead of the notebook's own list
    assert not re.search(r"\[[A-Z][\w+]*\d\d\w?\]\(http", text)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_figures_keep_their_alternative_text(chapter: str) -> None:
    text = prose(chapter)
    assert "![](" not in text
    for output in outputs(chapter, "image/png"):
        alternative = output.metadata["image/png"]["alt"]  # for IPython and nbconvert
        assert len(alternative) > 20
        assert output.data["text/plain"] == alternative  # for VS Code
        assert "<summary>The figure in words</summary>" in text  # for all the others


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_an_unexecuted_explorer_shows_a_still_picture_and_links_to_the_live_one(
    chapter: str,
) -> None:
    # a front end without a kernel may fail on a widget
    assert outputs(chapter, "application/vnd.jupyter.widget-view+json") == []
    words = [
        o.data
        for o in outputs(chapter, "text/plain")
        if "Interactive figure" in o.data["text/plain"]
    ]
    assert len(words) == page(chapter).count(
        '<script type="application/vnd.jupyter.widget-view+json">'
    )
    for data in words:
        plain, address = data["text/plain"].split(" live at ")
        assert plain == "Interactive figure: run this cell, or open it"
        assert f'href="{address}"' in data["text/html"]
        assert re.search(
            r'<img src="data:image/webp;base64,[\w+/=]{1000,}" width="\d+" alt="The .{60,}">',
            data["text/html"],
        )
        assert re.search(rf"/book/chapters/{chapter}\.html#r1:\w+\?$", address)
    text = json.dumps([output.data for output in outputs(chapter, "text/plain")])
    assert " object at 0x" not in text


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_notebook_contains_the_pages_figures_conditions_and_formats(
    chapter: str,
) -> None:
    code = [cell for cell in read(chapter).cells if cell.cell_type == "code"]
    printed = {name: text for cell in code for name, text in measured_by(cell).items()}
    if not any("measured(" in cell.source for cell in code):
        assert "compare_with_page" not in "".join(cell.source for cell in code)
        return
    handed = ast.literal_eval(
        code[1].source.partition("compare_with_page(")[2].strip().removesuffix(")")
    )
    assert code[1].metadata["cellView"] == "form"
    assert code[1].metadata["jupyter"]["source_hidden"]
    assert {name: text for name, (text, _, _) in handed.items()} == printed
    expected = conditions(read_claims(ROOT / "book" / "claims.yml"))
    assert {
        name: condition for name, (_, condition, _) in handed.items() if condition
    } == {name: condition for name, condition in expected.items() if name in handed}
    formats = read_formats(ROOT / "book" / "claims.yml")
    assert {name: fmt for name, (*_, fmt) in handed.items()} == {
        name: format_of(name, formats) for name in handed
    }


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_notebook_numbers_what_the_page_numbers(chapter: str) -> None:
    tags = re.findall(r"\\tag\{([\d.]+)\}", prose(chapter))
    assert tags == re.findall(r'<span class="eqno">\(([\d.]+)\)', page(chapter))
    named = re.findall(
        r'<span class="caption-number">([A-Z][a-z]+ [\d.]*\d) *</span>', page(chapter)
    )
    assert [name for name in named if f"**{name}**" not in prose(chapter)] == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_outputs_are_kept(chapter: str) -> None:
    code = [cell for cell in read(chapter).cells if cell.cell_type == "code"][1:]
    assert all(
        cell.execution_count for cell in code if "compare_with_page" not in cell.source
    )
    assert not any(
        output.output_type == "error" for cell in code for output in cell.outputs
    )
    pictures = [
        o for cell in code for o in cell.outputs if "image/png" in o.get("data", {})
    ]
    images = re.findall(
        r'<img[^>]+src="\.\./\.\./_images/[0-9a-f]{64}\.webp"', page(chapter)
    )
    assert len(pictures) == len(images)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_page_links_to_its_notebook(chapter: str) -> None:
    links = re.search(r'<p class="notebook-links">(.*?)</p>', page(chapter), re.S)
    assert links
    assert re.search(
        rf"https://colab\.research\.google\.com/github/[\w.-]+/[\w.-]+/blob/gh-pages/(v\d[\w.]*/)?notebooks/{chapter}\.ipynb",
        links[1],
    )
    assert f'href="../../notebooks/{chapter}.ipynb" download' in links[1]
