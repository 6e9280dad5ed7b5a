"""No page exceeds the book's limits for the reading time and for the numbers in the
text.
"""

from pathlib import Path

import pytest

from extensions.course import reading
from extensions.course.contents import contents

ROOT = Path(__file__).parents[2]
PAGES = [page.name for page in contents(ROOT) if "/chapters/" in page.document]
FIRST_PART = [
    page.name
    for page in contents(ROOT)
    if page.part == "Dense associative memory" and not page.behind
]
TEXT = "A mean of {glue:text}`a`, and {glue:text}`b`. From {glue:text}`c` on, {glue:text}`d` to {glue:text}`e`.\n"
WORDS = "one " * 1000  # five minutes
LINE = "x" * 50 + "\n"  # five seconds of code


def source(name: str) -> str:
    """Text of a chapter."""
    return (ROOT / f"book/chapters/{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_read_in_three_quarters_of_an_hour(name: str) -> None:
    assert reading.reading_minutes(source(name)) <= 45


@pytest.mark.parametrize("name", FIRST_PART)
def test_a_chapter_of_the_first_part_is_read_in_35_minutes(name: str) -> None:
    assert reading.reading_minutes(source(name)) <= 35


@pytest.mark.parametrize("name", PAGES)
def test_sentences_have_at_most_two_computed_numbers_and_paragraphs_at_most_five(
    name: str,
) -> None:
    for text, numbers in reading.numbers_in(source(name)):
        assert max(numbers) <= 2, text
        assert sum(numbers) <= 5, text


def test_numbers_are_counted_sentence_by_sentence() -> None:
    assert [numbers for _, numbers in reading.numbers_in(TEXT)] == [[2, 3]]
    inside = f":::{{prf:remark}}\n:label: rem-x\n\n{TEXT}:::\n\n| a | b |\n|---|---|\n| {{glue:text}}`f` | 1 |\n"
    assert [numbers for _, numbers in reading.numbers_in(inside)] == [[2, 3]]
    assert (
        list(reading.numbers_in("```{code-cell}\nprint('{glue:text}`a`')\n```\n")) == []
    )


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        (WORDS, 5),
        (WORDS + "and so on", 10),
        (f":::{{prf:proof}}\n{WORDS}\n:::", 5),
        (f":::{{dropdown}} Proof\n{WORDS}\n:::\n\nA word.", 5),
        (f":::{{prf:proof}}\n:class: dropdown\n\n{WORDS}\n:::\n\n{WORDS}", 5),
        ("$x$ " * 100, 5),
        ("$$\nx\n$$\n\n" * 12, 5),
        ("```{code-cell} ipython3\n" + LINE * 60 + "```", 5),
        ("```{code-cell} ipython3\n" + LINE * 61 + "```", 10),
        (
            "```{code-cell} ipython3\n---\ntags: [hide-input]\n---\n"
            + "x = 1\n" * 100
            + "```\n\nA word.",
            5,
        ),
        ("```{code-cell} ipython3\nResidualExplorer()\n```\n\n" + "one " * 401, 10),
    ],
)
def test_the_reading_time_counts_only_text_and_code_that_are_not_folded(
    text: str, minutes: int
) -> None:
    assert reading.reading_minutes(text) == minutes
