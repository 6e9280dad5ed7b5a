"""Numbers and pictures that the chapter on meta-learning takes from its records, and
the kernel of a gradient step.
"""

from dataclasses import replace

import jax
import matplotlib.pyplot as plt
import numpy as np
import pytest
from refusals import refused

from rankone.maml import (
    MLP,
    GradientLearner,
    PolynomialTasks,
    SineTasks,
    draw_tasks,
    meta_train,
    squared_error,
)
from rankone.theory.step_kernel import frozen_predictions, step_rates
from rankone_book import maml_runs as recorded
from rankone_book.records import load_record, select

KEY = jax.random.key(0)


def cell(results, **parameters):
    return {"parameters": parameters, "results": results}


def test_band_is_mean_and_range_over_the_chosen_cells():
    record = {
        "cells": [
            cell({"q": [1.0, 4.0]}, learner="a", seed=0),
            cell({"q": [3.0, 0.0]}, learner="a", seed=1),
        ]
    }
    record["cells"].append(cell({"q": [9.0, 9.0]}, learner="b", seed=0))
    band = recorded.over_seeds(record, "q", learner="a")
    assert [part.tolist() for part in (band.mean, band.low, band.high)] == [
        [2.0, 2.0],
        [1.0, 0.0],
        [3.0, 4.0],
    ]
    assert recorded.seeds(record) == 2
    with refused(ValueError, match=r"^parameters: got"):
        recorded.over_seeds(record, "q", learner="c")


def test_iterations_are_listed_once_smallest_first():
    assert recorded.iterations(
        {"cells": [cell({}, iterations=n) for n in (9, 1024, 3, 9)]}
    ) == [3, 9, 1024]


def tried(queries, family="letters4", learner="ordinary", **rates):
    return [
        cell({"queries": queries(rate)}, family=family, learner=learner, rate=rate)
        for rate in rates.values()
    ]


def test_the_rate_is_the_best_at_the_steps_that_are_compared():
    """The best rate has the least error on waves and the largest accuracy on letters.
    Curves that end early have diverged. The recurrent learner has one score.
    """
    errors = {0.3: [3, 2, 1.0], 1.0: [3, 1, 2.0], 3.0: [3]}
    record = {"cells": tried(errors.get, "waves", "maml", a=0.3, b=1.0, c=3.0)}
    assert recorded.chosen_rate(record, "waves", "maml", 1) == 0.001
    assert recorded.chosen_rate(record, "waves", "maml", 2) == 0.0003
    record["cells"] += tried(
        lambda rate: [rate / 10], "letters1", "recurrent", a=1.0, b=3.0
    )
    assert recorded.chosen_rate(record, "letters1", "recurrent") == 0.003
    with refused(ValueError, match=r"^learner: got"):
        recorded.chosen_rate(record, "letters4", "maml")


@pytest.mark.parametrize("name", ["iterations", "tasks", "step_size"])
def test_no_mean_is_taken_over_cells_of_several_settings(name):
    usual = {"learner": "scratch", "shots": 4, "iterations": 3, "tasks": 5}
    usual |= {"step_size": 0.1}
    alike = [cell({"seen": seed}, seed=seed, **usual) for seed in (0, 1)]
    assert recorded.over_seeds({"cells": alike}, "seen", shots=4).mean == 0.5
    other = cell({"seen": 1}, seed=2, **(usual | {name: 60}))
    with refused(ValueError, match=rf"^parameters: got .* differ in {name};"):
        recorded.over_seeds({"cells": [*alike, other]}, "seen", shots=4)


def test_scratch_takes_the_step_size_that_was_best_on_other_letters():
    def lines(a, b):
        return {
            "0.1": {"examples": [0, 1], "queries": [0.9, a]},
            "1": {"examples": [1, 1], "queries": [0.2, b]},
        }

    record = {
        "cells": [
            cell(lines(0.7, 0.6), learner="scratch", shots=4),
            cell(lines(0.8, 0.6), learner="scratch", shots=4),
        ]
    }
    rates = {"cells": tried(lambda rate: [0.2] * 100 + [rate / 20], a=1.0, b=10.0)}
    rate, bands = recorded.from_scratch(record, rates, shots=4)
    assert rate == "1"  # although 0.1 is better on the tasks that are shown
    assert bands["queries"].mean[-1] == pytest.approx(0.6)
    assert bands["examples"].mean.tolist() == [1, 1]


