"""The retrieval explorer: store pictures, corrupt one, and watch the exact and the
distributed memory descend.
"""

import time
import zlib
from pathlib import Path
from typing import Any

import jax
import numpy as np
import traitlets
from numpy.typing import NDArray

from rankone._checks import array, brief, choice, host, integer, renamed
from rankone.data import photograph_names, photographs
from rankone.memory import DrDAM, RandomFeatures, Retrieval, retrieve
from rankone_book.widgets._explorer import Explorer, Settings

__all__ = ["RetrievalExplorer"]

_MOST = 500  # random patterns that the page can draw
_QUESTIONS = (
    "start",
    "beta",
    "features",
    "memories",
    "black",
    "threshold",
    "more",
    "figure3",
    "figure1",
    "figure2",
)


class RetrievalExplorer(Explorer):
    """Two memories side by side in the page, and the same run in JAX when there is a
    Jupyter kernel.

    The page computes with Hadamard features drawn from JAX's own generator, so
    `rankone` gets the same numbers from the same seed. Pressing "Run in JAX" in the
    page (or calling `run`) retrieves with the package, on whatever device JAX uses;
    `patterns`, `query` and `result` then belong to that run.

    Args:
        pictures: Pictures on offer, uint8 (n, side, side, 3), side 32 or 64; the
            shipped photographs by default.
        names: One name per picture, for readers and screen readers.
        detail: Finest side of the shipped photographs, 32 or 64; by default what `size`
            asks for. With 64 the page also offers the settings of the paper's Figs 1
            and 2; in the book it fetches 150 kB when a reader chooses one.
        questions: Names of the page's questions that get a button, such as "beta",
            "features" and "memories"; by default five have one, and a menu has the
            others.

    Attributes:
        settings: Settings that the page starts with: collection ("photographs" or
            "bits": random binary patterns), size (pixels or bits per side: 32 or 64, 10
            or 16), K (the first K of the collection are stored), without and also
            (lists of indices: which of the K are not stored, and which others are),
            target (index of the true picture), beta, Y (frequencies), eta (step size),
            steps, basis (as in `RandomFeatures`), seed; for the query: fraction of the
            true picture that is covered, side ("top", "bottom", "left", "right" or
            "box": what is covered), fill ("grey", "black", "white" or "noise": with
            what), noise (standard deviation of noise on the rest, in units of the range
            from black to white), flips (fraction of the bits that are flipped), clamp
            (True: uncovered pixels keep their values); for the page: across ("beta" or
            "K": horizontal axis of its map of retrieval errors, whose other axis is Y),
            inside (how far the panel that shows the vector T is opened, from level 0,
            one frequency, to 4, one step; -1 if it is closed).
        patterns: The patterns (K, D) of the last run in JAX, or None.
        query: Its query (D,), or None.
        result: Its `Retrieval`, or None.
    """

    _esm = Path(__file__).parent / "static" / "retrieval.js"
    _takes = Settings.read("retrieval")
    pictures = traitlets.Bytes(
        help="Pictures to choose from (n, side, side, 3), packed into bytes."
    ).tag(sync=True)
    finer = traitlets.Bytes(
        help="The same pictures with 64 pixels a side; empty if there are none."
    ).tag(sync=True)
    scale = traitlets.Dict(
        help="Side of the pictures in pixels, and the number that is white."
    ).tag(sync=True)
    names = traitlets.List(traitlets.Unicode(), help="One name per picture.").tag(
        sync=True
    )
    questions = traitlets.List(
        traitlets.Unicode(),
        help="Names of the questions that have a button; if empty, those of the page's own start.",
    ).tag(sync=True)

    def __init__(
        self,
        pictures: NDArray | None = None,
        names: list[str] | None = None,
        *,
        detail: int | None = None,
        questions: list[str] | None = None,
        **settings: Any,
    ) -> None:
        """Makes a widget; show it by returning it from a cell.

        Args:
            pictures: Pictures on offer, uint8 (n, side, side, 3).
            names: One name per picture.
            detail: Finest side of the shipped photographs, 32 or 64.
            questions: Names of the questions that get a button.
            settings: Settings that the page starts with, as listed above.

        Raises:
            ValueError: If pictures, names or questions do not fit, or a setting is
                unknown or out of the page's range.
        """
        detail = (
            (64 if settings.get("size") == 64 else 32) if detail is None else detail
        )
        choice("detail", detail, (32, 64))
        finer = _packed(_shipped(64)) if pictures is None and detail == 64 else b""
        pixels, top = (
            (_shipped(32), 1020) if pictures is None else (_pixels_of(pictures), 255)
        )
        if names is None:
            names = (
                photograph_names()
                if pictures is None
                else [f"picture {i + 1}" for i in range(len(pixels))]
            )
        words = isinstance(names, list | tuple) and all(
            isinstance(name, str) for name in names
        )
        if not words or len(names) != len(pixels):
            raise ValueError(
                f"names: got {brief(f'{len(names)} of them' if words else names)}; it "
                f"must be one per picture: {len(pixels)}."
            )
        keys = [] if questions is None else questions
        if not isinstance(keys, list | tuple):
            raise ValueError(
                f"questions: got {brief(keys)}; it must be a list of their keys."
            )
        for key in keys:
            choice("questions", key, _QUESTIONS)
        count = (
            len(names)
            if settings.get("collection", "photographs") == "photographs"
            else _MOST
        )
        for name in {"target", "also", "without"} & set(settings):
            numbers = self._takes.checked({name: settings[name]})[name]
            if not np.max(numbers, initial=0) < count:
                raise ValueError(
                    f"{name}: got {brief(settings[name])}; it must be the numbers of "
                    f"pictures in the collection, 0 to {count - 1}."
                )
        scale = {"side": pixels.shape[1], "top": top}
        state = {
            "pictures": _packed(pixels),
            "finer": finer,
            "names": names,
            "scale": scale,
            "questions": list(keys),
        }
        super().__init__(state, **settings)
        self.patterns: NDArray | None = None
        self.query: NDArray | None = None
        self.result: Retrieval | None = None
        self.on_msg(self._answer)

    @renamed(Xi="patterns", step_size="eta", max_steps="steps")
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
        """Runs a retrieval of the distributed memory with the package, from the
        settings given here, and stores it in `result`.

        Args:
            patterns: Stored patterns (K, D).
            query: Where the descent starts (D,).
            clamp: Boolean (D,), True where the query is kept fixed; by default nothing
                is.
            beta: Inverse temperature.
            Y: Number of frequencies.
            eta: Step size.
            steps: Number of steps.
            basis: "sincos", "cos", "exp" or "expexp".
            seed: Seed of the features. The page's own seed gives the page's
                frequencies.
        """
        key = jax.random.key(
            integer(
                "seed", seed, "an integer from 0 to 2³² − 1", least=0, most=2**32 - 1
            )
        )
        start = array("query", query, "(D,)", 1)
        features = RandomFeatures(
            len(start), Y, key=key, basis=basis, projection="hadamard"
        )
        memory = DrDAM.store(patterns, beta, features)
        self.patterns = patterns
        self.query = query
        self.result = retrieve(
            memory, start, step_size=eta, max_steps=steps, tol=0, clamp=clamp
        )
        return self.result

    def _answer(self, _: Any, content: dict[str, Any], buffers: list[Any]) -> None:
        """Answer the page, which sends "hello" to learn if there is a kernel, and "run"
        with its patterns, query and mask.
        """
        reply = {"id": content["id"], "device": _device()}
        reply_buffers = []
        if content["kind"] == "run":
            try:
                reply_buffers = [self._timed_run(reply, content, buffers)]
            except (
                Exception
            ) as error:  # the page shows it; a traceback in the kernel would go unseen
                reply["error"] = f"{type(error).__name__}: {error}"
        self.send(reply, buffers=reply_buffers)

    def _timed_run(
        self, reply: dict[str, Any], content: dict[str, Any], buffers: list[Any]
    ) -> bytes:
        patterns, query = (np.frombuffer(buffer, np.float32) for buffer in buffers[:2])
        clamp = np.frombuffer(buffers[2], np.uint8).astype(bool)
        options = {
            name: content[name]
            for name in ("beta", "Y", "eta", "steps", "basis", "seed")
        }
        begun = time.perf_counter()
        result = self.run(patterns.reshape(content["K"], -1), query, clamp, **options)
        x = np.asarray(result.x, np.float32)
        reply["seconds"] = time.perf_counter() - begun
        reply["energy"] = float(result.energies[-1])
        reply["steps"] = int(result.steps)
        return x.tobytes()


