"""Each checker of the claims' chain reports the fault it is written for, and none in a
complete chain.
"""

from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import claim_chain
import pytest

from extensions.claims.links import (
    Figure,
    conditions,
    read_claims,
    read_formats,
    violations,
)
from extensions.claims.measured_lines import outdated
from extensions.claims.table import linked_names, pending_target

CHAPTER = """# A chapter
(sec-one)=
## One
$$ x = y $$ (eq-one)

```{prf:theorem}
:label: thm-one
Text that says measured("D-x", prose=1).
```

```{code-cell} ipython3
---
tags: [hide-input]
mystnb:
  figure: {name: fig-one, caption: "One"}
---
for name in names:
    measured("D-x", {f"{name}-error": 1.0, f"{name}-rest": 2.0})
```

```{code-cell} ipython3
:tags: [hide-input]
measured("D-x", printed=error)
```
"""
CODE = '"""Module."""\n\n\ndef f():\n    """Returns one [D-x]."""\n\n\ndef g():\n    """Returns [D-x1]."""\n'
ROW: dict[str, Any] = {
    "id": "D-x",
    "source": "chain_sample.f",
    "test": "tests/test_sample.py::test_f",
    "chapter": "thm-one",
    "widget": "RetrievalExplorer",
    "figures": {"D-x.printed": ".1e", "D-x.near-error": None},
    "in_text": {"D-x.*-rest": ".2f"},
    "holds": {"D-x.printed": "> 2 D-x.near-error"},
    "statement": "That $x=y$.",
    "status": "corrected",
    "errata": {
        "kind": "false",
        "where": "eq. 1",
        "printed": "$x=z$",
        "why": "It is not.",
        "refuted_by": "D-x.printed",
        "number": "error",
        "repair": "$x=y$",
    },
}


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> claim_chain.Book:
    files = {
        "src/chain_sample.py": CODE,
        "tests/test_sample.py": "def test_f(): ...\n\n\ndef helper(): ...\n",
        "book/chapters/one.md": CHAPTER,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path / "src")
    return claim_chain.Book(tmp_path)


def faults(row: dict[str, Any], book: claim_chain.Book) -> list[str]:
    return [fault for check in claim_chain.CHECKERS for fault in check(row, book)]


def test_a_complete_row_of_a_claim_has_no_fault(book: claim_chain.Book) -> None:
    assert faults(ROW, book) == []


@pytest.mark.parametrize("label", ["sec-one", "eq-one", "thm-one", "fig-one"])
def test_each_kind_of_label_is_found(book: claim_chain.Book, label: str) -> None:
    assert faults({**ROW, "chapter": label}, book) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"status": "right"}, "no such status"),
        ({"statement": "That $x=y."}, "dollar too many"),
        ({"source": "chain_sample.h"}, "does not define h"),
        ({"source": "no_such_module.f"}, "no module of"),
        ({"source": "chain_sample.g"}, "no docstring of"),
        ({"test": "tests/test_sample.py::test_g"}, "does not define test_g"),
        ({"test": "tests/test_other.py::test_f"}, "no such test file"),
        ({"test": "tests/test_sample.py::helper"}, "not the name of a test"),
        ({"chapter": "thm-two"}, "no chapter has the label"),
        ({"figures": {"D-x.other": None}}, "no cell of one records"),
        ({"figures": {"D-x.prose": None}}, "no cell of one records"),
        ({"figures": {"D-y.printed": None}}, "bears another claim's id"),
        ({"figures": {"D-x.near-error": None}}, "refutes it is not among"),
        ({"figures": {"D-x.printed": "2f."}}, "'2f.' is no format of a number"),
        ({"figures": {"D-x.printed": "<1e-"}}, "'<1e-' is no format of a number"),
        ({"in_text": {"D-x.*-law": ".2f"}}, "no cell records 'D-x.*-law'"),
        ({"in_text": {"D-x.printed": ".2f"}}, "listed again"),
        ({"holds": {"D-x.other": "> 1"}}, "not among the claim's figures"),
        ({"holds": {"D-x.printed": "about 1"}}, "try '< 1e-6'"),
        ({"holds": {"D-x.printed": "> D-x.prose"}}, "no cell of one records"),
        ({"widget": "NoSuchExplorer"}, "has no 'NoSuchExplorer'"),
        ({"status": "holds"}, "errata belong to"),
        ({"errata": None}, "errata belong to"),
        (
            {"errata": ROW["errata"] | {"kind": "wrong"}},
            "no such kind of erratum: 'wrong'",
        ),
        (
            {
                "errata": {
                    key: ROW["errata"][key]
                    for key in ("kind", "where", "printed", "why", "repair")
                }
            },
            "without number",
        ),
        (
            {"status": "slip"},
            "an erratum of the kind 'false' does not fit the status 'slip'",
        ),
        ({"status": "measured"}, "no such status: 'measured'"),
        ({"records": ["no_such_record"]}, "no such record: 'no_such_record'"),
        ({"source": None}, "no source, and no reason"),
        ({"test": None, "uncovered": "later"}, "no test, and no reason"),
        (
            {"figures": {}, "holds": {}, "status": "holds", "errata": None},
            "no figures, and no reason",
        ),
        ({"uncovered": "Nothing of it could be computed."}, "a gap that is none"),
    ],
)
def test_a_planted_fault_is_seen(
    book: claim_chain.Book, change: dict[str, Any], fault: str
) -> None:
    assert any(fault in text for text in faults({**deepcopy(ROW), **change}, book))


