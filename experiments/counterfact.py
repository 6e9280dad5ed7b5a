"""CounterFact on SmolLM2-135M: a thousand facts, drawn once, are rewritten one at a
time by the closed form.

The data set (MIT licence) belongs to its authors. Its file is taken from --data or from
a data folder on this machine, or it is downloaded. The records contain only the numbers
of its cases. The facts are rewritten whether the model knows them or not.
"""

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import URLError
from urllib.request import urlopen

import jax
import jax.numpy as jnp
import numpy as np
from editing_facts import geometry
from editing_known import model
from record import Experiment, main

from rankone._files import read_arrays, replaced
from rankone.language.forward import Cache, embed, logits, run
from rankone.language.likelihood import at_positions, log_likelihood, up_to_layer
from rankone.language.many import find_fact_values
from rankone.language.prompts import Continuations, continuations, corpus_contexts
from rankone.language.relations import Request
from rankone.language.rewriting import Search
from rankone.language.tokenizer import pad
from rankone.language.transformer import Network
from rankone_book.counterfact_study import score_rows

URL = "https://rome.baulab.info/data/dsets/counterfact.json"
# Checksum of the file at URL, which has 45,108,470 bytes.
SHA256 = "d017056125178a13728594e66a801357a8db9ed7973a7425554bb4271de9fc6f"
FILE = "counterfact.json"
CASES = tuple(
    map(int, (Path(__file__).parent / "counterfact_cases.txt").read_text().split())
)
SIZE = 10  # cases per cell
PART = 10  # cases whose questions are asked at a time
ROWS = 100  # texts whose keys are read at a time
KINDS = ("rewriting", "paraphrase", "neighbour")
GRID = {"cell": list(range(len(CASES) // SIZE))}
OPTIONS = {"layer": 2, "ridge": 0.01, "contexts": 1, "every": 4}


class Case(NamedTuple):
    """One record: the request with its new answer, the true answer, a paraphrase of the
    question, and the question about another subject with the same true answer.
    """

    number: int
    request: Request
    truth: str
    paraphrase: str
    neighbour: str


def folder() -> Path:
    """Folder of the data set's file and of the values found for its facts."""
    return Path(os.environ.get("RANKONE_DATA", Path.home() / ".cache" / "rankone"))


def cases(numbers: Sequence[int]) -> list[Case]:
    """The cases with the given numbers, in this order.

    Raises:
        ValueError: If the file lacks one of them.
    """
    by_number = _cases_by_number(
        Path(os.environ.get("RANKONE_COUNTERFACT", folder() / FILE))
    )
    lacking = [number for number in numbers if number not in by_number]
    if lacking:
        raise ValueError(
            f"--data: got a file without the cases {lacking[:3]}; it must hold all that "
            "are asked for."
        )
    return [by_number[number] for number in numbers]


@cache
def _cases_by_number(path: Path) -> dict[int, Case]:
    if not path.is_file():
        path = fetched(path)
    return {
        case.number: case
        for case in map(read_case, json.loads(path.read_text(encoding="utf-8")))
    }


def fetched(path: Path, url: str = URL) -> Path:
    """Path of the authors' file, after the file was downloaded to it.

    Raises:
        RuntimeError: If the download fails, or the checksum is not that of the file to
            which the numbers of the cases refer.
    """
    by_hand = f"fetch {URL} elsewhere, and name its place: --data PATH"
    try:
        with urlopen(url, timeout=60) as answer:
            data = answer.read()
    except (URLError, OSError) as error:
        raise RuntimeError(
            f"CounterFact could not be fetched ({error}); {by_hand}."
        ) from error
    digest = hashlib.sha256(data).hexdigest()
    if digest != SHA256:
        raise RuntimeError(
            f"What was fetched has the checksum {digest}, not {SHA256}; {by_hand}."
        )
    with replaced(path) as file:
        file.write(data)
    return path


def read_case(record: dict[str, Any]) -> Case:
    """The case of a record in its authors' format, with the first of its paraphrases
    and neighbours, or of a record in the format of shorter files.
    """
    if "requested_rewrite" in record:
        rewrite = record["requested_rewrite"]
        new, truth = (rewrite[which]["str"] for which in ("target_new", "target_true"))
        request = Request(rewrite["prompt"], rewrite["subject"], new)
        return Case(
            record["case_id"],
            request,
            truth,
            record["paraphrase_prompts"][0],
            record["neighborhood_prompts"][0],
        )
    before, _, after = record["prompt"].rpartition(record["subject"])
    request = Request(f"{before}{{}}{after}", record["subject"], record["target_new"])
    return Case(
        record["case_id"],
        request,
        record["ground_truth"],
        record["rephrase_prompt"],
        record["locality_prompt"],
    )


def values(chosen: Sequence[Case], layer: int, contexts: int) -> dict[str, np.ndarray]:
    """Mean keys (n, D), δ (n, d), and the steps, length and loss of each search. They
    are computed once and then stored in the data folder.
    """
    place = folder() / f"counterfact-{model().name}-{layer}-{contexts}"
    place.mkdir(parents=True, exist_ok=True)
    at = [place / f"{case.number}.npz" for case in chosen]
    missing = [i for i, path in enumerate(at) if not path.exists()]
    if missing:
        texts = corpus_contexts(model().tokenizer, ((contexts, 10),))
        new_values = find_fact_values(
            model(), [chosen[i].request for i in missing], contexts=texts, layer=layer
        )
        for i, value in zip(missing, new_values, strict=True):
            length = jnp.linalg.norm(value.delta) / value.before
            loss = value.losses[value.steps - 1, 0]
            about = {
                "key": value.key,
                "delta": value.delta,
                "steps": value.steps,
                "length": length,
                "loss": loss,
            }
            with replaced(at[i]) as file:
                np.savez(file, **{name: np.asarray(one) for name, one in about.items()})
    stored = [read_arrays(path) for path in at]
    return {name: np.stack([one[name] for one in stored]) for name in stored[0]}


def subject_streams(
    chosen: Sequence[Case], layer: int, contexts: int, network: Network | None = None
) -> tuple[jax.Array, jax.Array]:
    """Keys (blocks, n, D) at the subjects' last tokens, and the stream after the last
    of these blocks (n, d), both as means over the contexts.

    The blocks are those from the first to `layer`. No later block is run, and no value
    is searched for. With `contexts` 0, the question stands alone.
    """
    texts = (
        corpus_contexts(model().tokenizer, ((contexts, 10),)) if contexts > 0 else [""]
    )
    rows = [
        _cut(text + case.request.text, case.request.subject)
        for case in chosen
        for text in texts
    ]
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    size = min(ROWS, len(rows))
    batches = []
    # A batch has rows of about the same length. Copies of its last row fill up the last
    # batch.
    for start in range(0, len(rows), size):
        part = [rows[i] for i in order[start : start + size]]
        tokens, valid = pad(
            part + (size - len(part)) * part[-1:], left=True, multiple=8
        )
        keys, h = _read(
            network or model().network, jnp.asarray(tokens), jnp.asarray(valid), layer
        )
        batches.append((keys[:, : len(part)], h[: len(part)]))
    back = np.argsort(order)
    keys, h = (
        jnp.concatenate([one[i] for one in batches], axis=-2)[..., back, :]
        for i in (0, 1)
    )

    def mean(x):
        return x.reshape(*x.shape[:-2], len(chosen), len(texts), x.shape[-1]).mean(-2)

    return mean(keys), mean(h)


def _cut(text: str, subject: str) -> list[int]:
    return model().tokenizer.encode(text)[
        : model().tokenizer.last_token_of(subject, text) + 1
    ]


@partial(jax.jit, static_argnames="layer")
def _read(
    network: Network, tokens: jax.Array, valid: jax.Array, layer: int
) -> tuple[jax.Array, jax.Array]:
    stream = Cache.empty(network.config, valid, network.norm.dtype)
    h, _, vectors = run(
        network, embed(network, tokens), stream, layers=(0, layer + 1), read=("key",)
    )
    return vectors["key"][:, :, -1], h[:, -1]


def questions(chosen: Sequence[Case]) -> dict[str, Continuations]:
    """For each kind of question, the rows of all cases with the new answer, followed by
    the same rows with the true answer.
    """
    prompts = {kind: [_asked(case, kind) for case in chosen] for kind in KINDS}
    ends = [case.request.target for case in chosen] + [case.truth for case in chosen]
    return {
        kind: continuations(model().tokenizer, 2 * texts, ends)
        for kind, texts in prompts.items()
    }


def _asked(case: Case, kind: str) -> str:
    return {
        "rewriting": case.request.text,
        "paraphrase": case.paraphrase,
        "neighbour": case.neighbour,
    }[kind]


@partial(jax.jit, static_argnames="layer")
def answers(
    network: Network,
    rows: Continuations,
    below: jax.Array,
    left: jax.Array,
    right: jax.Array,
    layer: int,
) -> tuple[jax.Array, jax.Array]:
    """Mean log-probability per token of each answer, and whether all tokens of the
    answer are the likeliest, with a rank-one change for every row.
    """
    stream = Cache.empty(network.config, rows.valid, network.norm.dtype)
    h, _, _ = run(
        network,
        below,
        stream,
        layers=(layer, layer + 1),
        hook=_changed,
        data=(left, right),
    )
    h, _, _ = run(network, h, stream, layers=(layer + 1, network.config.layers))
    scores = logits(network, at_positions(h, rows))
    return log_likelihood(scores, rows), jnp.all(
        (scores.argmax(-1) == rows.labels) | (rows.weights == 0), axis=1
    )


def _changed(
    site: str, layer: jax.Array, value: jax.Array, vectors: dict, data: tuple
) -> jax.Array:
    left, right = data
    return (
        value
        + jnp.einsum("btk,bk->bt", vectors["key"], right)[..., None] * left[:, None]
        if site == "mlp"
        else value
    )


def asked_of(
    chosen: Sequence[Case], network: Network, left: Any, right: Any, layer: int
) -> dict[str, np.ndarray]:
    """Log-probability of the new and of the true answer (kind, 2, n), and whether the
    model says that answer.
    """
    parts = [
        _asked_of(
            chosen[i : i + PART],
            network,
            left[i : i + PART],
            right[i : i + PART],
            layer,
        )
        for i in range(0, len(chosen), PART)
    ]
    return {
        name: np.concatenate([part[i] for part in parts], axis=-1)
        for i, name in enumerate(("log_p", "said"))
    }


def _asked_of(
    chosen: Sequence[Case], network: Network, left: Any, right: Any, layer: int
) -> list[np.ndarray]:
    left, right = (
        jnp.asarray(np.concatenate([side, side]), jnp.float32) for side in (left, right)
    )
    outputs = []
    for rows in questions(chosen).values():
        below = up_to_layer(network, rows, layer)
        outputs.append(
            [
                np.asarray(one).reshape(2, -1)
                for one in answers(network, rows, below, left, right, layer)
            ]
        )
    return [np.stack(one) for one in zip(*outputs, strict=True)]


def measure(
    *, cell: int, layer: int, ridge: float, contexts: int, every: int, seed: int
) -> dict:
    """Answers to every question about ten facts, before and after each fact is
    rewritten alone.
    """
    chosen = cases(CASES[SIZE * cell : SIZE * (cell + 1)])
    facts = values(chosen, layer, contexts)
    C = geometry(layer, ridge, every)
    keys = facts["key"].T
    u = np.asarray(C.solve(keys))
    s = np.sum(u * keys, axis=0)
    left = facts["delta"] / s[:, None]
    right = u.T
    results: dict[str, Any] = {"case": [case.number for case in chosen]}
    for when, size in (("before", 0.0), ("after", 1.0)):
        outcomes = asked_of(chosen, model().network, size * left, right, layer)
        results[when] = {
            "log_p": np.round(outcomes["log_p"], 2),
            "said": outcomes["said"].astype(int),
        }
    results["price"] = [f"{p:.3g}" for p in np.sum(facts["delta"] ** 2, axis=1) / s]
    results["price"] = np.array(results["price"], float)
    reach = Search().reach
    results |= {
        "steps": facts["steps"],
        "length": np.round(facts["length"], 2),
        "loss": np.round(facts["loss"], 2),
    }
    return results | {"at_reach": np.sum(facts["length"] > 0.999 * reach)}


def places(*more: tuple[str, str]) -> None:
    """Move options that name places on this machine from the command line to the
    environment, because a record must not contain them.

    --data PATH is a copy of the data set's file. --model PATH is another language
    model, in a form that `LanguageModel.load` reads; its records need a folder of their
    own, --out. `more` has further pairs of an option and its variable.
    """
    for option, variable in (
        ("--data", "RANKONE_COUNTERFACT"),
        ("--model", "RANKONE_MODEL"),
        *more,
    ):
        if option in sys.argv:
            at = sys.argv.index(option)
            os.environ[variable] = sys.argv[at + 1]
            del sys.argv[at : at + 2]
    if "RANKONE_MODEL" in os.environ and not {"--out", "--help", "-h"} & set(sys.argv):
        raise SystemExit(
            "--model: it must come with --out FOLDER for the new records, because the "
            "book's own records are all of one model."
        )


def with_data(experiment: Experiment) -> dict:
    """`main`, after `places`."""
    places()
    return main(experiment)


EXPERIMENT = Experiment("counterfact", __doc__, GRID, measure, OPTIONS, of="the book")

if __name__ == "__main__":
    print("\n".join(" | ".join(row) for row in score_rows(with_data(EXPERIMENT))))
