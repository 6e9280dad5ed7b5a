"""The interface of `ExactSearch` over an index of faiss, for those who have it (`pip install faiss-cpu`)."""

from importlib import import_module
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import ArrayLike

from rankone._checks import array, check, states
from rankone.residual.search import Neighbours, count

__all__ = ["FaissSearch"]


class FaissSearch:
    """Search by a faiss index: exact by default, approximate if you bring an index that is [S-eq2].

    Args:
        rows: Stored embeddings (n, D), kept in float32, as faiss does.
        index: A trained index of squared L2 distances, empty (the rows are added) or already holding the n rows;
            by default an `IndexFlatL2`.

    Raises:
        ImportError: If faiss is not installed.
        ValueError: If the store is empty or not finite, or the index does not fit it.
    """

    def __init__(self, rows: ArrayLike, index: Any = None):
        try:
            faiss = import_module("faiss")
        except ModuleNotFoundError as missing:
            raise ImportError("FaissSearch needs faiss: pip install faiss-cpu. ExactSearch needs nothing.") from missing
        self.rows = array("embeddings", rows, "(n, D): one stored embedding a row", 2).astype(jnp.float32)
        n, D = self.rows.shape
        self.index = faiss.IndexFlatL2(D) if index is None else index
        check(self.index.d == D, "index", f"dimension {self.index.d}", f"an index of dimension {D}")
        check(self.index.metric_type == faiss.METRIC_L2, "index", "another metric", "an index of L2 distances")
        check(self.index.ntotal in (0, n), "index", f"{self.index.ntotal} rows", f"empty or filled with these {n} rows")
        if self.index.ntotal == 0:
            self.index.add(np.asarray(self.rows))

    def __len__(self) -> int:
        return len(self.rows)

    def search(self, queries: ArrayLike, k: int) -> Neighbours:
        """The k nearest rows to queries (..., D). Not differentiable, and not inside jit."""
        count("k", k, len(self))
        q = np.asarray(states("queries", queries, self.rows.shape[1]), np.float32)
        square, indices = self.index.search(np.ascontiguousarray(q.reshape(-1, q.shape[-1])), k)
        check(indices.min(initial=0) >= 0, "k", k, "a number of neighbours that the index can find: raise its probes")
        shape = (*q.shape[:-1], k)
        return Neighbours(jnp.sqrt(jnp.maximum(square, 0)).reshape(shape), jnp.asarray(indices).reshape(shape))
