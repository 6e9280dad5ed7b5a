"""The recorded study of many edits, summarised method by method."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from rankone._checks import choice
from rankone.book.records import select
from rankone.data.facts import countries
from rankone.language.edit_metrics import summarise
from rankone.language.relations import RELATIONS, country_fact

__all__ = ["METHODS", "method_rows", "neighbour_shares", "summarise_record", "survivors"]

METHODS = {
    "none": "unedited",
    "rome": "closed form, C from text",
    "identity": "closed form, C = I",
    "mixed": "closed form, two keys (published code)",
    "tuned": "fine-tuning, L∞ constraint",
}
_SHARES = ("efficacy", "paraphrase", "neighbourhood", "kept")


def summarise_record(record: dict[str, Any], method: str) -> dict[str, Any]:
    """One method's shares over all edits of a record, with the mean fluency and its standard error, and the price.

    Args:
        record: The record of `editing_facts`, from `rankone.book.records.load_record`.
        method: One of `METHODS`.

    Returns:
        What `summarise` returns; "fluency" and "fluency_error" in bits; "interference", the median over the edits of
        its ratio to that of the closed form: 1 for "rome", and absent for "none".

    Raises:
        ValueError: If there is no such method.
    """
    choice("method", method, METHODS)
    results = [cell["results"] for cell in record["cells"]]
    paraphrases = {len(relation.paraphrases) for relation in RELATIONS.values()}.pop()
    summary = summarise([result["answers"][method] for result in results], paraphrases)
    fluency = np.array([result["fluency"][method] for result in results])
    summary |= {"fluency": float(fluency.mean()), "fluency_error": float(fluency.std() / len(fluency) ** 0.5)}
    if method != "none":
        prices = [result["interference"][method] / result["interference"]["rome"] for result in results]
        summary["interference"] = float(np.median(prices))
    return summary


def method_rows(record: dict[str, Any]) -> list[list[str]]:
    """The table of a record: a header, then one row per method, shares in per cent with their 95 % intervals.

    Args:
        record: As in `summarise_record`.
    """
    rows = [
        ["method", "efficacy", "paraphrase", "neighbourhood", "score", "neighbours still right", "fluency", "price"]
    ]
    for method, name in METHODS.items():
        found = summarise_record(record, method)
        shares = {share: _share(found[share]) for share in _SHARES}
        rows.append([
            name, shares["efficacy"], shares["paraphrase"], shares["neighbourhood"], f"{100 * found['score']:.1f}",
            shares["kept"], f"{found['fluency']:.2f} ± {found['fluency_error']:.2f}",
            f"{found['interference']:.3g}" if method != "none" else "–",
        ])  # fmt: skip
    return rows


def survivors(record: dict[str, Any], known: dict[str, Any]) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """What is left of the other facts about a subject, by the relation that was edited and the one asked for.

    Args:
        record: The record of `editing_subject`, from `rankone.book.records.load_record`.
        known: That of `editing_known`, which says which relations were asked.

    Returns:
        (edited, asked) → how many true answers are still what is said, and how many were before the edit: first to the
        question as an edit would ask it, then to all ways of asking.
    """
    flags = {relation: select(known, relation=relation)[0]["results"]["known"] for relation in RELATIONS}
    at = {country.name: i for i, country in enumerate(countries())}
    counts = {(edited, asked): np.zeros((2, 2), int) for edited in RELATIONS for asked in RELATIONS if asked != edited}
    for cell in record["cells"]:
        edited, name, _ = cell["parameters"]["fact"].split(":")
        others = [relation for relation in RELATIONS if relation != edited and flags[relation][at[name]]]
        said = [np.asarray(cell["results"][when]["said"], bool) for when in ("before", "after")]
        for asked, before, after in zip(others, *said, strict=True):
            kept = before & after
            counts[edited, asked] += [[kept[0], before[0]], [kept.sum(), before.sum()]]
    return {pair: [(int(kept), int(knew)) for kept, knew in count] for pair, count in counts.items()}


def neighbour_shares(
    record: dict[str, Any], names: Sequence[str], shares: Float[np.ndarray, "n n"]
) -> list[dict[str, Any]]:
    """What each neighbour of a recorded edit of a capital got, and what became of its answer.

    Args:
        record: The record of `editing_facts`, from `rankone.book.records.load_record`.
        names: Countries whose capital the model knows, in the order of `countries()`: those that served as neighbours.
        shares: [i, j] is the share u·k_j/s of the i-th country's edit that the key of the j-th gets.

    Returns:
        For each edit its country, "name", the new answer, "target", and "neighbours": each with its name, its share,
        and the lead of the new answer over the true one before the edit and after it, in nats.
    """
    pool = [country for country in countries() if country.name in set(names)]
    asked = {RELATIONS["capital"].prompt.format(name): name for name in names}
    at = {name: i for i, name in enumerate(names)}
    edits = []
    for cell in select(record):
        relation, name, target = cell["parameters"]["fact"].split(":")
        if relation != "capital":
            continue
        near = country_fact(name, relation, target, pool, count=cell["parameters"]["neighbours"]).neighbours
        margins = [cell["results"]["answers"][method]["margin"][-len(near) :] for method in ("none", "rome")]
        others = [asked[prompt] for prompt, _ in near]
        rows = [
            [other, round(float(shares[at[name], at[other]]), 4), before, after]
            for other, before, after in zip(others, *margins, strict=True)
        ]
        edits.append({"name": name, "target": target, "neighbours": rows})
    return edits


def _share(found: dict[str, Any]) -> str:
    low, high = found["interval"]
    return f"{100 * found['share']:.0f} ({100 * low:.0f}–{100 * high:.0f})"
