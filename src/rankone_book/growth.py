"""Bytes, operations and least times of each form of a memory, by arithmetic.

Nothing here is measured. The page *How it grows* compares these numbers with recorded
times where there are some, and its calculator does the same arithmetic in JavaScript.
"""

import json
from math import ceil, inf, log2
from pathlib import Path
from typing import Any, NamedTuple

from rankone._checks import choice, integer, positive

__all__ = [
    "FORMS",
    "HARDWARE",
    "PROBED",
    "RECORDS",
    "USES",
    "Cost",
    "Hardware",
    "costs",
    "frequencies",
    "record",
]

# The page's JavaScript reads the same file.
_FACTS = json.loads((Path(__file__).parent / "growth.json").read_text(encoding="utf-8"))
_INDEX = _FACTS["index"]
_SINES = _FACTS["sines"]  # operations of a cosine and a sine, roughly
_MOST = 10**15  # largest size; the arithmetic creates no arrays
PROBED: float = _INDEX["probed"]  # fraction of an index's lists that a query visits
USES = ("energy", "retrieval")
RECORDS = ("growth", "share")
FORMS = {
    "list": "list, float32",
    "half": "list, bfloat16",
    "stored": "vector, frequencies stored",
    "hadamard": "vector, Hadamard frequencies",
    "index": "index, exact reranking",
}


class Hardware(NamedTuple):
    """A number of equal devices, and what they offer.

    Attributes:
        label: Its name in words.
        devices: How many there are.
        bytes: Memory of each.
        bandwidth: Bytes per second that each reads from its memory.
        flops: Operations per second of each, in float32.
    """

    label: str
    devices: int
    bytes: float
    bandwidth: float
    flops: float


HARDWARE = {name: Hardware(**row) for name, row in _FACTS["hardware"].items()}


class Cost(NamedTuple):
    """Cost of one form of a memory.

    Attributes:
        stored_bytes: Bytes in memory, over all devices.
        seconds: The least time to answer all N queries: the larger of the time to read
            the memory and the time of the operations.
        writing: The least time to store all K patterns, in seconds; None for the index,
            whose training this arithmetic does not model.
        sent_bytes: Bytes of the answers that each device sends, if there are several.
        signal: Signal over noise at a stored pattern; infinite if the form is exact,
            None for the index, whose error is a neighbour that it misses.
        fits: True if the devices' memory holds it.
    """

    stored_bytes: float
    seconds: float
    writing: float | None
    sent_bytes: float
    signal: float | None
    fits: bool


def frequencies(K: float, D: float, *, error: float, use: str) -> float:
    """Y, the number of frequencies that keeps the noise at the accepted error.

    For an energy the noise is σ = √(K/2Y), in units of one stored pattern's term. For a
    retrieval it is the roughness c = √(DK/2Y), the noise of the gradient in units of
    the well's own slope; above c = 1/2 the energy is not convex at a stored pattern
    [D-sharp5].

    Args:
        K: Number of stored patterns.
        D: Length of a pattern.
        error: Accepted noise: σ for an energy, c for a retrieval.
        use: "energy" or "retrieval".
    """
    choice("use", use, USES)
    positive("error", error)
    return K * (D if use == "retrieval" else 1) / (2 * error**2)


def costs(
    K: int,
    D: int,
    *,
    error: float = 0.25,
    use: str = "energy",
    hardware: str | Hardware = "cluster",
    N: int = 1,
) -> dict[str, Cost]:
    """Cost of every form in `FORMS`, by its name.

    Args:
        K: Number of stored patterns.
        D: Length of a pattern.
        error: Accepted noise, as `frequencies` takes it.
        use: "energy" or "retrieval".
        hardware: One of `HARDWARE`, or its name.
        N: Queries that are answered together.
    """
    K = integer("K", K, most=_MOST)
    D = integer("D", D, most=_MOST)
    N = integer("N", N, most=_MOST)
    if isinstance(hardware, str):
        choice("hardware", hardware, tuple(HARDWARE))
        hardware = HARDWARE[hardware]
    Y = frequencies(K, D, error=error, use=use)
    side = 2 ** (ceil(log2(D)) / 2)  # a Hadamard block is two products of this width
    dense = 4 * D + _SINES
    fast = 16 * side + _SINES
    lists = _INDEX["lists"] * K**0.5
    codes = ceil(D / _INDEX["entries"])
    scanned = _INDEX["probed"] * K * codes
    reranked = _INDEX["candidates"] * D
    rows = 2 * K * D  # the index reranks rows in bfloat16
    sums = 4 * N * (D + 1)
    signal = (2 * Y / K) ** 0.5
    exact = sums + 4 * N  # and the largest similarity of each query
    # For each form: bytes kept, bytes read once, operations of a query, operations to
    # store all patterns, bytes that each device sends, signal over noise.
    amounts: dict[str, tuple[float, float, float, float | None, int, float | None]] = {
        "list": (4 * K * D, 4 * K * D, 4 * K * D, 0, exact, inf),
        "half": (2 * K * D, 2 * K * D, 4 * K * D, 0, exact, inf),
        "stored": (
            4 * Y * D + 8 * Y,
            4 * Y * D + 8 * Y,
            dense * Y,
            (2 * D + _SINES) * Y * K,
            sums,
            signal,
        ),
        "hadamard": (
            20 * Y,
            20 * Y,
            fast * Y,
            (8 * side + _SINES) * Y * K,
            sums,
            signal,
        ),
        "index": (
            rows + K * (codes + 8) + 4 * lists * D,
            4 * lists * D + N * (scanned + 2 * reranked),
            2 * lists * D + scanned + 2 * reranked,
            None,
            80 * N,
            None,
        ),
    }
    bandwidth = hardware.devices * hardware.bandwidth
    flops = hardware.devices * hardware.flops
    return {
        form: Cost(
            stored_bytes=stored_bytes,
            seconds=max(read / bandwidth, N * operations / flops),
            writing=None
            if written is None
            else max(stored_bytes / bandwidth, written / flops),
            sent_bytes=sent_bytes if hardware.devices > 1 else 0,
            signal=snr,
            fits=stored_bytes <= hardware.devices * hardware.bytes,
        )
        for form, (
            stored_bytes,
            read,
            operations,
            written,
            sent_bytes,
            snr,
        ) in amounts.items()
    }


def record(name: str = "growth") -> dict[str, Any]:
    """A record of the benchmarks: where and when it was made, and its rows.

    Args:
        name: "growth", how times grow with each size; or "share", one GPU's part of a
            billion keys.

    Raises:
        FileNotFoundError: If the record is neither beside the package nor in a
            checkout.
        ValueError: If there is no record of this name.
    """
    choice("name", name, RECORDS)
    here = Path(__file__).resolve()
    places = (here.parent / "benchmarks", here.parents[2] / "benchmarks" / "results")
    for path in (place / f"{name}.json" for place in places):
        if path.is_file():
            return json.loads(path.read_text(encoding="utf-8"))
    raise FileNotFoundError(
        f"No record of {name} beside the package: install it from a checkout."
    )
