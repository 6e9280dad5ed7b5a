"""The methods that the two experiments on preconditioning compare, on one network and
one stream of batches.

A curve is measured every `every` steps, which is also when moments, factors and
inverses are renewed. Seconds count training and renewal, not compilation and
evaluation.
"""

import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from optax import tree_utils

from rankone.nn import Dense
from rankone.preconditioning import (
    Factors,
    Moments,
    MovingMoments,
    layer_moments,
    merge,
    only_U,
    precondition,
    reparameterize,
    transport,
    whitening_factors,
)
from rankone.preconditioning.layers import is_layer

__all__ = ["METHODS", "Problem", "learning_curve", "train"]

MOMENTUM = 0.9
DECAY = 0.9
Step = Callable[[Any, Any], Any]


class Problem(NamedTuple):
    """A network and its data.

    Attributes:
        network: Pytree of dense layers.
        outputs: outputs(network, x) -> (N, m): the network's prediction for inputs (N,
            n).
        batch: batch(key) -> (x, y), drawn at random; the loss is half the squared
            error, summed over the outputs.
        moment_batch: The same, with as many examples as second moments are estimated
            from.
        evaluate: evaluate(network) -> the number whose curve is recorded.
        damping: Damping of the second-order methods.
    """

    network: Any
    outputs: Callable[[Any, Any], Any]
    batch: Callable[[Any], tuple[Any, Any]]
    moment_batch: Callable[[Any], tuple[Any, Any]]
    evaluate: Callable[[Any], Any]
    damping: float


