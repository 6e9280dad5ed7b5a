"""A build without solutions has none of them in a page, in a copy of its source, or in
the search index.
"""

import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from exercise_pages import COUNTS

from extensions.notebooks import solutions

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "book" / "chapters").glob("*_exercises.md"))
CONF = f"""
import sys
sys.path.insert(0, {str(ROOT / "book")!r})
extensions = ["myst_nb", "sphinx_proof", "sphinx_exercise", "sphinx_design", "extensions.notebooks.solutions"]
myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
nb_execution_mode, root_doc, html_sourcelink_suffix = "off", "promise", ""
"""
PROMISE = "# Promise\n\nWith checks and folded\nsolutions, in {doc}`residual_exercises`; without, here.\n"


def removed(text: str) -> str:
    """The solutions in a page's source, extracted in another way than the extension
    does.
    """
    return "\n".join(
        part.split("{solution-end}")[0] for part in text.split("{solution-start}")[1:]
    )


def answers(text: str) -> list[str]:
    """Return values in the functions of the solutions."""
    return re.findall(r"^ +return (?!\.\.\.)(.{8,})", removed(text), re.MULTILINE)


def words(text: str, least: int) -> set[str]:
    """Beginnings of words of at least `least` letters. A search index has words without
    their endings.
    """
    return {
        word[:6].lower()
        for word in re.findall(r"[A-Za-z]+", text)
        if len(word) >= least
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_loses_its_solutions_and_nothing_else(page):
    text = page.read_text(encoding="utf-8")
    cut = solutions.without_solutions(text)
    assert removed(text).count("def ") >= 8
    assert not any(answer in cut for answer in answers(text))
    assert "solution" not in cut.replace("least-squares solution", "").replace(
        "the\nsolution by", ""
    )
    count = COUNTS[page.stem.removesuffix("_exercises")]
    assert cut.count("{exercise}") == cut.count("grader.check(") == count
    pieces = re.split(
        r"```{solution-start}.*?{solution-end}\n```\n", text, flags=re.DOTALL
    )
    assert re.sub(r"\n+", "\n", cut) == re.sub(r"\n+", "\n", "".join(pieces))


def test_a_solution_that_is_not_recognised_stops_the_build():
    with pytest.raises(ValueError, match="a solution that cannot be cut"):
        solutions.without_solutions(
            "````{solution-start} ex\n````\n\nSo.\n\n````{solution-end}\n````\n"
        )


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    """The five pages and a page that mentions solutions, built with and without
    solutions; cells are not executed.
    """
    source = tmp_path_factory.mktemp("source")
    built = tmp_path_factory.mktemp("built")
    for page in PAGES:
        shutil.copy(page, source)
    (source / "conf.py").write_text(CONF, encoding="utf-8")
    (source / "promise.md").write_text(PROMISE, encoding="utf-8")
    for choice in ("yes", "no"):
        command = [
            sys.executable,
            "-m",
            "sphinx",
            "-q",
            "-b",
            "html",
            str(source),
            str(built / choice / "html"),
        ]
        subprocess.run(
            command,
            check=True,
            capture_output=True,
            env=os.environ | {"SOLUTIONS": choice},
        )
    return built / "yes" / "html", built / "no" / "html"


def plain(site: Path, pattern: str) -> str:
    """Text of the files of a site, without tags."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(site.glob(pattern)))
    return "\n".join(
        html.unescape(re.sub(r"<[^>]+>", "", text)) if "html" in pattern else text
        for text in texts
    )


@pytest.mark.parametrize("files", ["*.html", "_sources/*.md"])
def test_a_site_without_solutions_holds_none_of_them(sites, files):
    with_, without = (plain(site, files) for site in sites)
    for page in PAGES:
        page_answers = answers(page.read_text(encoding="utf-8"))
        assert len(page_answers) >= 5
        assert all(answer in with_ for answer in page_answers)
        assert not any(answer in without for answer in page_answers)
    assert "folded" in with_
    assert "folded" not in without
    assert not re.search(r"[Ss]olution(-start| to )", without)


def test_the_search_does_not_find_a_solutions_words(sites):
    with_, without = (plain(site, "searchindex.js") for site in sites)
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    page_words = words("\n".join(map(solutions.without_solutions, texts)), 6)
    only = words("\n".join(map(removed, texts)), 9) - page_words
    assert sum(word in with_ for word in only) > 10
    assert [word for word in only if re.search(rf"\b{word}", without)] == []
