"""Simplifying a page before axe reads it hides no barrier that axe would have
reported.
"""

from collections.abc import Iterator

import pytest
from accessibility import barriers
from playwright.sync_api import Browser, Page
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

CODE = """
import numpy as np

def mean(values, w=None):
    return np.average(values, w)
"""
# two lines of three formulas, as `book/extensions/pages/formulas.py` writes them
FORMULA = (
    '<span class="math"><mjx-container><mjx-math aria-hidden="true"><mjx-c></mjx-c></mjx-math>'
    "<mjx-assistive-mml><math><mi>sin</mi><mi>x</mi></math></mjx-assistive-mml></mjx-container></span>"
)
LINES = f"<p>Then {FORMULA}, {FORMULA} and {FORMULA}.</p>" * 2
SPOILT = {
    "the colour of one token": "token.style.color = '#eee'",
    "the opacity of one token": "token.style.opacity = 0.2",
    "what stands behind one token": "token.style.background = '#222'",
    "what stands around one token": "token.outerHTML = `<mark>${token.outerHTML}</mark>`;"
    "style('mark { background: #222; color: #fff; }')",
    "a rule for one place": "style(`pre span:nth-child(${place}) { color: #eee; }`)",
    "a kind of token in one block": "block.querySelectorAll('.n').forEach((each) => each.style.color = '#eee')",
    "the background of one block": "Object.assign(block.style, { background: '#222', color: '#fff' })",
    "a role without a name": "token.setAttribute('role', 'img')",
}
SPOILT_FORMULAS = {
    "the colour of one formula": "formula.style.color = '#eee'",
    "the letters of one formula": "formula.querySelector('mjx-math').style.color = '#eee'",
    "what stands behind one formula": "formula.style.background = '#222'",
    "a rule for the formulas of one line": "style('p:last-of-type mjx-container { opacity: .2; }')",
    "the colour of one line": "formula.parentElement.style.color = '#eee'",
}


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Three blocks of highlighted code and two lines of formulas, without a barrier."""
    form = HtmlFormatter(style="a11y-high-contrast-light")
    head = f"<title>Code</title><style>{form.get_style_defs()}</style>"
    blocks = highlight(CODE, PythonLexer(), form) * 3
    page = browser.new_page()
    body = f"<main><h1>Code</h1>{blocks}{LINES}</main>"
    page.set_content(
        f"<!doctype html><html lang=en><head>{head}</head><body>{body}</body>"
    )
    yield page
    page.close()


def spoil(page: Page, how: str) -> None:
    """Put a barrier into the last block. If `how` means a token, it is put at a name
    that is not the longest there.
    """
    page.evaluate(
        f"""() => {{
            const block = [...document.querySelectorAll('pre')].at(-1);
            const formula = [...document.querySelectorAll('.math')].at(-2);
            const token = block.querySelectorAll('.n')[0];
            const place = [...token.parentElement.children].indexOf(token) + 1;
            const style = (rules) => {{
                document.head.append(Object.assign(document.createElement('style'), {{ textContent: rules }}));
            }};
            {how};
        }}"""
    )


@pytest.mark.parametrize("simplify", [False, True])
def test_no_barrier_is_reported_on_a_page_without_one(
    page: Page, simplify: bool
) -> None:
    assert barriers(page, simplify=simplify) == []


@pytest.mark.parametrize("what", SPOILT)
def test_simplifying_the_page_hides_no_barrier(page: Page, what: str) -> None:
    spoil(page, SPOILT[what])
    whole = {line.split(":")[0] for line in barriers(page, simplify=False)}
    assert whole, "the spoilt page was expected to have a barrier"
    assert {line.split(":")[0] for line in barriers(page)} == whole


@pytest.mark.parametrize("what", SPOILT_FORMULAS)
def test_simplifying_the_page_hides_no_barrier_in_a_formula(
    page: Page, what: str
) -> None:
    spoil(page, SPOILT_FORMULAS[what])
    assert any("color-contrast" in line for line in barriers(page))


def test_formulas_in_the_style_of_their_line_are_checked_as_its_text(
    page: Page,
) -> None:
    barriers(page)
    assert page.locator("p").first.inner_html() == "Then sinx, sinx and sinx."


def test_fewer_than_half_of_the_code_tokens_are_judged_individually(page: Page) -> None:
    tokens = page.locator("pre span").count()
    barriers(page)
    assert 0 < page.locator("[data-judged]").count() < tokens / 2
