"""Formulations that the package is compared with, each written from its published
description.

The published DrDAM code does not install today, and hflayers is in no package registry.
Neither is copied here.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

__all__ = ["autodiff_gradient", "autodiff_retrieval", "has_torch", "plain_gradient"]
__all__ += ["torch_layer", "torch_products", "torch_search", "torch_training"]

CLIP = 1e-5  # below which the published code cuts off the argument of the logarithm


def _energy(x: Array, omega: Array, T: Array, beta: Array, rows_first: bool) -> Array:
    z = jnp.sqrt(beta) * x
    h = omega @ z if rows_first else z @ omega.T
    features = jnp.concatenate([jnp.cos(h), jnp.sin(h)]) / jnp.sqrt(len(omega))
    return -jnp.log(jnp.maximum(features @ T, CLIP)) / beta


@partial(jax.jit, static_argnames="rows_first")
def autodiff_gradient(
    omega: Array, T: Array, beta: Array, x: Array, *, rows_first: bool = False
) -> tuple[Array, Array]:
    """DrDAM as published: all of omega (Y, D) stored, the energy differentiated
    automatically, queries by vmap.

    The projection is z Ωᵀ, which is slow on some processors for one query. With
    `rows_first` it is Ω z.
    """
    gradient = jax.value_and_grad(partial(_energy, rows_first=rows_first))
    return jax.vmap(gradient, (0, None, None, None))(x, omega, T, beta)


@partial(jax.jit, static_argnames=("steps", "rows_first"))
def autodiff_retrieval(
    omega: Array,
    T: Array,
    beta: Array,
    x: Array,
    step_size: float,
    steps: int,
    *,
    rows_first: bool = False,
) -> Array:
    """Retrieval of DrDAM as published: a scan over the steps of every query."""
    gradient_of = jax.value_and_grad(partial(_energy, rows_first=rows_first))

    def one(x: Array) -> Array:
        def step(x: Array, _: None) -> tuple[Array, Array]:
            energy, gradient = gradient_of(x, omega, T, beta)
            return x - step_size * gradient, energy

        return jax.lax.scan(step, x, None, length=steps)[0]

    return jax.vmap(one)(x)


@jax.jit
def plain_gradient(Xi: Array, beta: Array, x: Array) -> tuple[Array, Array]:
    """Energy and gradient of the exact memory in the most direct form: log-sum-exp of
    squared distances, differentiated automatically, queries by vmap.
    """

    def energy(x: Array) -> Array:
        return -jax.nn.logsumexp(-beta / 2 * ((x - Xi) ** 2).sum(-1)) / beta

    return jax.vmap(jax.value_and_grad(energy))(x)


def has_torch() -> bool:
    """True if the PyTorch peers can run."""
    return find_spec("torch") is not None


def _tensors(*arrays: Any) -> tuple[Any, ...]:
    """Copies of NumPy arrays in PyTorch, on the GPU if JAX has one."""
    import torch

    place = "cpu" if jax.default_backend() == "cpu" else "cuda"
    return tuple(torch.from_numpy(array.copy()).to(place) for array in arrays)


def _done(*tensors: Any) -> Any:
    """Wait until the tensors are computed. On a CPU they are returned as NumPy arrays,
    which share their memory. On a GPU they stay there, as our results do.
    """
    import torch

    if all(tensor.device.type == "cpu" for tensor in tensors):
        return [tensor.detach().numpy() for tensor in tensors]
    torch.cuda.synchronize()
    return None


def torch_layer(Xi: Any, beta: float, x: Any) -> Callable[[], Any]:
    """One update of a modern Hopfield layer with static patterns, in the order of
    operations of hflayers.

    The layer brings the stored patterns into the layout (heads, patterns, length) for
    keys and again for values by `repeat`, which copies them, then takes scores, softmax
    and the weighted sum over all queries at once.
    """
    import torch

    # (K, 1, D), (N, 1, D)
    stored, query = (tensor[:, None, :] for tensor in _tensors(Xi, x))

    def update() -> Any:
        with torch.no_grad():
            key = stored.repeat(1, 1, 1).contiguous().transpose(0, 1)
            value = stored.repeat(1, 1, 1).contiguous().transpose(0, 1)
            scores = torch.bmm(beta * query.transpose(0, 1), key.transpose(1, 2))
            return _done(torch.bmm(torch.softmax(scores, -1), value)[0])

    return update


def torch_products(Xi: Any, beta: float, x: Any) -> Callable[[], Any]:
    """The same update with nothing but its two products and the softmax: its shortest
    form.
    """
    import torch

    stored, query = _tensors(Xi, x)

    def update() -> Any:
        with torch.no_grad():
            return _done(torch.softmax(beta * query @ stored.T, -1) @ stored)

    return update


def torch_training(
    Xi: Any, beta: float, x: Any, targets: Any, known: int, steps: int
) -> Callable[[], Any]:
    """A step of training of a Hopfield layer: its updates, the loss, and the gradient
    with respect to the stored patterns.

    The first `known` entries of a query are held fixed, as in our layer that it is
    compared with. An update is softmax attention with the patterns for keys and values,
    and autograd goes back through all of them.
    """
    import torch

    stored, query, target = _tensors(Xi, x, targets)
    stored.requires_grad_()

    def train() -> Any:
        state = query
        bias = -beta / 2 * (stored**2).sum(-1)
        for _ in range(steps):
            update = torch.softmax(beta * state @ stored.T + bias, -1) @ stored
            state = torch.cat([query[:, :known], update[:, known:]], 1)
        loss = ((state - target) ** 2).sum(-1).mean()
        return _done(loss, torch.autograd.grad(loss, stored)[0])

    return train


def torch_search(rows: Any, k: int) -> Callable[[Any], tuple[Any, Any]]:
    """Exact search on a GPU in PyTorch: the squared distances of all rows by a product,
    and the k least of them.
    """
    import torch

    (store,) = _tensors(rows)
    squares = (store**2).sum(-1)

    def search(q: Any) -> tuple[Any, Any]:
        query = torch.from_numpy(q).to(store.device)
        least = torch.topk(squares - 2 * query @ store.T, k, largest=False)
        square = (least.values + (query**2).sum(-1, keepdim=True)).clamp(min=0)
        return square.sqrt().cpu().numpy(), least.indices.cpu().numpy()

    return search
