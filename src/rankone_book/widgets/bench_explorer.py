"""The memory bench: pairs of a key and a value to drag, and one slider for how they are
written.
"""

from pathlib import Path

from rankone_book.widgets._explorer import Explorer, Settings

__all__ = ["BenchExplorer"]


class BenchExplorer(Explorer):
    """The memory bench: keys on a line or in the plane, the values read along the line
    or over the plane, and their errors, for each way of writing.

    The slider `way` runs through values of (earlier, later, slack), arguments of
    `rankone.theory.one_rule.partial_solve`: (0, 0, 0) writes all pairs at once, (1, 0,
    0) one after another, (1, 1, 1/ω) is ridge with the weight ω of every pair, and (1,
    1, 0) is exact. These four, at `way` 0, 1, 2 and 3, are `BatchStep`, `InSequence`,
    `Ridge` and `Exact` of `rankone.writes`. The page computes them in JavaScript, and
    tests compare it with JAX. The true values are 0.8 sin(4x) cos(2y), with y = 0 on
    the line.

    Attributes:
        settings: Settings that the page starts with: view ("line" or "plane"), pairs
            (n, 3): x, y and a number that is added to the true value, way (0 to 3),
            divide (True to divide each answer by that of a memory whose values are all
            1), width (of the kernel), kernel ("laplace" or "gaussian"), noise (standard
            deviation of what is added to all values besides), omega (the weight ω),
            rounds (a power of two: how often all pairs are written, each time with the
            residuals that are left), backward (the last pair is written first), Y
            (random frequencies; 0 for the kernel itself), seed (of noise and
            frequencies).

    >>> from rankone_book.widgets import BenchExplorer
    >>> BenchExplorer(view="plane", way=2, divide=True).settings
    {'view': 'plane', 'way': 2, 'divide': True}
    """

    _esm = Path(__file__).parent / "static" / "bench.js"
    _takes = Settings.read("bench")
