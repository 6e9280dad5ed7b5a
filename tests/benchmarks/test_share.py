"""The benchmark of one GPU's share of a billion keys, and its record. Nothing here is
timed.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import share, timing

from rankone_book import growth

FORMS = [
    ("list, bfloat16", "energy and gradient", 1),
    ("list, bfloat16", "energy and gradient", 64),
    ("list, bfloat16", "nearest keys", 1),
    ("list, bfloat16", "nearest keys", 64),
    ("vector, Hadamard frequencies", "energy and gradient", 1),
]


def names(rows):
    return [(row["form"], row["task"], row["N"]) for row in rows]


def test_a_quick_run_has_every_form(monkeypatch):
    monkeypatch.setattr(timing, "BURST", 0.0)
    _, rows = share.run(quick=True, repetitions=1)
    assert names(rows) == FORMS


def test_a_device_with_too_little_memory_measures_nothing_and_prints_a_message(capsys):
    _, rows = share.run(quick=False, repetitions=1)
    assert rows == []
    assert "left out" in capsys.readouterr().out


def test_the_record_measures_one_64th_of_the_store_that_the_page_computes():
    record = growth.record("share")
    assert names(record["rows"]) == FORMS
    whole = growth.costs(10**9, 768, error=0.25, use="energy", hardware="cluster")
    stored_bytes = {row["form"]: row["kept"] for row in record["rows"]}
    assert stored_bytes["list, bfloat16"] * 64 == whole["half"].stored_bytes
    # signs and norms are stored in blocks, which are padded to whole transforms
    ratio = (
        stored_bytes["vector, Hadamard frequencies"]
        * 64
        / whole["hadamard"].stored_bytes
    )
    np.testing.assert_allclose(ratio, 1, rtol=0.01)
    # no row is faster than the bandwidth of the data sheet allows
    bandwidth = growth.HARDWARE["cluster"].bandwidth
    for row in record["rows"]:
        assert row["wall_ms"]["min"] > 1e3 * row["bytes"] / bandwidth


def test_each_row_of_the_h100_record_names_a_peer_and_a_consistent_ratio():
    path = ROOT / "benchmarks/results/h100.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    assert {"device", "date", "versions", "note", "pieces"} <= record.keys()
    for row in record["rows"]:
        assert row["peer"]
        quotient = row["peer_ms"]["median"] / row["ours_ms"]["median"]
        # Times were printed to 0.01 ms, and the shortest is 0.1 ms. The ratio is the
        # median of the ratios, not the ratio of the medians.
        assert quotient == pytest.approx(row["ratio"]["median"], rel=0.25, abs=0.1)


def test_an_unknown_name_of_a_growth_record_is_refused():
    with pytest.raises(ValueError, match=r"^name: got 'memory'"):
        growth.record("memory")
