"""Results of the recorded edits of CounterFact: percentages with bootstrap intervals,
beside the published ones.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import NDArray

from rankone.data.facts import corpus
from rankone.language.edit_metrics import harmonic_mean
from rankone.language.forward import Cache, embed, logits, run
from rankone.language.model import LanguageModel
from rankone.language.tokenizer import pad
from rankone.language.transformer import Network

__all__ = [
    "KINDS",
    "PUBLISHED",
    "asked_before",
    "interval",
    "many_rows",
    "peer_rows",
    "prose",
    "recorded_cases",
    "score_rows",
    "scores",
]

KINDS = ("rewriting", "paraphrase", "neighbour")
# efficacy, paraphrase, neighbourhood and score in per cent, and number of facts: Meng
# et al. 2022, Table 4
PUBLISHED = {
    "GPT-2 XL, unedited": (22.2, 24.7, 78.1, 30.5, 7500),
    "GPT-2 XL, fine-tuned": (100.0, 87.9, 40.4, 65.1, 7500),
    "GPT-2 XL, fine-tuned within a radius": (99.1, 48.7, 70.3, 66.9, 7500),
    "GPT-2 XL, ROME": (100.0, 96.4, 75.4, 89.2, 7500),
}
# number of windows of prose from which no C was estimated, and the tokens of each
_WINDOWS = 6
_TOKENS = 128
_WHEN = {"before": "SmolLM2-135M, unedited", "after": "SmolLM2-135M, closed form"}


def recorded_cases(record: dict[str, Any]) -> dict[str, NDArray]:
    """All cases of a record as arrays.

    Args:
        record: Record of `counterfact`, from `rankone_book.records.load_record`.

    Returns:
        "before" and "after", log-probabilities per token (kind, 2, n) of the new answer
        and of the truth; "before_said" and "after_said", True where greedy decoding
        gives the answer. For each edit (n,), "price" is its interference ‖δ‖²/s;
        "steps", "length" and "loss" are the steps of the search for δ, the length of δ
        relative to the unedited value, and the last loss.

    Raises:
        ValueError: If the record has no cell.
    """
    cells = [cell["results"] for cell in record["cells"]]
    if len(cells) == 0:
        raise ValueError(
            "record: got a record without cells; it must have at least one."
        )
    cases = {}
    for when in _WHEN:
        cases[when] = np.concatenate(
            [np.asarray(cell[when]["log_p"]) for cell in cells], axis=-1
        )
        cases[f"{when}_said"] = np.concatenate(
            [np.asarray(cell[when]["said"], bool) for cell in cells], axis=-1
        )
    return cases | {
        name: np.concatenate([cell[name] for cell in cells])
        for name in ("price", "steps", "length", "loss")
    }


def scores(log_p: Float[NDArray, "3 2 n"]) -> dict[str, NDArray]:
    """Scores of every case (n,): whether the wanted answer leads, and by how much
    probability.

    The wanted answer is the new one for the question and its paraphrase, and the true
    one for the neighbour.

    Args:
        log_p: Log-probability of the new answer and the truth, for each of `KINDS`.

    Returns:
        The kind of question → 1 where the wanted answer leads, else 0; and kind +
        "_margin" → the difference of the two probabilities per token.
    """
    ahead = (log_p[:, 0] > log_p[:, 1]).astype(float)
    margin = np.exp(log_p[:, 0]) - np.exp(log_p[:, 1])
    values = {}
    for kind, lead, size in zip(KINDS, ahead, margin, strict=True):
        values[kind] = 1 - lead if kind == "neighbour" else lead
        values[f"{kind}_margin"] = -size if kind == "neighbour" else size
    return values


def interval(
    values: Float[NDArray, " n"], *, draws: int = 2000, seed: int = 0
) -> tuple[float, float, float]:
    """Mean, and the ends of its 95 % bootstrap interval: percentiles of the mean of n
    values drawn with replacement.

    Args:
        values: One value per case.
        draws: Number of bootstrap samples.
        seed: Seed of the draws.
    """
    rng = np.random.default_rng(seed)
    n = len(values)
    means = values[rng.integers(n, size=(draws, n))].mean(1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(values.mean()), float(low), float(high)


def score_rows(record: dict[str, Any]) -> list[list[str]]:
    """The table of `counterfact`: a header, the recorded model before and after, their
    difference, and `PUBLISHED`.

    Args:
        record: As in `recorded_cases`.
    """
    cases = recorded_cases(record)
    rows = [["model", "efficacy", "paraphrase", "neighbourhood", "score", "facts"]]
    parts = {when: scores(cases[when]) for when in _WHEN}
    n = cases["before"].shape[-1]
    for when, name in _WHEN.items():
        shares = [100 * parts[when][kind].mean() for kind in KINDS]
        rows.append(
            [
                name,
                *(_percent(100 * parts[when][kind]) for kind in KINDS),
                f"{harmonic_mean(shares):.1f}",
                f"{n}",
            ]
        )
    change = [
        _percent(100 * (parts["after"][kind] - parts["before"][kind]), "+")
        for kind in KINDS
    ]
    rows.append(["difference", *change, "", ""])
    return rows + [
        [name, *(f"{x:.1f}" for x in values[:4]), f"{values[4]:,}"]
        for name, values in PUBLISHED.items()
    ]


def asked_before(record: dict[str, Any], many: dict[str, Any]) -> NDArray[np.bool_]:
    """True where the new answer led before any edit, for the facts that
    `counterfact_many` asks about (kind, n).

    Args:
        record: Record of `counterfact`.
        many: Record of `counterfact_many`, which asks about the first facts of
            `record`.
    """
    (count,) = {len(cell["results"]["ahead"][0]) for cell in many["cells"]}
    (size,) = {len(cell["results"]["price"]) for cell in record["cells"]}
    cells = [c for c in record["cells"] if c["parameters"]["cell"] < count // size]
    log_p = recorded_cases(record | {"cells": cells})["before"]
    return log_p[:, 0] > log_p[:, 1]


def prose(
    model: LanguageModel, *, windows: int = _WINDOWS
) -> Float[NDArray, " windows"]:
    """Mean −log p per token, in nats, of windows of the corpus that no C was estimated
    from.

    C is the second moment of the keys, with which the closed form edits.

    Args:
        model: The language model.
        windows: Number of windows, of 128 tokens each, such as 6, 18 or 24. C was
            estimated from every fourth passage of the corpus, and most other numbers
            would include such a passage.

    Raises:
        ValueError: If a window would be a passage that C was estimated from.
    """
    step = len(corpus()) // windows
    at = range(1, 1 + step * windows, step)
    if any(i % 4 == 0 for i in at):
        raise ValueError(
            f"windows: got {windows}; it must be a number for which no window is a "
            "passage that C was estimated from, such as 6, 18 or 24."
        )
    texts = [corpus()[i] for i in at]
    rows = [model.tokenizer.encode(text)[:_TOKENS] for text in texts]
    tokens, valid = pad(rows, _TOKENS)
    scores = np.asarray(_log_p(model.network, jnp.asarray(tokens), jnp.asarray(valid)))
    return -scores.mean(axis=1, where=np.asarray(valid)[:, 1:])


@jax.jit
def _log_p(network: Network, tokens: Array, valid: Array) -> Array:
    stream = Cache.empty(network.config, valid, network.norm.dtype)
    h, _, _ = run(network, embed(network, tokens), stream)
    log_p = jax.nn.log_softmax(logits(network, h[:, :-1]), axis=-1)
    return jnp.take_along_axis(log_p, tokens[:, 1:, None], axis=-1)[..., 0]


def many_rows(
    record: dict[str, Any],
    methods: dict[str, str],
    unedited: tuple[NDArray[np.bool_], float] | None = None,
) -> list[list[str]]:
    """The table of `counterfact_many`: a header, the unedited model, then one row for
    each method and number of facts in the model.

    Args:
        record: From `rankone_book.records.load_record`.
        methods: Method → its name in the table.
        unedited: Result of `asked_before`, and the mean of `prose`, for the model
            before any edit; None leaves out its row.
    """
    rows = [
        [
            "written",
            "facts in the model",
            "efficacy",
            "paraphrase",
            "neighbourhood",
            "interference per fact",
            "prose, nats per token",
        ]
    ]
    if unedited is not None:
        led, nats = unedited
        rows.append(["nothing", "0", *_leads(led), "0", f"{nats:.3f}"])
    cells = {
        (cell["parameters"]["way"], cell["parameters"]["edits"]): cell["results"]
        for cell in record["cells"]
    }
    for method, name in methods.items():
        for edits in sorted(n for cell_method, n in cells if cell_method == method):
            result = cells[method, edits]
            rows.append(
                [
                    name,
                    f"{edits:,}",
                    *_leads(np.asarray(result["ahead"], bool)),
                    f"{result['price']:.3g}",
                    f"{result['prose']:.3f}",
                ]
            )
    return rows


def peer_rows(
    record: dict[str, Any], unedited: NDArray[np.bool_] | None = None
) -> list[list[str]]:
    """The table of `counterfact_peers`: a header, the unedited model, then one row for
    each method, number of blocks, strength and number of facts.

    Args:
        record: From `rankone_book.records.load_record`.
        unedited: Result of `asked_before`; None leaves out the row of the unedited
            model.
    """
    names = {"memit": "MEMIT", "alphaedit": "AlphaEdit"}
    rows = [
        [
            "update",
            "blocks",
            "λ",
            "facts in the model",
            "efficacy",
            "paraphrase",
            "neighbourhood",
            "squared distance left, %",
            "prose, nats above unedited",
        ]
    ]
    if unedited is not None:
        rows.append(["nothing", "", "", "0", *_leads(unedited), "100", "0"])
    order = list(record["full"]["method"])
    cells = sorted(
        record["cells"],
        key=lambda cell: (
            cell["parameters"]["edits"],
            order.index(cell["parameters"]["method"]),
            -cell["parameters"]["blocks"],
            cell["parameters"]["strength"],
        ),
    )
    for cell in cells:
        at = cell["parameters"]
        result = cell["results"]
        exact = at["method"] == "memit" and at["strength"] == 0
        excess = np.asarray(result["prose"]) - np.asarray(result["unedited"])
        mean, low, high = interval(excess)
        rows.append(
            [
                "exact batch (EMMET)" if exact else names[at["method"]],
                f"{at['blocks']}",
                f"{at['strength']:,.0f}",
                f"{at['edits']:,}",
                *_leads(np.asarray(result["ahead"], bool)),
                f"{100 * result['missing']:.0f}",
                f"{mean:.2f} ({low:.2f} to {high:.2f})".replace("-", "−"),
            ]
        )
    return rows


def _leads(ahead: NDArray[np.bool_]) -> list[str]:
    """Percentage of cases of each kind in which the wanted answer leads; `ahead` (kind,
    n) is True where the new answer leads, which is unwanted for a neighbour.
    """
    percent = 100 * ahead.mean(1)
    return [f"{number:.0f}" for number in (*percent[:2], 100 - percent[2])]


def _percent(values: NDArray, sign: str = "") -> str:
    mean, low, high = interval(values)
    return f"{mean:{sign}.0f} ({low:{sign}.0f} to {high:{sign}.0f})".replace("-", "−")