def test_a_record_shows_each_learner_at_its_chosen_rate_if_that_has_all_seeds():
    full = {"learner": ["maml", "recurrent"], "step_size": 0.001, "adam": 0.001}
    usual = {"step_size": 0.001, "adam": 0.001}
    cells = [
        cell({}, learner=learner, seed=seed, **(usual | other))
        for learner, other, seeds in (
            ("maml", {}, (0, 1)),
            ("maml", {"step_size": 0.003}, (0, 1)),
            ("recurrent", {}, (0, 1)),
            ("recurrent", {"adam": 0.003}, (0,)),
        )
        for seed in seeds
    ]
    rates = {
        "cells": [
            *tried(lambda rate: [1 / rate] * 6, "waves", "maml", a=1.0, b=3.0),
            *tried(lambda rate: [1 / rate], "waves", "recurrent", a=1.0, b=3.0),
        ]
    }
    record = recorded.at_chosen_rates({"full": full, "cells": cells}, rates)
    assert recorded.seeds(record) == 2
    parameters = [cell["parameters"] for cell in record["cells"]]
    assert {(p["learner"], p["step_size"], p["adam"]) for p in parameters} == {
        ("maml", 0.003, 0.001),
        ("recurrent", 0.001, 0.001),  # at its chosen rate a seed is missing
    }
    assert len(record["cells"]) == 4


def test_selecting_a_length_keeps_only_its_cells_of_the_record():
    record = {"cells": [cell({}, iterations=n, seed=0) for n in (9, 3)], "name": "x"}
    part = recorded.of_length(record, 3)
    assert recorded.iterations(part) == [3]
    assert part["name"] == "x"


def test_depths_are_in_order_and_bands_span_the_seeds():
    cells = [
        cell(
            {"queries": level, "losses": [1e9, *[level + 1000] * 4, level + 2000]},
            learner=name,
            depth=d,
            seed=s,
        )
        for s in (1, 0)
        for name in ("oracle", "maml")
        for d in (2, 1)
        for level in [10 * d + s + 100 * (name == "oracle")]
    ]
    record = {"full": {"depth": [1, 2]}, "cells": cells}
    bands = recorded.by_depth(record)
    assert bands["maml"].mean.tolist() == [10.5, 20.5]
    assert bands["maml"].high.tolist() == [11, 21]
    assert bands["oracle"].low.tolist() == [110, 120]
    assert recorded.by_depth(record, 600)["maml"].mean.tolist() == [1210.5, 1220.5]


def test_the_inner_step_of_a_depth_is_the_one_with_the_least_error():
    tried = ((1000, 0.1, 3.0), (1000, 0.3, 2.0), (1000, 1.0, None), (5000, 0.1, 1.0))
    rates = {
        "full": {"iterations": 1000},
        "cells": [
            cell({"queries": error}, depth=1, step_size=step, iterations=n, seed=3)
            for n, step, error in tried
        ],
    }
    assert recorded.best_inner_step(rates, 1) == 0.3
    with refused(ValueError, match=r"^depth: got 2;"):
        recorded.best_inner_step(rates, 2)


def test_recorded_axes_are_the_experiments_own(experiment):
    assert experiment("maml_sine").AMPLITUDES is recorded.AMPLITUDES
    assert experiment("maml_sine").PHASES is recorded.PHASES
    assert experiment("maml_letters").SHEARS is recorded.SHEARS
    sines = recorded.at_chosen_rates(
        load_record("maml_sine"), load_record("maml_rates")
    )
    waves = recorded.other_waves(sines, "phase")["maml"]
    assert len(waves.mean) == len(recorded.PHASES)


def test_answering_zero_costs_the_mean_square_of_the_wave():
    x = np.linspace(-5, 5, 20_001)
    for phase, error in zip(
        recorded.PHASES, recorded.answering_zero("phase"), strict=True
    ):
        amplitudes = np.linspace(0.1, 5, 2001)
        square = np.mean(amplitudes**2) * np.mean(np.sin(x - phase * np.pi) ** 2)
        assert error == pytest.approx(square, rel=1e-3)
    assert recorded.answering_zero("amplitude").tolist()[-1] == 50


