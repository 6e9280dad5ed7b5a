"""The examples in the docstrings print the results shown there, and every public name
has an example.
"""

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import rankone as ro

SOURCES = Path(__file__).parents[1] / "src"
WITH_EXAMPLES = [
    ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(SOURCES.rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_the_examples_print_the_output_they_show(module: str) -> None:
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for example in doctest.DocTestFinder(exclude_empty=True).find(
        importlib.import_module(module)
    ):
        runner.run(example, out=said.append)
    assert runner.tries, "no example was found"
    assert not runner.failures, "".join(said)


@pytest.mark.parametrize("name", ro.__all__)
def test_every_public_name_has_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(getattr(ro, name)) or "")
