"""An ordinary ReLU network, one plain gradient step on all of its parameters, and its
predictions.
"""

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, Real

from rankone._checks import (
    Numbers,
    brief,
    host,
    integer,
    known,
    numbers,
    positive,
    readable,
    real,
)
from rankone._module import Module
from rankone.nn import Dense, gradient_step
from rankone.precision import full_precision

__all__ = [
    "Network",
    "activations",
    "adapt",
    "forward",
    "loss",
    "predict",
]


class Network(Module):
    """A fully connected ReLU network with a linear output. Its input is [x, θ_b], where
    θ_b are parameters too (a bias transformation) [M-fig1, M-def].

    Its leaves are its parameters, all trainable:
    `jax.tree.map(lambda p, g: p - alpha * g, network, gradient)` is a step of gradient
    descent. Layers of equal shape are stored as one stack, so that compile time does
    not grow with depth.

    Attributes:
        switch: θ_b, the inputs that are parameters (s,); s is 1, or 0 for a network
            that needs none.
        layers: Hidden layers and the linear output layer, first to last; a stack of n
            layers is one `Dense` with W (n, m, m).
        alpha: The step size for which the weights were chosen: the initialisation
            encodes it.
        channels: Widths of the three groups of units in each layer of a stack: units
            that pass the features on, units that the step writes, and units that carry
            θ_b; None without stacks.
        start: Prediction before the step, below all targets.
        y_range: Smallest and largest y that the network was built to learn; None if
            they are not known.
    """

    switch: Float[Array, " s"]
    layers: tuple[Dense, ...]
    alpha: float = eqx.field(static=True)
    channels: tuple[int, int, int] | None = eqx.field(static=True, default=None)
    start: float = eqx.field(static=True, default=0.0)
    y_range: tuple[float, float] | None = eqx.field(static=True, default=None)

    def __post_init__(self) -> None:
        positive("alpha", self.alpha)
        switch = numbers("switch", self.switch)
        if switch.ndim != 1:
            raise ValueError(
                f"switch: got shape {switch.shape}; "
                "it must be of shape (s,): one entry for each input that is a parameter."
            )
        if known(switch) and not np.isfinite(np.asarray(switch)).all():
            raise ValueError("switch: got NaN or infinity; it must be finite.")
        if not math.isfinite(real("start", self.start, "one number") or 0.0):
            raise ValueError(f"start: got {brief(self.start)}; it must be finite.")
        layers_fit = isinstance(self.layers, tuple) and all(
            isinstance(layer, Dense) for layer in self.layers
        )
        if not layers_fit or len(self.layers) <= 0:
            raise ValueError(
                f"layers: got {brief(self.layers)}; it must be a tuple of Dense layers."
            )
        if self.channels is not None:
            fits = isinstance(self.channels, tuple) and len(self.channels) == 3
            if not fits:
                raise ValueError(
                    f"channels: got {brief(self.channels)}; "
                    "it must be three widths, or None."
                )
            for width in self.channels:
                integer("channels", width, "three widths, or None", least=0)
        if self.y_range is not None:
            requirement = "a pair (smallest y, largest y), or None"
            if not isinstance(self.y_range, tuple) or len(self.y_range) != 2:
                raise ValueError(
                    f"y_range: got {brief(self.y_range)}; it must be {requirement}."
                )
            low, high = (real("y_range", end, requirement) for end in self.y_range)
            if not (low is not None and high is not None and low < high):
                raise ValueError(
                    f"y_range: got {brief(self.y_range)}; it must be {requirement}."
                )

    @property
    def depth(self) -> int:
        """Number of weight layers, output included."""
        return sum(len(layer.W) if layer.W.ndim == 3 else 1 for layer in self.layers)

    @property
    def size(self) -> int:
        """Number of parameters."""
        return sum(leaf.size for leaf in jax.tree.leaves(self))

    @property
    def dtype(self) -> Any:
        """Data type of all parameters."""
        return self.layers[0].W.dtype

    def input(self, x: Real[ArrayLike, "*n"]) -> Float[Array, "*n inputs"]:
        """Input [x, θ_b] of the first layer: x (...) -> (..., 1 + s)."""
        return _input(self.switch, numbers("x", x))

    def output(self, x: Real[ArrayLike, "*n"]) -> Float[Array, "*n"]:
        """Output of the network at x (...) -> (...)."""
        return _last_output(self, numbers("x", x))


