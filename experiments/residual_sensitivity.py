"""Fig. 5 of the ResMem paper: test accuracy against k, σ and T, one at a time.

The other two are those chosen on held-out data. σ is in typical distances: the mean
distance to the 80 nearest neighbours.
"""

from typing import Any

import numpy as np
import residual_fashion
import residual_letter
from record import Experiment, main
from residual_study import answers, choose, find, memory, network

GRID = {"data": ["fashion", "letter"], "space": ["learned", "input"]}
OPTIONS = {"width": 16, "share": 1.0, "queries": 4_000}
SWEEPS: dict[str, list] = {
    "k": [1, 2, 3, 5, 8, 12, 20, 30, 45, 60, 80],
    "sigma": [
        0.02,
        0.05,
        0.1,
        0.2,
        0.3,
        0.5,
        0.8,
        1.2,
        2.0,
        4.0,
    ],  # in typical distances
    "temperature": [0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0],
}


def measure(
    *, data: str, space: str, width: int, share: float, queries: int, seed: int
) -> dict:
    """The three curves, and the network's own accuracy."""
    script: Any = {"fashion": residual_fashion, "letter": residual_letter}[data]
    parts, neighbour_space = script.prepared(share, seed, queries)
    _, embedded, logits = network(
        parts, (width, width), epochs=script.OPTIONS["epochs"], seed=seed
    )
    if space == "learned":
        neighbour_space = find(embedded.pop("train"), embedded)
    chosen = choose(parts, neighbour_space, logits)["chosen"]

    def right(predictions):
        return float((predictions == parts.y["test"]).mean())

    curves = {}
    for name, values in SWEEPS.items():
        curves[name] = [
            right(_answer(parts, neighbour_space, logits, chosen | {name: value}))
            for value in values
        ]
    sweeps = {f"{name}_values": values for name, values in SWEEPS.items()}
    return (
        {"base": right(np.asarray(logits["test"].argmax(-1))), **chosen}
        | {f"by_{n}": c for n, c in curves.items()}
        | sweeps
    )


def _answer(parts: Any, space: tuple, logits: dict, options: dict) -> np.ndarray:
    search, neighbours, unit = space
    resmem = memory(parts, search, logits, options["temperature"])
    return answers(
        resmem,
        neighbours["test"],
        logits["test"],
        unit,
        sigma=options["sigma"],
        k=options["k"],
    )


EXPERIMENT = Experiment(
    "residual_sensitivity",
    __doc__,
    GRID,
    measure,
    OPTIONS,
    of="the book",
    seeds=(0, 1, 2),
)

if __name__ == "__main__":
    main(EXPERIMENT)
