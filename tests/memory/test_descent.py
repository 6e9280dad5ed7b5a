"""Retrieval: descent, clamping, convergence, the record, and bad input."""

from types import SimpleNamespace

import compiled_programs
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused

import rankone as ro
from rankone.checks import Outcome
from rankone.memory import descent
from rankone.precision import double_precision


@pytest.fixture(autouse=True)
def double():
    with double_precision():
        yield


@pytest.fixture
def Xi():
    return np.asarray(ro.data.binary_patterns(20, 30, key=jax.random.key(0)), float)


@pytest.fixture
def x0():
    return np.random.default_rng(1).random((4, 30)) / np.sqrt(30)


def test_each_step_is_gradient_descent(Xi, x0):
    memory = ro.MrDAM(Xi, 20.0)
    x = x0
    for _ in range(5):
        x = x - 0.3 * np.asarray(memory.gradient(x))
    run = ro.retrieve(memory, x0, step_size=0.3, max_steps=5, tol=0)
    np.testing.assert_allclose(run.x, x, rtol=1e-12)
    energies = np.asarray(run.energies)
    np.testing.assert_allclose(energies[:, -1], memory.energy(x), rtol=1e-12)
    np.testing.assert_allclose(energies[:, 0], memory.energy(x0), rtol=1e-12)
    assert run.steps.tolist() == [5] * 4
    assert not np.any(run.converged)


@pytest.mark.parametrize("step_size", [0.1, 1.0, 1.9, 2.0])
@pytest.mark.parametrize("beta", [1.0, 50.0, 500.0])
def test_energy_never_rises_for_any_step_size_up_to_two(Xi, x0, beta, step_size):
    """[D-sharp1]"""
    energies = ro.retrieve(
        ro.MrDAM(Xi, beta), x0, step_size=step_size, max_steps=80, tol=0
    ).energies
    assert (np.diff(energies, axis=-1) <= 1e-12).all()


def test_energy_rises_beyond_two(Xi, x0):
    energies = ro.retrieve(
        ro.MrDAM(Xi[:1], 5.0), x0, step_size=2.2, max_steps=20, tol=0
    ).energies
    assert (np.diff(energies, axis=-1) > 0).all()


def test_clamped_entries_never_move_and_free_entries_converge(Xi):
    memory = ro.MrDAM(Xi, 80.0)
    clamp = np.arange(30) < 15
    start = np.where(clamp, Xi, 0.5 / np.sqrt(30))
    run = ro.retrieve(
        memory, start, step_size=0.5, max_steps=500, tol=1e-9, clamp=clamp
    )
    x = np.asarray(run.x)
    np.testing.assert_array_equal(x[:, :15], start[:, :15])
    assert np.all(run.converged)
    assert np.abs(memory.gradient(x))[:, 15:].max() < 1e-8
    assert (((x[:, None] - Xi) ** 2).sum(-1).argmin(1) == np.arange(20)).all()


def test_a_converged_query_stays_while_others_move(Xi):
    memory = ro.MrDAM(Xi, 200.0)
    rest = ro.retrieve(memory, Xi[0], step_size=0.5, max_steps=2000, tol=1e-13).x
    pair = np.stack([rest, Xi[1] + 0.02])
    run = jax.tree.map(
        np.asarray, ro.retrieve(memory, pair, step_size=0.5, max_steps=300, tol=1e-10)
    )
    assert run.steps[0] <= 2 < run.steps[1]
    alone = ro.retrieve(memory, pair[1], step_size=0.5, max_steps=300, tol=1e-10)
    np.testing.assert_allclose(run.x[1], alone.x, atol=1e-15)
    assert run.steps[1] == alone.steps
    assert (run.energies[0, 3:] == run.energies[0, 3]).all()


def test_retrieval_inside_jit_equals_outside(Xi, x0):
    memory = ro.DrDAM.store(Xi, 20.0, ro.RandomFeatures(30, 500, key=jax.random.key(2)))
    options = {"step_size": 0.05, "max_steps": 60, "tol": 1e-7}
    outside = ro.retrieve(memory, x0, **options)
    inside = jax.jit(lambda m, x: ro.retrieve(m, x, **options))(memory, x0)
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12),
        outside,
        inside,
    )


