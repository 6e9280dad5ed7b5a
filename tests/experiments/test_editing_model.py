"""The study of any model, in miniature: a folder of a random GPT-2, a file of six facts
and a list of two.
"""

import json

import numpy as np
import pytest
from language_models import small_model
from refusals import refused
from scipy.stats import spearmanr

from rankone.data import corpus
from rankone.language.model import LanguageModel
from rankone.language.prompts import corpus_contexts, rehearsal
from rankone.language.rewriting import subject_keys
from rankone.language.statistics import key_geometry, text_keys
from rankone.language.surgery import close_edit, find_fact_value
from rankone_book.model_study import (
    block_rows,
    blocks,
    correlation_rows,
    correlations,
    partial,
    rank_correlation,
    ratio_rows,
)
from rankone_book.records import coverage, load_record

pytest.importorskip("tokenizers")
OPTIONS = {
    "facts": 2,
    "neighbours": 2,
    "others": 1,
    "every": 60,
    "compared": 3,
    "prefixes": 2,
    "noises": 1,
}
LAYER = 1
PROMPTS = {
    "The city of {} is": ("Norway", "Japan", "Oslo"),
    "Once the country {} was": ("France",),
    "{} is a city": ("Paris", "Rome"),
}


@pytest.fixture
def study(experiment, monkeypatch, tmp_path):
    """The script with a model that knows all facts."""
    facts = [(p, subject) for p, subjects in PROMPTS.items() for subject in subjects]
    records = [
        {
            "case_id": i,
            "prompt": prompt.format(subject),
            "subject": subject,
            "target_new": "Rome",
            "ground_truth": "Paris",
            "rephrase_prompt": f"Once in {subject}",
            "locality_prompt": "The city is",
        }
        for i, (prompt, subject) in enumerate(facts)
    ]
    data, listed = tmp_path / "six.json", tmp_path / "listed.txt"
    data.write_text(json.dumps(records))
    listed.write_text("4\n5\n")
    small_model(2, kind="gpt2").save(tmp_path / "gpt2")
    for name, path in (("COUNTERFACT", data), ("CASES", listed), ("MODEL", "gpt2")):
        monkeypatch.setenv(f"RANKONE_{name}", str(tmp_path / path))
    script = experiment("editing_model")
    monkeypatch.setattr(script, "CASES", range(6))
    monkeypatch.setattr(
        script,
        "likelihoods",
        lambda _, prompts, __: (None, np.ones(len(prompts), bool)),
    )
    return script


def test_a_folder_of_gpt2_is_measured_by_one_command(study, experiment, tmp_path):
    chosen = [word for name, n in OPTIONS.items() for word in (f"--{name}", str(n))]
    record = experiment("record").main(
        study.EXPERIMENT, ["--layer", str(LAYER), *chosen, "--out", str(tmp_path)]
    )
    (cell,) = record["cells"]
    results = cell["results"]
    # Facts are left out if their question begins with the subject or has no second
    # subject. The shortest questions come first.
    assert results["case"] == [2, 1]
    model = LanguageModel.load(tmp_path / "gpt2")
    geometry = key_geometry(model, LAYER, texts=corpus()[::60])
    case, _ = study.edited(2, 2)
    questions = study.questions(case, 2, 1)
    assert [one.text for one in questions] == [
        "The city of Oslo is",
        "The city of Norway is",
        "The city of Japan is",
        "Once the country Oslo was",
    ]
    starts = ["The city of Oslo", "The city of Norway", "The city of Japan"]
    keys = np.asarray(text_keys(model, [*starts, "Once the country Oslo"], LAYER))
    u = np.asarray(geometry.solve(keys[0]))
    np.testing.assert_allclose(
        results["share"][0], (keys[1:] @ u) / (keys[0] @ u), atol=2e-3
    )
    texts = corpus_contexts(model.tokenizer, ((1, 10),))
    value = find_fact_value(model, case.request, contexts=texts, layer=LAYER)
    W = model.network.down(LAYER)
    edited = model.with_down(LAYER, close_edit(W, geometry, value).apply(W))
    new = model.tokenizer.following("Rome")[0]
    texts = [question.text for question in questions]
    before, after = (np.asarray(one.logits(texts)) for one in (model, edited))
    old = before.argmax(1)
    for when, logits in (("before", before), ("after", after)):
        lead = logits[:, new] - logits[np.arange(len(questions)), old]
        np.testing.assert_allclose(results[when][0], lead, atol=0.02)
    listed = results["listed"]
    assert listed["case"] == [4, 5]
    assert listed["first"] == [True, True]
    contexts = corpus_contexts(model.tokenizer, ((2, 10),))
    request = study.cases([4])[0].request
    keys = np.asarray(
        subject_keys(
            model.network,
            rehearsal(model.tokenizer, request, contexts),
            layer=LAYER,
        )
    )
    u = np.asarray(geometry.solve(keys.mean(0)))
    rho = abs((keys.mean(0) @ u) / (keys[0] @ u))
    assert listed["rho"][0] == pytest.approx(rho, rel=2e-3)
    assert len(results["others"]["rho"]) == 3
    assert [len(rows) for rows in (block_rows(record), ratio_rows(record))] == [2, 2]
    assert len(correlation_rows(record)) == 1  # with one block there is no correlation


