"""A deep autoencoder of Fashion-MNIST, 784-256-64-16-64-256-784, trained by six
methods: test error against steps and against seconds.

The units are tanh, the code and the output linear. The loss is the squared error summed
over the pixels, on batches of 250 pictures.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from preconditioning_methods import METHODS, Problem, train
from record import Experiment, main

import rankone as ro
from rankone.nn import Dense

BASE = {
    "gd": 0.01,
    "momentum": 1e-3,
    "adam": 1e-3,
    "explicit": 0.01,
    "reparameterised": 0.01,
    "kfac-jax": 0.01,
}
GRID = {"method": list(METHODS), "rate": [0.3, 1.0, 3.0, 10.0]}
OPTIONS = {
    "widths": "784,256,64,16,64,256,784",
    "batch": 250,
    "steps": 600,
    "every": 40,
    "damping": 1.0,
    "test": 2000,
}


def outputs(network: list, x: Any) -> Any:
    """Reconstructions (N, 784) of pictures x (N, 784)."""
    code = len(network) // 2 - 1
    for i, layer in enumerate(network):
        x = layer(x)
        if i not in (code, len(network) - 1):
            x = jnp.tanh(x)
    return x


def problem(
    *, widths: str, batch: int, test: int, damping: float, seed: int
) -> Problem:
    """The autoencoder with random weights of scale 1/√inputs and zero biases, and its
    data.
    """
    sizes = tuple(int(width) for width in widths.split(","))
    layers = [Dense.from_augmented(W) for W in weights(jax.random.key(seed), sizes)]
    pictures = jnp.asarray(ro.data.fashion_mnist("train").images)[:, : sizes[0]]
    held_out = jnp.asarray(ro.data.fashion_mnist("test").images)[:test, : sizes[0]]

    def draw(size: int) -> Any:
        return lambda key: (lambda x: (x, x))(
            pictures[jax.random.randint(key, (size,), 0, len(pictures))]
        )

    error = jax.jit(
        lambda net: ((outputs(net, held_out) - held_out) ** 2).sum(-1).mean()
    )
    return Problem(layers, outputs, draw(batch), draw(4 * batch), error, damping)


@partial(jax.jit, static_argnames="sizes")
def weights(key: Any, sizes: tuple[int, ...]) -> list[Any]:
    """One matrix per layer, whose last column is the bias."""
    parts = zip(
        jax.random.split(key, len(sizes) - 1), sizes[:-1], sizes[1:], strict=True
    )
    return [
        jnp.pad(jax.random.normal(k, (m, n)) / n**0.5, ((0, 0), (0, 1)))
        for k, n, m in parts
    ]


def measure(
    *, method: str, rate: float, steps: int, every: int, seed: int, **sizes: Any
) -> dict:
    """One curve of the squared error per picture, on held-out pictures."""
    regression = problem(**sizes, seed=seed)
    return train(
        regression,
        method,
        BASE[method] * rate,
        steps=steps,
        every=every,
        key=jax.random.key(100 + seed),
    )


EXPERIMENT = Experiment(
    "preconditioning_fashion", __doc__, GRID, measure, OPTIONS, of="the book"
)

if __name__ == "__main__":
    main(EXPERIMENT)