@jax.jit
def _input(switch: Array, x: Array) -> Array:
    switches = jnp.broadcast_to(switch, (*x.shape, *switch.shape))
    return jnp.concatenate([x[..., None], switches], -1)


@jax.jit
def _last_output(network: Network, x: Array) -> Array:
    return forward(network, x)[0]


@full_precision()
def forward(
    network: Network, x: Real[ArrayLike, "*n"]
) -> tuple[Float[Array, "*n"], tuple[Array, ...]]:
    """Output (...) at x (...), and the hidden activations, those of a stack in one
    array (n, ..., width).
    """
    h = network.input(x)
    hidden = []
    for layer in network.layers[:-1]:
        if layer.W.ndim == 2:
            h = jax.nn.relu(layer(h))
            hidden.append(h)
        else:
            h, activations = jax.lax.scan(
                lambda h, dense: (jax.nn.relu(dense(h)),) * 2, h, layer
            )
            hidden.append(activations)
    return network.layers[-1](h)[..., 0], tuple(hidden)


_forward = jax.jit(forward)


def loss(
    network: Network, x: Float[Array, " k"], y: Float[Array, " k"]
) -> Float[Array, ""]:
    """Half the mean squared error over the shots x (k,), y (k,)."""
    return 0.5 * jnp.mean((network.output(x) - y) ** 2)


def adapt(
    network: Network, x: Numbers, y: Numbers, alpha: ArrayLike | None = None
) -> Network:
    """`Network` after one plain gradient step on every parameter, θ' = θ − α ∇L(θ)
    [M-def].

    The gradient is `jax.grad` of ½(f(x; θ) − y)², and the derivative of the ReLU at its
    kink is that of `jax.nn.relu`, 0. Over k shots the loss is a mean, so each shot
    writes 1/k of its own change [M-kshot], and the order of the shots does not matter
    [M-recur]. `jax.vmap` over x and y adapts one copy per task; `learn` does the same
    without keeping the copies.

    A network can learn values inside the `y_range` that it was built for. Outside that
    range its read-out no longer follows the target, so a value there raises an error.
    Inside jit or vmap no error can be raised. The step is then the same plain gradient
    step, and the prediction after it is wrong, but not NaN.

    Args:
        network: From `universal_learner`.
        x: Training input in [0, 1]: a scalar, or k shots (k,).
        y: Value at x, in the network's `y_range`; of the same shape.
        alpha: Step size; by default the one that the network was built for.

    Returns:
        The network after the step.

    Raises:
        ValueError: If a shape does not fit, or a number is out of range.

    >>> import rankone as ro
    >>> network = ro.universal_learner(lambda x, y, x_star: y * x_star, cells=2)
    >>> after = ro.adapt(network, 0.3, 1.0)
    >>> after.depth == network.depth, round(float(after.switch[0] - network.switch[0]), 4)
    (True, 0.003)
    """
    return _adapt(network, *shots(network, x, y, alpha))


@jax.jit
def _adapt(network: Network, x: Array, y: Array, alpha: Array) -> Network:
    return gradient_step(lambda n: loss(n, x, y), network, alpha)


