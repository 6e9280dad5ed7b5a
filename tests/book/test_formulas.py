"""Formulas are set while the book is built, by MathJax, and one that cannot be read is
named with its page.
"""

import io
import re
from html.parser import HTMLParser

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from extensions.pages.formulas import RULE, characters, displayed, typesetter

PAGE = """Two formulas
============

In a line :math:`\\hat\\xi \\in \\mathbb{R}`, and on its own:

.. math::
   :label: split

   a &= b \\\\
   c &= d

See :eq:`split`.
"""


@pytest.fixture(autouse=True)
def node():
    """Ends the process of Node after the test."""
    yield
    typesetter.close()


@pytest.fixture
def build(tmp_path):
    """Writes pages, builds their site and returns it with the warnings."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "conf.py").write_text(
        'extensions = ["extensions.pages.formulas"]\nhtml_math_renderer = "formulas"\n'
    )

    def make(everything=True, **pages):
        warnings = io.StringIO()
        for name, text in pages.items():
            (source / f"{name}.rst").write_text(text)
        site = tmp_path / "site"
        with docutils_namespace():
            app = Sphinx(
                source,
                source,
                site,
                tmp_path / "trees",
                "html",
                {},
                None,
                warnings,
                freshenv=everything,
            )
            app.build(everything)
        return site, warnings.getvalue()

    return make


class Classes(HTMLParser):
    """Collects the class of every letter of a formula."""

    def __init__(self, page):
        super().__init__()
        self.letters = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag == "mjx-c":
            self.letters.append(dict(attrs)["class"].split()[0])


def test_a_page_contains_drawn_formulas_mathml_and_tex(build):
    site, warnings = build(index=PAGE)
    page = (site / "index.html").read_text()
    style = (site / "_static/formulas.css").read_text()
    assert not warnings
    assert re.findall(r'data-tex="([^"]*)"', page) == [
        r"\hat\xi \in \mathbb{R}",
        r"\begin{split}a &amp;= b \\ c &amp;= d\end{split}",
    ]
    assert page.count("<math>") + page.count('<math display="block">') == 2
    assert all(f".{letter}" in style for letter in Classes(page).letters)
    assert re.search(
        r'<span class="eqno">\(1\)<a class="headerlink" href="#equation-split"', page
    )
    assert re.search(r'href="#equation-split">\(1\)</a>', page)


def test_a_formula_that_cannot_be_read_is_named_with_its_page_and_line(build):
    _, warnings = build(index="Title\n=====\n\nFine, but :math:`\\nope` is not.\n")
    assert re.search(
        r"index\.rst:4: WARNING: This formula cannot be set: Undefined control sequence \\nope",
        warnings,
    )


def test_pages_of_an_earlier_build_keep_their_style(build):
    build(
        index=PAGE,
        other="Other\n=====\n\n:math:`\\varpi`\n\n.. toctree::\n\n   index\n",
    )
    site, _ = build(everything=False, index=PAGE + "\n:math:`\\Upsilon`\n")
    style = (site / "_static/formulas.css").read_text()
    assert "mjx-c3D6" in style or "mjx-c1D71B" in style  # \varpi
    assert "mjx-c3A5" in style  # \Upsilon


def test_a_formula_is_set_once(monkeypatch):
    first = typesetter.html("x^2", False)
    monkeypatch.setattr(typesetter, "_ask", lambda **_: pytest.fail("asked again"))
    assert typesetter.html("x^2", False) == first


def test_a_letter_has_one_box_which_keeps_its_size_and_the_space_before_it():
    formula = typesetter.html(r"{a}+b_{i\times j}", False)
    assert not re.search("<mjx-(mi|mo|mn|mrow)[ >]", formula)
    letters = dict(re.findall(r'<mjx-c class="mjx-c(\w+)[^"]*"([^>]*)>', formula))
    assert letters == {
        "1D44E": "",
        "2B": ' space="3"',
        "1D44F": "",
        "1D456": "",
        "D7": "",
        "1D457": "",
    }
    assert '<mjx-msub space="3">' in formula
    assert formula.count('<mjx-TeXAtom size="s">') == 1
    assert '<mjx-c class="mjx-c1D456 TEX-I" size="s">' in typesetter.html("b_i", False)


@pytest.mark.parametrize(
    ("source", "whole", "tex"),
    [
        ("x", False, "x"),
        ("a &= b \\\\ c &= d", False, r"\begin{split}a &= b \\ c &= d\end{split}"),
        ("x\n\ny", False, r"\begin{aligned}x\\y\end{aligned}"),
        ("\\begin{gather}x\\end{gather}\n", True, r"\begin{gather}x\end{gather}"),
    ],
)
def test_a_block_is_read_as_sphinx_reads_it(source, whole, tex):
    assert displayed(source, whole) == tex


def test_the_characters_of_a_style_sheet_are_those_of_its_content_rules():
    rules = [
        'a::before {\n  content: "x";\n}',
        r'b::before { content: "\3BE"; }',
        r'c::before { content: "\E151\E150"; }',
    ]
    rules += [
        r'd::before { content: "\""; }',
        r'e::before { content: "\\"; }',
        'f { src: url("q") }',
    ]
    assert characters(rules) == {"x", "ξ", "\ue151", "\ue150", '"', "\\"}
    assert RULE not in "".join(rules)


def runs(tex, display=True):
    """The lines of a formula if each line has room for one run only, as lists of
    characters.
    """
    markup = typesetter.html(tex, display).split("<mjx-assistive-mml")[0]
    return [
        re.findall(r'class="mjx-c(\w+)', run)
        for run in re.findall("<mjx-run>(.*?)</mjx-run>", markup)
    ]


def letters(tex, display=True):
    return [
        "".join(chr(int(code, 16)) for code in run) for run in runs(tex, display) if run
    ]


def test_long_formulas_break_before_a_relation_and_in_paragraphs_after_it():
    tex = "1234567890123(4)=5678901234567(8+9)"
    assert letters(tex) == ["1234567890123(4)", "=5678901234567(8", "+9)"]
    assert letters(tex, display=False) == [
        "1234567890123(4)=",
        "5678901234567(8+",
        "9)",
    ]


def test_a_short_formula_stays_whole():
    assert not runs("1=2")


def test_a_long_formula_breaks_at_the_best_place_that_its_line_has():
    formula = typesetter.html(r"12345678901+2345678901=(3,\quad 4+5)", True)
    assert letters(r"12345678901+2345678901=(3,\quad 4+5)") == [
        "12345678901",
        "+2345678901",
        "=(3,",
        "4",
        "+5)",
    ]
    assert formula.count("<mjx-runs>") >= 2  # the sum, and the content of the brackets


def test_what_stands_in_a_fraction_or_a_root_does_not_break():
    (only,) = letters(r"\sqrt{\frac{11111111111111111111=2}{3+4+5}}")
    assert only.count("=") == 1


def test_a_bracket_that_does_not_close_does_not_prevent_breaks():
    assert letters(r"[12345678901234567890123=4") == ["[12345678901234567890123", "=4"]
    assert letters(r"\{1234567890123(4+5)+678=9") == [
        "{1234567890123(4",
        "+5)",
        "+678",
        "=9",
    ]


def test_a_formula_breaks_between_factors_before_it_breaks_inside_brackets():
    tex = r"(123456789+1)^2(123456789+1)^2\cdots(123456789+1)^2"
    assert letters(tex) == [
        "(123456789",
        "+1)2",
        "(123456789",
        "+1)2⋯",
        "(123456789",
        "+1)2",
    ]
    assert typesetter.html(tex, True).count("<mjx-runs>") == 3


def test_in_a_paragraph_sums_flow_and_brackets_stay_together():
    formula = typesetter.html(r"123456789=123456789+123456789(1+2)=3", False)
    assert formula.count('<mjx-runs class="flows">') == 1
    assert formula.count("<mjx-runs>") == 1


def test_the_lines_of_a_long_table_break_too_and_a_matrix_does_not():
    opened = re.compile('<mjx-mtable[^>]* class="[^"]*long"')
    table = r"\begin{split}1234567890123 &= 4567890123 \\ 5 &= 6+7\end{split}"
    assert letters(table) == ["1234567890123", "=4567890123", "5", "=6", "+7"]
    assert opened.search(typesetter.html(table, True))
    assert not runs(r"\begin{matrix}1&2\\3&4\end{matrix}")
    assert not opened.search(
        typesetter.html(r"A+\begin{pmatrix}12345678=9 & 0\\1&2\end{pmatrix}+B", True)
    )
