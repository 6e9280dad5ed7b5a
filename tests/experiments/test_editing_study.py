"""The table of the recorded edits agrees with the cells of the record."""

import numpy as np
import pytest
from refusals import refused
from scipy.stats import spearmanr

from rankone.data import countries
from rankone.language.relations import RELATIONS
from rankone_book.editing_study import (
    BLOCK_TRIALS,
    METHODS,
    best_setting,
    held_rows,
    method_rows,
    neighbour_shares,
    reach_counts,
    reach_rows,
    summarise_record,
    survivors,
    tuned_settings,
    tuning_rows,
    turned_by_share,
)
from rankone_book.records import coverage, load_record, select, select_one


def answers(new, true, said, kept_fraction):
    return {
        "margin": [a - b for a, b in zip(new, true, strict=True)],
        "said": said,
        "kept": kept_fraction,
    }


@pytest.fixture
def record():
    """Two edits with three paraphrases and two neighbours each; the closed form is
    right except for one paraphrase and one neighbour.
    """
    before = answers([-5] * 6, [-1] * 6, False, 1.0)
    good = answers([-1, -1, -1, -1, -5, -5], [-5, -5, -5, -5, -1, -1], True, 1.0)
    poor = answers([-1, -1, -1, -6, -5, -1], [-5, -5, -5, -5, -1, -5], True, 0.5)
    cells = []
    for i, closed in enumerate((good, poor)):
        of = {method: before if method == "none" else closed for method in METHODS}
        prices = {
            method: (i + 1) * (4.0 if method == "identity" else 2.0)
            for method in METHODS
            if method != "none"
        }
        cells.append(
            {
                "results": {
                    "answers": of,
                    "fluency": dict.fromkeys(METHODS, 6.0 + i),
                    "interference": prices,
                }
            }
        )
    return {"cells": cells}


def test_summaries_have_the_fractions_computed_from_the_cells(record):
    summary = summarise_record(record, "rome")
    assert summary["efficacy"]["share"] == 1
    assert summary["paraphrase"]["share"] == pytest.approx(5 / 6)
    assert summary["neighbourhood"]["share"] == pytest.approx(3 / 4)
    assert summary["score"] == pytest.approx(3 / (1 + 6 / 5 + 4 / 3))
    assert summary["fluency"] == 6.5
    assert summary["fluency_error"] == pytest.approx(0.5 / 2**0.5)
    assert summary["interference"] == 1
    assert summarise_record(record, "identity")["interference"] == 2
    unedited = summarise_record(record, "none")
    assert unedited["efficacy"]["share"] == 0
    assert unedited["kept"]["share"] == 1
    assert "interference" not in unedited


def test_the_table_has_a_row_a_method(record):
    rows = method_rows(record)
    assert [row[0] for row in rows[1:]] == list(METHODS.values())
    assert {len(row) for row in rows} == {8}
    assert rows[1][1].startswith("0 (0–")
    assert rows[2][2].startswith("83 (")
    assert rows[3][-1] == "2"


def test_sixty_edits_are_recorded_and_say_what_the_chapter_says():
    record = load_record("editing_facts")
    assert len({cell["parameters"]["fact"] for cell in record["cells"]}) == 60
    assert coverage(record).missing == ()
    summaries = {method: summarise_record(record, method) for method in METHODS}
    assert summaries["rome"]["efficacy"]["share"] >= 0.98
    assert summaries["rome"]["paraphrase"]["share"] >= 0.85
    # only facts that the model knew are asked for
    assert summaries["none"]["neighbourhood"]["share"] == 1
    assert summaries["rome"]["neighbourhood"]["share"] >= 0.95
    assert len(set(BLOCK_TRIALS) & set(record["full"]["fact"])) == 18
    fresh = summarise_record(record, "rome", without=BLOCK_TRIALS)
    assert fresh["edits"] == 42
    assert fresh["neighbourhood"]["share"] >= 0.95
    assert summaries["identity"]["neighbourhood"]["share"] < 0.85
    assert summaries["identity"]["interference"] > 4
    assert summaries["tuned"]["efficacy"]["share"] < 0.1
    turned = np.array(
        [
            np.array(cell["results"]["answers"]["rome"]["margin"][4:]) > 0
            for cell in record["cells"]
        ]
    )
    assert turned[:, 0].mean() > 3 * turned[:, 1:].mean()


