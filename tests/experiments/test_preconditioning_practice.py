"""Fine-tuning, the small transformer and learned factors in miniature, and the records
that the page draws.
"""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from rankone.data.fashion import Fashion
from rankone.language.transformer import Config, random_network
from rankone.maml import MLP, GradientLearner, SineTasks, meta_train, squared_error
from rankone.preconditioning import merge
from rankone.theory.commutation import scale_by_polar
from rankone_book.preconditioning_runs import chosen_rate, training_curves
from rankone_book.records import coverage, load_record, read_record, select

TINY = {
    "preconditioning_finetune": "--r 2 --blocks 2 --window 6 --windows 4 --held 2 --steps 4 --every 2 --rate 10",
    "preconditioning_transformer": "--width 8 --heads 2 --blocks 1 --window 6 --batch 2 --steps 4 --every 2 --held 4 "
    "--rate 1",
    "preconditioning_past": "--widths 9,5,2,5,9 --batch 8 --steps 4 --every 2 --renew 1 --test 10 --rate 0.3",
    "maml_mtnet": "--iterations 100 --meta_batch 2 --width 4 --tasks 4 --rate 0.01",
}


class Tokenizer:
    """A tokenizer whose tokens are numbers of letters."""

    def encode(self, text):
        return [ord(letter) % 30 for letter in text]


@pytest.fixture
def experiment(experiment, monkeypatch, tmp_path):
    pictures = np.random.default_rng(0).uniform(size=(30, 9)).astype(np.float32)
    fake = Fashion(pictures, np.zeros(30, np.int32))
    monkeypatch.setattr("rankone.data.fashion_mnist", lambda split: fake)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "scratch"))
    texts = tuple(f"passage {i}: {'abcdefghij'[i % 7 :]}" for i in range(30))
    monkeypatch.setattr("rankone.data.facts.corpus", lambda: texts)
    config = Config(3, 8, 12, 2, 1, 4, 30, (0.1, 0.01))
    model = SimpleNamespace(
        network=random_network(config, key=jax.random.key(0)), tokenizer=Tokenizer()
    )
    monkeypatch.setattr("rankone.language.load_smollm2", lambda: model)
    return experiment


@pytest.mark.parametrize("name", TINY)
def test_script_runs_in_miniature(experiment, name, tmp_path):
    module = experiment(name)
    record = experiment("record")
    new_record = record.main(
        module.EXPERIMENT, [*TINY[name].split(), "--seeds", "0", "--out", str(tmp_path)]
    )
    assert read_record(tmp_path / f"{name}.json") == new_record
    values = next(iter(module.GRID.values()))
    assert [
        cell["parameters"][new_record["axes"][0]] for cell in new_record["cells"]
    ] == values
    for cell in new_record["cells"]:
        assert np.isfinite(cell["results"]["loss"]).all()
    losses = {
        cell["parameters"][new_record["axes"][0]]: cell["results"]["loss"]
        for cell in new_record["cells"]
    }
    assert len(set(map(str, losses.values()))) == len(values), losses  # all differ


def test_every_method_of_fine_tuning_starts_at_the_same_network(experiment, tmp_path):
    """W + TUV = W at the start; and whitening changes the speed of U, but not the
    reachable changes.
    """
    module = experiment("preconditioning_finetune")
    record = experiment("record")
    words = TINY["preconditioning_finetune"].split()
    new_record = record.main(
        module.EXPERIMENT, [*words, "--seeds", "0", "--out", str(tmp_path)]
    )
    by_method = {
        cell["parameters"]["method"]: cell["results"] for cell in new_record["cells"]
    }
    starts = [results["loss"][0] for results in by_method.values()]
    # float32, and each method has a program of its own
    np.testing.assert_allclose(starts, starts[0], rtol=1e-6)
    np.testing.assert_allclose(
        by_method["moments"]["reach"], by_method["whitened"]["reach"], rtol=1e-3
    )
    for name in ("random", "svd", "moments"):
        assert np.all(
            np.array(by_method[name]["reach"]) < np.array(by_method[name]["best"])
        )
        assert by_method[name]["numbers"] == 4
    assert by_method["lora"]["numbers"] == 20
    assert by_method["all"]["numbers"] == 96
    assert "reach" not in by_method["lora"]


