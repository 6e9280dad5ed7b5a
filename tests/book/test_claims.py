"""The chain behind every claim is complete: row, code, test, labelled statement,
figures of its chapter, errata.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml
from claim_chain import (
    CHECKERS,
    Book,
    answers_for,
    format_fault,
    miscounted,
    named_in_docstrings,
)
from docutils.nodes import make_id

from extensions.claims.links import read_claims, read_formats
from rankone_book.claims import figures_in

ROOT = Path(__file__).parents[2]
# Every claim of the papers, and the sharper results about them, so that no row is lost
# unnoticed. A result of the book's own, such as W-rule, is listed by the docstring of
# the code that computes it.
CLAIMS = [
    *(f"D-eq{n}" for n in range(1, 60)),
    *(f"D-fn{n}" for n in (3, 5, 6)),
    *(f"D-prop{n}" for n in range(1, 6)),
    *(f"D-lem{n}" for n in range(1, 4)),
    *(f"D-unn{n}" for n in range(1, 8)),
    *(f"D-obs{n}" for n in range(1, 4)),
    *(f"D-fig{n}" for n in ("1", "2", "3", "4A", "4B", "5", "6")),
    *(f"D-sharp{n}" for n in range(1, 18)),
    *(
        "D-alg1",
        "D-thm1",
        "D-thm2",
        "D-cor1",
        "D-appC-Exp",
        "D-appC-claims",
        "D-F22a",
        "D-U0",
        "D-U1",
        "D-US",
    ),
    *("D-looseness", "D-implicit"),
    *(f"R-eq{n}" for n in range(5, 18)),
    *(f"R-S{n}" for n in range(1, 11)),
    *("R-txt8", "R-2nd-order", "R-scale", "R-title"),
    *(f"K-eq{name}" for name in ("0", "1", "2", "W", "dU", "U", "vec", "P")),
    *(f"K-unn{name}" for name in ("", "-rank", "-init", "-over", "-stats", "-cost")),
    *(f"K-sharp{n}" for n in range(1, 9)),
    *(
        "K-vec",
        "K-ein",
        "K-mom",
        "K-transport",
        "K-decay",
        "K-penalty",
        "K-adam",
        "K-muon",
        "K-shampoo",
        "K-newton",
    ),
    *("K-norm", "K-FAC", "K-damping", "K-prong", "K-meta", "K-rome"),
    *(
        "M-def",
        "M-fig1",
        "M-(1)",
        "M-grad",
        "M-prod",
        "M-prod2",
        "M-z*",
        "M-pre",
        "M-kern",
        "M-lin-e",
        "M-idea1",
    ),
    *(f"M-eq{n}" for n in range(2, 7)),
    *("M-disc", "M-Ajl", "M-index", "M-v", "M-univ", "M-kshot", "M-concl"),
    *(f"M-appA-{name}" for name in ("tele", "bdry", "psd", "Bpd", "Wbar", "idx", "in")),
    *("M-appB", "M-appB-CE", "M-appB-loss", "M-appC-phi", "M-appC-B"),
    *(f"M-S{n}" for n in range(1, 10)),
    *(f"M-fig{n}" for n in range(2, 6)),
    *(f"S-eq{n}" for n in range(1, 46) if n not in (22, 24)),
    *(
        "S-eq22",
        "S-eq22-loose",
        "S-CE",
        "S-res",
        "S-rem3.2",
        "S-gain",
        "S-dich",
        "S-hyper",
        "S-4.1",
    ),
    *(
        "S-appC-top128",
        "S-appC-win",
        "S-appC-lr",
        "S-tab1",
        "S-tab2",
        "S-tab3",
        "S-fig3",
        "S-fig6",
        "S-seen",
        "S-A5.1",
        "S-A5.2",
    ),
    *(
        "S-5.2",
        "S-lemD.1",
        "S-thm5.3",
        "S-5.1txt",
        "S-2stage",
        "S-purekNN",
        "S-bul",
        "S-remE.1",
        "S-propD.2",
    ),
    *(f"S-S{n}" for n in range(1, 8)),
    *(f"S-sharp{n}" for n in range(1, 6)),
    "S-disc",
]
ROWS = read_claims(ROOT / "book" / "claims.yml")
BOOK = Book(ROOT)


def test_every_claim_is_listed_once() -> None:
    counts = miscounted(ROWS, [*CLAIMS, *named_in_docstrings(ROOT)])
    assert counts == {}, (
        "rows of book/claims.yml: each id must have one, and must be in CLAIMS or, in "
        "brackets, in a docstring of src/rankone"
    )


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_no_check_finds_a_fault_in_a_row_of_the_claims(row: dict[str, Any]) -> None:
    assert [fault for check in CHECKERS for fault in check(row, BOOK)] == []


# Claims whose figures cannot be compared with one number.
WITHOUT_A_CONDITION = {
    "D-looseness": "ranges, recorded as text",
    "M-fig1": "sizes of the network",
    "M-idea1": "number of the cells",
    "S-tab1": "the paper's own numbers",
    "S-tab3": "the paper's own numbers",
    "S-bul": "a factor by itself",
}


def test_claims_with_figures_have_conditions_except_for_the_listed_ones() -> None:
    without = {row["id"] for row in ROWS if row["figures"] and not row["holds"]}
    assert without == set(WITHOUT_A_CONDITION)
    assert sum(len(row["holds"]) for row in ROWS) > 450


def test_no_phrase_is_kept_for_a_figure_that_is_gone() -> None:
    phrases = yaml.safe_load(
        (ROOT / "book" / "phrases.yml").read_text(encoding="utf-8")
    )
    assert phrases.keys() - {key for row in ROWS for key in row["figures"]} == set()


def test_every_format_outside_a_claim_belongs_to_a_figure_that_a_cell_records() -> None:
    named = {key for row in ROWS for key in {**row["figures"], **row["in_text"]}}
    formats = read_formats(ROOT / "book" / "claims.yml")
    others = {key: fmt for key, fmt in formats.items() if key not in named}
    assert len(others) > 200
    unused = [
        key
        for key in others
        if not any(BOOK.records(page, key) for page in BOOK.recorded)
    ]
    assert unused == []
    assert {fault for fmt in others.values() if (fault := format_fault(fmt))} == set()
    ids = tuple(f"{name}." for row in ROWS for name in answers_for(row))
    assert [key for key in others if key.startswith(ids)] == [], "they have a row"


def test_every_figure_that_refutes_the_paper_has_a_condition() -> None:
    refuting = {
        row["id"]: row["errata"]["refuted_by"]
        for row in ROWS
        if row.get("errata", {}).get("refuted_by")
    }
    free = {claim for claim, key in refuting.items() if key not in conditioned()}
    assert free == set()


def test_the_errata_listed_first_are_few_and_none_is_a_slip_or_about_slides() -> None:
    first = {
        row["id"]: row["errata"]["kind"]
        for row in ROWS
        if row.get("errata", {}).get("first")
    }
    assert 5 <= len(first) <= 10
    assert "slip" not in first.values()
    assert not [name for name in first if name.startswith("M-")]


def conditioned() -> set[str]:
    """Figures with a condition, and the figures that conditions compare with."""
    conditions = [pair for row in ROWS for pair in row["holds"].items()]
    return {key for key, _ in conditions} | {
        other for _, text in conditions for other in figures_in(text)
    }


@pytest.mark.parametrize("page", ["claims", "errata"])
def test_the_page_shows_every_row_with_its_figures(page: str) -> None:
    html = (ROOT / "_build" / "html" / "book" / f"{page}.html").read_text(
        encoding="utf-8"
    )
    rows = [row for row in ROWS if page == "claims" or "errata" in row]
    assert [
        row["id"]
        for row in rows
        if f'id="{make_id(page + "-" + row["id"])}"' not in html
    ] == []
    assert "not measured" not in html
    assert "Not in a chapter" not in html or any(not row["chapter"] for row in rows)
