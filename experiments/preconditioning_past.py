"""The autoencoder of `preconditioning_fashion` trained further, past the best linear
code: 3,000 steps with a rate that decays.

The network, the pictures, the batches and the renewal of the factors every 40 steps are
those of `preconditioning_fashion`. Seconds are processor time, so that other work on
the machine does not count.
"""

import time

import jax
import optax
from preconditioning_fashion import BASE, problem
from preconditioning_fashion import OPTIONS as SHORT
from preconditioning_methods import train
from record import Experiment, main

GRID = {"method": ["momentum", "adam", "explicit"], "rate": [0.3, 1.0, 3.0, 10.0]}
OPTIONS = {**SHORT, "steps": 3000, "every": 200, "renew": 40}


def measure(
    *,
    method: str,
    rate: float,
    steps: int,
    every: int,
    renew: int,
    seed: int,
    **sizes: object,
) -> dict:
    """One curve of the squared error per picture, on held-out pictures; the rate falls
    linearly to zero.
    """
    regression = problem(**sizes, seed=seed)
    falling = optax.linear_schedule(BASE[method] * rate, 0.0, steps)
    options = {
        "steps": steps,
        "every": renew,
        "key": jax.random.key(100 + seed),
        "clock": time.process_time,
    }
    curve = train(regression, method, falling, **options)
    return {name: values[:: every // renew] for name, values in curve.items()}


EXPERIMENT = Experiment(
    "preconditioning_past",
    __doc__,
    GRID,
    measure,
    OPTIONS,
    of="the book",
)

if __name__ == "__main__":
    main(EXPERIMENT)
