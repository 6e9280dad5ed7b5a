"""A figure appears in the prose, the tables and a reader's notebook in the book's
format, and is checked against its condition.
"""

import ast
import io
import re
import tokenize
from pathlib import Path
from typing import Any

import pytest
from chapter_costs import cells
from docutils import nodes
from IPython.testing.globalipapp import start_ipython
from refusals import refused

from extensions.claims.links import figure_of
from extensions.claims.measured_lines import (
    _tidy,
    measured_lines,
    without_bookkeeping,
)
from extensions.course.reading import OPTIONS
from rankone_book import claims
from rankone_book.claims import (
    compare_with_page,
    format_of,
    holds,
    measured,
    pretty,
)

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "_build" / "html" / "book" / "chapters"
# tokens without meaning
LAYOUT = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.NEWLINE,
    tokenize.NL,
}


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel outside of a build, in which nothing was measured yet."""
    monkeypatch.delenv("RANKONE_BUILD", raising=False)
    monkeypatch.setattr(claims, "_page", {})
    monkeypatch.setattr(claims, "_formats", {})
    monkeypatch.setattr(claims, "_numbers", {})


@pytest.mark.parametrize(
    ("value", "fmt", "text"),
    [
        (2731, ",d", "2,731"),
        (0.5, ".2f", "0.50"),
        (-1.2e-7, ".1e", "−1.2·10⁻⁷"),
        (0.0, ".1e", "0"),
        (-3, "d", "−3"),
        (0.125, ".1%", "12.5\N{NO-BREAK SPACE}%"),
        (8.9e-15, "<1e-14", "<\N{NO-BREAK SPACE}10⁻¹⁴"),
        (-8.9e-15, "<1e-14", "<\N{NO-BREAK SPACE}10⁻¹⁴"),
        (0, "<1e-14", "<\N{NO-BREAK SPACE}10⁻¹⁴"),
        (1.1e-14, "<1e-14", "1·10⁻¹⁴"),
        (2731, "", "2731"),
        (2731.0, "", "2.73·10³"),
        (True, "", "1"),
    ],
)
def test_a_number_is_set_as_the_book_sets_it(value: float, fmt: str, text: str) -> None:
    assert pretty(value, fmt) == text


@pytest.mark.parametrize(
    ("value", "text", "number"),
    [(0.5, "0.50", 0.5), ("2,731", "2,731", None), ("it's",) * 2 + (None,)],
)
def test_a_build_records_the_text_and_the_number_and_shows_nothing(
    value: object, text: str, number: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKONE_BUILD", "1")
    start_ipython()
    from IPython.utils.capture import capture_output

    with capture_output() as captured:
        measured("D-x", {"a_b": 1}, y_z=value)
    first, second = captured.outputs
    assert first.metadata["scrapbook"]["name"] == "D-x.a_b"
    assert second.metadata["scrapbook"] | {"mime_prefix": ""} == {
        "name": "D-x.y-z",
        "mime_prefix": "",
        "number": number,
    }
    ((mime, record),) = second.data.items()
    # No front end shows this type.
    assert mime.startswith("application/papermill.record/")
    figure = figure_of(record, second.metadata, {"D-x.y-*": ".2f"})
    assert figure == (text, number)
    assert not captured.stdout


@pytest.mark.parametrize("figures", [0.5, 0.0, "text"])
def test_a_figure_without_a_name_is_refused(figures: Any) -> None:
    with pytest.raises(TypeError, match="not a mapping"):
        measured("D-x", figures)


def test_the_format_of_a_figure_is_its_own_or_that_of_a_pattern() -> None:
    formats = {"D-x.gap-20": "", "D-x.gap-*": ".3f", "D-x.*": ".1f"}
    assert [
        format_of(name, formats)
        for name in ("D-x.gap-20", "D-x.gap-30", "D-x.law", "D-x2.law")
    ] == ["", ".3f", ".1f", ""]


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_a_notebook_prints_the_figure_alone_until_it_has_the_page(
    notebook: None, capsys: pytest.CaptureFixture[str]
) -> None:
    measured("D-x", y=4.13e-16)
    assert printed(capsys) == "D-x.y 4.13·10⁻¹⁶"
    compare_with_page(
        {
            "D-x.y": ["3·10⁻¹⁶", "< 1e-9", ".0e"],
            "D-x.text": ["5 to 6", "", ""],
            "D-x.gap-*": ["", "", ".2f"],
        }
    )
    measured("D-x", y=4.13e-16)
    assert printed(capsys) == "D-x.y 4·10⁻¹⁶ (page 3·10⁻¹⁶)"
    measured("D-x", text="7 to 8")
    assert printed(capsys) == "D-x.text 7 to 8 (page 5 to 6)"
    measured("D-x", {f"gap-{D}": D / 4 for D in (1, 2)})
    assert printed(capsys) == "D-x.gap-1 0.25 D-x.gap-2 0.50"


def test_a_notebook_marks_a_claim_that_no_longer_holds(
    notebook: None, capsys: pytest.CaptureFixture[str]
) -> None:
    compare_with_page({"D-x.y": ["0", "< 1e-9", ""], "D-x.z": ["1", "> 2 D-x.y", ""]})
    measured("D-x", z=-1.0)
    assert "no longer" not in printed(capsys)  # the cell of D-x.y was not run
    measured("D-x", y=0.3)
    assert printed(capsys) == "D-x.y 0.3 (page 0) ← no longer holds: should be < 1e-9"
    measured("D-x", z=0.5)
    assert (
        printed(capsys) == "D-x.z 0.5 (page 1) ← no longer holds: should be > 2 D-x.y"
    )
    measured("D-x", z=0.7)
    assert printed(capsys) == "D-x.z 0.7 (page 1)"


def test_the_figures_of_a_cell_are_aligned() -> None:
    lines = [
        claims.line("D-x.y", "0.3", "0"),
        claims.line("D-eq29.longer-name", "3·10⁻¹⁶", "0"),
    ]
    assert len({line.index("(page") for line in lines}) == 1


@pytest.mark.parametrize(
    ("condition", "inside", "outside"),
    [
        ("< 1e-6", [0, -1], [1e-6, float("nan")]),
        ("<= D-x.y", [2, 1.9], [2.1]),
        ("> 0.5 D-x.y", [1.1], [1]),
        (">= -1", [-1], [-1.1]),
        ("= 2", [2], [2.1, 1.9]),
        ("between 0.5 D-x.y and D-x.y", [1, 2], [0.9, 2.1]),
        ("within 0.1 of D-x.y", [1.95, 2.05], [1.85, 2.15]),
        ("within 10% of -2", [-2.1, -1.9], [-2.3, -1.7]),
        ("", [float("nan"), 7], []),
    ],
)
def test_a_condition_holds_for_the_right_numbers_and_fails_for_others(
    condition: str, inside: list[float], outside: list[float]
) -> None:
    figures = {"D-x.y": 2.0}
    assert [number for number in inside if not holds(condition, number, figures)] == []
    assert [number for number in outside if holds(condition, number, figures)] == []


@pytest.mark.parametrize(
    "condition",
    [
        "about 1",
        "< 1 2",
        "< D-x.z",
        "< D-x.y 2",
        "between 1",
        "within 1",
        "<1",
        "< __import__('os')",
        "< a",
    ],
)
def test_a_condition_of_another_form_is_refused(condition: str) -> None:
    with refused(ValueError, match=r"^condition|^could not convert"):
        holds(condition, 1.0, {"D-x.y": 2.0})


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("x = f(2)\nmeasured('a', b=x), measured('c', d=\n    2 * x);", "x = f(2)"),
        ("from rankone_book.claims import measured\n\nx = 1", "x = 1"),
        ("measured('a', b=1)\nfor n in range(2):\n    measured('a', {f'b{n}': n})", ""),
        (
            "for n in range(2):\n    x = measured('a', n)",
            "for n in range(2):\n    x = measured('a', n)",
        ),
        (
            "for n in range(2):\n    f(n)\n    measured('a', n)\n    g()",
            "for n in range(2):\n    f(n)\n    g()",
        ),
        (
            "with f():\n    x = 1\n    for n in x:\n        measured('a', n)",
            "with f():\n    x = 1",
        ),
        (
            "if f():\n    measured('a', n)\nx = 1",
            "if f():\n    measured('a', n)\nx = 1",
        ),
        ("measured('a', 1); x = 2", "measured('a', 1); x = 2"),
        ("%time x", "%time x"),
        ("x\nmeasured('a', 1)\ny", "x\ny"),
    ],
)
def test_the_page_shows_a_cell_without_statements_that_only_record_figures(
    cell: str, expected: str
) -> None:
    assert without_bookkeeping(cell) == expected


@pytest.mark.parametrize(
    ("shows", "prompt"),
    [
        (nodes.figure("", nodes.image(uri="a.svg")), "Code of the figure"),
        (nodes.literal_block(text="3.0"), "Show the code"),
        (
            nodes.container(),
            "How these numbers are computed",
        ),  # a record, which nothing renders
    ],
)
def test_a_fold_says_what_is_in_it(shows: nodes.Element, prompt: str) -> None:
    source = nodes.literal_block(text="x = 1\nmeasured('a', x)")
    cell = nodes.container(
        "",
        source,
        nodes.container("", shows, classes=["cell_output"]),
        hide_mode="input",
    )
    _tidy(cell, source)
    assert cell["prompt_show"] == prompt
    assert ("bookkeeping" in cell["classes"]) == (
        prompt == "How these numbers are computed"
    )
    assert "measured" in source.astext()  # the open fold shows the code


@pytest.mark.parametrize(
    ("code", "folded"),
    [
        ("import a\nimport b\nfrom c import d\n\nx = a.b", True),
        ("import a\nimport b\nimport c\n\n\ndef f(x):\n    return x", True),
        ("import a\nimport b\nx = a.b", False),
        ("import a\nimport b\nimport c\nfor x in a:\n    b(x)", False),
        ("import a\nimport b\nimport c\ndef f(x):\n    y = x\n    return y", False),
        ("import a\n%time b", False),
    ],
)
def test_a_cell_that_only_sets_up_is_folded(code: str, folded: bool) -> None:
    source = nodes.literal_block(text=code)
    cell = nodes.container("", nodes.container("", source, classes=["cell_input"]))
    _tidy(cell, source)
    assert (cell.get("prompt_show") == "Set-up") is folded
    output = nodes.container("", nodes.Text("1"), classes=["cell_output"])
    open_cell = nodes.container("", output)
    _tidy(open_cell, nodes.literal_block(text=code))
    assert "hide_mode" not in open_cell  # its output is shown, so the cell stays open


every_page = pytest.mark.parametrize(
    "page",
    sorted((ROOT / "book").rglob("*.md")),
    ids=lambda path: path.relative_to(ROOT / "book").with_suffix("").as_posix(),
)


def packed(code: str) -> list[str]:
    """Statements of a cell that pack several into one, or that define a function
    without `def`.
    """
    statements = []
    for node in ast.walk(ast.parse(code)):
        chained = isinstance(node, ast.Expr) and isinstance(node.value, ast.Tuple)
        unnamed = isinstance(node, ast.Assign | ast.AnnAssign) and (
            isinstance(node.value, ast.Lambda)
        )
        if chained or unnamed:
            statements.append(ast.unparse(node))
    signs = [
        token
        for token in tokenize.generate_tokens(io.StringIO(code).readline)
        if token.type not in LAYOUT
    ]
    # the last semicolon may hide the result of the cell's last call
    statements += [token.line for token in signs[:-1] if token.string == ";"]
    return statements


@every_page
def test_a_cell_has_one_statement_a_line_and_functions_with_names(page: Path) -> None:
    sources = re.findall(
        r"^```\{code-cell\}[^\n]*\n(.*?)^```$",
        page.read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    code = [OPTIONS.sub("", cell) for cell in sources]
    python = [cell for cell in code if not cell.lstrip().startswith("%")]
    assert [statement for cell in python for statement in packed(cell)] == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("ax.plot(x)\nax.grid();\n", []),
        ("ax.grid(); # nothing\n", []),
        ("pair = sorted(x, key=lambda one: one.size)\n", []),
        ("ax.plot(x), ax.grid()\n", ["(ax.plot(x), ax.grid())"]),
        ("if x:\n    f = lambda x: x\n", ["f = lambda x: x"]),
        ("a = 1; b = 2\n", ["a = 1; b = 2\n"]),
        ("ax.grid();\nprint(x)\n", ["ax.grid();\n"]),
    ],
)
def test_several_statements_in_one_are_seen(code: str, expected: list[str]) -> None:
    assert packed(code) == expected


def repeated(code: str) -> list[str]:
    """Claims with several calls of `measured` in one sequence of calls."""
    repeats = []
    for node in ast.walk(ast.parse(code)):
        for block in ("body", "orelse", "finalbody"):
            body = getattr(node, block, None)
            row: list[str] = []
            for statement in body if isinstance(body, list) else []:
                call = getattr(statement, "value", None)
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "measured":
                    row.append(ast.unparse(call.args[0]))
                else:
                    row = []
                repeats += row[-1:] if row.count((row or [""])[-1]) > 1 else []
    return repeats


@every_page
def test_a_claim_is_recorded_with_one_call(page: Path) -> None:
    python = [cell for cell in cells(page) if not cell.lstrip().startswith("%")]
    assert [claim for cell in python for claim in repeated(cell)] == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("measured('a', b=1)\nmeasured('c', b=1)\nmeasured('a', d=1)", ["'a'"]),
        (
            "for n in x:\n    measured(f'{n}', b=1)\n    measured(f'{n}', c=1)",
            ["f'{n}'"],
        ),
        ("measured('a', b=1)\nx = 2\nmeasured('a', c=x)", []),
        ("measured('a', b=1)\nmeasured('c', b=1)", []),
    ],
)
def test_two_calls_for_one_claim_are_seen(code: str, expected: list[str]) -> None:
    assert repeated(code) == expected


def test_a_card_shows_the_argument_that_records_the_figure() -> None:
    lines = measured_lines(
        """for n in x:
    measured(
        "D-x",
        {
            f"gap-{n}": (
                a
                + b
            ),
            "from": c,  # why
        },
    )
