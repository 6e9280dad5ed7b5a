"""A small transformer of the characters of the book's corpus, trained by seven methods:
loss against steps and against seconds.

It has two blocks, RMS norms without weights, causal attention and ReLU. The method
trains all matrices of the blocks and the head. Adam trains the two tables of
embeddings, at one rate for all methods. Rates fall linearly to zero. `inputs` is W =
TUV with V = A^(-1/2) and T = I (PRONG), and `kfac` has both factors. Both are run as a
preconditioner P on W, which takes the same path, with targets drawn from the model. A
tenth of the passages is held out. Seconds are processor time.
"""

import time
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from preconditioning_methods import learning_curve
from preconditioning_optimisers import shampoo, soap
from record import Experiment, main

from rankone.data.facts import corpus
from rankone.preconditioning import estimated_kronecker, layer_moments

# The rate of each method is its base times one of the grid.
BASE = {
    "sgd": 0.3,
    "adam": 3e-3,
    "muon": 0.02,
    "shampoo": 0.01,
    "soap": 3e-3,
    "inputs": 0.03,
    "kfac": 0.01,
}
GRID = {"method": list(BASE), "rate": [0.03, 0.1, 0.3, 1.0, 3.0, 10.0]}
OPTIONS = {
    "width": 64,
    "heads": 4,
    "blocks": 2,
    "window": 48,
    "batch": 16,
    "steps": 1000,
    "every": 100,
    "renew": 25,
}
OPTIONS |= {"damping": 1e-3, "table_rate": 3e-3, "held": 128}


@cache
def letters() -> tuple[np.ndarray, np.ndarray, int]:
    """Indices of the characters of the training passages and of the held-out passages,
    and the number of different characters.
    """
    passages = np.random.default_rng(0).permutation(np.array(corpus(), dtype=object))
    cut = len(passages) // 10
    texts = [
        np.array(list("\n".join(part))) for part in (passages[cut:], passages[:cut])
    ]
    known, numbers = np.unique(np.concatenate(texts), return_inverse=True)
    return numbers[: len(texts[0])], numbers[len(texts[0]) :], len(known)


def initial(
    key: Any, width: int, blocks: int, window: int, characters: int
) -> dict[str, dict[str, jax.Array]]:
    """Matrices (out, in) of scale 1/√in, smaller for those that write into the stream;
    and the tables of embeddings.
    """
    shapes = {"head": (characters, width)}
    for i in range(blocks):
        names = {
            "q": (1, 1),
            "k": (1, 1),
            "v": (1, 1),
            "o": (1, 1),
            "up": (4, 1),
            "down": (1, 4),
        }
        shapes |= {
            f"{i}.{name}": (m * width, n * width) for name, (m, n) in names.items()
        }
    keys = dict(zip(shapes, jax.random.split(key, len(shapes)), strict=True))

    def scale(name, n):
        return (0.3 if name.endswith((".o", ".down")) else 1.0) / n**0.5

    matrices = {
        name: scale(name, s[1]) * jax.random.normal(keys[name], s)
        for name, s in shapes.items()
    }
    tables = {"letters": (characters, width), "places": (window, width)}
    k_tables = dict(
        zip(tables, jax.random.split(jax.random.fold_in(key, 1)), strict=True)
    )
    return {
        "matrices": matrices,
        "tables": {
            n: 0.3 * jax.random.normal(k_tables[n], s) for n, s in tables.items()
        },
    }


def scores(params: Any, x: jax.Array, heads: int) -> jax.Array:
    """Logits (B, window, characters) of the next character after each of x (B,
    window).
    """
    W = params["matrices"]
    (B, S) = x.shape
    h = params["tables"]["letters"][x] + params["tables"]["places"][None]

    def norm(h):
        return h * jax.lax.rsqrt((h**2).mean(-1, keepdims=True) + 1e-5)

    for i in range(sum(name.endswith(".q") for name in W)):
        z = norm(h)
        q, k, v = ((z @ W[f"{i}.{name}"].T).reshape(B, S, heads, -1) for name in "qkv")
        attended = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        h = h + attended.reshape(B, S, -1) @ W[f"{i}.o"].T
        h = h + jax.nn.relu(norm(h) @ W[f"{i}.up"].T) @ W[f"{i}.down"].T
    return norm(h) @ W["head"].T


def entropies(params: Any, x: jax.Array, y: jax.Array, heads: int) -> jax.Array:
    """Cross-entropy of each row in nats, summed over its characters (B,)."""
    return optax.softmax_cross_entropy_with_integer_labels(
        scores(params, x, heads), y
    ).sum(-1)


def as_matrices(updates: Any) -> Any:
    """The axes of each array that make it a matrix, in the form that Muon expects."""
    return jax.tree.map(lambda _: optax.contrib.MuonDimensionNumbers(), updates)


