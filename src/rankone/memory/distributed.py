"""The distributed representation: all patterns summed into one vector T of random
features (DrDAM).
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, ArrayLike, Bool, Float

from rankone._blocks import checkpoint_path, is_blocks, run_blocks
from rankone._checks import (
    Numbers,
    array,
    brief,
    choice,
    numbers,
    pieces,
    positive,
    readable,
    real,
    scalar,
    states,
)
from rankone._fingerprint import fingerprint
from rankone._mesh import (
    Placement,
    automatic,
    placement_of,
    placement_on,
    refuse_explicit,
)
from rankone._module import assembled
from rankone.memory.bases import BASES, FARTHEST
from rankone.memory.feature_tables import Tables, as_tables
from rankone.memory.features import RandomFeatures
from rankone.memory.nonlinear import lookup
from rankone.memory.packed import CodedVector, Packed, check_bits, rounded
from rankone.memory.protocol import EnergyMemory, Reader
from rankone.precision import at_least_single, wider
from rankone.writes import Write

__all__ = ["DrDAM"]

_SIMILARITIES = ("l2", "dot")
_BETA = "a positive finite inverse temperature"
# Below this fraction of the noise of the features, an estimate of the partition sum
# carries no information: see `DrDAM.floor`.
_FLOOR_OF_NOISE = 1 / 8


class DrDAM(EnergyMemory):
    """A dense associative memory that stores the sum T of the random features of its
    patterns [D-eq9].

    Ê(x) = −(1/β) log Ŝ(x) with Ŝ(x) = ⟨φ(√β x), T⟩ and T = Σ_μ φ(√β ξ^μ). Use
    `DrDAM.store` to make a memory from patterns.

    Where the estimate Ŝ is below `floor`, the tangent of the logarithm at the floor
    replaces the logarithm. The gradient of the energy then still has the direction of
    −∇Ŝ, whereas the published clip makes the gradient exactly zero there [D-fn6].

    Attributes:
        T: The memory vector (M,), Σ_μ w_μ φ(√β(ξ^μ − centre)); M = 2Y for sincos and
            expexp features, Y otherwise. With fewer than 32 bits, T is a `Packed` of
            the same shape with M·bits/8 bytes and one scale. If the features are split
            over devices, T is a `Tables` of the same shape, split in the same way.
        beta: Inverse temperature.
        features: The random feature map. A memory must be read with the map that it was
            written with.
        count: Number of patterns stored, rounded to the precision of T: float32
            represents every integer up to 2²⁴.
        count_rest: Remainder that `count` loses by rounding. `len(memory)` adds both,
            and is exact up to 2⁴⁸.
        power: Σ_μ w_μ², the sum of the squared weights of the patterns, which are 1 for
            "l2" and exp(β‖ξ‖²/2 − log_scale) for "dot".
        centre: Point (D,) that is subtracted from patterns and states; 0 by default.
            The kernel does not depend on it.
        log_scale: Logarithm of the largest weight exp(β‖ξ‖²/2) that was stored.
            Dividing by this weight keeps all weights from overflowing. 0 for "l2".
        similarity: "l2" or "dot".
        g: Function applied to a state before it is read.
        bits: Bits per entry of T: 32 (not rounded), 8, 4, 2 or 1. Rounding adds as much
            noise as using fewer features would: 99 % of them at 4 bits, and 64 % at 1
            bit [D-sharp16]. A rounded memory can be read, but not written to.

    >>> import jax, numpy as np, rankone as ro
    >>> Xi = np.eye(4)
    >>> features = ro.RandomFeatures(4, 20_000, key=jax.random.key(0))
    >>> memory = ro.DrDAM.store(Xi, beta=8.0, features=features)
    >>> memory.T.shape, memory.count.item()
    ((40000,), 4.0)
    >>> [round(abs(one.energy(Xi[0]).item()), 2) for one in (memory, ro.MrDAM(Xi, beta=8.0))]
    [0.0, 0.0]
    >>> memory.certified(Xi[0] - memory.origin).item()
    True
    >>> memory.remove(Xi[0]).count.item()
    3.0
    >>> from dataclasses import replace
    >>> small = replace(memory, bits=2)
    >>> memory.T.nbytes, small.T.nbytes, round(abs(small.energy(Xi[0]).item()), 2)
    (160000, 10004, 0.0)
    """

    T: Float[Array, " M"] | Packed | Tables
    beta: Float[Array, ""]
    features: RandomFeatures
    count: Float[Array, ""]
    power: Float[Array, ""]
    centre: Float[Array, " D"] = eqx.field(repr=False)
    log_scale: Float[Array, ""] = eqx.field(repr=False)
    count_rest: Float[Array, ""] = eqx.field(repr=False)
    similarity: str = eqx.field(static=True)
    g: str | Callable[..., Array] = eqx.field(static=True)
    bits: int = eqx.field(static=True)

    def __init__(
        self,
        T: Numbers | Packed | Tables,
        beta: ArrayLike,
        features: RandomFeatures,
        count: ArrayLike,
        power: ArrayLike,
        similarity: str = "l2",
        g: str | Callable[..., Array] = "identity",
        *,
        bits: int = 32,
        centre: Numbers | None = None,
        log_scale: ArrayLike = 0.0,
        count_rest: ArrayLike = 0.0,
    ) -> None:
        if not isinstance(T, CodedVector):
            T = at_least_single(numbers("T", T))
        bits = check_bits(bits)
        _check_features(features)
        if T.shape != (features.M,):
            raise ValueError(
                f"T: got shape {T.shape}; "
                f"it must be ({features.M},): one entry per feature."
            )
        positive("beta", beta, _BETA, dtype=T.dtype)
        choice("similarity", similarity, _SIMILARITIES)
        lookup("g", g)
        self.beta = scalar(_number("beta", beta), T.dtype)
        self.count = scalar(_number("count", count), T.dtype)
        self.power = scalar(_number("power", power), T.dtype)
        self.log_scale = scalar(_number("log_scale", log_scale), T.dtype)
        self.count_rest = scalar(_number("count_rest", count_rest), T.dtype)
        self.T = _rounded_tables(T, bits, features)
        self.features = features
        self.centre = _point(centre, features.D, T.dtype)
        self.similarity = similarity
        self.g = g
        self.bits = bits

    @classmethod
    @automatic
    def store(
        cls,
        Xi: Numbers | Iterator[Numbers],
        beta: ArrayLike,
        features: RandomFeatures,
        *,
        similarity: str = "l2",
        g: str | Callable[..., Array] = "identity",
        bits: int = 32,
        centre: Numbers | None = None,
        progress: bool | None = None,
        checkpoint: Path | str | None = None,
    ) -> "DrDAM":
        """Distributed memory of the patterns Xi (K, D), computed in O(KDY) time with
        O(Y + D) memory in addition to the patterns [D-prop3].

        The patterns need not fit in memory. For many patterns, pass a NumPy array such
        as a memory map, which is read in slices if it is large, or an iterator of
        blocks (n, D). Use blocks of one length, because each length compiles a program.

        Args:
            Xi: Patterns (K, D), one per row; or an iterator of blocks of them.
            beta: Inverse temperature, positive.
            features: Random features for inputs of length D = Xi.shape[1].
            similarity: "l2", or "dot" for the exponentiated dot product: the same
                features with weights exp(β‖ξ‖²/2) [D-unn3].
            g: Function applied to a state before it is read, as in `MrDAM`.
            bits: Bits per entry of T: 32 (not rounded), 8, 4, 2 or 1. T is rounded
                after all patterns are stored.
            centre: Point (D,) that is subtracted from patterns and states; 0 by
                default. The kernel does not depend on it. But for patterns far from the
                centre, with angles ⟨ω, √β(ξ − centre)⟩ near 10⁵, float32 has too few
                digits. Then pass the patterns' mean.
            progress: True to show a bar while blocks are stored; by default a bar
                appears after two seconds.
            checkpoint: File (.npz) to which the memory is saved every 20 seconds and at
                the end, for patterns in blocks or in a NumPy array. An interrupted run
                resumes from the file if you pass the same patterns in the same order.

        Raises:
            ValueError: If Xi is not (K, features.D) and finite, beta is not positive,
                bits is another number, a name is unknown, or the patterns are too far
                from the centre for features in this precision; if the checkpoint is of
                another run, or Xi is neither an iterator nor a NumPy array although a
                checkpoint is given.
        """
        _check_features(features)
        choice("similarity", similarity, _SIMILARITIES)
        lookup("g", g)
        bits = check_bits(bits)
        path = checkpoint_path(checkpoint, progress)
        if is_blocks(Xi) or (path is not None and isinstance(Xi, np.ndarray)):
            fields = _store_blocks(
                Xi, beta, features, similarity, centre, progress, path
            )
        elif path is not None:
            raise ValueError(
                f"checkpoint: got {str(path)!r}; it must be None unless Xi is an "
                "iterator of blocks or an array of NumPy."
            )
        else:
            fields = _store_rows(Xi, beta, features, similarity, centre)
        fields |= {"similarity": similarity, "g": g, "bits": bits}
        fields["T"] = _rounded_tables(fields["T"], bits, features)
        return assembled(cls, fields)

    @automatic
    def add(self, xi: Numbers) -> "DrDAM":
        """New memory that also stores the pattern xi (D,), or patterns (n, D), in O(DY)
        time per pattern, independent of K [D-prop5].
        """
        patterns, rows = self._patterns(xi)
        fields = _write_patterns(self, patterns, 1, rows)
        return assembled(DrDAM, self.__dict__ | fields)

    @automatic
    def remove(self, xi: Numbers) -> "DrDAM":
        """New memory without xi, equal up to rounding to one in which xi was never
        stored.

        The sum T does not show whether xi was stored, so a pattern that was never
        stored is subtracted too.

        Raises:
            ValueError: If more patterns are removed than are stored. Inside jit the
                count becomes negative instead.
        """
        patterns, rows = self._patterns(xi)
        if readable(self.count, self.count_rest):
            number = patterns.size // self.D
            count = len(self)
            if number > count:
                raise ValueError(
                    f"xi: got {number} patterns; "
                    f"it must be at most the {count} that are stored."
                )
        fields = _write_patterns(self, patterns, -1, rows)
        return assembled(DrDAM, self.__dict__ | fields)

    def sharded(self, mesh: Mesh, axis: str | None = None) -> "DrDAM":
        """The same memory with its features and T split over the devices of a mesh.

        To read the memory, each device then sends D + 1 numbers per state: its part of
        Ŝ and of ∇Ŝ, which are summed before the logarithm. To make a memory that is too
        large for one device, store with features that are already split, as in
        `DrDAM.store(Xi, beta, features.sharded(mesh))`.

        Args:
            mesh: Devices, such as `jax.make_mesh((8,), ("rows",))`.
            axis: Name of the axis of the mesh; by default its first.

        >>> import jax, numpy as np, rankone as ro
        >>> features = ro.RandomFeatures(4, 1000, key=jax.random.key(0))
        >>> memory = ro.DrDAM.store(np.eye(4), 8.0, features)
        >>> spread = memory.sharded(jax.make_mesh((1,), ("rows",)))
        >>> type(spread.T).__name__, spread.T.shape
        ('Tables', (2000,))
        """
        return self._placed(placement_on(mesh, axis))

    def _placed(self, placement: Placement) -> "DrDAM":
        """`sharded`, for a placement that was made before."""
        features = self.features._placed(placement)
        T = as_tables(self.T, BASES[features.basis].tables, features.columns)
        T = Tables(
            placement.put(T.entries, None, placement.axis),
            placement.put(T.scale),
            T.bits,
            T.Y,
        )
        small = ("beta", "count", "count_rest", "power", "centre", "log_scale")
        fields: dict[str, Any] = {
            name: placement.put(getattr(self, name)) for name in small
        }
        fields |= {"features": features, "T": T}
        return assembled(DrDAM, self.__dict__ | fields)

    @property
    def placement(self) -> Placement | None:
        """Placement of the features over devices; None if they are not split."""
        return self.features.placement

    def __len__(self) -> int:
        """Number of patterns stored, exactly; not inside jit."""
        return round(float(self.count)) + round(float(self.count_rest))

    def __bool__(self) -> bool:
        """True, also of a memory from which all was removed."""
        return True

    @property
    def D(self) -> int:
        """Length of a pattern."""
        return self.features.D

    @property
    @automatic
    def empty(self) -> Bool[Array, ""]:
        """True if every pattern was removed."""
        return self.count + self.count_rest < 0.5

    @property
    @automatic
    def floor(self) -> Float[Array, ""]:
        """Value of Ŝ below which the logarithm is replaced by its tangent:
        √(power/2Y)/8 for sincos, √(power/Y)/8 for cos, and 1e-30 for exp and expexp.
        For "l2", `power` is K. For "dot", this Ŝ is `partition` divided by
        exp(`log_scale`).
        """
        return _floor_of(self.power, BASES[self.features.basis].noise / self.features.Y)

    @property
    @automatic
    def write(self) -> Write:
        """The vector T as a `Write` of one row, which stores at every pattern the value
        1, or for "dot" its weight in `partition`. Its answer at φ(√β(g(x) − centre)) is
        the estimate `partition` at x.
        """
        return Write(jnp.exp(self.log_scale)[None], self.unpacked)

    @property
    @automatic
    def unpacked(self) -> Float[Array, " M"]:
        """The vector T as an array (M,), also if it is stored in few bits or split over
        devices.
        """
        return self.T.unpacked if isinstance(self.T, CodedVector) else self.T

    def energy_and_gradient(
        self, x: Numbers
    ) -> tuple[Float[Array, "..."], Float[Array, "... D"]]:
        """Energy Ê [D-eq9] and its gradient ∇Ê (Algorithm 1 of the DrDAM paper) at
        states x (..., D), in O(DY) time [D-eq10, D-alg1, D-prop4].
        """
        return self.read(x)[:2]

    @automatic
    def read(
        self, x: Numbers
    ) -> tuple[Float[Array, "..."], Float[Array, "... D"], Bool[Array, "..."]]:
        """Energy, gradient, and a mask that is True where Ŝ is below the floor, in one
        pass over the features.
        """
        energy, gradient, _, floored = _read(self, None, states("x", x, self.D))
        return energy, gradient, floored

    @property
    @automatic
    def origin(self) -> Float[Array, " D"]:
        """Point that is subtracted from a state before `reader` or `certified` takes
        it: the centre if g is the identity, else 0.
        """
        return self.centre if self.g == "identity" else self._zero

    def reader(self) -> Reader:
        """Function like `read` that takes the difference x − `origin` instead of x. In
        derivatives it holds the state x fixed and not the difference, so that its
        derivative with respect to the centre is that of `read`.
        """
        refuse_explicit(self.placement, "a reader, but not for energy_and_gradient,")
        return jax.tree_util.Partial(
            _read_states, self, jax.lax.stop_gradient(self.origin)
        )

    @automatic
    def certified(self, x: Numbers) -> Bool[Array, "..."]:
        """True where the rounding error of Ŝ, estimated for independent errors of the
        single operations, is below Ŝ/8. It takes the difference x − `origin`. Below the
        floor, the floor takes the place of Ŝ. The noise of the features is not checked.
        """
        return _certify(self, states("x", x, self.D))

    @automatic
    def partition(self, x: Numbers) -> Float[Array, "..."]:
        """Estimate exp(`log_scale`)·Ŝ(x) of the partition sum Σ_μ w_μ exp(−β‖g(x) −
        ξ^μ‖²/2), from the features of the state and T. Noise can make it negative.

        For "l2" the weights w_μ are 1 and `log_scale` is 0. For "dot" the weights are
        exp(β‖ξ^μ‖²/2), so the result may overflow where the energy, which uses its
        logarithm, does not.
        """
        return _read(self, None, states("x", x, self.D))[2]

    def floored(self, x: Numbers) -> Bool[Array, "..."]:
        """True where Ŝ is below the floor, so that it is mostly noise of the features:
        far from every pattern, or anywhere if there are too few features.
        """
        return self.read(x)[2]

    @property
    def _zero(self) -> Float[Array, " D"]:
        return jax.device_put(np.zeros(self.D, self.T.dtype))

    def _patterns(self, xi: Numbers) -> tuple[Float[Array, "... D"], Placement | None]:
        """The checked patterns of a change, and the placement of their rows."""
        if self.bits != 32:
            raise ValueError(
                f"bits: got {brief(self.bits)}; it must be 32 to be written to: write "
                "to the memory that was not rounded, and round it again with "
                "replace(memory, bits=...)."
            )
        patterns = states("xi", xi, self.D)
        _check_angles("xi", patterns, self.centre, self.beta, self.features)
        # a single pattern has no axis of rows
        return patterns, placement_of(patterns) if patterns.ndim > 1 else None


def _store_rows(
    Xi: Any,
    beta: ArrayLike,
    features: RandomFeatures,
    similarity: str,
    centre: Numbers | None,
) -> dict[str, Any]:
    """The fields of a memory of patterns that come in one piece."""
    Xi = _pattern_rows(Xi, features)
    beta, centre = _scales(Xi.dtype, beta, centre, features)
    _check_angles("Xi", Xi, centre, beta, features)
    fields = _store(features, beta, Xi, similarity, centre, placement_of(Xi))
    return fields | {"features": features}


def _scales(
    dtype: Any, beta: ArrayLike, centre: Numbers | None, features: RandomFeatures
) -> tuple[Array, Array | np.ndarray]:
    """β and the centre, in the precision in which patterns of `dtype` are summed."""
    dtype = wider(dtype, jnp.float32)
    positive("beta", beta, _BETA, dtype=dtype)
    # passing NumPy zeros to a program takes a tenth of the time of placing them by JAX
    point = (
        np.zeros(features.D, dtype)
        if centre is None
        else _point(centre, features.D, dtype)
    )
    return scalar(beta, dtype), point


def _pattern_rows(Xi: Any, features: RandomFeatures) -> Array:
    """Patterns (n, D) of the length that the features were made for."""
    Xi = array(
        "Xi",
        Xi,
        "(K, D): one pattern per row, of the length the features were made for",
        2,
        once=True,
    )
    if Xi.shape[1] != features.D:
        raise ValueError(
            f"Xi: got shape {Xi.shape}; it must be (K, {features.D}), to fit the "
            "features."
        )
    return Xi


def _store_blocks(
    Xi: Any,
    beta: ArrayLike,
    features: RandomFeatures,
    similarity: str,
    centre: Numbers | None,
    progress: bool | None,
    path: Path | None,
) -> dict[str, Any]:
    """The fields of a memory of patterns that come a block at a time."""
    blocks = Xi
    if not isinstance(Xi, np.ndarray):
        first = next(Xi, None)
        if first is None:
            raise ValueError("Xi: got no block; it must be one or more.")
        blocks = chain([first], Xi)
    else:
        first = Xi[:1]
    pattern_dtype = _pattern_rows(first, features).dtype
    beta, centre = _scales(pattern_dtype, beta, centre, features)
    memory = _empty_memory(features, beta, similarity, centre)
    if features.placement is not None:
        memory = memory._placed(features.placement)
    names = ("T", "count", "count_rest", "power", "log_scale")

    def step(state: dict[str, Any], block: Any) -> dict[str, Any]:
        patterns = _pattern_rows(block, features)
        _check_angles("Xi", patterns, memory.centre, memory.beta, features)
        partial_memory = assembled(DrDAM, memory.__dict__ | state)
        return _write_patterns(partial_memory, patterns, 1, placement_of(patterns))

    def count(state: dict[str, Any]) -> int:
        return len(assembled(DrDAM, memory.__dict__ | state))

    run = ""
    if path is not None:
        leaves = [
            jax.random.key_data(leaf)
            if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)
            else leaf
            for leaf in jax.tree.leaves(features)
        ]
        # The first numbers identify a draw, and do not depend on its layout over
        # devices.
        samples = [np.asarray(leaf.reshape(-1)[:64]) for leaf in leaves]
        kind = (features.D, features.Y, features.basis, features.projection)
        point = np.asarray(memory.centre)
        run = fingerprint((kind, samples, float(memory.beta), similarity, point))
    state = run_blocks(
        {name: getattr(memory, name) for name in names},
        step,
        blocks,
        count=count,
        title="store",
        progress=progress,
        checkpoint=path,
        run=run,
    )
    return memory.__dict__ | state


def _empty_memory(
    features: RandomFeatures,
    beta: Array,
    similarity: str,
    centre: Array | np.ndarray,
) -> DrDAM:
    """A memory with no pattern, to which patterns are added."""
    zeros: Any = jnp.zeros(features.M, centre.dtype)
    if features.placement is not None:
        tables = BASES[features.basis].tables
        entries = jnp.zeros((tables, features.columns), centre.dtype)
        zeros = Tables(entries, jnp.ones((), centre.dtype), 32, features.Y)
    minimum = jnp.finfo(centre.dtype).min / 2
    return DrDAM(
        zeros, beta, features, 0.0, 0.0, similarity, centre=centre, log_scale=minimum
    )


def _rounded_tables(
    T: Array | Packed | Tables, bits: int, features: RandomFeatures
) -> Array | Packed | Tables:
    """T with so many bits per entry, and in tables if the features are split."""
    if isinstance(T, Tables):
        return T.rounded(bits)
    T = rounded(T, bits)
    placement = features.placement
    if placement is None:
        return T
    return as_tables(T, BASES[features.basis].tables, features.columns)


def _check_features(features: Any) -> None:
    if not isinstance(features, RandomFeatures):
        raise ValueError(
            f"features: got {brief(features)}; it must be a RandomFeatures, such as "
            "RandomFeatures(D, 10_000, key=jax.random.key(0))."
        )


def _number(name: str, value: ArrayLike) -> ArrayLike:
    """`value`, which is refused if it can be read at no cost and is not one finite
    number.
    """
    number = real(name, value, "one finite number")
    if not (number is None or abs(number) < np.inf):
        raise ValueError(f"{name}: got {brief(value)}; it must be one finite number.")
    return value


def _point(centre: Numbers | None, D: int, dtype: Any) -> Array:
    """The centre (D,), by default 0."""
    if centre is None:
        return jax.device_put(np.zeros(D, dtype))
    point = array("centre", centre, f"({D},): one point", 1, once=True)
    if point.shape != (D,):
        raise ValueError(
            f"centre: got shape {point.shape}; it must be ({D},), as long as a pattern."
        )
    return point.astype(dtype)


def _check_angles(
    name: str,
    Xi: Array,
    centre: Array | np.ndarray,
    beta: Array,
    features: RandomFeatures,
) -> None:
    """ValueError if patterns are so far from the centre that their features would be
    rounding error only. Only cosines and sines are checked, and only if the values can
    be read at no cost.
    """
    if (
        BASES[features.basis].positive
        or not readable(Xi, centre, beta)
        or centre.dtype != jnp.float32
        or not Xi.size
    ):
        return
    with np.errstate(over="ignore"):
        point = np.asarray(centre)
        square = max(
            (np.subtract(part, point, dtype=np.float32) ** 2).sum(-1).max()
            for part in pieces(np.asarray(Xi).reshape(-1, features.D))
        )
        radius = np.sqrt(square) * np.sqrt(np.asarray(beta))
    if not radius <= FARTHEST:
        raise ValueError(
            f"{name}: got patterns at {radius:.2g}/√β; it must be within "
            f"{FARTHEST:,.0f}/√β of the centre, beyond which float32 resolves no "
            "angles: pass centre=Xi.mean(0)."
        )


@partial(jax.jit, static_argnames=("similarity", "rows"))
def _store(
    features: RandomFeatures,
    beta: Array,
    Xi: Array,
    similarity: str,
    centre: Array | np.ndarray,
    rows: Placement | None,
) -> dict[str, Any]:
    """All fields of a memory of patterns but the features, which would be copied."""
    memory = _empty_memory(features, beta, similarity, centre)
    fields = _write_patterns(memory, Xi, 1, rows)
    return fields | {"beta": memory.beta, "centre": memory.centre}


@jax.jit
def _floor_of(power: Array, noise: float) -> Array:
    """Value of Ŝ below which the logarithm is replaced by its tangent, from Σ w² and
    the variance of one kernel.
    """
    return jnp.maximum(_FLOOR_OF_NOISE * jnp.sqrt(jnp.maximum(noise * power, 0)), 1e-30)


@partial(jax.jit, static_argnames=("sign", "rows"))
def _write_patterns(
    memory: DrDAM, Xi: Array, sign: int, rows: Placement | None = None
) -> dict[str, Any]:
    """The fields that change when patterns (..., D) are added or removed. The program
    does not return the features, because that would be a copy of them. `rows` is the
    placement of the patterns.
    """
    Xi = Xi.reshape(-1, memory.D)
    dtype = memory.T.dtype
    logs = (
        0.5 * memory.beta * (Xi.astype(dtype) ** 2).sum(-1)
        if memory.similarity == "dot"
        else jnp.zeros(len(Xi), dtype)
    )
    scale = jax.lax.stop_gradient(
        jnp.maximum(memory.log_scale, logs.max(initial=-jnp.inf))
    )
    shrink = jnp.exp(memory.log_scale - scale)
    weights = jnp.exp(logs - scale)
    root = jnp.sqrt(memory.beta)
    increment = memory.features._encode_offsets(Xi, weights, memory.centre, root, rows)
    T = memory.T if isinstance(memory.T, Tables) else memory.unpacked
    count, remainder = _count(memory, sign * len(Xi))
    return {
        "T": _update(T, shrink, sign, increment),
        "count": count,
        "count_rest": remainder,
        "power": shrink**2 * memory.power + sign * (weights**2).sum(),
        "log_scale": scale,
    }


def _update(T: Any, shrink: Array, sign: int, increment: Any) -> Any:
    if isinstance(T, Tables):
        entries = shrink * T.entries + sign * increment.entries
        return Tables(entries, T.scale, 32, T.Y)
    return shrink * T + sign * increment


def _count(memory: DrDAM, n: int) -> tuple[Array, Array]:
    """The number of patterns after n more: its rounded value, and the rounding error.

    Exact as long as n and the sum have at most 48 bits: each half of n is exact in
    float32, and TwoSum returns the rounding error of each addition.
    """
    count = memory.count
    remainder = memory.count_rest
    high = n // 2**24 * 2**24
    for number in (high, n - high):
        part = jnp.asarray(float(number), count.dtype)
        total = count + part
        increment = total - count
        remainder = remainder + ((count - (total - increment)) + (part - increment))
        count = total
    total = count + remainder
    return total, remainder - (total - count)


@jax.jit
def _read(
    memory: DrDAM, origin: Array | None, x: Array
) -> tuple[Array, Array, Array, Array]:
    """Energy, gradient, Ŝ, and True where Ŝ is below the floor, at states less the origin,
    by default 0 [D-eq9, D-eq10, with the √β that the paper omits].
    """
    flat = x.reshape(-1, memory.D).astype(wider(x.dtype, memory.T.dtype))
    g = lookup("g", memory.g)
    shift = memory.centre if origin is None else memory.centre - origin
    z = g.value(flat) - shift[None]
    S, slope = memory.features.read(jnp.sqrt(memory.beta) * z, memory.T)
    floor = memory.floor
    argument = jnp.maximum(S, floor)
    log_S = (
        jnp.where(floor < S, jnp.log(argument), jnp.log(floor) + (S - floor) / floor)
        + memory.log_scale
    )
    energy = -log_S / memory.beta
    gradient = -slope / (jnp.sqrt(memory.beta) * argument[:, None])
    # if g is the identity, the two quadratic terms cancel
    if memory.similarity == "dot" and memory.g != "identity":
        energy = energy - 0.5 * ((z + memory.centre[None]) ** 2).sum(-1)
        gradient = gradient - z - memory.centre[None]
    gradient = g.derivative(gradient, flat)
    rows = x.shape[:-1]
    total = S * jnp.exp(memory.log_scale)
    return (
        energy.reshape(rows),
        gradient.reshape(x.shape),
        total.reshape(rows),
        (floor > S).reshape(rows),
    )


def _read_states(memory: DrDAM, origin: Array, x: Array) -> tuple[Array, Array, Array]:
    """Energy, gradient, and True where the state is floored, of states less the origin."""
    energy, gradient, _, floored = _read(memory, origin, x)
    return energy, gradient, floored


@jax.jit
def _certify(memory: DrDAM, x: Array) -> Array:
    """True where the rounding of angles and of the sum over features is less than
    Ŝ/8.
    """
    z = lookup("g", memory.g).value(x.astype(wider(x, memory.T)))
    z = jnp.sqrt(memory.beta) * (
        z + jnp.broadcast_to(memory.origin - memory.centre, z.shape)
    )
    S = memory.features.read(z.reshape(-1, memory.D), memory.T)[0].reshape(x.shape[:-1])
    # rounding of the sum, and of the angles
    terms = jnp.sqrt(memory.features.M) + jnp.sqrt(memory.D) * jnp.linalg.norm(
        z, axis=-1
    )
    T = memory.T
    size = (
        jnp.sqrt((T.decoded(T.entries) ** 2).sum())
        if isinstance(T, Tables)
        else jnp.linalg.norm(memory.unpacked)
    )
    rounding = jnp.finfo(z.dtype).eps / 2 * terms * size
    return rounding <= jnp.maximum(S, memory.floor) / 8
