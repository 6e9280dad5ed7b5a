"""CounterFact's experiments in miniature, on a random network, and the records that the
book shows.
"""

import json
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from language_models import small_model
from refusals import refused

from rankone.data import corpus
from rankone.editing import sequential_edit
from rankone.language.likelihood import likelihoods
from rankone.language.many import find_fact_values
from rankone.language.prompts import corpus_contexts
from rankone.language.rewriting import Search
from rankone.language.statistics import key_moments, text_keys
from rankone.language.surgery import find_fact_value
from rankone.theory.edit_cost import mean_inflation, sequential_residual
from rankone_book.counterfact_study import (
    asked_before,
    interval,
    many_rows,
    peer_rows,
    prose,
    recorded_cases,
    score_rows,
    scores,
)
from rankone_book.records import load_record, provenance, select, select_one

pytest.importorskip("tokenizers")
LAYER = 2
HOW = {"layer": LAYER, "ridge": 0.01, "contexts": 1, "every": 60}
FAR = Search(reach=100.0, steps=30, decay=0.0)  # random weights react little to δ
tiny = partial(small_model, 4)  # a block above the edited one
SUBJECTS = ("Norway", "Japan", "Oslo", "France")


def short(number, subject):
    return {
        "case_id": number,
        "prompt": f"The city of {subject} is",
        "subject": subject,
        "target_new": "Rome",
        "ground_truth": "Paris",
        "rephrase_prompt": f"Once in {subject}",
        "locality_prompt": f"The city of {number} is",
    }


def published(number, subject):
    rewrite = {
        "prompt": "The city of {} is",
        "subject": subject,
        "target_new": {"str": "Rome", "id": "Q1"},
        "target_true": {"str": "Paris", "id": "Q2"},
    }
    return {
        "case_id": number,
        "requested_rewrite": rewrite,
        "paraphrase_prompts": [f"Once in {subject}", "another"],
        "neighborhood_prompts": [f"The city of {number} is", "another"],
    }


@pytest.fixture
def small(experiment, monkeypatch, tmp_path):
    """The scripts by name, with a random network and a file of four facts."""
    path = tmp_path / "four.json"
    path.write_text(
        json.dumps([short(i, subject) for i, subject in enumerate(SUBJECTS)])
    )
    monkeypatch.setenv("RANKONE_COUNTERFACT", str(path))
    monkeypatch.setenv("RANKONE_DATA", str(tmp_path))
    few = corpus()[::60]
    modules = {
        name: experiment(name)
        for name in (
            "counterfact",
            "counterfact_many",
            "counterfact_peers",
            "counterfact_prose",
            "counterfact_shares",
            "editing_facts",
        )
    }
    for module in modules.values():
        for name, value in {
            "model": tiny,
            "CASES": range(4),
            "SIZE": 2,
            "PART": 2,
            "ASKED": 2,
            "BATCH": 2,
            "WINDOWS": 6,
            "corpus": lambda: few,
        }.items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(modules["editing_facts"], "corpus", corpus)
    monkeypatch.setattr(
        modules["counterfact"],
        "find_fact_values",
        partial(find_fact_values, search=FAR),
    )
    return modules


# The data set


def test_a_case_is_read_alike_from_either_form(experiment):
    read = experiment("counterfact").read_case
    assert read(short(7, "Oslo")) == read(published(7, "Oslo"))
    twice = read(short(7, "Oslo") | {"prompt": "Oslo, a part of Oslo"})
    # the token of the last mention is edited
    assert twice.request.prompt == "Oslo, a part of {}"


def test_the_cases_are_a_thousand_different_ones(experiment):
    numbers = experiment("counterfact").CASES
    assert len(set(numbers)) == len(numbers) == 1000
    assert max(numbers) < 21_919  # the size of the whole data set


def test_a_failed_download_or_a_wrong_file_is_refused(experiment, tmp_path):
    counterfact = experiment("counterfact")
    other = tmp_path / "other.json"
    other.write_text("[]")
    for url, reason in (
        ((tmp_path / "nowhere").as_uri(), "--data PATH"),
        (other.as_uri(), "checksum"),
    ):
        with refused(RuntimeError, match=reason):
            counterfact.fetched(tmp_path / "new.json", url)
    assert not (tmp_path / "new.json").exists()


