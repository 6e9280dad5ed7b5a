"""The experiments on ResMem in miniature, and the records that the chapter shows."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from rankone.records import load_record, provenance

ROOT = Path(__file__).parents[1]
TINY = {
    "residual_letter": "--share 0.05 --width 4 --epochs 1 --queries 40",
    "residual_sensitivity": "--data letter --space input --width 4 --share 0.05 --queries 40",
}


@pytest.fixture
def experiment(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "experiments"))
    before = set(sys.modules)
    yield lambda name: __import__(name)
    for module in set(sys.modules) - before:
        if (ROOT / "experiments") in Path(getattr(sys.modules[module], "__file__", None) or "/").parents:
            del sys.modules[module]


@pytest.mark.parametrize("name", TINY)
def test_script_runs_in_miniature_and_skips_what_is_done(experiment, name, tmp_path):
    module, record = experiment(name), experiment("record")
    argv = [*TINY[name].split(), "--out", str(tmp_path)]
    run = lambda: record.main(name, module.__doc__, module.PAPER, module.measure, options=module.OPTIONS, argv=argv)  # noqa: E731
    first = run()
    assert json.loads((tmp_path / f"{name}.json").read_text()) == first
    assert len(first["cells"]) == 1
    assert run()["cells"] == first["cells"]


@pytest.mark.parametrize("name", ["residual_fashion", "residual_letter", "residual_sensitivity"])
def test_record_shown_in_the_book_says_where_it_comes_from(experiment, name):
    record, module = load_record(name), experiment(name)
    assert record["cells"]
    assert record["axes"] == list(module.PAPER)
    assert record["runs"][0]["date"] in provenance(record)


@pytest.mark.parametrize("name", ["residual_fashion", "residual_letter"])
def test_recorded_gains_are_those_of_the_accuracies(name):
    for cell in load_record(name)["cells"]:
        for kind in ("resmem_learned", "resmem_input"):
            found, base = cell["results"][kind], cell["results"]["base"]
            assert found["total"] == pytest.approx(found["test"] - base["test"], abs=1e-4)
            assert found["total"] == pytest.approx(found["mended"] - found["spoilt"], abs=1e-4)
            assert 0 <= found["both_wrong"] <= 1 - found["test"]


def test_the_record_of_full_data_has_three_seeds_a_cell():
    cells = [c for c in load_record("residual_fashion")["cells"] if c["parameters"]["share"] == 1.0]
    for width in (4, 16, 64):
        seeds = {c["parameters"]["seed"] for c in cells if c["parameters"]["width"] == width}
        assert seeds >= {0, 1, 2}
    assert np.mean([c["results"]["base"]["test"] for c in cells]) > 0.7