def test_retrieve_accepts_batches_of_any_shape(Xi):
    run = ro.retrieve(ro.MrDAM(Xi, 20.0), Xi.reshape(4, 5, 30), max_steps=7)
    assert run.x.shape == (4, 5, 30)
    assert run.energies.shape == (4, 5, 8)
    assert run.steps.shape == run.converged.shape == run.floored.shape == (4, 5)
    assert ro.retrieve(ro.MrDAM(Xi, 20.0), Xi[0], max_steps=7).energies.shape == (8,)


def test_floored_states_are_counted():
    Xi = ro.data.binary_patterns(300, 50, key=jax.random.key(3))
    far = ro.data.binary_patterns(40, 50, key=jax.random.key(4))
    memory = ro.DrDAM.store(
        Xi, 50.0, ro.RandomFeatures(50, 1000, key=jax.random.key(5))
    )
    run = ro.retrieve(memory, far, step_size=1e-9, max_steps=3, tol=0)
    np.testing.assert_array_equal(run.floored, np.asarray(memory.floored(far), float))
    assert 0 < np.mean(run.floored) < 1
    assert not np.any(ro.retrieve(ro.MrDAM(Xi, 50.0), far, max_steps=3).floored)


def test_a_query_rests_when_its_largest_move_is_at_most_tol():
    """Each step goes half of the way to the only pattern, 0. The t-th moves are 2^−t
    and 0, and the tenth move equals tol.
    """
    start = np.eye(1, 30)
    run = ro.retrieve(
        ro.MrDAM(np.zeros((1, 30)), 1.0),
        start,
        step_size=0.5,
        max_steps=100,
        tol=2.0**-10,
    )
    assert run.steps.tolist() == [10]
    assert np.all(run.converged)
    np.testing.assert_array_equal(run.x, start * 2.0**-10)


def test_floored_counts_the_visited_states_alone():
    """A query at rest on the floor counts once, however long the others move. The other
    query leaves the floor half-way.
    """

    class Bowl:
        D = 1

        def read(self, x):
            # all but the states 0.25 and 0.75
            return (
                0.5 * (x**2).sum(-1),
                x,
                jnp.abs(x[:, 0] - 0.5) != 0.25,
            )

        def energy_and_gradient(self, x):
            return self.read(x)[:2]

    jax.tree_util.register_static(Bowl)
    run = ro.retrieve(
        Bowl(), np.array([[0.0], [1.0]]), step_size=0.5, max_steps=50, tol=2.0**-4
    )
    assert run.steps.tolist() == [1, 4]
    # all states but the third, of 1, 1/2, 1/4 and 1/8
    np.testing.assert_array_equal(run.floored, [1.0, 0.75])


def test_a_state_is_certified_if_a_step_of_tol_is_not_rounded_off():
    """At 1, a step of at least half of eps, 2⁻⁵³, is not rounded off. Without `tol`, no
    step has to survive rounding.
    """

    class Bowl:
        D = 1

        def energy_and_gradient(self, x):
            return 0.5 * ((x - 1) ** 2).sum(-1), x - 1

    jax.tree_util.register_static(Bowl)
    certified = [
        ro.retrieve(Bowl(), np.ones(1), max_steps=3, tol=tol).certified.item()
        for tol in (2.0**-53, 2.0**-54, 0.0)
    ]
    assert certified == [True, False, True]


def test_any_object_with_an_energy_can_be_retrieved_from():
    class Bowl:
        D = 3

        def energy_and_gradient(self, x):
            return 0.5 * (x**2).sum(-1), x

    jax.tree_util.register_static(Bowl)
    run = ro.retrieve(Bowl(), np.ones(3), step_size=0.5, max_steps=100)
    np.testing.assert_allclose(run.x, 0, atol=1e-5)


