"""The constants of the constructions, each with its purpose and the failure that it
prevents.
"""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import ArrayLike
from numpy.typing import NDArray

from rankone._checks import brief, floating, integer, positive, real
from rankone._module import Module

__all__ = ["Constants", "Target", "interval", "lookup_table", "tabulate"]
__all__ += ["target_values"]

Target = Callable[[Any, Any, Any], Any]


class Constants(Module):
    """Constants of `universal_learner`, which you may choose within limits [M-disc,
    M-lin-e, M-eq4].

    Attributes:
        alpha: α, the step size for which the weights are made.
        linear: w, output weight of the path that carries the error back. This path also
            changes the output after the step. The values stored in the output weights
            are the targets minus this change, computed to first order in the step.
        margin: m, distance from the prediction before the step up to the smallest y.
            Without it some errors would have the other sign, and the ReLUs would clip
            them.
        offset: δ, activation before the step of the slots, the units that the step
            writes. At 0 a ReLU passes no gradient.
        switch: θ_b, the input that is a parameter, before the step; at 0 it gets no
            gradient.
        damping: μ, factor in the weights that lead from the layer of the features of x
            to the slots. It keeps small what the step changes in this layer.
        epsilon: ε, what a layer of a stack writes into the slots of the other layers,
            where it writes 1 + ε into its own; at 0 the matrices would be singular. The
            construction "seed" also adds ε to the diagonal of the paper's matrices B.
        ramp: ω, width of the ramps between cells in units of a cell; None for 2⁻¹⁴ in
            float32 and 2⁻²⁰ in float64, rounded down to a power of two in units of x.
        clearance: σ, distance below zero of the fitted units' pre-activations before the
            step. It must exceed √2·μδ/(αw), the contribution of the slots to a fitted
            unit of the construction "constant". At 0 half of those units are active.
    """

    alpha: float = 0.1
    linear: float = 1e-2
    margin: float = 1.0
    offset: float = 1e-4
    switch: float = 1e-8
    damping: float = 1e-4
    epsilon: float = 1e-3
    ramp: float | None = None
    clearance: float = 1e-3

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self)):
            value = getattr(self, name)
            may_vanish = name in ("offset", "switch", "clearance")
            if name == "ramp" and value is None:
                continue
            requirement = (
                "zero or positive, and finite"
                if may_vanish
                else "a positive finite number"
            )
            number = real(name, value, requirement)
            is_valid = (
                number is not None
                and 0 <= number < np.inf
                and (number > 0 or may_vanish)
            )
            if not is_valid:
                raise ValueError(
                    f"{name}: got {brief(value)}; "
                    f"it must be {requirement}, known before jit."
                )
            setattr(self, name, number)
        if not (self.ramp is None or self.ramp <= 1):
            raise ValueError(
                f"ramp: got {brief(self.ramp)}; "
                "it must be at most 1, the width of a cell."
            )

    @classmethod
    def over(cls, y_range: tuple[float, float], margin: float = 1.0) -> "Constants":
        """Default constants, scaled to a range (smallest y, largest y). The margin is
        in half-widths of the range.
        """
        low, high = interval(y_range)
        return cls(margin=margin).scaled((high - low) / 2)

    def scaled(self, s: float) -> "Constants":
        """Constants with which a range of y of half-width s behaves like the range [−1,
        1].

        Constants in the unit of y grow with s. For s > 1 the constant w falls, so that
        the change αwΔ stays small relative to the weights, where Δ is the error of the
        prediction before the step. For s < 1 the activations that must be small
        relative to αwΔ fall.
        """
        positive("s", s)
        small = min(s, 1.0)
        large = max(s, 1.0)
        scaled_fields = {
            "offset": self.offset * small,
            "switch": self.switch * small,
            "clearance": self.clearance * small,
        }
        return replace(
            self, margin=self.margin * s, linear=self.linear / large, **scaled_fields
        )

    def width(self, J: int, dtype: Any) -> float:
        """Width ω of the ramps in units of x, for J cells on each axis and weights of
        this dtype. Powers of two make float32 arithmetic on the ramps exact.
        """
        J = integer("J", J)
        dtype = floating("dtype", dtype)
        if self.ramp is not None:
            return self.ramp / J
        return 2.0 ** -(14 if jnp.finfo(dtype).bits == 32 else 20) / 2 ** int(
            np.ceil(np.log2(J))
        )


