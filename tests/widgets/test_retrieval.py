"""The retrieval explorer's mathematics in JavaScript equals the package's in JAX, and
its Python half works.
"""

import jax
import jax.numpy as jnp
import node
import numpy as np
import pytest
from refusals import refused

import rankone as ro
from rankone.printed.memory_bounds import log10_theorem
from rankone.theory.basin import critical_slope, gauge, slope_ratio
from rankone.theory.error_law import error_law
from rankone.theory.kernel_error import uniform_kernel_error

# path relative to frontend/
BRIDGE = 'import { answer } from "../tests/widgets/retrieval_bridge.mjs";'
BASES = ("sincos", "cos", "exp", "expexp")
# both sides are float32; sums of 10^4 terms in another order differ by about 1e-6
RTOL = 1e-4


def javascript(name, **job):
    """The answer of one job in retrieval_bridge.mjs."""
    return node.reply(BRIDGE, [name, job])


def relative(result, expected):
    result = np.asarray(result, float)
    expected = np.asarray(expected, float)
    return np.linalg.norm(result - expected) / np.linalg.norm(expected)


def setting(seed, D=70, K=6):
    """Random patterns in the cube of diameter 1, and a state near the first, where no
    estimate is below the floor.
    """
    rng = np.random.default_rng(seed)
    Xi = (rng.random((K, D)) / np.sqrt(D)).astype(np.float32)
    state = (0.8 * Xi[0] + 0.2 * rng.random(D) / np.sqrt(D)).astype(np.float32)
    return Xi, state


@pytest.mark.parametrize("seed", [0, 7, 2**31 + 5, 2**32 - 1])
def test_random_numbers_are_those_of_jax(seed):
    n = 4099
    page = javascript("random", seed=seed, n=n)
    key = jax.random.key(np.uint32(seed))
    assert page["split"] == jax.random.key_data(jax.random.split(key, 3)).tolist()
    bits = jax.random.bits(key, (n,), "uint32").tolist()
    assert page["bits"] == bits
    assert page["tail"] == bits[-5:]
    np.testing.assert_array_equal(page["uniform"], jax.random.uniform(key, (n,)))
    np.testing.assert_allclose(
        page["normal"], jax.random.normal(key, (n,)), rtol=1e-6, atol=1e-6
    )


def test_random_bits_equal_the_binary_patterns_of_the_package():
    patterns = np.asarray(javascript("bits", K=3, n=100, seed=3))
    # fewer patterns are the first of more patterns
    expected = ro.data.binary_patterns(500, 100, key=jax.random.key(3))[:3]
    np.testing.assert_allclose(patterns / 10, expected, rtol=1e-6)


@pytest.mark.parametrize("detail", [32, 64])
def test_the_pictures_arrive_in_the_page_as_they_are(detail):
    picture_sheet = sheet(explorer(detail=detail))
    pixels = np.array(javascript("sheet", **picture_sheet), float)
    np.testing.assert_allclose(
        pixels.reshape(24, -1) / picture_sheet["top"],
        ro.data.photographs(detail),
        atol=1e-6,
    )
    assert len(picture_sheet["packed"]) < {32: 60_000, 64: 150_000}[detail]


def sheet(widget):
    """The data of the finest pictures that the page receives."""
    if widget.finer:
        return {"packed": np.frombuffer(widget.finer, np.uint8), "side": 64, "top": 255}
    return {"packed": np.frombuffer(widget.pictures, np.uint8), **widget.scale}


@pytest.mark.parametrize(
    ("basis", "D", "Y"),
    [*((basis, 70, 500) for basis in BASES), ("sincos", 64, 64), ("cos", 200, 1000)],
)
def test_both_memories_equal_the_package(basis, D, Y):
    Xi, state = setting(D, D)
    beta = 8.0
    seed = 11
    page = javascript(
        "memory", patterns=Xi, state=state, beta=beta, Y=Y, seed=seed, basis=basis
    )
    memory = distributed(Xi, beta, Y, seed, basis)
    exact = ro.MrDAM(Xi, beta)
    assert relative(page["T"], memory.T) < RTOL
    assert page["energy"] == pytest.approx(float(memory.energy(state)), rel=RTOL)
    assert relative(page["gradient"], memory.gradient(state)) < RTOL
    assert page["exactEnergy"] == pytest.approx(float(exact.energy(state)), rel=RTOL)
    assert relative(page["exactGradient"], exact.gradient(state)) < RTOL
    assert not page["floored"]


