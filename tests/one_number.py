"""The kernels that are made from one positive number, such as a width. The tests of all
classes then include a new kernel automatically.
"""

import dataclasses
import typing

from rankone.writes import kernels

__all__ = ["KERNELS"]


def _takes_one_number(thing: object) -> bool:
    if not dataclasses.is_dataclass(thing):
        return False
    types = [field.type for field in dataclasses.fields(thing)]
    return len(types) == 1 and float in typing.get_args(types[0])


KERNELS: dict[str, type] = {
    name: getattr(kernels, name)
    for name in kernels.__all__
    if _takes_one_number(getattr(kernels, name))
}