def predict(network: Any, x_star: Numbers) -> Array:
    """Output of a network, or of a `RankOneStep`, at x_star.

    Args:
        network: From `universal_learner`, `adapt` or `rank_one_step`.
        x_star: Points in [0, 1]: a scalar or an array.

    Returns:
        One number per point, in an array of the shape of x_star.

    Raises:
        ValueError: If a point is out of range.

    >>> import rankone as ro
    >>> network = ro.universal_learner(lambda x, y, x_star: y * x_star, cells=2)
    >>> after = ro.adapt(network, 0.3, 1.0)  # it has now learned x* -> x*, on a table of two cells
    >>> [round(float(value), 3) for value in ro.predict(after, [0.25, 0.75])]
    [0.25, 0.75]
    """
    if not hasattr(network, "output"):
        raise ValueError(
            f"network: got {brief(type(network))}; "
            "it must be a network, such as universal_learner makes."
        )
    return _output(network, unit("x_star", x_star, network.dtype))


@jax.jit
def _output(network: Any, x: Array) -> Array:
    return network.output(x)


def activations(network: Network, x: Numbers) -> tuple[Array, ...]:
    """Hidden activations at x (...), layer by layer; those of a stack of n layers in
    one array (n, ..., width).
    """
    check_network(network)
    return _forward(network, unit("x", x, network.dtype))[1]


def check_network(network: Any) -> None:
    """ValueError unless `network` is a `Network`."""
    if not isinstance(network, Network):
        raise ValueError(
            f"network: got {brief(type(network))}; "
            "it must be a network, such as universal_learner makes."
        )


def _floats(name: str, value: Numbers, dtype: Any) -> Any:
    """`value` in `dtype`: a JAX array where it lies, another in numpy, which jit takes
    without compiling a conversion.
    """
    array = host(name, value)
    if array.dtype == dtype:
        return array
    with np.errstate(over="ignore", under="ignore"):
        return array.astype(dtype)


def unit(name: str, value: Numbers, dtype: Any) -> Any:
    """`value` as an array of `dtype` with entries in [0, 1]."""
    out = _floats(name, value, dtype)
    if readable(out):
        points = np.asarray(out)
        if not ((points >= 0) & (points <= 1)).all():
            raise ValueError(
                f"{name}: got {brief(value)}; "
                "it must be in [0, 1]: rescale your inputs."
            )
    return out


def shots(
    network: Network, x: Numbers, y: Numbers, alpha: ArrayLike | None
) -> tuple[Any, Any, Any]:
    """Checked shots (k,) and (k,), and the step size."""
    check_network(network)
    inputs = _row(unit("x", x, network.dtype))
    values = _row(_floats("y", y, network.dtype))
    shape = inputs.shape
    if len(shape) != 1 or inputs.size == 0:
        raise ValueError(
            f"x: got shape {shape}; it must be a scalar, or shots of shape (k,)."
        )
    if values.shape != shape:
        raise ValueError(
            f"y: got shape {values.shape}; "
            f"it must be of the shape of x, {shape}: one value for each input."
        )
    if readable(values):
        _check_values(network, np.asarray(values))
    alpha = network.alpha if alpha is None else alpha
    positive(
        "alpha",
        alpha,
        f"a positive step size; this network was built for {network.alpha}",
        dtype=network.dtype,
    )
    return inputs, values, _floats("alpha", alpha, network.dtype)


def _check_values(network: Network, y: np.ndarray) -> None:
    """ValueError if values are not finite, or the network was not built for them."""
    if not np.isfinite(y).all():
        raise ValueError("y: got NaN or infinity; it must be finite.")
    if network.y_range is None:
        return
    low, high = network.y_range
    rounding = 4 * float(jnp.finfo(network.dtype).eps) * max(abs(low), abs(high))
    extreme = float(y.flat[np.abs(y.astype(float) - (low + high) / 2).argmax()])
    if not low - rounding <= extreme <= high + rounding:
        raise ValueError(
            f"y: got {brief(extreme)}; it must be from {low:g} to {high:g}, for which "
            "this network was built; build one with a wider y_range."
        )


def _row(a: Any) -> Any:
    """A scalar as an array (1,); shots as they are."""
    if a.ndim:
        return a
    # in NumPy, because a reshape in JAX takes a third of the time of a small step
    return np.asarray(a).reshape(1) if readable(a) else a.reshape(1)
