"""`make record` lists the missing cells of the experiments, estimates their time from
the recorded cells, and measures them in order.
"""

import subprocess
import sys
from itertools import pairwise

import pytest
from refusals import refused

from rankone._files import locked
from rankone_book.records import folder, read_record, write_record


@pytest.fixture
def missing(experiment):
    return experiment("missing")


@pytest.fixture
def fake(experiment):
    """Makes a small experiment whose cells log their parameters, in the order of the
    calls.
    """
    record = experiment("record")

    def make(name="fake", calls=None, grid=None, **how):
        def measure(**parameters):
            if calls is not None:
                calls.append((name, parameters["n"], parameters["seed"]))
            return {"n": parameters["n"]}

        return record.Experiment(
            name,
            "Fake.",
            grid or {"n": [1, 2, 3]},
            how.pop("measure", measure),
            {"q": 5},
            **how,
        )

    return make


def cell(seconds, **parameters):
    return {"parameters": parameters, "seconds": seconds, "results": {}}


def write(folder, experiment, *cells):
    """Write the record that a run with the given cells would leave."""
    entries = [{"run": 0, **one} for one in cells]
    record = {**experiment.whole, "runs": [{"device": "a device"}], "cells": entries}
    write_record(folder / f"{experiment.name}.json", record)


def test_every_cell_not_recorded_with_full_options_counts_as_missing(
    missing, fake, tmp_path
):
    one = fake(seeds=(0, 1))
    write(
        tmp_path,
        one,
        cell(1, n=1, seed=0, q=5),
        cell(1, n=2, seed=0, q=4),
        cell(1, n=9, seed=0, q=5),
    )
    status = missing.state(one, tmp_path, "cpu")
    lacking = [
        (piece.parameters["n"], piece.parameters["seed"]) for piece in status.missing
    ]
    assert lacking == [(1, 1), (2, 0), (2, 1), (3, 0), (3, 1)]
    assert all(piece.parameters["q"] == 5 for piece in status.missing)
    line = missing.table([status]).splitlines()[1].split("  ")
    assert [part.strip() for part in line if part.strip()][:6] == [
        "fake",
        "1 of 6",
        "the paper",
        "2",
        "a device",
        "5",
    ]


def test_cells_without_known_work_are_estimated_by_the_mean_recorded_time(
    missing, fake, tmp_path
):
    one = fake()
    write(tmp_path, one, cell(2.0, n=1, seed=0, q=5), cell(4.0, n=2, seed=0, q=5))
    assert [piece.seconds for piece in missing.state(one, tmp_path, "cpu").missing] == [
        pytest.approx(3)
    ]


def test_cells_with_known_work_are_estimated_by_recorded_time_per_unit(
    missing, fake, tmp_path
):
    one = fake(work=lambda parameters: parameters["n"] ** 2)

    def seconds():
        return [piece.seconds for piece in missing.state(one, tmp_path, "cpu").missing]

    assert seconds() == [None, None, None]
    write(tmp_path, one, cell(2.0, n=1, seed=0, q=5), cell(8.0, n=2, seed=0, q=4))
    assert seconds() == [pytest.approx(8), pytest.approx(18)]


def test_a_plan_takes_most_value_per_second_first_and_keeps_to_its_budget(
    missing, fake
):
    one = fake()
    pieces = [
        missing.Piece(one, {"n": n}, *pair)
        for n, pair in enumerate([(10, 1), (1, 1), (None, 99), (4, 2), (90, 8)])
    ]

    def order(budget, **named):
        return [
            piece.parameters["n"] for piece in missing.plan(pieces, budget, **named)
        ]

    assert order(1000) == [1, 3, 0, 4]
    assert order(15) == [1, 3, 0]
    assert order(14) == [1, 3]  # the next cell would exceed the budget
    assert order(104.9) == [1, 3, 0]
    assert order(0) == []
    assert order(5, named=True) == [1, 3, 2]
    assert order(0, named=True) == []
    for budget in range(0, 120, 7):
        chosen = missing.plan(pieces, budget)
        assert sum(piece.seconds for piece in chosen) <= budget
        rates = [piece.value / piece.seconds for piece in chosen]
        assert all(a >= b for a, b in pairwise(rates))


def test_a_run_that_is_killed_goes_on_where_it_was(missing, fake, tmp_path, capsys):
    calls = []

    def measure(*, n, seed, q):
        calls.append(n)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return {"n": n}

    one = fake(grid={"n": [1, 2, 3, 4]}, measure=measure)
    words = ["--out", str(tmp_path), "--minutes", "9", "--only", "fake"]
    with refused(KeyboardInterrupt):
        missing.main(words, [one])
    assert [
        c["parameters"]["n"] for c in read_record(tmp_path / "fake.json")["cells"]
    ] == [1, 2]
    assert missing.main(words, [one]) == 0
    assert calls == [1, 2, 3, 3, 4]
    record = read_record(tmp_path / "fake.json")
    assert [c["parameters"]["n"] for c in record["cells"]] == [1, 2, 3, 4]
    assert len(record["runs"]) == 1  # the same command, on the same day and machine
    assert missing.main(words, [one]) == 0
    assert calls == [1, 2, 3, 3, 4]
    assert "fake        4 of 4" in capsys.readouterr().out


