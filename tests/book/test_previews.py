"""The cards of links, symbols and computed numbers, and the ranking of definitions in
the search.
"""

import doctest
import io
import json
import re
from pathlib import Path

import nbformat
import node
import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from extensions.claims import measured_lines
from extensions.pages import definitions, notation, previews, written_pages
from extensions.pages.formulas import typesetter

ROOT = Path(__file__).parents[2]
HTML = ROOT / "_build" / "html"
CONF = """
extensions = [
    "myst_nb",
    "sphinx_proof",
    "extensions.pages.formulas",
    "extensions.pages.previews",
    "extensions.pages.definitions",
]
html_math_renderer = "formulas"
nb_execution_mode = "off"
myst_enable_extensions = ["dollarmath", "colon_fence"]
"""
CLAIMS = """
- {id: T-1.2, includes: [T-thm1.2, T-eq4.2], source: null, test: null, chapter: thm-halves, widget: null,
   figures: {half: .2f, half2}, holds: {half: "< 1"}, statement: "A half is $x=\\\\tfrac12$.", status: sharper}
"""
PAGES = {
    "index": """# Book
```{toctree}
part/one
claims
notation
```
Of {eq}`eq:one`, {prf:ref}`thm-halves` and {ref}`sec-halves`; not of [elsewhere](https://a.org/b#c).
""",
    "claims": "# Claims\n```{claims-table}\n```\n",
    "notation": r"""# Notation
:::{table} First part
:name: tbl-notation-first

| Symbol | Meaning | Shape | In the code |
|---|---|---|---|
| $\beta>0$ | sharpness | scalar | `sharp` |
| $T$, $\hat D_i$ | memory | | |
:::

## Letters that look alike
- $T$ is a vector here, a **matrix** there.
""",
}
TEXT = r"""# One

(sec-halves)=
## Halves, first

In $\beta$ and $\beta=2$ and [$T$](../notation.md).

$$x=\tfrac12$$ (eq:one)

:::{prf:theorem} On log-sum-exp
:label: thm-halves

There is $x$, see {eq}`eq:one` and {ref}`sec-halves`.
:::
"""
CODE = """for n in (2, 3):
    measured("T-1.2",
             {f"half{n}": n})
measured("T-1.2", half=0.5);"""
QUOTE = "It is {glue:text}`T-1.2.half`, and {glue:text}`T-1.2.half2`, [and {glue:text}`T-1.2.half`](../claims.md)."
TABLE = """

| What was checked | Figure |
|---|---|
| part of $y$ {printed}`T-1.2` | {glue:text}`T-1.2.half` |
| the same | {glue:text}`T-1.2.half2` |
"""


def recorded(key: str, text: str, number: float):
    record = {
        "name": key,
        "mime_prefix": "application/papermill.record/",
        "number": number,
    }
    data = {"application/papermill.record/text/plain": repr(text)}
    return nbformat.v4.new_output(
        "display_data", data=data, metadata={"scrapbook": record}
    )


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Builds a book of four pages with `quote` as the last sentence, and returns the
    site and the warnings.
    """

    def make(quote: str) -> tuple[Path, str]:
        source = tmp_path_factory.mktemp("source")
        (source / "book").mkdir()
        (source / "part").mkdir()
        (source / "conf.py").write_text(CONF)
        (source / "book" / "claims.yml").write_text(CLAIMS)
        (source / "book" / "phrases.yml").write_text("T-1.2.half2: four times that\n")
        (source / "_toc.yml").write_text(
            "parts:\n- {caption: First part, chapters: [{file: part/one}]}\n"
        )
        for name, text in PAGES.items():
            (source / f"{name}.md").write_text(text)
        outputs = [
            recorded("T-1.2.half", "0.5", 0.5001),
            recorded("T-1.2.half2", "2", 2),
            recorded("other", "1", 1),
        ]
        cell = nbformat.v4.new_code_cell(CODE, execution_count=1, outputs=outputs)
        cells = [
            nbformat.v4.new_markdown_cell(TEXT),
            cell,
            nbformat.v4.new_markdown_cell(quote),
        ]
        page = nbformat.v4.new_notebook(
            cells=cells, metadata={"language_info": {"name": "python"}}
        )
        nbformat.write(page, source / "part" / "one.ipynb")
        warnings = io.StringIO()
        with docutils_namespace():
            Sphinx(
                source,
                source,
                source / "site",
                source / "trees",
                "html",
                {},
                None,
                warnings,
            ).build()
        typesetter.close()
        return source / "site", warnings.getvalue()

    return make


@pytest.fixture(scope="module")
def site(build) -> Path:
    folder, warnings = build(QUOTE + TABLE)
    assert not warnings
    return folder


def cards(site: Path, page: str) -> dict[str, str]:
    """A page's cards, each formula as its TeX."""
    script = (site / "_static" / "previews" / f"{page}.js").read_text()
    formula = r'<(span|div) class="math[^>]* data-tex="([^"]*)"[^>]*>(.*?)<mjx-container.*?</mjx-container></\1>'
    entries = json.loads(script.removeprefix("previews(").removesuffix(");\n"))
    return {
        key: re.sub(formula, r"$\2$\3", card, flags=re.DOTALL)
        for key, card in entries.items()
    }