def test_figures_draw_every_recorded_learner():
    rates, depth = load_record("maml_rates"), load_record("maml_depth")
    sines = recorded.at_chosen_rates(load_record("maml_sine"), rates)
    letters = recorded.of_length(load_record("maml_letters"), 5_000)
    # one line marks five steps
    assert [len(ax.lines) for ax in recorded.draw_steps(sines, letters)[1]] == [
        5,
        4,
    ]
    # Lines of four learners, of the answer 0 and of the edge of training, and on the
    # left the crosses of two learners that diverge. Letters have lines from one example
    # and from four.
    assert [len(ax.lines) for ax in recorded.draw_other_tasks(sines, letters)[1]] == [
        8,
        6,
        6,
    ]
    assert len(recorded.draw_scratch(letters, rates)[1].lines) == 5
    ax = recorded.draw_depth(depth, 2_000)[1]
    errors = [cell["results"]["queries"] for cell in select(depth, learner="maml")]
    assert np.mean(ax.lines[0].get_ydata()) == pytest.approx(np.mean(errors))
    plt.close("all")


def test_for_a_linear_model_the_frozen_kernel_predicts_training_exactly():
    learner = GradientLearner(MLP(1, ()), step_size=0.02)
    task = SineTasks()(KEY)
    params = learner.init(KEY)
    frozen = np.asarray(frozen_predictions(learner, params, task, 7))
    adapted = {steps: learner.adapt(params, task, steps) for steps in (0, 1, 7)}
    for steps, after in adapted.items():
        np.testing.assert_allclose(
            frozen[steps], learner.model(after, task.x_query), atol=1e-5
        )
    x = np.asarray(task.x)
    y = np.asarray(task.y)
    error = [np.asarray(learner.model(adapted[n], task.x)) - y for n in (0, 1)]
    J = np.concatenate([x, np.ones_like(x)], axis=1)
    M = 0.02 * 2 / 5 * J @ J.T
    np.testing.assert_allclose(error[1], error[0] - M @ error[0], atol=1e-5)
    np.testing.assert_allclose(
        step_rates(learner, params, task), np.linalg.eigvalsh(M), atol=1e-6
    )


def test_kernel_of_a_deep_network_is_right_to_first_order():
    task = SineTasks()(KEY)
    gaps = []
    for step_size in (1e-3, 1e-4):
        learner = GradientLearner(MLP(1, (16, 16)), step_size=step_size)
        params = learner.init(KEY)
        real = np.asarray(learner.model(learner.adapt(params, task, 1), task.x_query))
        gaps.append(
            abs(
                np.asarray(frozen_predictions(learner, params, task, 1))[1] - real
            ).max()
        )
    assert gaps[0] > 1e-4
    # The gap is of second order: a hundredth, except for rounding.
    assert gaps[1] < gaps[0] / 30


def trained_in_groups(**group):
    learner = GradientLearner(MLP(1, (8,)), step_size=0.003)
    options = {"key": KEY, "iterations": 100, "meta_batch": 6, "progress": False}
    return meta_train(learner, PolynomialTasks(), squared_error, **group, **options)


@pytest.fixture(scope="module")
def whole():
    return trained_in_groups()


@pytest.mark.parametrize("group", [1, 2, 3])
def test_groups_of_tasks_add_up_to_the_whole_batch(group, whole):
    np.testing.assert_allclose(
        trained_in_groups(group=group).losses, whole.losses, rtol=1e-3
    )


@pytest.mark.parametrize("group", [0, 4, 12])
def test_group_must_divide_the_batch(group):
    learner = GradientLearner(MLP(1, (8,)))
    with refused(ValueError, match=r"^group: got"):
        meta_train(
            learner,
            SineTasks(),
            squared_error,
            key=KEY,
            iterations=100,
            meta_batch=6,
            group=group,
        )


def test_the_recurrent_state_is_bounded_for_any_amplitude_of_the_wave():
    """The state stays in [−1, 1], so the answers are bounded for any weights. Those
    after a gradient step are not.
    """
    from rankone.maml import RecurrentLearner

    learner = RecurrentLearner(1, width=8, head=8)
    params = jax.tree.map(lambda leaf: 3 * np.asarray(leaf), learner.init(KEY))
    tasks = draw_tasks(SineTasks(), 20, key=KEY)
    for factor in (1.0, 1e3, 1e6):
        states = jax.vmap(lambda t: learner.read(params, t))(
            replace(tasks, y=factor * tasks.y)
        )
        assert abs(np.asarray(states)).max() <= 1
