"""What differs between the versions of jax that the package runs on: Colab's, recorded
in tests, to the newest.
"""

import re

import jax
import jax.experimental

__all__ = ["OLDEST", "enable_x64"]

OLDEST = "0.7.2"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)[:3]))


if _numbers(jax.__version__) < _numbers(OLDEST):
    raise ImportError(
        f"rankone needs jax {OLDEST} or newer and found {jax.__version__}: in Colab "
        "choose the latest version under Runtime > Change runtime type > Runtime "
        "version, elsewhere run `pip install --upgrade jax`."
    )

# in newer versions at the top, where the old place is deprecated
home = jax if hasattr(jax, "enable_x64") else jax.experimental
enable_x64 = home.enable_x64
