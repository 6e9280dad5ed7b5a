"""The book's widgets (`pip install rankone[widgets]`). Their mathematics runs in the page, in JavaScript."""

from rankone.widgets.editing import EditingExplorer
from rankone.widgets.preconditioning import PreconditioningExplorer
from rankone.widgets.residual import ResidualExplorer
from rankone.widgets.retrieval import RetrievalExplorer
from rankone.widgets.universality import UniversalityExplorer

__all__ = [
    "EditingExplorer",
    "PreconditioningExplorer",
    "ResidualExplorer",
    "RetrievalExplorer",
    "UniversalityExplorer",
]
