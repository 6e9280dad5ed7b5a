"""The residual explorer: a base that is too small, the memory of its residuals, and the
risk of both as the data grow.
"""

from pathlib import Path

from rankone_book.widgets._explorer import Explorer, Settings

__all__ = ["ResidualExplorer"]


class ResidualExplorer(Explorer):
    """ResMem for a linear function in d dimensions, for two classes in a plane, and for
    two waves around a circle. The page also shows the bound as the paper prints it, and
    the laws that the error follows.

    The page computes everything, from JAX's own random numbers:
    `rankone.theory.linear_resmem.sample_ball` with the same key gives the page's
    points. With a Jupyter kernel, the reader's changes come back in `settings`.

    Attributes:
        settings: Settings that differ from the page's own start: view ("line", "plane"
            or "waves"), L (capacity of the base), k, sigma (neighbours and the width of
            their weights), n, d, noise (variance of the noise in the labels of the
            linear function), flips (fraction of wrong labels, in the plane), frequency
            (of the rough wave) and learns ("smooth" or "rough": the wave that the base
            knows), seed.
    """

    _esm = Path(__file__).parent / "static" / "residual.js"
    _takes = Settings.read("residual")