def interval(y_range: Any) -> tuple[float, float]:
    """Ends of `y_range`, smallest first; a ValueError unless it is a pair of such
    ends.
    """
    requirement = "a pair (smallest y, largest y), such as (-1.0, 1.0)"
    if not isinstance(y_range, tuple | list) or len(y_range) != 2:
        raise ValueError(f"y_range: got {brief(y_range)}; it must be {requirement}.")
    low, high = (real("y_range", end, requirement) for end in y_range)
    # None for a traced number
    if low is None or high is None or not -np.inf < low < high < np.inf:
        raise ValueError(f"y_range: got {brief(y_range)}; it must be {requirement}.")
    return low, high


def target_values(
    target: Target, x: ArrayLike, y: ArrayLike, x_star: ArrayLike
) -> NDArray[np.float64]:
    """Values of the target at broadcast arrays. They are computed at once if the target
    takes arrays, and point by point otherwise.

    Raises:
        ValueError: If `target` is not a function of three numbers, or a value is not
            finite.
    """
    _check_callable(target)
    points = np.broadcast_arrays(*(np.asarray(a, float) for a in (x, y, x_star)))
    try:
        values = np.asarray(target(*points), float)
        values = np.broadcast_to(values, points[0].shape)
    except (TypeError, ValueError):
        values = _one_by_one(target, points)
    mask = ~np.isfinite(values)
    if mask.any():
        point = tuple(float(p[mask][0]) for p in points)
        raise ValueError(
            f"target: got {values[mask][0]} at (x, y, x_star) = {point}; "
            "it must be finite on its domain."
        )
    return values


def _check_callable(target: Target) -> None:
    if not callable(target):
        raise ValueError(
            f"target: got {brief(target)}; it must be a function of (x, y, x_star), "
            "such as lambda x, y, xs: y * (xs > x)."
        )


def _one_by_one(target: Target, points: Any) -> NDArray[np.float64]:
    try:
        return np.vectorize(lambda *p: float(target(*p)), otypes=[float])(*points)
    except Exception as error:
        raise ValueError(
            f"target: got a function that raised {error!r}; it must be a function of "
            "(x, y, x_star) that returns one number, when each of them is one."
        ) from error


def tabulate(target: Target, J: int, y: ArrayLike) -> NDArray[np.float64]:
    """Values of the target at the centres of the cells, for each y: an array (J²,
    len(y)) with cell (j, l) in row j + Jl.
    """
    centre = (np.arange(J) + 0.5) / J
    x = np.tile(centre, J)
    x_star = np.repeat(centre, J)
    return target_values(target, x[:, None], np.asarray(y, float), x_star[:, None])


def lookup_table(target: Target, cells: int) -> Target:
    """The target f(x, y, x*) as a function that first moves x and x* to the centres of
    their cells; `cells` is the number of equal cells into which [0, 1] is divided. The
    constructions "seed" and "logdepth" of `universal_learner` approximate this
    function.
    """
    cells = integer("cells", cells)
    _check_callable(target)

    def table(x: ArrayLike, y: ArrayLike, x_star: ArrayLike) -> NDArray[np.float64]:
        centre = [
            (np.minimum(np.floor(np.asarray(a, float) * cells), cells - 1) + 0.5)
            / cells
            for a in (x, x_star)
        ]
        return target_values(target, centre[0], y, centre[1])

    return table