def distributed(Xi, beta, Y, seed, basis="sincos"):
    key = jax.random.key(seed)
    features = ro.RandomFeatures(
        Xi.shape[1], Y, key=key, basis=basis, projection="hadamard"
    )
    return ro.DrDAM.store(Xi, beta, features)


@pytest.mark.parametrize("basis", ["sincos", "cos"])
def test_a_floored_state_follows_the_same_tangent(basis):
    Xi, _ = setting(0, 128)
    state = -Xi[0] - 0.5 / np.sqrt(128).astype(np.float32)
    memories = [distributed(Xi, 300.0, 400, seed, basis) for seed in range(12)]
    seed = next(i for i, memory in enumerate(memories) if bool(memory.floored(state)))
    page = javascript(
        "memory", patterns=Xi, state=state, beta=300.0, Y=400, seed=seed, basis=basis
    )
    assert page["floored"]
    assert page["energy"] == pytest.approx(
        float(memories[seed].energy(state)), rel=1e-3
    )
    # h reaches 50: its float32 error is 4e-6
    assert relative(page["gradient"], memories[seed].gradient(state)) < 1e-3


@pytest.mark.parametrize("basis", BASES)
def test_adding_and_removing_equals_storing(basis):
    Xi, _ = setting(5)
    page = javascript("edit", patterns=Xi, beta=8.0, Y=300, seed=2, basis=basis)
    patterns = np.delete(Xi, 1, axis=0)
    assert relative(page, distributed(patterns, 8.0, 300, 2, basis).T) < RTOL


@pytest.mark.parametrize("basis", BASES)
def test_the_first_frequencies_of_a_memory_are_a_memory(basis):
    Xi, state = setting(5)
    page = javascript(
        "first",
        patterns=Xi,
        state=state,
        beta=8.0,
        Y=900,
        part=300,
        seed=2,
        basis=basis,
    )
    expected = distributed(Xi, 8.0, 300, 2, basis)
    assert relative(page["T"], expected.T) < RTOL
    assert relative(page["gradient"], expected.gradient(state)) < RTOL


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("clamped", [False, True])
def test_ten_steps_equal_the_package(basis, clamped):
    Xi, state = setting(9, 100)
    clamp = np.arange(100) < 40 if clamped else None
    options = {"beta": 8.0, "Y": 4000, "seed": 1, "basis": basis, "eta": 0.1}
    page = javascript(
        "retrieve", patterns=Xi, query=state, clamp=clamp, steps=10, **options
    )
    for memory, energies, end in (
        (ro.MrDAM(Xi, 8.0), "energyExact", "x"),
        (distributed(Xi, 8.0, 4000, 1, basis), "energyDistributed", "xHat"),
    ):
        expected = ro.retrieve(
            memory, state, step_size=0.1, max_steps=10, tol=0, clamp=clamp
        )
        column = np.array(page["records"], float)[:, page["fields"].index(energies)]
        np.testing.assert_allclose(column, expected.energies, rtol=RTOL)
        assert relative(page[end], expected.x) < RTOL
        if clamped:
            np.testing.assert_array_equal(np.float32(page[end])[clamp], state[clamp])


