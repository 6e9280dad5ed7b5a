"""The type checker that the tests run the package under: shapes and types as annotated, numbers as Python sees them."""

import jax
import numpy as np
from beartype import BeartypeConf, FrozenDict, beartype

NUMBERS = FrozenDict(
    {
        int: int | np.integer,
        float: float | int | np.floating | np.integer | np.ndarray | jax.Array,
    }
)
checked = beartype(conf=BeartypeConf(hint_overrides=NUMBERS))
