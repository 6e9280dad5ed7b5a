"""Summary of the record of `editing_model`: for each block the shares of other subjects
and of other questions, the answers that flip, and how well shares predict flips; and ϱ
of edits that disable a model.

The share of a question is the fraction of the edit's change that its key receives. ϱ is
u·k̄ / u·k: k̄ is the mean key over several prefixes, k the key of the bare question,
and u the edit's direction in the space of keys.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

__all__ = [
    "block_rows",
    "blocks",
    "correlation_rows",
    "correlations",
    "partial",
    "rank_correlation",
    "ratio_rows",
]

KINDS = ("subject", "question")
_NAMES = {"subject": "other subjects", "question": "other questions"}


def rank_correlation(a: NDArray, b: NDArray) -> float:
    """Spearman's rank correlation; ties get their mean rank. NaN where one of the two
    has fewer than two different values.

    Args:
        a: Some numbers.
        b: As many numbers.
    """
    if min(len(set(np.asarray(x).tolist())) for x in (a, b)) < 2:
        return float("nan")
    return float(spearmanr(a, b).statistic)


def partial(a: NDArray, b: NDArray, control: NDArray) -> float:
    """Partial correlation of two quantities: that of their residuals after a linear fit
    to `control`.

    Args:
        a: Some numbers.
        b: As many numbers.
        control: The quantity that is controlled for.
    """
    residuals = [x - np.polyval(np.polyfit(control, x, 1), control) for x in (a, b)]
    return float(np.corrcoef(residuals)[0, 1])


def blocks(record: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Summary of each block that edited facts.

    Args:
        record: Record of `editing_model`, from `rankone_book.records.read_record`.

    Returns:
        The number of the block → a dictionary: "written", the fraction of the edited
        questions in which the new answer leads; "trace", the mean effect at the
        subject's last token; for each kind of question "share_" + kind, the mean share,
        "flips_" + kind, the fraction that flips; and "within", for each edit the rank
        correlation, over its questions, of the share and the rise in the lead of the
        new answer. Questions to which the model gave the new answer before the edit are
        left out.
    """
    summary = {}
    for cell in record["cells"]:
        results = cell["results"]
        if "share" not in results:
            continue
        share, before, after = (
            np.asarray(results[name], float) for name in ("share", "before", "after")
        )
        written = after[:, 0] > 0
        before, after = before[:, 1:], after[:, 1:]
        old_leads = before < 0
        near = np.arange(share.shape[1]) < cell["parameters"]["neighbours"]
        one: dict[str, Any] = {
            "written": float(written.mean()),
            "trace": float(np.mean(results["trace"])),
            "within": [
                rank_correlation(s[there], (b - a)[there])
                for s, a, b, there in zip(share, before, after, old_leads, strict=True)
            ],
        }
        for kind, columns in zip(KINDS, (near, ~near), strict=True):
            there = old_leads & columns
            one[f"share_{kind}"] = float(share[there].mean())
            one[f"flips_{kind}"] = float((after[there] > 0).mean())
        summary[cell["parameters"]["layer"]] = one
    return dict(sorted(summary.items()))


