"""The placement of arrays over a mesh of devices, and programs that each device runs on
its own part.

A placed object is of the same class as before, with one more static field. Its large
array is split along one axis of the mesh, and its other arrays are on every device. The
programs that read it run under `jax.shard_map`: each device computes with its own part,
and sends only sums, maxima or its few largest entries. Without `shard_map`, the
compiler would first gather the whole array on every device for the loops over blocks.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from rankone._axes import automatic_mesh, is_explicit, on_automatic
from rankone._checks import brief, choice, instance, is_traced

__all__ = [
    "Placement",
    "automatic",
    "check_placement",
    "placement_of",
    "placement_on",
    "refuse_explicit",
]

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Placement:
    """One axis of a mesh, over whose devices an array is split in equal parts.

    Attributes:
        mesh: The mesh of devices.
        axis: Axis of the mesh over which the array is split. Along the other axes its
            parts are repeated.
    """

    mesh: Mesh
    axis: str | tuple[str, ...]

    @property
    def parts(self) -> int:
        """Number of parts."""
        axes = (self.axis,) if isinstance(self.axis, str) else self.axis
        return int(np.prod([self.mesh.shape[name] for name in axes]))

    def spec(self, position: int = 0) -> P:
        """Partition specification of an array whose axis `position` is split over the
        axis of the mesh.
        """
        return P(*[None] * position, self.axis)

    def put(self, array: Any, *spec: Any) -> jax.Array:
        """`array` on the devices of the mesh; whole on each by default."""
        sharding = NamedSharding(self.mesh, P(*spec))
        if not is_traced(array):
            return jax.device_put(array, sharding)
        with jax.sharding.use_abstract_mesh(self.mesh.abstract_mesh):
            return jax.lax.with_sharding_constraint(on_automatic(array), sharding)

    def specs(self, tree: T, *names: str) -> T:
        """Tree of partition specifications. A leaf is split if its path contains one of
        the `names`, and replicated on every device otherwise.
        """
        return jax.tree_util.tree_map_with_path(
            lambda path, _: self.spec() if _has(path, names) else P(), tree
        )

    def placed(self, tree: T, *names: str) -> T:
        """The tree on the mesh, split where the path of a leaf has one of these names."""
        specs = self.specs(tree, *names)
        return jax.tree.map(lambda leaf, spec: self.put(leaf, *spec), tree, specs)

    def run(
        self, function: Callable[..., Any], arguments: tuple, specs: tuple, out: Any
    ) -> Any:
        """The result of `function`, run by each device on its parts of the arguments."""
        # JAX need not check which results vary over devices: `function` has reduced the
        # results that `out` declares equal on all devices.
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
        ValueError: If `mesh` is not a mesh, or has no such axis.
    """
    if not isinstance(mesh, Mesh):
        raise ValueError(
            f"mesh: got {brief(mesh)}; it must be a mesh of devices, such as "
            "jax.make_mesh((8,), ('rows',))."
        )
    names = mesh.axis_names
    if axis is None:
        axis = names[0]
    choice("axis", axis, names)
    return Placement(automatic_mesh(mesh), axis)


def check_placement(placement: Any) -> None:
    """ValueError unless the value is a placement, or None."""
    if placement is not None:
        instance("placement", placement, Placement, "made by the method sharded")


def placement_of(array: Any, *, is_store: bool = False) -> Placement | None:
    """The placement of an array whose rows a user has split over a mesh; None if they
    are in one place, or if the array is traced.

    Args:
        array: Rows.
        is_store: True if the rows become the arrays of an object that is read later.

    Raises:
        ValueError: If the rows are split over explicit axes, and either are traced
            while `is_store` is True, or the caller has set a mesh with explicit axes.
    """
    if not isinstance(array, jax.Array):
        return None
    if is_traced(array):
        if is_store and is_explicit(array) and jax.typeof(array).sharding.spec[0]:
            raise _explicit_rows()
        return None
    sharding = array.sharding
    if not isinstance(sharding, NamedSharding) or not sharding.spec:
        return None
    axis = sharding.spec[0]
    # the compiler handles an array well by itself if another of its axes is split
    if axis is None or any(other is not None for other in sharding.spec[1:]):
        return None
    placement = Placement(automatic_mesh(sharding.mesh), axis)
    if placement.parts == 1:
        return None
    if is_explicit(array) and _explicit_mesh([]) is not None:
        raise _explicit_rows()
    return placement


