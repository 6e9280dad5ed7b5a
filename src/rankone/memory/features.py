"""Random features φ with E⟨φ(z), φ(z')⟩ = exp(−‖z − z'‖²/2), evaluated in blocks of
frequencies [D-eq8].
"""

from collections.abc import Callable
from functools import partial
from math import ceil, pi
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import (
    Numbers,
    boolean,
    brief,
    choice,
    integer,
    numbers,
    random_key,
    states,
)
from rankone._device import on_processor
from rankone._mesh import Placement, automatic, check_placement, placement_on
from rankone._module import Module, assembled
from rankone.memory.bases import BASES, Basis, value
from rankone.memory.feature_tables import Tables, as_tables, table_blocks
from rankone.memory.packed import CodedVector, Packed, in_blocks
from rankone.memory.projections import PROJECTIONS, Projection
from rankone.precision import at_least_single

__all__ = ["RandomFeatures"]

# most entries of an array of intermediate results, in which a GPU computes many blocks
# at once
_SCRATCH = 2**26


class RandomFeatures(Module):
    """A random feature map for the Gaussian kernel: ⟨φ(z), φ(z')⟩ ≈ exp(−‖z − z'‖²/2),
    exactly in expectation [D-eq8].

    With h = Ωz, where the Y rows of Ω are the random frequencies, the bases are

        sincos   Y^(−1/2) (cos h, sin h)
        cos      (2/Y)^(1/2) cos(h + b)
        exp      Y^(−1/2) exp(h − ‖z‖²)
        expexp   (2Y)^(−1/2) (exp(h − ‖z‖²), exp(−h − ‖z‖²))

    A `RandomFeatures` object is also a kernel of `rankone.writes`, κ(a, b) = ⟨φ(a),
    φ(b)⟩. For this use its methods `inner`, `features` and `dual` take inputs as
    columns.

    Args:
        D: Length of the inputs.
        Y: Number of random frequencies; φ has M = 2Y entries for sincos and expexp, Y
            for cos and exp.
        key: JAX random key. Two maps are compatible only if made from the same key and
            options.
        basis: "sincos" (lowest variance wherever ⟨z, z'⟩ ≥ 0, D-sharp4), "cos", "exp"
            or "expexp".
        projection: "gaussian" (independent rows), "orthogonal" (within blocks of D) or
            "hadamard" (structured: O(Y log D) time and O(Y + D) memory; the fastest for
            D above a few hundred).
        regenerate: With "gaussian", True to draw Ω again from the key at every use
            instead of storing its Y·D numbers.
        frequencies: Frequencies already drawn, instead of a key; `dataclasses.replace`
            passes them on.
        phase: Phases b of "cos", already drawn; None for the other bases.
        placement: How the frequencies are split over devices, as set by `sharded`.

    Raises:
        ValueError: If D or Y is not a positive integer, a name is unknown, or
            `regenerate` is True for a projection other than "gaussian".

    >>> import jax, rankone as ro
    >>> features = ro.RandomFeatures(3, 100_000, key=jax.random.key(0))
    >>> features.frequencies
    Stored(blocks=f32[1,100000,3])
    >>> near, far = features.phi([[0.1, 0.2, 0.3], [1.1, 0.2, 0.3]])
    >>> round((near @ far).item(), 2)  # of inputs at a distance of 1: exp(−1/2) = 0.61
    0.61
    """

    D: int = eqx.field(static=True)
    Y: int = eqx.field(static=True)
    basis: str = eqx.field(static=True)
    projection: str = eqx.field(static=True)
    regenerate: bool = eqx.field(static=True, repr=False)
    frequencies: Projection
    phase: Float[Array, " phases"] | None = eqx.field(repr=False)
    placement: Placement | None = eqx.field(static=True, repr=False)

    def __init__(
        self,
        D: int,
        Y: int,
        *,
        key: Array | None = None,
        basis: str = "sincos",
        projection: str = "gaussian",
        regenerate: bool = False,
        frequencies: Projection | None = None,
        phase: Array | None = None,
        placement: Placement | None = None,
    ) -> None:
        check_placement(placement)
        choice("basis", basis, BASES)
        choice("projection", projection, PROJECTIONS)
        regenerate = boolean("regenerate", regenerate)
        option_applies = not regenerate or projection == "gaussian"
        if not option_applies:
            raise ValueError(
                f"regenerate: got {brief(regenerate)}; "
                "it must be False unless projection='gaussian'."
            )
        if not (frequencies is None or isinstance(frequencies, Projection)):
            raise ValueError(
                f"frequencies: got {brief(frequencies)}; "
                "it must be those of other features, or left out."
            )
        if phase is not None and numbers("phase", phase).size == 0:
            phase = None  # some formats of checkpoints refuse an array without entries
        D = integer("D", D)
        # an index of a feature is an int32
        Y = integer("Y", Y, most=(2**31 - 1) // BASES[basis].tables)
        if key is not None:
            random_key("key", key)
            frequencies, phase = _draw(key, D, Y, basis, projection, regenerate)
            placement = None
        elif frequencies is None or not _same_kind(
            (frequencies, phase), D, Y, basis, projection, regenerate, placement
        ):
            raise ValueError(
                "key: got None; it must be a JAX random key, to draw frequencies of "
                "this size and kind."
            )
        self.D = D
        self.Y = Y
        self.basis = basis
        self.projection = projection
        self.regenerate = regenerate
        self.frequencies = frequencies
        self.phase = phase
        self.placement = placement

    def sharded(self, mesh: Mesh, axis: str | None = None) -> "RandomFeatures":
        """The same features with their frequencies split over the devices of a mesh.

        A memory that is stored with these features is split in the same way. From about
        4,096 frequencies (512 transforms of "hadamard") on, the layout is the same for
        any power of 2 up to 64 devices, so that a memory saved from one mesh can be
        restored onto another. If features are drawn and sharded inside one jit, each
        device draws only its own part:
        `jax.jit(lambda key: ro.RandomFeatures(D, Y, key=key).sharded(mesh))(key)`.

        Args:
            mesh: Devices, such as `jax.make_mesh((8,), ("rows",))`.
            axis: Name of the axis of the mesh; by default its first.

        >>> import jax, rankone as ro
        >>> features = ro.RandomFeatures(3, 1000, key=jax.random.key(0))
        >>> features.sharded(jax.make_mesh((1,), ("rows",))).frequencies
        Stored(blocks=f32[1,1000,3])
        """
        return self._placed(placement_on(mesh, axis))

    def _placed(self, placement: Placement) -> "RandomFeatures":
        """`sharded`, for a placement that was made before."""
        frequencies, phase = _divide(self, placement.parts)
        fields = {
            "frequencies": placement.placed(frequencies, "blocks"),
            "phase": None if phase is None else placement.put(phase, placement.axis),
            "placement": placement,
        }
        return assembled(RandomFeatures, self.__dict__ | fields)

    @property
    def columns(self) -> int:
        """Number of frequencies as they are stored, in one block or several: the Y
        random ones, and the padding at the end.
        """
        blocks = jax.tree.leaves(self.frequencies.blocks)[0]
        return len(blocks) * self.frequencies.rows

    @property
    def M(self) -> int:
        """Number of features: the length of φ(z) and of the vector T of a memory."""
        return self._basis.tables * self.Y

    @property
    @automatic
    def omega(self) -> Float[Array, "Y D"]:
        """The frequencies as a dense matrix, whatever the projection. For inspection:
        it has Y·D entries.
        """
        return _omega(self)

    @property
    def _basis(self) -> Basis:
        return BASES[self.basis]

    @automatic
    def phi(self, z: Numbers) -> Float[Array, "... M"]:
        """The features of z (..., D) -> (..., M); a kernel of inverse temperature β
        takes z = √β x [D-prop2].
        """
        return _phi(self, at_least_single(states("z", z, self.D)))

    @automatic
    def inner(self, a: Numbers, b: Numbers) -> Float[Array, "n m"]:
        """Inner products ⟨φ(a_i), φ(b_j)⟩ of the features of the columns of a (D, n)
        and b (D, m).
        """
        return _inner(self, self._columns("a", a), self._columns("b", b))

    @automatic
    def features(self, a: Numbers) -> Float[Array, "M n"]:
        """Features φ of the columns of a (D, n), one column per input."""
        return _phi(self, self._columns("a", a)).T

    def dual(self, a: Numbers) -> Float[Array, "M n"]:
        """The same as `features`, because the kernel is their plain inner product: the
        geometry G of `rankone.writes` is the identity.
        """
        return self.features(a)

    def _rows(self, name: str, z: Numbers) -> Float[Array, "N D"]:
        z = states(name, z, self.D)
        if z.ndim != 2:
            raise ValueError(
                f"{name}: got shape {z.shape}; "
                f"it must be (N, {self.D}): one input per row."
            )
        return z

    def _columns(self, name: str, a: Numbers) -> Float[Array, "n D"]:
        a = numbers(name, a)
        if a.ndim != 2:
            raise ValueError(
                f"{name}: got shape {a.shape}; "
                f"it must be ({self.D}, n): one input per column."
            )
        return at_least_single(states(name, a.T, self.D))

    @automatic
    def project(self, z: Numbers) -> Float[Array, "... Y"]:
        """The projections Ωz (..., D) -> (..., Y)."""
        return _project(self, at_least_single(states("z", z, self.D)))

    @automatic
    def read(
        self, z: Float[Array, "N D"], T: Float[Array, " M"] | Packed | Tables
    ) -> tuple[Float[Array, " N"], Float[Array, "N D"]]:
        """Sums S = ⟨φ(z), T⟩ and their derivatives ∂S/∂z in one pass over the
        frequencies, without forming φ or its Jacobian [D-eq10]. If the frequencies are
        split over devices, only D + 1 numbers per state are summed over them.
        """
        z = self._rows("z", z)
        T = T if isinstance(T, CodedVector) else numbers("T", T)
        if T.shape != (self.M,):
            raise ValueError(
                f"T: got shape {T.shape}; "
                f"it must be of shape ({self.M},): a number for each feature."
            )
        placement = self.placement
        if placement is None:
            return _device_sums(self, z, T)
        tables: Tables = as_tables(T, self._basis.tables, self.columns)
        return placement.run(
            partial(_device_sums, axis=placement.axis),
            (self, z, tables),
            (self._specs, P(), self._specs_of_tables(tables)),
            (P(), P()),
        )

    @automatic
    def encode(
        self, Z: Float[Array, "K D"], weights: Float[Array, " K"]
    ) -> Float[Array, " M"] | Tables:
        """Weighted sum Σ_μ w_μ φ(z_μ) of features, computed a few patterns at a time
        with O(Y + D) memory beyond the patterns [D-prop3].
        """
        Z = self._rows("Z", Z)
        weights = numbers("weights", weights)
        if weights.shape != Z.shape[:1]:
            raise ValueError(
                f"weights: got shape {weights.shape}; "
                f"it must be of shape {Z.shape[:1]}: one per row."
            )
        return self._encode_offsets(Z, weights, jnp.zeros(self.D, Z.dtype), 1.0)

    def _encode_offsets(
        self,
        Xi: Float[Array, "K D"],
        weights: Float[Array, " K"],
        centre: Float[Array, " D"],
        scale: Float[ArrayLike, ""],
        rows: Placement | None = None,
    ) -> Float[Array, " M"] | Tables:
        """Σ_μ w_μ φ(scale·(ξ_μ − centre)), in the precision of the centre; nothing is
        checked.

        Args:
            Xi: Patterns.
            weights: One per pattern.
            centre: Point that is subtracted from the patterns, a few patterns at a
                time.
            scale: Factor of the differences.
            rows: How the patterns are split over devices. Each device encodes its own
                patterns, and T is summed over devices once. If the frequencies are
                split over the same devices, each device encodes all patterns, which are
                gathered a few at a time.
        """
        arguments = (self, Xi, weights, centre, jnp.asarray(scale, centre.dtype))
        placement = self.placement
        if placement is None and rows is None:
            T = _device_tables(*arguments)
            return T[:, : self.Y].reshape(self.M)
        if rows is not None and placement is not None and rows.mesh != placement.mesh:
            rows = None  # the patterns are copied to the devices of the features
        mesh_placement = rows if placement is None else placement
        assert mesh_placement is not None
        frequency_axis = None if placement is None else placement.axis
        pattern_axis = None if rows is None else rows.axis
        pattern = P() if rows is None else rows.spec()
        T = mesh_placement.run(
            partial(
                _device_tables,
                axis=frequency_axis,
                sum_axis=None if pattern_axis == frequency_axis else pattern_axis,
                gather_axis=pattern_axis if pattern_axis == frequency_axis else None,
            ),
            arguments,
            (self._specs, pattern, pattern, P(), P()),
            P() if placement is None else placement.spec(1),
        )
        if placement is None:
            return T[:, : self.Y].reshape(self.M)
        return Tables(T, jnp.ones((), T.dtype), 32, self.Y)

    @property
    def _specs(self) -> "RandomFeatures":
        """Specifications of the features: blocks and phases are split."""
        if self.placement is None:
            return jax.tree.map(lambda _: P(), self)
        return self.placement.specs(self, "blocks", "phase")

    def _specs_of_tables(self, T: Tables) -> Tables:
        """Specifications of T: its columns are split."""
        assert self.placement is not None
        columns = self.placement.spec(1)
        return jax.tree.unflatten(jax.tree.structure(T), [columns, P()])

    def _block_features(
        self, h: Array, z2: Array, phase: Float[Array, " R"]
    ) -> tuple[Array, ...]:
        """Features of a block's projections."""
        phase = (
            jnp.broadcast_to(self.frequencies.arrange(phase), h.shape)
            if self.basis == "cos"
            else phase
        )
        return self._basis.features(
            h, jnp.expand_dims(z2, range(h.ndim - z2.ndim)), phase
        )

    def _phases(self, dtype: Any) -> Float[Array, "B R"]:
        R = self.frequencies.rows
        B = self.columns // R
        # an empty row per block, so that every basis scans over the same structure
        if self.basis != "cos":
            return jnp.zeros((B, 0), dtype)
        assert self.phase is not None
        phase = self.phase.astype(dtype)
        return jnp.pad(phase, (0, B * R - len(phase))).reshape(B, R)


def _device_sums(
    features: RandomFeatures, z: Array, T: Array | Packed | Tables, axis: Any = None
) -> tuple[Array, Array]:
    """S and ∂S/∂z of a device's own frequencies, summed over the devices of an axis."""
    basis = features._basis
    projection = features.frequencies
    z2 = (z * z).sum(-1, keepdims=True)
    x = projection.first_round(z)
    if isinstance(T, Tables):
        first = _first_column(features.columns, axis)
        tables, entries = table_blocks(T, projection.rows, first)
    else:
        tables, entries = in_blocks(T, basis.tables, projection.rows)

    def block(inputs: Any) -> tuple[Array, Array]:
        entry, phase, table = inputs
        forward, adjoint = projection.operator(entry)
        f = features._block_features(forward(x), z2, phase)
        t = tuple(
            jnp.broadcast_to(row, f[0].shape)
            for row in projection.arrange(entries(table))
        )
        return value(basis, f, t), adjoint(basis.slopes(f, t))

    inputs = (projection.blocks, features._phases(z.dtype), tables)
    S, gradient = _sum_blocks(block, inputs, _blocks_at_once(features, len(z)))
    scale = (basis.scale / features.Y) ** 0.5
    S = scale * S
    gradient = scale * projection.first_round_transposed(gradient)
    if axis is not None:
        S, gradient = jax.lax.psum((S, gradient), axis)
    return S, gradient - 2 * z * S[:, None] if basis.positive else gradient


def _first_column(columns: int, axis: Any) -> Any:
    """Position of a device's first frequency among those of all devices."""
    return 0 if axis is None else columns * jax.lax.axis_index(axis)


def _device_tables(
    features: RandomFeatures,
    Xi: Array,
    weights: Array,
    centre: Array,
    scale: Array,
    axis: Any = None,
    sum_axis: Any = None,
    gather_axis: Any = None,
) -> Array:
    """Sums of the features of patterns (tables, columns), of a device's own frequencies
    and patterns. They are summed over `sum_axis`, whose devices have other patterns. Over
    `gather_axis`, whose devices have other patterns and other frequencies, the patterns
    are gathered first.
    """
    K = len(Xi)
    columns = features.columns
    most = 16 if on_processor() else max(16, min(1024, _SCRATCH // columns))
    chunk = ceil(K / ceil(K / most)) if K else 1

    def add(T: Array, i: Array) -> tuple[Array, None]:
        # The last slice overlaps the slice before it; patterns in both get the weight 0
        # here. A padded copy would take as much memory as the patterns.
        start = jnp.minimum(i * chunk, K - chunk)
        xi = jax.lax.dynamic_slice_in_dim(Xi, start, chunk).astype(centre.dtype)
        w = jax.lax.dynamic_slice_in_dim(weights, start, chunk)
        w = jnp.where(start + jnp.arange(chunk) >= i * chunk, w, 0)
        if gather_axis is not None:
            xi, w = jax.lax.all_gather((xi, w), gather_axis, tiled=True)
        z = scale * (xi - centre[None])
        return T + _device_features(
            features, z, lambda f: jnp.matmul(w, f, precision="highest")
        ), None

    T = jnp.zeros((features._basis.tables, columns), centre.dtype)
    if K:
        T, _ = jax.lax.scan(add, T, jnp.arange(ceil(K / chunk)))
    if features.placement is not None:
        column = _first_column(columns, axis) + jnp.arange(columns)
        T = jnp.where((column < features.Y)[None], T, 0)
    return T if sum_axis is None else jax.lax.psum(T, sum_axis)


def _device_features(
    features: RandomFeatures, z: Array, reduce: Callable[[Array], Array] | None = None
) -> Array:
    """φ(z) of a device's own frequencies as (tables, ..., columns), each block's
    features passed through `reduce` (over the queries) before blocks are joined.
    """
    basis = features._basis
    projection = features.frequencies
    z2 = (z * z).sum(-1, keepdims=True)
    x = projection.first_round(z)

    def block(inputs: Any) -> Array:
        entry, phase = inputs
        forward, _ = projection.operator(entry)
        block_features = features._block_features(forward(x), z2, phase)[: basis.tables]
        flat = [projection.flatten(f) for f in block_features]
        return jnp.stack(flat if reduce is None else list(map(reduce, flat)))

    # (B, tables, ..., R)
    stacked = _map_blocks(
        block,
        (projection.blocks, features._phases(z.dtype)),
        _blocks_at_once(features, len(z)),
    )
    table_rows = jnp.moveaxis(stacked, 0, -2)  # (tables, ..., B, R)
    flat = table_rows.reshape(
        *table_rows.shape[:-2], table_rows.shape[-2] * table_rows.shape[-1]
    )
    return (basis.scale / features.Y) ** 0.5 * flat


def _device_projections(features: RandomFeatures, z: Array) -> Array:
    """Ωz of a device's own frequencies (N, columns)."""
    projection = features.frequencies
    x = projection.first_round(z)
    h = _map_blocks(
        lambda entry: projection.flatten(projection.operator(entry)[0](x)),
        projection.blocks,
        _blocks_at_once(features, len(z)),
    )
    return jnp.moveaxis(h, 0, 1).reshape(len(z), h.shape[0] * h.shape[2])


def _over_devices(
    features: RandomFeatures, function: Any, z: Array, ndim: int
) -> Array:
    """Results of `function` for the frequencies of each device, joined along the last of
    `ndim` axes.
    """
    placement = features.placement
    if placement is None:
        return function(features, z)
    specs = (features._specs, P())
    return placement.run(function, (features, z), specs, placement.spec(ndim - 1))


@partial(jax.jit, static_argnames="parts")
def _divide(features: RandomFeatures, parts: int) -> tuple[Projection, Array | None]:
    """Frequencies and phases in blocks that `parts` divides."""
    frequencies = features.frequencies.divided(parts, features.Y)
    if features.phase is None:
        return frequencies, None
    columns = len(jax.tree.leaves(frequencies.blocks)[0]) * frequencies.rows
    phase = features.phase[: features.Y]
    return frequencies, jnp.pad(phase, (0, columns - features.Y))


@partial(jax.jit, static_argnames=("D", "Y", "basis", "projection", "regenerate"))
def _draw(
    key: Array, D: int, Y: int, basis: str, projection: str, regenerate: bool
) -> tuple[Projection, Array | None]:
    """The frequencies, and the phases that "cos" alone has."""
    k_projection, k_phase = jax.random.split(key)
    frequencies = PROJECTIONS[projection](k_projection, D, Y, regenerate)
    if basis != "cos":
        return frequencies, None
    return frequencies, 2 * pi * jax.random.uniform(k_phase, (Y,), jnp.float32)


def _same_kind(
    arrays: tuple[Projection, Array | None],
    D: int,
    Y: int,
    basis: str,
    projection: str,
    regenerate: bool,
    placement: Placement | None,
) -> bool:
    """True if frequencies and phase have the structure and shapes of drawn ones, so that
    `dataclasses.replace` may keep them.
    """
    key = getattr(arrays[0], "key", jax.random.key(0))
    expected = jax.eval_shape(
        lambda key: _draw(key, D, Y, basis, projection, regenerate), key
    )
    structure: Any = jax.tree.structure(arrays)
    same_structure = bool(jax.tree.structure(expected) == structure)
    if placement is not None:
        blocks = jax.tree.leaves(arrays[0].blocks)[0]
        blocks_divide = len(blocks) % placement.parts == 0
        return same_structure and blocks_divide and len(blocks) * arrays[0].rows >= Y
    shapes = [leaf.shape for leaf in jax.tree.leaves(expected)]
    return same_structure and shapes == list(map(jnp.shape, jax.tree.leaves(arrays)))


@jax.jit
def _phi(features: RandomFeatures, z: Array) -> Array:
    flat = z.reshape(-1, features.D)
    tables = _over_devices(features, _device_features, flat, 3)[..., : features.Y]
    return jnp.concatenate(list(tables), axis=-1).reshape(*z.shape[:-1], features.M)


@jax.jit
def _project(features: RandomFeatures, z: Array) -> Array:
    flat = z.reshape(-1, features.D)
    rows = _over_devices(features, _device_projections, flat, 2)[:, : features.Y]
    return rows.reshape(*z.shape[:-1], features.Y)


@jax.jit
def _omega(features: RandomFeatures) -> Array:
    return _project(features, jnp.eye(features.D)).T


@jax.jit
def _inner(features: RandomFeatures, a: Array, b: Array) -> Array:
    return jnp.matmul(_phi(features, a), _phi(features, b).T, precision="highest")


def _blocks_at_once(features: RandomFeatures, N: int) -> int:
    """Number of blocks of frequencies that N states are multiplied by in one piece."""
    if on_processor():
        return 1
    projection = features.frequencies
    # a block that is drawn again is an intermediate result too
    width = max(N, features.D) if features.regenerate else N
    return max(1, _SCRATCH // max(1, width * projection.rows))


def _map_blocks(function: Callable[[Any], Any], blocks: Any, at_once: int) -> Any:
    if len(jax.tree.leaves(blocks)[0]) == 1:
        return jax.tree.map(lambda a: a[None], function(_first_block(blocks)))
    return jax.lax.map(function, blocks, batch_size=at_once if at_once > 1 else None)


def _sum_blocks(function: Callable[[Any], Any], blocks: Any, at_once: int) -> Any:
    count = len(jax.tree.leaves(blocks)[0])
    if count == 1:
        return function(_first_block(blocks))
    if at_once > 1:
        return _sum_groups(function, blocks, min(at_once, count))
    shapes = jax.eval_shape(function, _first_block(blocks))
    zero = jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), shapes)
    return jax.lax.scan(
        lambda total, b: (jax.tree.map(jnp.add, total, function(b)), None), zero, blocks
    )[0]


def _sum_groups(function: Callable[[Any], Any], blocks: Any, size: int) -> Any:
    """The sum over blocks, `size` of them at once."""
    count = len(jax.tree.leaves(blocks)[0])

    def summed(part: Any) -> Any:
        return jax.tree.map(lambda a: a.sum(0), jax.vmap(function)(part))

    def group(start: Any, size: int) -> Any:
        return summed(
            jax.tree.map(lambda a: jax.lax.dynamic_slice_in_dim(a, start, size), blocks)
        )

    if size == count:  # no slice, hence no copy of a slice
        return summed(blocks)
    total, _ = jax.lax.scan(
        lambda total, i: (jax.tree.map(jnp.add, total, group(i * size, size)), None),
        group(0, size),
        jnp.arange(1, count // size),
    )
    rest = count % size
    return jax.tree.map(jnp.add, total, group(count - rest, rest)) if rest else total


def _first_block(blocks: Any) -> Any:
    return jax.tree.map(lambda a: a[0], blocks)
