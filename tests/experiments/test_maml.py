"""The experiments of the chapter on meta-learning in miniature, and the records that it
shows.
"""

import json
from functools import partial

import jax
import numpy as np
import pytest

from rankone_book import maml_runs as recorded
from rankone_book.records import coverage, load_record, provenance, read_record, select

TINY = {
    "maml_sine": "--learner maml recurrent --iterations 100 --meta_batch 2 --width 8 --steps 5 --tasks 4",
    "maml_letters": "--learner maml scratch --shots 1 --iterations 100 --meta_batch 2 --width 8 --steps 3 --tasks 4",
    "maml_rates": "--family waves --learner ordinary recurrent --rate 1 --waves 200 --steps 3 --tasks 4",
    "maml_depth": "--depth 1 2 --size 400 --iterations 100 --meta_batch 2 --tasks 4",
    "maml_one_shot": "--network one built --target cos --units 8 --iterations 100 --meta_batch 2 --queries 2 --tasks 4",
    "maml_depth_rates": "--depth 1 --step_size 0.01 --size 400 --iterations 100 --meta_batch 2 --tasks 4",
}


@pytest.mark.parametrize("name", TINY)
def test_script_runs_in_miniature_and_leaves_no_checkpoint(
    experiment, name, tmp_path, monkeypatch
):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "scratch"))
    module = experiment(name)
    record = experiment("record")
    argv = [*TINY[name].split(), "--seeds", "0", "--out", str(tmp_path)]
    new_record = record.main(module.EXPERIMENT, argv)
    assert read_record(tmp_path / f"{name}.json") == new_record
    assert new_record["cells"]
    assert not list((tmp_path / "scratch").rglob("*.npz"))


@pytest.mark.parametrize("name", TINY)
def test_record_shown_in_the_book_is_whole(experiment, name):
    record = load_record(name)
    module = experiment(name)
    assert record["axes"] == list(module.GRID)
    assert record["full"] == {**module.GRID, **module.OPTIONS}
    assert coverage(record).missing == ()
    assert record["runs"][0]["date"] in provenance(record)
    assert len(
        {json.dumps(cell["parameters"], sort_keys=True) for cell in record["cells"]}
    ) == len(record["cells"])


def shown_sines():
    return recorded.at_chosen_rates(load_record("maml_sine"), load_record("maml_rates"))


def letters_after(iterations):
    return recorded.of_length(load_record("maml_letters"), iterations)


SHORT, LONG = 5_000, 60_000


@pytest.mark.parametrize("learner", ["maml", "first_order", "recurrent"])
def test_every_learner_is_shown_at_the_rate_chosen_for_it(learner):
    rates = load_record("maml_rates")
    option = "adam" if learner == "recurrent" else "step_size"
    shown_rates = {
        cell["parameters"][option] for cell in select(shown_sines(), learner=learner)
    }
    assert shown_rates == {recorded.chosen_rate(rates, "waves", learner)}
    for shots in (1, 4):
        cells = select(load_record("maml_letters"), learner=learner, shots=shots)
        assert {cell["results"]["rate"] for cell in cells} == {
            recorded.chosen_rate(rates, f"letters{shots}", learner)
        }


def test_recorded_meta_trained_networks_go_on_improving():
    for cell in select(shown_sines(), learner="maml"):
        queries = np.array(cell["results"]["queries"])
        assert queries[5] < 0.5 * queries[0]
        assert queries[100] < queries[5]


def test_recorded_meta_trained_start_beats_scratch_on_unseen_letters():
    letters = letters_after(SHORT)
    for seed in {cell["parameters"]["seed"] for cell in letters["cells"]}:
        maml = select(letters, learner="maml", shots=4, seed=seed)[0]["results"]
        scratch = select(letters, learner="scratch", shots=4, seed=seed)[0]["results"]
        best = max(line["queries"][-1] for line in scratch.values())
        assert maml["queries"][100] > best + 0.03