@pytest.mark.parametrize("frequency", [0, 127, 128, 599])
def test_the_details_of_one_frequency_equal_those_of_the_package(frequency):
    """Compares the weights, the phases, the entry of T, Ŝ and its slope that the
    machine shows.
    """
    Xi, state = setting(6, 100)
    beta = 8.0
    Y = 600
    options = {"beta": beta, "Y": Y, "seed": 3, "frequency": frequency}
    page = javascript("anatomy", patterns=Xi, state=state, **options)
    memory = distributed(Xi, beta, Y, 3, "sincos")

    def angle(x):
        """The phase of the frequency at inputs so small that it is within ±π."""
        phi = memory.features.phi(x)
        return np.arctan2(phi[..., Y + frequency], phi[..., frequency])

    weights = angle(0.1 * np.eye(100, dtype=np.float32)) / 0.1
    assert relative(page["weights"], weights) < RTOL
    root = np.sqrt(beta)
    phi = np.sqrt(Y) * memory.features.phi(root * np.concatenate([Xi, state[None]]))
    phases = np.array([*page["phases"], page["phase"]])
    np.testing.assert_allclose(np.cos(phases), phi[:, frequency], atol=RTOL)
    np.testing.assert_allclose(np.sin(phases), phi[:, Y + frequency], atol=RTOL)
    T = np.sqrt(Y) * np.asarray(memory.T)
    sums = page["entry"]["cos"], page["entry"]["sin"]
    np.testing.assert_allclose(sums, T[[frequency, Y + frequency]], atol=RTOL)
    assert sums[0] == pytest.approx(np.cos(page["phases"]).sum(), abs=RTOL)
    products = T * phi[-1]
    part = products[:Y] + products[Y:]
    assert page["part"] == pytest.approx(float(part[frequency]), abs=RTOL * len(Xi))
    S = float(memory.partition(state))
    assert page["S"] == pytest.approx(S, rel=RTOL)
    counts, running = np.reshape(page["running"], (-1, 2)).T
    assert counts[0] == 1
    assert counts[-1] == Y
    means = np.cumsum(part)[counts.astype(int) - 1] / counts
    np.testing.assert_allclose(running, means, atol=RTOL * len(Xi))
    assert relative(page["gradient"], memory.gradient(state)) < RTOL


@pytest.mark.parametrize("most", [1e9, 400])
def test_every_step_of_a_run_can_be_looked_at(most):
    """This holds also if only few states were stored, and after the run has
    converged.
    """
    Xi, state = setting(9, 108)
    clamp = np.arange(108) < 40
    options = {"beta": 8.0, "Y": 4000, "seed": 1, "basis": "sincos", "eta": 0.2}
    options |= {"steps": 60, "most": most, "frequency": 5, "clamp": clamp}
    page = javascript("machine", patterns=Xi, query=state, **options)
    steps = len(page["states"]) - 1
    assert page["kept"] == (steps + 1 if most == 1e9 else min(page["kept"], 3))
    assert page["beyond"] is None
    memory = distributed(Xi, 8.0, 4000, 1, "sincos")
    exact = ro.MrDAM(Xi, 8.0)
    for t in (1, 7, 20):
        expected = ro.retrieve(
            memory, state, step_size=0.2, max_steps=t, tol=0, clamp=clamp
        ).x
        assert relative(page["states"][t], expected) < RTOL
        look = page["looks"][t]
        assert look["S"] == pytest.approx(float(memory.partition(expected)), rel=RTOL)
        S = np.exp(-8.0 * float(exact.energy(expected)))
        assert look["exact"] == pytest.approx(S, rel=RTOL)
        # the next state equals the state of the next step in every drawn byte
        assert look["next"] == page["looks"][t + 1]["state"]
        assert not look["atRest"]
    assert page["looks"][-1]["atRest"]


def test_the_local_bound_holds_and_the_law_predicts_the_distance_within_threefold():
    Xi = np.asarray(ro.data.photographs(16)[:5] / np.sqrt(768), np.float32)
    query = Xi[0].copy()
    query[384:] = 0.5 / np.sqrt(768)
    clamp = np.arange(768) < 384
    options = {
        "beta": 60.0,
        "Y": 20000,
        "eta": 0.1,
        "basis": "sincos",
        "clamp": clamp,
        "steps": 40,
    }
    for seed in range(3):
        page = javascript("retrieve", patterns=Xi, query=query, seed=seed, **options)
        column = {
            name: np.array(page["records"], float)[1:, i]
            for i, name in enumerate(page["fields"])
        }
        assert np.all(column["distance"] <= column["local"] * (1 + 1e-4))
        assert np.all(column["local"] < 4 * column["distance"])
        assert np.all(np.abs(np.log(column["law"] / column["distance"])) < np.log(3))
        assert np.all(column["printed"] > np.log10(column["distance"]) + 1)


