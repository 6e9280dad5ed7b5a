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
from functools import partial, wraps
from typing import Any, TypeVar

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from rankone._checks import ArgumentError, brief, choice, is_traced

__all__ = [
    "Placement",
    "automatic",
    "placement_of",
    "placement_on",
    "refuse_explicit",
    "under_automatic",
]

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


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
            return jax.lax.with_sharding_constraint(_on_automatic(array), sharding)

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


def placement_of(array: Any, *, is_store: bool = False) -> Placement | None:
    """The placement of an array whose rows a user has split over a mesh; None if they
    are in one place, or if the array is traced.

    Args:
        array: Rows.
        is_store: True if the rows become the arrays of an object that is read later.

    Raises:
        ValueError: If the rows are split over explicit axes, and are traced to become a
            store, or the caller has set these axes.
    """
    if not isinstance(array, jax.Array):
        return None
    if is_traced(array):
        if is_store and _is_explicit(array) and jax.typeof(array).sharding.spec[0]:
            raise _explicit_rows()
        return None
    sharding = array.sharding
    if not isinstance(sharding, NamedSharding) or not sharding.spec:
        return None
    axis = sharding.spec[0]
    # over another axis of the array the compiler does well by itself
    if axis is None or any(other is not None for other in sharding.spec[1:]):
        return None
    placement = Placement(_automatic(sharding.mesh), axis)
    if placement.parts == 1:
        return None
    if _is_explicit(array) and _explicit_mesh([]) is not None:
        raise _explicit_rows()
    return placement


def _explicit_rows() -> ArgumentError:
    return ArgumentError(
        "mesh",
        "got rows that are split over explicit axes; they must be automatic here: use "
        "axis_types=(jax.sharding.AxisType.Auto,), or give the rows in one place, and "
        "split the object by its method sharded.",
    )


def automatic(method: F) -> F:
    """Decorator that lets a method of a placed object run where the caller has set a
    mesh with explicit axes. Its results are then replicated on every device.
    """

    @wraps(method)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        return under_automatic(self, partial(method, self), *arguments, **options)

    return call  # type: ignore[return-value]


def under_automatic(
    module: Any, function: Callable[..., Any], *arguments: Any, **options: Any
) -> Any:
    """Result of `function`, computed with the explicit axes of the caller's mesh turned
    into automatic ones, as in the mesh of the placed module.

    Raises:
        ValueError: If the caller's mesh is not that of the module.
    """
    placement = getattr(module, "placement", None)
    if placement is None:  # of a residual memory, the placement is that of its store
        placement = getattr(getattr(module, "store", None), "placement", None)
    if not isinstance(placement, Placement):
        return function(*arguments, **options)
    leaves, structure = jax.tree.flatten((arguments, options))
    explicit = _explicit_mesh(leaves)
    if explicit is None:
        return function(*arguments, **options)
    mesh = placement.mesh.abstract_mesh
    if (explicit.axis_names, explicit.axis_sizes) != (mesh.axis_names, mesh.axis_sizes):
        raise ArgumentError(
            "mesh",
            f"got one of {dict(mesh.shape)}, and the mesh that is set has explicit axes "
            f"{dict(explicit.shape)}; it must be the same mesh, or the other must be of "
            "axis_types=(jax.sharding.AxisType.Auto,).",
        )
    with jax.sharding.use_abstract_mesh(mesh):
        leaves = [_on_automatic(leaf) for leaf in leaves]
        arguments, options = jax.tree.unflatten(structure, leaves)
        result = function(*arguments, **options)
    if getattr(result, "placement", None) is not None:
        return result  # a placed object, which stays on its own mesh
    whole = NamedSharding(explicit, P())
    return jax.tree.map(lambda leaf: jax.sharding.reshard(leaf, whole), result)


def refuse_explicit(placement: Placement | None, purpose: str) -> None:
    """Raises where the caller has set a mesh with explicit axes."""
    explicit = _explicit_mesh([])
    if placement is not None and explicit is not None:
        raise ArgumentError(
            "mesh",
            f"got explicit axes {dict(explicit.shape)} that are set; for {purpose} "
            "they must be automatic: axis_types=(jax.sharding.AxisType.Auto,).",
        )


def _explicit_mesh(leaves: list[Any]) -> Any:
    """The mesh with explicit axes that the caller has set, or over which jit traces one
    of the arrays; None without one.
    """
    meshes = [jax.sharding.get_abstract_mesh()]
    meshes += [_mesh_of(leaf) for leaf in leaves if isinstance(leaf, jax.core.Tracer)]
    return next((mesh for mesh in meshes if AxisType.Explicit in mesh.axis_types), None)


def _mesh_of(array: jax.Array) -> Any:
    return jax.typeof(array).sharding.mesh


def _is_explicit(leaf: Any) -> bool:
    """True for an array over a mesh with explicit axes."""
    return (
        isinstance(leaf, jax.Array) and AxisType.Explicit in _mesh_of(leaf).axis_types
    )


def _on_automatic(leaf: Any) -> Any:
    """An array over explicit axes as one over automatic axes; inside jit the compiler
    may place it anew.
    """
    if not _is_explicit(leaf):
        return leaf
    if is_traced(leaf):
        return jax.sharding.reshard(leaf, P())
    sharding = leaf.sharding
    return jax.device_put(leaf, NamedSharding(_automatic(sharding.mesh), sharding.spec))


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