def test_experiments_take_turns_by_their_value(missing, fake, tmp_path):
    calls = []
    quick = fake("quick", calls, seeds=(0, 1))
    dear = fake("dear", calls, value=100.0, seeds=(0, 1))
    for one, seconds in ((quick, 0.01), (dear, 0.1)):
        write(tmp_path, one, *(cell(seconds * n, n=n, seed=0, q=5) for n in (1, 2, 3)))
    assert missing.main(["--out", str(tmp_path), "--minutes", "1"], [quick, dear]) == 0
    assert calls == [("dear", n, 1) for n in (1, 2, 3)] + [
        ("quick", n, 1) for n in (1, 2, 3)
    ]


def test_nothing_is_measured_without_a_budget_or_of_unknown_time_without_a_name(
    missing, fake, tmp_path, capsys
):
    calls = []
    one = fake(calls=calls)
    assert missing.main(["--out", str(tmp_path)], [one]) == 0
    assert "3 of unknown time" in capsys.readouterr().out
    assert missing.main(["--out", str(tmp_path), "--minutes", "5"], [one]) == 0
    assert not calls
    assert not list(tmp_path.iterdir())
    with refused(SystemExit):
        missing.main(["--only", "fakes"], [one])
    assert "it must be among fake" in capsys.readouterr().err


def test_a_damaged_record_is_named_and_left_and_the_others_go_on(
    missing, fake, tmp_path, capsys
):
    calls = []
    broken = fake("broken", calls)
    whole = fake("whole", calls)
    (tmp_path / "broken.json").write_text('{"name": "broken", "runs": [')
    words = ["--out", str(tmp_path), "--minutes", "5", "--only", "broken", "whole"]
    assert missing.main(words, [broken, whole]) == 1
    assert (
        f"broken: record: got '{tmp_path / 'broken.json'}', which cannot be read"
        in capsys.readouterr().out
    )
    assert {name for name, *_ in calls} == {"whole"}
    assert (tmp_path / "broken.json").read_text() == '{"name": "broken", "runs": ['


def test_an_experiment_that_fails_is_named_and_the_others_go_on(
    missing, fake, tmp_path, capsys
):
    calls = []

    def measure(**parameters):
        calls.append(parameters)
        raise ValueError("no such data")

    words = ["--out", str(tmp_path), "--minutes", "5", "--only", "bad", "good"]
    assert missing.main(words, [fake("bad", measure=measure), fake("good", calls)]) == 1
    assert "bad: ValueError: no such data" in capsys.readouterr().out
    assert len(calls) == 1 + 3


def test_two_runs_at_once_are_refused(missing, fake, tmp_path, capsys):
    calls = []
    with locked(tmp_path / "missing"):
        assert (
            missing.main(
                ["--out", str(tmp_path), "--minutes", "5", "--only", "fake"],
                [fake(calls=calls)],
            )
            == 1
        )
    assert "Another run is at work" in capsys.readouterr().out
    assert not calls


def test_the_listing_has_every_script_by_its_own_name(root):
    """The script runs in a process of its own, as for a reader. All scripts are
    imported, and no record is damaged.
    """
    command = [sys.executable, str(root / "experiments/missing.py")]
    lines = subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    scripts = {
        path.stem
        for path in (root / "experiments").glob("*.py")
        if "__main__" in path.read_text()
    }
    assert [line.split()[0] for line in lines[1:-1]] == sorted(scripts - {"missing"})
    assert {
        path.stem for path in (root / "experiments/results").glob("*.json")
    } <= scripts
    assert lines[-1] == "To measure: 0 cells, 0 s."
    known = next(line for line in lines if line.startswith("editing_known"))
    assert "3 of 3" in known


def test_the_time_is_estimated_from_cells_of_the_same_kind_of_device(
    missing, fake, tmp_path
):
    one = fake()
    runs = [{"device": "CPU (x86_64, 2 cores)"}, {"device": "NVIDIA H200"}]
    cells = [{"run": 0, **cell(100.0, n=1, seed=0, q=5)}]

    def times(device):
        record = {**one.whole, "runs": runs, "cells": cells}
        write_record(tmp_path / "fake.json", record)
        pieces = missing.state(one, tmp_path, device).missing
        return [piece.seconds for piece in pieces]

    assert times("cpu") == times("gpu") == [100.0, 100.0]  # the GPU measured none
    cells.append({"run": 1, **cell(2.0, n=2, seed=0, q=5)})
    assert times("cpu") == [100.0]
    assert times("gpu") == [2.0]


def test_what_is_missing_of_fig_4a_would_take_a_processor_core_weeks(
    missing, experiment
):
    """The page on the paper's experiments says so, for the machines of the record."""
    status = missing.state(experiment("figure3_4a").EXPERIMENT, folder(), "cpu")
    seconds = [piece.seconds for piece in status.missing]
    assert None not in seconds
    assert sum(seconds) > 14 * 24 * 3600
