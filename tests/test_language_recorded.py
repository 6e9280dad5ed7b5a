"""The table of the recorded edits says what the cells of the record say."""

import pytest

from rankone.language.recorded import METHODS, method_rows, summarise_record


def answers(new, true, said, kept):
    return {"margin": [a - b for a, b in zip(new, true, strict=True)], "said": said, "kept": kept}


@pytest.fixture
def record():
    """Two edits with three paraphrases and two neighbours each; the closed form is right but for one of each kind."""
    before = answers([-5] * 6, [-1] * 6, False, 1.0)
    good = answers([-1, -1, -1, -1, -5, -5], [-5, -5, -5, -5, -1, -1], True, 1.0)
    poor = answers([-1, -1, -1, -6, -5, -1], [-5, -5, -5, -5, -1, -5], True, 0.5)
    cells = []
    for i, closed in enumerate((good, poor)):
        of = {method: before if method == "none" else closed for method in METHODS}
        prices = {method: (i + 1) * (4.0 if method == "identity" else 2.0) for method in METHODS if method != "none"}
        cells.append({"results": {"answers": of, "fluency": dict.fromkeys(METHODS, 6.0 + i), "interference": prices}})
    return {"cells": cells}


def test_shares_are_those_of_the_cells(record):
    found = summarise_record(record, "rome")
    assert found["efficacy"]["share"] == 1
    assert found["paraphrase"]["share"] == pytest.approx(5 / 6)
    assert found["neighbourhood"]["share"] == pytest.approx(3 / 4)
    assert found["score"] == pytest.approx(3 / (1 + 6 / 5 + 4 / 3))
    assert found["fluency"] == 6.5
    assert found["fluency_error"] == pytest.approx(0.5 / 2**0.5)
    assert found["interference"] == 1
    assert summarise_record(record, "identity")["interference"] == 2
    unedited = summarise_record(record, "none")
    assert unedited["efficacy"]["share"] == 0
    assert unedited["kept"]["share"] == 1
    assert "interference" not in unedited


def test_the_table_has_a_row_a_method(record):
    rows = method_rows(record)
    assert [row[0] for row in rows[1:]] == list(METHODS.values())
    assert {len(row) for row in rows} == {8}
    assert rows[1][1].startswith("0 (0–")
    assert rows[2][2].startswith("83 (")
    assert rows[3][-1] == "2"