def test_two_keys_cost_much_more_where_the_subject_comes_first():
    record = load_record("editing_keys")
    prices = {
        place: np.concatenate(
            [
                np.square(cell["results"]["longer"])
                for cell in select(record, subject=place, skip=1)
            ]
        )
        for place in ("inside", "first")
    }
    assert len(prices["inside"]) == len(prices["first"]) > 40
    assert (
        prices["inside"].max()
        < 1.5
        < 2
        < np.median(prices["first"])
        < 50
        < prices["first"].max()
    )


def gathered(name, **where):
    return np.concatenate(
        [cell["results"][name] for cell in select(load_record("editing_keys"), **where)]
    )


def test_with_one_key_the_bare_question_gets_a_lower_probability_than_with_two():
    fraction = 1 / gathered("longer", subject="first", skip=1)
    p = {}
    for key in ("mean", "mixed"):
        p[key] = np.exp(-gathered(f"unlikely_{key}", subject="first", skip=1))
    # so using one key throughout also has a disadvantage
    assert fraction.min() < 0.3 < np.median(fraction) < 0.9
    assert p["mean"][:, 0].mean() < p["mixed"][:, 0].mean() - 0.02
    assert p["mean"][:, 1:].mean() > p["mixed"][:, 1:].mean() + 0.02


def test_counting_first_tokens_in_C_matters_only_for_subjects_that_come_first():
    squares = {
        (place, skip): gathered("longer", subject=place, skip=skip) ** 2
        for place in ("inside", "first")
        for skip in (0, 1)
    }
    assert np.median(squares["first", 0]) > 1.1 * np.median(squares["first", 1])
    assert np.median(squares["inside", 0]) == pytest.approx(
        np.median(squares["inside", 1]), rel=0.05
    )


def test_survivors_are_true_answers_said_before_and_after():
    names = [country.name for country in countries()]
    flags = {
        "capital": ["Japan", "Peru"],
        "currency": ["Japan"],
        "continent": ["Japan", "Peru"],
    }
    known = [
        {
            "parameters": {"relation": r},
            "results": {"known": [name in flags[r] for name in names]},
        }
        for r in RELATIONS
    ]

    def said(*rows):
        return {"said": [list(map(bool, row)) for row in rows]}

    # currency, continent
    japan = {
        "before": said([1, 1, 0], [1, 1, 1]),
        "after": said([0, 1, 1], [1, 0, 0]),
    }
    peru = {"before": said([0, 1, 1]), "after": said([1, 0, 1])}  # the continent
    cells = [
        {"parameters": {"fact": "capital:Japan:Rome"}, "results": japan},
        {"parameters": {"fact": "capital:Peru:Rome"}, "results": peru},
    ]
    counts = survivors({"cells": cells}, {"cells": known})
    assert counts["capital", "currency"] == [(0, 1), (1, 2)]
    assert counts["capital", "continent"] == [(1, 1), (2, 5)]
    assert counts["currency", "capital"] == [(0, 0), (0, 0)]


def test_an_edit_changes_most_other_facts_about_its_subject():
    record = load_record("editing_subject")
    assert coverage(record).missing == ()
    counts = {
        pair: count[0]
        for pair, count in survivors(record, load_record("editing_known")).items()
    }
    survivor_count, knew = np.sum(list(counts.values()), axis=0)
    assert knew == 55
    assert survivor_count / knew < 0.3
    # no capital and no currency survives, and a third of the continents do
    names = [
        count for (_, relation), count in counts.items() if relation != "continent"
    ]
    assert np.sum(names, axis=0).tolist() == [0, 20]
    continents = [
        count for (_, relation), count in counts.items() if relation == "continent"
    ]
    assert np.sum(continents, axis=0).tolist() == [12, 35]
    assert survivor_count == sum(
        count[0] for (_, relation), count in counts.items() if relation == "continent"
    )
    share = np.concatenate([cell["results"]["share"] for cell in record["cells"]])
    assert len(share) >= knew
    assert np.median(share) > 0.8  # because their questions have nearly the same key
    assert all(cell["results"]["written"] for cell in record["cells"])