def test_the_claims_page_names_figures_as_the_chapter_does_and_links_each_row(
    site: Path,
) -> None:
    page = (site / "claims.html").read_text()
    row = page[page.index('id="claims-t-1-2"') :]
    assert re.search(r'part of <span class="math[^>]* data-tex="y".*?: 0\.50</p>', row)
    assert "printed differently" not in row
    # "the same" has no meaning without the row above it
    assert "<p>four times that: 2</p>" in row
    assert (
        '<a class="headerlink" href="#claims-t-1-2" aria-label="Permanent link to T-1.2">'
        in row
    )


@pytest.mark.parametrize("module", [definitions, notation, written_pages])
def test_the_examples_in_docstrings_run(module) -> None:
    assert doctest.testmod(module).attempted
    assert not doctest.testmod(module).failed


def test_a_link_shows_what_it_leads_to(site: Path) -> None:
    page_cards = cards(site, "index")
    assert not any("a.org" in link for link in page_cards)
    assert page_cards["part/one.html#equation-eq-one"].startswith(
        r'$x=\tfrac12$<span class="eqno">(1)</span>'
    )
    section = page_cards["part/one.html#sec-halves"]
    assert re.match(r"<h2>Halves, first</h2><p>In \$\\beta\$ and .*</p>", section)
    assert "There is" not in section
    assert all(
        "headerlink" not in card and " id=" not in card for card in page_cards.values()
    )


def test_links_inside_a_card_keep_their_targets(site: Path) -> None:
    theorem = cards(site, "index")["part/one.html#thm-halves"]
    assert "There is $x$" in theorem
    assert re.findall('href="([^"]*)"', theorem) == [
        "part/one.html#equation-eq-one",
        "part/one.html#sec-halves",
        "part/one.html#thm-halves",
    ]
    claim = cards(site, "part/one")["../claims.html#claims-t-1-2"]
    assert re.findall('href="([^"]*)"', claim) == [
        "#thm-halves",
        "../claims.html#claims-t-1-2",
    ]


def test_the_card_of_a_number_shows_its_code_claim_and_condition(site: Path) -> None:
    page = (site / "part" / "one.html").read_text()
    page_cards = cards(site, "part/one")
    card = page_cards["T-1.2.half"]
    assert "<strong>0.50</strong> in full <code>0.5001</code>" in card
    assert "checks that it is below 1." in card
    assert "<pre>half=0.5</pre>" in card
    assert 'data-card="../claims.html#claims-t-1-2"' in card
    assert "sharper" in page_cards["../claims.html#claims-t-1-2"]
    assert "<pre>f&quot;half{n}&quot;: n</pre>" in page_cards["T-1.2.half2"]
    (cell,) = set(
        re.findall(
            r'<a class="number" data-figure="T-1\.2\.half2?" href="#([^"]*)"', page
        )
    )
    assert re.search(rf'<div class="cell[^"]*" id="{cell}"', page)
    # no link within a link
    assert re.search(r'<a class="reference[^>]*>.*and <span class="number">', page)


def test_a_number_that_no_cell_of_its_page_records_fails_the_build(build) -> None:
    _, warnings = build("Not {glue:text}`other`.")
    assert "no cell of this page records 'other'" in warnings
    assert (
        "T-1.2: no table and no line of book/phrases.yml says what 'T-1.2.half' is"
        in warnings
    )
    assert "'T-1.2.half2' is" not in warnings