def test_no_progress_bar_appears_where_the_environment_asks_for_none(
    Xi, x0, capsys, monkeypatch
):
    monkeypatch.setenv("TQDM_DISABLE", "1")
    ro.retrieve(ro.MrDAM(Xi, 20.0), x0, max_steps=60, tol=0, progress=True)
    assert "retrieve" not in capsys.readouterr().err


def test_progress_bar_appears_when_asked(Xi, x0, capsys):
    ro.retrieve(ro.MrDAM(Xi, 20.0), x0, max_steps=60, tol=0, progress=True)
    assert "60/60" in capsys.readouterr().err
    ro.retrieve(ro.MrDAM(Xi, 20.0), x0, max_steps=60, tol=0)
    assert capsys.readouterr().err == ""


def test_without_a_bar_all_steps_are_one_call_and_find_the_same(Xi, x0):
    runs = [
        ro.retrieve(ro.MrDAM(Xi, 20.0), x0, max_steps=60, tol=0, progress=progress)
        for progress in (False, None)
    ]
    assert runs[0] == runs[1]
    assert runs[0].steps.tolist() == [60] * 4


def test_a_new_number_of_steps_compiles_nothing(Xi, x0):
    memory = ro.MrDAM(Xi, 20.0)
    ro.retrieve(memory, x0, max_steps=3, tol=0)
    before = compiled_programs.compiled
    for max_steps in (1, 17, 24, 25, 61):
        run = ro.retrieve(memory, x0, max_steps=max_steps, tol=0)
        assert run.energies.shape == (*x0.shape[:-1], max_steps + 1)
        assert (np.asarray(run.steps) == max_steps).all()
    assert compiled_programs.compiled == before
    # the same result as inside jit, where the number of steps is part of the program
    traced = jax.jit(lambda x: ro.retrieve(memory, x, max_steps=61, tol=0).energies)
    np.testing.assert_allclose(run.energies, traced(x0), rtol=1e-5)


def test_energies_and_three_counts_are_fetched_once_in_25_states(Xi, x0, monkeypatch):
    """60 steps have 61 states. Without a progress bar, all are fetched at once. The
    counts are fetched first, so that the host waits once.
    """
    fetched = []
    spy = SimpleNamespace(**vars(np))
    spy.asarray = lambda value: fetched.append(value.shape) or np.asarray(value)
    monkeypatch.setattr(descent, "np", spy)
    memory = ro.MrDAM(Xi, 20.0)
    x0 = jnp.asarray(x0)
    ro.retrieve(memory, x0, max_steps=60, tol=0)
    assert fetched == [(3,), (25, 4)] * 3
    fetched.clear()
    ro.retrieve(memory, x0, max_steps=60, tol=0, progress=False)
    assert fetched == [(3,), (250, 4)]


def test_a_retrieval_is_one_program_however_long(Xi, x0):
    """A retrieval is one program, whether short or long. A second program tells whether
    jit is active.
    """
    memory = ro.MrDAM(Xi, 20.0)
    x0 = jnp.asarray(x0[:3])
    before = compiled_programs.compiled
    ro.retrieve(memory, x0, max_steps=60, tol=0)
    assert compiled_programs.compiled - before <= 2
    before = compiled_programs.compiled
    ro.retrieve(memory, x0, max_steps=3)
    assert compiled_programs.compiled == before


