"""Meta-training by Adam on the loss at the queries, differentiated through the
learner's use of the examples.

The loop can be interrupted and resumed: iteration i draws its tasks from
`fold_in(key, i)`, so a resumed run gives exactly the result of an uninterrupted run.
"""

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from jaxtyping import Array, ArrayLike, Float
from numpy.typing import NDArray

from rankone._checks import (
    boolean,
    brief,
    instance,
    integer,
    positive,
    random_key,
)
from rankone._files import locked, read_arrays, save_arrays
from rankone._fingerprint import fingerprint
from rankone._mesh import Placement, placement_on
from rankone._module import Module
from rankone._progress import progress_bar
from rankone.maml.tasks import Task

__all__ = ["Learner", "MetaTrained", "TaskFamily", "meta_train"]

TaskFamily = Callable[[Array], Task]
# iterations between two looks at the clock, and for each recorded loss
_CHUNK = 100
_SAVE_SECONDS = 20.0


@runtime_checkable
class Learner(Protocol):
    """Protocol of a learner, which has initial parameters, predicts a task's queries
    from its examples, and can be hashed.
    """

    def init(self, key: Array) -> Any:
        """Random parameters."""

    def predict(self, params: Any, task: Task) -> Array:
        """Predictions at the queries of a task."""


class MetaTrained(Module):
    """Result of `meta_train`: the meta-trained parameters, and the losses on the way.

    Attributes:
        params: Meta-trained parameters.
        losses: Mean loss at the queries, one entry for every hundred iterations.
    """

    params: Any
    losses: Float[NDArray, " chunks"]


