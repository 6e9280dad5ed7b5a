"""A record that is missing or damaged is refused by the name of its file."""

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from refusals import refused

from rankone_book import records

ROOT = Path(__file__).parents[2]


@pytest.fixture
def place(tmp_path, monkeypatch):
    for name in ("figure1.json", "figure1.npz"):
        shutil.copy(records.folder() / name, tmp_path)
    monkeypatch.setattr(records, "folder", lambda: tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "load"), [("json", records.load_record), ("npz", records.load_pictures)]
)
@pytest.mark.parametrize("fraction", [0.0, 0.01, 0.5, 0.999])
def test_a_damaged_record_is_named(place, name, load, fraction):
    assert load("figure1")
    path = place / f"figure1.{name}"
    data = path.read_bytes()
    path.write_bytes(data[: int(fraction * len(data))])
    with refused(
        ValueError, match=rf"record: got '.*figure1\.{name}', which cannot be read"
    ):
        load("figure1")


@pytest.mark.parametrize("text", ["[]", "{}", "\udcff"])
def test_a_file_that_is_not_a_record_raises_an_error_with_its_name(place, text):
    (place / "figure1.json").write_text(text, errors="surrogateescape")
    with refused(ValueError, match=r"record: got '.*figure1\.json'"):
        records.load_record("figure1")


def test_an_unknown_record_is_refused_with_the_names_of_those_there_are(place):
    for load in (records.load_record, records.load_pictures):
        with refused(
            ValueError,
            match="name: got 'figure9'; it must be one of the records figure1",
        ):
            load("figure9")


def test_a_run_does_not_go_on_from_a_damaged_record(place, experiment):
    (place / "figure6.json").write_text('{"name": "figure6", "runs": [')
    module = experiment("figure6")
    record = experiment("record")
    argv = ["--out", str(place), "--budget", "0"]
    with refused(ValueError, match=r"record: got '.*figure6\.json'"):
        record.main(module.EXPERIMENT, argv)
    assert (place / "figure6.json").read_text() == '{"name": "figure6", "runs": ['


def others(path):
    """The options that the line of each cell names."""
    return [cell[4] for cell in json.loads(path.read_text())["cells"]]


def test_cells_store_only_options_that_differ_from_the_full_values(
    experiment, tmp_path
):
    record = experiment("record")
    path = tmp_path / "fake.json"

    def run(options, *words):
        one = record.Experiment(
            "fake", "Fake.", {"n": [1]}, lambda **_: {"found": 1}, options
        )
        return [
            cell["parameters"]
            for cell in record.main(one, [*words, "--out", str(tmp_path)])["cells"]
        ]

    five = {"n": 1, "seed": 0, "q": 5}
    four = {"n": 1, "seed": 0, "q": 4}
    assert run({"q": 5}) == [five]
    assert run({"q": 5}, "--q", "4") == [five, four]
    assert others(path) == [{}, {"q": 4}]
    assert run({"q": 4}) == [five, four]  # the full value of q has changed
    assert others(path) == [{"q": 5}, {}]
    later = {"q": 4, "r": 1}
    # these cells were measured before r existed
    assert run(later) == [
        five | {"r": None},
        four | {"r": None},
        four | {"r": 1},
    ]


RUN = {"device": "one", "versions": {"jax": "1"}, "date": "today", "command": "python"}
RESULTS = [
    {"near": {"bits": [0.25, None], "found": True}, "price": 2},
    {"price": 1.5e-7, "near": {"bits": [], "found": False}},  # other names
    {"price": None, "near": {}},
]


def nested(runs=(RUN,), results=RESULTS):
    cells = [
        {
            "run": 0,
            "parameters": {"n": n, "seed": 0, "q": 5},
            "seconds": 0.5,
            "results": one,
        }
        for n, one in enumerate(results)
    ]
    full = {"n": [0, 1, 2], "q": 5}
    head = {"name": "nested", "axes": ["n"], "of": "the book", "full": full}
    return head | {"runs": list(runs), "cells": cells}


