"""Edits of facts in a language model, and the measures of their effects."""

from collections import Counter

import jax
import numpy as np
import pytest
from language_models import plain_logits, plain_run, small_model
from refusals import refused
from scipy.special import log_softmax
from scipy.stats import binomtest, entropy

from rankone.data import corpus, countries, country
from rankone.editing import KeyGeometry, RankOneEdit
from rankone.language import (
    FactEdit,
    History,
    Request,
    Search,
    country_fact,
    edit_fact,
    fine_tune,
    judge,
    summarise,
)
from rankone.language.edit_metrics import harmonic_mean, ngram_entropy, tf_idf, wilson
from rankone.language.likelihood import likelihoods
from rankone.language.many import find_fact_values
from rankone.language.prompts import continuations, corpus_contexts, rehearsal
from rankone.language.relations import RELATIONS
from rankone.language.rewriting import subject_keys
from rankone.language.statistics import key_geometry, key_moments
from rankone.language.surgery import close_edit, find_fact_value

pytest.importorskip("tokenizers")
LAYER = 1
REQUEST = Request("The capital of {} is", "Norway", "Paris")
NEAR = {"reach": 100.0, "decay": 0.0}
# Random weights have smaller effects than trained ones, so the search goes further.
FAR = {
    "reach": 100.0,
    "steps": 150,
    "decay": 0.0,
}


@pytest.fixture(scope="module")
def model():
    return small_model()


@pytest.fixture(scope="module")
def geometry(model):
    return key_geometry(model, LAYER, texts=corpus()[:6])


def seen_at(model, text, site, **options):
    """Values at a site for one text: (L, T, ·), and the logits."""
    scores, values = plain_run(model.network, model.tokenizer.encode(text), **options)
    return values[site], scores


# Prompts


def test_likelihoods_are_means_of_log_softmax_over_the_target_tokens(model):
    prompts = ["The capital of Norway is", "Oslo"]
    targets = ["Paris", "a city in Norway"]
    scores, best = likelihoods(model, prompts, targets)
    for prompt, target, score, said in zip(prompts, targets, scores, best, strict=True):
        start = model.tokenizer.encode(prompt)
        end = model.tokenizer.encode(" " + target)
        z = plain_logits(model.network, start + end)[len(start) - 1 : -1]
        log_p = z - np.log(np.exp(z).sum(1, keepdims=True))
        assert float(score) == pytest.approx(
            log_p[np.arange(len(end)), end].mean(), rel=1e-4
        )
        assert bool(said) == (z.argmax(1) == end).all()
    with refused(ValueError, match="targets"):
        continuations(model.tokenizer, prompts, ["Paris", " "])


