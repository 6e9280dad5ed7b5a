"""A chapter whose execution wrote to stderr fails the build, and is not cached for the
next build.
"""

from types import SimpleNamespace

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.cache.main import CacheBundleIn

from extensions.execution.runs import CACHE, choose_cache, complains, forget_complaints


def notebook(source, stream):
    output = nbformat.v4.new_output(
        "stream", name=stream, text="Matplotlib is building the font cache\n"
    )
    kernel = {
        "kernelspec": {
            "name": "python3",
            "display_name": "Python",
            "language": "python",
        }
    }
    return nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source, outputs=[output])], metadata=kernel
    )


def test_notebooks_that_wrote_to_stderr_leave_the_cache_and_the_others_stay(tmp_path):
    cache = get_cache(tmp_path)
    for source, stream in (("print(1)", "stdout"), ("print(2)", "stderr")):
        cache.cache_notebook_bundle(
            CacheBundleIn(notebook(source, stream), f"{source}.ipynb"),
            check_validity=False,
        )
    assert [complains(notebook("", stream)) for stream in ("stdout", "stderr")] == [
        False,
        True,
    ]
    app = SimpleNamespace(config=SimpleNamespace(nb_execution_cache_path=str(tmp_path)))
    for _ in range(2):  # after a second failure there is nothing more to forget
        forget_complaints(app, None)
        sources = [
            cache.get_cache_bundle(record.pk).nb.cells[0].source
            for record in cache.list_cache_records()
        ]
        assert sources == ["print(1)"]


def test_each_state_of_the_files_that_chapters_read_has_its_own_cache(tmp_path):
    """A changed, renamed or new file gives a new cache, and a compiled file does not.
    The old cache is deleted.
    """
    sources, *records = ("src", "experiments/results", "benchmarks/results")
    chosen = []

    def choose():
        config = SimpleNamespace()
        choose_cache(SimpleNamespace(srcdir=tmp_path), config)
        chosen.append(config.nb_execution_cache_path)
        (tmp_path / chosen[-1]).mkdir(parents=True, exist_ok=True)

    for folder in (sources, *records):
        (tmp_path / folder).mkdir(parents=True)
    choose()
    first = tmp_path / sources / "first.py"
    for change in (
        lambda: first.write_text("1"),
        lambda: first.write_text("2"),
        lambda: first.rename(first.with_name("second.py")),
        *(
            lambda folder=folder: (tmp_path / folder / "record.json").write_text("{}")
            for folder in records
        ),
    ):
        change()
        choose()
    assert len(set(chosen)) == len(chosen)
    assert [str(path) for path in (tmp_path / CACHE).glob("*")] == chosen[-1:]
    compiled = tmp_path / sources / "__pycache__"
    compiled.mkdir()
    (compiled / "first.pyc").write_text("of no matter")
    choose()
    assert chosen[-1] == chosen[-2]
