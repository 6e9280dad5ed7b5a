"""A chapter whose execution complained on stderr fails the build, and is not kept for the next one."""

from types import SimpleNamespace

import nbformat
from execution import complains, forget_complaints
from jupyter_cache import get_cache
from jupyter_cache.cache.main import CacheBundleIn


def notebook(source, stream):
    output = nbformat.v4.new_output("stream", name=stream, text="Matplotlib is building the font cache\n")
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python", "language": "python"}}
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source, outputs=[output])], metadata=kernel)


def test_a_complaint_leaves_the_cache_and_the_rest_stays(tmp_path):
    cache = get_cache(tmp_path)
    for source, stream in (("print(1)", "stdout"), ("print(2)", "stderr")):
        cache.cache_notebook_bundle(CacheBundleIn(notebook(source, stream), f"{source}.ipynb"), check_validity=False)
    assert [complains(notebook("", stream)) for stream in ("stdout", "stderr")] == [False, True]
    app = SimpleNamespace(config=SimpleNamespace(nb_execution_cache_path=str(tmp_path)))
    for _ in range(2):  # a second failure finds nothing more to forget
        forget_complaints(app, None)
        kept = [cache.get_cache_bundle(record.pk).nb.cells[0].source for record in cache.list_cache_records()]
        assert kept == ["print(1)"]
