"""The condition under which a test that computes in float16 is skipped.

XLA converts float16 by an instruction (F16C). On an x86-64 processor without it, such
as one before 2012, XLA emits a call of a function that it does not link, and refuses
the program. bfloat16 needs no such instruction.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

__all__ = ["REFUSAL", "needs_float16"]


def _refusal() -> str:
    """The error with which XLA refuses to convert float16, or an empty text where it
    converts.
    """
    try:
        jax.jit(jnp.float32)(np.ones(2, np.float16))
    except jax.errors.JaxRuntimeError as error:
        if "Failed to materialize symbols" in str(error):
            return str(error).splitlines()[0]
        raise
    return ""


# computed while tests are collected, so that no file's count of programs includes this
# one
REFUSAL = _refusal()
needs_float16 = pytest.mark.skipif(
    bool(REFUSAL), reason=f"XLA does not convert float16 on this processor: {REFUSAL}"
)