def test_a_formula_that_is_a_symbol_shows_its_row_and_its_other_meanings(
    site: Path,
) -> None:
    page = (site / "part" / "one.html").read_text()
    page_cards = cards(site, "part/one")
    # no symbol in a link, and no longer symbol
    assert re.findall(r'<span class="symbol[^>]*data-tex="([^"]*)"', page) == [r"\beta"]
    assert re.search(
        r"\$\\beta&gt;0\$.*sharpness.*scalar.*sharp", page_cards[r"\beta"], re.DOTALL
    )
    assert 'href="../notation.html#symbol-first-1"' in page_cards[r"\beta"]
    assert 'id="symbol-first-1"' in (site / "notation.html").read_text()
    assert "a <strong>matrix</strong> there" in page_cards["T"]
    assert "matrix" not in page_cards[r"\beta"]
    assert not re.search(r'class="symbol', (site / "index.html").read_text())


def test_the_longest_id_before_a_dot_is_the_claim() -> None:
    claims = {"S-3": {"id": "S-3"}, "S-3.2": {"id": "S-3.2"}}
    assert previews.claim_of("S-3.2.wide", claims) == {"id": "S-3.2"}
    assert previews.claim_of("S-3.wide", claims) == {"id": "S-3"}
    assert previews.claim_of("S-32.wide", claims) is None


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("<= 2 D-a.b", "at most 2 D-a.b"),
        ("= 0", "equal to 0"),
        ("between 1 and 2", "between 1 and 2"),
    ],
)
def test_a_condition_is_translated_into_words(condition: str, words: str) -> None:
    assert previews.in_words(condition) == words


def test_code_for_one_figure_is_listed_before_code_for_several() -> None:
    lines = measured_lines.measured_lines(
        'measured("a", {n: 1, f"b{n}": 2, "b": 3})\nother("a", b=4)'
    )
    assert [line.code for line in lines if line.records("a.b")] == [
        '"b": 3',
        'f"b{n}": 2',
        "n: 1",
    ]
    assert not any(line.records("axb") for line in lines)


def test_an_anchor_selects_its_whole_element_or_the_element_around_it() -> None:
    page = '<section id="a"><span id="b"></span><div id="c"><div>1</div></div></section><p id="d">2</p>'
    assert [
        page[slice(*written_pages.element(page, anchor))][:15] for anchor in "abcd"
    ] == [
        '<section id="a"',
        '<section id="a"',
        '<div id="c"><di',
        '<p id="d">2</p>',
    ]
    assert written_pages.element(page, "e") is None
    assert written_pages.element("<div id='f'><div>", "f") is None


# --- the search


def answers(site: Path, *queries: str) -> dict[str, list[dict]]:
    """The definitions that the search page lists first, in its order."""
    source = """let text = ""; for await (const part of process.stdin) text += part;
        const { search, data, queries } = JSON.parse(text);
        const made = [data, search, "return [definitionsOf, DEFINITIONS]"];
        const [find, all] = new Function(made.join("\\n"))();
        process.stdout.write(JSON.stringify(Object.fromEntries(queries.map((each) => [each, find(each, all)]))));"""
    files = {
        "search": ROOT / "book/_static/search.js",
        "data": site / "_static" / "definitions.js",
    }
    texts = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    return node.answer(source, texts | {"queries": queries})


def test_a_definition_is_found_by_every_name_of_it(site: Path) -> None:
    results = answers(
        site,
        *(
            "β",
            "beta",
            "Sharp",
            "t-1.2",
            "theorem 1",
            "Theorem 12",
            "Theorem 1.2",
            "(1)",
            "eq. 1",
            "(4.2)",
            "(4)",
        ),
        *("logsumexp", "hat D", "half", "nothing"),
    )
    first = {
        query: [each["link"] for each in rows[:1]] for query, rows in results.items()
    }
    symbol = "notation.html#symbol-first-1"
    claim = "claims.html#claims-t-1-2"
    theorem = "part/one.html#thm-halves"
    equation = "part/one.html#equation-eq-one"
    assert first == {
        "β": [symbol],
        "beta": [symbol],
        "Sharp": [symbol],
        "t-1.2": [claim],
        "theorem 1": [theorem],
        "Theorem 12": [],
        "Theorem 1.2": [claim],
        "(1)": [equation],
        "eq. 1": [equation],
        "(4.2)": [claim],
        "(4)": [],
        "logsumexp": [theorem],
        "hat D": ["notation.html#symbol-first-2"],
        "half": [claim],
        "nothing": [],
    }


KINDS = ["symbol", "claim", "statement", "function", "class", "module", "method"]