def test_a_rehearsal_cuts_every_row_at_the_subjects_last_token(model):
    contexts = ["", "A city. ", "Once upon a time. "]
    rows = jax.tree.map(np.asarray, rehearsal(model.tokenizer, REQUEST, contexts))
    target = model.tokenizer.encode(" Paris")
    for i, context in enumerate([*contexts, None]):
        text = "Norway is a" if context is None else context + REQUEST.text
        before = rows.before[i][rows.before_valid[i]]
        after = rows.suffix.tokens[i][rows.suffix.valid[i]]
        full = [*before, *after]
        assert full == model.tokenizer.encode(text) + (
            target[:-1] if context is not None else []
        )
        assert (
            model.tokenizer.decode(before).endswith(("The capital of", ""))
            or context is None
        )
        position = len(model.tokenizer.encode(text)) - 1 - len(before)
        assert rows.suffix.positions[i, 0] == position
    assert rows.suffix.weights[-1].sum() == 0
    np.testing.assert_allclose(rows.suffix.weights[:-1].sum(1), 1)
    # padded to a few widths, because each width has a program of its own
    longest = rows.suffix.valid.sum(1).max()
    width = 4 if longest <= 4 else -(-longest // 8) * 8
    assert rows.suffix.tokens.shape[1] == width


def test_keys_without_a_search_are_those_at_the_subjects_last_token(model):
    rows = rehearsal(model.tokenizer, REQUEST, ["", "A city. "])
    keys = subject_keys(model.network, rows, layer=LAYER)
    for key, context in zip(keys, ["", "A city. "], strict=True):
        text = f"{context}The capital of Norway"
        expected = seen_at(model, text, "key")[0][LAYER, -1]
        np.testing.assert_allclose(key, expected, rtol=1e-3, atol=1e-5)
    with refused(ValueError, match=r"^layer: got 99"):
        subject_keys(model.network, rows, layer=99)


def test_contexts_are_beginnings_of_the_corpus(model):
    contexts = corpus_contexts(model.tokenizer, ((2, 5), (1, 10)))
    assert contexts[0] == ""
    assert len(contexts) == 4
    assert all(
        any(text.startswith(context[:-2]) for text in corpus())
        for context in contexts[1:]
    )


# The key, the value and the closed form


def test_the_key_is_what_enters_the_down_projection_at_the_subject(model):
    contexts = ["", "A city. "]
    value = find_fact_value(
        model, REQUEST, contexts=contexts, layer=LAYER, search=Search(steps=1)
    )
    for context, key in zip(contexts, value.keys, strict=True):
        place = model.tokenizer.last_token_of("Norway", context + REQUEST.text)
        np.testing.assert_allclose(
            key,
            seen_at(model, context + REQUEST.text, "key")[0][LAYER, place],
            rtol=1e-3,
            atol=1e-4,
        )
    np.testing.assert_allclose(value.key, np.asarray(value.keys).mean(0))


def test_the_search_lowers_its_loss_which_is_that_of_the_whole_model(model):
    search = Search(steps=8, enough=0.0)
    value = find_fact_value(model, REQUEST, layer=LAYER, search=search)
    losses = np.asarray(value.losses)
    assert losses[-1, 0] < losses[0, 0] - 1
    # no divergence before the first step
    assert losses[0, 1] == pytest.approx(0, abs=1e-5)
    assert losses[0, 2] == 0
    place = model.tokenizer.last_token_of("Norway", REQUEST.text)
    target = model.tokenizer.encode(" Paris")[0]

    def add(site, layer, values):
        here = site == "mlp" and layer == LAYER
        return (
            values
            + (np.arange(len(values)) == place)[:, None] * np.asarray(value.delta)
            if here
            else values
        )

    again = find_fact_value(
        model, REQUEST, layer=LAYER, search=Search(steps=9, enough=0.0)
    )
    _, scores = seen_at(model, REQUEST.text, "mlp", change=add)
    assert -log_softmax(scores[-1])[target] == pytest.approx(
        float(np.asarray(again.losses)[8, 0]), rel=1e-3, abs=1e-4
    )
    outputs, _ = seen_at(model, REQUEST.text, "mlp")
    assert float(value.before) == pytest.approx(
        np.linalg.norm(outputs[LAYER, place]), rel=1e-3
    )


def test_the_search_stops_below_the_given_loss_and_stays_within_reach(model):
    value = find_fact_value(
        model, REQUEST, layer=LAYER, search=Search(enough=2.0, **FAR)
    )
    n = int(value.steps)
    assert 1 < n < 150
    losses = np.asarray(value.losses)
    assert losses[n - 1, 0] < 2.0 <= losses[n - 2, 0]
    assert np.isnan(losses[n:]).all()
    near = find_fact_value(
        model, REQUEST, layer=LAYER, search=Search(reach=0.1, enough=0.0)
    )
    assert np.linalg.norm(near.delta) <= 0.1 * float(near.before) * (1 + 1e-5)


def test_many_searches_side_by_side_find_what_each_finds_alone(model):
    long = Request(
        "In a country of the world with a name that is long, {} is a city",
        "Oslo",
        "Rome",
    )
    requests = [REQUEST, long, Request("The city of {} is", "Japan", "France")]
    search = Search(steps=6, **NEAR)
    together = find_fact_values(model, requests, layer=LAYER, search=search, batch=2)
    for request, value in zip(requests, together, strict=True):
        alone = find_fact_value(model, request, layer=LAYER, search=search)
        for name in ("delta", "keys", "before"):
            np.testing.assert_allclose(
                getattr(value, name), getattr(alone, name), rtol=1e-2, atol=1e-4
            )
        assert int(value.steps) == int(alone.steps)
    for wrong, name in (
        ({"requests": []}, "requests"),
        ({"contexts": ["A city. "]}, "contexts"),
        ({"batch": 0}, "batch"),
    ):
        with refused(ValueError, match=f"{name}: got"):
            find_fact_values(model, **{"requests": requests, "layer": LAYER} | wrong)


def test_the_divergence_penalty_more_than_halves_the_divergence(model):
    divergences = []
    for weight in (0.0, 10.0):
        search = Search(divergence=weight, enough=0.0, steps=15)
        divergences.append(
            float(
                np.asarray(
                    find_fact_value(model, REQUEST, layer=LAYER, search=search).losses
                )[-1, 1]
            )
        )
    assert divergences[1] < divergences[0] / 2


def test_the_closed_form_writes_delta_at_the_key(model, geometry):
    W = np.asarray(model.network.down(LAYER))
    value = find_fact_value(model, REQUEST, contexts=["", "A city. "], layer=LAYER)
    edit = close_edit(W, geometry, value)
    mean = np.asarray(value.key)
    bare = np.asarray(value.keys)[0]
    delta = np.asarray(value.delta)
    np.testing.assert_allclose(
        np.asarray(edit.apply(W)) @ mean, W @ mean + delta, rtol=1e-3, atol=1e-3
    )
    mixed = close_edit(W, geometry, value, key="mixed")
    np.testing.assert_allclose(
        np.asarray(mixed.apply(W)) @ bare, W @ bare + delta, rtol=1e-3, atol=1e-3
    )
    assert np.abs(np.asarray(mixed.delta) - np.asarray(edit.delta)).max() > 1e-4
    with refused(ValueError, match="key: got 'first'"):
        close_edit(W, geometry, value, key="first")


def test_an_edit_makes_the_new_fact_likelier_and_keeps_the_original_model(
    model, geometry
):
    before = np.asarray(model.network.down(LAYER)).copy()
    edit = edit_fact(
        model,
        REQUEST,
        geometry=geometry,
        layer=LAYER,
        search=Search(divergence=0.0, **FAR),
    )
    edited = edit.apply(model)
    before_and_after = [
        float(likelihoods(m, [REQUEST.text], ["Paris"])[0][0]) for m in (model, edited)
    ]
    # at least twenty times as likely
    assert before_and_after[1] > before_and_after[0] + 3
    np.testing.assert_array_equal(model.network.down(LAYER), before)
    np.testing.assert_array_equal(edited.network.down(0), model.network.down(0))
    assert (
        np.linalg.matrix_rank(
            np.asarray(edited.network.down(LAYER)) - before, rtol=1e-3
        )
        == 1
    )


def test_an_edit_of_a_fact_is_saved_loaded_and_undone_to_the_last_bit(
    tmp_path, model, geometry
):
    edit = edit_fact(
        model, REQUEST, geometry=geometry, layer=LAYER, search=Search(steps=3)
    )
    again = FactEdit.load(edit.save(tmp_path / "norway"))
    assert (again.request, again.layer, again.model) == (edit.request, LAYER, "small")
    np.testing.assert_array_equal(
        again.apply(model).network.down(LAYER), edit.apply(model).network.down(LAYER)
    )
    history = History(model).then(edit).then(again)
    np.testing.assert_array_equal(
        history.undo().model.network.down(LAYER), edit.apply(model).network.down(LAYER)
    )
    assert history.undo(2).model is model
    with refused(ValueError, match="count"):
        history.undo(3)
    with refused(ValueError, match="for which the edit was made"):
        edit.apply(LanguageModelNamed(model, "another"))
    path = RankOneEdit(
        edit.change.left, edit.change.right, edit.change.interference
    ).save(tmp_path / "matrix")
    with refused(ValueError, match="an edit of a fact"):
        FactEdit.load(path)


def LanguageModelNamed(model, name):
    from dataclasses import replace

    return replace(model, name=name)


def test_bad_requests_are_named(model, geometry):
    for bad, message in (
        (("The capital of France is", "France", "Rome"), "prompt: got"),
        (("The capital of {} is", " ", "Rome"), "subject: got"),
        (("The capital of {} is", "France", " "), "target: got"),
    ):
        with refused(ValueError, match=message):
            Request(*bad)
    with refused(ValueError, match="layer: got 9"):
        edit_fact(model, REQUEST, geometry=geometry, layer=9)
    with refused(ValueError, match="contexts"):
        edit_fact(model, REQUEST, geometry=geometry, layer=LAYER, contexts=["A city. "])
    with refused(ValueError, match="C: got"):
        edit_fact(
            model, REQUEST, geometry=KeyGeometry.from_moments(np.eye(5)), layer=LAYER
        )
    with refused(ValueError, match="a country, such as France"):
        country_fact("Frnace", "capital", "Rome")


# Statistics


def test_moments_skip_the_first_key_of_each_window_unless_skip_is_zero(
    model,
):
    texts = [text[:90] for text in corpus()[:5]]
    moments = key_moments(model, LAYER, texts, window=16, batch=4)
    rows = [
        ids[i : i + 16]
        for ids in map(model.tokenizer.encode, texts)
        for i in range(0, len(ids), 16)
    ]
    assert all(
        model.tokenizer.encode(model.tokenizer.decode(row)) == row for row in rows
    )
    windows = [
        seen_at(model, model.tokenizer.decode(row), "key")[0][LAYER] for row in rows
    ]
    keys = np.concatenate([window[1:] for window in windows])
    all_keys = np.concatenate(windows)
    assert float(moments.count) == len(keys) < len(all_keys)
    np.testing.assert_allclose(
        moments.mean, keys.T @ keys / len(keys), rtol=1e-3, atol=1e-4
    )
    whole = key_moments(model, LAYER, texts, window=16, batch=4, skip=0)
    assert float(whole.count) == len(all_keys)
    np.testing.assert_allclose(
        whole.mean, all_keys.T @ all_keys / len(all_keys), rtol=1e-3, atol=1e-4
    )
    for skip in (-1, 16):
        with refused(ValueError, match=r"^skip: got"):
            key_moments(model, LAYER, texts, window=16, skip=skip)
    C = np.asarray(moments.mean)
    ridged = key_geometry(model, LAYER, ridge=0.1, texts=texts, window=16, batch=4).C
    np.testing.assert_allclose(
        np.asarray(ridged) - C, 0.1 * np.trace(C) / 48 * np.eye(48), atol=1e-4
    )


# Fine-tuning and judging


def test_fine_tuning_stays_in_its_cube_and_makes_the_target_likelier(model):
    rows = continuations(model.tokenizer, [REQUEST.text], ["Paris"])
    W = model.network.down(LAYER)
    scores = [float(likelihoods(model, [REQUEST.text], ["Paris"])[0][0])]
    for radius in (0.003, 0.03):
        delta, steps = fine_tune(
            model.network, rows, layer=LAYER, radius=radius, rate=0.01
        )
        assert float(np.abs(delta).max()) == pytest.approx(radius, rel=1e-4)
        assert 1 < steps <= 25
        scores.append(
            float(
                likelihoods(
                    model.with_down(LAYER, W + delta), [REQUEST.text], ["Paris"]
                )[0][0]
            )
        )
    assert scores[0] < scores[1] < scores[2]


def test_judge_reports_the_answers_of_the_edited_model(model, geometry):
    fact = country_fact(
        "Norway", "capital", "Paris", [country("Japan"), country("Sweden")]
    )
    edit = edit_fact(
        model,
        fact.request,
        geometry=geometry,
        layer=LAYER,
        search=Search(divergence=0.0, **FAR),
    )
    judged = judge(model, fact, LAYER, {"none": None, "rome": edit.change.delta})
    prompts = [fact.request.text, *fact.paraphrases, *(p for p, _ in fact.neighbours)]
    truths = ["Oslo"] * 4 + [truth for _, truth in fact.neighbours]
    for name, judge_of in (("none", model), ("rome", edit.apply(model))):
        new, said = map(
            np.asarray, likelihoods(judge_of, prompts, ["Paris"] * len(prompts))
        )
        true, true_said = map(np.asarray, likelihoods(judge_of, prompts, truths))
        np.testing.assert_allclose(
            judged[name]["margin"], new - true, rtol=1e-3, atol=2e-3
        )
        assert judged[name]["said"] == bool(said[0])
        assert judged[name]["kept"] == pytest.approx(float(np.mean(true_said[4:])))
    summary = summarise([judged["rome"]], 3)
    assert summary["efficacy"]["share"] == 1
    assert summary["paraphrase"]["questions"] == 3
    assert summary["neighbourhood"]["questions"] == 2


def test_a_summary_by_hand():
    one = {"margin": [1, 1, -3, -2, 2], "said": True, "kept": 0.5}
    two = {"margin": [-1, 1, 1, -7, -6], "said": False, "kept": 1.0}
    summary = summarise([one, two], 2)
    shares = {
        name: summary[name]["share"]
        for name in ("efficacy", "paraphrase", "neighbourhood", "said", "kept")
    }
    assert shares == {
        "efficacy": 0.5,
        "paraphrase": 0.75,
        "neighbourhood": 0.75,
        "said": 0.5,
        "kept": 0.75,
    }
    assert summary["score"] == pytest.approx(3 / (1 / 0.5 + 2 / 0.75))
    assert harmonic_mean([1.0, 0.0]) == 0


@pytest.mark.parametrize(("hits", "n"), [(0, 20), (13, 20), (50, 50)])
def test_intervals_are_wilsons(hits, n):
    expected = binomtest(hits, n).proportion_ci(method="wilson")
    assert wilson(hits / n, n) == pytest.approx((expected.low, expected.high), abs=1e-4)


def test_the_entropy_of_prose_by_hand():
    assert ngram_entropy([1, 2, 3, 4, 5]) == pytest.approx((2 + 2 * np.log2(3)) / 3)
    assert ngram_entropy([7] * 9) == 0
    # two different bigrams and two different trigrams
    assert ngram_entropy([1, 2] * 10) == pytest.approx(1, abs=0.02)
    with refused(ValueError, match="four tokens"):
        ngram_entropy([1, 2, 3])


def test_fluency_is_the_mean_of_the_two_weighted_entropies_as_published():
    rng = np.random.default_rng(0)
    words = rng.integers(20, size=100).tolist()
    entropies = []
    for n in (2, 3):
        counts = Counter(zip(*(words[i:] for i in range(n)), strict=False))
        entropies.append(entropy(list(counts.values()), base=2))
    weighted = np.array(entropies) * [2 / 3, 4 / 3]
    assert ngram_entropy(words) == pytest.approx(weighted.mean())
    # the largest entropy for a hundred tokens is smaller than this
    assert ngram_entropy(range(100)) < np.log2(99)


def test_words_weigh_by_their_number_and_their_rarity():
    collection = ["The violin, the violin!", "the piano", "An organ"]
    (one, other, none) = tf_idf(
        ["the violin", "THE the piano a", "an oboe?"], collection
    )
    the = 1 + np.log(4 / 3)
    violin = 1 + np.log(4 / 2)
    piano = 1 + np.log(4 / 2)
    expected = the * 2 * the / np.hypot(the, violin) / np.hypot(2 * the, piano)
    assert one @ other == pytest.approx(expected)
    # "an" occurs in the collection
    assert [each @ each for each in (one, other, none)] == pytest.approx([1, 1, 1])
    assert one @ none == 0
    assert not tf_idf(["oboe", "a"], collection).any()
    with refused(ValueError, match="^collection: got .* one or more"):
        tf_idf(["a text"], [])


# Facts


def test_country_facts_include_their_paraphrases_and_neighbours():
    fact = country_fact("Netherlands", "currency", "yen", count=5)
    assert fact.request == Request(
        RELATIONS["currency"].prompt, "the Netherlands", "yen"
    )
    assert fact.truth == "euro"
    assert len(fact.neighbours) == 5
    assert all(truth == "euro" for _, truth in fact.neighbours)
    assert all("the Netherlands" in text for text in fact.paraphrases)
    assert not any(
        truth == "yen"
        for _, truth in country_fact("France", "currency", "yen", count=500).neighbours
    )
    with refused(ValueError, match="target: got 'euro'"):
        country_fact("France", "currency", "euro")
    with refused(ValueError, match="relation: got"):
        country_fact("France", "anthem", "La Marseillaise")


def test_the_country_data_are_consistent_and_the_corpus_is_large():
    names = [c.name for c in countries()]
    assert len(set(names)) == len(names) > 150
    assert country("United Kingdom").capital == "London"
    assert all(neighbour in names for c in countries() for neighbour in c.neighbours)
    assert {c.continent for c in countries()} == {
        "Africa",
        "Asia",
        "Europe",
        "North America",
        "Oceania",
        "South America",
    }
    assert sum(map(len, corpus())) > 500_000
    assert all(200 <= len(text) <= 900 for text in corpus())