def direction(
    name: str, renew: int, damping: float
) -> optax.GradientTransformationExtraArgs:
    """Transformation that replaces the gradient of the matrices, before the rate."""
    kronecker = partial(estimated_kronecker, damping=damping, every=renew)
    optimisers = {
        "sgd": lambda: optax.trace(0.9),
        "adam": optax.scale_by_adam,
        "muon": lambda: optax.contrib.scale_by_muon(
            weight_dimension_numbers=as_matrices
        ),
        "shampoo": lambda: shampoo(renew),
        "soap": lambda: soap(renew),
        "inputs": lambda: optax.chain(kronecker(sides="input"), optax.trace(0.9)),
        "kfac": lambda: optax.chain(kronecker(), optax.trace(0.9)),
    }
    return optax.with_extra_args_support(optimisers[name]())


@partial(jax.jit, static_argnames=("name", "heads", "renew", "damping", "steps"))
def stretch(
    state: Any,
    batches: Any,
    keys: Any,
    rates: Any,
    *,
    name: str,
    heads: int,
    renew: int,
    damping: float,
    steps: int,
) -> Any:
    """One step for each batch."""
    ours = direction(name, renew, damping)
    tables = optax.scale_by_adam()

    def step(state: Any, batch: Any) -> tuple[Any, None]:
        (params, inner, other, done) = state
        (x, y, key) = batch
        gradient = jax.grad(
            lambda params: entropies(params, x, y, heads).sum() / y.size
        )(params)
        extra = {}
        if name in ("inputs", "kfac"):
            labels = jax.random.categorical(
                key, jax.lax.stop_gradient(scores(params, x, heads))
            )

            def losses(W):
                return entropies(params | {"matrices": W}, x, labels, heads)

            extra = {"moments": layer_moments(losses, params["matrices"])}
        matrices, inner = ours.update(
            gradient["matrices"], inner, params["matrices"], **extra
        )
        embeddings, other = tables.update(gradient["tables"], other)
        remaining = 1 - done / steps
        moved = {"matrices": matrices, "tables": embeddings}
        moved = {
            part: jax.tree.map(lambda u, r=rate: -r * remaining * u, moved[part])
            for part, rate in rates.items()
        }
        return (optax.apply_updates(params, moved), inner, other, done + 1), None

    return jax.lax.scan(step, state, (*batches, keys))[0]


@partial(jax.jit, static_argnames="heads")
def judged(params: Any, x: jax.Array, y: jax.Array, heads: int) -> jax.Array:
    """Mean cross-entropy per character in nats."""
    return entropies(params, x, y, heads).mean() / y.shape[1]


def rows(
    text: np.ndarray, places: np.ndarray, window: int
) -> tuple[np.ndarray, np.ndarray]:
    """Windows that begin at these places, and the windows that begin one character
    later.
    """
    windows = text[places[..., None] + np.arange(window + 1)]
    return windows[..., :-1], windows[..., 1:]


def measure(
    *,
    method: str,
    rate: float,
    width: int,
    heads: int,
    blocks: int,
    window: int,
    batch: int,
    steps: int,
    every: int,
    renew: int,
    damping: float,
    table_rate: float,
    held: int,
    seed: int,
) -> dict:
    """One curve of the held-out loss in nats per character; a curve that diverges ends
    there.
    """
    train, test, characters = letters()
    draws = np.random.default_rng(seed)
    params = initial(jax.random.key(seed), width, blocks, window, characters)
    test_rows = rows(
        test, np.linspace(0, len(test) - window - 1, held).astype(int), window
    )
    options = {
        "name": method,
        "heads": heads,
        "renew": renew,
        "damping": damping,
        "steps": steps,
    }
    rates = {"matrices": BASE[method] * rate, "tables": table_rate}
    state = (
        params,
        direction(method, renew, damping).init(params["matrices"]),
        optax.scale_by_adam().init(params["tables"]),
        jnp.zeros(()),
    )

    def stretches() -> Iterator[tuple]:
        for i in range(steps // every):
            places = draws.integers(0, len(train) - window - 1, (every, batch))
            keys = jax.random.split(jax.random.key(1000 * seed + i), every)
            yield rows(train, places, window), keys

    curve = learning_curve(
        lambda state, batches: stretch(state, *batches, rates, **options),
        state,
        stretches(),
        lambda state: judged(state[0], *test_rows, heads),
        limit=2,
        clock=time.process_time,
    )
    return curve | {"numbers": sum(W.size for W in jax.tree.leaves(params))}


EXPERIMENT = Experiment(
    "preconditioning_transformer",
    __doc__,
    GRID,
    measure,
    OPTIONS,
    of="the book",
)

if __name__ == "__main__":
    main(EXPERIMENT)