def meta_train(
    learner: Learner,
    tasks: TaskFamily,
    loss: Callable[[Array, Array], Array],
    *,
    key: Array,
    iterations: int,
    meta_batch: int = 25,
    group: int | None = None,
    learning_rate: float = 1e-3,
    checkpoint: Path | str | None = None,
    progress: bool = True,
    mesh: Mesh | None = None,
    axis: str | None = None,
) -> MetaTrained:
    """Parameters that minimise the expected loss at the queries of random tasks, and
    the losses during training [M-def, M-train].

    Args:
        learner: Learner to train, such as a `GradientLearner`. The learner, `tasks` and
            `loss` must be hashable.
        tasks: Family that tasks are drawn from: key → `Task`.
        loss: Function of (predictions, targets).
        key: JAX random key of initialisation and tasks.
        iterations: Number of steps of Adam, a multiple of 100.
        meta_batch: Number of tasks per iteration.
        group: Number of tasks that are differentiated together, a divisor of
            `meta_batch`; by default all. Small groups fit in the processor's cache: one
            wide layer of 40,000 parameters trains twice as fast in groups of 5.
        learning_rate: Initial learning rate of Adam, which falls to zero along a
            cosine.
        checkpoint: File (.npz) to resume from if it exists, and to save to every 20
            seconds and at the end. A fingerprint of learner, tasks, loss, key and
            schedule ties it to this run. One process at a time can use it.
        progress: True to show a bar.
        mesh: Devices over which the tasks of a group are split, such as
            `jax.make_mesh((8,), ("tasks",))`. Each device sends one gradient per group.
            The number of devices must divide `group`.
        axis: Name of the axis of the mesh; by default its first.

    Raises:
        ValueError: If an argument is out of range, or the checkpoint is damaged, in
            use, or of another run.

    >>> import jax
    >>> from rankone.maml import MLP, GradientLearner, SineTasks, meta_train, squared_error
    >>> learner, options = GradientLearner(MLP(1, (8,))), {"iterations": 100, "progress": False}
    >>> key = jax.random.key(0)
    >>> trained = meta_train(learner, SineTasks(shots=3), squared_error, key=key, **options)
    >>> trained.losses.shape
    (1,)
    """
    check_learner("learner", learner)
    check_hashable("tasks", tasks)
    check_hashable("loss", loss)
    if checkpoint is not None and not isinstance(checkpoint, str | Path):
        raise ValueError(
            f"checkpoint: got {brief(checkpoint)}; it must be a path, or None."
        )
    progress = boolean("progress", progress)
    random_key("key", key)
    iterations = integer(
        "iterations", iterations, f"a multiple of {_CHUNK}", least=_CHUNK
    )
    if iterations % _CHUNK != 0:
        raise ValueError(
            f"iterations: got {brief(iterations)}; it must be a multiple of {_CHUNK}."
        )
    meta_batch = integer("meta_batch", meta_batch, "at least 1 task")
    group = integer(
        "group",
        meta_batch if group is None else group,
        f"a divisor of meta_batch, {meta_batch}",
    )
    if meta_batch % group != 0:
        raise ValueError(
            f"group: got {brief(group)}; "
            f"it must be a divisor of meta_batch, {meta_batch}."
        )
    positive("learning_rate", learning_rate)
    if mesh is None and axis is not None:
        raise ValueError(f"axis: got {brief(axis)}; it must be None without a mesh.")
    placement = None if mesh is None else placement_on(mesh, axis)
    if placement is not None and group % placement.parts:
        raise ValueError(
            f"mesh: got {placement.parts} devices; "
            f"it must be a number of devices that divides a group of {group} tasks."
        )
    k_init, k_tasks = jax.random.split(key)
    params = learner.init(k_init)
    state = (params, jax.jit(_optimiser(learning_rate, iterations).init)(params))
    options: dict[str, Any] = {
        "learner": learner,
        "tasks": tasks,
        "loss": loss,
        "iterations": iterations,
    }
    schedule: dict[str, Any] = {
        "learning_rate": learning_rate,
        "groups": (meta_batch // group, group),
    }
    run = (
        fingerprint({**options, **schedule, "key": key})
        if checkpoint is not None
        else ""
    )
    with _alone(checkpoint):
        state, losses = _load(checkpoint, state, run)
        return _trained(
            state,
            losses,
            k_tasks,
            partial(_save, checkpoint, run),
            progress,
            **options,
            **schedule,
            placement=placement,
        )


def check_learner(name: str, value: Any) -> None:
    """ValueError unless `value` is a learner that can be hashed, as compiled functions
    require.
    """
    instance(
        name,
        value,
        Learner,
        "one with init and predict, such as GradientLearner(MLP(1, (40, 40)))",
    )
    if not isinstance(value, Hashable):
        raise ValueError(
            f"{name}: got {brief(value)}; it must be one that can be hashed."
        )


def check_hashable(name: str, value: Any) -> None:
    """ValueError unless `value` is a function that can be hashed, as compiled functions
    require.
    """
    if not callable(value) or not isinstance(value, Hashable):
        raise ValueError(
            f"{name}: got {brief(value)}; it must be a function that can be hashed."
        )


def _trained(
    state: Any,
    losses: list[float],
    key: Array,
    save: Callable,
    progress: bool,
    *,
    iterations: int,
    **options: Any,
) -> MetaTrained:
    """The result of all iterations, which are run a hundred at a time."""
    last_save = time.monotonic()
    with _bar(iterations, len(losses) * _CHUNK, progress) as bar:
        while len(losses) * _CHUNK < iterations:
            state, mean = _advance(
                state, len(losses) * _CHUNK, key, iterations=iterations, **options
            )
            losses.append(float(mean))
            bar.update(_CHUNK)
            bar.set_postfix(loss=f"{losses[-1]:.3g}", refresh=False)
            if (
                time.monotonic() - last_save > _SAVE_SECONDS
                or len(losses) * _CHUNK >= iterations
            ):
                save(state, losses)
                last_save = time.monotonic()
    return MetaTrained(state[0], np.array(losses))


def _bar(iterations: int, initial: int, progress: bool) -> Any:
    return progress_bar(
        total=iterations, initial=initial, desc="meta-training", disable=not progress
    )


def _optimiser(learning_rate: ArrayLike, iterations: int) -> Any:
    import optax

    adam = optax.adam(optax.cosine_decay_schedule(learning_rate, iterations))
    # gradients are clipped, so that one task that diverges does not end the run
    clipped = optax.chain(optax.clip_by_global_norm(10.0), adam)
    # flattened, because one vector compiles in two thirds of the time of many arrays
    return optax.flatten(clipped)


@partial(
    jax.jit,
    static_argnames=("learner", "tasks", "loss", "iterations", "groups", "placement"),
)
def _advance(
    state: Any,
    start: Array,
    key: Array,
    *,
    learning_rate: Array,
    learner: Learner,
    tasks: TaskFamily,
    loss: Callable,
    iterations: int,
    groups: tuple[int, int],
    placement: Placement | None,
) -> tuple[Any, Array]:
    """A hundred iterations from `start` on: the state after them, and their mean
    loss.
    """
    import optax

    optimiser = _optimiser(learning_rate, iterations)

    def objective(params: Any, batch: Task) -> Array:
        return jax.vmap(lambda task: loss(learner.predict(params, task), task.y_query))(
            batch
        ).mean()

    def of_group(params: Any, keys: Array) -> tuple[Array, Any]:
        return jax.value_and_grad(objective)(params, jax.vmap(tasks)(keys))

    def of_all(params: Any, keys: Array) -> tuple[Array, Any]:
        if placement is None:
            return of_group(params, keys)
        return placement.run(
            lambda *own: jax.lax.pmean(of_group(*own), placement.axis),
            (params, keys),
            (P(), placement.spec()),
            (P(), P()),
        )

    def iterate(state: Any, i: Array) -> tuple[Any, Array]:
        params, moments = state
        keys = jax.random.split(jax.random.fold_in(key, i), groups)
        grouped = jax.lax.map(partial(of_all, params), keys)
        value, slope = jax.tree.map(lambda leaf: leaf.mean(0), grouped)
        change, moments = optimiser.update(slope, moments, params)
        return (optax.apply_updates(params, change), moments), value

    state, values = jax.lax.scan(iterate, state, start + jnp.arange(_CHUNK))
    return state, values.mean()


def _alone(path: Path | str | None) -> AbstractContextManager:
    """Context manager in which no other process trains into this file."""
    if path is None:
        return nullcontext()
    return _refusing(locked(path, wait=False), path)


@contextmanager
def _refusing(lock: AbstractContextManager, path: Path | str) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(lock)
        except BlockingIOError as error:
            raise ValueError(
                f"checkpoint: got {str(path)!r}; it must be a file of one run at a "
                "time: another process trains into it."
            ) from error
        yield


def _save(path: Path | str | None, run: str, state: Any, losses: list[float]) -> None:
    if path is not None:
        leaves = {f"leaf{i}": leaf for i, leaf in enumerate(jax.tree.leaves(state))}
        save_arrays(path, leaves | {"losses": losses, "run": run})


def _load(path: Path | str | None, state: Any, run: str) -> tuple[Any, list[float]]:
    """The saved state and losses, or those of the beginning."""
    if path is None or not Path(path).exists():
        return state, []
    leaves, tree = jax.tree.flatten(state)
    requirement = (
        "of this learner, these tasks, this loss, key and schedule; name another file, "
        "or delete it"
    )
    try:
        content = read_arrays(path)
        arrays = [content[f"leaf{i}"] for i in range(len(leaves))]
        losses = content["losses"]
        name = content["run"]
    except (ValueError, KeyError, IsADirectoryError) as error:
        raise ValueError(
            f"checkpoint: got {str(path)!r}, which cannot be read; it must be {requirement}."
        ) from error
    matches = [a.shape for a in arrays] == [np.shape(b) for b in leaves] and str(
        name
    ) == run
    if not matches:
        raise ValueError(
            f"checkpoint: got {brief(str(path))}; it must be {requirement}."
        )
    return jax.tree.unflatten(
        tree, [jnp.asarray(leaf) for leaf in arrays]
    ), losses.tolist()
