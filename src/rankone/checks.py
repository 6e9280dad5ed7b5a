"""Checks of values, and outcomes: result codes that report a failure where no error can
be raised, as inside jit.

Shapes and types are always checked, which takes some 10 to 50 µs per call. Values (NaN,
infinity, probabilities that do not sum to 1) are checked in every call if they are on
the host, where reading them costs nothing. Values on a device are checked only when an
object is made from them, so that later calls do not wait for the device.
Inside a block `with value_checks(False):` the checks of values are off.

Inside jit no error about values is raised. Instead, results contain an `Outcome`.
`equinox.error_if` could raise an error there, but it calls back to the host, stops a
whole batch for one bad entry, and returns no results at all. An outcome is one integer
per result, which passes through vmap and scan.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from enum import IntEnum

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Int

from rankone import _checks

__all__ = ["Outcome", "outcome", "value_checks"]


def value_checks(enabled: bool) -> AbstractContextManager[None]:
    """Context manager that turns the checks of values on or off inside its block.

    Args:
        enabled: False to turn the checks off, where the inputs are known to be good and
            every microsecond counts.

    >>> import rankone as ro
    >>> with ro.checks.value_checks(False):
    ...     memory = ro.MrDAM([[0.0, 1.0], [1.0, 0.0]], beta=2.0)
    """
    return _set_to(_checks.boolean("enabled", enabled))


@contextmanager
def _set_to(enabled: bool) -> Iterator[None]:
    token = _checks.enabled.set(enabled)
    try:
        yield
    finally:
        _checks.enabled.reset(token)


class Outcome(IntEnum):
    """Result code of a computation: 0 if it succeeded, otherwise the kind of failure.
    Results store it as an integer array, so that it also exists inside jit. The
    failures are SINGULAR, DEPENDENT, NOT_FINITE and EMPTY, and `message` explains each.

    The codes are 0 OK, 1 SINGULAR (the second moments C, or another matrix, are
    singular), 2 DEPENDENT (the keys are linearly dependent), 3 NOT_FINITE (the result
    has NaN or infinity) and 4 EMPTY (nothing is stored).

    >>> import jax, numpy as np, rankone as ro
    >>> edit = jax.jit(ro.rank_one_edit)(np.eye(2), np.zeros((2, 2)), np.ones(2), np.ones(2))
    >>> ro.checks.Outcome(int(edit.outcome)).message
    'the second moments C are singular in this precision: add a ridge'
    """

    OK = 0
    SINGULAR = 1
    DEPENDENT = 2
    NOT_FINITE = 3
    EMPTY = 4

    @property
    def message(self) -> str:
        """Meaning of the code, and what to try."""
        return _MESSAGES[self]


_MESSAGES = {
    Outcome.OK: "all is well",
    Outcome.SINGULAR: "the second moments C are singular in this precision: add a ridge",
    Outcome.DEPENDENT: "the keys are linearly dependent: drop repeated ones, or relax with omega",
    Outcome.NOT_FINITE: "the result has NaN or infinity: take a smaller step, or rescale the input",
    Outcome.EMPTY: "nothing is stored",
}


def outcome(*cases: tuple[Bool[ArrayLike, "..."], Outcome]) -> Int[Array, "..."]:
    """The first outcome whose condition holds, OK if none does.

    Args:
        cases: Pairs of a boolean array, the condition, and its outcome. The most
            serious outcome comes first.
    """
    code: Array | np.int32 = np.int32(Outcome.OK)
    # In reverse, so that the first case overwrites the others. `jnp.select` would
    # search for the first case, which takes as long as a small matrix product.
    for condition, value in reversed(cases):
        code = jnp.where(condition, np.int32(value), code)
    return jnp.asarray(code)