def test_recorded_joint_training_is_worse_than_meta_training_at_every_step_size():
    """The page says so of the best step size, after five steps and after a hundred."""
    sines = load_record("maml_sine")
    maml = recorded.over_seeds(shown_sines(), "queries", learner="maml")
    joint = [
        np.array(cell["results"]["queries"], float)
        for cell in [
            *select(sines, learner="joint"),
            *select(load_record("maml_rates"), family="waves", learner="ordinary"),
        ]
    ]
    assert len(joint) >= 3 + 4
    for steps in (5, 100):
        reached = [curve[steps] for curve in joint if len(curve) > steps]
        assert min(reached) > 2 * maml.high[steps]


def test_recorded_networks_have_equal_size_at_every_depth():
    record = load_record("maml_depth")
    sizes = [cell["results"]["parameters"] for cell in record["cells"]]
    assert max(abs(np.array(sizes) / 40_000 - 1)) < 0.01


def test_recorded_single_step_gains_from_depth_at_equal_size():
    """M-fig5, as a mean over the recorded runs."""
    record = load_record("maml_depth")
    for after in (2_000, None):
        errors = recorded.by_depth(record, after)["maml"].mean
        assert min(errors[1:]) < 0.85 * errors[0]
        assert max(errors[1:]) < errors[0]


def test_recorded_oracle_needs_no_depth_once_it_is_trained_for_long():
    record = load_record("maml_depth")
    errors = recorded.by_depth(record)
    assert errors["oracle"].high.max() < 0.01 * errors["maml"].low.min()
    early = recorded.by_depth(record, 2_000)["oracle"].mean
    assert early[0] > 10 * early.min()


def test_the_inner_step_of_each_depth_is_inside_the_grid_it_was_chosen_from():
    rates = load_record("maml_depth_rates")
    grid = rates["full"]["step_size"]
    for depth in rates["full"]["depth"]:
        assert min(grid) < recorded.best_inner_step(rates, depth) < max(grid)


def test_recorded_order_of_learners_reverses_beyond_the_training_range():
    """M-fig3: waves of amplitude 3 and of phase π/2 are within the training range;
    those of amplitude 10 or of phase 3π/2 are not.
    """
    record = shown_sines()
    for seed in {cell["parameters"]["seed"] for cell in record["cells"]}:
        step, read = (
            select(record, learner=n, seed=seed)[0]["results"]
            for n in ("maml", "recurrent")
        )
        amplitude = recorded.AMPLITUDES.index
        phase = recorded.PHASES.index
        for name, inside, outside in (
            ("by_amplitude_5", amplitude(3.0), amplitude(10.0)),
            ("by_phase_5", phase(0.5), phase(1.5)),
        ):
            assert read[name][inside] < 0.7 * step[name][inside]
            assert step[name][outside] < 0.6 * read[name][outside]


def test_recorded_gradient_learners_diverge_at_amplitude_ten_after_a_hundred_steps():
    """The page says that one seed of three diverges for the first-order method, two for
    MAML, and none after five steps.
    """
    sines = shown_sines()
    at_ten = {
        name: recorded.diverged(sines, name, "amplitude")[
            recorded.AMPLITUDES.index(10.0)
        ]
        for name in ("maml", "maml100", "first_order100")
    }
    assert at_ten == {"maml": 0, "maml100": 2, "first_order100": 1}


def test_recorded_recurrent_learner_keeps_less_above_chance_than_maml_under_large_shear():
    """M-fig3, at s = 2: of its accuracy above chance, which is one fifth, the recurrent
    learner keeps less than MAML, from one example and from four.
    """
    letters = letters_after(SHORT)
    for shots in (1, 4):
        fractions = {
            name: (band.mean[recorded.SHEARS.index(2.0)] - 0.2)
            / (band.mean[recorded.SHEARS.index(0.0)] - 0.2)
            for name, band in recorded.sheared_letters(letters, shots).items()
        }
        assert fractions["recurrent"] < 0.8 * fractions["maml"]