def test_the_statistics_of_fine_tuning_are_those_of_automatic_differentiation(
    experiment,
):
    """G from a nudge of the outputs, against the gradient with respect to W."""
    module = experiment("preconditioning_finetune")
    text = module.prepared(2, 6, 4, 2)
    net = text.network
    used = jnp.asarray(text.used)
    (h, labels) = map(jnp.asarray, text.train)
    zero = {"U": jnp.zeros_like(net.layers.down[-2:])}
    G, A, D = module.statistics(net, used, zero, h, labels)
    by_W = jax.grad(
        lambda change: module.outcome(net, used, change, h, labels)[0].mean()
    )(zero)["U"]
    np.testing.assert_allclose(G, by_W, rtol=1e-4, atol=1e-7)
    keys = module.outcome(net, used, zero, h, labels)[1]
    np.testing.assert_allclose(
        jnp.trace(A[0]), (keys[0] ** 2).sum(-1).mean(), rtol=1e-5
    )
    eigenvalues = np.linalg.eigvalsh(D)
    # Each block of D is positive semidefinite. Rounding the entries of an n×n block by
    # at most ε times its largest eigenvalue moves every eigenvalue by at most n·ε times
    # the largest.
    rounding = D.shape[-1] * np.finfo(np.float32).eps * eigenvalues[:, -1:]
    assert (eigenvalues > -rounding).all()


def test_shampoo_begins_as_muon_does_and_renews_its_roots_now_and_then(experiment):
    """After one gradient the update is its polar factor."""
    optimiser = experiment("preconditioning_optimisers").shampoo(2)
    G = {"W": jax.random.normal(jax.random.key(0), (4, 6))}
    update, state = optimiser.update(G, optimiser.init(G))
    expected = scale_by_polar().update(G["W"], scale_by_polar().init(G["W"]))[0]
    np.testing.assert_allclose(update["W"], expected, atol=1e-3)
    root = state[1][0].left
    _, state = optimiser.update(jax.tree.map(jnp.sin, G), state)
    np.testing.assert_array_equal(state[1][0].left, root)
    _, state = optimiser.update(G, state)
    assert not np.allclose(state[1][0].left, root)


def test_soap_is_adam_along_its_axes(experiment):
    """The first gradient changes no weight. If it is diagonal, it sets both bases to
    the axes, up to signs and order.
    """
    soap = experiment("preconditioning_optimisers").soap(100)
    adam = optax.scale_by_adam(b1=0.95, b2=0.95)
    G = jnp.diag(jnp.array([3.0, 2.0, 1.0]))
    update, ours = soap.update(G, soap.init(G))
    assert not update.any()
    theirs = adam.init(G)
    for seed in range(3):
        gradient = jax.random.normal(jax.random.key(seed), (3, 3))
        update, ours = soap.update(gradient, ours)
        expected, theirs = adam.update(gradient, theirs)
        np.testing.assert_allclose(update, expected, atol=1e-4)


def test_no_letter_of_the_transformer_sees_what_follows(experiment):
    module = experiment("preconditioning_transformer")
    params = module.initial(jax.random.key(0), 8, 1, 6, 5)
    x = jnp.array([[0, 1, 2, 3, 4, 0]])
    one, other = (module.scores(params, rows, 2) for rows in (x, x.at[0, 4].set(1)))
    np.testing.assert_allclose(one[:, :4], other[:, :4], atol=1e-6)
    assert not np.allclose(one[:, 4:], other[:, 4:])


def test_with_identity_factors_the_learner_is_maml_and_only_learned_factors_change(
    experiment,
):
    module = experiment("maml_mtnet")
    task = SineTasks()(jax.random.key(1))
    learner = module.Learner("identity", 0.01, 2, 4)
    maml = GradientLearner(MLP(1, (4, 4)), step_size=0.01, steps=2)
    params = learner.init(jax.random.key(0))
    plain = {"layers": merge(params), "bias": jnp.zeros(0)}
    np.testing.assert_allclose(
        learner.predict(params, task), maml.predict(plain, task), rtol=1e-4, atol=1e-5
    )
    for factors, learned in {
        "identity": "",
        "whitened": "",
        "T": "T",
        "both": "TV",
    }.items():
        learner = module.Learner(factors, 0.01, 1, 4)
        key = jax.random.key(2)
        before = learner.init(jax.random.split(key)[0])
        options = {"key": key, "iterations": 100, "meta_batch": 2, "progress": False}
        after = meta_train(learner, SineTasks(shots=3), squared_error, **options).params
        for old, new in zip(before, after, strict=True):
            for name in "TUV":
                moved = not np.array_equal(getattr(old, name), getattr(new, name))
                assert moved == (name in learned or name == "U")


