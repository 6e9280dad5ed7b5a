"""The experiments of the chapter on meta-learning in miniature, and the records that it shows."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from rankone.records import load_record, provenance, select

ROOT = Path(__file__).parents[1]
TINY = {
    "maml_sine": "--learner maml recurrent --iterations 100 --meta_batch 2 --width 8 --steps 5 --tasks 4",
    "maml_letters": "--learner maml scratch --shots 1 --iterations 100 --meta_batch 2 --width 8 --steps 3 --tasks 4",
    "maml_depth": "--depth 1 2 --size 400 --iterations 100 --meta_batch 2 --tasks 4",
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
def test_script_runs_in_miniature_and_leaves_no_checkpoint(experiment, name, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "scratch"))
    module, record = experiment(name), experiment("record")
    argv = [*TINY[name].split(), "--out", str(tmp_path)]
    made = record.main(name, module.__doc__, module.PAPER, module.measure, options=module.OPTIONS, argv=argv)
    assert json.loads((tmp_path / f"{name}.json").read_text()) == made
    assert made["cells"]
    assert not list((tmp_path / "scratch").rglob("*.npz"))


@pytest.mark.parametrize("name", TINY)
def test_record_shown_in_the_book_is_whole(experiment, name):
    record, module = load_record(name), experiment(name)
    assert record["axes"] == list(module.PAPER)
    assert record["paper"] == {**module.PAPER, **module.OPTIONS}
    assert record["missing"] == []
    assert record["runs"][0]["date"] in provenance(record)
    assert len({json.dumps(cell["parameters"], sort_keys=True) for cell in record["cells"]}) == len(record["cells"])


def test_recorded_meta_trained_networks_go_on_improving():
    for cell in select(load_record("maml_sine"), learner="maml"):
        queries = np.array(cell["results"]["queries"])
        assert queries[5] < 0.5 * queries[0]
        assert queries[100] < queries[5]


def test_recorded_meta_trained_start_beats_scratch_on_unseen_letters():
    letters = load_record("maml_letters")
    for seed in {cell["parameters"]["seed"] for cell in letters["cells"]}:
        maml = select(letters, learner="maml", shots=4, seed=seed)[0]["results"]
        scratch = select(letters, learner="scratch", shots=4, seed=seed)[0]["results"]
        best = max(line["queries"][-1] for line in scratch.values())
        assert maml["queries"][100] > best + 0.03


def test_recorded_networks_have_equal_size_at_every_depth():
    record = load_record("maml_depth")
    sizes = [cell["results"]["parameters"] for cell in record["cells"]]
    assert max(abs(np.array(sizes) / 40_000 - 1)) < 0.01
