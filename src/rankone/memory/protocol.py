"""The protocol of a memory: an energy over states, with its gradient; and the result
of `retrieve`.
"""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from rankone._checks import Numbers, brief, states
from rankone._mesh import automatic
from rankone._module import Module

__all__ = ["EnergyMemory", "Memory", "Reader", "Retrieval", "check_memory", "reader_of"]

Reader = Callable[[Array], tuple[Array, Array, Array]]


@runtime_checkable
class Memory(Protocol):
    """Protocol of a memory: any pytree with `D` and `energy_and_gradient`. Your own
    class may have the other methods of `EnergyMemory` too.
    """

    @property
    def D(self) -> int:
        """Length of a pattern."""

    def energy_and_gradient(
        self, x: Numbers
    ) -> tuple[Float[Array, "..."], Float[Array, "... D"]]:
        """Energies (...) and their gradients (..., D) at states x (..., D)."""


class EnergyMemory(Module):
    """Base class of the package's memories. A subclass defines `D` and
    `energy_and_gradient`; this class defines the rest.
    """

    @property
    def D(self) -> int:
        """Length of a pattern."""
        raise NotImplementedError

    def energy_and_gradient(
        self, x: Numbers
    ) -> tuple[Float[Array, "..."], Float[Array, "... D"]]:
        """Energies (...) and their gradients (..., D) at states x (..., D)."""
        raise NotImplementedError

    @automatic
    def energy(self, x: Numbers) -> Float[Array, "..."]:
        """The energy at states x (..., D) -> (...)."""
        return _energy(self, states("x", x, self.D))

    def gradient(self, x: Numbers) -> Float[Array, "... D"]:
        """The gradient of the energy at states x (..., D) -> (..., D)."""
        return self.energy_and_gradient(x)[1]

    def read(
        self, x: Numbers
    ) -> tuple[Float[Array, "..."], Float[Array, "... D"], Bool[Array, "..."]]:
        """Energy, gradient, and a mask that is True where the logarithm in the energy
        is replaced by its tangent, as in `DrDAM`. Other memories never replace it:
        there the mask is False.
        """
        energy, gradient = self.energy_and_gradient(x)
        return energy, gradient, jnp.zeros(energy.shape, bool)

    def reader(self) -> Reader:
        """Function like `read` that takes the difference x − `origin` instead of x, for
        many calls. Everything that does not depend on the states is computed once, by
        this method.
        """
        return self.read

    @property
    def origin(self) -> Float[Array, "*D"]:
        """Point that is subtracted from a state before `reader` or `certified` takes
        it, so that data far from 0 lose no digits.
        """
        return jnp.zeros(())

    def certified(self, x: Numbers) -> Bool[Array, "..."]:
        """True where rounding cannot change the retrieved pattern; it takes the
        difference x − `origin`. By default True everywhere, without a check.
        """
        return jnp.ones(jnp.shape(jnp.asarray(x))[:-1], bool)

    @property
    def empty(self) -> Bool[Array, ""]:
        """True if nothing is stored."""
        return jnp.zeros((), bool)


@jax.jit
def _energy(memory: EnergyMemory, x: Array) -> Array:
    """The energy in a program of its own, from which the compiler removes the
    gradient: half the work.
    """
    return memory.energy_and_gradient(x)[0]


class Retrieval(Module):
    """Result of `retrieve`: the final states, and the energies on the way to them.

    Attributes:
        x: Final states (..., D).
        energies: Energy before each step and at the end (..., max_steps + 1); constant
            after the query has converged.
        steps: Steps taken (...).
        converged: True if the last step moved no free entry by more than tol (...).
        floored: Fraction of the steps that started where the energy's logarithm was
            replaced by its tangent, as described for `DrDAM`; 0 for an exact memory
            (...).
        outcome: A `checks.Outcome` per query (...): NOT_FINITE where the state is not
            finite, EMPTY where nothing is stored.
        certified: True where rounding is not expected to have noticeably changed the
            result (...): `memory.certified` is True at the final state, and `tol` is 0
            or at least the rounding error of the state. Where False, use double
            precision or a larger `tol`.

    >>> import numpy as np, rankone as ro
    >>> found = ro.retrieve(ro.MrDAM(np.eye(3), beta=20.0), [[0.9, 0.2, 0.0], [0.0, 0.1, 0.8]])
    >>> np.asarray(found.x).round(2).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    >>> found.converged.tolist(), found.certified.tolist(), found.outcome.tolist()
    ([True, True], [True, True], [0, 0])
    """

    x: Float[Array, "... D"]
    energies: Float[Array, "... steps"]
    steps: Int[Array, "..."]
    converged: Bool[Array, "..."]
    floored: Float[Array, "..."]
    outcome: Int[Array, "..."]
    certified: Bool[Array, "..."]


def reader_of(memory: Memory) -> Reader:
    """Reader of a memory: the result of its `reader` method, or a function that reads
    the memory if its class has no such method.
    """
    if hasattr(memory, "reader"):
        return memory.reader()
    if hasattr(memory, "read"):
        return memory.read
    return lambda x: (*memory.energy_and_gradient(x), jnp.zeros(x.shape[:-1], bool))


def check_memory(memory: Any) -> None:
    """ValueError unless `memory` is a `Memory` that jit can take."""
    if isinstance(memory, EnergyMemory):  # because isinstance of a protocol takes long
        return
    is_memory = isinstance(memory, Memory)
    if not is_memory:
        raise ValueError(
            f"memory: got {brief(type(memory))}; it must be a MrDAM, a DrDAM, or your "
            "own class with D and energy_and_gradient."
        )
    is_leaf = jax.tree_util.all_leaves([memory])
    if is_leaf:
        raise ValueError(
            f"memory: got {brief(type(memory))}; it must be a pytree: register the "
            "class with jax.tree_util.register_dataclass."
        )
