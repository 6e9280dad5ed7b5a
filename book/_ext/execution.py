"""Keys the execution cache on the package, which the notebooks import but the cache does not see."""

import hashlib
import shutil
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

CACHE = Path("_build/.jupyter_cache")


def package_hash(src: Path) -> str:
    """Hash of the names and contents of all that chapters import."""
    digest = hashlib.sha256()
    for path in sorted(src.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.relative_to(src).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def choose_cache(app: Sphinx, config: Config) -> None:
    """Give this state of the package a cache of its own; a page that was read with another is read again."""
    root = Path(app.srcdir)
    cache = root / CACHE / package_hash(root / "src")
    for old in (root / CACHE).glob("*"):
        if old != cache:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    config.nb_execution_cache_path = str(cache)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, ahead of MyST-NB."""
    app.connect("config-inited", choose_cache, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
