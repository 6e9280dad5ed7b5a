"""The book's widgets (`pip install rankone[widgets]`). Their mathematics runs in the page, in JavaScript."""

from rankone.widgets.bench_explorer import BenchExplorer
from rankone.widgets.editing_explorer import EditingExplorer
from rankone.widgets.landscape_explorer import LandscapeExplorer
from rankone.widgets.preconditioning_explorer import PreconditioningExplorer
from rankone.widgets.residual_explorer import ResidualExplorer
from rankone.widgets.retrieval_explorer import RetrievalExplorer
from rankone.widgets.sketch import Sketch
from rankone.widgets.universality_explorer import UniversalityExplorer

__all__ = [
    "BenchExplorer",
    "EditingExplorer",
    "LandscapeExplorer",
    "PreconditioningExplorer",
    "ResidualExplorer",
    "RetrievalExplorer",
    "Sketch",
    "UniversalityExplorer",
]