@pytest.mark.parametrize(
    "field", ["where", "printed", "why", "repair", "refuted_by", "number"]
)
def test_an_erratum_needs_every_field(book: claim_chain.Book, field: str) -> None:
    row = {**ROW, "errata": {**ROW["errata"], field: ""}}
    assert f"errata without {field}" in faults(row, book)


def test_a_gap_with_its_reason_and_a_slip_without_a_number_pass(
    book: claim_chain.Book,
) -> None:
    slip = {
        "kind": "slip",
        "where": "eq. 1",
        "printed": "$q$",
        "why": "A slip.",
        "repair": "$x$",
    }
    row = {
        **ROW,
        "status": "slip",
        "errata": slip,
        "figures": {},
        "holds": {},
        "source": None,
        "test": None,
    }
    assert (
        faults({**row, "uncovered": "A slip of notation: nothing to compute."}, book)
        == []
    )


def test_the_build_sees_a_figure_that_violates_its_condition_or_cannot_be_compared() -> (
    None
):
    conditions = {
        "D-x.b": "> D-x.a",
        "D-x.c": "< 1e-9",
        "D-x.text": "< 1",
        "D-x.early": "< D-x.late",
    }
    numbers = {
        "D-x.a": 1.0,
        "D-x.b": 2.0,
        "D-x.c": 0.0,
        "D-x.text": None,
        "D-x.early": 1.0,
        "D-x.late": 2.0,
    }

    def messages(**changed: float | None) -> list[str]:
        figures = numbers | {f"D-x.{name}": number for name, number in changed.items()}
        return [
            *violations(
                conditions,
                {key: Figure(str(number), number) for key, number in figures.items()},
            )
        ]

    text, late = messages()
    assert "D-x.text is a text" in text
    assert "recorded before this one" in late
    assert "D-x.b is 0.5, and should be > D-x.a" in messages(b=0.5)
    assert "D-x.c is nan, and should be < 1e-9" in messages(c=float("nan"))


def test_the_short_names_of_a_rows_figures_are_completed_with_its_id(
    tmp_path: Path,
) -> None:
    path = tmp_path / "claims.yml"
    path.write_text(
        """
- id: D-eq3
  includes: [D-eq4]
  figures: {gap: .3f, D-eq4.rest, "1.5": ",d"}
  in_text: {law-*: .1%}
  holds: {gap: "< 1", D-eq4.rest: "< D-eq3.gap"}
- {id: D-eq5, figures: {}}
---
speed: {edit: .1f, gpu-*: <1e-3}
"""
    )
    row, other = read_claims(path)
    assert row["figures"] == {"D-eq3.gap": ".3f", "D-eq4.rest": None, "D-eq3.1.5": ",d"}
    assert conditions([row, other]) == {
        "D-eq3.gap": "< 1",
        "D-eq4.rest": "< D-eq3.gap",
    }
    assert read_formats(path) == {
        "D-eq3.gap": ".3f",
        "D-eq4.rest": "",
        "D-eq3.1.5": ",d",
        "D-eq3.law-*": ".1%",
        "speed.edit": ".1f",
        "speed.gpu-*": "<1e-3",
    }


def test_a_page_is_read_again_if_a_format_that_it_shows_has_changed(
    tmp_path: Path,
) -> None:
    (tmp_path / "claims.yml").write_text("- {id: D-x, figures: {a: .2f, b-1: .1f}}\n")
    formats_by_page = {
        "same": {"D-x.a": ".2f"},
        "other": {"D-x.a": ".2f", "D-x.b-1": ".3f"},
        "gone": {"D-x.c": ".1f"},
    }
    env: Any = SimpleNamespace(
        srcdir=tmp_path,
        config=SimpleNamespace(claims_file="claims.yml"),
        metadata={
            page: {"formats": formats} for page, formats in formats_by_page.items()
        },
    )
    env.metadata["none"] = {}
    assert outdated(None, env, set()) == ["other", "gone"]


def test_a_claim_is_named_in_brackets_in_a_docstring(tmp_path: Path) -> None:
    file = tmp_path / "src" / "rankone" / "part" / "sample.py"
    file.parent.mkdir(parents=True)
    file.write_text(
        '"""Module [A-one,\n B-z*]."""\nx = "[C-no]"\n\n\n'
        'class C:\n    """a[N-1], C-no, [D-eq1-3] and [M-fig2–5]."""\n\n'
        '    def f(self):\n        """Method [M-(1)]."""\n'
    )
    assert claim_chain.named_in_docstrings(tmp_path) == {"A-one", "B-z*", "M-(1)"}


def test_claims_that_are_listed_twice_unlisted_or_unknown_are_reported() -> None:
    rows = [
        {"id": "D-eq1"},
        {"id": "D-eq2-3", "includes": ["D-eq2", "D-eq1"]},
        {"id": "D-new"},
    ]
    assert claim_chain.miscounted(rows, ["D-eq1", "D-eq2", "D-eq3"]) == {
        "D-eq1": 2,
        "D-eq3": 0,
        "D-new": 1,
    }


def test_a_claim_id_in_an_erratum_becomes_a_link_except_inside_a_formula() -> None:
    parts = linked_names("D-eq1, $D-eq1$ and X-eq1.", {"D-eq1"})
    assert [part["claim"] for part in parts if isinstance(part, pending_target)] == [
        "D-eq1"
    ]
    assert "".join(part.astext() for part in parts) == "D-eq1, D-eq1 and X-eq1."
