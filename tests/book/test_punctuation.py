"""A formula and the punctuation next to it stay on one line, and no letter of the text
is lost.
"""

from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document

from extensions.pages.punctuation import (
    BreakLongNames,
    KeepNames,
    KeepPunctuation,
    KeepUnits,
)


def spans_and_text(*children, transform=KeepPunctuation):
    """The spans that do not break, and the whole text, of a paragraph after the
    transform.
    """
    document = new_document("page")
    document += nodes.paragraph("", "", *children)
    transform.run(SimpleNamespace(document=document))
    spans = [
        span.astext()
        for span in document.findall(nodes.inline)
        if "unbroken" in span["classes"]
    ]
    return spans, document.astext()


@pytest.mark.parametrize(
    ("before", "after", "span"),
    [
        ("say ", ", and", ["x,"]),
        ("the text's “", "” drops", ["“x”"]),
        ("(", ").", ["(x)."]),
        ("where ", " is", []),
        ("a well-", "-th", []),
    ],
)
def test_punctuation_stays_on_the_line_of_its_formula(before, after, span):
    assert spans_and_text(
        nodes.Text(before), nodes.math("x", "x"), nodes.Text(after)
    ) == (
        span,
        f"{before}x{after}",
    )


def test_punctuation_between_and_after_formulas_stays_with_them():
    x = nodes.math("x", "x")
    y = nodes.math("y", "y")
    assert spans_and_text(x, nodes.Text(", "), y, nodes.Text(".")) == (
        ["x,", "y."],
        "x, y.",
    )
    assert spans_and_text(nodes.math("x", "x")) == ([], "x")


def test_two_equal_punctuation_marks_keep_their_places():
    comma = ", "
    word = nodes.strong("", "a")
    x = nodes.math("x", "x")
    y = nodes.math("y", "y")
    assert spans_and_text(word, nodes.Text(comma), x, nodes.Text(comma), y) == (
        ["x,"],
        "a, x, y",
    )


def test_a_name_with_a_hyphen_does_not_break():
    text = nodes.Text("K-FAC, or K-FAC's; X-ray and well-known")
    again = nodes.emphasis("", "so")
    assert spans_and_text(text, transform=KeepNames) == (["K-FAC"] * 2, text.astext())
    twice = nodes.Text("K-FAC"), again, nodes.Text("K-FAC")
    assert spans_and_text(*twice, transform=KeepNames) == (
        ["K-FAC"] * 2,
        "K-FACsoK-FAC",
    )


def test_the_long_name_of_a_file_breaks_where_its_words_end():
    name = "experiments/figure3_4a.py"
    document = new_document("page")
    document += nodes.paragraph(
        "",
        "",
        nodes.literal("", name),
        nodes.literal("", "W"),
        nodes.literal("", "f(x, a_long_name)"),
    )
    BreakLongNames.run(SimpleNamespace(document=document))
    long, short, code = document.findall(nodes.literal)
    texts = [
        child.astext()
        for child in long.findall(nodes.Text)
        if not isinstance(child.parent, nodes.raw)
    ]
    assert texts == ["experiments/", "figure3_4a.py"]
    assert len(list(long.findall(nodes.raw))) == 1
    assert len(short.children) == len(code.children) == 1


def test_a_number_and_its_percent_sign_stay_on_one_line():
    code = nodes.literal("", "7 % 2")
    assert (
        spans_and_text(
            nodes.Text("of 5 % or "), code, nodes.Text(" %"), transform=KeepUnits
        )[1]
        == "of 5\N{NO-BREAK SPACE}% or 7 % 2\N{NO-BREAK SPACE}%"
    )
