"""Each experiment in miniature, the record that it writes, and the records that the
book shows.
"""

import numpy as np
import pytest

from rankone.theory.fidelity import RIGHT_WITHIN
from rankone_book.records import (
    coverage,
    folder,
    load_pictures,
    load_record,
    provenance,
    read_record,
    select,
)

TINY = {
    "basin": "--D 20 --load 1 --beta 50 --flips 0.1 --bits 60 --queries 4 --steps 3",
    "figure1": "--Y 512 --K 2 --size 16 --thumbnail 16 --steps 3",
    "figure2": "--Y 512 --K 3 --size 16 --thumbnail 16 --steps 3",
    "figure3_4a": "--Y 64 --D 10 --beta 40 --K 20 --queries 4 --steps 3",
    "figure4b": "--Y 512 --beta 60 --K 3 --size 16 --thumbnail 16 --steps 3 --query 1",
    "figure5": "--K 8 --D 10 --beta 30 --Y 64 --queries 4",
    "figure6": "--Y 64 --beta 10 --basis exp sincos --K 8 --queries 4",
    "rate_distortion": "--memory dense exact hopfield --bits 2 1 --per_bit 4 --D 10 --K 3 --steps 3",
}


def run(experiment, name, out, words=""):
    module = experiment(name)
    record = experiment("record")
    argv = [*TINY[name].split(), "--seeds", "0", *words.split(), "--out", str(out)]
    return record.main(module.EXPERIMENT, argv)


def check(record, axes):
    assert record["runs"]
    assert record["cells"]
    for entry in record["runs"]:
        assert entry.keys() >= {"device", "date", "versions", "command"}
        assert entry["versions"].keys() >= {"python", "jax", "numpy", "rankone"}
        assert entry["command"].startswith("python experiments/")
        assert "--out" not in entry["command"]
    for cell in record["cells"]:
        assert cell["parameters"].keys() >= {*axes, "seed"}
        assert cell["results"]
        assert cell["seconds"] >= 0  # rounded to 0.01; the smallest take less
        assert 0 <= cell["run"] < len(record["runs"])
    done = {
        tuple(cell["parameters"][axis] for axis in axes) for cell in record["cells"]
    }
    extent = coverage(record)
    assert extent.cells == np.prod([len(record["full"][axis]) for axis in axes])
    assert extent.whole + extent.reduced + len(extent.missing) == extent.cells
    assert not done & set(extent.missing)


@pytest.mark.parametrize("name", TINY)
def test_script_runs_in_miniature_and_skips_what_is_done(experiment, name, tmp_path):
    first = run(experiment, name, tmp_path)
    check(first, first["axes"])
    assert read_record(tmp_path / f"{name}.json") == first
    again = run(experiment, name, tmp_path)
    assert again["cells"] == first["cells"]
    more = run(experiment, name, tmp_path, "--seeds 0 1")
    assert len(more["cells"]) == 2 * len(first["cells"])


def test_budget_of_nothing_measures_nothing(experiment, tmp_path):
    record = run(experiment, "figure6", tmp_path, "--budget 0")
    assert not record["cells"]
    assert coverage(record).missing


def test_retrieval_cells_count_wrong_bits(experiment, tmp_path):
    record = run(experiment, "figure3_4a", tmp_path)
    with_retrieval = select(record, retrieval=1)
    assert with_retrieval
    for cell in with_retrieval:
        for kind in ("stored", "near", "far"):
            assert 0 <= cell["results"][kind]["bits"] <= 1
            assert 1 <= cell["results"][kind]["fixed_points"] <= 4


@pytest.mark.parametrize("name", TINY)
def test_record_shown_in_the_book_is_whole(experiment, name):
    record = load_record(name)
    module = experiment(name)
    check(record, record["axes"])
    assert record["axes"] == list(module.GRID)
    assert record["full"] == {**module.GRID, **module.OPTIONS}
    assert record["runs"][0]["date"] in provenance(record)
    assert record["runs"][0]["versions"]["jax"] in provenance(record)


@pytest.mark.parametrize("name", ["figure1", "figure2", "figure4b"])
def test_no_record_counts_a_large_error_as_right(name):
    for cell in load_record(name)["cells"]:
        for memory in ("exact", "distributed"):
            right, error = (
                np.array(cell["results"][f"{memory}_{what}"])
                for what in ("right", "error")
            )
            assert not (right & (error >= RIGHT_WITHIN)).any()


@pytest.mark.parametrize(
    ("name", "shape"),
    [("figure1", (4, 12288)), ("figure2", (8, 3072)), ("figure4b", (3072,))],
)
def test_recorded_pictures_fit_their_cells(name, shape):
    pictures = load_pictures(name)
    assert pictures
    for picture in pictures.values():
        assert np.reshape(picture, shape).dtype == np.uint8


def test_recorded_settings_test_the_distributed_memory_where_the_exact_one_finds_all_twenty():
    """A repeat of Fig. 2 in which the exact memory blends half of the pictures tests
    neither memory.
    """
    record = load_record("figure2")
    counts = {}
    for cell in record["cells"]:
        results = cell["results"]
        p = cell["parameters"]
        counts[p["beta"], p["fill"], p["Y"]] = (
            sum(results["exact_right"]),
            sum(results["distributed_right"]),
        )
        assert max(results["exact_error"]) < 0.05 or p["beta"] == 60
    assert max(exact for (beta, *_), (exact, _) in counts.items() if beta == 60) < 20
    tests = {
        key: distributed for key, (exact, distributed) in counts.items() if exact == 20
    }
    assert {fill for _, fill, _ in tests} == {0.0, 0.5}
    assert (
        tests[150, 0.0, 200_000]
        < tests[150, 0.5, 200_000]
        < tests[150, 0.5, 800_000]
        < 20
    )


def test_recorded_energies_fall_and_end_low_only_where_the_picture_is_found():
    ends = {True: [], False: []}
    for fill in (0.0, 0.5):
        results = select(load_record("figure1"), fill=fill, group=0)[0]["results"]
        for memory in ("exact", "distributed"):
            energies = np.array(results[f"{memory}_energies"])
            assert energies.shape == (4, 61)
            assert (np.diff(energies) <= 0).all()
        for end, right in zip(
            energies[:, -1], results["distributed_right"], strict=True
        ):
            ends[right].append(end)
    assert len(ends[True]) == 5
    assert max(ends[True]) < 0 < min(ends[False])


def test_records_stay_small():
    assert sum(path.stat().st_size for path in folder().iterdir()) < 2_000_000