@pytest.mark.parametrize("shots", [1, 4])
@pytest.mark.parametrize("learner", ["maml", "first_order", "recurrent"])
def test_recorded_longer_meta_training_overfits_the_letters_it_has(learner, shots):
    """M-fig3: in every seed, longer meta-training is better on the letters of
    meta-training, and worse on the other letters without shear.
    """
    of_both = [
        {cell["parameters"]["seed"]: cell["results"] for cell in cells}
        for cells in (
            select(letters_after(length), learner=learner, shots=shots)
            for length in (SHORT, LONG)
        )
    ]
    assert [set(by_seed) for by_seed in of_both] == [{0, 1, 2}] * 2
    for seed in (0, 1, 2):
        short, long = (by_seed[seed] for by_seed in of_both)
        assert long["seen"] > short["seen"]
        assert long["by_shear"][0] < short["by_shear"][0]


@pytest.mark.parametrize("shots", [1, 4])
def test_recorded_order_of_the_learners_on_letters_depends_on_the_length(shots):
    """In the shorter runs the recurrent learner is last in every seed at every shear;
    in the longer ones, without shear, the first-order method is.
    """

    def scores(length, learner):
        return {
            cell["parameters"]["seed"]: np.array(cell["results"]["by_shear"])
            for cell in select(letters_after(length), learner=learner, shots=shots)
        }

    for seed in (0, 1, 2):
        for other in ("maml", "first_order"):
            assert np.all(scores(SHORT, "recurrent")[seed] < scores(SHORT, other)[seed])
        for other in ("maml", "recurrent"):
            assert scores(LONG, "first_order")[seed][0] < scores(LONG, other)[seed][0]


def test_recorded_sines_are_of_the_published_scale():
    """70,000 iterations, as the public code's, with three seeds."""
    cells = shown_sines()["cells"]
    assert {cell["parameters"]["iterations"] for cell in cells} == {70_000}
    for learner in ("maml", "first_order", "joint", "recurrent"):
        assert sorted(
            c["parameters"]["seed"]
            for c in cells
            if c["parameters"]["learner"] == learner
        ) == [0, 1, 2]


def test_training_fits_a_one_shot_target_only_where_a_short_step_can():
    record = load_record("maml_one_shot")
    errors = recorded.one_shot_errors(record)
    # To first order, no network is better than the answer 0.
    for target in ("minus", "sin"):
        for network in ("one", "two", "three"):
            assert errors[target][network].min() > 0.98
    assert errors["cos"]["one"].min() > 0.9
    for network in ("two", "three"):
        assert errors["cos"][network].max() < 0.4
    for rows in errors.values():
        assert rows["built"].max() < 0.2
    for cell in select(record, network="one"):  # the kernel of one layer is at least 1
        for when in ("start", "end"):
            assert cell["results"][when]["against"] == 0
            assert cell["results"][when]["switched_on"] == 0
    sizes = recorded.one_shot_ends(record)["parameters"]
    assert sizes.max() < 1.02 * sizes.min()


def test_the_one_shot_kernel_is_that_of_short_steps(experiment):
    """The answer of `OneStep` moves by step size · error · kernel, to first order."""
    module = experiment("maml_one_shot")
    learner = module.OneStep(module.MLP(1, (6, 6)))
    step = 1e-3

    @jax.jit
    def both(key):
        weights = learner.model.init(key)
        task = module.OneShotTasks("cos", 5)(key)
        short = {"weights": weights, "log_step": np.log(step)}
        moved = learner.predict(short, task) - learner.model(weights, task.x_query)
        error = task.y[0, 0] - learner.answer(weights, task.x[0, 0])
        at_query = partial(learner.kernel, weights, task.x[0, 0])
        return moved[:, 0] / (step * error), jax.vmap(at_query)(task.x_query[:, 0])

    moves, kernel = both(jax.random.key(1))
    # The tolerance covers the second order and float32; both are far below a per cent
    # of the kernel's size.
    np.testing.assert_allclose(moves, kernel, atol=0.02 * abs(kernel).max())