def test_a_list_of_cases_is_read_in_three_forms(study, monkeypatch, tmp_path):
    path = tmp_path / "cases"
    monkeypatch.setenv("RANKONE_CASES", str(path))
    for text in (
        "3 14\n15",
        "[3, 14, 15]",
        json.dumps([{"case_id": i} for i in (3, 14, 15)]),
    ):
        path.write_text(text)
        assert study.listed() == [3, 14, 15]
    monkeypatch.delenv("RANKONE_CASES")
    assert study.listed() == []


def test_too_few_facts_are_refused(study):
    with refused(ValueError, match="--facts: got 4; the model knows 3"):
        study.edited(4, 2)


# What the record says


def test_shares_predict_the_rises_of_edits_on_facts_that_were_not_selected():
    record = load_record("editing_model")
    assert coverage(record).missing == ()
    by_block = blocks(record)
    within = [rank for one in by_block.values() for rank in one["within"]]
    assert np.mean(within) > 0.5
    assert sum(rank < 0 for rank in within) <= 2
    # subjects stay distinguished in every block, relations in none
    assert all(one["share_subject"] < 0.3 for one in by_block.values())
    assert all(one["share_question"] > 0.5 for one in by_block.values())


def record_of(share, rise, before=-4.0):
    """A record of as many blocks as there are shares, of two edits with two neighbours
    and two other questions each.
    """
    cells = []
    for layer, (s, r) in enumerate(zip(share, rise, strict=True)):
        one = np.array([s, s + 0.1, 0.8 - s, 0.9 - s])
        change = np.array([6.0, r, r + 1, 3 - r, 4 - r])
        start = np.full(5, before)
        cells.append(
            {
                "parameters": {"layer": layer, "neighbours": 2},
                "results": {
                    "share": [one, one],
                    "before": [start, start],
                    "after": [start + change, start + change],
                    "trace": [0.1 * layer, 0.3 * layer],
                    "others": {"rho": [1.0, 2.0, 8.0], "first": [False, False, True]},
                    "listed": {"rho": [4.0, 16.0], "case": [1, 2], "first": [True] * 2},
                },
            }
        )
    return {"cells": cells[::-1]}


def test_flips_and_shares_are_those_of_the_cells():
    by_block = blocks(record_of([0.0, 0.2, 0.4, 0.6, 0.8], [0.0, 2.0, 3.5, 4.5, 4.5]))
    assert list(by_block) == [0, 1, 2, 3, 4]
    assert by_block[0]["written"] == 1
    assert [one["flips_subject"] for one in by_block.values()] == [0, 0, 0.5, 1, 1]
    assert [one["flips_question"] for one in by_block.values()] == [0, 0, 0, 0, 0]
    assert by_block[1]["share_subject"] == pytest.approx(0.25)
    assert by_block[1]["share_question"] == pytest.approx(0.65)
    assert by_block[2]["trace"] == pytest.approx(0.4)
    head, *rows = block_rows(record_of([0.0, 0.2], [0.0, 2.0]))
    assert {len(row) for row in rows} == {len(head)} == {7}


def test_questions_already_answered_with_the_new_answer_are_left_out():
    record = record_of([0.2], [2.0])
    for edit in record["cells"][-1]["results"]["before"]:
        edit[1] = 0.0
    block = blocks(record)[0]
    assert block["share_subject"] == pytest.approx(0.3)


def test_correlations_are_those_of_the_blocks_that_are_written():
    share, rise = [0.0, 0.2, 0.5, 0.6, 0.8], [0.0, 2.0, 3.5, 4.5, 4.5]
    record = record_of(share, rise)
    summary = correlations(record)
    flips = [0, 0, 0.5, 1, 1]
    assert summary["subject"] == pytest.approx(np.corrcoef(share, flips)[0, 1])
    assert summary["blocks"] == 5
    assert summary["edits"] == 10
    assert np.isnan(summary["question"])  # no answer flips
    one = blocks(record)[3]["within"][0]
    assert summary["within"] <= 1
    assert one == pytest.approx(
        spearmanr([0.6, 0.7, 0.2, 0.3], [4.5, 5.5, -1.5, -0.5]).statistic
    )
    assert len(correlation_rows(record)) == 6
    unwritten = record["cells"][-1]["results"]["after"]
    for edit in unwritten:
        edit[0] = -1
    assert correlations(record)["blocks"] == 4


def test_rank_and_partial_correlation_agree_with_scipy_and_the_formula():
    rng = np.random.default_rng(0)
    a, b, depth = rng.integers(5, size=(3, 20)).astype(float)
    assert rank_correlation(a, b) == pytest.approx(spearmanr(a, b).statistic)
    assert np.isnan(rank_correlation(a, np.ones(20)))
    r = np.corrcoef([a, b, depth])
    expected = (r[0, 1] - r[0, 2] * r[1, 2]) / (
        (1 - r[0, 2] ** 2) * (1 - r[1, 2] ** 2)
    ) ** 0.5
    assert partial(a, b, depth) == pytest.approx(expected)


def test_a_listed_edit_is_compared_with_all_others():
    _, row = ratio_rows(record_of([0.2], [2.0]))
    assert row == ["0", "10", "8", "1.5", "83"]
