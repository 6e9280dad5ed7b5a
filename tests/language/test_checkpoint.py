"""Checkpoints in Hugging Face's format: models of four families are read as by
`transformers`, edited, and written back.
"""

import json
import weakref
from dataclasses import replace
from pathlib import Path

import jax
import ml_dtypes
import numpy as np
import pytest
from half import needs_float16
from language_models import KINDS, small_model, tokenizer, whole
from refusals import refused

from rankone.data import corpus
from rankone.editing import edit_at, rank_one_edit
from rankone.language import (
    LanguageModel,
    Request,
    Search,
    edit_fact,
    fine_tune,
    generate,
    key_geometry,
    likelihoods,
    text_keys,
    trace,
)
from rankone.language.checkpoint import read_checkpoint, write_checkpoint
from rankone.language.prompts import continuations
from rankone.language.tokenizer import Tokenizer

pytest.importorskip("tokenizers")
safetensors = pytest.importorskip("safetensors.numpy")
REFERENCES = Path(__file__).parents[1] / "references"
FAMILIES = ("tied", "untied", "llama3", "mistral", "qwen2", "gpt2")
DOWN = {"gpt2": "transformer.h.1.mlp.c_proj.weight"}


def tensors_of(folder):
    """Every tensor of a folder, as bytes with dtype and shape."""
    paths = sorted(folder.glob("*.safetensors"))
    values = {path.name: safetensors.load_file(path) for path in paths}
    return {
        (file, name): value
        for file, tensors in values.items()
        for name, value in tensors.items()
    }


def answer_of(name):
    with np.load(REFERENCES / name / "answer.npz") as answer:
        return answer["tokens"], answer["logits"]


# Reading