@pytest.mark.parametrize("masked", [False, True])
def test_the_laws_equal_the_variances_measured_over_draws(masked):
    """M_A and V, compared with linearised errors averaged over many draws of Gaussian
    features [D-sharp2].
    """
    Xi, state = setting(3, 24, K=4)
    beta = 6.0
    Y = 200
    draws = 1500
    free = np.arange(24) < 15 if masked else np.ones(24, bool)
    page = javascript("laws", patterns=Xi, state=state, beta=beta, free=free, eta=0.5)
    memory = ro.MrDAM(Xi, beta)
    S = np.exp(-beta * float(memory.energy(state)))
    g = memory.gradient(state)

    def draw(key):
        omega = jax.random.normal(key, (Y, 24))
        h = np.sqrt(beta) * (state - Xi) @ omega.T
        slope = -np.sqrt(beta) * jnp.sin(h).sum(0) @ omega / Y
        noise = jnp.cos(h).sum() / Y - S
        error = -(slope + beta * S * g + beta * g * noise) / (beta * S)
        return noise**2, (jnp.where(free, error, 0) ** 2).sum()

    noise, error = jax.lax.map(draw, jax.random.split(jax.random.key(0), draws))
    # 3 s.e.: √(2/1500) × 3 = .11
    assert page["V"] / Y == pytest.approx(float(noise.mean()), rel=0.12)
    assert page["MA"] / Y == pytest.approx(float(error.mean()), rel=0.05)


@pytest.mark.parametrize("eta", [0.1, 1.0, 1.7])
def test_the_contraction_is_that_of_the_hessian(eta):
    Xi, state = setting(4, 20)
    state = Xi[:2].mean(0)
    hessian = jax.jit(jax.hessian(ro.MrDAM(Xi, 30.0).energy))(state)
    expected = np.abs(1 - eta * np.linalg.eigvalsh(hessian)).max()
    contraction = javascript(
        "laws", patterns=Xi, state=state, beta=30.0, free=None, eta=eta
    )["rho"]
    assert contraction == pytest.approx(expected, rel=RTOL)


@pytest.mark.parametrize(
    ("beta", "steps", "eta"),
    [
        (1.5, 4, 0.01),
        (60.0, 1, 0.1),
        (60.0, 1000, 0.1),
        (1500.0, 40, 0.1),
        (2e5, 1, 0.1),
        (1e-8, 9, 1 / 9),
    ],
)
def test_the_printed_bound_equals_that_of_the_package(beta, steps, eta):
    D = 3072
    K = 8
    Y = 20000
    energy = 0.02
    delta = 0.05
    eps0 = uniform_kernel_error(D=D, Y=Y, radius=np.sqrt(beta), delta=delta)
    setting = {"beta": beta, "K": K, "energy": energy}
    expected = log10_theorem(**setting, eps0=eps0, step_size=eta, steps=steps)
    result = javascript(
        "printed", **setting, D=D, Y=Y, eta=eta, steps=steps, delta=delta
    )
    assert result == pytest.approx(expected, rel=1e-9)


def test_the_law_equals_that_of_the_package():
    Xi, state = setting(6, 40)
    law = error_law(ro.MrDAM(Xi, 12.0), state)
    page = javascript("laws", patterns=Xi, state=state, beta=12.0, free=None, eta=0.5)
    assert page["V"] == pytest.approx(float(law.V), rel=1e-3)
    assert page["MA"] == pytest.approx(float(law.M_A), rel=1e-3)


@pytest.mark.parametrize("basis", ["sincos", "cos"])
def test_the_gauge_equals_that_of_the_package(basis):
    Xi, query = setting(1, 100)
    free = 60
    eta = 0.3
    beta = 60.0
    Y = 400
    seed = 3
    page = javascript(
        "gauge",
        query=query,
        patterns=Xi,
        beta=beta,
        Y=Y,
        seed=seed,
        basis=basis,
        free=free,
        eta=eta,
    )
    expected = gauge(distributed(Xi, beta, Y, seed, basis), query, free=free)
    assert page["roughness"] == pytest.approx(expected.roughness, rel=RTOL)
    assert page["pull"] == pytest.approx(
        float(expected.slope_ratio) / critical_slope(eta), rel=1e-3
    )


def test_the_gauge_gives_no_value_for_positive_features():
    Xi, query = setting(1)
    page = javascript(
        "gauge",
        query=query,
        patterns=Xi,
        beta=3.0,
        Y=100,
        seed=0,
        basis="exp",
        free=70,
        eta=0.1,
    )
    assert page == {"roughness": None, "pull": None}


def test_the_slope_ratio_equals_that_of_the_package():
    heights = np.array([-0.1, 0.0, 1e-5, 0.2, np.exp(-0.5), 0.9, 1.3])
    np.testing.assert_allclose(
        javascript("slopes", heights=heights, c=0.7),
        slope_ratio(heights, 0.7),
        rtol=1e-12,
    )


