"""The recorded study of many edits, summarised method by method."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankone._checks import choice
from rankone.data.facts import Country, countries
from rankone.language.edit_metrics import summarise
from rankone.language.relations import RELATIONS, country_fact
from rankone_book.records import select_one

__all__ = [
    "BLOCK_TRIALS",
    "METHODS",
    "best_setting",
    "held_rows",
    "method_rows",
    "neighbour_shares",
    "reach_counts",
    "reach_rows",
    "summarise_record",
    "survivors",
    "tuned_settings",
    "tuning_rows",
    "turned_by_share",
]

METHODS = {
    "none": "unedited",
    "rome": "closed form, C from text",
    "identity": "closed form, C = I",
    "mixed": "closed form, two keys",
    "tuned": "fine-tuning, bound 0.0005",
}
# the edits on which blocks were compared before block 2 was chosen
BLOCK_TRIALS = (
    "capital:Hungary:Oslo",
    "capital:Italy:Manila",
    "capital:Russia:Damascus",
    "capital:Bulgaria:Dublin",
    "capital:Azerbaijan:Port-au-Prince",
    "capital:Bangladesh:Mogadishu",
    "capital:Portugal:Kuala Lumpur",
    "capital:Japan:Hanoi",
    "capital:Indonesia:Pyongyang",
    "capital:Latvia:Jakarta",
    "capital:Austria:Hanoi",
    "capital:Djibouti:Sofia",
    "capital:the United Kingdom:Damascus",
    "capital:Israel:Copenhagen",
    "capital:Denmark:Paris",
    "capital:Uganda:Moscow",
    "capital:North Korea:Amsterdam",
    "capital:Malaysia:Athens",
)
# name of a method in `editing_facts` → its name in `editing_shares`
_WAYS = {
    "rome": "closed",
    "identity": "identity",
}
_HELD = {
    "none": "unedited",
    "alone": "nothing",
    "questions": "the other questions",
    "ways": "all ways of asking them",
}
_SHARES = ("efficacy", "paraphrase", "neighbourhood", "kept")


def summarise_record(
    record: dict[str, Any], method: str, without: Sequence[str] = ()
) -> dict[str, Any]:
    """Mean scores of one method over the edits of a record, with the mean fluency, its
    standard error, and the interference.

    Args:
        record: The record of `editing_facts`, from `rankone_book.records.load_record`.
        method: One of `METHODS`.
        without: Names of the facts whose edits are left out.

    Returns:
        The result of `summarise`, with three more entries: "fluency" and
        "fluency_error" in bits, and "interference", the median over the edits of its
        ratio to that of the closed form: 1 for "rome", and absent for "none".

    Raises:
        ValueError: If there is no such method.
    """
    choice("method", method, METHODS)
    results = [
        cell["results"]
        for cell in record["cells"]
        if not (without and cell["parameters"]["fact"] in without)
    ]
    paraphrases = {len(relation.paraphrases) for relation in RELATIONS.values()}.pop()
    summary = summarise([result["answers"][method] for result in results], paraphrases)
    fluency = np.array([result["fluency"][method] for result in results])
    summary |= {
        "fluency": float(fluency.mean()),
        "fluency_error": float(fluency.std() / len(fluency) ** 0.5),
    }
    if method != "none":
        prices = [
            result["interference"][method] / result["interference"]["rome"]
            for result in results
        ]
        summary["interference"] = float(np.median(prices))
    return summary


def method_rows(record: dict[str, Any]) -> list[list[str]]:
    """The table of a record: a header, then one row per method, scores in per cent with
    their 95 % intervals.

    Args:
        record: As in `summarise_record`.
    """
    rows = [
        [
            "method",
            "efficacy",
            "paraphrase",
            "neighbourhood",
            "score",
            "neighbours still right",
            "fluency",
            "interference",
        ]
    ]
    for method, name in METHODS.items():
        summary = summarise_record(record, method)
        shares = {quantity: _share(summary[quantity]) for quantity in _SHARES}
        fluency = f"{summary['fluency']:.2f} ± {summary['fluency_error']:.2f}"
        price = f"{summary['interference']:.3g}" if method != "none" else "–"
        score = f"{100 * summary['score']:.1f}"
        rows.append([
            name, shares["efficacy"], shares["paraphrase"], shares["neighbourhood"],
            score, shares["kept"], fluency, price,
        ])  # fmt: skip
    return rows


def tuned_settings(record: dict[str, Any]) -> dict[tuple[float, float], dict[str, Any]]:
    """Mean scores of fine-tuning by (bound, step size), over the facts that were
    measured with every setting.

    Args:
        record: The record of `editing_tuning`, from `rankone_book.records.load_record`.

    Returns:
        (bound, step size) → the result of `summarise`.
    """
    answers: dict[tuple[float, float], dict[str, Any]] = {}
    for cell in record["cells"]:
        at = cell["parameters"]
        setting = answers.setdefault((at["radius"], at["rate"]), {})
        setting[at["fact"]] = cell["results"]["answers"]["tuned"]
    common = set.intersection(*map(set, answers.values()))
    paraphrases = {len(relation.paraphrases) for relation in RELATIONS.values()}.pop()
    return {
        setting: summarise([of[fact] for fact in sorted(common)], paraphrases)
        for setting, of in sorted(answers.items())
    }


def tuning_rows(record: dict[str, Any], facts: dict[str, Any]) -> list[list[str]]:
    """The table of `editing_tuning`: a header, the closed form on the same facts, then
    fine-tuning with the setting that is best by each score.

    Args:
        record: As in `tuned_settings`.
        facts: The record of `editing_facts`, which has the closed form's answers.
    """
    scores = (*_SHARES[:3], "score")
    settings = tuned_settings(record)
    names = {cell["parameters"]["fact"] for cell in record["cells"]}
    others = [fact for fact in facts["full"]["fact"] if fact not in names]
    rows = [["method", "chosen by", "bound", "step size", *scores]]
    closed = summarise_record(facts, "rome", without=others)
    rows.append(["closed form", "–", "–", "–", *_scores(closed)])
    for score in scores:
        bound, rate = best_setting(settings, score)
        summary = settings[bound, rate]
        rows.append(
            ["fine-tuning", score, f"{bound:g}", f"{rate:g}", *_scores(summary)]
        )
    return rows


def best_setting(
    settings: dict[tuple[float, float], dict[str, Any]], score: str
) -> tuple[float, float]:
    """The (bound, step size) with the highest score.

    Ties go to the highest overall score, then to the smallest bound and step size.

    Args:
        settings: From `tuned_settings`.
        score: "efficacy", "paraphrase", "neighbourhood" or "score".
    """

    def rank(setting: tuple[float, float]) -> tuple[float, float, float, float]:
        summary = settings[setting]
        value = summary[score] if score == "score" else summary[score]["share"]
        return -value, -summary["score"], *setting

    return min(settings, key=rank)


def _scores(summary: dict[str, Any]) -> list[str]:
    shares = [_share(summary[quantity]) for quantity in _SHARES[:3]]
    return [*shares, f"{100 * summary['score']:.0f}"]


def survivors(
    record: dict[str, Any], known: dict[str, Any]
) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """Counts of surviving facts about a subject, by the relation that was edited and
    the one asked for.

    Args:
        record: The record of `editing_subject`, from
            `rankone_book.records.load_record`.
        known: Record of `editing_known`, which says about which relations the model was
            asked.

    Returns:
        (edited, asked) → two pairs: the number of true answers that the model still
        gives after the edit, and the number that it gave before. The first pair counts
        the question as an edit would ask it, the second all ways of asking.
    """
    flags = {
        relation: select_one(known, relation=relation)["results"]["known"]
        for relation in RELATIONS
    }
    at = {country.name: i for i, country in enumerate(countries())}
    counts = {
        (edited, asked_relation): np.zeros((2, 2), int)
        for edited in RELATIONS
        for asked_relation in RELATIONS
        if asked_relation != edited
    }
    for cell in record["cells"]:
        edited, name, _ = cell["parameters"]["fact"].split(":")
        other_relations = [
            relation
            for relation in RELATIONS
            if relation != edited and flags[relation][at[name]]
        ]
        answers = [
            np.asarray(cell["results"][when]["said"], bool)
            for when in ("before", "after")
        ]
        for asked_relation, before, after in zip(
            other_relations, *answers, strict=True
        ):
            survived = before & after
            counts[edited, asked_relation] += [
                [survived[0], before[0]],
                [survived.sum(), before.sum()],
            ]
    return {
        pair: [(int(survived), int(knew)) for survived, knew in count]
        for pair, count in counts.items()
    }


def held_rows(record: dict[str, Any]) -> list[list[str]]:
    """The table of `editing_held`: a header, then the model before the edit, then one
    row per way of editing.

    Args:
        record: From `rankone_book.records.load_record`.
    """
    rows = [
        [
            "outputs held",
            "interference",
            "new answer leads",
            "paraphrases: new answer leads",
            "neighbours: true answer leads",
            "other facts still given",
            "other facts, asked in all ways",
        ]
    ]
    results = [cell["results"] for cell in record["cells"]]
    paraphrases = 4
    before = [np.array(result["before"], bool) for result in results]
    for method, name in _HELD.items():
        ahead = [np.array(result[method]["margin"]) > 0 for result in results]
        is_edited = method != "none"
        survived = [
            was & np.array(result[method]["said"], bool) if is_edited else was
            for was, result in zip(before, results, strict=True)
        ]
        parts = [
            (sum(a[0] for a in ahead), len(ahead)),
            (
                sum(a[1:paraphrases].sum() for a in ahead),
                sum(len(a[1:paraphrases]) for a in ahead),
            ),
            (
                sum((~a[paraphrases:]).sum() for a in ahead),
                sum(len(a[paraphrases:]) for a in ahead),
            ),
            (sum(k[:, 0].sum() for k in survived), sum(b[:, 0].sum() for b in before)),
            (sum(k.sum() for k in survived), sum(b.sum() for b in before)),
        ]
        price = "–"
        if is_edited:
            prices = [
                result[method]["price"] / result["alone"]["price"] for result in results
            ]
            price = f"{np.median(prices):.3g}"
        rows.append([name, price, *(f"{part} of {all_}" for part, all_ in parts)])
    return rows


def reach_counts(cell: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Counts of a cell of `editing_reach`, as pairs (number, out of how many).

    "bound" counts the δ that end on the bound, "new" and "paraphrases" the questions in
    which the new answer leads, "neighbours" those in which the true answer leads, and
    "facts" the other facts about the subject that the model still gives, out of those
    that it gave before the edit.

    Args:
        cell: A cell of the record.
    """
    results = cell["results"]
    ahead = np.array(results["margin"]) > 0
    paraphrases = 4
    before, after = (
        np.array(
            [row[0] for one in results["subject"].values() for row in one[when]], bool
        )
        for when in ("before", "after")
    )
    lengths = np.array(results["length"])
    # a δ that was projected lies on the bound up to rounding
    at_bound = (lengths > 0.999 * cell["parameters"]["reach"]).sum()
    parts = {
        "bound": (at_bound, len(lengths)),
        "new": (ahead[:, 0].sum(), len(ahead)),
        "paraphrases": (ahead[:, 1:paraphrases].sum(), ahead[:, 1:paraphrases].size),
        "neighbours": ((~ahead[:, paraphrases:]).sum(), ahead[:, paraphrases:].size),
        "facts": ((before & after).sum(), before.sum()),
    }
    return {name: (int(some), int(every)) for name, (some, every) in parts.items()}


