"""Compatibility code for the versions of JAX that the package supports, from the
version on Colab, which the tests record, to the newest.
"""

import re
from typing import Any

import jax
import jax.experimental

__all__ = ["CALLS", "OLDEST", "bind", "enable_x64"]

OLDEST = "0.7.2"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)[:3]))


if _numbers(jax.__version__) < _numbers(OLDEST):
    raise ImportError(
        f"rankone needs jax {OLDEST} or newer and found {jax.__version__}: in Colab "
        "choose the latest version under Runtime > Change runtime type > Runtime "
        "version, elsewhere run `pip install --upgrade jax`."
    )

# newer versions define it at the top level, and deprecate the old place
home = jax if hasattr(jax, "enable_x64") else jax.experimental
enable_x64 = home.enable_x64

# primitives that run an inner program once, on the operands of the equation
CALLS = {"pjit", "jit", "closed_call", "core_call", "remat", "remat2", "checkpoint"}
CALLS |= {"custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"}


def bind(equation: Any, values: list) -> list:
    """The results of an equation of a jaxpr for other operands."""
    params = equation.primitive.get_bind_params(equation.params)
    # `get_bind_params` returns a pair up to jax 0.9
    functions, params = params if isinstance(params, tuple) else ((), params)
    outs = equation.primitive.bind(*functions, *values, **params)
    return list(outs) if equation.primitive.multiple_results else [outs]