def test_costs_and_surviving_facts_of_constrained_edits_are_counted():
    """Two edits, with two other facts and one. If these are constrained, one more of
    them survives, and a paraphrase and two neighbours are lost.
    """

    def outcome(price, leads, *said):
        return {
            "price": price,
            "margin": [1.0 if lead == "+" else -1.0 for lead in leads],
            "said": list(said),
        }

    first_two = [True, True, False, False]
    middle_two = [False, True, True, False]
    one = {
        "before": [[True] * 4, first_two],
        "alone": outcome(2.0, "+++----", middle_two, first_two),
    }
    one["questions"] = one["ways"] = outcome(8.0, "++----+", first_two, first_two)
    other = {"before": [first_two], "alone": outcome(3.0, "+++++--", middle_two)}
    other["questions"] = other["ways"] = outcome(18.0, "+++++--", middle_two)
    for results in (one, other):
        results["none"] = {"margin": outcome(0.0, "------+", first_two)["margin"]}
    head, none, alone, *rows = held_rows(
        {"cells": [{"results": one}, {"results": other}]}
    )
    assert len(head) == len(alone) == 7
    assert none == ["unedited", "–", "0 of 2", "0 of 6", "4 of 6", "3 of 3", "8 of 8"]
    assert alone == ["nothing", "1", "2 of 2", "5 of 6", "5 of 6", "1 of 3", "5 of 8"]
    assert rows[0][1:] == ["5", "2 of 2", "4 of 6", "4 of 6", "2 of 3", "5 of 8"]


def test_protecting_other_facts_about_a_subject_costs_paraphrases_and_flips_neighbours():
    results = [cell["results"] for cell in load_record("editing_held")["cells"]]
    assert len(results) >= 4
    counts = {
        method: sum(np.sum(r[method]["said"]) for r in results)
        for method in ("alone", "questions")
    }
    ahead = {
        method: np.array([r[method]["margin"] for r in results]) > 0
        for method in counts
    }
    assert counts["questions"] > counts["alone"]
    assert (
        np.median([r["questions"]["price"] / r["alone"]["price"] for r in results]) > 4
    )
    assert ahead["questions"][:, 0].all()
    # paraphrases of the edited fact
    assert ahead["questions"][:, 1:4].sum() < ahead["alone"][:, 1:4].sum()
    assert ahead["questions"][:, 4:].sum() > ahead["alone"][:, 4:].sum()  # neighbours


@pytest.fixture
def recorded():
    return [load_record(f"editing_{name}") for name in ("facts", "shares", "known")]


def test_neighbours_stand_with_their_own_share_and_lead(recorded):
    edits = neighbour_shares(*recorded)
    assert len(edits) == 60
    assert all(len(edit["neighbours"]) == 6 for edit in edits)
    hungary = edits[0]
    assert (hungary["relation"], hungary["name"], hungary["target"]) == (
        "capital",
        "Hungary",
        "Oslo",
    )
    assert [row[0] for row in hungary["neighbours"]] == [
        "Austria", "Romania", "Bulgaria", "the Czech Republic", "Denmark", "France",
    ]  # fmt: skip
    cells = {
        relation: select(recorded[1], relation=relation)[0]["results"]
        for relation in RELATIONS
    }
    # values as in the record
    assert hungary["neighbours"][0][1:] == [
        cells["capital"]["closed"][0][0],
        -7.4735,
        -1.9777,
    ]
    plain = neighbour_shares(*recorded, method="identity")
    for relation, cell in cells.items():
        own = [
            edits
            for edits in zip(edits, plain, strict=True)
            if edits[0]["relation"] == relation
        ]
        for (one, other), closed, identity in zip(
            own, cell["closed"], cell["identity"], strict=True
        ):
            assert [row[1] for row in one["neighbours"]] == closed
            assert [row[1] for row in other["neighbours"]] == identity
            assert [row[2] for row in one["neighbours"]] == [
                row[2] for row in other["neighbours"]
            ]
    after = recorded[0]["cells"][-1]["results"]["answers"]["identity"]["margin"][4:]
    assert [row[3] for row in plain[-1]["neighbours"]] == after
    with refused(ValueError, match="method: got 'tuned'"):
        neighbour_shares(*recorded, method="tuned")


