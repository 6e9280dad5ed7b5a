"""SmolLM2-135M fine-tuned on prose with nothing but an r × r matrix U in each of its
last down projections, W + TUV.

T and V are random, the leading singular vectors of W (LoRA-XS), or the leading
eigenvectors of the two moments, as they are or scaled to whiten. They are compared with
LoRA with as many numbers, and with training all of W. The optimiser is Adam, whose rate
falls linearly to zero. The blocks below are frozen, and their output for the text is
computed once. The softmax is over the tokens that occur in the text, which is one
window of each passage of the book's corpus; the held-out passages are never trained on.
Seconds are processor time, so that other work on the machine does not count.
"""

import tempfile
import time
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from record import Experiment, main

from rankone.data.facts import corpus
from rankone.language import load_smollm2
from rankone.language.forward import Cache, before_head, embed, head, run
from rankone.theory.reach import best_share, example_share, reach_share

# The rate of each method is its base times one of the grid.
BASE = {
    "random": 3e-3,
    "svd": 1e-3,
    "moments": 3e-3,
    "whitened": 3e-3,
    "lora": 1e-3,
    "all": 1e-4,
}
GRID = {"method": list(BASE), "rate": [0.3, 1.0, 3.0, 10.0, 30.0]}
OPTIONS = {
    "r": 64,
    "blocks": 2,
    "window": 64,
    "windows": 64,
    "held": 16,
    "batch": 2,
    "steps": 30,
    "every": 10,
}
# Some of "T", "U" and "V", each stacked over the trained blocks.
Factors = dict[str, jax.Array]


class Text(NamedTuple):
    """Inputs of the trained blocks, and the next tokens.

    Attributes:
        network: The whole network.
        used: Tokens over which the softmax is taken. The next tokens are numbered
            within these.
        train: The residual stream (N, window, d) and the next tokens (N, window).
        held_out: The same for the held-out passages.
    """

    network: Any
    used: np.ndarray
    train: tuple[np.ndarray, np.ndarray]
    held_out: tuple[np.ndarray, np.ndarray]


