"""The experiment that writes the same pairs by every method, at a small size, and the
chapter's numbers from its record.
"""

import numpy as np
import pytest
from refusals import refused

from rankone_book import rule_runs
from rankone_book.records import load_record

SMALL = {"queries": 60, "wrong": 0.3, "features": 32}


@pytest.fixture
def study(experiment):
    return experiment("one_rule")


_held: list[dict] = []


@pytest.fixture
def cells(study):
    """Two seeds, measured once."""
    if not _held:
        for seed in (0, 1):
            results = study.measure(data="letters", n=150, seed=seed, **SMALL)
            _held.append(
                {
                    "parameters": {"data": "letters", "n": 150, "seed": seed},
                    "results": results,
                }
            )
    return _held


def test_methods_differ_in_interference_and_forgetting_as_the_theory_says(cells):
    """W-ways: an exact write does not interfere, a ridge interferes a little, and a
    batch step most. A sequence forgets its first pairs.
    """
    for cell in cells:
        results = cell["results"]
        interference = {
            method: results[method]["interference"] for method in rule_runs.WAYS
        }
        assert (
            interference["exact"]
            < 1e-3
            < interference["ridge"]
            < interference["sequence"]
            < interference["step"]
        )
        assert results["exact"]["stored"] == 1
        assert results["sequence"]["last"] < results["sequence"]["first"]
        assert results["features"]["bytes"] == 4 * 2 * 32 * 26
        assert results["exact"]["bytes"] == 4 * 150 * (16 + 26)
        assert (
            min(results[method]["unseen"] for method in ("exact", "ridge"))
            >= results["base"] - 0.05
        )


def test_few_neighbours_are_read_with_weights_that_add_up_to_one(study):
    kernel = np.array([[0.5, 0.1], [0.2, 0.7], [0.4, 0.3]])
    np.testing.assert_allclose(
        study.weights(kernel, 2), [[5 / 9, 0], [0, 0.7], [4 / 9, 0.3]], atol=1e-12
    )
    assert study.weights(kernel, 0) is kernel


def test_means_and_intervals_of_a_method_are_computed_over_the_seeds(cells):
    record = {"cells": cells}
    interval = rule_runs.over_seeds(record, "exact", "unseen", data="letters", n=150)
    each = [cell["results"]["exact"]["unseen"] for cell in cells]
    assert interval.mean == pytest.approx(np.mean(each))
    # Student's t for one degree of freedom
    assert interval.half == pytest.approx(12.706 * abs(each[0] - each[1]) / 2, rel=1e-3)
    apart = rule_runs.difference(
        record, "exact", "base", "unseen", data="letters", n=150
    )
    assert apart.mean == pytest.approx(
        np.mean(each) - np.mean([cell["results"]["base"] for cell in cells])
    )
    with refused(ValueError, match="method: got 'hebb'"):
        rule_runs.over_seeds(record, "hebb", "unseen")
    with refused(ValueError, match="parameters: got"):
        rule_runs.over_seeds(record, "exact", "unseen", n=7)


def test_the_recorded_cells_are_those_of_the_grid(study):
    record = load_record("one_rule")
    assert record["full"] == {**study.GRID, **study.OPTIONS}
    assert {cell["parameters"]["seed"] for cell in record["cells"]} == {0, 1, 2}
    table = rule_runs.ways_table(record, 1000)
    data_names = rule_runs.measured_at(record, 1000)
    assert all(f"| {name} |" in table for name in rule_runs.WAYS.values())
    assert all(
        f"{name}, noisy" in table and f"on {name}" in rule_runs.gains(record, 1000)
        for name in data_names.values()
    )
    assert {"letters", "fashion"} <= set(data_names) <= set(study.GRID["data"])


def test_ridge_is_not_detectably_better_than_exact_under_wrong_labels():
    record = load_record("one_rule")
    for data in ("letters", "fashion", "tokens"):
        gap = rule_runs.difference(record, "ridge", "exact", "noisy", data=data, n=1000)
        assert abs(gap.mean) < gap.half


def test_forgetting_shows_in_one_data_set_of_three():
    """Intervals of the sequence's error on its first and on its last pairs overlap."""
    record = load_record("one_rule")
    overlap = {}
    for data in ("letters", "fashion", "tokens"):
        first, last = (
            rule_runs.over_seeds(record, "sequence", part, data=data, n=1000)
            for part in ("first", "last")
        )
        assert first.mean > last.mean
        overlap[data] = last.mean + last.half - (first.mean - first.half)
    assert overlap["letters"] < 0.05
    assert min(overlap["fashion"], overlap["tokens"]) > 0.2
