"""Figures measured while the book is built, each under the id of the claim that it tests.

A chapter's cell calls `measured("D-fn3.printed", error)`; the prose beside it quotes the figure by that name, the
table of claims collects it from the same build, and in a notebook on its own the call just returns the value.
"""

from typing import Any

import numpy as np

__all__ = ["measured", "pretty"]

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_GLUE = "application/papermill.record/"  # what MyST-NB looks for; other front ends do not show it


def measured(name: str, value: Any, fmt: str = ".3g") -> Any:
    """Record a figure of this build, and return it unchanged.

    Args:
        name: Claim id, a dot, and what was measured: "D-eq11.autodiff".
        value: A number, or text.
        fmt: Format of a number, as in an f-string; powers of ten are set as 1.2·10⁻⁷.
    """
    from IPython.display import publish_display_data

    text = value if isinstance(value, str) else pretty(value, fmt)
    # quoted, because MyST-NB reads a bare 2,731 as a Python tuple and 0.50 as 0.5
    publish_display_data(
        {_GLUE + "text/plain": repr(text)}, metadata={"scrapbook": {"name": name, "mime_prefix": _GLUE}}
    )
    return value


def pretty(value: Any, fmt: str = ".3g") -> str:
    """A number as the book sets it: −1.2·10⁻⁷, 20,000, 0.031."""
    number = np.asarray(value).item()
    if number == 0:
        return "0"
    text = format(number, fmt)
    mantissa, e, exponent = text.partition("e")
    if e:
        text = f"{mantissa}·10{str(int(exponent)).translate(_SUPERSCRIPTS)}"
    return text.replace("-", "−", 1) if text.startswith("-") else text
