"""The retrieval explorer: store pictures, corrupt one, and watch the exact and the distributed memory descend."""

import time
from pathlib import Path
from typing import Any

import jax
import numpy as np
import traitlets
from numpy.typing import NDArray

from rankone._checks import check
from rankone.data import photograph_names, photographs
from rankone.memory import DrDAM, RandomFeatures, Retrieval, retrieve
from rankone.memory.bases import BASES
from rankone.widgets._explorer import Explorer, Settings

__all__ = ["RetrievalExplorer"]

_DRAWN = {"letters": 26, "random": 32}  # collections that the page makes, and how many are in each
_MOST = 9999  # pictures


class RetrievalExplorer(Explorer):
    """Two memories side by side in the page, and the same run in JAX when there is a kernel.

    The page computes with Hadamard features drawn from JAX's own generator, so `rankone` gets the same numbers from
    the same seed. Pressing "Run in JAX" in the page (or calling `run`) retrieves with the package, on whatever
    device JAX uses; what was run is then in `patterns`, `query` and `result`.

    Attributes:
        patterns: The patterns (K, D) of the last run in JAX, or None.
        query: Its query (D,), or None.
        result: Its `Retrieval`, or None.
    """

    _esm = Path(__file__).parent / "static" / "retrieval.js"
    _takes = Settings(
        numbers={"beta": (1, 200), "eta": (0.02, 2), "fraction": (0, 1), "noise": (0, 0.5)},
        counts={"Y": (1000, 200_000), "target": (0, _MOST), "steps": (1, 1000), "seed": (0, 2**31 - 1)},
        choices={
            "size": (32, 64),
            "basis": tuple(BASES),
            "side": ("top", "bottom", "left", "right", "box"),
            "fill": ("grey", "black", "white", "noise"),
            "clamp": (True, False),
            "collection": ("photographs", *_DRAWN),
        },
        lists={"stored": (0, _MOST)},
    )
    pictures = traitlets.Bytes(help="Pictures on offer: uint8 (n, 64, 64, 3).").tag(sync=True)
    names = traitlets.List(traitlets.Unicode(), help="One name per picture.").tag(sync=True)

    def __init__(self, pictures: NDArray | None = None, names: list[str] | None = None, **settings: Any) -> None:
        """Makes a widget; show it by returning it from a cell.

        Args:
            pictures: Pictures on offer, uint8 (n, 64, 64, 3); the shipped photographs by default.
            names: One name per picture, for readers and screen readers.
            settings: What the page starts with: size (32 or 64), stored (list of indices), target, beta, Y, eta,
                steps, basis, seed, fraction, side, fill, noise, clamp, collection.

        Raises:
            ValueError: If the pictures or names do not fit, or a setting is unknown or out of the page's range.
        """
        pixels = _shipped() if pictures is None else np.asarray(pictures)
        fits = pixels.dtype == np.uint8 and pixels.ndim == 4 and pixels.shape[1:] == (64, 64, 3)
        check(fits, "pictures", f"{pixels.dtype} {pixels.shape}", "uint8 (n, 64, 64, 3)")
        if names is None:
            names = photograph_names() if pictures is None else [f"picture {i + 1}" for i in range(len(pixels))]
        check(len(names) == len(pixels), "names", f"{len(names)} of them", f"one per picture: {len(pixels)}")
        held = _DRAWN.get(settings.get("collection", "photographs"), len(names))
        for name in {"target", "stored"} & set(settings):
            chosen = self._takes.checked({name: settings[name]})[name]
            wanted = f"the numbers of pictures in the collection, 0 to {held - 1}"
            check(bool(np.max(chosen) < held), name, settings[name], wanted)
        super().__init__({"pictures": pixels.tobytes(), "names": names}, **settings)
        self.patterns: NDArray | None = None
        self.query: NDArray | None = None
        self.result: Retrieval | None = None
        self.on_msg(self._answer)

    def run(
        self,
        patterns: NDArray,
        query: NDArray,
        clamp: NDArray | None = None,
        *,
        beta: float,
        Y: int,
        eta: float = 0.1,
        steps: int = 300,
        basis: str = "sincos",
        seed: int = 0,
    ) -> Retrieval:
        """Retrieves with the package what the page's settings ask for, and keeps it in `result`.

        Args:
            patterns: Stored patterns (K, D).
            query: Where the descent starts (D,).
            clamp: Boolean (D,), True where the query is kept fixed; by default nothing is.
            beta: Inverse temperature.
            Y: Number of frequencies.
            eta: Step size.
            steps: Number of steps.
            basis: "sincos", "cos", "exp" or "expexp".
            seed: Seed of the features; with the page's own they have the same frequencies.
        """
        key = jax.random.key(seed)
        features = RandomFeatures(query.shape[-1], Y, key=key, basis=basis, projection="hadamard")
        memory = DrDAM.store(patterns, beta, features)
        self.patterns, self.query = patterns, query
        self.result = retrieve(memory, query, step_size=eta, max_steps=steps, tol=0, clamp=clamp)
        return self.result

    def _answer(self, _: Any, content: dict[str, Any], buffers: list[Any]) -> None:
        """The page asks "hello" to learn whether a kernel is there, and "run" with its patterns, query and mask."""
        reply, sent = {"id": content["id"], "device": _device()}, []
        if content["kind"] == "run":
            try:
                sent = [self._timed_run(reply, content, buffers)]
            except Exception as error:  # the page tells the reader; a kernel traceback would go unseen
                reply["error"] = f"{type(error).__name__}: {error}"
        self.send(reply, buffers=sent)

    def _timed_run(self, reply: dict[str, Any], content: dict[str, Any], buffers: list[Any]) -> bytes:
        patterns, query = (np.frombuffer(buffer, np.float32) for buffer in buffers[:2])
        clamp = np.frombuffer(buffers[2], np.uint8).astype(bool)
        options = {name: content[name] for name in ("beta", "Y", "eta", "steps", "basis", "seed")}
        begun = time.perf_counter()
        result = self.run(patterns.reshape(content["K"], -1), query, clamp, **options)
        x = np.asarray(result.x, np.float32)
        reply["seconds"] = time.perf_counter() - begun
        reply["energy"], reply["steps"] = float(result.energies[-1]), int(result.steps)
        return x.tobytes()


def _shipped() -> NDArray:
    return np.round(255 * photographs(64)).astype(np.uint8).reshape(-1, 64, 64, 3)


def _device() -> str:
    return jax.devices()[0].device_kind