@pytest.mark.parametrize(
    ("query", "rows", "best_first"),
    [
        (
            "twin",
            [(["twin"], "Twin", kind, "") for kind in KINDS[::-1]],
            [6, 5, 4, 3, 2, 1, 0],
        ),
        (
            "twin",
            [(["twin"], "Twin", kind, "") for kind in ("function", "remark", "claim")],
            [2, 1, 0],
        ),
        (
            "ab",
            [(["ab c"], "Ab c", "symbol", ""), (["ab"], "Ab", "module", "")],
            [1, 0],
        ),  # the name itself
        # Two letters are too few: too many names begin with them.
        ("ab", [(["a bc"], "A bc", "claim", "")], []),
        (
            "hal",
            [
                (["half-open intervals"], "", "claim", ""),
                (["halfway"], "", "claim", ""),
            ],
            [1, 0],
        ),
        (
            "theorem 1",
            [(["Theorem 1b"], "", "claim", ""), (["Theorem 12"], "", "claim", "")],
            [0],
        ),
        ("thro", [(["q"], "A stone throw", "claim", "")], [0]),
        ("throw", [(["a throw"], "", "claim", "")], [0]),
        ("b", [([], "", "claim", "b stands in what is said")], []),
        (
            "two",
            [([], "", "claim", "two of them"), (["one two"], "", "claim", "")],
            [1, 0],
        ),
        (
            "mean",
            [
                (["mean", f"rankone.{name}"], "", "function", "")
                for name in ("a.b.mean", "a.mean")
            ],
            [1, 0],
        ),
        ("last", [([], "", "method", "one " * 20 + "last")], [0]),
        (
            "span",
            [([], '<span class="math">x</span>', "claim", "y <span>z</span>")],
            [],
        ),
        ("amp", [([], "a &amp; b", "claim", "c &amp; d")], []),
    ],
)
def test_definitions_are_ranked_by_name_then_words_then_kind(
    query: str, rows: list[tuple], best_first: list[int], tmp_path: Path
) -> None:
    (tmp_path / "_static").mkdir()
    entries = [
        [names, title, kind, str(i), says]
        for i, (names, title, kind, says) in enumerate(rows)
    ]
    (tmp_path / "_static" / "definitions.js").write_text(
        f"const DEFINITIONS = {json.dumps(entries)};"
    )
    assert [int(each["link"]) for each in answers(tmp_path, query)[query]] == best_first


@pytest.mark.parametrize(
    ("query", "link"),
    [
        ("D-thm2", "book/claims.html#claims-d-thm2"),
        ("Theorem 2", "book/chapters/kernels_further.html#thm-ker-unbiased"),
        ("Prop 1", "book/chapters/hopfield.html#prop-hop-sign"),
        ("Theorem 5.3", "book/claims.html#claims-s-thm5-3"),
        ("equation 59 of D", "book/claims.html#claims-d-eq59"),
        ("(3)", "book/chapters/hopfield.html#equation-eq-hop-matrix"),
        ("logsumexp", "book/claims.html#claims-d-eq(7|11)"),
        ("β", "book/notation.html#symbol-memory-4"),
        ("beta", "book/notation.html#symbol-memory-4"),
        ("retrieve", "book/api.html#rankone.retrieve"),
        ("ro.retrieve", "book/api.html#rankone.retrieve"),
        ("Kantorovich", r"book/api/theory.html#rankone.theory.edit_cost.kantorovich"),
        ("inverse temperature", "book/notation.html#symbol-memory-4"),
    ],
)
def test_the_search_of_the_book_returns_the_definition_first(
    query: str, link: str
) -> None:
    best = answers(HTML, query)[query][0]
    assert re.fullmatch(link, best["link"])
    assert "\\" not in best["title"] + best["says"]
    path, anchor = best["link"].split("#")
    assert f'id="{anchor}"' in (HTML / path).read_text(encoding="utf-8")


def test_every_number_and_statement_of_the_book_has_its_card() -> None:
    for page in sorted((HTML / "book" / "chapters").glob("*.html")):
        text = page.read_text(encoding="utf-8")
        page_cards = cards(HTML, f"book/chapters/{page.stem}")
        assert set(re.findall(r'data-figure="([^"]*)"', text)) <= set(page_cards)
        assert text.count('class="pasted-text"') == text.count('class="number"')
        anchors = r'<a class="reference internal" href="([^"]*#(?:equation-|thm-|prop-|lem-|cor-|def-)[^"]*)"'
        missing = set(re.findall(anchors, text)) - set(page_cards)
        assert not missing, page.name


def test_a_tour_has_no_card_because_its_link_starts_it() -> None:
    page = '<details class="tour" id="tour"><summary>Take it</summary></details>'
    assert previews.about(page, "tour") == ""
    assert previews.about(page.replace("tour", "proof"), "proof") != ""
