"""Fashion-MNIST: 70,000 grey pictures of clothes in ten classes (Xiao, Rasul and
Vollgraf 2017; MIT licence).

The files are read from where the Debian package dataset-fashion-mnist installs them, or
else from the user's cache. If they are in neither place, they are downloaded once.
"""

import gzip
import os
import struct
import zlib
from functools import cache
from math import prod
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from rankone._checks import brief, choice
from rankone._module import Module

__all__ = ["CLASSES", "Fashion", "fashion_mnist"]

CLASSES = (
    *("T-shirt/top", "trouser", "pullover", "dress", "coat"),
    *("sandal", "shirt", "sneaker", "bag", "ankle boot"),
)
_SYSTEM = Path("/usr/share/datasets/fashion-mnist")
_PUBLISHED = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
# The authors print these checksums beside the links. The Debian package compresses the
# files anew, so that its checksums differ.
_CHECKSUMS = {
    "train-images-idx3-ubyte.gz": "md5:8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "train-labels-idx1-ubyte.gz": "md5:25c81989df183df01b3e8a0aad5dffbe",
    "t10k-images-idx3-ubyte.gz": "md5:bef4ecab320f06d8554ea6380940ec79",
    "t10k-labels-idx1-ubyte.gz": "md5:bb300cfdad3c16e7a12a480ee83cd310",
}
_UNSIGNED_BYTES = 0x08  # the type code in an idx header


class Fashion(Module):
    """Pictures of Fashion-MNIST, one per row, and the class of each.

    Attributes:
        images: float32 (n, 784) in [0, 1], rows of 28 pixels one after another.
        labels: int32 (n,), from 0 to 9, named in `CLASSES`.
    """

    images: Float[NDArray, "n pixels"]
    labels: Int[NDArray, " n"]


def fashion_mnist(split: str = "train") -> Fashion:
    """Fashion-MNIST's pictures, as `images` (n, 784) in [0, 1], and their `labels`
    (n,) from 0 to 9.

    Args:
        split: "train" (60,000 pictures) or "test" (10,000).

    Returns:
        The pictures as `images`, float32 (n, 784) in [0, 1], and the classes 0 to 9 as
        `labels`, int32 (n,).

    Raises:
        ValueError: If there is no such split, or a file is damaged.
        ImportError: If the files are neither on the system nor in the cache, and pooch
            is not installed.
    """
    choice("split", split, ("train", "test"))
    return _read_split("train" if split == "train" else "t10k")


@cache
def _read_split(name: str) -> Fashion:
    images = _read(_locate(f"{name}-images-idx3-ubyte.gz"))
    labels = _read(_locate(f"{name}-labels-idx1-ubyte.gz"))
    if len(images) != len(labels):
        raise ValueError(
            f"files: got {brief((images.shape, labels.shape))}; "
            "it must be as many pictures as labels."
        )
    return Fashion(
        images.reshape(len(images), -1).astype(np.float32) / 255,
        labels.astype(np.int32),
    )


def _locate(name: str) -> Path:
    """The file on the system, in the cache, or downloaded into the cache; RANKONE_DATA
    names another cache.
    """
    if (_SYSTEM / name).is_file():
        return _SYSTEM / name
    try:
        import pooch
    except ModuleNotFoundError as missing:
        raise ImportError(
            "Fashion-MNIST is not on this machine. Install the Debian package "
            "dataset-fashion-mnist, or let it be "
            "downloaded: pip install pooch"
        ) from missing
    folder = os.environ.get("RANKONE_DATA", pooch.os_cache("rankone"))
    return Path(
        pooch.retrieve(
            _PUBLISHED + name,
            _CHECKSUMS[name],
            fname=name,
            path=folder,
            progressbar=True,
        )
    )


def _read(path: Path) -> NDArray[np.uint8]:
    """An array from a gzipped idx file: two zero bytes, type, number of axes, sizes,
    then the entries.
    """
    try:
        data = gzip.decompress(path.read_bytes())
        zeros, kind, axes = struct.unpack_from(">HBB", data)
        shape = struct.unpack_from(f">{axes}I", data, 4)
    except (OSError, EOFError, zlib.error, struct.error) as error:
        raise ValueError(
            f"file: got {str(path)!r}; it must be a complete gzipped idx file; it is "
            "damaged, so fetch it again."
        ) from error
    if (zeros, kind) != (0, _UNSIGNED_BYTES):
        raise ValueError(
            f"{path!s}: got {brief(data[:4])}; "
            "it must be an idx file of unsigned bytes."
        )
    entries = np.frombuffer(data, np.uint8, offset=4 + 4 * axes)
    if entries.size != prod(shape):
        raise ValueError(
            f"{path!s}: got {entries.size} entries; it must be of {prod(shape)}, as its "
            f"shape {shape} says."
        )
    return entries.reshape(shape)
