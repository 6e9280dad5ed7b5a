"""The numbers that another processor prints are compared with the page."""

import nbformat
from processors import environment, figures

from rankone_book.claims import line


def test_every_figure_that_a_notebook_prints_is_compared_with_the_page():
    printed = [
        line("D-a.b", "−3·10⁻⁵", "−6·10⁻⁵"),
        line("D-a.c", "12.5 %", "12.5 %", "< 0.1"),
        line("D-a.d", "4"),
    ]
    output = nbformat.v4.new_output("stream", text="2.1 s\n" + "\n".join(printed))
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("", outputs=[output])]
    )
    assert figures(notebook) == [
        ("D-a.b", "−3·10⁻⁵", "−6·10⁻⁵", ""),
        ("D-a.c", "12.5 %", "12.5 %", "no longer holds: should be < 0.1"),
    ]


def test_programs_of_another_instruction_set_are_kept_apart(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=1")
    one = environment("SSE4_2", "Nehalem")
    other = environment("AVX2", "Zen")
    assert (
        one["XLA_FLAGS"]
        == "--xla_backend_optimization_level=1 --xla_cpu_max_isa=SSE4_2"
    )
    assert (one["OPENBLAS_CORETYPE"], other["OPENBLAS_CORETYPE"]) == ("Nehalem", "Zen")
    assert one["JAX_COMPILATION_CACHE_DIR"] != other["JAX_COMPILATION_CACHE_DIR"]
