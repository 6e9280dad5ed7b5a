"""What the tests of the explorers share."""

from collections.abc import Callable, Iterator
from typing import Any

import jax
import pytest


@pytest.fixture
def run_copied(double_by_default: bool) -> Iterator[Callable[[str], dict[str, Any]]]:
    """Runs what *copy as Python* gives, as in a notebook of its own, and returns its
    names.
    """

    def run(text: str) -> dict[str, Any]:
        names: dict[str, Any] = {}
        exec(compile(text, "copied.py", "exec"), names)
        return names

    yield run
    jax.config.update("jax_enable_x64", double_by_default)
