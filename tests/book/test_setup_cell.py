"""The first code cell of each notebook installs what is missing, and nothing else."""

import ast
import re
from pathlib import Path

import nbformat
import pytest
from setup_cell import needed

ROOT = Path(__file__).parents[2]
HTML = ROOT / "_build" / "html"
CHAPTERS = sorted(p.stem for p in (ROOT / "book" / "chapters").glob("*.md") if "kernelspec" in p.read_text("utf-8"))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_set_up_cell_never_installs_jax(chapter: str) -> None:
    setup = next(
        cell.source
        for cell in nbformat.read(HTML / "notebooks" / f"{chapter}.ipynb", as_version=4).cells
        if cell.cell_type == "code"
    )
    needed = ast.literal_eval(re.search(r"needed = (.*)", setup)[1])  # type: ignore[index]
    assert not {"jax", "jaxlib", "numpy", "rankone"} & {*needed, *needed.values()}
    assert setup.count('"--no-deps", "rankone') == 1


def test_what_a_chapter_needs_is_found_through_the_package(tmp_path: Path) -> None:
    (tmp_path / "src" / "rankone").mkdir(parents=True)
    (tmp_path / "src" / "rankone" / "__init__.py").write_text("import jax\n")
    (tmp_path / "src" / "rankone" / "figures.py").write_text("import matplotlib\n\n\ndef f():\n    import plotly\n")
    (tmp_path / "src" / "rankone" / "shown.py").write_text("from rankone import figures\n")
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["jax>=0.10", "tqdm>=4"]\n')
    assert set(needed(tmp_path, ["import rankone as ro\nimport re"])) == {"tqdm"}
    assert set(needed(tmp_path, ["from rankone.figures import f"])) == {"tqdm", "matplotlib", "plotly"}
    assert set(needed(tmp_path, ["from rankone.shown import g"])) == {"tqdm", "matplotlib"}
    assert needed(tmp_path, ["def g():\n    import sklearn"])["sklearn"] == "scikit-learn"
