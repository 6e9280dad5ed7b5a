"""Python and the page accept the same settings: a value that one accepts, the other
accepts too.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from node import answer

from rankone_book import widgets
from rankone_book.widgets import sketch

ROOT = Path(__file__).parents[2]
FRONTEND = ROOT / "frontend"
# name of each explorer → its class
EXPLORERS = {
    name.removesuffix("Explorer").lower(): getattr(widgets, name)
    for name in widgets.__all__
    if name.endswith("Explorer")
}
# Settings that only one side checks: the existing pictures, and the landscape's view,
# which is fixed for each place of the explorer.
ONE_SIDE = {"retrieval": {"target", "also", "without"}, "landscape": {"view"}}
ADMITS = """
import { readFileSync } from "node:fs";
const { file, values } = JSON.parse(readFileSync(0, "utf-8"));
const { admits } = await import(`./${file}`);
console.log(JSON.stringify(values.map(([name, value]) => admits(name, value))));
"""
SKETCHES = """
import { readFileSync } from "node:fs";
import { within } from "./kit/address.js";
const { part, values } = JSON.parse(readFileSync(0, "utf-8"));
const exported = Object.values(await import(`./sketch/${part}.js`));
const { rules } = exported.find((one) => one.name === part && one.rules);
console.log(JSON.stringify(values.map(([name, value]) => within(rules)(name, value))));
"""


def probes(takes: Any) -> list[tuple[str, Any]]:
    """Values of every setting: the ends of its range, values beyond them, and values of
    another type.
    """
    values: list[tuple[str, Any]] = []
    for name, (low, high) in takes.numbers.items():
        values += [
            (name, value)
            for value in (low, high, (low + high) / 2, low - 1, 2 * high + 1, "many")
        ]
    for name, (low, high) in takes.counts.items():
        values += [(name, value) for value in (low, high, low - 1, high + 1, low + 0.5)]
    for name, options in takes.choices.items():
        values += [(name, value) for value in (*options, "neither", 1234)]
    for name, rule in takes.points.items():
        shape = [length or 1 for length in rule["shape"]]
        reach = rule["reach"]
        for entry in (reach, -reach, reach + 0.1):
            values.append((name, _filled(shape, entry)))
        values.append(
            (
                name,
                _filled(
                    [
                        shape[0] + 1 if rule["shape"][0] else rule["most"] + 1,
                        *shape[1:],
                    ],
                    0.0,
                ),
            )
        )
    return values


def _filled(shape: list[int], entry: float) -> Any:
    return [_filled(shape[1:], entry) for _ in range(shape[0])] if shape else entry


def is_valid(takes: Any, name: str, value: Any) -> bool:
    """True if Python accepts this value of a setting."""
    try:
        takes.checked({name: value})
    except ValueError:
        return False
    return True


def test_every_widget_of_the_front_end_has_its_class_in_the_package() -> None:
    built = {path.parent.name for path in FRONTEND.glob("*/index.js")}
    assert built - {"host", "sketch"} == EXPLORERS.keys(), (
        "src/rankone_book/widgets/__init__.py: import NameExplorer, and add it to "
        "__all__, where frontend/name/index.js is there"
    )


@pytest.mark.parametrize("name", EXPLORERS)
def test_an_explorer_has_its_sources_tests_and_a_place_in_a_chapter(name: str) -> None:
    home = "src/rankone_book/widgets"
    files = [
        *(f"frontend/{name}/{file}.js" for file in ("index", "settings", "presets")),
        f"{home}/settings/{name}.json",
        f"{home}/{name}_explorer.py",
        f"{home}/static/{name}.js",
        f"tests/widgets/test_{name}.py",
        f"tests/browser/test_{name}_explorer.py",
    ]
    missing = [file for file in files if not (ROOT / file).is_file()]
    assert not missing, "`make widgets` writes what is in static; the rest is by hand"
    call = f"{EXPLORERS[name].__name__}("
    chapters = (ROOT / "book/chapters").glob("*.md")
    assert any(call in chapter.read_text("utf-8") for chapter in chapters), (
        f"no cell of book/chapters shows {call})"
    )


@pytest.mark.parametrize("name", EXPLORERS)
def test_python_and_the_page_take_the_same_values(name: str) -> None:
    takes = EXPLORERS[name]._takes
    files = [
        f"{name}/{path.name}"
        for path in (FRONTEND / name).glob("*.js")
        if re.search(
            r"^export (const|function) admits\b", path.read_text("utf-8"), re.M
        )
    ]
    assert len(files) == 1, f"one module of frontend/{name} must export `admits`"
    (file,) = files
    values = [
        probe for probe in probes(takes) if probe[0] not in ONE_SIDE.get(name, ())
    ]
    assert values
    page = dict(
        zip(
            map(repr, values),
            answer(ADMITS, {"file": file, "values": values}),
            strict=True,
        )
    )
    assert {
        probe: is_valid(takes, *value)
        for probe, value in zip(page, values, strict=True)
    } == page


@pytest.mark.parametrize("name", sketch._TAKES)
def test_python_and_a_sketchs_page_take_the_same_values(name: str) -> None:
    takes = sketch._TAKES[name]
    values = probes(takes)
    page = answer(SKETCHES, {"part": name, "values": values})
    assert [is_valid(takes, *value) for value in values] == page
