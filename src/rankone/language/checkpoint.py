"""Networks read from folders in Hugging Face's format, and edited networks written back
to it, one tensor at a time.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Array

from rankone._checks import brief, choice
from rankone.language.architectures import (
    ARCHITECTURES,
    Architecture,
    architecture_of,
    write_config,
)
from rankone.language.tokenizer import Tokenizer
from rankone.language.transformer import Network, assemble

__all__ = ["read_checkpoint", "write_checkpoint"]

_INDEX = "model.safetensors.index.json"
_DTYPES = ("float64", "float32", "float16", "bfloat16")
# suffixes of the files beside the weights: sizes, tokenizer, templates
_BESIDE = (
    ".json",
    ".txt",
    ".model",
    ".jinja",
)


def read_checkpoint(
    folder: str | Path, *, dtype: str = "float32"
) -> tuple[Network, Tokenizer | None]:
    """Network read from a folder with `config.json` and `*.safetensors`, and its
    tokenizer, or None if the folder has no tokenizer.

    Tensors are read one at a time. Memory therefore contains the network in its final
    dtype and one tensor of the file, or two copies of this tensor while JAX copies it.

    Args:
        folder: A folder as published on Hugging Face's hub, in one file or in shards:
            llama, mistral, qwen2 or gpt2.
        dtype: Dtype of the network: "float32", or "keep" for the dtype of the embedding
            in the file if it is bfloat16 or float16, which take half the memory.

    Raises:
        ValueError: If the folder lacks a file, a weight is missing or unknown, or the
            architecture is not supported.
    """
    folder = Path(folder)
    choice("dtype", dtype, ("float32", "keep"))
    facts = _facts(folder)
    family = architecture_of(facts)
    shards = _shards(folder)
    config = family.config(facts, [name for names in shards.values() for name in names])
    weights = _weights(
        family, config.shapes(), shards, bool(facts.get("tie_word_embeddings"))
    )
    network = assemble(
        config, weights, "float32" if dtype == "float32" else _half(family, shards)
    )
    end = facts.get("eos_token_id") or 0
    return network, Tokenizer.from_folder(
        folder, end[0] if isinstance(end, list) else end
    )


def write_checkpoint(
    network: Network,
    tokenizer: Tokenizer | None,
    folder: str | Path,
    source: str | Path | None = None,
) -> Path:
    """Folder to which the network is written, in the format that `transformers` loads.

    If the `source` is given, the folder that the network came from, tensors keep their
    files, names and dtypes. An unchanged tensor is copied bit for bit; a changed tensor
    is rounded to its dtype in the source. One shard at a time is in memory. Without a
    source, one file is written in the network's own dtype.

    Args:
        network: The network, edited or not.
        tokenizer: Its tokenizer. It may be None if there is a source, because the files
            of the source's tokenizer are copied.
        folder: Where to write; the folder is created if it does not exist.
        source: The folder that the network was read from; None if there is none.

    Returns:
        The folder.

    Raises:
        ValueError: If the folder already contains weights, the network fits no
            architecture, or there is neither a source nor a tokenizer.
    """
    folder = Path(folder)
    if any(folder.glob("*.safetensors")):
        raise ValueError(
            f"folder: got {brief(str(folder))}; "
            "it must be a folder without weights: nothing is replaced."
        )
    if source is None and tokenizer is None:
        raise ValueError(
            "tokenizer: got None; "
            "it must be a Tokenizer, since there is no source to copy one from."
        )
    folder.mkdir(parents=True, exist_ok=True)
    if source is None:
        assert tokenizer is not None
        _write_new(network, tokenizer, folder)
    else:
        _rewrite(network, folder, Path(source))
    return folder


def _facts(folder: Path) -> dict[str, Any]:
    if not (folder / "config.json").is_file():
        raise ValueError(
            f"folder: got {brief(str(folder))}; it must be a folder with a config.json."
        )
    return _json(folder / "config.json")


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError(
                f"{path.name}: got {brief(content)}; it must be a JSON object."
            )
    except ValueError as error:
        raise ValueError(
            f"folder: got {path.name} in {str(path.parent)!r}; it must be a complete "
            "JSON file; it is damaged, so fetch it again."
        ) from error
    return content


def _open(path: Path) -> Any:
    """A file of tensors; it is not mapped into memory, where what was read would
    stay.
    """
    from safetensors import SafetensorError, safe_open

    try:
        return safe_open(path, "np", backend="pread")
    except (SafetensorError, OSError) as error:
        raise ValueError(
            f"folder: got {path.name} in {str(path.parent)!r}; it must be a complete "
            ".safetensors file; it is missing or breaks off, so download it again."
        ) from error


def _shards(folder: Path) -> dict[Path, list[str]]:
    """The files of weights, and the names of the tensors in each."""
    if (folder / _INDEX).is_file():
        files: Any = _json(folder / _INDEX).get("weight_map")
        if not isinstance(files, dict):
            raise ValueError(
                f"folder: got {_INDEX} without a weight_map; "
                "it must be a folder as published."
            )
        names = set(files.values())
    else:
        names = {path.name for path in folder.glob("*.safetensors")}
    shards = {}
    for path in sorted(folder / name for name in names):
        with _open(path) as file:
            shards[path] = list(file.keys())
    if not shards:
        raise ValueError(
            f"folder: got {brief(str(folder))}; "
            "it must be a folder with .safetensors files."
        )
    return shards


def _half(family: Architecture, shards: Mapping[Path, list[str]]) -> str:
    """Dtype of the embedding in the file if it is a half precision, else "float32"."""
    for path, names in shards.items():
        for name in names:
            if family.place(name) == (("embedding",), None):
                with _open(path) as file:
                    return {"BF16": "bfloat16", "F16": "float16"}.get(
                        file.get_slice(name).get_dtype(), "float32"
                    )
    return "float32"


def _weights(
    family: Architecture,
    shapes: Mapping[str, tuple[int, ...]],
    shards: Mapping[Path, list[str]],
    tied: bool,
) -> Iterator[tuple[str, int | None, np.ndarray]]:
    """Weights, each with its place in the network."""
    for path, names in shards.items():
        with _open(path) as file:
            for name in names:
                place = family.place(name)
                if place is None or (tied and place[0] == ("head",)):
                    continue
                yield from _parts(family, shapes, place, _values(file, name))


def _values(file: Any, name: str) -> np.ndarray:
    value = file.get_tensor(name)
    if str(value.dtype) not in _DTYPES:
        raise ValueError(
            f"folder: got {name} as {value.dtype}; "
            f"it must be {'of ' + ', '.join(_DTYPES)}."
        )
    return value


def _parts(
    family: Architecture, shapes: Mapping, place: tuple, value: np.ndarray
) -> Iterator[tuple]:
    names, layer = place
    if layer is None or len(names) == 1:
        yield (
            names[0],
            layer,
            value.T if family.transposed and layer is not None else value,
        )
        return
    value = value.T if family.transposed else value
    ends = np.cumsum([shapes[name][0] for name in names])
    if len(value) != int(ends[-1]):
        raise ValueError(
            f"weights of block {layer}: got {value.shape} for {names}; it must be "
            f"{ends[-1]} outputs: {', '.join(names)}."
        )
    for name, part in zip(names, np.split(value, ends[:-1]), strict=True):
        yield name, layer, part


def _tensor(
    family: Architecture, network: Network, place: tuple[tuple[str, ...], int | None]
) -> np.ndarray | None:
    """The network's own value of one of the checkpoint's tensors; None where it has
    none.
    """
    names, layer = place
    if layer is None:
        end: Array | None = getattr(network, names[0])
        return None if end is None else np.asarray(end)
    value = np.concatenate(
        [np.asarray(getattr(network.layers, name)[layer]) for name in names]
    )
    return np.ascontiguousarray(value.T) if family.transposed else value


def _rewrite(network: Network, folder: Path, source: Path) -> None:
    from safetensors.numpy import save_file

    family = architecture_of(_facts(source))
    for path, names in _shards(source).items():
        with _open(path) as file:
            tensors = {name: file.get_tensor(name) for name in names}
            metadata = file.metadata() or {"format": "pt"}
        for name, value in tensors.items():
            place = family.place(name)
            weight = None if place is None else _tensor(family, network, place)
            tensors[name] = value if weight is None else _rounded(name, value, weight)
        save_file(tensors, folder / path.name, metadata)
    for path in source.iterdir():
        if path.suffix in _BESIDE:
            shutil.copy(path, folder)


def _rounded(name: str, original: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Tensor to be stored: the original one if the network still holds the values that
    were read from it.
    """
    if np.array_equal(original.astype(weight.dtype), weight):
        return original
    with np.errstate(over="ignore"):
        value = weight.astype(original.dtype)
    if not np.isfinite(value).all():
        raise ValueError(
            f"{name}: got a weight that overflows; "
            f"it must be within the range of {original.dtype}."
        )
    return value


def _write_new(network: Network, tokenizer: Tokenizer, folder: Path) -> None:
    from safetensors.numpy import save_file

    facts = write_config(network.config)
    family = ARCHITECTURES[facts["model_type"]]
    places = family.tensors(network.config).items()
    values = {name: _tensor(family, network, place) for name, place in places}
    tensors = {name: value for name, value in values.items() if value is not None}
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    facts |= {
        "tie_word_embeddings": network.head is None,
        "eos_token_id": tokenizer.end,
    }
    facts |= {"dtype": str(network.embedding.dtype), "bos_token_id": None}
    (folder / "config.json").write_text(json.dumps(facts, indent=2))
    tokenizer.save(folder)
