"""The explorers of the book. Their mathematics runs in the page, in JavaScript."""

from rankone_book.widgets.bench_explorer import BenchExplorer
from rankone_book.widgets.editing_explorer import EditingExplorer
from rankone_book.widgets.landscape_explorer import LandscapeExplorer
from rankone_book.widgets.mosaic_explorer import MosaicExplorer
from rankone_book.widgets.preconditioning_explorer import PreconditioningExplorer
from rankone_book.widgets.residual_explorer import ResidualExplorer
from rankone_book.widgets.retrieval_explorer import RetrievalExplorer
from rankone_book.widgets.sketch import Sketch
from rankone_book.widgets.surface_explorer import SurfaceExplorer
from rankone_book.widgets.universality_explorer import UniversalityExplorer

__all__ = [
    "BenchExplorer",
    "EditingExplorer",
    "LandscapeExplorer",
    "MosaicExplorer",
    "PreconditioningExplorer",
    "ResidualExplorer",
    "RetrievalExplorer",
    "Sketch",
    "SurfaceExplorer",
    "UniversalityExplorer",
]
