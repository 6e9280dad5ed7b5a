"""Around one well separated pattern the two memories stay together for ever [D-sharp9]."""

from dataclasses import dataclass
from math import expm1, inf, log1p

import numpy as np
from jaxtyping import ArrayLike

from rankone._checks import check

__all__ = ["LocalRetrieval", "local_retrieval"]


@dataclass(frozen=True)
class LocalRetrieval:
    """The local retrieval theorem around one pattern [D-sharp9]. Distances are in the unit of the patterns.

    Attributes:
        bound: On ‖x⁽ᴸ⁾ − x̂⁽ᴸ⁾‖, for starts within `radius` of the pattern; ∞ if the theorem does not apply.
        forever: The same for every number of steps.
        leak: q, a bound on the softmax weight of all other patterns in the ball.
        convexity: m₀ = 1 − βqd², a lower bound on the curvature of E in the ball.
        invariant: Whether qd + A ≤ r: neither memory leaves the ball.
        holds: Whether, besides, m₀ > 0 and η ≤ 1.
    """

    bound: float
    forever: float
    leak: float
    convexity: float
    invariant: bool
    holds: bool


def local_retrieval(
    Xi: ArrayLike, index: int, *, beta: float, radius: float, gradient_error: float, step_size: float, steps: int
) -> LocalRetrieval:
    """Both memories stay within `radius` of pattern `index`, and within `bound` of each other [D-sharp9].

    Args:
        Xi: Patterns (K, D).
        index: Which of them.
        beta: Inverse temperature, 1/unit².
        radius: r of the ball, in the unit of the patterns.
        gradient_error: A, a bound on ‖ĝ − ∇E‖ in the ball, in the same unit.
        step_size: η in (0, 1].
        steps: L.
    """
    Xi = np.asarray(Xi, float)
    check(Xi.ndim == 2 and 0 <= index < len(Xi), "index", index, "the row of a pattern in Xi (K, D)")
    s = np.delete(np.linalg.norm(Xi - Xi[index], axis=1), index)
    d = float(s.max(initial=0))
    q = float(np.exp(np.minimum(-beta / 2 * (s**2 - 2 * s * radius), 0)).sum())
    q = min(q, 1.0)
    convexity = 1 - beta * q * d**2
    invariant = q * d + gradient_error <= radius
    holds = invariant and convexity > 0 and 0 < step_size <= 1
    forever = gradient_error / convexity if holds else inf
    bound = -forever * expm1(steps * log1p(-step_size * convexity)) if holds and step_size * convexity < 1 else forever
    return LocalRetrieval(bound, forever, q, convexity, invariant, holds)