def _explicit_rows() -> ValueError:
    return ValueError(
        "mesh: got rows that are split over explicit axes; they must be automatic here: "
        "use axis_types=(jax.sharding.AxisType.Auto,), or give the rows in one place, "
        "and split the object by its method sharded."
    )


def automatic(function: F) -> F:
    """Decorator that lets a method, or a function of an object, run where the caller
    uses a mesh with explicit axes: it computes on automatic axes of the same devices.
    Returned arrays are put on the caller's axes, with their rows split like the rows of
    the states. A returned object stays where it is.

    Raises:
        ValueError: If the object is placed on another mesh.
    """

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        inputs = (*arguments, *options.values())
        leaves = [leaf for argument in inputs for leaf in _leaves(argument)]
        explicit = _explicit_mesh(leaves)
        if explicit is None:
            return function(*arguments, **options)
        for argument in inputs:
            _check_same_mesh(explicit, getattr(argument, "placement", None))
        mesh = automatic_mesh(explicit).abstract_mesh
        with jax.sharding.use_abstract_mesh(mesh):
            moved = {name: _moved(argument) for name, argument in options.items()}
            result = function(*map(_moved, arguments), **moved)
        if hasattr(result, "placement"):
            return result
        rows = _row_axes(leaves)
        return jax.tree.map(lambda leaf: _on_explicit(leaf, explicit, rows), result)

    return call  # type: ignore[return-value]


def _leaves(argument: Any) -> list[Any]:
    """Leaves of an argument; an iterator of blocks has none before it is read."""
    return [] if isinstance(argument, Iterator) else jax.tree.leaves(argument)


def _moved(argument: Any) -> Any:
    """The argument, with its arrays on automatic axes."""
    if isinstance(argument, Iterator):
        return argument
    return jax.tree.map(on_automatic, argument)


def _check_same_mesh(explicit: Any, placement: Any) -> None:
    """ValueError if a placement is on another mesh than that with explicit axes."""
    if not isinstance(placement, Placement):
        return
    mesh = placement.mesh
    if tuple(explicit.shape.items()) != tuple(mesh.shape.items()):
        raise ValueError(
            f"mesh: got a mesh of axes {dict(mesh.shape)}, while the mesh that is set "
            f"has explicit axes {dict(explicit.shape)}; it must be the mesh that is set, "
            "or that one must have axis_types=(jax.sharding.AxisType.Auto,)."
        )


def _row_axes(leaves: list[Any]) -> tuple[tuple[int, ...], tuple]:
    """Shape (...) of states (..., D) that are split over explicit axes, and the axes;
    both empty if no rows are split.
    """
    for leaf in filter(is_explicit, leaves):
        axes = tuple(jax.typeof(leaf).sharding.spec)[:-1]
        if any(axes):
            return leaf.shape[:-1], axes
    return (), ()


def _on_explicit(
    leaf: jax.Array, explicit: Any, rows: tuple[tuple[int, ...], tuple]
) -> jax.Array:
    """A result on explicit axes: split as the states if it has a row for each of them,
    else whole on every device.
    """
    shape, axes = rows
    spec = P(*axes) if leaf.shape[: len(shape)] == shape else P()
    sharding = NamedSharding(explicit, spec)
    # if the caller has set no mesh, `reshard` needs an array that is already on
    # `explicit`
    is_known = isinstance(explicit, Mesh) and not is_traced(leaf)
    return (jax.device_put if is_known else jax.sharding.reshard)(leaf, sharding)


def refuse_explicit(placement: Placement | None, purpose: str) -> None:
    """ValueError where the caller has set a mesh with explicit axes."""
    explicit = _explicit_mesh([])
    if placement is not None and explicit is not None:
        raise ValueError(
            f"mesh: got explicit axes {dict(explicit.shape)} that are set; it must be "
            f"one of automatic axes for {purpose}: "
            "axis_types=(jax.sharding.AxisType.Auto,)."
        )


def _explicit_mesh(leaves: list[Any]) -> Any:
    """The mesh with explicit axes that the caller has set, or over which one of the
    arrays lies; None if there is no such mesh.
    """
    mesh = jax.sharding.get_abstract_mesh()
    if AxisType.Explicit in mesh.axis_types:
        return mesh
    leaf = next(filter(is_explicit, leaves), None)
    if leaf is None:
        return None
    return jax.typeof(leaf).sharding.mesh if is_traced(leaf) else leaf.sharding.mesh


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
