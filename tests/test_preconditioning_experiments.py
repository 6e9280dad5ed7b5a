"""Both experiments in miniature, and the records that the chapter draws."""

import sys
from pathlib import Path

import numpy as np
import pytest

from rankone.data import fashion
from rankone.records import load_record, select

ROOT = Path(__file__).parents[1]
TINY = {
    "regression": "--n 4 --m 3 --examples 60 --batch 20 --steps 8 --every 4 --rate 0.3",
    "fashion": "--widths 9,5,2,5,9 --batch 8 --steps 4 --every 2 --test 10 --rate 0.3",
}
OURS = ["gd", "momentum", "adam", "explicit", "reparameterised"]


@pytest.fixture
def experiment(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "experiments"))
    pictures = np.random.default_rng(0).uniform(size=(30, 9)).astype(np.float32)
    fake = fashion.Fashion(pictures, np.zeros(30, np.int32))
    monkeypatch.setattr("rankone.data.fashion_mnist", lambda split: fake)
    before = set(sys.modules)
    yield lambda name: __import__(name)
    for module in set(sys.modules) - before:
        if (ROOT / "experiments") in Path(getattr(sys.modules[module], "__file__", None) or "/").parents:
            del sys.modules[module]


@pytest.mark.parametrize("name", TINY)
def test_explicit_and_reparameterised_training_have_one_curve(experiment, name, tmp_path):
    module, record = experiment(f"preconditioning_{name}"), experiment("record")
    argv = [*TINY[name].split(), "--method", *OURS, "--out", str(tmp_path)]
    made = record.main(name, module.__doc__, module.PAPER, module.measure, options=module.OPTIONS, argv=argv)
    curves = {method: select(made, method=method)[0]["results"] for method in OURS}
    for curve in curves.values():
        assert len(curve["loss"]) == len(curve["seconds"]) == 3
    np.testing.assert_allclose(curves["explicit"]["loss"], curves["reparameterised"]["loss"], rtol=1e-3)
    assert curves["explicit"]["loss"] != curves["momentum"]["loss"]


@pytest.mark.parametrize("name", TINY)
def test_the_recorded_curves_of_the_two_forms_coincide(name):
    record = load_record(f"preconditioning_{name}")
    for cell in select(record, method="explicit"):
        p = cell["parameters"]
        for twin in select(record, method="reparameterised", rate=p["rate"], seed=p["seed"]):
            np.testing.assert_allclose(cell["results"]["loss"], twin["results"]["loss"], rtol=2e-2)
    assert {c["parameters"]["method"] for c in record["cells"]} == set(record["paper"]["method"])