@cache
def prepared(blocks: int, window: int, windows: int, held_out: int) -> Text:
    """Passages in an order drawn once, with the residual stream at the first trained
    block.
    """
    model = load_smollm2()
    rows = np.array(
        [
            ids[: window + 1]
            for ids in map(model.tokenizer.encode, corpus())
            if len(ids) > window
        ]
    )
    rows = np.random.default_rng(0).permutation(rows)[: windows + held_out]
    used, labels = np.unique(rows[:, 1:], return_inverse=True)
    path = (
        Path(tempfile.gettempdir())
        / "rankone-checkpoints"
        / f"finetune-{blocks}-{window}-{len(rows)}.npy"
    )
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = np.array_split(rows[:, :-1], -(-len(rows) // 8))
        entering = [
            np.asarray(lower(model.network, jnp.asarray(part), blocks))
            for part in parts
        ]
        np.save(path.with_suffix(".part.npy"), np.concatenate(entering))
        path.with_suffix(".part.npy").replace(path)
    both = np.load(path), labels.reshape(len(rows), window)
    return Text(
        model.network,
        used,
        tuple(p[:windows] for p in both),
        tuple(p[windows:] for p in both),
    )


@partial(jax.jit, static_argnames="blocks")
def lower(net: Any, tokens: jax.Array, blocks: int) -> jax.Array:
    """The residual stream as it enters the last blocks."""
    cache = Cache.empty(net.config, jnp.ones(tokens.shape, bool), net.norm.dtype)
    return run(net, embed(net, tokens), cache, layers=(0, net.config.layers - blocks))[
        0
    ]


def product(factors: Factors, x: jax.Array) -> jax.Array:
    """T(U(Vx)) of the rows x, without the factors that are absent."""
    for name in ("V", "U", "T"):
        x = x @ factors[name].T if name in factors else x
    return x


def outcome(
    net: Any,
    used: jax.Array,
    factors: Factors,
    h: jax.Array,
    labels: jax.Array,
    nudge: Any = 0.0,
) -> tuple[jax.Array, jax.Array]:
    """Cross-entropy of each next token (B, window) in nats, with W + TUV for W, and the
    keys of the trained matrices.

    `nudge` (blocks, B, window, d) is added to the outputs of these matrices, so that
    its gradient is the gradient with respect to these outputs.
    """
    blocks = len(jax.tree.leaves(factors)[0])
    last = net.config.layers

    def hook(site: str, layer: Any, value: Any, vectors: Any, data: Any) -> Any:
        own, added = jax.tree.map(lambda stack: stack[layer - (last - blocks)], data)
        return value + product(own, vectors["key"]) + added if site == "mlp" else value

    data = factors, jnp.broadcast_to(nudge, (blocks, *h.shape))
    cache = Cache.empty(net.config, jnp.ones(labels.shape, bool), h.dtype)
    h, _, vectors = run(
        net, h, cache, layers=(last - blocks, last), hook=hook, data=data, read=("key",)
    )
    scores = before_head(net, h) @ head(net)[used].T
    losses = optax.softmax_cross_entropy_with_integer_labels(scores, labels)
    return losses, vectors["key"]


@jax.jit
def statistics(
    net: Any, used: Any, factors: Factors, h: jax.Array, labels: jax.Array
) -> tuple[jax.Array, ...]:
    """Mean gradient with respect to each trained matrix, and the second moments of its
    keys and of the gradients with respect to its outputs.
    """

    def total(nudge: jax.Array) -> tuple[jax.Array, jax.Array]:
        loss, keys = outcome(net, used, factors, h, labels, nudge)
        return loss.sum(), keys

    nudge = jnp.zeros((len(jax.tree.leaves(factors)[0]), *h.shape), h.dtype)
    delta, keys = jax.grad(total, has_aux=True)(nudge)

    def mean(x, y):
        return jnp.einsum("lbti,lbtj->lij", x, y) / labels.size

    return mean(delta, keys), mean(keys, keys), mean(delta, delta)


def gradients(text: Text, factors: Factors) -> tuple[jax.Array, ...]:
    """`statistics` on as many training windows as are held out."""
    return statistics(
        text.network,
        text.used,
        factors,
        *(part[: len(text.held_out[0])] for part in text.train),
    )


@cache
def at_start(*sizes: int) -> tuple[jax.Array, ...]:
    """`gradients` of the unchanged network."""
    text = prepared(*sizes)
    return gradients(text, {"U": jnp.zeros_like(text.network.layers.down[-sizes[0] :])})


def start(
    method: str, r: int, W: jax.Array, A: jax.Array, D: jax.Array, key: jax.Array
) -> tuple[Factors, Factors]:
    """The trained and the fixed factors, with W + TUV = W at the start.

    W (blocks, m, n); its moments A (blocks, n, n) and D (blocks, m, m).
    """
    (blocks, m, n) = W.shape
    (k_T, k_V) = jax.random.split(key)
    if method == "all":
        return {"U": jnp.zeros((blocks, m, n))}, {}
    if method == "lora":
        rank = -(-r * r // (m + n))  # smallest with at least as many numbers as U
        return {
            "T": jnp.zeros((blocks, m, rank)),
            "V": jax.random.normal(k_V, (blocks, rank, n)) / n**0.5,
        }, {}
    if method == "random":
        T, V = (
            jnp.linalg.qr(jax.random.normal(k, (blocks, s, r)))[0]
            for k, s in ((k_T, m), (k_V, n))
        )
    elif method == "svd":
        left, sizes, right = np.linalg.svd(W, full_matrices=False)
        T = left[:, :, :r] * sizes[:, None, :r]
        V = right[:, :r].swapaxes(1, 2)
    else:
        T, V = (leading(moment, r, method == "whitened") for moment in (D, A))
    return {"U": jnp.zeros((blocks, r, r))}, {
        "T": jnp.asarray(T),
        "V": jnp.asarray(V).swapaxes(1, 2),
    }


def leading(moments: jax.Array, r: int, whitened: bool) -> np.ndarray:
    """Eigenvectors (blocks, n, r) of the r largest eigenvalues of moments (blocks, n,
    n), scaled to whiten if `whitened`.
    """
    values, vectors = np.linalg.eigh(moments)
    values = values[:, None, -r:]
    vectors = vectors[:, :, -r:]
    return (
        vectors * (values.mean(-1, keepdims=True) / values) ** 0.5
        if whitened
        else vectors
    )


def reached(
    fixed: Factors, G: jax.Array, A: jax.Array, D: jax.Array
) -> dict[str, list]:
    """Fractions of the gradient that T and V reach, for each block: of the mean
    gradient, and of a single token's gradient by the law of the moments. Beside them,
    the squared length of the mean gradient.
    """
    T = fixed["T"]
    V = fixed["V"]
    return {
        "reach": [reach_share(*parts) for parts in zip(G, T, V, strict=True)],
        "law": [example_share(*parts) for parts in zip(A, D, T, V, strict=True)],
        "gradient": (G**2).sum((1, 2)),
    }


def adam(rate: Any, steps: int) -> optax.GradientTransformation:
    """Adam, at a rate that falls linearly to zero."""
    return optax.adam(optax.linear_schedule(rate, 0.0, steps))


@partial(jax.jit, static_argnames="steps")
def stretch(
    net: Any,
    used: Any,
    fixed: Factors,
    free: Factors,
    state: Any,
    batches: Any,
    rate: Any,
    steps: int,
) -> tuple[Factors, Any]:
    """One step on the free factors for each batch; the rate falls over `steps`."""

    def step(
        carry: tuple[Factors, Any], batch: Any
    ) -> tuple[tuple[Factors, Any], None]:
        free, state = carry
        gradient = jax.grad(
            lambda free: outcome(net, used, free | fixed, *batch)[0].mean()
        )(free)
        updates, state = adam(rate, steps).update(gradient, state)
        return (optax.apply_updates(free, updates), state), None

    return jax.lax.scan(step, (free, state), batches)[0]


@jax.jit
def mean_loss(
    net: Any, used: Any, factors: Factors, h: jax.Array, labels: jax.Array
) -> jax.Array:
    """Mean loss over windows (N, B, window), B at a time."""
    return jax.lax.map(
        lambda part: outcome(net, used, factors, *part)[0].mean(), (h, labels)
    ).mean()


def cut(part: np.ndarray, size: int) -> np.ndarray:
    """Rows (N, ...) in batches (N / size, size, ...)."""
    return part.reshape(-1, size, *part.shape[1:])


def measure(
    *,
    method: str,
    rate: float,
    r: int,
    blocks: int,
    window: int,
    windows: int,
    held: int,
    batch: int,
    steps: int,
    every: int,
    seed: int,
) -> dict:
    """One curve of the held-out loss in nats per token; and, where T and V are fixed,
    the fractions of the gradient that they reach before and after training.
    """
    text = prepared(blocks, window, windows, held)
    net = text.network
    used = text.used
    G, A, D = at_start(blocks, window, windows, held)
    free, fixed = start(
        method, r, net.layers.down[-blocks:], A, D, jax.random.key(seed)
    )
    judged = [cut(part, min(held, 8)) for part in text.held_out]
    order = np.random.default_rng(seed).permutation(windows)[
        np.arange(steps * batch) % windows
    ]
    batches = [cut(cut(part[order], batch), every) for part in text.train]
    state = adam(rate, steps).init(free)
    results: dict = {"numbers": sum(f.size for f in free.values()) / blocks}
    curve = {"seconds": [0.0], "loss": [mean_loss(net, used, free | fixed, *judged)]}
    # compile
    stretch(net, used, fixed, free, state, [b[0] for b in batches], 0.0, steps)
    for parts in zip(*batches, strict=True):
        began = time.process_time()
        arguments = net, used, fixed, free, state, parts, BASE[method] * rate, steps
        free, state = jax.block_until_ready(stretch(*arguments))
        curve["seconds"].append(curve["seconds"][-1] + time.process_time() - began)
        curve["loss"].append(mean_loss(net, used, free | fixed, *judged))
    if fixed:
        after = gradients(text, free | fixed)
        results |= reached(fixed, G, A, D) | {"after": reached(fixed, *after)}
        results["best"] = [best_share(one, r) for one in G]
    return results | curve


EXPERIMENT = Experiment(
    "preconditioning_finetune",
    __doc__,
    GRID,
    measure,
    OPTIONS,
    of="the book",
)

if __name__ == "__main__":
    main(EXPERIMENT)