@pytest.fixture(scope="module")
def presets():
    """Each question on the shipped photographs, run to its end, with the page's own
    findings and answer.
    """
    widget = explorer(detail=64)
    runs = javascript("presets", sheet=sheet(widget), names=widget.names)
    return {run["key"]: run for run in runs}


def right(run):
    return [run["both"][memory]["right"] for memory in ("exact", "distributed")]


def error(run, memory="distributed"):
    return run["both"][memory]["error"]


def test_the_answers_to_the_photograph_questions_are_true(presets):
    start = presets["start"]
    assert right(start) == [True, True]
    assert start["pull"] > 2
    assert start["sentence"].startswith("Both memories bring the picture back")
    assert error(start) < 0.04
    assert not start["both"]["distributed"]["grainy"]  # both succeed cleanly

    black = presets["black"]
    assert right(black) == [True, False]
    assert black["right"] == "exact"
    assert error(black, "exact") == pytest.approx(error(start, "exact"), abs=0.01)
    assert black["pull"] < 2
    assert black["both"]["distributed"]["noisy"]
    assert "lost in noise" in black["told"]

    sharp = presets["beta"]
    assert right(sharp) == [True, False]
    assert error(sharp, "exact") < 0.01
    assert error(sharp) > 3 * error(start)
    assert sharp["pull"] < 0.7
    assert "Lower β" in sharp["sentence"]

    few = presets["features"]
    assert right(few) == [True, False]
    assert few["pull"] < 1
    assert few["roughness"] > 2
    assert "Raise Y" in few["sentence"]
    assert few["numbers"]["distributed"] < few["numbers"]["exact"]

    more = presets["more"]
    assert error(more, "exact") < error(more) < 0.7 * error(start)
    assert more["numbers"]["distributed"] > 10 * more["numbers"]["exact"]


def test_a_blend_of_pictures_does_not_count_as_success(presets):
    many = presets["memories"]
    assert right(many) == [False, False]
    assert many["both"]["exact"]["mixed"] > 2
    # several pictures pull at once, which the noise gauge does not distinguish from one
    assert many["pull"] > 0.7
    assert many["right"] == "none"
    assert "β = 75 is too small" in many["sentence"]
    assert "blend of about 9 pictures" in many["sentence"]
    far = presets["far"]  # the same β separates these six: only the query is too far
    assert right(far) == [False, False]
    assert "The query is too far" in far["sentence"]
    assert not many["both"]["distributed"]["noisy"]
    covered = presets["all covered"]
    assert covered["pull"] > 2
    assert right(covered) == [False, False]


def test_a_picture_of_which_nothing_is_hidden_is_right(presets):
    shown = presets["nothing hidden"]
    assert shown["freedom"] == 0
    assert right(shown) == [True, True]
    assert "Nothing is hidden" in shown["sentence"]


def test_a_run_that_ended_early_is_not_blamed_on_beta(presets):
    cut = presets["cut short"]
    assert cut["steps"] == 40
    assert cut["both"]["exact"]["mixed"] > 2  # it looks like a blend
    assert not cut["both"]["exact"]["right"]
    assert "ended before the exact memory came to rest" in cut["sentence"]
    assert presets["longer"]["both"]["exact"]["right"]  # with the step limit raised


def test_the_sentence_about_a_query_that_counts_as_far_gives_advice_that_helps(presets):
    """24 pictures at a β that separates them: Y is the way. At β = 200 no Y is
    enough, and a smaller β is the way.
    """
    raised = presets["raised"]
    assert right(raised) == [True, False]
    assert "far away" in raised["sentence"]
    assert raised["sentence"].endswith("Raise Y.")
    assert right(presets["raised with Y"]) == [True, True]
    assert presets["beta"]["sentence"].endswith("Lower β.")


def test_the_sentence_about_bits_names_y_only_if_the_largest_y_is_enough(presets):
    far = presets["far bits"]
    assert right(far) == [True, False]
    assert far["sentence"].endswith("Flip fewer bits.")
    assert right(presets["near bits"]) == [True, True]


