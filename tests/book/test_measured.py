"""A figure reaches the prose and the tables as the book sets it."""

import pytest
from IPython.testing.globalipapp import start_ipython
from myst_nb.core.variables import format_plain_text

from rankone.claims import measured, pretty


@pytest.mark.parametrize(
    ("value", "fmt", "text"),
    [(2731, ",d", "2,731"), (0.5, ".2f", "0.50"), (-1.2e-7, ".1e", "−1.2·10⁻⁷"), (0.0, ".1e", "0"), (-3, "d", "−3")],
)
def test_a_number_is_set_as_the_book_sets_it(value: float, fmt: str, text: str) -> None:
    assert pretty(value, fmt) == text


@pytest.mark.parametrize("text", ["2,731", "0.50", "it's"])
def test_the_page_shows_the_text_that_was_recorded(text: str) -> None:
    start_ipython()
    from IPython.utils.capture import capture_output

    with capture_output() as captured:
        assert measured("D-x.y", text) == text
    (output,) = captured.outputs
    assert output.metadata["scrapbook"]["name"] == "D-x.y"
    (record,) = output.data.values()
    assert format_plain_text(record, "") == text
