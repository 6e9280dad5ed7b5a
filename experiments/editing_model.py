"""Any model: the two shares of an edit in every block, the answers that flip, and ϱ of
the edits that are known to disable it. --model PATH is a folder of GPT-2, llama,
mistral or qwen2, or a GGUF file, and needs --out FOLDER. --data PATH is CounterFact,
and --cases FILE lists the numbers of its cases whose edit disables the model (Yang et
al. publish them with github.com/WanliYoung/Collapse-in-Model-Editing).

A cell is one block. Its facts are cases of CounterFact that the model knows and whose
question has words before the subject: without such words the key cannot depend on the
question. Each is asked about other subjects, and its subject is asked other questions.
From the keys alone come the shares of all these questions. Then the facts are edited,
and each question is asked again: its answer flips if the new answer becomes likelier
than the one that the model gave before. The record also has the causal trace of each
fact.

CounterFact seldom has two facts about one subject. So the other questions are those of
other relations, whether they suit the subject or not, and the answer before is the
token that the model found likeliest, right or wrong.

C comes from every twelfth passage of the corpus, about 10,000 keys, which are six per
dimension of SmolLM2-135M. A wider model needs more: --every 3 for GPT-2 XL.
"""

import json
import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from counterfact import CASES, Case, cases, places, subject_streams
from editing_known import model
from record import Experiment, main

from rankone.data.facts import corpus
from rankone.editing import KeyGeometry
from rankone.language.forward import Cache, embed, logits, run
from rankone.language.likelihood import likelihoods
from rankone.language.many import find_fact_values
from rankone.language.prompts import corpus_contexts
from rankone.language.relations import Request
from rankone.language.statistics import key_geometry, text_keys
from rankone.language.surgery import close_edit
from rankone.language.tokenizer import pad
from rankone.language.tracing import subject_noise, trace
from rankone.language.transformer import Network
from rankone_book.model_study import block_rows, correlation_rows, ratio_rows

GRID = {"layer": list(range(2, 30, 5))}
OPTIONS = {
    "facts": 6,
    "neighbours": 3,
    "others": 6,
    "contexts": 1,
    "ridge": 0.01,
    "every": 12,
    "noises": 2,
    "compared": 60,
    "prefixes": 6,
}
BATCH = 50  # questions whose answers are checked at a time


def head(case: Case) -> str:
    """The words of the question before its subject."""
    return case.request.prompt.split("{}")[0]


@cache
def inside() -> list[Case]:
    """The cases of the book whose question has words before the subject."""
    return [case for case in cases(CASES) if head(case).strip()]


@cache
def edited(facts: int, neighbours: int) -> list[Case]:
    """The first cases that the model knows and whose question is asked about enough
    other subjects.
    """
    pool = sorted(inside(), key=lambda case: len(case.request.text))
    known_cases = []
    for start in range(0, len(pool), BATCH):
        part = pool[start : start + BATCH]
        prompts = [case.request.text for case in part]
        said = np.asarray(likelihoods(model(), prompts, [one.truth for one in part])[1])
        known_cases += [case for case, known in zip(part, said, strict=True) if known]
    eligible = [case for case in known_cases if len(near(case)) >= neighbours]
    if len(eligible) < facts:
        raise ValueError(
            f"--facts: got {facts}; the model knows {len(eligible)} cases with "
            f"{neighbours} other subjects."
        )
    return eligible[:facts]


def near(case: Case) -> list[str]:
    """Other subjects of the same question."""
    prompt = case.request.prompt
    same = [one.request.subject for one in inside() if one.request.prompt == prompt]
    return [one for one in dict.fromkeys(same) if one != case.request.subject]


def questions(case: Case, neighbours: int, others: int) -> list[Request]:
    """The question itself, the same about other subjects, and other questions about the
    same subject, no two with the same words before it.
    """
    own, new = case.request, case.request.target
    by_head = {head(one): one.request.prompt for one in inside()}
    by_head.pop(head(case))
    prompts = list(by_head.values())
    indices = np.random.default_rng(case.number).permutation(len(prompts))[:others]
    return [
        own,
        *(Request(own.prompt, subject, new) for subject in near(case)[:neighbours]),
        *(Request(prompts[i], own.subject, new) for i in indices),
    ]


def shares(requests: list[Request], C: KeyGeometry, layer: int) -> np.ndarray:
    """Share of δ that each question but the first gets from an edit of the first."""
    starts = [one.prompt.split("{}")[0] + one.subject for one in requests]
    keys = np.asarray(text_keys(model(), starts, layer), float)
    got = keys @ np.asarray(C.solve(keys[0]), float)
    return got[1:] / got[0]