def test_the_questions_on_bits_reach_the_threshold_and_figure_3(presets):
    threshold = presets["threshold"]
    assert right(threshold) == [True, False]
    assert error(threshold, "exact") == 0
    assert 2 * threshold["freedom"] * threshold["K"] == 40_000
    assert right(presets["threshold at 2DK"]) == [True, False]
    assert right(presets["threshold at fifty"]) == [True, True]
    assert error(presets["threshold at fifty"]) == 0
    third = presets["figure3"]
    assert third["K"] == 500
    assert third["both"]["exact"]["mixed"] > 100
    assert third["right"] == "blend"
    assert right(presets["figure3 at fifty"])[0]


def test_the_answers_for_the_settings_of_the_paper_are_true(presets):
    figure1 = presets["figure1"]
    assert right(figure1) == [True, False]
    assert figure1["pull"] < 2
    for way_out in ("figure1 with coffee", "figure1 with grey"):
        assert right(presets[way_out])[1]
        assert error(presets[way_out]) < 0.06
    figure2 = presets["figure2"]
    assert right(figure2) == [True, True]
    assert figure2["numbers"] == {"exact": 20 * 12288, "distributed": 400_000}


def test_an_overflow_is_reported_with_its_step(presets):
    assert presets["overflow"]["overflow"] is not None
    assert presets["start"]["overflow"] is None


COPIED = [
    {
        "beta": 30,
        "Y": 8000,
        "K": 6,
        "without": [2],
        "also": [11],
        "target": 11,
        "side": "left",
        "noise": 0.1,
        "seed": 4,
    },
    {
        "fraction": 0.3,
        "side": "box",
        "fill": "noise",
        "basis": "cos",
        "clamp": False,
        "beta": 20,
        "Y": 40_000,
    },
    {"collection": "bits", "size": 16, "K": 60, "flips": 0.07, "Y": 9000, "seed": 2},
]


def test_the_copied_python_code_computes_what_the_page_shows(capsys, run_copied):
    widget = explorer()
    for case in javascript(
        "python", sheet=sheet(widget), names=widget.names, cases=COPIED
    ):
        run_copied(case["text"])
        said = dict(
            line.split(" error ") for line in capsys.readouterr().out.splitlines()
        )
        for memory in ("exact", "distributed"):
            assert float(said[memory]) == pytest.approx(case[memory], abs=3e-4)


@pytest.fixture(scope="module")
def mapped():
    widget = explorer()
    setting = {"size": 32, "K": 4, "steps": 30}
    betas = [20.0, 60.0, 150.0]
    Ys = [1000, 8000, 40000]
    page = javascript(
        "map",
        sheet=sheet(widget),
        names=widget.names,
        settings=setting,
        betas=betas,
        Ys=Ys,
    )
    return page | {"betas": betas, "Ys": Ys}


def test_a_cell_of_the_map_is_the_error_of_that_setting_alone(mapped):
    assert len(mapped["cells"]) == 9
    for (_, _, page_error, picture), expected in zip(
        mapped["cells"], mapped["alone"], strict=True
    ):
        assert len(picture) == 16 * 16 * 3
        # Diverging runs have no definite number.
        assert (page_error > 1) == (expected > 1)
        if expected < 1:
            assert page_error == pytest.approx(expected, abs=2e-3)


def test_the_prediction_for_a_column_is_the_law_of_the_package(mapped):
    """The law has the exact partition sum for Ŝ(q), the sum of all kernels for E‖T‖²,
    and the edge where the slope equals the critical slope.
    """
    pictures = ro.data.photographs(32)[:4]
    Xi = pictures / 3072**0.5
    query = np.where(np.arange(3072) < 1536, pictures[0], 0.5) / 3072**0.5
    squares = ((Xi[:, None] - Xi) ** 2).sum(-1)
    for beta, column, exact in zip(
        mapped["betas"], mapped["foreseen"], mapped["exact"], strict=True
    ):
        S = np.exp(-beta / 2 * ((query - Xi) ** 2).sum(-1)).sum()
        grain = np.exp(-beta / 2 * squares).sum()
        assert column["S"] == pytest.approx(S, rel=1e-4)
        assert column["grain"] == pytest.approx(grain, rel=1e-4)
        c = np.sqrt(1536 * grain / (2 * column["edge"]))
        assert slope_ratio(S, c) == pytest.approx(critical_slope(0.2), rel=1e-4)
        assert column["blend"] == pytest.approx(exact["error"], abs=0.02)
        assert column["mixed"] == pytest.approx(exact["mixed"], rel=0.05)