def train(
    problem: Problem,
    method: str,
    rate: optax.ScalarOrSchedule,
    *,
    steps: int,
    every: int,
    key: Any,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """The curve of one method: seconds, and the evaluated number, at the start and
    after every `every` steps.
    """
    chunk, state = METHODS[method](problem, rate, every, key)
    return learning_curve(
        chunk,
        state,
        range(steps // every),
        lambda state: problem.evaluate(_network(state)),
        limit=100,
        clock=clock,
    )


def learning_curve(
    chunk: Step,
    state: Any,
    stretches: Iterable[Any],
    evaluate: Callable[[Any], Any],
    *,
    limit: float,
    clock: Callable[[], float],
) -> dict[str, list[float]]:
    """Seconds, and the evaluated number, at the start and after every stretch of steps.

    Args:
        chunk: (state, stretch) ↦ the state after the steps of one stretch.
        state: State to begin with.
        stretches: Second arguments of `chunk`, one for each stretch.
        evaluate: State ↦ number.
        limit: The curve ends where the number is not below `limit` times the first.
        clock: Counts the seconds of `chunk`, without compilation.
    """
    curve = {"seconds": [0.0], "loss": [float(evaluate(state))]}
    for i, stretch in enumerate(stretches):
        if i == 0:
            jax.block_until_ready(chunk(state, stretch))  # compile
        began = clock()
        state = jax.block_until_ready(chunk(state, stretch))
        seconds = clock() - began
        loss = float(evaluate(state))
        # diverged, or not a number
        if not loss < limit * curve["loss"][0]:
            break
        curve["seconds"].append(curve["seconds"][-1] + seconds)
        curve["loss"].append(loss)
    return curve


def _network(state: Any) -> Any:
    return merge(state[0])


def mean_loss(problem: Problem, network: Any, batch: Any) -> Any:
    """Half the squared error per example."""
    x, y = batch
    return 0.5 * ((problem.outputs(network, x) - y) ** 2).sum(-1).mean()


def scan_steps(
    problem: Problem,
    optimizer: optax.GradientTransformation,
    network: Any,
    state: Any,
    keys: Any,
) -> Any:
    """One step for each key."""

    def step(carry: Any, key: Any) -> tuple[Any, None]:
        network, state = carry
        gradient = jax.grad(lambda net: mean_loss(problem, net, problem.batch(key)))(
            network
        )
        updates, state = optimizer.update(gradient, state, network)
        return (optax.apply_updates(network, updates), state), None

    return jax.lax.scan(step, (network, state), keys)[0]


def batch_keys(key: Any, i: Any, every: int) -> Any:
    """The keys of the i-th stretch of steps: the same for every method."""
    return jax.random.split(jax.random.fold_in(key, i), every)


def first_order(
    make: Callable[[optax.ScalarOrSchedule], optax.GradientTransformation],
) -> Callable:
    """A method that is an optax optimiser on W."""

    def method(problem: Problem, rate: float, every: int, key: Any) -> tuple[Step, Any]:
        optimizer = make(rate)

        @jax.jit
        def chunk(state: Any, i: Any) -> Any:
            return scan_steps(problem, optimizer, *state, batch_keys(key, i, every))

        return chunk, (problem.network, optimizer.init(problem.network))

    return method


def renewed(problem: Problem, network: Any, moving: Any, key: Any) -> tuple[Any, Any]:
    """Moving moments updated with one more batch, and their factors. The targets are
    drawn from the model, which gives the true Fisher matrix.
    """
    k_batch, k_noise = jax.random.split(key)
    x, y = problem.moment_batch(k_batch)
    noise = jax.random.normal(k_noise, y.shape, y.dtype)

    def losses(net: Any) -> Any:
        outputs = problem.outputs(net, x)
        return 0.5 * ((outputs - jax.lax.stop_gradient(outputs) - noise) ** 2).sum(-1)

    fresh = layer_moments(losses, network)
    moving = jax.tree.map(
        MovingMoments.update,
        moving,
        fresh,
        is_leaf=lambda m: isinstance(m, MovingMoments),
    )
    values = jax.tree.map(
        lambda m: m.value, moving, is_leaf=lambda m: isinstance(m, MovingMoments)
    )
    factors = jax.tree.map(
        lambda moment: whitening_factors(moment, damping=problem.damping),
        values,
        is_leaf=lambda m: isinstance(m, Moments),
    )
    return moving, factors


def no_moments(network: Any) -> Any:
    """Moving moments before the first batch."""

    def start(layer):
        return MovingMoments.start(
            layer.augmented.shape, layer.augmented.dtype, decay=DECAY
        )

    return jax.tree.map(start, network, is_leaf=is_layer)


def explicit(problem: Problem, rate: float, every: int, key: Any) -> tuple[Step, Any]:
    """Heavy ball on W, each step preconditioned with TTᵀ and VᵀV."""

    def optimizer(factors: Any) -> optax.GradientTransformation:
        return optax.chain(
            optax.trace(MOMENTUM),
            precondition(factors),
            optax.scale_by_learning_rate(rate),
        )

    @jax.jit
    def chunk(state: Any, i: Any) -> Any:
        network, (trace, _, scale), moving = state
        moving, factors = renewed(
            problem, network, moving, jax.random.fold_in(key, -1 - i)
        )
        operators = precondition(factors).init(network)
        network, inner = scan_steps(
            problem,
            optimizer(factors),
            network,
            (trace, operators, scale),
            batch_keys(key, i, every),
        )
        return network, inner, moving

    ones = jax.tree.map(
        lambda layer: Factors(*map(np.eye, layer.augmented.shape)),
        problem.network,
        is_leaf=is_layer,
    )
    return chunk, (
        problem.network,
        optimizer(ones).init(problem.network),
        no_moments(problem.network),
    )


def reparameterised(
    problem: Problem, rate: float, every: int, key: Any
) -> tuple[Step, Any]:
    """Heavy ball on U, with T, V, U and the momentum renewed every `every` steps."""
    optimizer = only_U(optax.sgd(rate, MOMENTUM))

    def pair(layer):
        return Factors(layer.T, layer.V)

    def carry_over(old: Any, new: Any, velocity: Any) -> Any:
        def moved(U):
            return transport(U, pair(old), pair(new), invertible=True)

        return jax.tree.map(moved, velocity)  # T and V have no momentum

    @jax.jit
    def chunk(state: Any, i: Any) -> Any:
        old, inner, moving = state
        moving, factors = renewed(problem, old, moving, jax.random.fold_in(key, -1 - i))
        new = reparameterize(merge(old), factors, invertible=True)
        velocity = jax.tree.map(
            carry_over, old, new, tree_utils.tree_get(inner, "trace"), is_leaf=is_layer
        )
        inner = tree_utils.tree_set(inner, trace=velocity)
        return *scan_steps(
            problem, optimizer, new, inner, batch_keys(key, i, every)
        ), moving

    ones = jax.tree.map(
        lambda layer: Factors(*map(np.eye, layer.augmented.shape)),
        problem.network,
        is_leaf=is_layer,
    )
    network = reparameterize(problem.network, ones)
    return chunk, (network, optimizer.init(network), no_moments(problem.network))


def kfac_jax_method(
    problem: Problem, rate: float, every: int, key: Any
) -> tuple[Step, Any]:
    """The published K-FAC of kfac-jax, which needs an environment of its own (see
    experiments/README.md).
    """
    import kfac_jax

    def plain(layer):
        return {"w": layer.W.T} | ({} if layer.b is None else {"b": layer.b})

    def back(p):
        return Dense(p["w"].T, p.get("b"))

    def is_plain(node):
        return isinstance(node, dict) and "w" in node

    class Call:
        def __init__(self, p: Any):
            self.p = p

        def __call__(self, x: Any) -> Any:
            return x @ self.p["w"] + self.p["b"] if "b" in self.p else x @ self.p["w"]

    def loss(params: Any, batch: Any) -> Any:
        x, y = batch
        outputs = problem.outputs(jax.tree.map(Call, params, is_leaf=is_plain), x)
        kfac_jax.register_squared_error_loss(outputs, y, weight=0.5)
        return 0.5 * ((outputs - y) ** 2).sum(-1).mean()

    optimizer = kfac_jax.Optimizer(
        jax.value_and_grad(loss),
        l2_reg=0.0,
        damping_schedule=lambda _: problem.damping,
        num_burnin_steps=0,
        inverse_update_period=every,
        learning_rate_schedule=lambda _: rate,
        momentum_schedule=lambda _: MOMENTUM,
    )
    draw = jax.jit(problem.batch)
    params = jax.tree.map(plain, problem.network, is_leaf=is_layer)

    def chunk(state: Any, i: Any) -> Any:
        _, params, inner = state
        # The optimiser donates its arguments, so it gets copies.
        params, inner = jax.tree.map(jnp.array, (params, inner))
        for j, k in enumerate(batch_keys(key, i, every)):
            params, inner, _ = optimizer.step(
                params, inner, k, batch=draw(k), global_step_int=i * every + j
            )
        return jax.tree.map(back, params, is_leaf=is_plain), params, inner

    return chunk, (problem.network, params, optimizer.init(params, key, draw(key)))


METHODS = {
    "gd": first_order(optax.sgd),
    "momentum": first_order(lambda rate: optax.sgd(rate, MOMENTUM)),
    "adam": first_order(optax.adam),
    "explicit": explicit,
    "reparameterised": reparameterised,
    "kfac-jax": kfac_jax_method,
}