def reach_rows(
    record: dict[str, Any], unedited_record: dict[str, Any]
) -> list[list[str]]:
    """The table of `editing_reach`: a header, then the model before any edit, then one
    row per allowed length.

    Args:
        record: From `rankone_book.records.load_record`.
        unedited_record: The record of `editing_held`, which has the unedited model's
            answers to the same questions.

    Raises:
        ValueError: If `unedited_record` lacks a fact, or asked about other neighbours.
    """
    rows = [
        [
            "allowed length",
            "δ on the bound",
            "new answer leads",
            "paraphrases: new answer leads",
            "neighbours: true answer leads",
            "other facts still given",
        ]
    ]
    by_reach = {cell["parameters"]["reach"]: cell for cell in record["cells"]}
    # any reach will do: all cells ask the same questions before the edit
    counts = _unedited_counts(by_reach[max(by_reach)], unedited_record)
    rows.append(["unedited", "–", *(f"{some} of {every}" for some, every in counts)])
    for _, cell in sorted(by_reach.items()):
        counted = reach_counts(cell).values()
        rows.append(
            [
                f"{cell['parameters']['reach']:g} ‖v₀‖",
                *(f"{some} of {every}" for some, every in counted),
            ]
        )
    return rows


def _unedited_counts(
    cell: dict[str, Any], unedited_record: dict[str, Any]
) -> list[tuple[int, int]]:
    """Counts of `reach_counts` for the unedited model, without the entry "bound"."""
    count = cell["parameters"]["neighbours"]
    margins = [
        select_one(unedited_record, fact=fact, neighbours=count)["results"]["none"][
            "margin"
        ]
        for fact in cell["results"]["subject"]
    ]
    unedited = {
        "length": [],
        "margin": margins,
        "subject": {
            fact: {"before": one["before"], "after": one["before"]}
            for fact, one in cell["results"]["subject"].items()
        },
    }
    return list(reach_counts(cell | {"results": unedited}).values())[1:]


