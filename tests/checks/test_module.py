"""Every public class equals its copies, goes through pickle, jit and vmap, and has a
one-line representation.
"""

import copy
import dataclasses
import gc
import importlib
import inspect
import pickle
import pkgutil
import weakref
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from one_number import KERNELS
from refusals import refused

import rankone as ro
from rankone._module import Module, derive

KEY = jax.random.key(0)
SHOWN = {part.name for part in pkgutil.iter_modules(ro.__path__) if part.name[0] != "_"}
SHOWN -= {"theory", "printed"}
W = jnp.arange(6.0).reshape(2, 3)
PAIR = (jnp.ones(2), jnp.arange(3.0))


def classes() -> dict[str, type]:
    """The public classes of the library that have the common base, by name."""
    parts = [importlib.import_module(f"rankone.{part}") for part in sorted(SHOWN)]
    named = {
        getattr(part, name) for part in parts for name in getattr(part, "__all__", [])
    } | {getattr(ro, name) for name in ro.__all__}
    return {
        each.__name__: each
        for each in named
        if inspect.isclass(each) and issubclass(each, Module)
    }


def write() -> Any:
    return ro.rank_one_edit(W, jnp.eye(3), PAIR[1] + 1, PAIR[0])


MAKE: dict[str, Callable[[], Any]] = {
    "BatchStep": lambda: ro.writes.BatchStep(0.5),
    "Constants": lambda: ro.universality.Constants(),
    "Cycled": lambda: ro.writes.Cycled(3),
    "Dense": lambda: ro.nn.Dense(W, jnp.ones(2)),
    "DrDAM": lambda: ro.DrDAM.store(W, 2.0, ro.RandomFeatures(3, 4, key=KEY)),
    "Edited": lambda: ro.editing.Edited(W, (write(),)),
    "Exact": lambda: ro.writes.Exact(),
    "ExactSearch": lambda: ro.residual.ExactSearch(W),
    "Factors": lambda: ro.preconditioning.Factors(jnp.eye(2), jnp.eye(3)),
    "GradientLearner": lambda: ro.maml.GradientLearner(ro.maml.MLP(1, (4,))),
    "InSequence": lambda: ro.writes.InSequence(),
    "KeyGeometry": lambda: ro.KeyGeometry.from_moments(jnp.eye(3)),
    "KroneckerPreconditioner": lambda: ro.kronecker_preconditioner(
        jnp.eye(2), jnp.eye(3)
    ),
    "LetterTasks": lambda: ro.maml.LetterTasks(),
    "Linear": lambda: ro.writes.Linear(),
    "LowRankEdit": lambda: ro.batch_edit(W, jnp.eye(3), jnp.eye(3)[:, :2], jnp.eye(2)),
    "MLP": lambda: ro.maml.MLP(1, (4,)),
    "Metric": lambda: ro.writes.Metric(jnp.eye(3)),
    "Moments": lambda: ro.preconditioning.Moments(jnp.eye(3), jnp.eye(2)),
    "MrDAM": lambda: ro.MrDAM(W, 2.0),
    "NearestNeighbours": lambda: ro.writes.NearestNeighbours(2, 1.0),
    "Neighbours": lambda: ro.residual.Neighbours(W, jnp.zeros((2, 3), int)),
    "Network": lambda: ro.universal_learner(lambda x, y, q: x + y + q, cells=2),
    "OracleLearner": lambda: ro.maml.OracleLearner(ro.maml.MLP(1, (4,))),
    "PolynomialTasks": lambda: ro.maml.PolynomialTasks(),
    "RandomFeatures": lambda: ro.RandomFeatures(3, 4, key=KEY),
    "RankOneEdit": write,
    "RecurrentLearner": lambda: ro.maml.RecurrentLearner(1, width=4, head=4),
    "Recursive": lambda: ro.writes.Recursive(2.0),
    "Reparameterized": lambda: ro.Reparameterized(jnp.eye(2), W, jnp.eye(3)),
    "ResMem": lambda: ro.ResMem(k=1).fit(W, jnp.full((2, 2), 0.5), jnp.arange(2)),
    "Ridge": lambda: ro.writes.Ridge(2.0),
    "Score": lambda: ro.maml.Score(jnp.ones(3), jnp.zeros(3)),
    "Search": lambda: ro.language.Search(),
    "SecondMoments": lambda: ro.editing.SecondMoments.empty(3),
    "SineTasks": lambda: ro.maml.SineTasks(),
    "Skipped": lambda: ro.preconditioning.Skipped("no gradient"),
    "Task": lambda: ro.maml.Task(*4 * [jnp.ones((3, 1))], description=jnp.ones(2)),
    "TransposedMoments": lambda: ro.preconditioning.TransposedMoments(
        jnp.eye(3), jnp.eye(2)
    ),
    "Write": lambda: ro.writes.Write(W.T, W.T),
}
MAKE |= {name: (lambda kernel=kernel: kernel(2.0)) for name, kernel in KERNELS.items()}
# Classes that cannot be made in one line. The tests of their part make them.
LARGER = {
    "FactEdit",
    "FaissSearch",
    "History",
    "KernelMemory",
    "LanguageModel",
    "MetaTrained",
    "MovingMoments",
}
LARGER |= {"RankOneStep", "ShardedSearch", "Retrieval"}


