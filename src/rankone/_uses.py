"""Uses of the parameters of a program: the products with a matrix and the additions of
a vector, read from the program's jaxpr.

Reading the jaxpr makes `capture_keys` and `layer_moments` independent of the library in
which a network is written, because JAX sees the same few operations for all of them. A
parameter is followed through casts, transposes and broadcasts, and into called
functions.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Literal
from jaxtyping import Array

from rankone._jax import CALLS, bind

__all__ = ["Use", "Uses"]

_BODIES = ("call_jaxpr", "jaxpr", "fun_jaxpr")


@dataclass(frozen=True)
class _Mark:
    """A value that is a parameter: which one, and where its axes went."""

    index: int
    axes: tuple[int, ...]


class Use(NamedTuple):
    """One product with a matrix, or one addition of a vector to rows.

    Attributes:
        argument: Index of the argument of the program that is used.
        inputs: Inputs that a matrix multiplies, one per row (..., n); None for a
            vector.
        axis: Axis of the matrix that is contracted with the inputs: 1 for f(x) = Wx, 0
            for f(x) = xW.
        outputs: The result.
        features: Axis of the result that counts the layer's outputs.
    """

    argument: int
    inputs: Array | None
    axis: int
    outputs: Array
    features: int


@dataclass
class Uses:
    """Interpreter of one jaxpr. It records each use of the program's arguments, and
    adds a given array, the nudge, to the result of each use.

    Attributes:
        nudges: One array for each use, in the order of the program; None in the first
            run, which counts the uses.
        entries: The uses, in the same order.
        reasons: By the index of an argument, the reason why one of its uses is neither
            such a product nor such an addition.
    """

    nudges: list | None = None
    entries: list[Use] = field(default_factory=list)
    reasons: dict[int, str] = field(default_factory=dict)

    def run(
        self, closed: ClosedJaxpr, values: list, followed: list[int] | None = None
    ) -> list:
        """Results of the program. The uses of the arguments in `followed`, by default
        all, are recorded.
        """
        numbers = range(len(values)) if followed is None else followed
        marks = [
            _Mark(i, tuple(range(jnp.ndim(v)))) if i in numbers else None
            for i, v in enumerate(values)
        ]
        return self._run(closed.jaxpr, closed.consts, values, marks)[0]

    def _run(
        self, jaxpr: Any, consts: Any, values: list, marks: list
    ) -> tuple[list, list]:
        env = dict(zip(jaxpr.constvars, consts, strict=True)) | dict(
            zip(jaxpr.invars, values, strict=True)
        )
        mark_of = {v: mark for v, mark in zip(jaxpr.invars, marks, strict=True) if mark}
        for eqn in jaxpr.eqns:
            operands = [v.val if isinstance(v, Literal) else env[v] for v in eqn.invars]
            operand_marks = [
                None if isinstance(v, Literal) else mark_of.get(v) for v in eqn.invars
            ]
            outs, outs_marked = (
                self._step(eqn, operands, operand_marks)
                if any(operand_marks)
                else (bind(eqn, operands), [])
            )
            env |= zip(eqn.outvars, outs, strict=True)
            mark_of |= {
                v: mark
                for v, mark in zip(eqn.outvars, outs_marked, strict=False)
                if mark
            }
        final = [
            (v.val, None) if isinstance(v, Literal) else (env[v], mark_of.get(v))
            for v in jaxpr.outvars
        ]
        return [value for value, _ in final], [mark for _, mark in final]

    def _step(self, eqn: Any, operands: list, marks: list) -> tuple[list, list]:
        name = eqn.primitive.name
        inner = (
            next((eqn.params[key] for key in _BODIES if key in eqn.params), None)
            if name in CALLS
            else None
        )
        if inner is not None:
            inner = inner if isinstance(inner, ClosedJaxpr) else ClosedJaxpr(inner, ())
            return self._run(inner.jaxpr, inner.consts, operands, marks)
        outs = bind(eqn, operands)
        if name in _MOVES:
            axes = _MOVES[name](eqn, marks[0].axes)
            if axes is not None:
                return outs, [_Mark(marks[0].index, axes)]
        use = (
            _product(eqn, operands, marks)
            if name == "dot_general"
            else _sum(eqn, marks)
            if name == "add"
            else None
        )
        if use is None:
            self.reasons |= {
                mark.index: _REASONS.get(name, f"used by the operation {name}")
                for mark in marks
                if mark
            }
            return outs, []
        argument, inputs, axis, features = use
        self.entries.append(Use(argument, inputs, axis, outs[0], features))
        return (
            [outs[0] + self.nudges[len(self.entries) - 1]] if self.nudges else outs
        ), []


def _product(eqn: Any, operands: list, marks: list) -> tuple | None:
    """(argument, inputs, axis, axis of the outputs' features) of a matrix times other
    values.
    """
    (contract, batch) = eqn.params["dimension_numbers"]
    side = 0 if marks[0] else 1
    mark = marks[side]
    factor = operands[1 - side]
    is_matrix_product = (
        operands[side].ndim == len(mark.axes) == 2
        and not any(batch)
        and len(contract[side]) == 1
    )
    if all(marks) or not is_matrix_product:
        return None
    inputs = jnp.moveaxis(factor, contract[1 - side][0], -1)
    return (
        mark.index,
        inputs,
        mark.axes.index(contract[side][0]),
        0 if side == 0 else -1,
    )


def _sum(eqn: Any, marks: list) -> tuple | None:
    """Use of a vector that is added to every row; it has no inputs."""
    mark, addend = (marks[0], eqn.invars[1]) if marks[0] else (marks[1], eqn.invars[0])
    if (
        all(marks)
        or len(mark.axes) != 1
        or addend.aval.shape != eqn.outvars[0].aval.shape
    ):
        return None
    return mark.index, None, 1, mark.axes[0]


def _broadcast(eqn: Any, axes: tuple[int, ...]) -> tuple[int, ...] | None:
    dimensions = eqn.params["broadcast_dimensions"]
    shape = eqn.invars[0].aval.shape
    keeps_sizes = all(
        eqn.params["shape"][dimensions[axis]] == shape[axis] for axis in axes
    )
    return tuple(dimensions[axis] for axis in axes) if keeps_sizes else None


def _reshape(eqn: Any, axes: tuple[int, ...]) -> tuple[int, ...] | None:
    """Axes after a reshape that only adds or drops axes of length 1, if the followed
    axes are longer than 1.
    """
    before = eqn.invars[0].aval.shape
    after = eqn.outvars[0].aval.shape
    long = [
        [i for i, size in enumerate(shape) if size != 1] for shape in (before, after)
    ]
    sizes_match = [before[i] for i in long[0]] == [after[i] for i in long[1]]
    return (
        tuple(long[1][long[0].index(a)] for a in axes)
        if sizes_match and set(axes) <= set(long[0])
        else None
    )


_MOVES: dict[str, Callable[[Any, tuple[int, ...]], tuple[int, ...] | None]] = {
    "convert_element_type": lambda eqn, axes: axes,
    "copy": lambda eqn, axes: axes,
    "transpose": lambda eqn, axes: tuple(
        eqn.params["permutation"].index(a) for a in axes
    ),
    "broadcast_in_dim": _broadcast,
    "reshape": _reshape,
    "squeeze": _reshape,
    "expand_dims": _reshape,
}

_REASONS = {
    "gather": "a table that is looked up, as an embedding is",
    "dynamic_slice": "a table that is looked up, as an embedding is",
    "conv_general_dilated": "a convolution",
    "scan": "used inside a scan",
    "while": "used inside a loop",
    "cond": "used inside a branch",
    "mul": "a factor of single entries, as the scale of a normalisation is",
}
