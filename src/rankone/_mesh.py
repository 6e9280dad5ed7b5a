"""The placement of arrays over a mesh of devices, and programs that each device runs on
its own part.

A placed object is of the same class as before, with one more static field. Its big
array is split along one axis of the mesh; all else lies on every device. What reads it
runs under `jax.shard_map`: each device computes with its own part, and only sums,
maxima or the best few of each device travel. Left to the compiler, the loops over
blocks would first gather the whole array on every device.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from rankone._checks import ArgumentError, brief, choice, is_traced

__all__ = ["Placement", "placement_of", "placement_on"]

T = TypeVar("T")


@dataclass(frozen=True)
class Placement:
    """One axis of a mesh, over whose devices an array is split in equal parts.

    Attributes:
        mesh: The devices, by the names of their axes.
        axis: The axis that splits; over the others the parts are repeated.
    """

    mesh: Mesh
    axis: str | tuple[str, ...]

    @property
    def parts(self) -> int:
        """Number of parts."""
        axes = (self.axis,) if isinstance(self.axis, str) else self.axis
        return int(np.prod([self.mesh.shape[name] for name in axes]))

    def spec(self, position: int = 0) -> P:
        """The specification of an array that is split at this axis of its own."""
        return P(*[None] * position, self.axis)

    def put(self, array: Any, *spec: Any) -> jax.Array:
        """`array` on the devices of the mesh; whole on each by default."""
        sharding = NamedSharding(self.mesh, P(*spec))
        if is_traced(array):
            return jax.lax.with_sharding_constraint(array, sharding)
        return jax.device_put(array, sharding)

    def specs(self, tree: T, *names: str) -> T:
        """A tree of specifications: split where the path of a leaf has one of these
        names, repeated on each device elsewhere.
        """
        return jax.tree_util.tree_map_with_path(
            lambda path, _: self.spec() if _has(path, names) else P(), tree
        )

    def placed(self, tree: T, *names: str) -> T:
        """The tree on the mesh, split where the path of a leaf has one of these names."""
        return jax.tree_util.tree_map_with_path(
            lambda path, leaf: (
                self.put(leaf, self.axis) if _has(path, names) else self.put(leaf)
            ),
            tree,
        )

    def run(
        self, function: Callable[..., Any], arguments: tuple, specs: tuple, out: Any
    ) -> Any:
        """The result of `function`, run by each device on its parts of the arguments."""
        # The variance of values over devices is not tracked: `function` has reduced the
        # results that `out` says are equal on all devices.
        spread = jax.shard_map(
            function, mesh=self.mesh, in_specs=specs, out_specs=out, check_vma=False
        )
        return spread(*arguments)

    def __reduce__(self) -> tuple:
        ids = np.vectorize(lambda device: device.id, otypes=[int])(self.mesh.devices)
        return _restored, (ids, self.mesh.axis_names, self.axis)


def placement_on(mesh: Any, axis: Any) -> Placement:
    """The placement over an axis of a mesh, by default its first.

    Raises:
        ValueError: If it is no mesh, or has no such axis.
    """
    if not isinstance(mesh, Mesh):
        raise ArgumentError(
            "mesh",
            f"got {brief(mesh)}; it must be a mesh of devices, such as "
            "jax.make_mesh((8,), ('rows',)).",
        )
    names = mesh.axis_names
    if axis is None:
        axis = names[0]
    choice("axis", axis, names)
    return Placement(_automatic(mesh), axis)


def placement_of(array: Any) -> Placement | None:
    """The placement of an array whose rows a user has split over a mesh; None if they
    are in one place, or if the array is traced.
    """
    if not isinstance(array, jax.Array) or is_traced(array):
        return None
    sharding = array.sharding
    if not isinstance(sharding, NamedSharding) or not sharding.spec:
        return None
    axis = sharding.spec[0]
    # over another axis of the array the compiler does well by itself
    if axis is None or any(other is not None for other in sharding.spec[1:]):
        return None
    placement = Placement(_automatic(sharding.mesh), axis)
    return placement if placement.parts > 1 else None


def _automatic(mesh: Any) -> Mesh:
    """The mesh with axes over which the compiler may place what is not placed: those of
    `jax.make_mesh` want every operation placed by its caller.
    """
    return Mesh(mesh.devices, mesh.axis_names)


def _has(path: tuple, names: tuple[str, ...]) -> bool:
    return any(getattr(key, "name", None) in names for key in path)


def _restored(
    ids: np.ndarray, names: tuple[str, ...], axis: str | tuple[str, ...]
) -> Placement | None:
    """A placement from a copy or a pickle; None where a device of these numbers is
    missing.
    """
    devices = {device.id: device for device in jax.devices()}
    if not all(int(number) in devices for number in ids.flat):
        return None
    grid = np.vectorize(lambda number: devices[int(number)], otypes=[object])(ids)
    return Placement(Mesh(grid, names), axis)
