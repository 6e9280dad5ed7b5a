"""Errors in a student's cells, in words: which cell stopped, at which line, and why."""

import ast
import inspect
import linecache
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["defines", "in_words", "unfinished"]

# A notebook's cells may await outside a function.
_FLAGS = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def in_words(error: BaseException, names: Mapping[str, Any] | None = None) -> str:
    """The type and message of an error, with the line of the student's code that raised
    it.

    Args:
        error: Error that was raised.
        names: The variables of the notebook. Code that ran with these as its globals is
            the student's.
    """
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}{_line(error.lineno, error.text)}"
    code = None
    number = None
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_globals is names:
            code = step.tb_frame.f_code
            number = step.tb_lineno
        step = step.tb_next
    text = linecache.getline(code.co_filename, number or 0) if code else None
    message = f"{type(error).__name__}: {error}".removesuffix(": ")
    return f"{message}{_line(number, text)}"


def _line(number: int | None, text: str | None) -> str:
    if number is None:
        return ""
    return (
        f" (line {number}: `{text.strip()[:80]}`)"
        if text and text.strip()
        else f" (line {number})"
    )


def defines(source: str, name: str) -> bool:
    """True if a cell's source defines a function of that name, even if the source is
    not valid Python.
    """
    return (
        re.search(rf"^(?:async )?def {re.escape(name)}\b", source, re.MULTILINE)
        is not None
    )


def unfinished(functions: Iterable[str], names: Mapping[str, Any]) -> str | None:
    """A sentence on the cell that should define an answer, if it stopped before it did;
    else None.

    The error of the newest cell is reported even if an earlier run has defined the
    function.

    Args:
        functions: Names of the answer's functions.
        names: The variables of the notebook, where IPython keeps the sources of the
            cells that were run.
    """
    cells = names.get("In")
    if not isinstance(cells, list):
        return None
    for name in sorted(functions):
        numbers = [
            n
            for n, cell in enumerate(cells)
            if isinstance(cell, str) and defines(cell, name)
        ]
        if numbers and (reason := _stopped(name, names, cells, numbers)):
            return f"Cell [{numbers[-1]}], which defines {name}, stopped: {reason}"
    return None


def _stopped(
    name: str, names: Mapping[str, Any], cells: list[str], numbers: list[int]
) -> str | None:
    newest = cells[numbers[-1]]
    try:
        compile(newest, "cell", "exec", _FLAGS)
    except (SyntaxError, ValueError) as error:
        return in_words(error)
    if name in names:
        source = _source(names[name])
        earlier = [cells[n].strip() for n in numbers[:-1]]
        if source == newest.strip() or source not in earlier:
            return None
    last = getattr(sys, "last_value", None)
    step = getattr(last, "__traceback__", None)
    while last is not None and step is not None:
        file = step.tb_frame.f_code.co_filename
        if (
            step.tb_frame.f_globals is names
            and "".join(linecache.getlines(file)).strip() == newest.strip()
        ):
            return in_words(last, names)
        step = step.tb_next
    return "it did not run to its end. Run it again, and read its error."


def _source(function: Any) -> str | None:
    """The source of the cell that defined a function, if IPython has kept it."""
    code = (
        getattr(inspect.unwrap(function), "__code__", None)
        if callable(function)
        else None
    )
    return "".join(linecache.getlines(code.co_filename)).strip() if code else None
