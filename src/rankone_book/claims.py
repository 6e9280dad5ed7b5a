"""Figures measured by the chapters, each under the id of the claim that it tests.

A chapter's cell calls `measured("D-fn3.printed", error)`. While the book is built, the
call records the figure: the prose quotes it by that name, and the table of claims
collects it from the same build. In a notebook it prints the figure beside the page's,
and says so if what the book claims of it no longer holds there.

One call records one figure, and not all figures of a claim, because the card of a figure
shows the line that computed it.
"""

import operator
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["compare_with_page", "figures_in", "holds", "line", "measured", "pretty"]

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# what MyST-NB looks for; other front ends do not show it
_GLUE = "application/papermill.record/"
_COMPARISONS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}
# the published figures and the conditions on them
_page: dict[str, tuple[str, str]] = {}
_numbers: dict[str, float] = {}  # the numbers measured by this process


def measured(name: str, value: Any, fmt: str = ".3g") -> None:
    """Record a figure of this build, or print it in a notebook.

    Args:
        name: Claim id, a dot, and what was measured: "D-eq11.autodiff".
        value: A number, or text.
        fmt: Format of a number, as in an f-string; powers of ten are written as
            1.2·10⁻⁷. "<1e-12" writes a number whose size is below 10⁻¹² as "< 10⁻¹²",
            and others with one digit. It is meant for rounding errors, whose digits
            differ between processors.
    """
    number = None if isinstance(value, str) else np.asarray(value).item()
    text = value if isinstance(value, str) else pretty(value, fmt)
    if "RANKONE_BUILD" in os.environ:  # set for the kernels that build the book
        _record(name, text, number)
        return
    page, condition = _page.get(name, ("", ""))
    print(
        line(
            name,
            text,
            page,
            ""
            if number is None or _still_holds(name, number, condition)
            else condition,
        )
    )


def _still_holds(name: str, number: float, condition: str) -> bool:
    _numbers[name] = number
    # a figure compared with one whose cell was not run cannot be judged
    return any(figure not in _numbers for figure in figures_in(condition)) or holds(
        condition, number, _numbers
    )


def _record(name: str, text: str, number: float | None) -> None:
    from IPython.display import publish_display_data

    # quoted, because MyST-NB reads a bare 2,731 as a Python tuple and 0.50 as 0.5
    publish_display_data(
        {_GLUE + "text/plain": repr(text)},
        metadata={"scrapbook": {"name": name, "mime_prefix": _GLUE, "number": number}},
    )


def line(name: str, text: str, page: str = "", violated: str = "") -> str:
    """Line that a notebook prints for a figure: its name, its text, the page's text and
    a violated condition.
    """
    entry = f"{name:<24}  {text:<9}" + (f"  (page {page})" if page else "")
    return (
        f"{entry}  ← no longer holds: should be {violated}"
        if violated
        else entry.rstrip()
    )


def compare_with_page(figures: Mapping[str, Sequence[str]]) -> None:
    """Set a chapter's published figures, with which `measured` compares those of this
    notebook.

    Args:
        figures: Name of each figure → its text on the page, and the condition on it, or
            "".
    """
    _page.update(
        {name: (text, condition) for name, (text, condition) in figures.items()}
    )


def holds(condition: str, number: float, figures: Mapping[str, float]) -> bool:
    """True if a figure meets its condition.

    Args:
        condition: `< A`, `<= A`, `> A`, `>= A`, `= A`, `between A and B`,
            `within 0.1 of A` or `within 5% of A`, where `A` and `B` are numbers, names
            of figures, or both (`0.5 D-x.other`). An empty one always holds.
        number: The figure.
        figures: The other figures, by name.

    Raises:
        ValueError: If the condition has another form, or names a figure that is not
            there.

    >>> holds("within 5% of D-x.other", 1.02, {"D-x.other": 1.0})
    True
    """
    kind, _, operands = condition.partition(" ")
    if kind in _COMPARISONS:
        return bool(_COMPARISONS[kind](number, _amount(operands, figures)))
    first, between, second = operands.partition(" and ")
    if kind == "between" and between:
        return bool(_amount(first, figures) <= number <= _amount(second, figures))
    first, of, second = operands.partition(" of ")
    if kind == "within" and of:
        target = _amount(second, figures)
        tolerance = (
            float(first[:-1]) / 100 * abs(target)
            if first.endswith("%")
            else float(first)
        )
        return bool(abs(number - target) <= tolerance)
    if condition:
        raise ValueError(
            f"condition is {condition!r}; try '< 1e-6', 'between 1 and 2' or 'within 5% "
            "of D-x.other'"
        )
    return True


def figures_in(condition: str) -> list[str]:
    """Names of the figures that a condition mentions."""
    return [word for word in condition.split() if word[0].isalpha() and "." in word]


def _amount(text: str, figures: Mapping[str, float]) -> float:
    words = text.split()
    if names := figures_in(text):
        if names != words[-1:] or len(words) > 2 or names[0] not in figures:
            raise ValueError(
                f"condition compares with {text!r}; try a number, or a figure recorded "
                "before this one"
            )
        return float(words[0] if len(words) == 2 else 1) * figures[names[0]]
    return float(text)


def pretty(value: Any, fmt: str = ".3g") -> str:
    """A number as the book writes it: −1.2·10⁻⁷, 20,000, 0.031, 12.5 %, whose sign does
    not leave it at a line's end.

    >>> pretty(-1.2e-7)
    '−1.2·10⁻⁷'
    """
    number = np.asarray(value).item()
    if fmt.startswith("<") and abs(number) < float(fmt[1:]):
        return f"<\N{NO-BREAK SPACE}{_powers(format(float(fmt[1:]), '.0e')).removeprefix('1·')}"
    if number == 0:
        return "0"
    text = _powers(format(number, ".0e" if fmt.startswith("<") else fmt))
    if text.endswith("%"):
        text = f"{text[:-1]}\N{NO-BREAK SPACE}%"
    return text.replace("-", "−", 1) if text.startswith("-") else text


def _powers(text: str) -> str:
    """A number with "e-07" written as a power of ten."""
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}·10{str(int(exponent)).translate(_SUPERSCRIPTS)}" if e else text