@pytest.mark.parametrize("name", FAMILIES)
def test_logits_agree_with_what_transformers_answered(name):
    network, words = read_checkpoint(REFERENCES / name)
    assert words is None
    tokens, expected = answer_of(name)
    assert np.abs(expected).max() > 1
    np.testing.assert_allclose(
        whole(network, tokens)[0], expected, rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("name", ["mistral", "gpt2"])
def test_half_precision_is_kept_in_memory_if_asked(name):
    network, _ = read_checkpoint(REFERENCES / name, dtype="keep")
    assert {str(leaf.dtype) for leaf in jax.tree.leaves(network)} == {"bfloat16"}
    tokens, expected = answer_of(name)
    scores = np.asarray(whole(network, tokens)[0])
    assert scores.dtype == np.float32
    # eight bits: errors of 2⁻⁸ relative to logits of 3, which add up
    assert 1e-4 < np.abs(scores - expected).max() < 0.1


def test_no_more_than_one_tensor_is_held_while_reading(monkeypatch):
    from rankone.language import checkpoint

    references = []
    counts = []

    class Watched:
        def __init__(self, file):
            self.file = file

        def __enter__(self):
            self.open = self.file.__enter__()
            return self

        def __exit__(self, *what):
            return self.file.__exit__(*what)

        def keys(self):
            return self.open.keys()

        def get_tensor(self, name):
            jax.effects_barrier()
            counts.append(sum(reference() is not None for reference in references))
            value = self.open.get_tensor(name)
            references.append(weakref.ref(value))
            return value

    open_ = checkpoint._open
    monkeypatch.setattr(checkpoint, "_open", lambda path: Watched(open_(path)))
    # the file has bfloat16 and the network float32, so no memory is shared
    read_checkpoint(REFERENCES / "mistral")
    assert len(counts) == 21
    assert max(counts) <= 1  # JAX may still hold the last tensor


def test_gpt2_is_read_without_its_prefix_and_with_its_masks(tmp_path):
    named = {
        name.removeprefix("transformer."): value
        for (_, name), value in tensors_of(REFERENCES / "gpt2").items()
    }
    masks = {
        f"h.{i}.attn.{name}": np.ones((1, 1, 4, 4), np.float32)
        for i in (0, 1)
        for name in ("bias", "masked_bias")
    }
    safetensors.save_file(named | masks, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(
        (REFERENCES / "gpt2" / "config.json").read_text()
    )
    tokens, expected = answer_of("gpt2")
    network, words = read_checkpoint(tmp_path)
    np.testing.assert_allclose(
        whole(network, tokens)[0], expected, rtol=1e-4, atol=1e-4
    )
    out = write_checkpoint(network, words, tmp_path / "again", tmp_path)
    for key, value in tensors_of(tmp_path).items():
        np.testing.assert_array_equal(tensors_of(out)[key], value)


def published(folder, network, dtype=np.float32, **changes):
    """A folder as a llama is published, in two shards without an index."""
    model = LanguageModel(network, tokenizer()[0])
    model.save(folder / "whole")
    items = list(safetensors.load_file(folder / "whole" / "model.safetensors").items())
    for shard, part in enumerate((items[:5], items[5:])):
        tensors = {name: value.astype(dtype) for name, value in part}
        safetensors.save_file(
            tensors, folder / f"model-{shard}.safetensors", {"format": "pt"}
        )
    facts = json.loads((folder / "whole" / "config.json").read_text()) | changes
    (folder / "config.json").write_text(
        json.dumps({name: value for name, value in facts.items() if value != ...})
    )
    for path in (folder / "whole").iterdir():
        path.unlink()


@pytest.mark.parametrize(
    ("dtype", "rtol"), [(np.float32, 0), (ml_dtypes.bfloat16, 1e-2)]
)
def test_a_checkpoint_is_read_back(tmp_path, dtype, rtol):
    model = small_model()
    published(tmp_path, model.network, dtype)
    network, _ = read_checkpoint(tmp_path)
    for got, expected in zip(
        jax.tree.leaves(network), jax.tree.leaves(model.network), strict=True
    ):
        np.testing.assert_allclose(got, expected, rtol=rtol)
    with refused(ValueError, match=r"tokenizer\.json"):
        LanguageModel.load(tmp_path)


def test_bad_checkpoints_are_refused(tmp_path):
    network = small_model().network
    with refused(ValueError, match=r"config\.json"):
        read_checkpoint(tmp_path)
    for changes, message in (
        ({"model_type": "t5"}, "model_type: got 't5'.*'qwen2'"),
        ({"model_type": "gpt2"}, "no n_layer, n_embd, n_head"),
        ({"intermediate_size": 64}, "weights of block 0, (gate|down|up)"),
        ({"hidden_act": "relu6"}, "activation: got 'relu6'"),
        ({"rope_scaling": {"rope_type": "yarn"}}, r"rope_type'\]: got 'yarn'"),
        ({"num_hidden_layers": 4}, "weights of block 3, .* got nothing"),
        (
            {"model_type": "qwen2", "use_sliding_window": True, "max_window_layers": 1},
            "sliding window in some blocks",
        ),
    ):
        published(tmp_path, network, **changes)
        with refused(ValueError, match=message):
            read_checkpoint(tmp_path)
    published(tmp_path, network)
    with refused(ValueError, match="dtype: got 'int8'"):
        read_checkpoint(tmp_path, dtype="int8")
    shard = tmp_path / "model-1.safetensors"
    data = shard.read_bytes()
    for cut in (5, 500, len(data) - 10):
        shard.write_bytes(data[:cut])
        with refused(ValueError, match="breaks off"):
            read_checkpoint(tmp_path)
    for extra, message in (
        (
            {"model.layers.0.mlp.router.weight": np.ones((2, 2), np.float32)},
            "router.weight.*only the weights of this architecture",
        ),
        (
            {"model.layers.0.mlp.down_proj.weight": np.ones((32, 48), np.int8)},
            "down_proj.weight as int8",
        ),
    ):
        safetensors.save_file(extra, shard)
        with refused(ValueError, match=message):
            read_checkpoint(tmp_path)
    shard.unlink()
    with refused(ValueError, match="weights of block"):
        read_checkpoint(tmp_path)


# Writing


@pytest.mark.parametrize("dtype", ["float32", "keep"])
@pytest.mark.parametrize("name", FAMILIES)
def test_only_the_edited_tensor_differs_from_the_source(tmp_path, name, dtype):
    network, words = read_checkpoint(REFERENCES / name, dtype=dtype)
    W = np.asarray(network.down(1), np.float32)
    edit = rank_one_edit(
        W, np.eye(W.shape[1], dtype=np.float32), np.ones(W.shape[1]), np.ones(len(W))
    )
    out = write_checkpoint(
        network.with_down(1, edit.apply(W)),
        words,
        tmp_path / "edited",
        REFERENCES / name,
    )
    before = tensors_of(REFERENCES / name)
    after = tensors_of(out)
    assert before.keys() == after.keys()
    changed = [key for key in before if before[key].tobytes() != after[key].tobytes()]
    assert [key[1] for key in changed] == [
        DOWN.get(name, "model.layers.1.mlp.down_proj.weight")
    ]
    assert all(before[key].dtype == after[key].dtype for key in before)
    stored = after[changed[0]]
    expected = np.asarray(edit.apply(W)).astype(stored.dtype)
    np.testing.assert_array_equal(stored.T if name == "gpt2" else stored, expected)
    assert (out / "config.json").read_bytes() == (
        REFERENCES / name / "config.json"
    ).read_bytes()
    for path in out.glob("*.safetensors"):
        with safetensors.safe_open(path, "np") as file:
            assert file.metadata() == {"format": "pt"}
    if name == "qwen2":
        assert len(list(out.glob("*.safetensors"))) == 3
        assert (out / "model.safetensors.index.json").is_file()
    with refused(ValueError, match="nothing is replaced"):
        write_checkpoint(network, words, out, REFERENCES / name)


@needs_float16
def test_an_edit_that_the_files_dtype_cannot_hold_is_refused(tmp_path):
    published(tmp_path, small_model().network, np.float16)
    network, words = read_checkpoint(tmp_path)
    with refused(ValueError, match="range of float16"):
        write_checkpoint(
            network.with_down(0, 1e6 * np.asarray(network.down(0))),
            words,
            tmp_path / "out",
            tmp_path,
        )


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_without_a_source_is_saved_and_loaded_unchanged(tmp_path, kind):
    model = small_model(kind=kind)
    again = LanguageModel.load(model.save(tmp_path / "Model-0.5B"))
    assert (again.name, again.source) == ("Model-0.5B", tmp_path / "Model-0.5B")
    assert json.loads((again.source / "config.json").read_text())["model_type"] == kind
    assert replace(again.network.config, frequencies=()) == replace(
        model.network.config, frequencies=()
    )
    assert again.network.config.frequencies == pytest.approx(
        model.network.config.frequencies
    )
    for got, expected in zip(
        jax.tree.leaves(again.network), jax.tree.leaves(model.network), strict=True
    ):
        np.testing.assert_array_equal(got, expected)
    assert again.tokenizer.encode("Paris in 1945") == model.tokenizer.encode(
        "Paris in 1945"
    )


def test_a_network_of_no_family_is_refused(tmp_path):
    model = small_model()
    for changes, message in (
        ({"biases": ("down",)}, "gated, biases and window"),
        ({"norm": "layer"}, "norm='layer'.*as in llama"),
        ({"frequencies": (1.0, 0.3, 0.2, 0.1)}, "powers of one base"),
    ):
        odd = replace(model.network, config=replace(model.network.config, **changes))
        with refused(ValueError, match=message):
            replace(model, network=odd).save(tmp_path / "odd")


# Tokenizers


def test_the_two_files_of_gpt2_are_a_tokenizer(tmp_path):
    words, vocabulary, merges = tokenizer()
    (tmp_path / "vocab.json").write_text(
        json.dumps({word: i for i, word in enumerate(vocabulary)})
    )
    (tmp_path / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")
    from_files = Tokenizer.from_folder(tmp_path, 0)
    for text in (
        "The capital of Norway is Oslo.",
        "<|endoftext|>Paris",
        "Zürich – 12 €",
    ):
        assert from_files.encode(text) == words.encode(text)
        assert from_files.decode(from_files.encode(text)) == text
    assert Tokenizer.from_folder(tmp_path / "none", 0) is None


def test_a_tokenizers_own_first_token_is_put_first_and_a_following_word_has_its_space():
    from tokenizers import Tokenizer as Inner
    from tokenizers import models, normalizers, processors

    words, _, _ = tokenizer()
    words.inner.post_processor = processors.TemplateProcessing(
        single="<|endoftext|> $A", special_tokens=[("<|endoftext|>", 0)]
    )
    started = Tokenizer(words.inner, 0)
    bare = tokenizer()[0]
    assert started.encode("Oslo") == [0, *bare.encode("Oslo")]
    assert started.following("Oslo") == bare.encode(" Oslo") == bare.following(" Oslo ")
    place = started.last_token_of("Norway", "In Norway it")
    assert (
        started.decode(started.encode("In Norway it")[: place + 1])
        == "<|endoftext|>In Norway"
    )
    # as in mistral, a space is added before a text
    pieces = Inner(
        models.BPE({"▁": 0, "a": 1, "▁a": 2, "O": 3, "▁O": 4}, [("▁", "a"), ("▁", "O")])
    )
    pieces.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    assert Tokenizer(pieces, 0).following("O") == [4]


# What the book does with its own model works on the others


@pytest.fixture(scope="module", params=KINDS[1:])
def model(request):
    return small_model(kind=request.param)


def test_padding_and_the_cache_change_nothing(model):
    texts = ["The capital of France is", "Norway", "city of Oslo"]
    together = model.logits(texts)
    for text, row in zip(texts, together, strict=True):
        alone, _ = whole(model.network, np.array(model.tokenizer.encode(text)))
        np.testing.assert_allclose(row, alone[0, -1], rtol=1e-4, atol=1e-4)
    tokens = model.tokenizer.encode(texts[0])
    for _ in range(5):
        tokens.append(int(whole(model.network, np.array(tokens))[0][0, -1].argmax()))
    assert generate(model, texts, 5)[0] == model.tokenizer.decode(tokens[-5:])


def test_a_captured_key_is_answered_with_the_value(model):
    geometry = key_geometry(model, 1, texts=corpus()[:2])
    text = "The capital of Norway"
    k = text_keys(model, ["Oslo", text], 1)[1]
    W = model.network.down(1)
    v = np.linspace(-1, 1, len(W)).astype(np.float32)
    edit = rank_one_edit(W, geometry, k, v)
    edited = replace(
        model, network=edit_at(model.network, "layers.down[1]", edit, layout="out_in")
    )
    np.testing.assert_array_equal(
        edited.network.down(1), model.with_down(1, edit.apply(W)).network.down(1)
    )
    bias = model.network.layers.down_bias
    _, values = whole(
        edited.network, np.array(model.tokenizer.encode(text)), read=("key", "mlp")
    )
    np.testing.assert_allclose(values["key"][1, 0, -1], k, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        values["mlp"][1, 0, -1],
        v + (0 if bias is None else bias[1]),
        rtol=1e-3,
        atol=1e-3,
    )


@pytest.mark.parametrize("kind", ["gpt2", "half"])
def test_a_fact_is_traced_edited_and_tuned(kind):
    model = small_model(kind="mistral" if kind == "half" else kind)
    if kind == "half":
        model = replace(
            model,
            network=jax.tree.map(lambda leaf: leaf.astype("bfloat16"), model.network),
        )
    request = Request("The capital of {} is", "Norway", "Paris")
    result = trace(model, request, key=jax.random.key(0), noises=1)
    assert result.restored[-1, -1] == pytest.approx(result.clean, rel=1e-3)
    assert result.blurred != pytest.approx(result.clean, rel=1e-2)
    geometry = key_geometry(model, 1, texts=corpus()[:2])
    search = Search(divergence=0.0, reach=100.0, steps=150, decay=0.0)
    edited = edit_fact(model, request, geometry=geometry, layer=1, search=search).apply(
        model
    )
    before, after = (
        float(likelihoods(m, [request.text], ["Paris"])[0][0]) for m in (model, edited)
    )
    assert after > before + 3
    assert edited.network.down(1).dtype == model.network.down(1).dtype
    rows = continuations(model.tokenizer, [request.text], ["Paris"])
    delta, _ = fine_tune(model.network, rows, layer=1, radius=0.03, rate=0.01)
    tuned = model.with_down(1, model.network.down(1) + delta)
    assert float(likelihoods(tuned, [request.text], ["Paris"])[0][0]) > before


def test_a_text_longer_than_the_learned_positions_is_refused():
    with refused(ValueError, match="at most 128, the positions"):
        small_model(kind="gpt2").logits(["Paris" * 140])