def _shipped(side: int) -> NDArray:
    """The photographs as integers: bytes for 64 pixels a side, and for 32 sums of four
    bytes, where 1020 is white.
    """
    return (
        np.round((1020 if side == 32 else 255) * photographs(side))
        .astype(int)
        .reshape(-1, side, side, 3)
    )


def _pixels_of(pictures: NDArray) -> NDArray:
    pixels = np.asarray(host("pictures", pictures))
    fits = (
        pixels.dtype == np.uint8
        and pixels.ndim == 4
        and pixels.shape[1:] in ((64, 64, 3), (32, 32, 3))
    )
    if not fits:
        raise ValueError(
            f"pictures: got {pixels.dtype} {pixels.shape}; "
            "it must be uint8 (n, 64, 64, 3) or (n, 32, 32, 3)."
        )
    return pixels.astype(int)


def _packed(pixels: NDArray) -> bytes:
    """Integers (n, side, side, 3) compressed without loss, to two thirds of the size
    that deflate alone would leave.

    Green, then red − green and blue − green, each as residuals of the median edge
    predictor of JPEG-LS, in zigzag code, low bytes before high ones, deflated.
    frontend/kit/sheet.js undoes it.
    """
    green = pixels[..., 1]
    planes = np.stack([green, pixels[..., 0] - green, pixels[..., 2] - green])
    around = np.pad(planes, ((0, 0), (0, 0), (1, 0), (1, 0)))
    left = around[..., 1:, :-1]
    above = around[..., :-1, 1:]
    corner = around[..., :-1, :-1]
    low = np.minimum(left, above)
    high = np.maximum(left, above)
    foreseen = np.where(
        corner >= high, low, np.where(corner <= low, high, left + above - corner)
    )
    residual = planes - foreseen
    words = np.where(residual >= 0, 2 * residual, -2 * residual - 1)
    return zlib.compress(
        (words & 255).astype(np.uint8).tobytes()
        + (words >> 8).astype(np.uint8).tobytes(),
        9,
    )


def _device() -> str:
    return jax.devices()[0].device_kind