@jax.jit
def next_token(network: Network, tokens: jax.Array, valid: jax.Array) -> jax.Array:
    """Log-probabilities of the token after each row (B, V)."""
    stream = Cache.empty(network.config, valid, network.norm.dtype)
    h, _, _ = run(network, embed(network, tokens), stream, keep=False)
    return jax.nn.log_softmax(logits(network, h[:, -1]), axis=-1)


def answers(network: Network, requests: list[Request]) -> np.ndarray:
    """Log-probabilities of the token after each question (n, V)."""
    rows = [model().tokenizer.encode(one.text) for one in requests]
    tokens, valid = pad(rows, left=True, multiple=16)
    return np.asarray(next_token(network, jnp.asarray(tokens), jnp.asarray(valid)))


@cache
def effects(facts: int, neighbours: int, noises: int, seed: int) -> np.ndarray:
    """Causal trace of each fact at the last token of its subject (facts, blocks)."""
    chosen = edited(facts, neighbours)
    unit = subject_noise(model(), [case.request.subject for case in chosen])
    key = jax.random.key(seed)
    traces = []
    for case in chosen:
        request = replace(case.request, target=case.truth)
        one = trace(model(), request, key=key, noises=noises, unit=unit)
        traces.append(one.effect[:, one.subject[1]])
    return np.stack(traces)


def listed() -> list[int]:
    """Numbers of the cases in the file of --cases: numbers with space between them, or
    JSON, a list of numbers or of records with a case_id.
    """
    path = os.environ.get("RANKONE_CASES")
    if not path:
        return []
    text = Path(path).read_text(encoding="utf-8")
    entries = json.loads(text) if text.lstrip().startswith("[") else text.split()
    return [int(one["case_id"] if isinstance(one, dict) else one) for one in entries]


def ratios(
    numbers: list[int], C: KeyGeometry, layer: int, prefixes: int
) -> dict[str, Any]:
    """Absolute value of ϱ = uᵀk_mean / uᵀk_bare for each case, and whether its question
    begins with the subject.
    """
    chosen = cases(numbers)
    mean, bare = (
        np.asarray(subject_streams(chosen, layer, count)[0][layer], float)
        for count in (prefixes, 0)
    )
    u = np.asarray(C.solve(mean.T), float).T
    rho = np.abs(np.sum(u * mean, axis=1) / np.sum(u * bare, axis=1))
    first = [not head(case).strip() for case in chosen]
    return {"rho": rho, "first": first}


def measure(
    *,
    layer: int,
    facts: int,
    neighbours: int,
    others: int,
    contexts: int,
    ridge: float,
    every: int,
    noises: int,
    compared: int,
    prefixes: int,
    seed: int,
) -> dict[str, Any]:
    """For each fact: shares, leads of the new answer before and after the edit, and the
    trace; and ϱ of the listed cases and of others.
    """
    C = key_geometry(model(), layer, ridge=ridge, texts=corpus()[::every])
    results: dict[str, Any] = {}
    if facts > 0:
        chosen = edited(facts, neighbours)
        texts = corpus_contexts(model().tokenizer, ((contexts, 10),))
        requests = [case.request for case in chosen]
        values = find_fact_values(model(), requests, contexts=texts, layer=layer)
        W = model().network.down(layer)
        results = {
            "case": [case.number for case in chosen],
            "trace": effects(facts, neighbours, noises, seed)[:, layer],
            "share": [],
            "before": [],
            "after": [],
        }
        for case, value in zip(chosen, values, strict=True):
            probes = questions(case, neighbours, others)
            change = close_edit(W, C, value).apply(W)
            before = answers(model().network, probes)
            after = answers(model().network.with_down(layer, change), probes)
            new = model().tokenizer.following(case.request.target)[0]
            old = before.argmax(1)
            at = np.arange(len(probes))
            results["share"].append(np.round(shares(probes, C, layer), 3))
            for when, log_p in (("before", before), ("after", after)):
                results[when].append(np.round(log_p[:, new] - log_p[at, old], 2))
    disabling = listed()
    rest = [number for number in CASES if number not in disabling][:compared]
    if disabling:
        listed_ratios = ratios(disabling, C, layer, prefixes)
        results["listed"] = {"case": disabling, **listed_ratios}
    if rest:
        results["others"] = ratios(rest, C, layer, prefixes)
    return results


EXPERIMENT = Experiment(
    "editing_model",
    __doc__,
    GRID,
    measure,
    OPTIONS,
    of="the book",
)

if __name__ == "__main__":
    places(("--cases", "RANKONE_CASES"))
    whole = EXPERIMENT
    if "RANKONE_MODEL" in os.environ:
        blocks = {"layer": list(range(model().network.config.layers))}
        whole = replace(EXPERIMENT, grid=blocks)
    record = main(whole)
    for rows in (block_rows(record), correlation_rows(record), ratio_rows(record)):
        print("\n".join(" | ".join(row) for row in rows) + "\n")
