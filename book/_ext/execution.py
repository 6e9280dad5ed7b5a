"""Executes the chapters side by side; keys the cache on the package and the records, which the cache does not see."""

import hashlib
import os
import shutil
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import yaml
from jupyter_cache import get_cache
from jupyter_cache.executors import load_executor
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.display import status_iterator

CACHE = Path("_build/.jupyter_cache")
READ = ("src", "experiments/results", "benchmarks/results")  # what chapters import, and the records that they draw


def sources_hash(root: Path) -> str:
    """Hash of the names and contents of all that chapters read beside their own text."""
    digest = hashlib.sha256()
    for path in sorted(path for folder in READ for path in (root / folder).rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def choose_cache(app: Sphinx, config: Config) -> None:
    """Give this state of what chapters read a cache of its own; a page that was read with another is read again."""
    root = Path(app.srcdir)
    cache = root / CACHE / sources_hash(root)
    for old in (root / CACHE).glob("*"):
        if old != cache:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    config.nb_execution_cache_path = str(cache)


def execute_ahead(app: Sphinx) -> None:
    """Execute what is not in the cache, one chapter a core; MyST-NB then finds it there, or reports its failure."""
    toc = yaml.safe_load((Path(app.srcdir) / "_toc.yml").read_text(encoding="utf-8"))
    pages = [entry["file"] for part in toc["parts"] for entry in part["chapters"]]
    paths = [Path(app.srcdir) / f"{page}.md" for page in (toc["root"], *pages)]
    cache = get_cache(app.config.nb_execution_cache_path)
    for path in paths:
        if "kernelspec:" in path.read_text(encoding="utf-8")[:400]:
            cache.add_nb_to_project(str(path), read_data={"name": "myst_nb_md", "type": "plugin"})
    stale = [Path(record.uri) for record in cache.list_unexecuted()]
    stale.sort(key=lambda path: path.stat().st_size, reverse=True)  # long ones first: no core waits at the end

    def execute(path: Path) -> str:
        load_executor("local-serial", cache).run_and_cache(
            filter_uris=[str(path)], timeout=app.config.nb_execution_timeout
        )
        return path.stem

    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        done = (job.result() for job in as_completed([pool.submit(execute, path) for path in stale]))
        for _ in status_iterator(done, "executing... ", "darkgreen", len(stale), app.verbosity):
            pass
    finally:  # an interrupt waits for the chapters that are being executed, not for all
        pool.shutdown(cancel_futures=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, ahead of MyST-NB."""
    app.connect("config-inited", choose_cache, priority=100)
    app.connect("builder-inited", execute_ahead)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