def test_every_public_class_is_made_here() -> None:
    assert classes().keys() - MAKE.keys() == LARGER, (
        "tests/checks/test_module.py: add a line to MAKE, or the name to LARGER"
    )


@pytest.fixture(scope="module", params=sorted(classes().keys() & MAKE.keys()))
def pair(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """Two instances of a class, made with the same arguments."""
    return MAKE[request.param](), MAKE[request.param]()


def test_two_instances_built_alike_are_equal_and_have_equal_hashes(
    pair: tuple[Any, Any],
) -> None:
    one, other = pair
    assert isinstance(one, Module)
    assert one == other
    assert hash(one) == hash(other)
    assert one != Different()


def test_its_copies_are_equal_to_it(pair: tuple[Any, Any]) -> None:
    one, _ = pair
    for same in (copy.copy(one), copy.deepcopy(one), dataclasses.replace(one)):
        assert same is not one
        assert same == one


def test_it_goes_through_pickle(pair: tuple[Any, Any]) -> None:
    assert pickle.loads(pickle.dumps(pair[0])) == pair[0]


@pytest.fixture(scope="module")
def everything() -> dict[str, Any]:
    """One instance of every class, and several of a class whose arrays depend on an
    option.
    """
    network = MAKE["Network"]()
    moments = MAKE["Moments"]()
    features = {
        name: ro.RandomFeatures(3, 4, key=KEY, projection=name)
        for name in ("hadamard", "orthogonal")
    }
    features["cos"] = ro.RandomFeatures(3, 4, key=KEY, basis="cos")
    more = {f"RandomFeatures of {name}": one for name, one in features.items()}
    more |= {
        f"DrDAM of {bits} bits": ro.DrDAM.store(W, 2.0, features["hadamard"], bits=bits)
        for bits in (8, 1)
    }
    more["KernelMemory"] = ro.writes.KernelMemory.store(W, W, ro.writes.Gaussian(2.0))
    more["MovingMoments"] = ro.preconditioning.MovingMoments.start(
        (2, 3), decay=0.5
    ).update(moments)
    more["RankOneStep"] = ro.universality.rank_one.rank_one_step(network, 0.3, 0.5)
    more["Retrieval"] = ro.retrieve(MAKE["MrDAM"](), W, max_steps=2, progress=False)
    return {name: make() for name, make in MAKE.items()} | more


def test_all_go_through_a_checkpoint_of_orbax(
    everything: dict[str, Any], tmp_path: Any
) -> None:
    """Orbax refuses arrays without entries. All instances are saved at once, because
    each checkpoint takes a tenth of a second.
    """
    from orbax.checkpoint import StandardCheckpointer

    instances = {name: one for name, one in everything.items() if jax.tree.leaves(one)}
    shapes = jax.tree.map(
        lambda leaf: jnp.zeros_like(leaf) if hasattr(leaf, "dtype") else leaf, instances
    )
    with StandardCheckpointer() as checkpointer:
        checkpointer.save(tmp_path / "all", instances)
        checkpointer.wait_until_finished()
        again = checkpointer.restore(tmp_path / "all", shapes)
    assert [name for name in instances if again[name] != instances[name]] == []


def test_all_go_through_the_files_of_equinox(
    everything: dict[str, Any], tmp_path: Any
) -> None:
    eqx.tree_serialise_leaves(tmp_path / "all.eqx", everything)
    blank = jax.tree.map(
        lambda leaf: jnp.zeros_like(leaf) if hasattr(leaf, "dtype") else leaf,
        everything,
    )
    again = eqx.tree_deserialise_leaves(tmp_path / "all.eqx", blank)
    assert [name for name, one in everything.items() if again[name] != one] == []


def test_all_are_rebuilt_by_a_map_of_their_leaves(everything: dict[str, Any]) -> None:
    again = jax.tree.map(lambda leaf: leaf, everything)
    assert [
        name
        for name, one in everything.items()
        if again[name] != one or again[name] is one
    ] == []


def test_it_goes_through_jit_and_vmap(pair: tuple[Any, Any]) -> None:
    one, other = pair
    assert jax.tree.structure(jax.eval_shape(lambda it: it, one)) == jax.tree.structure(
        one
    )
    leaves, structure = jax.tree.flatten(one)
    if leaves:
        stacked = jax.tree.map(lambda a, b: jnp.stack([a, b]), one, other)
        mapped = jax.eval_shape(jax.vmap(lambda it: it), stacked)
        assert [leaf.shape for leaf in jax.tree.leaves(mapped)] == [
            (2, *np.shape(leaf)) for leaf in leaves
        ]
        assert jax.tree.structure(mapped) == structure


def test_its_representation_is_one_short_line(pair: tuple[Any, Any]) -> None:
    said = repr(pair[0])
    assert said.startswith(f"{type(pair[0]).__name__}(")
    assert "\n" not in said
    assert " at 0x" not in said
    assert len(said) < 400


def test_it_and_its_copies_are_frozen(pair: tuple[Any, Any]) -> None:
    one = pair[0]
    for same in (one, copy.copy(one), pickle.loads(pickle.dumps(one))):
        for field in dataclasses.fields(same):
            with refused(dataclasses.FrozenInstanceError):
                setattr(same, field.name, None)


class Different(Module):
    """Another class."""


class Gain(Module):
    """A class with a field of each kind."""

    right: Any
    name: str = eqx.field(static=True, default="gain")
    twice: Any = eqx.field(init=False, default=None)

    def __check_init__(self) -> None:
        derive(self, twice=2 * self.right)


@pytest.mark.parametrize(
    "other",
    [
        Gain(jnp.ones(2) + 1),
        Gain(jnp.ones(3)),
        Gain(jnp.ones(2, int)),
        Gain(jnp.ones(2), "loss"),
        Different(),
    ],
)
def test_another_value_shape_type_name_or_class_is_unequal(other: Any) -> None:
    assert Gain(jnp.ones(2)) != other


def test_a_derived_field_is_recomputed_when_another_field_is_replaced() -> None:
    assert dataclasses.replace(Gain(jnp.ones(2)), right=jnp.full(2, 3.0)).twice[0] == 6


def test_a_static_field_is_not_a_leaf_and_a_new_value_recompiles() -> None:
    traced = []
    run = jax.jit(lambda gain: (traced.append(gain.name), gain.twice)[1])
    for name in ("a", "b", "a"):
        run(Gain(jnp.ones(2), name))
    assert traced == ["a", "b"]


def test_arrays_are_shown_by_type_and_shape_and_scalars_by_value() -> None:
    assert (
        repr(Gain(jnp.ones((2, 3))))
        == "Gain(right=f32[2,3], name='gain', twice=f32[2,3])"
    )
    assert repr(Gain(jnp.float32(0.5))) == "Gain(right=0.5, name='gain', twice=1)"
    assert (
        repr(ro.writes.Write(W.T, W.T, None))
        == "Write(left=f32[3,2], right=f32[3,2], interference=None, outcome=0)"
    )


def test_a_copy_is_freed() -> None:
    gain = Gain(jnp.ones(2))
    copies = [copy.copy(gain), copy.deepcopy(gain), pickle.loads(pickle.dumps(gain))]
    references = list(map(weakref.ref, copies))
    copies.clear()
    gc.collect()
    assert [reference() for reference in references] == [None] * 3


def test_nan_equals_nan_and_nothing_else() -> None:
    assert Gain(jnp.asarray([jnp.nan, 1.0])) == Gain(jnp.asarray([jnp.nan, 1.0]))
    assert Gain(jnp.asarray([jnp.nan, 1.0])) != Gain(jnp.asarray([0.0, 1.0]))