def test_the_norm_of_T_is_the_predicted_one(mapped):
    Xi = (ro.data.photographs(32)[:4] / 3072**0.5).astype(np.float32)
    norms = [
        float((distributed(Xi, 60.0, 8000, seed).T ** 2).sum()) for seed in range(3)
    ]
    assert np.mean(norms) == pytest.approx(mapped["foreseen"][1]["grain"], rel=0.1)


def explorer(**settings):
    from rankone_book.widgets import RetrievalExplorer

    return RetrievalExplorer(**settings)


def test_the_explorer_offers_the_questions_that_the_page_has():
    from extensions.pages.explorer_links import questions
    from rankone_book.widgets import retrieval_explorer

    assert sorted(retrieval_explorer._QUESTIONS) == sorted(
        questions(node.FRONTEND.parent, "retrieval")
    )
    assert explorer(questions=["beta", "black"]).questions == ["beta", "black"]
    assert explorer().questions == []
    for bad in (["beta", "gamma"], "beta", [1]):
        with refused(ValueError, match="questions"):
            explorer(questions=bad)


def test_the_explorer_carries_its_settings_and_other_pictures():
    assert explorer(beta=40.0).settings == {"beta": 40.0}
    pixels = np.random.default_rng(0).integers(0, 256, (2, 64, 64, 3), np.uint8)
    own = explorer(pictures=pixels)
    assert own.names == ["picture 1", "picture 2"]
    np.testing.assert_array_equal(
        np.reshape(javascript("sheet", **sheet(own)), pixels.shape), pixels
    )


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"pictures": np.zeros((2, 48, 48, 3), np.uint8)}, "pictures"),
        ({"pictures": np.zeros((2, 64, 64, 3))}, "uint8"),
        ({"names": ["one"]}, "names"),
        ({"names": object()}, "names"),
        ({"pictures": [[1.0], [2.0, 3.0]]}, "^pictures: got"),
        ({"detail": 48}, "detail"),
        ({"gamma": 1}, "gamma"),
    ],
)
def test_the_explorer_says_what_is_wrong(settings, says):
    with refused(ValueError, match=says):
        explorer(**settings)


def reply(widget, kind, content=None, buffers=()):
    """The kernel's answer to a request of the page."""
    messages = []
    widget.send = lambda content, buffers=None: messages.append(
        (content, buffers or [])
    )
    widget._answer(widget, {"id": "1", "kind": kind, **(content or {})}, list(buffers))
    return messages[0]


def test_the_kernel_reports_its_device_to_the_page():
    content, _ = reply(explorer(), "hello")
    assert content == {"id": "1", "device": jax.devices()[0].device_kind}


def test_a_run_in_jax_equals_the_run_in_the_page():
    Xi, state = setting(9, 100)
    clamp = np.arange(100) < 40
    options = {
        "beta": 8.0,
        "Y": 4000,
        "eta": 0.1,
        "steps": 10,
        "basis": "sincos",
        "seed": 1,
    }
    buffers = [memoryview(a.tobytes()) for a in (Xi, state, clamp.astype(np.uint8))]
    widget = explorer()
    content, answer = reply(widget, "run", options | {"K": 6}, buffers)
    x = np.frombuffer(answer[0], np.float32)
    page = javascript("retrieve", patterns=Xi, query=state, clamp=clamp, **options)
    assert relative(x, page["xHat"]) < RTOL
    assert content["energy"] == pytest.approx(page["records"][-1][1], rel=RTOL)
    np.testing.assert_array_equal(widget.result.x, x)
    np.testing.assert_array_equal(widget.patterns, Xi)
    np.testing.assert_array_equal(widget.query, state)
    assert content["steps"] == 10


def test_a_run_that_fails_tells_the_page_why():
    content, _ = reply(
        explorer(),
        "run",
        {
            "beta": -1.0,
            "Y": 10,
            "eta": 0.1,
            "steps": 1,
            "basis": "sincos",
            "seed": 0,
            "K": 1,
        },
        [np.ones(4, np.float32).tobytes(), np.ones(4, np.float32).tobytes(), bytes(4)],
    )
    assert "beta" in content["error"]
