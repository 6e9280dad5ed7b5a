"""A reader filters the claims by source, status, chapter or words, and the address has
the filter.
"""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

ROWS = "table.claims-table tbody tr:visible"


def test_claims_are_found_by_words_source_status_and_chapter(visit: Callable) -> None:
    watched = visit()
    page = watched.open("book/claims.html")
    all_ = page.locator(ROWS).count()
    expect(page.locator(".claims-filter output")).to_have_text(f"{all_} of {all_}")
    page.locator(".claims-filter").get_by_label("Source", exact=True).select_option(
        "S: residual memory, Yang et al."
    )
    names = page.locator(f"{ROWS} td:first-child strong").all_text_contents()
    assert 0 < len(names) < all_
    assert all(name.startswith("S") for name in names)
    page.locator(".claims-filter").get_by_label("Status", exact=True).select_option(
        "corrected"
    )
    assert set(page.locator(f"{ROWS} .claim-status").all_text_contents()) == {
        "corrected"
    }
    assert "status=corrected" in page.url
    page.locator(".claims-filter").get_by_label("Words").fill("nearest neighbour")
    assert all(
        "nearest" in text.lower() for text in page.locator(ROWS).all_text_contents()
    )
    # a chapter of another source leaves no row
    page.locator(".claims-filter").get_by_label("Chapter", exact=True).select_option(
        index=1
    )
    expect(page.locator(".claims-filter output")).to_have_text(f"0 of {all_}")
    assert page.locator("table.claims-table:visible").count() == 0
    assert watched.errors == []


def test_an_address_sets_the_filter_and_a_link_shows_a_hidden_row(
    visit: Callable,
) -> None:
    page = visit("phone", "dark").open("book/claims.html?status=sharper&words=barrier")
    expect(page.locator(".claims-filter").get_by_label("Words")).to_have_value(
        "barrier"
    )
    row_count = page.locator(ROWS).count()
    assert 0 < row_count < 20
    page.evaluate("location.hash = 'claims-d-eq1'")
    expect(page.locator("#claims-d-eq1")).to_be_in_viewport()
    assert page.locator(ROWS).count() > row_count


def test_a_claim_is_one_line_until_it_is_opened(visit: Callable) -> None:
    page = visit().open("book/claims.html")
    row = page.locator("#claims-d-eq2")
    toggle = row.get_by_role("button", name="Details of D-eq2")
    figures = row.locator("td").nth(2).locator("p").first
    expect(figures).to_be_hidden()
    closed = row.bounding_box()["height"]
    toggle.focus()
    page.keyboard.press("Enter")
    expect(toggle).to_have_attribute("aria-expanded", "true")
    expect(figures).to_be_visible()
    assert row.bounding_box()["height"] > 2 * closed
    toggle.click()
    expect(figures).to_be_hidden()
    page.goto(page.url.partition("?")[0].partition("#")[0] + "#claims-d-eq3")
    expect(page.locator("#claims-d-eq3 td").nth(2).locator("p").first).to_be_visible()
    page.locator(".claims-filter").get_by_label("Words").fill("D-eq2 critical")
    expect(figures).to_be_visible()  # if few rows are left, they are open


@pytest.mark.parametrize("page_name", ["claims", "errata"])
def test_a_formula_is_found_by_its_tex(page_name: str, visit: Callable) -> None:
    page = visit().open(f"book/{page_name}.html")
    page.locator(".claims-filter").get_by_label("Words").fill("\\frac")
    assert re.fullmatch(
        r"[1-9]\d* of \d+", page.locator(".claims-filter output").inner_text()
    )