measured("D-x", bits_early=walked[0.5, 100][1], law=d)
measured("D-x", {f"law-{D}": law(D) for D in (1, 2)})
measured(f"D-{n}", ratio="ε" + e)
"""
    )
    code_by_key = {
        key: next(line.code for line in lines if line.records(key))
        for key in (
            "D-x.gap-20",
            "D-x.from",
            "D-x.bits-early",
            "D-x.law",
            "D-x.law-2",
            "D-eq3.ratio",
        )
    }
    assert code_by_key == {
        "D-x.gap-20": 'f"gap-{n}": a\n    + b',
        "D-x.from": '"from": c',
        "D-x.bits-early": "bits_early=walked[0.5, 100][1]",
        "D-x.law": "law=d",
        "D-x.law-2": '{f"law-{D}": law(D) for D in (1, 2)}',
        "D-eq3.ratio": 'ratio="ε" + e',
    }
    assert not [line for line in lines if line.records("D-x.bits_early")]


@pytest.mark.parametrize("page", sorted(path.stem for path in PAGES.glob("*.html")))
def test_no_page_shows_a_call_of_measured_outside_a_fold(page: str) -> None:
    text = (PAGES / f"{page}.html").read_text(encoding="utf-8")
    opened = re.sub(
        r'<details class="admonition hide.*?</details>', "", text, flags=re.DOTALL
    )
    assert not re.findall(r"<span class=\"n\">measured</span>", opened)
