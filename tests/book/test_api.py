"""The reference pages show every public name of the package once, with the types as
written in the code.
"""

import doctest
import html
import importlib
import pkgutil
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from sphinx.util.inventory import InventoryFile

import rankone as ro
from extensions.pages import api

ROOT = Path(__file__).parents[2]
HTML = ROOT / "_build" / "html"
PAGES = ["api", "api/library", "api/theory"]
PARTS = {part.name for part in pkgutil.iter_modules(ro.__path__) if part.name[0] != "_"}


@pytest.fixture(scope="module")
def page_of() -> dict[str, str]:
    """Full name of every documented object → the page that it is on."""
    with (HTML / "objects.inv").open("rb") as file:
        kinds = InventoryFile.load(file, "", lambda _, page: page)
    return {
        name: page.partition("#")[0]
        for kind, objects in kinds.items()
        if kind.startswith("py:")
        for name, (_, _, page, _) in objects.items()
    }


def modules() -> list[str]:
    """The explorers, the parts of the library, and the modules of a part that has no
    names of its own.
    """
    names = ["rankone_book.widgets"]
    for part in sorted(PARTS - {"plain"}):  # its page shows the source code
        module = importlib.import_module(f"rankone.{part}")
        inner = (
            []
            if hasattr(module, "__all__")
            else pkgutil.iter_modules(getattr(module, "__path__", []))
        )
        names += [f"rankone.{part}.{each.name}" for each in inner] or [
            f"rankone.{part}"
        ]
    return names


@pytest.mark.parametrize("name", sorted(set(ro.__all__) - PARTS))
def test_a_public_name_is_on_the_first_page(name: str, page_of: dict[str, str]) -> None:
    assert page_of[f"rankone.{name}"] == "book/api.html"


@pytest.mark.parametrize("module", modules())
def test_every_module_and_all_callables_that_it_exports_are_documented(
    module: str, page_of: dict[str, str]
) -> None:
    assert page_of[module] in {f"book/{page}.html" for page in PAGES}
    namespace = importlib.import_module(module)
    names = [
        name
        for name in getattr(namespace, "__all__", [])
        if callable(getattr(namespace, name))
    ]
    assert set(names) <= {name.rpartition(".")[2] for name in page_of}


@pytest.mark.parametrize("page", PAGES)
def test_types_are_as_written_and_no_markup_is_left(page: str) -> None:
    text = (HTML / "book" / f"{page}.html").read_text("utf-8")
    article = html.unescape(
        re.sub(r"<[^>]+>", "", text[text.index("<article") : text.index("</article>")])
    )
    assert re.search(r'Float\[Array, [“"]', article)
    assert (
        re.findall(
            r"jaxtyping\.|jaxlib|:claim-id:|:math:|:param|<function|<class| object at 0x",
            article,
        )
        == []
    )


@pytest.mark.parametrize("page", PAGES)
def test_examples_can_be_pasted(page: str) -> None:
    """In prose, stars, bars and underscores are escaped; in examples they are not."""
    text = (HTML / "book" / f"{page}.html").read_text("utf-8")
    blocks = [
        html.unescape(re.sub(r"<[^>]+>", "", block))
        for block in re.findall(r"(?s)<pre>.*?</pre>", text)
    ]
    examples = [block for block in blocks if ">>> " in block]
    assert [block for block in examples if re.search(r"\\[*|_]", block)] == []


DOCUMENTED = [
    "editing.closed_form",
    "memory.hopfield",
    "theory.divergence",
    "universality.network",
    "writes.memory",
]


@pytest.mark.parametrize("module", DOCUMENTED)
def test_an_example_is_left_as_it_is_when_markup_is_made_of_a_docstring(
    module: str,
) -> None:
    """Without a build: Sphinx gets the examples unchanged, while stars in prose are
    escaped.
    """
    env = SimpleNamespace(temp_data={"as_it_was": None})
    config = SimpleNamespace(claims_file="book/claims.yml")
    app = SimpleNamespace(env=env, srcdir=ROOT, config=config)
    parser = doctest.DocTestParser()
    for test in doctest.DocTestFinder().find(
        importlib.import_module(f"rankone.{module}")
    ):
        lines = (test.docstring or "").split("\n")
        api.to_markup(app, "function", test.name, None, None, lines)
        assert [one.source for one in parser.get_examples("\n".join(lines))] == [
            one.source for one in test.examples
        ]
    prose = [
        "A * B and f_x.",
        "",
        ">>> a = 2 ** 3  # x* -> y_",
        "... # |a|",
        "8",
        "",
        "After * it.",
    ]
    api.to_markup(app, "function", "f", None, None, lines := [*prose])
    assert lines == [r"A \* B and f_x.", *prose[1:-1], r"After \* it."]


def test_the_id_of_a_claim_leads_to_its_row() -> None:
    text = (HTML / "book" / "api.html").read_text("utf-8")
    assert re.search(r'<a [^>]*href="claims\.html#claims-d-eq11"', text)


def test_a_function_that_is_the_default_of_a_field_is_not_shown_as_a_method() -> None:
    text = (HTML / "book" / "api" / "library.html").read_text("utf-8")
    assert 'id="rankone.maml.GradientLearner.adapt"' in text
    assert 'id="rankone.maml.GradientLearner.loss"' not in text
