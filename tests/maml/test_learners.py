"""Meta-learning: the meta-gradient, the tasks, resuming, and what each learner can and
cannot do.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from optimized import optimized
from refusals import refused

from rankone._files import locked
from rankone.data import letters
from rankone.maml import (
    MLP,
    GradientLearner,
    LetterTasks,
    OracleLearner,
    PolynomialTasks,
    RecurrentLearner,
    SineTasks,
    Task,
    accuracy,
    after_steps,
    cross_entropy,
    draw_tasks,
    evaluate,
    meta_train,
    squared_error,
    width_for,
)
from rankone.nn import Dense
from rankone.precision import double_precision

KEY = jax.random.key(0)
LEARNER = GradientLearner(MLP(1, (8,)), step_size=0.01)
SMALL = MLP(1, (8,))


def flat(tree):
    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(tree)])


predict = jax.jit(
    lambda learner, params, task: learner.predict(params, task), static_argnums=0
)


def objective(params, learner, task):
    return squared_error(learner.predict(params, task), task.y_query)


score = jax.jit(objective, static_argnums=1)
meta_gradient = jax.jit(jax.grad(objective), static_argnums=1)


def test_meta_gradient_multiplies_the_steps_jacobians():
    with double_precision():
        net = MLP(1, (5,))
        task = SineTasks(shots=4, queries=3)(jax.random.key(1))
        task = jax.tree.map(lambda a: np.asarray(a, float), task)
        learner = GradientLearner(net, step_size=0.02, steps=3)
        params = net.init(KEY)
        theta, unravel = ravel_pytree(params)

        def inner(v):
            return squared_error(net(unravel(v), task.x), task.y)

        def outer(v):
            return squared_error(net(unravel(v), task.x_query), task.y_query)

        slope = jax.jit(jax.grad(inner))
        curvature = jax.jit(jax.hessian(inner))
        path = [np.asarray(theta)]
        for _ in range(3):
            path.append(path[-1] - 0.02 * np.asarray(slope(path[-1])))
        expected = first_order = np.asarray(jax.jit(jax.grad(outer))(path[-1]))
        for v in reversed(path[:-1]):
            expected = expected - 0.02 * np.asarray(curvature(v)) @ expected
        np.testing.assert_allclose(
            flat(meta_gradient(params, learner, task)), expected, atol=1e-12
        )
        cheap = GradientLearner(net, step_size=0.02, steps=3, first_order=True)
        np.testing.assert_allclose(
            flat(meta_gradient(params, cheap, task)), first_order, atol=1e-12
        )
        assert np.abs(expected - first_order).max() > 1e-3


def test_meta_gradients_of_a_linear_model_equal_hand_values():
    one = jnp.ones((1, 1))
    none = jnp.zeros(0)
    task = Task(one, one, one, one, none)
    params = {"layers": (Dense(0 * one, jnp.zeros(1)),), "bias": none}
    full = GradientLearner(MLP(1, ()), step_size=0.1)
    cheap = GradientLearner(MLP(1, ()), step_size=0.1, first_order=True)
    assert predict(full, params, task).item() == pytest.approx(0.4)
    slopes = [
        meta_gradient(params, learner, task)["layers"][0].W.item()
        for learner in (full, cheap)
    ]
    assert slopes == pytest.approx([-0.72, -1.2])


def test_adapting_is_gradient_descent_and_predicting_ignores_the_queries_answers():
    learner = GradientLearner(SMALL, step_size=0.01, steps=4)
    task = SineTasks()(jax.random.key(2))
    params = by_hand = SMALL.init(KEY)
    slope = jax.jit(jax.grad(lambda p: squared_error(SMALL(p, task.x), task.y)))
    for _ in range(4):
        by_hand = jax.tree.map(
            lambda p, g: np.asarray(p) - np.float32(0.01) * np.asarray(g),
            by_hand,
            slope(by_hand),
        )
    np.testing.assert_allclose(
        flat(learner.adapt(params, task)), flat(by_hand), rtol=1e-5
    )
    blind = replace(task, y_query=jnp.full(task.y_query.shape, jnp.nan))
    for other in (learner, RecurrentLearner(1)):
        answers = [predict(other, other.init(KEY), t) for t in (task, blind)]
        np.testing.assert_array_equal(*answers)


def test_example_order_matters_to_the_recurrent_but_not_the_gradient_learner():
    task = SineTasks()(jax.random.key(3))
    turned = replace(task, x=task.x[::-1], y=task.y[::-1])
    for learner, same in (
        (GradientLearner(SMALL, steps=2), True),
        (RecurrentLearner(1, width=8, head=8), False),
    ):
        one, other = (predict(learner, learner.init(KEY), t) for t in (task, turned))
        assert np.allclose(one, other, atol=1e-5) == same


def test_recurrent_learner_equals_a_plain_loop():
    learner = RecurrentLearner(1, width=6, head=5)
    task = SineTasks(shots=3)(jax.random.key(4))
    p = jax.tree.map(np.asarray, learner.init(KEY))
    h = np.zeros(6)

    def sigmoid(v):
        return 1 / (1 + np.exp(-v))

    for x, y in zip(np.asarray(task.x), np.asarray(task.y), strict=True):
        from_input = np.concatenate([x, y]) @ p["read"] + p["b"]
        from_state = h @ p["state"]
        reset = sigmoid(from_input[:6] + from_state[:6])
        update = sigmoid(from_input[6:12] + from_state[6:12])
        h = update * h + (1 - update) * np.tanh(
            from_input[12:] + reset * from_state[12:]
        )
    np.testing.assert_allclose(learner.read(learner.init(KEY), task), h, atol=1e-5)
    assert learner.predict(learner.init(KEY), task).shape == task.y_query.shape
    assert learner.size == flat(p).size


@pytest.mark.parametrize(
    "family",
    [SineTasks(), PolynomialTasks(), LetterTasks(shots=2, queries=3), SineTasks(3, 4)],
)
def test_tasks_have_the_stated_shapes_and_are_determined_by_their_key(family):
    one = family(KEY)
    again = family(KEY)
    other = family(jax.random.key(9))
    shots = family.shots * getattr(family, "ways", 1)
    queries = family.queries * getattr(family, "ways", 1)
    assert one.x.shape[0] == one.y.shape[0] == shots
    assert one.x_query.shape[0] == one.y_query.shape[0] == queries
    np.testing.assert_array_equal(one.x, again.x)
    assert not np.array_equal(one.x, other.x)


def test_the_oracle_gets_the_parameters_of_sines_and_polynomials():
    wave = jax.tree.map(
        np.asarray, draw_tasks(SineTasks(amplitude=(2, 3), phase=(1, 2)), 50, key=KEY)
    )
    A, phase = wave.description.T[..., None, None]
    np.testing.assert_allclose(
        wave.y_query, A * np.sin(wave.x_query - phase), atol=1e-5
    )
    assert A.min() >= 2
    assert A.max() <= 3
    cubic = jax.tree.map(np.asarray, draw_tasks(PolynomialTasks(), 50, key=KEY))
    expected = [
        np.polyval(c[::-1], x)
        for c, x in zip(cubic.description, cubic.x[..., 0], strict=True)
    ]
    np.testing.assert_allclose(cubic.y[..., 0], expected, atol=2e-4)
    assert abs(cubic.description).max() <= 1
    assert abs(cubic.x).max() <= 3


def test_training_and_test_tasks_use_different_letters():
    features, labels = letters()
    names = {}
    for which in ("train", "test"):
        tasks = draw_tasks(LetterTasks(which, shots=3, queries=3), 40, key=KEY)
        rows = np.concatenate([np.asarray(tasks.x), np.asarray(tasks.x_query)], axis=1)
        train = ~np.isin(labels, list("ABFHKMQZ"))
        z = (features - features[train].mean(0)) / features[train].std(0)
        lookup = {
            tuple(row): label
            for row, label in zip(np.round(z, 3).tolist(), labels, strict=True)
        }
        names[which] = {
            lookup[tuple(np.round(row, 3).tolist())] for row in rows.reshape(-1, 16)
        }
    assert not names["train"] & names["test"]
    assert len(names["train"]) == 18
    assert names["test"] == set("ABFHKMQZ")


def test_no_letter_is_both_example_and_query_and_classes_are_balanced():
    tasks = jax.tree.map(
        np.asarray, draw_tasks(LetterTasks(shots=5, queries=20), 30, key=KEY)
    )
    for x, y, queries in zip(tasks.x, tasks.y, tasks.x_query, strict=True):
        assert y.sum(0).tolist() == [5] * 5
        # letters repeat in the data, so a few equal rows are other examples with the
        # same features
        same = (x[:, None] == queries).all(-1).sum()
        assert same <= 3


def test_a_shear_changes_the_features_but_not_the_labels():
    plain = LetterTasks(shear=0.0)(KEY)
    sheared = LetterTasks(shear=1.0)(KEY)
    assert abs(np.asarray(plain.x) - np.asarray(sheared.x)).max() > 0.1
    np.testing.assert_array_equal(plain.y, sheared.y)


def test_a_shear_adds_a_random_linear_map_with_unit_variance_entries():
    """x ↦ (I + s·G/4)x with entries of G of variance 1 in 16 dimensions, with one G for
    all letters of a task.
    """
    tasks = [LetterTasks(shear=shear)(KEY) for shear in (0.0, 1.0, 2.0)]
    plain, once, twice = (np.concatenate([task.x, task.x_query]) for task in tasks)
    G = 4 * np.linalg.lstsq(plain, once - plain)[0]
    np.testing.assert_allclose(once, plain @ (np.eye(16) + G / 4), atol=1e-4)
    np.testing.assert_allclose(twice - plain, 2 * (once - plain), atol=1e-4)
    assert (G**2).mean() == pytest.approx(1, abs=5 * (2 / 256) ** 0.5)


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(("inputs", "bias"), [(1, 10), (5, 0)])
def test_width_for_comes_closest_to_the_size(depth, inputs, bias):
    width = width_for(40_000, depth, inputs=inputs, bias_transform=bias)
    sizes = [
        abs(MLP(inputs, (w,) * depth, 1, bias).size - 40_000)
        for w in (width - 1, width, width + 1)
    ]
    assert sizes[1] == min(sizes)
    assert sizes[1] < 400
    net = MLP(inputs, (7,) * depth, 1, bias)
    assert net.size == sum(
        leaf.size for leaf in jax.tree.leaves(jax.eval_shape(net.init, KEY))
    )


def test_initial_weights_have_variance_two_over_the_inputs_of_their_layer():
    for layer, m in zip(
        MLP(50, (200,), 80).init(KEY)["layers"], (50, 200), strict=True
    ):
        W = np.asarray(layer.W)
        assert W.shape[1] == m
        assert (W**2).mean() == pytest.approx(2 / m, rel=5 * (2 / W.size) ** 0.5)
        assert not np.any(layer.b)


def test_bias_transformation_takes_part_in_the_step():
    learner = GradientLearner(MLP(1, (8,), 1, 3), step_size=0.01)
    task = SineTasks()(KEY)
    params = learner.init(KEY)
    moved = jax.jit(learner.step)(params, task)["bias"]
    assert abs(np.asarray(moved) - np.asarray(params["bias"])).max() > 0


def test_resumed_run_ends_where_an_unbroken_one_does(tmp_path):
    learner = GradientLearner(SMALL, step_size=0.001, steps=1)
    options = {"key": KEY, "iterations": 300, "meta_batch": 4, "progress": False}
    whole = meta_train(learner, SineTasks(), squared_error, **options)

    class BrokenOff(Exception):
        pass

    path = tmp_path / "run.npz"
    import rankone.maml.training as training

    save = training._save

    def stop(*args):
        save(*args)
        raise BrokenOff

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "_SAVE_SECONDS", -1.0)
        patch.setattr(training, "_save", stop)
        with refused(BrokenOff):
            meta_train(learner, SineTasks(), squared_error, checkpoint=path, **options)
    with np.load(path) as saved:
        assert len(saved["losses"]) == 1
    resumed = meta_train(
        learner, SineTasks(), squared_error, checkpoint=path, **options
    )
    np.testing.assert_array_equal(flat(resumed.params), flat(whole.params))
    np.testing.assert_array_equal(resumed.losses, whole.losses)
    changes = {
        "key": jax.random.key(5),
        "learning_rate": 0.0011,
        "meta_batch": 8,
        "group": 2,
        "iterations": 400,
    }
    for name, value in changes.items():
        with refused(ValueError, match=r"^checkpoint: got"):
            meta_train(
                learner,
                SineTasks(),
                squared_error,
                checkpoint=path,
                **{**options, name: value},
            )
    others = [  # everything that decides the result, changed individually
        (replace(learner, step_size=0.0020000001), SineTasks(), squared_error),
        (replace(learner, steps=2), SineTasks(), squared_error),
        (replace(learner, first_order=True), SineTasks(), squared_error),
        (learner, SineTasks(amplitude=(1.0, 2.0)), squared_error),
        (learner, SineTasks(), lambda a, b: jnp.mean(jnp.abs(a - b))),
    ]
    for other in others:
        with refused(ValueError, match=r"^checkpoint: got"):
            meta_train(*other, checkpoint=path, **options)
    whole_file = path.read_bytes()
    for damaged in (b"", whole_file[:100], whole_file[:-30], whole_file[:-4]):
        path.write_bytes(damaged)
        with refused(ValueError, match=r"^checkpoint: got"):
            meta_train(learner, SineTasks(), squared_error, checkpoint=path, **options)
    path.unlink()
    with (
        locked(path),
        refused(ValueError, match=r"^checkpoint: got .* another process"),
    ):
        meta_train(learner, SineTasks(), squared_error, checkpoint=path, **options)
    assert not list(tmp_path.iterdir())


def test_another_key_and_learning_rate_train_with_the_same_program(tmp_path):
    from rankone.maml import training

    learner = GradientLearner(SMALL, step_size=0.001, steps=1)
    options = {"iterations": 300, "meta_batch": 4}

    def run(**more):
        return meta_train(
            learner, SineTasks(), squared_error, **options, progress=False, **more
        )

    first = run(key=KEY)
    compiled = training._advance._cache_size()
    second = run(key=jax.random.key(1), learning_rate=3e-3)
    assert training._advance._cache_size() == compiled
    assert not np.array_equal(first.losses, second.losses)
    (tmp_path / "run.npz").write_bytes(b"PK of a run that was cut short")
    with refused(ValueError, match=r"^checkpoint: got .* cannot be read"):
        run(key=KEY, checkpoint=tmp_path / "run.npz")


def test_learners_compare_by_value_and_their_step_size_is_differentiable():
    learner = GradientLearner(SMALL, step_size=0.01)
    task = SineTasks()(KEY)
    params = SMALL.init(KEY)
    assert (
        learner
        == GradientLearner(MLP(1, (8,)), step_size=0.01)
        != replace(learner, step_size=0.02)
    )
    assert hash(SMALL) == hash(MLP(1, (8,)))

    def after(rate):
        return objective(params, replace(learner, step_size=rate), task)

    slope = jax.jit(jax.grad(after))(0.01)
    ends = [after(rate).item() for rate in (0.009, 0.011)]
    assert slope == pytest.approx((ends[1] - ends[0]) / 0.002, rel=0.05)


@pytest.fixture(scope="module")
def waves():
    """A learner meta-trained for long enough to be better than the average wave, and
    new tasks.
    """
    learner = GradientLearner(MLP(1, (40, 40)), step_size=0.001, steps=5)
    options = {"key": KEY, "iterations": 1200, "learning_rate": 5e-3, "progress": False}
    with optimized():  # takes half the time
        trained = meta_train(learner, SineTasks(), squared_error, **options)
    return learner, trained, draw_tasks(SineTasks(), 300, key=jax.random.key(1))


def test_meta_training_lowers_the_error_after_five_steps(waves):
    learner, trained, fresh = waves
    starts = learner.init(KEY), trained.params
    before, after = (
        np.asarray(after_steps(learner, p, fresh, squared_error, steps=5)[1].mean)
        for p in starts
    )
    assert after[5] < 0.3 * before[5]
    assert after[5] < 0.4 * after[0]
    assert trained.losses[-1] < 0.3 * trained.losses[0]


def test_steps_beyond_those_of_meta_training_go_on_lowering_the_error(waves):
    """M-fig2: on the same five examples, without overfitting them."""
    learner, trained, fresh = waves
    queries = np.asarray(
        after_steps(learner, trained.params, fresh, squared_error, steps=50)[1].mean
    )
    assert queries[20] < 0.97 * queries[5]
    assert queries[50] < 0.97 * queries[5]


def test_the_oracle_uses_its_parameters_and_nothing_else():
    learner = OracleLearner(MLP(3, (8,)))
    task = SineTasks()(KEY)
    params = learner.init(KEY)
    other = replace(task, x=task.x + 1, y=task.y - 1)
    np.testing.assert_array_equal(
        learner.predict(params, task), learner.predict(params, other)
    )
    other_task = replace(task, description=task.description + 1)
    answers = [np.asarray(learner.predict(params, t)) for t in (other_task, task)]
    assert abs(answers[0] - answers[1]).max() > 0


def test_evaluation_is_the_mean_over_tasks_and_after_steps_starts_at_the_initialisation():
    learner = GradientLearner(SMALL, step_size=0.01, steps=2)
    tasks = draw_tasks(SineTasks(), 7, key=KEY)
    params = SMALL.init(KEY)
    each = [
        score(params, learner, jax.tree.map(lambda a, i=i: np.asarray(a)[i], tasks))
        for i in range(7)
    ]
    result = evaluate(learner, params, tasks, squared_error)
    np.testing.assert_allclose(result.mean, np.mean(each), rtol=1e-5)
    np.testing.assert_allclose(result.error, np.std(each, ddof=1) / 7**0.5, rtol=1e-4)
    examples, queries = after_steps(learner, params, tasks, squared_error, steps=2)
    np.testing.assert_allclose(np.asarray(queries.mean)[2], result.mean, rtol=1e-5)
    assert (
        examples.mean.shape
        == examples.error.shape
        == queries.mean.shape
        == queries.error.shape
        == (3,)
    )
    at_start = np.mean((np.asarray(SMALL(params, tasks.x)) - np.asarray(tasks.y)) ** 2)
    np.testing.assert_allclose(np.asarray(examples.mean)[0], at_start, rtol=1e-5)
    own = jax.jit(jax.vmap(SMALL.init))(jax.random.split(KEY, 7))
    per_task = after_steps(learner, own, tasks, squared_error, steps=2, each=True)[1]
    assert abs(np.asarray(per_task.mean) - np.asarray(queries.mean)).max() > 1e-3


def test_objectives_against_numpy():
    logits = np.array([[2.0, 0, -1], [0, 3, 1]])
    one_hot = np.eye(3)[[0, 2]]
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    assert cross_entropy(logits, one_hot) == pytest.approx(
        -np.log([p[0, 0], p[1, 2]]).mean(), rel=1e-5
    )
    assert accuracy(logits, one_hot) == 0.5
    assert jax.jit(squared_error)(np.array([1.0, 3]), np.array([0.0, 1])) == 2.5


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: MLP(0, (3,)), "inputs"),
        (lambda: MLP("1", (3,)), "inputs"),
        (lambda: MLP(True, (3,)), "inputs"),
        (lambda: MLP(1, (0,)), "hidden"),
        (lambda: MLP(1, 3), "hidden"),
        (lambda: MLP(1, (2.5,)), "hidden"),
        (lambda: MLP(1, (3,), 1, -1), "bias_transform"),
        (lambda: MLP(1, (3,)).init(0), "key"),
        (lambda: GradientLearner(SMALL, step_size=0.0), "step_size"),
        (lambda: GradientLearner(SMALL, step_size=True), "step_size"),
        (lambda: GradientLearner(SMALL, steps=-1), "steps"),
        (lambda: GradientLearner(SMALL, steps=2.0), "steps"),
        (lambda: SineTasks(shots=0), "shots"),
        (lambda: SineTasks(queries=5.0), "queries"),
        (lambda: SineTasks(amplitude=(2, 1)), "amplitude"),
        (lambda: SineTasks(phase=3.0), "phase"),
        (
            lambda: Task(
                np.zeros((3, 1)),
                np.zeros((2, 1)),
                np.zeros((1, 1)),
                np.zeros((1, 1)),
                np.zeros(0),
            ),
            "y",
        ),
        (lambda: LetterTasks("all"), "letters"),
        (lambda: LetterTasks("test", ways=9), "ways"),
        (lambda: LetterTasks(shear=-1.0), "shear"),
        (lambda: LetterTasks(shear=np.nan), "shear"),
        (lambda: RecurrentLearner(1, width=0), "width"),
        (lambda: RecurrentLearner(1, head=8.0), "head"),
        (lambda: width_for(0, 1, inputs=1), "size"),
        (lambda: draw_tasks(SineTasks(), 0, key=KEY), "number"),
        (lambda: draw_tasks(SineTasks(), 2.0, key=KEY), "number"),
        (lambda: draw_tasks("sines", 2, key=KEY), "tasks"),
        (lambda: squared_error(["a"], np.ones(1)), "prediction"),
        (lambda: squared_error(np.ones((3, 1)), np.ones((1, 1))), "target"),
        (lambda: accuracy(np.ones((3, 2)), np.ones((3, 3))), "one_hot"),
        (lambda: cross_entropy(np.ones((3, 2)), np.ones((2, 2))), "one_hot"),
        (lambda: SMALL(SMALL.init(KEY), np.ones((3, 2))), "x"),
        (lambda: LEARNER.adapt(SMALL.init(KEY), np.ones(3)), "task"),
        (lambda: LEARNER.adapt(SMALL.init(KEY), SineTasks()(KEY), steps=-1), "steps"),
        (lambda: evaluate("learner", {}, SineTasks()(KEY), squared_error), "learner"),
        (
            lambda: evaluate(LEARNER, {}, SineTasks()(KEY), squared_error),
            "tasks",
        ),  # a single task without a leading axis
        (
            lambda: evaluate(LEARNER, {}, draw_tasks(SineTasks(), 2, key=KEY), "loss"),
            "metric",
        ),
        (
            lambda: after_steps(SMALL, {}, SineTasks()(KEY), squared_error, steps=1),
            "learner",
        ),
        (
            lambda: meta_train(
                LEARNER, SineTasks(), squared_error, key=KEY, iterations=150
            ),
            "iterations",
        ),
        (
            lambda: meta_train(
                LEARNER, SineTasks(), squared_error, key=KEY, iterations=100.0
            ),
            "iterations",
        ),
        (
            lambda: meta_train(
                LEARNER,
                SineTasks(),
                squared_error,
                key=KEY,
                iterations=100,
                meta_batch=0,
            ),
            "meta_batch",
        ),
    ],
)
def test_bad_arguments_are_named(make, name):
    with refused(ValueError, match=f"^{name}: got"):
        make()