def test_recorded_fine_tuning_says_what_the_page_says():
    """The method that reaches most of the gradient does not gain most. Training removes
    the gradient within reach, and the rest stays.
    """
    record = load_record("preconditioning_finetune")
    by_method = {
        name: [
            cell["results"]
            for cell in select(record, method=name, rate=chosen_rate(record, name))
        ]
        for name in record["full"]["method"]
    }
    gains = {
        name: np.mean([cell["loss"][0] - cell["loss"][-1] for cell in cells])
        for name, cells in by_method.items()
    }
    reach = {
        name: np.mean(cells[0]["reach"])
        for name, cells in by_method.items()
        if "reach" in cells[0]
    }
    assert (
        reach["moments"]
        == reach["whitened"]
        > 100 * reach["random"]
        > 100 * reach["svd"]
    )
    assert (
        0.8 * gains["moments"] < min(gains["random"], gains["svd"]) < gains["moments"]
    )
    assert gains["whitened"] < 0.5 * gains["random"]
    assert 1.1 * gains["moments"] < min(gains["lora"], gains["all"])
    before = by_method["moments"][0]
    after = by_method["moments"][0]["after"]
    inside = [now["reach"][-1] * now["gradient"][-1] for now in (before, after)]
    outside = [(1 - now["reach"][-1]) * now["gradient"][-1] for now in (before, after)]
    assert inside[1] < 0.1 * inside[0]
    assert outside[1] > 0.5 * outside[0]


def test_recorded_autoencoders_cross_the_line_and_adam_ends_below():
    curves = training_curves(load_record("preconditioning_past"))
    line = select(load_record("preconditioning_line"), width=16)[0]["results"]["error"]
    ends = {name: run.loss[:, -1] for name, run in curves.items()}
    assert all(len(each) == 3 for each in ends.values())
    assert (
        ends["momentum"].min()
        > line
        > ends["explicit"].max()
        > ends["explicit"].min()
        > ends["adam"].max()
    )
    crossed = {
        name: run.steps[run.loss.mean(0) < line][0]
        for name, run in curves.items()
        if name != "momentum"
    }
    assert crossed["explicit"] < crossed["adam"]


def test_recorded_transformers_end_in_the_order_that_the_page_gives():
    record = load_record("preconditioning_transformer")
    curves = training_curves(record)
    assert coverage(record).missing == ()
    assert {run.loss.shape[0] for run in curves.values()} == {3}
    ends = {name: run.loss[:, -1].mean() for name, run in curves.items()}
    pace = {name: run.seconds[-1] for name, run in curves.items()}
    assert max(ends["soap"], ends["muon"]) < ends["adam"] - 0.2 < ends["shampoo"] - 0.3
    assert abs(ends["kfac"] - ends["adam"]) < 0.05
    assert ends["inputs"] > 0.95 * ends["sgd"]
    assert min(pace["kfac"], pace["inputs"]) > 2 * max(
        pace[name] for name in ("sgd", "adam", "muon", "shampoo", "soap")
    )
    # In wall-clock time too, at the time when Adam ends.
    for run in (curves["soap"], curves["muon"]):
        assert np.interp(pace["adam"], run.seconds, run.loss.mean(0)) < ends["adam"]


def test_recorded_learned_factors_halve_the_error_without_longer_steps():
    record = load_record("maml_mtnet")
    for rate in (0.001, 0.01, 0.1):
        maml, learned = (
            select(record, factors=name, rate=rate, seed=0)[0]["results"]
            for name in ("identity", "T")
        )
        assert learned["loss"] < 0.5 * maml["loss"]
        assert np.exp(np.log(learned["lengths"]).mean()) < 1.5 * rate
