"""Run the benchmarks, print them, and write their records:
`python -m benchmarks [--quick]`.
"""

import argparse
from pathlib import Path
from typing import Any

from benchmarks import (
    editing,
    growth,
    layer,
    memory,
    preconditioning,
    residual,
    share,
    timing,
    universality,
)
from benchmarks.record import lost_peers, write

RECORDS = Path(__file__).parent / "results"

SUITES = {
    "memory": memory,
    "layer": layer,
    "editing": editing,
    "universality": universality,
    "residual": residual,
    "preconditioning": preconditioning,
    "growth": growth,
    "share": share,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "suites",
        nargs="*",
        default=list(SUITES),
        help=f"among: {', '.join(SUITES)} (all)",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="tiny sizes, to see that everything runs; nothing is written",
    )
    parser.add_argument(
        "--repetitions",
        type=int,
        default=9,
        help="times each formulation is run (default 9)",
    )
    parser.add_argument(
        "--to", type=Path, default=RECORDS, help="folder of the records"
    )
    options = parser.parse_args()
    if options.quick:
        timing.BURST = 0.0  # no timing is used
    for suite in options.suites:
        machine, rows = SUITES[suite].run(
            quick=options.quick, repetitions=2 if options.quick else options.repetitions
        )
        if not options.quick:
            print(
                "\nWritten:",
                write(
                    suite,
                    machine,
                    rows,
                    SUITES[suite].SEED,
                    folder(options.to, suite, rows),
                ),
            )


def folder(to: Path, suite: str, rows: list[dict[str, Any]]) -> Path:
    """Folder for the record: `to`, unless the record there compares with a peer that is
    missing in `rows`. The page on speed shows these peers.
    """
    missing_peers = lost_peers(to / f"{suite}.json", rows)
    if not missing_peers:
        return to
    print(
        f"\nThe record in {to} also compares with {', '.join(sorted(missing_peers))}, "
        "not installed here: it stays as it is."
    )
    return RECORDS.parents[1] / "_build" / "benchmarks"


if __name__ == "__main__":
    main()
