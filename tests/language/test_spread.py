"""MEMIT and AlphaEdit over several blocks of a small model, against their published
loops written out in numpy with a forward pass of its own.
"""

import numpy as np
import pytest
from language_models import plain_run, small_model
from refusals import refused

from rankone.editing import batch_edit, projected_edit, quiet_directions
from rankone.language import Request
from rankone.language.spread import context_mean, spread_edit, subject_states

pytest.importorskip("tokenizers")
BLOCKS = [0, 1, 2]
CONTEXTS = ["", "Once in Rome. ", "The country. "]
REQUESTS = [
    Request("The city of {} is", subject, "Rome")
    for subject in ("Norway", "Japan", "Oslo")
]
# The library runs the model in float32, and the reference in float64. Three blocks of
# edits multiply the rounding errors of the model by the condition numbers of the
# solves.
CLOSE = 2e-3


@pytest.fixture(scope="module")
def moments():
    """Second moments of each block's keys: random, of a condition number near 1e3."""
    rng = np.random.default_rng(0)
    old = rng.normal(size=(len(BLOCKS), 48, 300)) * np.geomspace(0.02, 1, 48)[:, None]
    return old @ old.transpose(0, 2, 1) / 300


def reference_states(model, request):
    """Mean key in each block, and the stream of the bare prompt after the last."""
    keys = []
    for context in CONTEXTS:
        text = context + request.text
        last = model.tokenizer.last_token_of(request.subject, text)
        values = plain_run(model.network, model.tokenizer.encode(text)[: last + 1])[1]
        keys.append(values["key"][:, -1])
        if context == "":
            stream = values["hidden"][BLOCKS[-1], -1]
    mean = np.mean([keys[0], np.mean(keys[1:], axis=0)], axis=0)
    return mean, stream


def published(model, deltas, update):
    """The loop over layers of `execute_memit`: layer_ks, targets, resid, upd_matrix."""
    start = [reference_states(model, request) for request in REQUESTS]
    zs = np.stack([stream for _, stream in start]) + deltas
    changes = {}
    for i, layer in enumerate(BLOCKS):
        now = [reference_states(model, request) for request in REQUESTS]
        layer_ks = np.stack([mean[layer] for mean, _ in now], axis=1)
        cur_zs = np.stack([stream for _, stream in now])
        resid = (zs - cur_zs).T / (len(BLOCKS) - i)
        changes[layer] = update(layer, layer_ks, resid)
        W = np.asarray(model.network.down(layer), float)
        model = model.with_down(layer, (W + changes[layer]).astype(np.float32))
    return changes


@pytest.fixture(scope="module")
def deltas():
    return np.random.default_rng(1).normal(size=(3, 32)).astype(np.float32)


@pytest.fixture(scope="module")
def targets(deltas):
    states = subject_states(
        small_model(), REQUESTS, contexts=CONTEXTS, layer=BLOCKS[-1]
    )
    return states.stream[:, 0] + deltas


def compared(edits, changes):
    for block in BLOCKS:
        delta = np.asarray(edits[block].delta)
        difference = abs(delta - changes[block]).max()
        assert difference < CLOSE * abs(changes[block]).max()


def test_memit_over_three_blocks_equals_its_published_loop(moments, deltas, targets):
    weight = 2.0

    def memit(block, W, K, V):
        C = moments[block].astype(np.float32)
        return batch_edit(W, C, K, V, omega=1 / weight)

    def update(layer, layer_ks, resid):
        cov = moments[layer]
        adj_k = np.linalg.solve(weight * cov + layer_ks @ layer_ks.T, layer_ks)
        return resid @ adj_k.T

    edits = spread_edit(
        small_model(),
        REQUESTS,
        targets,
        contexts=CONTEXTS,
        blocks=BLOCKS,
        update=memit,
    )
    compared(edits, published(small_model(), deltas, update))


def test_alphaedit_over_three_blocks_equals_its_published_loop(
    moments, deltas, targets
):
    threshold = 0.1
    L2 = 0.5
    earlier = np.random.default_rng(2).normal(size=(len(BLOCKS), 48, 2))
    earlier = earlier.astype(np.float32)

    def alphaedit(block, W, K, V):
        C = moments[block].astype(np.float32)
        B = quiet_directions(C, threshold=threshold)
        return projected_edit(W, B, K, V, ridge=L2, written=earlier[block])

    def update(layer, layer_ks, resid):
        U, S, _ = np.linalg.svd(moments[layer])
        P = U[:, threshold > S] @ U[:, threshold > S].T
        cache_c = earlier[layer] @ earlier[layer].T
        upd_matrix = np.linalg.solve(
            P @ (layer_ks @ layer_ks.T + cache_c) + L2 * np.eye(48),
            P @ layer_ks @ resid.T,
        )
        return upd_matrix.T

    edits = spread_edit(
        small_model(),
        REQUESTS,
        targets,
        contexts=CONTEXTS,
        blocks=BLOCKS,
        update=alphaedit,
    )
    compared(edits, published(small_model(), deltas, update))


def test_keys_are_assigned_to_their_contexts_whatever_the_reading_order():
    few = subject_states(small_model(), REQUESTS, contexts=CONTEXTS, layer=2, rows=4)
    mean, stream = reference_states(small_model(), REQUESTS[1])
    np.testing.assert_allclose(
        context_mean(few.keys)[:, 1], mean[: len(BLOCKS)], rtol=1e-3, atol=1e-5
    )
    np.testing.assert_allclose(few.stream[1, 0], stream, rtol=1e-3, atol=1e-5)
    np.testing.assert_array_equal(context_mean(few.keys[:, :, :1]), few.keys[:, :, 0])


def test_blocks_that_do_not_ascend_are_refused(targets):
    for blocks in ([], [2, 1], [1, 1]):
        with refused(ValueError, match="blocks: got"):
            spread_edit(
                small_model(), REQUESTS, targets, blocks=blocks, update=batch_edit
            )


def test_requests_and_contexts_that_are_missing_are_refused():
    with refused(ValueError, match="requests: got"):
        subject_states(small_model(), [], layer=2)
    with refused(ValueError, match="contexts: got"):
        subject_states(small_model(), REQUESTS, contexts=["Once. "], layer=2)


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("model", "llama"),
        ("requests", ["Paris"]),
        ("targets", np.ones((1, 32))),
        ("targets", np.full((3, 32), np.nan)),
        ("contexts", "Once. "),
        ("update", "memit"),
        ("states", 1.0),
    ],
)
def test_a_bad_argument_is_named_before_a_block_is_run(targets, name, bad):
    good = {"model": small_model(), "requests": REQUESTS, "targets": targets}
    good |= {"blocks": BLOCKS, "update": batch_edit}
    with refused(ValueError, match=rf"^{name}(\[0\])?: got .*it must be"):
        spread_edit(**good | {name: bad})


def test_keys_without_an_axis_of_contexts_are_refused():
    with refused(ValueError, match=r"^keys: got shape \(3,\)"):
        context_mean(np.ones(3))