def test_a_share_belongs_to_its_fact_whatever_the_order_of_the_cells(recorded):
    facts, shares, known = recorded
    backwards = facts | {"cells": facts["cells"][::-1]}
    assert (
        neighbour_shares(backwards, shares, known) == neighbour_shares(*recorded)[::-1]
    )
    one, other = (
        summarise_record(each, "rome", without=BLOCK_TRIALS)["neighbourhood"]["share"]
        for each in (facts, backwards)
    )
    assert one == pytest.approx(other)


def test_flipped_neighbours_are_counted_by_their_share():
    rows = [
        ["a", 0.1, -1, 2],
        ["b", 0.3, -1, -0.5],
        ["c", 0.05, -1, 1],
        ["d", 0.29, -2, -1],
        ["e", 0.9, -2, 0],
    ]
    bins = turned_by_share(
        [{"neighbours": rows[:2]}, {"neighbours": rows[2:]}], [-1, 0.1, 0.3, 1]
    )
    assert bins == [(1, 1), (1, 2), (0, 2)]


def test_the_share_predicts_which_neighbours_an_edit_of_the_model_changes_R_S8(
    recorded,
):
    """The share is computed before the edit, from keys alone. Its ranks agree with
    those of the rise, and almost no neighbour with a small share flips, with C from
    text and with C = I.
    """
    edges = [-1, 0.1, 0.3, 0.5, 2]
    rank = {}
    turned = {}
    for method in ("rome", "identity"):
        edits = neighbour_shares(*recorded, method=method)
        share, before, after = np.array(
            [row[1:] for edit in edits for row in edit["neighbours"]]
        ).T
        rank[method] = spearmanr(share, after - before).statistic
        turned[method] = turned_by_share(edits, edges)
        assert sum(count for _, count in turned[method]) == 360
    assert min(rank.values()) > 0.6
    for counts in turned.values():
        assert counts[0][0] <= 0.02 * counts[0][1]
        assert counts[3][0] > 0.4 * counts[3][1]
    # with C = I the shares are larger
    assert np.mean([row[1] for edit in edits for row in edit["neighbours"]]) > 0.3


def test_interference_of_batches_of_real_keys_follows_other_keys_of_their_kind_R_S7():
    record = load_record("editing_batch")
    assert coverage(record).missing == ()
    for cell in record["cells"]:
        results = {name: np.array(value) for name, value in cell["results"].items()}
        old = [
            (results["dimensions"] - 2) / (results["dimensions"] - m - 1)
            for m in results["sizes"]
        ]
        error = {
            name: abs(np.log(law / results["priced"]))
            for name, law in (("old", old), ("law", results["law"]))
        }
        if cell["parameters"]["keys"] != "text":
            # keys of countries differ in kind from the keys in C
            assert results["priced"][-1] > 1.3 * old[-1]
            assert error["law"][-1] < error["old"][-1] / 2


def test_edits_in_later_blocks_flip_more_neighbours():
    record = load_record("editing_layers")
    assert coverage(record).missing == ()
    turned = {}
    for layer in record["full"]["layer"]:
        margins = [
            np.array(cell["results"]["answers"]["rome"]["margin"])
            for cell in select(record, layer=layer)
        ]
        assert len(margins) == 12
        # the edit writes the answer in every block
        assert all(margin[0] > 0 for margin in margins)
        turned[layer] = np.mean([(margin[4:] > 0).mean() for margin in margins])
    assert turned[2] < turned[8] < 0.2 < turned[14] < turned[20]


def test_five_keys_per_dimension_and_a_ridge_come_within_a_quarter_of_the_least():
    """The chapters' rule for C, against the record on which it is based. The recorded
    edits and the page follow it.
    """
    record = load_record("editing_beta")
    for source in ("tokens", "passages"):
        (cell,) = select(record, drawn=source, times=5.0)
        assert cell["results"]["n"] == 5 * cell["results"]["D"]
        assert cell["results"]["ridged"]["inflation"] < 1.25
        (few,) = select(record, drawn=source, times=2.0)
        assert few["results"]["ridged"]["inflation"] > 1.5
    assert load_record("editing_facts")["full"]["ridge"] == 0.01


