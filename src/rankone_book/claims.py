"""Figures measured by the chapters, each under the id of the claim that it tests.

A chapter's cell calls `measured("D-fn3", printed=error, corrected=rest)`, once for each
claim. While the book is built, the call records the figures: the prose quotes the first
one as `D-fn3.printed`, and the table of claims collects it from the same build. In a
notebook the call prints each figure beside the page's, and says so if it violates the
book's condition on it.

`claims.yml` has the format of each number and the condition on it. A cell knows
neither. The build reads the file when it writes a page, so that a new format executes
no cell again, and it passes formats and conditions on to the chapter's notebook.
"""

import operator
import os
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

__all__ = [
    "compare_with_page",
    "figures_in",
    "format_of",
    "holds",
    "line",
    "measured",
    "pretty",
]

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# prefix of the MIME type that MyST-NB looks for; other front ends do not show it
_GLUE = "application/papermill.record/"
_COMPARISONS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}
# name of a figure → its text on the page, and the condition on it
_page: dict[str, tuple[str, str]] = {}
_formats: dict[str, str] = {}
_numbers: dict[str, float] = {}  # the numbers measured by this process


def measured(
    claim: str, figures: Mapping[Any, Any] | None = None, /, **named: Any
) -> None:
    """Record figures of a claim in this build, or print them in a notebook.

    Args:
        claim: Id of the claim: "D-eq11".
        figures: Name of each figure → its value, a number or text. The prose quotes the
            figure `name` as "D-eq11.name".
        named: Further figures, whose names need no quotes. `_` stands for "-": a name
            with "_" in it belongs in `figures`.
    """
    values = {
        **({} if figures is None else figures),
        **{name.replace("_", "-"): value for name, value in named.items()},
    }
    for name, value in values.items():
        _measured(f"{claim}.{name}", value)


def _measured(name: str, value: Any) -> None:
    number = None if isinstance(value, str) else np.asarray(value).item()
    if "RANKONE_BUILD" in os.environ:  # set for the kernels that build the book
        # the build uses only the number, and formats it when it writes the page
        _record(name, value if number is None else pretty(number), number)
        return
    text = value if number is None else pretty(number, format_of(name, _formats))
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
        figures: Name of each figure → its text on the page, the condition on it, and
            its format. Each of the three may be "".
    """
    for name, (text, condition, fmt) in figures.items():
        _page[name] = (text, condition)
        _formats[name] = fmt


def format_of(name: str, formats: Mapping[str, str]) -> str:
    """Format of a figure: its own, or else that of the first pattern that matches its
    name.

    Args:
        name: Name of the figure.
        formats: Name of a figure, or a pattern of names with `*` → a format of `pretty`.

    >>> format_of("D-x.gap-20", {"D-x.gap-*": ".3f"})
    '.3f'
    """
    if name in formats:
        return formats[name]
    patterns = (pattern for pattern in formats if "*" in pattern)
    return next((formats[p] for p in patterns if fnmatchcase(name, p)), "")


def holds(condition: str, number: float, figures: Mapping[str, float]) -> bool:
    """True if a figure meets its condition.

    Args:
        condition: `< A`, `<= A`, `> A`, `>= A`, `= A`, `between A and B`,
            `within 0.1 of A` or `within 5% of A`, where `A` and `B` are numbers, names
            of figures, or both (`0.5 D-x.other`). An empty condition always holds.
        number: The figure.
        figures: The other figures, by name.

    Raises:
        ValueError: If the condition has another form, or names a figure that is not in
            `figures`.

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


def pretty(value: Any, fmt: str = "") -> str:
    """A number as the book writes it: −1.2·10⁻⁷, 20,000, 0.031, 12.5 %.

    The space before the per cent sign does not break.

    Args:
        value: A number.
        fmt: Its format, as in an f-string. If empty, "d" for an integer and ".3g" for
            another number. Powers of ten are written as 1.2·10⁻⁷. "<1e-12" writes a
            number whose size is below 10⁻¹² as "< 10⁻¹²", and others with one digit. It
            is meant for rounding errors, whose digits differ between processors.

    >>> pretty(-1.2e-7)
    '−1.2·10⁻⁷'
    """
    number = np.asarray(value).item()
    fmt = fmt or ("d" if isinstance(number, int) else ".3g")
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