def neighbour_shares(
    record: dict[str, Any],
    shares: dict[str, Any],
    known: dict[str, Any],
    method: str = "rome",
) -> list[dict[str, Any]]:
    """Predicted share of each neighbour of a recorded edit, and the change of its
    answer [R-S8].

    Args:
        record: The record of `editing_facts`, from `rankone_book.records.load_record`.
        shares: Record of `editing_shares`: predictions from the keys alone, before any
            edit.
        known: Record of `editing_known`, which says which countries may serve as
            neighbours.
        method: "rome", the closed form, or "identity", the same with C = I.

    Returns:
        For each edit its "relation", the country, "name", the new answer, "target", and
        "neighbours": each with its name, its share u·k_j/s (the fraction of the edit's
        change that its key k_j receives), and the lead of the new answer over the true
        one before the edit and after it, in nats.

    Raises:
        ValueError: If there is no such method.
    """
    choice("method", method, _WAYS)
    pools = {r: _known_countries(known, r) for r in RELATIONS}
    predicted: dict[str, list[float]] = {}
    for relation in RELATIONS:
        predictions = select_one(shares, relation=relation)["results"]
        predicted |= zip(predictions["facts"], predictions[_WAYS[method]], strict=True)
    edits = []
    for cell in record["cells"]:
        relation, name, target = cell["parameters"]["fact"].split(":")
        prompt = RELATIONS[relation].prompt
        pool = pools[relation]
        near = country_fact(
            name, relation, target, pool, count=cell["parameters"]["neighbours"]
        ).neighbours
        name_of = {prompt.format(country.name): country.name for country in pool}
        margins = [
            cell["results"]["answers"][m]["margin"][-len(near) :]
            for m in ("none", method)
        ]
        columns = (
            [name_of[question] for question, _ in near],
            predicted[cell["parameters"]["fact"]],
            *margins,
        )
        rows = [list(row) for row in zip(*columns, strict=True)]
        edits.append(
            {"relation": relation, "name": name, "target": target, "neighbours": rows}
        )
    return edits


def _known_countries(known: dict[str, Any], relation: str) -> list[Country]:
    flags = select_one(known, relation=relation)["results"]["known"]
    return [country for country, knows in zip(countries(), flags, strict=True) if knows]


def turned_by_share(
    edits: Sequence[dict[str, Any]], edges: Sequence[float]
) -> list[tuple[int, int]]:
    """Numbers of changed neighbours and of all neighbours, for shares between each edge
    and the next.

    Args:
        edits: Edits that `neighbour_shares` returned.
        edges: Shares in increasing order; a share equal to an edge counts above it.

    Returns:
        One pair for each interval between edges.
    """
    share, after = np.array(
        [(row[1], row[3]) for edit in edits for row in edit["neighbours"]]
    ).T
    place = np.digitize(share, edges)
    bins = range(1, len(edges))
    return [(int((after[place == i] > 0).sum()), int((place == i).sum())) for i in bins]


def _share(result: dict[str, Any]) -> str:
    low, high = result["interval"]
    return f"{100 * result['share']:.0f} ({100 * low:.0f}–{100 * high:.0f})"
