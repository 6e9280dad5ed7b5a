"""Base class of the explorers: it checks the settings that differ from the page's own,
and converts them to JSON.
"""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets

from rankone._checks import array, brief, choice, instance, integer, real

__all__ = ["Explorer", "Settings"]

_FOLDER = Path(__file__).parent / "settings"


@dataclass(frozen=True)  # no Module: it holds no array, and is never traced
class Settings:
    """The settings that an explorer takes, by their kind.

    The files `settings/NAME.json` hold them. The sources of the page read the same
    files, so that Python, the page and a link to a setting accept the same values.

    Attributes:
        numbers: Name → lowest and highest value.
        counts: The same, for integers.
        choices: Name → the values that it may have.
        lists: Name → lowest and highest entry of a list of integers.
        points: Name → `shape` of an array (None: any length, up to `most`) with entries
            within ±`reach`.
        sizes: Value of one setting → the values that the setting `size` may have with
            it.
        free: Names of the settings that only the page checks.
    """

    numbers: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    choices: Mapping[str, Collection[Any]] = field(default_factory=dict)
    points: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    lists: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    sizes: Mapping[str, Collection[int]] = field(default_factory=dict)
    free: Collection[str] = ()

    @classmethod
    def read(
        cls, name: str, part: str | None = None, *, free: Collection[str] = ()
    ) -> "Settings":
        """The settings that a file holds.

        Args:
            name: Its name without the ending, such as "editing".
            part: Which of its parts, where it has several.
            free: Names of the settings that only the page checks.
        """
        content = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        return cls(**(content if part is None else content[part]), free=free)

    def checked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Settings as they go to the page.

        Raises:
            ValueError: If a setting is unknown or out of its range.
        """
        return {name: self._setting(name, value) for name, value in settings.items()}

    def _setting(self, name: str, value: Any) -> Any:
        kinds: tuple[tuple[Mapping[str, Any], Callable[[str, Any, Any], Any]], ...] = (
            (self.numbers, _number),
            (self.counts, _count),
            (self.choices, _choice),
            (self.points, _points),
            (self.lists, _list),
            (dict.fromkeys(self.free), lambda name, value, _: value),
        )
        for table, check in kinds:
            if name in table:
                return check(name, value, table[name])
        raise ValueError(
            f"{name}: got {brief(value)}; it must be one of the settings "
            f"{', '.join(setting for table, _ in kinds for setting in table)}."
        )


class Explorer(anywidget.AnyWidget):
    """A widget whose mathematics runs in the page; a subclass names its bundle, `_esm`,
    and the settings it takes.

    Attributes:
        settings: Settings that differ from the page's own start. Some pages send all
            settings back once the reader changes one.
    """

    _takes = Settings()
    settings = traitlets.Dict(help="Settings that differ from the page's own.").tag(
        sync=True
    )

    def __init__(
        self, traits: Mapping[str, Any] | None = None, /, **settings: Any
    ) -> None:
        """Makes a widget; show it by returning it from a cell.

        Args:
            traits: Further traits of a subclass.
            settings: Settings that the page starts with, as listed above.

        Raises:
            ValueError: If a setting is unknown or out of its range.
        """
        instance(
            "traits",
            {} if traits is None else traits,
            Mapping,
            "what a subclass holds, by name",
        )
        super().__init__(settings=self._takes.checked(settings), **(traits or {}))


def _number(name: str, value: Any, bounds: tuple[float, float]) -> float:
    """A Python number, an integer where it was one."""
    low, high = bounds
    requirement = f"a number between {low:g} and {high:g}"
    number = real(name, value, requirement)
    if not (number is not None and low <= number <= high):
        raise ValueError(f"{name}: got {brief(value)}; it must be {requirement}.")
    assert number is not None
    return int(number) if hasattr(value, "__index__") else number


def _count(name: str, value: Any, bounds: tuple[int, int]) -> int:
    low, high = bounds
    return integer(
        name, value, f"an integer between {low} and {high}", least=low, most=high
    )


def _list(name: str, value: Any, bounds: tuple[int, int]) -> list[int]:
    if not isinstance(value, list | tuple):
        raise ValueError(
            f"{name}: got {brief(value)}; it must be a list of integers between "
            f"{bounds[0]} and {bounds[1]}."
        )
    return [_count(name, entry, bounds) for entry in value]


def _choice(name: str, value: Any, options: Collection[Any]) -> Any:
    choice(name, value, options)
    return value


def _points(name: str, value: Any, rule: Mapping[str, Any]) -> list:
    shape = rule["shape"]
    reach = rule["reach"]
    most = rule.get("most", np.inf)
    spec = str(tuple("n" if length is None else length for length in shape)).replace(
        "'", ""
    )
    points = np.asarray(array(name, value, spec, len(shape)), float)
    fits = all(
        length in (None, axis_length)
        for length, axis_length in zip(shape, points.shape, strict=True)
    )
    if not fits:
        raise ValueError(
            f"{name}: got shape {points.shape}; it must be of shape {spec}."
        )
    if not len(points) <= most:
        raise ValueError(
            f"{name}: got {len(points)} rows; it must be of at most {most} rows."
        )
    if not (abs(points) <= reach).all():
        raise ValueError(f"{name}: got {brief(value)}; it must be within ±{reach}.")
    return points.tolist()
