"""Minutes that a page takes to read, and the computed numbers in its sentences,
estimated from its source.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from extensions.claims.measured_lines import sets_up, without_bookkeeping

# seconds for a word, a formula in a line and on its own, a character of visible code, a
# figure, and for trying an explorer
WORD = 0.3
FORMULA = 3
DISPLAYED = 25
CODE = 0.1
FIGURE = 20
EXPLORER = 180
STEP = 5  # minutes are rounded up to a multiple of this
FOLDED = re.compile(r"^\{(?:dropdown|tour)\}|^:class:.*\bdropdown\b", re.MULTILINE)
HIDDEN = re.compile(r"(?:remove|hide)-(?:input|cell)")
OPTIONS = re.compile(r"\A(?:---\n.*?\n---\n|(?::[\w-]+:[^\n]*\n)*)", re.DOTALL)


@cache
def reading_minutes(source: str) -> int:
    """Minutes to read a page of MyST, without its folded parts."""
    return STEP * -int(-sum(map(_seconds, _open(source))) // (60 * STEP))


def numbers_in(source: str) -> Iterator[tuple[str, list[int]]]:
    """Each paragraph of running text, and the number of computed numbers in each of its
    sentences.
    """
    for before, token in pairwise([Token("start", "", 0), *_parser().parse(source)]):
        if before.type == "paragraph_open":
            sentences = re.split(r"(?<=[.?!])\s+(?=[A-Z`$*{])", token.content)
            yield (
                token.content,
                [sentence.count("{glue:text}") for sentence in sentences],
            )
        elif (
            token.type in ("fence", "colon_fence")
            and not _is_code(token)
            and "{table}" not in token.info
        ):
            yield from numbers_in(OPTIONS.sub("", token.content))


@cache
def _parser() -> MarkdownIt:
    extensions = {"amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"}
    return create_md_parser(MdParserConfig(enable_extensions=extensions), RendererHTML)


def _open(source: str) -> Iterator[Token]:
    """Tokens of the text that is not folded on the page, those within directives
    included.
    """
    for token in _parser().parse(source):
        nested = token.type in ("fence", "colon_fence") and re.match(
            r"\{(?!code-cell|math|code)", token.info
        )
        if nested and FOLDED.search(
            f"{token.info}\n{''.join(OPTIONS.findall(token.content))}"
        ):
            continue
        if nested:
            yield from _open(
                token.info.partition("}")[2] + "\n\n" + OPTIONS.sub("", token.content)
            )
        else:
            yield from token.children or [token]


def _is_code(token: Token) -> bool:
    return token.type == "fence" and not token.info.startswith("{prf")


def _seconds(token: Token) -> float:
    if token.type == "fence":
        return DISPLAYED if "{math}" in token.info else _code(token.content)
    if token.type.startswith(("math_block", "amsmath")):
        return DISPLAYED
    return (
        FORMULA
        if token.type == "math_inline"
        else WORD * len(re.findall(r"\w+", token.content))
    )


def _code(cell: str) -> float:
    """Seconds for a cell: its visible code, its figure, and an explorer to try."""
    seconds = FIGURE * ("alt:" in cell) + EXPLORER * bool(
        re.search(r"^\w+(?:Explorer|Bench)\(", cell, re.MULTILINE)
    )
    if HIDDEN.search(cell):
        return seconds
    code = OPTIONS.sub("", cell)
    if sets_up(code):  # the page folds a set-up
        return seconds
    code = without_bookkeeping(code)
    return seconds + CODE * len("".join(code.split()))