def test_the_share_predicts_the_rise_among_the_neighbours_of_one_edit(recorded):
    """So the correlation is not due to differences between edits."""
    ranks = [
        spearmanr(
            [row[1] for row in edit["neighbours"]],
            [row[3] - row[2] for row in edit["neighbours"]],
        ).statistic
        for edit in neighbour_shares(*recorded)
    ]
    assert np.mean(ranks) > 0.7
    assert sum(rank < 0 for rank in ranks) <= 3


def test_share_and_flipped_neighbours_correlate_even_at_a_given_depth():
    cells = {
        cell["parameters"]["layer"]: cell["results"]
        for cell in load_record("editing_scan")["cells"]
    }
    reached = [
        block
        for block in sorted(cells)
        if (np.array(cells[block]["margin"])[:, 1:4] > 0).mean() > 0.5
    ]
    share = [np.mean(cells[block]["share"]) for block in reached]
    turned = [(np.array(cells[b]["margin"])[:, 4:] > 0).mean() for b in reached]
    rest = [x - np.polyval(np.polyfit(reached, x, 1), reached) for x in (share, turned)]
    assert np.corrcoef(share, turned)[0, 1] > 0.95
    assert 0.7 < np.corrcoef(rest)[0, 1] < 0.9


def test_early_keys_cannot_distinguish_relations_and_late_ones_subjects():
    record = load_record("editing_two_shares")
    assert coverage(record).missing == ()
    shares = {
        kind: {
            cell["parameters"]["layer"]: cell["results"][f"text_{kind}"]["mean"]
            for cell in record["cells"]
        }
        for kind in ("other_subject", "other_relation")
    }
    assert max(shares["other_subject"][block] for block in range(10)) < 0.2
    assert min(shares["other_relation"][block] for block in range(10)) > 0.8
    assert min(shares["other_subject"][block] for block in range(25, 30)) > 0.6
    assert max(shares["other_relation"][block] for block in range(25, 30)) < 0.5
    # in no block are both shares small
    assert min(map(max, *(kind.values() for kind in shares.values()))) > 0.5


def test_the_two_shares_are_those_of_the_keys(experiment, monkeypatch):
    """Against a loop over two countries and the relations, for random keys."""
    two = experiment("editing_two_shares")
    rng = np.random.default_rng(0)
    width = 8
    keys = rng.normal(size=(3, 4, 2, width))
    moment = np.cov(rng.normal(size=(width, 5 * width)))
    monkeypatch.setattr(two, "subject_keys", lambda: keys)
    monkeypatch.setattr(two, "moments", lambda every: [moment] * 4)
    results = two.measure(layer=1, ridge=0.01, every=1, seed=0)
    C = moment + 0.01 * np.trace(moment) / width * np.eye(width)
    relation, subject = [], []
    for r in range(3):
        for c in range(2):
            k = keys[r, 1, c]
            u = np.linalg.solve(C, k)
            subject.append(u @ keys[r, 1, 1 - c] / (u @ k))
            relation += [u @ keys[q, 1, c] / (u @ k) for q in range(3) if q != r]
    assert results["countries"] == 2
    assert results["text_other_subject"]["mean"] == pytest.approx(
        np.mean(subject), 1e-3
    )
    assert results["text_other_relation"]["mean"] == pytest.approx(
        np.mean(relation), 1e-3
    )


# The allowed length of δ


