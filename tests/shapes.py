"""The type checker that the tests run the package under: shapes and types as annotated,
numbers as Python sees them.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import numpy as np
from beartype import BeartypeConf, FrozenDict, beartype

NUMBERS = FrozenDict(
    {
        int: int | np.integer,
        float: float | int | np.floating | np.integer | np.ndarray | jax.Array,
    }
)
decorated = cache(beartype(conf=BeartypeConf(hint_overrides=NUMBERS)))


def checked(function: Callable) -> Callable:
    """The function under the checker, which is generated at the first call, because
    most tests call only a few functions.
    """

    def called(*args: Any, **kwargs: Any) -> Any:
        return decorated(function)(*args, **kwargs)

    return called
