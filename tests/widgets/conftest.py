"""Fixtures for the tests of the explorers."""

import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import jax
import pytest


@pytest.fixture
def run_copied(double_by_default: bool) -> Iterator[Callable[[str], dict[str, Any]]]:
    """Runs the text of *copy as Python*, as in a new notebook, and returns its names.
    Its output is printed, and is also under the name `printed`.

    A reader compares the page with the output, so a script that prints no number fails.
    """

    def run(text: str) -> dict[str, Any]:
        names: dict[str, Any] = {}
        with redirect_stdout(StringIO()) as heard:
            exec(compile(text, "copied.py", "exec"), names)
        names["printed"] = heard.getvalue()
        print(names["printed"], end="")
        assert re.search(r"\d", names["printed"]), f"it prints no number:\n{text}"
        return names

    yield run
    jax.config.update("jax_enable_x64", double_by_default)