BAD = {
    "query of another length": ({"x0": np.ones(8)}, "x0"),
    "NaN query": ({"x0": np.full(30, np.nan)}, "x0"),
    "step zero": ({"step_size": 0.0}, "step_size"),
    "step in words": ({"step_size": "0.1"}, "step_size"),
    "no steps": ({"max_steps": 0}, "max_steps"),
    "steps a truth value": ({"max_steps": True}, "max_steps"),
    "steps in words": ({"max_steps": "9"}, "max_steps"),
    "negative tol": ({"tol": -1.0}, "tol"),
    "no tol": ({"tol": None}, "tol"),
    "a tol for each entry": ({"tol": np.ones(3)}, "tol"),
    "indices for a mask": ({"clamp": np.arange(30)}, "clamp"),
    "short mask": ({"clamp": np.ones(8, bool)}, "clamp"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_by_name(case, Xi):
    options, name = BAD[case]
    with refused(ValueError, match=rf"^{name}: got .* it must be .*\.$"):
        ro.retrieve(ro.MrDAM(Xi, 20.0), **{"x0": Xi, **options})


@pytest.mark.parametrize("memory", [None, np.ones((3, 30))])
def test_objects_that_are_not_memories_are_refused(memory, x0):
    with refused(ValueError, match=r"^memory: got .* it must be .*\.$"):
        ro.retrieve(memory, x0)


def test_the_error_for_an_unregistered_memory_mentions_pytrees(x0):
    class Bowl:
        D = 30

        def energy_and_gradient(self, x):
            return 0.5 * (x**2).sum(-1), x

    with refused(ValueError, match=r"^memory: got .* it must be .*pytree.*\.$"):
        ro.retrieve(Bowl(), x0)


@pytest.mark.parametrize("rows", [(0,), (2, 0)])
def test_no_queries_give_an_empty_record(Xi, rows):
    run = ro.retrieve(ro.MrDAM(Xi, 20.0), np.zeros((*rows, 30)), max_steps=np.int64(4))
    assert (run.x.shape, run.energies.shape, run.steps.shape) == (
        (*rows, 30),
        (*rows, 5),
        rows,
    )


@jax.tree_util.register_static
class Cliff:
    """Energy that falls to −∞ from 1 on."""

    D = 30

    def energy_and_gradient(self, x):
        return -(x**4).sum(-1), jnp.where(x > 1, -1e3 * x**3, 0)


def test_queries_that_become_nonfinite_are_reported_by_warning_and_outcome(x0):
    x0 = np.where(np.arange(4)[:, None] < 3, x0 + 1.0, x0)

    def descend(x):
        return ro.retrieve(Cliff(), x, step_size=1.0, max_steps=50, tol=0.0)

    with pytest.warns(RuntimeWarning, match=r"3 of 4 queries became NaN or infinite"):
        run = descend(x0)
    outcomes = [Outcome.NOT_FINITE] * 3 + [Outcome.OK]
    assert run.outcome.tolist() == outcomes
    assert jax.jit(descend)(x0).outcome.tolist() == outcomes


def test_retrieving_from_an_emptied_memory_has_the_outcome_empty(Xi):
    memory = ro.DrDAM.store(
        Xi[:1], 20.0, ro.RandomFeatures(30, 500, key=jax.random.key(2))
    )
    assert ro.retrieve(memory, Xi[0], max_steps=3).outcome == Outcome.OK
    assert (
        ro.retrieve(memory.remove(Xi[0]), Xi[0], max_steps=3).outcome == Outcome.EMPTY
    )


def test_more_patterns_than_are_stored_cannot_be_removed(Xi):
    memory = ro.DrDAM.store(
        Xi[:1], 20.0, ro.RandomFeatures(30, 500, key=jax.random.key(2))
    )
    with refused(
        ValueError,
        match=r"^xi: got 2 patterns; it must be at most the 1 that are stored",
    ):
        memory.remove(Xi[:2])
    with refused(
        ValueError,
        match=r"^xi: got 1 patterns; it must be at most the 0 that are stored",
    ):
        memory.remove(Xi[0]).remove(Xi[0])
    assert jax.jit(lambda memory: memory.remove(Xi[:2]).count)(memory) == -1


def test_retrieve_on_constant_arrays_inside_another_jit_is_traced(Xi, x0):
    memory = ro.MrDAM(Xi, 20.0)
    states = jax.jit(lambda y: ro.retrieve(memory, x0, max_steps=5, tol=0).x + y)(0.0)
    np.testing.assert_allclose(
        states, ro.retrieve(memory, x0, max_steps=5, tol=0).x, rtol=1e-12
    )
