"""The compiled programs of a file of tests are counted, and exceeding its budget is an
error.
"""

import compiled_programs
import jax
import numpy as np

TABLE = {"jax": jax.__version__, "most": {"a.py": 30}}


def test_each_program_is_counted_once_whether_or_not_it_is_in_the_persistent_cache() -> (
    None
):
    # one program, which is in the cache the second time
    double = jax.jit(lambda x: 2 * x)
    again = jax.jit(lambda x: 2 * x)
    before = compiled_programs.compiled
    for size in (2, 3, 3, 2):
        double(np.ones(size))
    assert compiled_programs.compiled - before == 2
    again(np.ones(2))
    assert compiled_programs.compiled - before == 3


def test_growth_beyond_the_budget_is_an_error_and_less_is_not() -> None:
    assert compiled_programs.excess("a.py", 30, TABLE) is None
    assert "a.py compiles 31 programs, its budget is 30" in str(
        compiled_programs.excess("a.py", 31, TABLE)
    )


def test_a_new_file_has_a_small_budget() -> None:
    assert compiled_programs.excess("new.py", compiled_programs.UNLISTED, TABLE) is None
    assert compiled_programs.excess("new.py", compiled_programs.UNLISTED + 1, TABLE)


def test_counts_are_not_checked_under_another_jax_version() -> None:
    assert compiled_programs.excess("a.py", 10**6, TABLE | {"jax": "0.0"}) is None
