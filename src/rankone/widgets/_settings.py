"""Numbers that a widget is given: checked, and as Python has them, since they go to the page as JSON."""

from typing import Any

from rankone._checks import check, integer, real

__all__ = ["counted", "within"]


def within(name: str, value: Any, low: float, high: float) -> float:
    """`value` as a Python number from `low` to `high`, an integer where it was one.

    Raises:
        ValueError: If it is not one real number, or out of range.
    """
    wanted = f"a number between {low:g} and {high:g}"
    number = real(name, value, wanted)
    check(number is not None and low <= number <= high, name, value, wanted)
    assert number is not None
    return int(number) if hasattr(value, "__index__") else number


def counted(name: str, value: Any, low: int, high: int) -> int:
    """`value` as a Python integer from `low` to `high`.

    Raises:
        ValueError: If it is not an integer, or out of range.
    """
    return integer(name, value, f"an integer between {low} and {high}", least=low, most=high)