def test_a_written_record_is_read_back_and_stores_each_name_once(tmp_path):
    path = tmp_path / "nested.json"
    others_of_day = [RUN | {"date": f"day {i}"} for i in range(3)]
    elsewhere = RUN | {"device": "another"}
    record = nested([*others_of_day, elsewhere], 4 * RESULTS)
    records.write_record(path, record)
    assert records.read_record(path) == record
    assert [
        list(cell["results"]) for cell in records.read_record(path)["cells"][:2]
    ] == [["near", "price"], ["price", "near"]]
    text = path.read_text()
    assert text.count('"device"') == 2  # one line for each machine
    assert text.count('"price"') == 3  # and one for each set of names
    lines = text.splitlines()
    assert "[0,0,0.5,[0,0],{},[[0.25,null],true,2]]," in lines
    assert sum(line.startswith("[") for line in lines) == len(record["cells"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (",[[0.25,null],true,2]]", ",[[0.25,null],true]]"),  # a result is missing
        (",[[0.25,null],true,2]]", ",[[0.25,null],true,2,3]]"),  # one too many
        ("[0,0,0.5,[0,0]", "[0,9,0.5,[0,0]"),  # an index of names that does not exist
        ("[0,0,0.5,[0,0]", "[0,0,0.5,[0]"),  # no seed
        ('{"machine":0', '{"machine":9'),
        ("[0,0,0.5,[0,0],{},", "[0,0,0.5,[0,0],"),
    ],
)
def test_a_record_with_invalid_indices_raises_an_error_with_its_name(
    tmp_path, old, new
):
    path = tmp_path / "nested.json"
    records.write_record(path, nested())
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    with refused(ValueError, match=r"record: got '.*nested\.json'"):
        records.read_record(path)


def test_the_recorded_files_are_as_they_would_be_written_now(tmp_path):
    """Every number, name and machine is in a file only once, also if several runs wrote
    to it.
    """
    for path in records.folder().glob("*.json"):
        records.write_record(tmp_path / path.name, records.read_record(path))
        assert (tmp_path / path.name).read_text() == path.read_text(), path.name


def record_of(*cells, of="the paper"):
    entries = [
        {
            "parameters": dict(
                zip(("Y", "seed", "queries", "projection"), cell, strict=True)
            )
        }
        for cell in cells
    ]
    full = {"Y": [10, 20, 40], "queries": 500, "projection": "gaussian"}
    return {"axes": ["Y"], "of": of, "full": full, "cells": entries}


def test_a_cell_measured_with_fewer_queries_is_counted_as_reduced():
    whole = (10, 0, 500, "gaussian")
    coverage = records.coverage(
        record_of(
            whole,
            (20, 0, 50, "gaussian"),
            (20, 1, 16, "hadamard"),
            (99, 0, 500, "gaussian"),
        )
    )
    assert (coverage.cells, coverage.whole, coverage.reduced, coverage.missing) == (
        3,
        1,
        1,
        ((40,),),
    )
    assert coverage.options == {
        "queries": ([16, 50], 500),
        "projection": (["hadamard"], "gaussian"),
    }
    assert str(coverage) == (
        "2 of the paper’s 3 settings, 1 of them with 16 or 50 queries instead of 500 "
        "and projection hadamard instead of gaussian"
    )


def test_excluded_combinations_do_not_count_as_missing_and_are_stored(tmp_path):
    record = nested([RUN], RESULTS[:1]) | {"impossible": [{"n": 1}]}
    assert records.coverage(record).missing == ((2,),)
    path = tmp_path / "nested.json"
    records.write_record(path, record)
    assert records.read_record(path) == record


def test_a_cell_counts_as_whole_once_one_of_its_runs_is():
    coverage = records.coverage(
        record_of((10, 0, 50, "gaussian"), (10, 1, 500, "gaussian"))
    )
    assert (coverage.whole, coverage.reduced, coverage.options) == (1, 0, {})


def test_the_coverage_says_whether_the_grid_is_the_books_or_the_papers():
    cells = [(Y, 0, 500, "gaussian") for Y in (10, 20, 40)]
    assert (
        str(records.coverage(record_of(*cells, of="the book")))
        == "all 3 settings of the book’s experiment"
    )
    papers = {
        name
        for name in records.folder().glob("*.json")
        if records.load_record(name.stem)["of"] == "the paper"
    }
    named = {
        "figure1",
        "figure2",
        "figure3_4a",
        "figure4b",
        "figure5",
        "figure6",
        "maml_sine",
    }
    assert {path.stem for path in papers} == named