def correlations(record: dict[str, Any]) -> dict[str, float]:
    """Correlations over the blocks in which the new answer leads after more than half
    of the edits.

    Args:
        record: As in `blocks`.

    Returns:
        For each kind of question, kind is the correlation of its mean share with its
        flips, and kind + "_partial" the same with the number of the block controlled
        for. "trace_" + kind and "trace_" + kind + "_partial" have the trace in place of
        the share. "within" and "within_median" are the mean and the median over the
        edits in these blocks, and "blocks" and "edits" their numbers. The result is
        empty if there are fewer than four such blocks.
    """
    written_blocks = {
        at: one for at, one in blocks(record).items() if one["written"] > 0.5
    }
    if len(written_blocks) < 4:
        return {}
    at = np.array(list(written_blocks), float)
    column = {
        name: np.array([one[name] for one in written_blocks.values()])
        for name in ("trace", *(f"{w}_{k}" for w in ("share", "flips") for k in KINDS))
    }
    coefficients: dict[str, float] = {}
    # flips that never vary have no correlation
    with np.errstate(invalid="ignore"):
        for kind in KINDS:
            flips = column[f"flips_{kind}"]
            for name, values in (
                (kind, column[f"share_{kind}"]),
                (f"trace_{kind}", column["trace"]),
            ):
                coefficients[name] = float(np.corrcoef(values, flips)[0, 1])
                coefficients[f"{name}_partial"] = partial(values, flips, at)
    within = np.concatenate([one["within"] for one in written_blocks.values()])
    within = within[np.isfinite(within)]
    return coefficients | {
        "within": float(within.mean()),
        "within_median": float(np.median(within)),
        "blocks": len(written_blocks),
        "edits": len(within),
    }


def block_rows(record: dict[str, Any]) -> list[list[str]]:
    """The table of the blocks: a header, then one row per block.

    Args:
        record: As in `blocks`.
    """
    head = ["block", "new answer leads, %"]
    head += [f"share, {name}" for name in _NAMES.values()]
    head += [f"flipped, {name}, %" for name in _NAMES.values()]
    rows = [[*head, "trace"]]
    for layer, one in blocks(record).items():
        rows.append(
            [
                f"{layer}",
                f"{100 * one['written']:.0f}",
                *(f"{one[f'share_{kind}']:.2f}" for kind in KINDS),
                *(f"{100 * one[f'flips_{kind}']:.0f}" for kind in KINDS),
                f"{one['trace']:.3f}",
            ]
        )
    return rows


def correlation_rows(record: dict[str, Any]) -> list[list[str]]:
    """The table of `correlations`: a header, then share and trace with each kind of
    question, and the rank correlation within an edit.

    Args:
        record: As in `blocks`.
    """
    coefficients = correlations(record)
    rows = [["over blocks", "correlation with flips", "given the block's number"]]
    if not coefficients:
        return rows
    for start, name in (("", "share"), ("trace_", "causal trace")):
        for kind in KINDS:
            values = (
                coefficients[f"{start}{kind}"],
                coefficients[f"{start}{kind}_partial"],
            )
            label = f"{name}, {_NAMES[kind]}"
            rows.append([label, *(f"{value:.2f}" for value in values)])
    label = f"within each of {coefficients['edits']:.0f} edits, ranks of share and rise"
    rows.append([label, f"{coefficients['within']:.2f} (mean)"])
    rows[-1].append(f"{coefficients['within_median']:.2f} (median)")
    return rows


def ratio_rows(record: dict[str, Any]) -> list[list[str]]:
    """The table of ϱ: a header, then one row per block.

    A row has the medians of ϱ for the listed cases and for others, by the place of the
    subject, and how often ϱ of a listed case exceeds that of another.

    Args:
        record: As in `blocks`.
    """
    rows = [
        [
            "block",
            "ϱ, listed",
            "ϱ, others, subject first",
            "ϱ, others, subject later",
            "listed above others, %",
        ]
    ]
    cells = sorted(record["cells"], key=lambda cell: cell["parameters"]["layer"])
    for cell in cells:
        if "others" not in cell["results"]:
            continue
        others = cell["results"]["others"]
        rho, first = np.asarray(others["rho"]), np.asarray(others["first"], bool)
        median = [
            f"{np.median(part):.3g}" if len(part) else "–"
            for part in (rho[first], rho[~first])
        ]
        mine, above = "–", "–"
        if "listed" in cell["results"]:
            listed = np.asarray(cell["results"]["listed"]["rho"])
            mine = f"{np.median(listed):.3g}"
            above = f"{100 * np.mean(listed[:, None] > rho):.0f}"
        rows.append([f"{cell['parameters']['layer']}", mine, *median, above])
    return rows
