"""The rate of ResMem as the paper prints it, with constant 1.

The claims S-eq21, S-eq41 and S-eq42 use the lemma; S-bul and S-5.1txt are about the
theorem.
"""

import numpy as np

from rankone._annotated import checked
from rankone._checks import Numbers, integer
from rankone.theory.nearest_neighbour import Risk

__all__ = ["lemma_printed", "theorem_printed"]


@checked
def lemma_printed(n: Numbers, d: int) -> Risk:
    """Lemma D.1 as printed, with constant 1: d² [log(n^(1/d))/n]^(1/d) [S-lemD.1]. It
    is 0 at n = 1.

    The lemma bounds the mean squared distance to the nearest of n points.
    """
    n = np.asarray(n, float)
    d = integer("d", d)
    return d**2 * (np.log(n) / d / n) ** (1 / d)


@checked
def theorem_printed(n: Numbers, d: int, L: float) -> Risk:
    """Theorem 5.3 as printed, with constant 1: d²L² n^(−2/3) + d²(1 − L)²
    [log(n^(1/d))/n]^(1/d) [S-thm5.3].

    The theorem bounds the risk of ResMem, for a base model of norm at most L.
    """
    return d**2 * L**2 * np.asarray(n, float) ** (-2 / 3) + (
        1 - L
    ) ** 2 * lemma_printed(n, d)