def test_a_file_that_lacks_a_case_is_refused_by_name(small):
    with refused(ValueError, match=r"--data: .*\[9\]"):
        small["counterfact"].cases([0, 9])


# One fact at a time


def test_batched_answers_equal_those_of_each_edited_model(small):
    counterfact = small["counterfact"]
    W = tiny().network.down(LAYER)
    chosen = counterfact.cases([0, 1])
    rng = np.random.default_rng(0)
    left = rng.normal(size=(2, W.shape[0]))
    right = rng.normal(size=(2, W.shape[1]))
    answers = counterfact.asked_of(chosen, tiny().network, left, right, LAYER)
    for i, case in enumerate(chosen):
        edited = tiny().with_down(
            LAYER, W + np.outer(left[i], right[i]).astype(np.float32)
        )
        prompts = [case.request.text, case.paraphrase, case.neighbour]
        for row, answer in enumerate((case.request.target, case.truth)):
            scores, said = likelihoods(edited, prompts, 3 * [answer])
            np.testing.assert_allclose(answers["log_p"][:, row, i], scores, rtol=1e-3)
            np.testing.assert_array_equal(answers["said"][:, row, i], said)


def test_values_are_found_once_and_are_those_of_each_request(small, monkeypatch):
    counterfact = small["counterfact"]
    chosen = counterfact.cases([0, 1])
    values = counterfact.values(chosen, LAYER, 1)
    texts = corpus_contexts(tiny().tokenizer, ((1, 10),))
    for i, case in enumerate(chosen):
        alone = find_fact_value(
            tiny(), case.request, contexts=texts, layer=LAYER, search=FAR
        )
        np.testing.assert_allclose(values["key"][i], alone.key, rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(
            values["delta"][i], alone.delta, rtol=0.02, atol=1e-3
        )
    monkeypatch.setattr(counterfact, "ROWS", 3)  # in batches, by length
    keys = counterfact.subject_streams(chosen, LAYER, 1)[0]
    np.testing.assert_allclose(keys[LAYER], values["key"], rtol=1e-3, atol=1e-5)
    monkeypatch.setattr(counterfact, "find_fact_values", None)
    np.testing.assert_array_equal(
        counterfact.values(chosen, LAYER, 1)["delta"], values["delta"]
    )


def test_a_cell_records_the_answers_and_the_interference_of_its_edits(
    small, experiment, tmp_path
):
    counterfact = small["counterfact"]
    options = ["--every", "60", "--out", str(tmp_path)]
    record = experiment("record").main(
        counterfact.EXPERIMENT, ["--cell", "1", *options]
    )
    results = record["cells"][0]["results"]
    assert results["case"] == [2, 3]
    before, after = (np.array(results[when]["log_p"]) for when in ("before", "after"))
    assert before.shape == after.shape == (3, 2, 2)
    assert (after[0, 0] > before[0, 0]).all()  # the new answer to the question itself
    values = counterfact.values(counterfact.cases([2, 3]), LAYER, 1)
    C = small["editing_facts"].geometry(LAYER, 0.01, 60)
    s = np.diag(np.asarray(C.inner(values["key"].T, values["key"].T)))
    np.testing.assert_allclose(
        results["price"], (values["delta"] ** 2).sum(1) / s, rtol=0.01
    )
    assert "four.json" not in json.dumps(record)


def test_the_share_of_a_paraphrase_is_that_of_its_own_key(small):
    results = small["counterfact_shares"].measure(**HOW, seed=0)
    assert results["case"] == [0, 1, 2, 3]
    assert results["unnamed"] == []
    texts = corpus_contexts(tiny().tokenizer, ((HOW["contexts"], 10),))
    starts = [f"{text}The city of Japan" for text in texts]
    edited = np.asarray(text_keys(tiny(), starts, LAYER)).mean(0)
    (key,) = np.asarray(text_keys(tiny(), ["Once in Japan"], LAYER))
    C = small["editing_facts"].geometry(LAYER, 0.01, 60)
    u = np.asarray(C.solve(edited))
    assert results["share"][1] == pytest.approx((u @ key) / (u @ edited), rel=2e-3)


def test_most_paraphrases_get_over_nine_tenths_of_an_edit():
    (cell,) = select(load_record("counterfact_shares"), layer=LAYER)
    share_of = dict(zip(*(cell["results"][x] for x in ("case", "share")), strict=True))
    recorded = load_record("counterfact")
    numbers = [n for one in recorded["cells"] for n in one["results"]["case"]]
    share = np.array([share_of[number] for number in numbers])
    said = recorded_cases(recorded)["after_said"][1, 0]
    assert len(share) == 1000
    assert np.median(share) > 0.9
    # paraphrases that do not get the new answer have nearly as large a share
    assert np.median(share[~said]) > 0.9
    assert said[share > 0.9].mean() < 0.4
    assert said[share < 0.75].mean() < said[share > 0.9].mean() / 1.5


# Many facts in one model


def test_every_way_of_writing_many_facts_writes_what_it_promises(small):
    many = small["counterfact_many"]
    counterfact = small["counterfact"]
    chosen = counterfact.cases(range(4))
    W = np.asarray(tiny().network.down(LAYER))
    values = counterfact.values(chosen, LAYER, 1)
    write = partial(many.written, chosen=chosen, facts=values, share=0.3, **HOW)
    deltas = {
        method: np.asarray(write(method)[LAYER])
        for method in ("batch", "sequence", "learning", "null")
    }
    missed = {
        method: np.linalg.norm(delta @ values["key"].T - values["delta"].T, axis=0)
        for method, delta in deltas.items()
    }
    size = np.linalg.norm(values["delta"], axis=1)
    for method in ("batch", "null"):
        assert (missed[method] < 1e-2 * size).all()
    for method in ("sequence", "learning"):
        # the first fact is partly forgotten, the last is not
        assert missed[method][-1] < 1e-2 * size[-1] < missed[method][0]
    assert missed["learning"].sum() < missed["sequence"].sum()
    P = np.asarray(many.null_space(LAYER, 0.01, 60, 0.3))
    np.testing.assert_allclose(
        deltas["null"] @ P @ P.T, deltas["null"], atol=1e-3 * abs(deltas["null"]).max()
    )
    assert 0 < P.shape[1] < W.shape[1]
    network = tiny().network
    before = np.asarray(counterfact.subject_streams(chosen, LAYER, 1)[1])
    for block, delta in write("spread").items():
        network = network.with_down(block, network.down(block) + delta)
    moved = (
        np.asarray(counterfact.subject_streams(chosen, LAYER, 1, network)[1]) - before
    )
    assert np.linalg.norm(moved - values["delta"]) < 0.05 * np.linalg.norm(
        values["delta"]
    )


def test_results_for_many_facts_have_answers_per_group_and_interference(small):
    results = small["counterfact_many"].measure(
        way="batch", edits=2, share=0.3, seed=0, **HOW
    )
    assert np.shape(results["ahead"]) == np.shape(results["said"]) == (3, 2)
    assert results["price"] > 0
    assert results["prose"] > 0


def test_stronger_relaxation_writes_less_and_interferes_less(small):
    measure = partial(
        small["counterfact_peers"].measure,
        blocks=3,
        edits=4,
        threshold=0.02,
        searched=4,
        seed=0,
        **HOW,
    )
    exact, some, none = (
        measure(method="memit", strength=weight) for weight in (0.0, 300.0, 1e9)
    )
    # the stream at the subjects is computed in float32, through three blocks
    assert exact["missing"] < 0.05
    assert none["missing"] == pytest.approx(1, rel=1e-3)
    assert exact["missing"] < some["missing"] < none["missing"]
    assert exact["price"] > some["price"] > none["price"]
    np.testing.assert_allclose(none["prose"], none["unedited"], rtol=1e-4)
    assert np.shape(exact["ahead"]) == (3, 2)


def test_the_table_of_peers_has_the_unedited_row_and_one_record_per_cell():
    results = {
        "ahead": [[1, 1], [1, 0], [0, 1]],
        "missing": 0.25,
        "prose": [4.0, 4.0],
        "unedited": [3.0, 3.0],
    }
    cells = [
        {
            "parameters": {"method": method, "blocks": 3, "strength": x, "edits": 1000},
            "results": results,
        }
        for method, x in (("alphaedit", 10.0), ("memit", 15000.0), ("memit", 0.0))
    ]
    record = {"full": {"method": ["memit", "alphaedit"]}, "cells": cells}
    _, nothing, exact, relaxed, last = peer_rows(record, np.zeros((3, 2), bool))
    assert nothing == ["nothing", "", "", "0", "0", "0", "100", "100", "0"]
    assert exact[0] == "exact batch (EMMET)"
    assert relaxed[:4] == ["MEMIT", "3", "15,000", "1,000"]
    assert relaxed[4:] == ["100", "50", "50", "25", "1.00 (1.00 to 1.00)"]
    assert last[0] == "AlphaEdit"


def test_alphaedit_writes_sequentially_and_protects_the_keys_of_earlier_batches(
    small, monkeypatch
):
    peers = small["counterfact_peers"]
    measure = partial(
        peers.measure,
        method="alphaedit",
        blocks=1,
        edits=4,
        threshold=1.0,
        searched=2,  # the other two take the values of these two
        seed=0,
        **HOW,
    )
    results = measure(strength=1.0)
    assert results["missing"] < measure(strength=1e4)["missing"] < 1
    # the second batch gets the keys of the first
    update = peers.projected_edit
    spared = []

    def watched(W, directions, K, V, *, written, ridge):
        spared.append((K, written))
        return update(W, directions, K, V, written=written, ridge=ridge)

    monkeypatch.setattr(peers, "projected_edit", watched)
    assert measure(strength=1.0)["missing"] == pytest.approx(
        results["missing"], rel=1e-3
    )
    (first, nothing), (_, earlier) = spared
    assert nothing is None
    np.testing.assert_array_equal(earlier, first)


def test_windows_of_prose_that_the_geometry_used_are_refused():
    with refused(ValueError, match="windows: got 12"):
        prose(tiny(), windows=12)


def test_prose_is_scored_before_and_after(small):
    results = small["counterfact_prose"].measure(cell=0, words=20, top=5, seed=0, **HOW)
    before, after = (results[when]["bits"] for when in ("before", "after"))
    assert before.shape == after.shape == (2,)
    assert (before <= (2 * np.log2(19) + 4 * np.log2(18)) / 3 + 1e-3).all()
    assert (before != after).any()


def test_prose_is_compared_with_texts_on_other_subjects_with_the_same_answer(
    small, monkeypatch
):
    script = small["counterfact_prose"]
    (case, *_) = small["counterfact"].cases([0])
    other, third = (
        case._replace(request=replace(case.request, subject=name))
        for name in ("Bergen", "Turku")
    )
    everyone = [case, other, third._replace(truth=" else")]
    monkeypatch.setattr(script, "cases", lambda _: everyone)
    monkeypatch.setattr(
        script,
        "elsewhere",
        lambda *_: ["about itself", "a town on the sea", "a town on a river"],
    )
    assert script.cosine(case, "a town on the sea", case.truth, 20, 5) == pytest.approx(
        1, abs=1e-3
    )
    assert 0 < script.cosine(case, "a town on a river", case.truth, 20, 5) < 0.9
    # a subject's own text is not a reference
    assert script.cosine(case, "about itself", case.truth, 20, 5) == 0
    assert script.cosine(case, "a town", "nothing of the kind", 20, 5) is None


def test_recorded_texts_leave_the_old_answer_and_come_no_nearer_to_the_new_one():
    results = [cell["results"] for cell in load_record("counterfact_prose")["cells"]]
    before, after = (
        np.concatenate([np.asarray(one[when]["cosine"], float) for one in results], 1)
        for when in ("before", "after")
    )
    errors = []  # change of the mean, in units of its standard error
    for change in after - before:
        change = change[~np.isnan(change)]
        errors.append(change.mean() / (change.std() / np.sqrt(len(change))))
    new, old = errors
    assert abs(new) < 2
    assert old < -2


# What a sequence forgets


def test_computed_forgetting_equals_the_residuals_of_a_sequence_of_edits(experiment):
    forgotten = experiment("counterfact_forgetting").forgotten
    rng = np.random.default_rng(0)
    K = rng.normal(size=(12, 6))
    C = np.cov(rng.normal(size=(12, 40)))
    S = K.T @ np.linalg.solve(C, K)
    for beta in (0.0, 0.3):
        # independent values of variance 1, for 4,000 outputs
        R = rng.normal(size=(4000, 6))
        sequence = sequential_edit(np.zeros((4000, 12)), C, K, R, beta=beta)
        mean_squares = np.asarray(sequence.residuals)[-1] ** 2 / 4000
        np.testing.assert_allclose(
            mean_squares, forgotten(S, beta), rtol=0.1, atol=1e-3
        )


def test_isotropic_keys_forget_by_the_law(experiment):
    forgotten = experiment("counterfact_forgetting").forgotten
    rng = np.random.default_rng(0)
    D = 60
    m = 50
    grams = [
        K.T @ K
        for K in rng.normal(size=(60, D, m))
        for K in [K / np.linalg.norm(K, axis=0)]
    ]
    mean_squares = np.mean([forgotten(S) for S in grams], axis=0)
    law = np.asarray(sequential_residual(np.arange(1, m + 1), m, D))
    np.testing.assert_allclose(mean_squares, law, atol=0.05)


def test_forgetting_is_measured_on_keys_alone(small, experiment, monkeypatch):
    forgetting = experiment("counterfact_forgetting")
    for name, value in {"CASES": range(4), "BINS": 2}.items():
        monkeypatch.setattr(forgetting, name, value)
    results = forgetting.measure(edits=4, orders=2, seed=0, **HOW)
    assert results["keys"] == 4
    assert results["left"][0] == pytest.approx(results["measured"].mean())
    # the larger the weight of a written key, the less is lost
    assert all(more > less for more, less in pairwise(results["left"]))
    assert results["measured"][0] > results["measured"][1]
    # here the batch has all keys
    assert results["price"] == pytest.approx(results["price_kind"])


# The tables


def test_scores_and_intervals_follow_from_the_log_probabilities():
    log_p = np.log(
        [[[0.5, 0.2], [0.1, 0.4]], [[0.5, 0.5], [0.1, 0.1]], [[0.3, 0.1], [0.2, 0.6]]]
    )
    results = scores(log_p)
    assert results["rewriting"].tolist() == [1, 0]
    assert results["neighbour"].tolist() == [0, 1]
    np.testing.assert_allclose(results["neighbour_margin"], [-0.1, 0.5])
    np.testing.assert_allclose(results["rewriting_margin"], [0.4, -0.2])
    mean, low, high = interval(np.repeat([0.0, 1.0], 200))
    assert mean == 0.5
    assert high - low == pytest.approx(2 * 1.96 * 0.5 / 20, rel=0.1)
    with refused(ValueError, match="record"):
        recorded_cases({"cells": []})


def test_tables_say_what_the_cells_say():
    log_p = np.zeros((3, 2, 2)) - 1
    log_p[0, 0] = -0.5
    one = {"price": [1, 2], "steps": [3, 4], "length": [1, 1], "loss": [0, 0]}
    one |= {
        when: {"log_p": log_p.tolist(), "said": np.ones((3, 2, 2)).tolist()}
        for when in ("before", "after")
    }
    rows = score_rows({"cells": [{"results": one}]})
    assert rows[1][1:] == [
        "100 (100 to 100)",
        "0 (0 to 0)",
        "100 (100 to 100)",
        "0.0",
        "2",
    ]
    assert rows[3][1] == "+0 (+0 to +0)"
    assert len({len(row) for row in rows}) == 1
    assert rows[-1][:2] == ["GPT-2 XL, ROME", "100.0"]
    parts = {"ahead": [[1, 0], [0, 0], [0, 1]], "price": 7.0, "prose": 3.0}
    cells = [
        {"parameters": {"way": "batch", "edits": n}, "results": parts}
        for n in (100, 10)
    ]
    table = many_rows({"cells": cells}, {"batch": "at once", "null": "no cell"})
    assert [row[1] for row in table[1:]] == ["10", "100"]
    assert table[1][2:] == ["50", "0", "50", "7", "3.000"]
    led = np.array([[True, False], [False, False], [False, True]])
    unedited = many_rows({"cells": cells}, {"batch": "at once"}, (led, 2.5))[1]
    assert unedited == ["nothing", "0", "50", "0", "50", "0", "2.500"]


def test_the_unedited_row_is_of_the_fifty_facts_that_are_asked():
    record = load_record("counterfact")
    led = asked_before(record, load_record("counterfact_many"))
    assert led.shape == (3, 50)
    backwards = record | {"cells": record["cells"][::-1]}
    same = asked_before(backwards, load_record("counterfact_many"))
    assert led.sum(1).tolist() == same.sum(1).tolist() == [20, 17, 20]


# Real keys, and which layers add a fact


def test_gaussian_keys_obey_the_beta_law_and_a_ridge_helps(experiment, monkeypatch):
    beta = experiment("editing_beta")
    monkeypatch.setattr(beta, "model", tiny)
    monkeypatch.setattr(beta, "corpus", lambda: corpus()[::20])
    D = tiny().network.config.hidden
    how = {"layer": 1, "edited": 60, "ridge": 0.01, "every": 1}
    results = [
        beta.measure(drawn="gaussian", times=2.0, seed=seed, **how) for seed in range(8)
    ]
    assert results[0]["n"] == 2 * D
    assert np.mean([one["plain"]["inflation"] for one in results]) == pytest.approx(
        mean_inflation(2 * D, D), rel=0.15
    )
    assert (
        beta.measure(drawn="stretched", times=2.0, seed=0, **how)["plain"]["inflation"]
        > 1
    )
    for source in ("tokens", "passages"):
        few, many = (
            beta.measure(drawn=source, times=times, seed=0, **how)
            for times in (1.25, 10.0)
        )
        assert few["plain"]["inflation"] > many["plain"]["inflation"] > 0.9
        assert few["ridged"]["inflation"] < few["plain"]["inflation"]


def test_traces_are_of_subjects_of_several_words(experiment):
    names = experiment("editing_traces").GRID["subject"]
    assert len(set(names)) == len(names) == 8
    assert all(" " in name for name in names)


def test_one_pass_gives_the_moments_of_every_block(experiment, monkeypatch):
    scan = experiment("editing_scan")
    texts = [text[:100] for text in corpus()[:18:2]]
    monkeypatch.setattr(scan, "model", tiny)
    monkeypatch.setattr(scan, "corpus", lambda: texts)
    moments = scan.moments(1)
    assert len(moments) == tiny().network.config.layers
    for layer in (0, 3):
        np.testing.assert_allclose(
            moments[layer], key_moments(tiny(), layer, texts).mean, rtol=1e-3, atol=1e-5
        )


def test_in_early_blocks_the_share_correlates_with_flipped_neighbours():
    record = load_record("editing_scan")
    shares = {}
    turned = {}
    follow = {}
    for cell in record["cells"]:
        block = cell["parameters"]["layer"]
        results = cell["results"]
        margins = np.array(results["margin"])
        # the edit can write the answer in blocks below 27 only
        assert (margins[:, 0] > 0).all() == (block < 27)
        assert margins.shape == (4, 10)
        shares[block] = np.mean(results["share"])
        turned[block] = (margins[:, 4:] > 0).mean()
        follow[block] = (margins[:, 1:4] > 0).mean()
    # from block 23 on, the last token has the larger effect in the trace
    early = [block for block in shares if block <= 22]
    assert sorted(shares) == list(range(30))
    assert (
        np.corrcoef([(shares[block], turned[block]) for block in early], rowvar=False)[
            0, 1
        ]
        > 0.9
    )
    assert min(follow[block] for block in early) > 0.8
    assert max(follow[block] for block in range(25, 30)) == 0


@pytest.mark.parametrize(
    "name", ["counterfact_forgetting", "editing_beta", "editing_scan"]
)
def test_record_shown_in_the_book_says_where_it_comes_from(experiment, name):
    record = load_record(name)
    module = experiment(name)
    assert record["cells"]
    assert record["axes"] == list(module.GRID)
    assert record["runs"][0]["date"] in provenance(record)


def test_a_thousand_exact_facts_break_the_model_and_a_hundred_do_not():
    """The record of many facts: the loss on prose, in nats per token, relative to that
    with ten facts.
    """
    record = load_record("counterfact_many")

    def added(method, edits):
        many, ten = (
            select_one(record, way=method, edits=n)["results"]["prose"]
            for n in (edits, 10)
        )
        return many - ten

    assert all(
        added(method, 100) < 0.5 for method in ("batch", "spread", "sequence", "null")
    )
    assert added("spread", 1000) > added("batch", 1000) > 3
    assert added("sequence", 1000) < 0.3 * added("batch", 1000)
    # with the null-space edit, ninety further facts add more than with C⁻¹
    assert added("null", 100) > added("batch", 100)