def test_an_allowed_length_is_counted_edit_by_edit():
    results = {
        "length": [2.0, 1.5],
        # question, three paraphrases, two neighbours
        "margin": [[1, 1, -1, 1, -1, -1], [-1, 1, 1, 1, 1, -1]],
        # two other facts about the first country, each asked in two phrasings
        "subject": {
            "capital:Japan:Rome": {
                "before": [[1, 1], [1, 0]],
                "after": [[1, 0], [0, 0]],
            },
            "continent:Oslo:Asia": {"before": [[0, 1]], "after": [[1, 1]]},
        },
    }
    cell = {"parameters": {"reach": 2.0, "neighbours": 2}, "results": results}
    assert reach_counts(cell) == {
        "bound": (1, 2),
        "new": (1, 2),
        "paraphrases": (5, 6),
        "neighbours": (3, 4),
        "facts": (1, 2),
    }
    # before any edit, by the names of the facts, whose recorded order does not matter
    before = {
        "continent:Oslo:Asia": [-1, -1, -1, 1, 1, -1],
        "capital:Japan:Rome": [-1, -1, -1, -1, -1, -1],
    }
    cells = [
        {
            "parameters": {"fact": fact, "neighbours": 2},
            "results": {"none": {"margin": margin}},
        }
        for fact, margin in before.items()
    ]
    (_, none, row) = reach_rows({"cells": [cell]}, {"cells": cells})
    assert none == ["unedited", "–", "0 of 2", "1 of 6", "3 of 4", "2 of 2"]
    assert row == ["2 ‖v₀‖", "1 of 2", "1 of 2", "5 of 6", "3 of 4", "1 of 2"]
    with refused(ValueError, match="0 cells"):
        reach_rows({"cells": [cell]}, {"cells": cells[:1]})


def test_a_short_delta_spares_the_other_facts_and_loses_paraphrases():
    """The sentences below the table of allowed lengths."""
    short, long = (
        {
            what: some / every
            for what, (some, every) in reach_counts(
                select_one(load_record("editing_reach"), reach=reach)
            ).items()
        }
        for reach in (1, 4)
    )
    assert short["facts"] > 2 * long["facts"]
    assert short["paraphrases"] < 0.6 * long["paraphrases"]
    assert short["neighbours"] > long["neighbours"] > 0.9
    assert short["new"] <= long["new"]


# The sweep of fine-tuning


def swept():
    """Two facts with two settings each, and a third fact with one of them. The wide
    bound writes both facts and changes a neighbour of each.
    """
    narrow = answers([-5] * 6, [-1] * 6, False, 1.0)
    wide = answers([-1, -1, -5, -5, -1, -5], [-5, -5, -1, -1, -5, -1], True, 0.5)
    cells = [
        {
            "parameters": {"radius": bound, "rate": 0.1, "fact": fact},
            "results": {"answers": {"tuned": of}},
        }
        for fact in ("a", "b")
        for bound, of in ((0.01, wide), (0.001, narrow))
    ]
    cells.append(cells[0] | {"parameters": cells[0]["parameters"] | {"fact": "c"}})
    return {"cells": cells}


def test_the_best_setting_does_not_depend_on_the_order_of_cells(record):
    settings = tuned_settings(swept())
    assert {one["edits"] for one in settings.values()} == {2}
    assert best_setting(settings, "efficacy") == (0.01, 0.1)
    assert best_setting(settings, "neighbourhood") == (0.001, 0.1)
    assert settings[0.01, 0.1]["neighbourhood"]["share"] == 0.5
    backwards = swept()
    backwards["cells"].reverse()
    assert tuned_settings(backwards) == settings
    facts = record | {"full": {"fact": ["a", "b"]}}
    for cell, fact in zip(facts["cells"], ("a", "b"), strict=True):
        cell["parameters"] = {"fact": fact}
    head, closed, *rows = tuning_rows(swept(), facts)
    assert closed[0] == "closed form"
    assert closed[4].startswith("100 (")
    assert [row[1] for row in rows] == head[4:]
    assert rows[2][2:4] == ["0.001", "0.1"]
    assert {len(row) for row in (closed, *rows)} == {len(head)}


def test_no_setting_of_fine_tuning_writes_the_facts_and_spares_the_neighbours():
    record = load_record("editing_tuning")
    settings = tuned_settings(record)
    assert {one["edits"] for one in settings.values()} == {20}
    for one in settings.values():
        if one["efficacy"]["share"] > 0.9:
            assert one["neighbourhood"]["share"] < 0.9
            assert one["paraphrase"]["share"] < 0.9
    assert max(one["score"] for one in settings.values()) < 0.7
    # the best setting is not at an edge of the sweep
    for best, axis in zip(
        best_setting(settings, "score"), ("radius", "rate"), strict=True
    ):
        assert min(record["full"][axis]) < best < max(record["full"][axis])
