"""From a function f(x, y, x*) to a ReLU network that learns it in one gradient step
[M-def, M-univ].
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

from rankone._checks import brief, choice, floating, integer, real
from rankone.universality.constants import Constants, Target
from rankone.universality.fitted import constant_network, shallow_network
from rankone.universality.network import Network
from rankone.universality.selectors import bit_selector, cell_selector
from rankone.universality.tables import table_network
from rankone.universality.two_layers import MARGIN, two_layer_network

__all__ = ["CONSTRUCTIONS", "universal_learner"]

CONSTRUCTIONS = ("seed", "logdepth", "constant", "shallow", "two_layers")
_FITTED = {
    "constant": constant_network,
    "shallow": shallow_network,
    "two_layers": two_layer_network,
}
_LARGEST = 2**31  # bytes of one stack; a larger stack is probably a mistake
_UNITS_A_CELL = 400
_DTYPE = "float32 or float64: half precision has too few digits for the ramps"
_WIDEST = 1e12  # largest width of a range of y; the least is its inverse
_FINEST = 10_000  # least count of numbers of the dtype in a range of y
_MOST_WRITTEN = 0.1  # largest αwΔ, which the step adds to weights of size 1
# Largest ratio of margin and width of a range of y, either way, for a fitted net.
# Beyond it the network reads y, or x, too inaccurately from what the step writes.
_MOST_APART = 8


def universal_learner(
    target: Target,
    cells: int = 8,
    construction: str = "seed",
    *,
    units: int | None = None,
    levels: int | None = None,
    y_range: tuple[float, float] = (-1.0, 1.0),
    constants: Constants | None = None,
    dtype: Any = None,
) -> Network:
    """An ordinary ReLU network that one plain gradient step on an example (x, y) turns
    into an approximation of x* ↦ f(x, y, x*), for a given target f [M-def, M-univ].

    The step descends ½(prediction at x − y)². For any pair (x, y),
    `predict(adapt(network, x, y), x_star)` is then close to f(x, y, x_star).

    - "seed": the published construction, repaired: J² + 2 layers between the feature
      layers φ and the read-out, which is a table of J² cells.
    - "logdepth": the same table, addressed by the bits of the cells' numbers, with
      2⌈log₂J⌉ + 3 layers between φ and the read-out [M-S3].
    - "constant": four such layers whatever the accuracy, then a net fitted by least
      squares instead of a table [M-S4].
    - "shallow": four hidden layers in all, and no input θ_b that is a parameter [M-S5].
    - "two_layers": two hidden layers in all; the backward pass itself divides x into
      units/4 cells [M-S8].

    Args:
        target: A bounded function of x in [0, 1], y in `y_range` and x* in [0, 1]. It
            is called with arrays, or point by point if it does not take arrays.
        cells: J, number of cells on each axis of a table. For the last three
            constructions it only sets the default of `units`.
        construction: Name of one of these five.
        units: Number of units of the fitted net, for the last three constructions; by
            default 400 · cells. The fit holds about 64 · units² bytes, and from 6,000
            units on 24 · units² bytes and 1.5 GB. Its time grows as units³.
        levels: Number of knots of a table's interpolation in y; by default 2 where the
            target is affine in y, else 16.
        y_range: Smallest and largest y.
        constants: `Constants`, such as the step size α; by default those of
            `Constants()`, scaled to the range of y. For "two_layers" the default margin
            (from the prediction before the step up to the smallest y) is 4 instead of
            1. The error Δ, y minus this prediction, then varies by a smaller factor
            over the range of y. This helps because the network reads x from the product
            Δ·x.
        dtype: Dtype of the parameters; by default JAX's current default.

    Raises:
        ValueError: If the target is not such a function, or a number is out of range.

    >>> import rankone as ro
    >>> network = ro.universal_learner(lambda x, y, x_star: y * x_star, cells=2)
    >>> network.depth, network.size
    (10, 700)
    >>> after = ro.adapt(network, 0.3, -0.5)
    >>> round(float(ro.predict(after, 0.75)), 3)
    -0.375
    """
    cells, units, levels = _sizes(construction, cells, units, levels)
    dtype = floating(
        "dtype", jnp.result_type(float) if dtype is None else dtype, _DTYPE
    )
    low, high = _range(y_range, dtype)
    constants = _constants(constants, construction, high - low)
    if construction in _FITTED:
        units = units or _UNITS_A_CELL * cells
        return _FITTED[construction](
            target, units=units, y_range=(low, high), constants=constants, dtype=dtype
        )
    _check_size(cells, construction, dtype)
    selector = (cell_selector if construction == "seed" else bit_selector)(
        cells, constants.epsilon
    )
    return table_network(
        target,
        selector,
        y_range=(low, high),
        levels=levels,
        constants=constants,
        dtype=dtype,
    )


def _sizes(
    construction: Any, cells: Any, units: Any, levels: Any
) -> tuple[int, int | None, int | None]:
    """Checked numbers of cells, units and levels, of which a construction takes only
    some.
    """
    choice("construction", construction, CONSTRUCTIONS)
    cells = integer("cells", cells)
    units = None if units is None else integer("units", units)
    levels = (
        None
        if levels is None
        else integer("levels", levels, "an integer of at least 2", least=2)
    )
    is_fitted = construction in _FITTED
    if levels is not None and is_fitted:
        raise ValueError(
            f"levels: got {brief(levels)}; "
            f"it must be left out: construction={construction!r} has no table."
        )
    if units is not None and not is_fitted:
        raise ValueError(
            f"units: got {brief(units)}; "
            f"it must be left out: construction={construction!r} has no fitted net."
        )
    return cells, units, levels


def _range(y_range: Any, dtype: Any) -> tuple[float, float]:
    """Checked ends of the range of y, wide enough for 10,000 numbers of `dtype` between
    them, and so small that no square overflows.
    """
    requirement = "a pair (smallest y, largest y), such as (-1.0, 1.0)"
    try:
        low, high = y_range
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y_range: got {y_range!r:.99}; it must be {requirement}."
        ) from error
    edges = (
        real("y_range", low, requirement) or 0.0,
        real("y_range", high, requirement) or 0.0,
    )
    if not -np.inf < edges[0] < edges[1] < np.inf:
        raise ValueError(f"y_range: got {brief(y_range)}; it must be {requirement}.")
    width = edges[1] - edges[0]
    spacing = float(jnp.finfo(dtype).eps) * max(map(abs, edges))
    if not 1 / _WIDEST <= width <= _WIDEST:
        raise ValueError(
            f"y_range: got {brief(y_range)}; "
            f"it must be of a width from {1 / _WIDEST:g} to {_WIDEST:g}: take y in "
            "another unit."
        )
    requirement = (
        f"a range with at least {_FINEST:,} numbers of {jnp.dtype(dtype).name} between "
        "its ends: learn y minus the middle of the range, so that 0 is in it"
    )
    if not width >= _FINEST * spacing:
        raise ValueError(f"y_range: got {brief(y_range)}; it must be {requirement}.")
    return edges


def _constants(constants: Any, construction: str, width: float) -> Constants:
    """Constants as given, checked: the step writes little and the margin fits. The
    scaled defaults if they are None.
    """
    if constants is None:
        return Constants.over(
            (0, width), MARGIN if construction == "two_layers" else 1.0
        )
    if not isinstance(constants, Constants):
        raise ValueError(
            f"constants: got {brief(constants)}; "
            "it must be a Constants, such as Constants(alpha=0.1)."
        )
    change = constants.alpha * constants.linear * (width + constants.margin)
    if not change <= _MOST_WRITTEN:
        raise ValueError(
            f"constants: got a product of {change:.2g}; it must be such that "
            f"alpha·linear·(width of y_range + margin) is at most {_MOST_WRITTEN}; or "
            "left out."
        )
    ratio = constants.margin / width
    fits = construction not in _FITTED or 1 / _MOST_APART <= ratio <= _MOST_APART
    if not fits:
        raise ValueError(
            f"constants: got a margin of {constants.margin:g} for a width of "
            f"{width:g}; it must be from width/{_MOST_APART} to {_MOST_APART}·width of "
            "y_range; or left out."
        )
    return constants


def _check_size(J: int, construction: str, dtype: Any) -> None:
    slots = J * J if construction == "seed" else 2 * (J - 1).bit_length() + 1
    largest = (
        max((slots + 2) * (2 * J + slots + 1) ** 2, 3 * J * J * (2 * J + slots + 1))
        * dtype.itemsize
    )
    way_out = (
        "fewer; or construction='logdepth'"
        if construction == "seed"
        else "fewer; or construction='constant'"
    )
    if not largest <= _LARGEST:
        raise ValueError(
            f"cells: got {brief(J)}; it must be {way_out}: these weights alone would "
            f"take {largest / 1e9:,.0f} GB."
        )
