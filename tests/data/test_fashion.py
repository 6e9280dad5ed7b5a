"""Fashion-MNIST is found on the system, then in the cache, then downloaded with a
checksum; nothing here downloads.
"""

import gzip
import struct

import numpy as np
import pooch
import pytest
from refusals import refused

from rankone.data import fashion

NAMES = ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")


def idx(array, kind=8):
    head = struct.pack(f">HBB{array.ndim}I", 0, kind, array.ndim, *array.shape)
    return gzip.compress(head + array.astype(np.uint8).tobytes())


@pytest.fixture
def pictures():
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (5, 28, 28)), rng.integers(0, 10, 5)


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """A machine without the system package and with an empty cache."""
    monkeypatch.setattr(fashion, "_SYSTEM", tmp_path / "system")
    monkeypatch.setenv("RANKONE_DATA", str(tmp_path / "cache"))
    fashion._read_split.cache_clear()
    yield tmp_path
    fashion._read_split.cache_clear()


def put(folder, pictures):
    folder.mkdir()
    for name, array in zip(NAMES, pictures, strict=True):
        (folder / name).write_bytes(idx(array))


def test_files_of_the_system_package_are_used_first(nowhere, pictures, monkeypatch):
    put(nowhere / "system", pictures)
    monkeypatch.setattr(
        pooch,
        "retrieve",
        lambda *a, **k: pytest.fail("downloads although the file is there"),
    )
    data = fashion.fashion_mnist()
    assert data.images.dtype == np.float32
    assert data.labels.dtype == np.int32
    np.testing.assert_array_equal(
        np.round(data.images * 255).reshape(5, 28, 28), pictures[0]
    )
    np.testing.assert_array_equal(data.labels, pictures[1])


def test_files_in_the_cache_are_used_if_their_checksum_is_right(
    nowhere, pictures, monkeypatch
):
    put(nowhere / "cache", pictures)
    sums = {
        name: f"md5:{pooch.file_hash(nowhere / 'cache' / name, alg='md5')}"
        for name in NAMES
    }
    monkeypatch.setattr(fashion, "_CHECKSUMS", sums)
    np.testing.assert_array_equal(fashion.fashion_mnist().labels, pictures[1])


def test_a_download_has_the_published_address_and_checksum(
    nowhere, pictures, monkeypatch
):
    put(nowhere / "elsewhere", pictures)
    downloads = []

    def retrieve(url, known_hash, fname, path, progressbar):
        downloads.append((url, known_hash, str(path)))
        return str(nowhere / "elsewhere" / fname)

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    fashion.fashion_mnist("train")
    assert [url.rsplit("/", 1)[1] for url, _, _ in downloads] == list(NAMES)
    assert all(
        known == fashion._CHECKSUMS[url.rsplit("/", 1)[1]]
        for url, known, _ in downloads
    )
    assert {path for _, _, path in downloads} == {str(nowhere / "cache")}


@pytest.mark.parametrize(
    "damage",
    [lambda b: b"\x01" + b[1:], lambda b: b[:2] + b"\x0d" + b[3:], lambda b: b[:-1]],
)
def test_a_damaged_file_is_refused(nowhere, pictures, damage):
    put(nowhere / "system", pictures)
    path = nowhere / "system" / NAMES[0]
    path.write_bytes(gzip.compress(damage(gzip.decompress(path.read_bytes()))))
    with refused(ValueError, match="train-images"):
        fashion.fashion_mnist()


@pytest.mark.parametrize(
    "damage",
    [
        lambda b: b[:-9],
        lambda b: b"PK" + b[2:],
        lambda b: b"",
        lambda b: b[:30] + b"0" * 9,
    ],
)
def test_a_file_that_cannot_be_unpacked_is_named(nowhere, pictures, damage):
    put(nowhere / "system", pictures)
    path = nowhere / "system" / NAMES[0]
    path.write_bytes(damage(path.read_bytes()))
    with refused(ValueError, match=r"file: got '.*train-images"):
        fashion.fashion_mnist()


def test_reloaded_data_equals_the_first_and_has_a_short_representation(
    nowhere, pictures
):
    put(nowhere / "system", pictures)
    data = fashion.fashion_mnist()
    assert repr(data) == "Fashion(images=f32[5,784], labels=i32[5])"
    fashion._read_split.cache_clear()
    assert fashion.fashion_mnist() == data


def test_an_unknown_split_is_refused():
    for split in ("validation", ["train"], {"a": 1}, np.array(["train", "test"])):
        with refused(ValueError, match=r"^split: got"):
            fashion.fashion_mnist(split)
