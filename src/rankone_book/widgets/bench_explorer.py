"""The memory bench: pairs of a key and a value to drag, and one slider for how they are
written.
"""

from pathlib import Path

from rankone_book.widgets._explorer import Explorer, Settings

__all__ = ["BenchExplorer"]


class BenchExplorer(Explorer):
    """The memory bench: keys on a line or in the plane, what is read everywhere, and
    its errors, however it is written.

    The slider `way` goes through (earlier, later, slack) of
    `rankone.theory.one_rule.partial_solve`: from (0, 0, 0), all pairs at once, to (1,
    0, 0), one after another; to (1, 1, 1/ω), ridge; and to (1, 1, 0), exactly. At 0, 1,
    2 and 3 it is `BatchStep`, `InSequence`, `Ridge` and `Exact` of `rankone.writes`,
    which the page computes in JavaScript; the tests hold them equal to JAX. The truth
    is 0.8 sin(4x) cos(2y), on the line at y = 0.

    Attributes:
        settings: Settings that the page starts with: view ("line" or "plane"), pairs
            (n, 3) as x, y and by how much the value is off the truth, way (0 to 3),
            divide, width (of the kernel), kernel ("laplace" or "gaussian"), noise (its
            standard deviation), omega, rounds (a power of two), backward (the last pair
            is written first), Y (random frequencies; 0 for the kernel itself), seed (of
            noise and frequencies).

    >>> from rankone_book.widgets import BenchExplorer
    >>> BenchExplorer(view="plane", way=2, divide=True).settings
    {'view': 'plane', 'way': 2, 'divide': True}
    """

    _esm = Path(__file__).parent / "static" / "bench.js"
    _takes = Settings.read("bench")
