"""The card that a shared link shows, and its parts that are left out if the published
book has no address.
"""

import re

import pytest
from docutils import nodes
from docutils.utils import new_document

from extensions.pages.cards import LONGEST, description, tags


def page(*children):
    """A page whose first section has a note and then this paragraph."""
    document = new_document("page")
    section = nodes.section()
    document += section
    section += nodes.note("", nodes.paragraph("", "An aside."))
    section += nodes.paragraph("", "", *children)
    section += nodes.paragraph("", "The second.")
    return document


def test_a_page_is_described_by_its_first_paragraph():
    assert (
        description(
            page(
                nodes.Text("How many "),
                nodes.emphasis("", "fit"),
                nodes.Text("\nhere?"),
            )
        )
        == "How many fit here?"
    )
    greek = page(
        nodes.Text("Raise "),
        nodes.math("", r"\beta"),
        nodes.Text(" and "),
        nodes.math("", r"W_{ij}"),
    )
    assert description(greek) == "Raise β and W_ij"
    assert description(new_document("empty")) == ""


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (
            "One sentence that is long enough to stay alone. " + "word " * 60,
            "stay alone.",
        ),
        ("word " * 60, "word …"),
    ],
)
def test_a_long_description_is_cut_after_a_sentence_or_a_word(text, end):
    about = description(page(nodes.Text(text)))
    assert about.endswith(end)
    assert len(about) <= LONGEST + 2


def test_values_are_escaped_and_empty_ones_left_out():
    lines = "\n".join(
        tags('On "β"', "", "https://a.org/b.html", "https://a.org/p.png", (12, 8))
    )
    assert 'property="og:title" content="On &quot;β&quot;"' in lines
    assert re.search('property="og:url" content="https://a.org/b.html"', lines)
    assert re.search('property="og:image:width" content="12"', lines)
    assert "description" not in lines


def test_without_a_site_address_no_tag_contains_an_address():
    lines = "\n".join(tags("Title", "About.", "", "_static/p.png", (12, 8)))
    assert "About." in lines
    assert not re.search("og:url|og:image|summary_large", lines)
