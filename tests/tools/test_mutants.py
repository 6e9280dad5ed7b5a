"""The table of mutants fits the code: a formula that is rewritten takes its row along."""

from pathlib import Path

import mutants

ROOT = Path(__file__).parents[2]


def test_every_row_names_a_piece_of_its_file_that_occurs_once_and_tests_that_exist():
    rows = mutants.read(ROOT / "tests" / "mutants.yml", [])
    found = {row["id"]: (ROOT / "src" / "rankone" / row["file"]).read_text("utf-8").count(row["old"]) for row in rows}
    assert {name: times for name, times in found.items() if times != 1} == {}
    assert {test for row in rows for test in row["tests"].split() if not (ROOT / "tests" / test).is_file()} == set()