def test_a_part_of_an_experiment_is_counted_by_itself():
    """Figs 3 and 4A have a common record, and the cells of one must not be counted for
    the other.
    """
    record = record_of((10, 0, 50, "gaussian"), (20, 0, 500, "gaussian"))
    assert (
        str(records.coverage(record, Y=10))
        == "the paper’s one setting, with 50 queries instead of 500"
    )
    assert str(records.coverage(record, Y=20)) == "the paper’s one setting"
    both = records.load_record("figure3_4a")
    three, four = (records.coverage(both, retrieval=retrieval) for retrieval in (0, 1))
    assert three.cells == four.cells == 144
    assert len(three.missing) + len(four.missing) == len(records.coverage(both).missing)
    assert four.reduced + four.whole < three.reduced + three.whole <= 144


RACE = """
import sys, time
sys.path.insert(0, {folder!r})
from record import Experiment, main

def measure(*, Y, seed, **rest):
    time.sleep(0.02)
    return {{"error": Y, "pictures": {{f"p{{Y}}": [[Y]]}}}}

main(Experiment("race", "Race.", {{"Y": list(range(20))}}, measure, {{"queries": 5}}), sys.argv[1:])
"""


def test_two_runs_into_one_record_lose_nothing(tmp_path, root):
    """Two processes measure overlapping halves, and a third is killed in the middle.
    Then the whole is measured again.
    """
    code = RACE.format(folder=str(root / "experiments"))

    def start(*Y):
        return subprocess.Popen(
            [sys.executable, "-c", code, "--out", str(tmp_path), "--Y", *map(str, Y)]
        )

    runs = [start(*range(12)), start(*range(8, 20)), start(*reversed(range(20)))]
    while not (tmp_path / "race.json").exists():
        time.sleep(0.05)
    runs[2].kill()
    assert [run.wait(timeout=120) for run in runs][:2] == [0, 0]
    record = records.read_record(tmp_path / "race.json")
    assert sorted(cell["parameters"]["Y"] for cell in record["cells"]) == list(
        range(20)
    )
    assert {cell["run"] for cell in record["cells"]} <= set(range(len(record["runs"])))
    with np.load(tmp_path / "race.npz") as pictures:
        assert sorted(pictures.files) == sorted(f"p{Y}" for Y in range(20))
        assert all(pictures[f"p{Y}"].item() == Y for Y in range(20))
    assert all(run["commit"] for run in record["runs"])


def test_one_cell_is_selected_by_its_parameters() -> None:
    record = {
        "name": "made",
        "cells": [{"parameters": {"Y": 1, "seed": s}, "results": s} for s in (0, 1)],
    }
    assert records.select_one(record, seed=1)["results"] == 1
    with refused(ValueError, match="2 cells of 'made'"):
        records.select_one(record, Y=1)
    with refused(ValueError, match="0 cells of 'made'"):
        records.select_one(record, Y=2)


BY_PLACE = re.compile(
    r"\bselect\([^()]*(?:\([^()]*\)[^()]*)*\)\[\s*-?\d"
    r"|\[.(?:cells|runs).\]\[|\b(?:cells|runs|groups)\[-?\d"
)
PAGES = sorted(
    [
        *(ROOT / "book").rglob("*.md"),
        *(ROOT / "src" / "rankone_book").rglob("*.py"),
        *(ROOT / "experiments").glob("*.py"),
    ]
)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_no_cell_of_a_record_is_selected_by_its_place(page: Path) -> None:
    assert BY_PLACE.findall(page.read_text("utf-8")) == []


def test_a_selection_by_place_is_found() -> None:
    for line in (
        'select(record, Y=1)[0]["results"]',
        "select(r, **f(1))[-1]",
        'record["cells"][0]',
        "r['cells'][3]",
        'record["cells"][tried:]',
        'record["runs"][0]["command"]',
        "cells[-1]",
    ):
        assert BY_PLACE.search(line)
    assert not BY_PLACE.search('select(record, Y=1)[name]; for c in record["cells"]:')
