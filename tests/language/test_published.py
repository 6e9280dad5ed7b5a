"""The updates of MEMIT, AlphaEdit, EMMET, ROME and r-ROME, against what their authors'
own code wrote into the same small GPT-2 (`tests/make_peers.py`).
"""

import json

import numpy as np
import pytest
from make_peers import (
    BLOCKS,
    CONTEXTS,
    FILE,
    REQUESTS,
    RIDGE,
    SOURCES,
    THRESHOLD,
    WEIGHT,
    earlier,
    model,
    moments,
    residuals,
)

from rankone._files import read_arrays
from rankone.editing import (
    batch_edit,
    projected_edit,
    quiet_directions,
    rank_one_edit,
)
from rankone.language.spread import spread_edit, subject_states
from rankone.printed.one_write import mixed_key_edit

pytest.importorskip("tokenizers")
# Tolerance, relative to the largest entry. Both sides run in float32. The condition
# number of the moments, 3e3, can multiply its rounding errors of 1e-7; the largest
# measured difference was 7e-6.
CLOSE = 5e-4
MIDDLE = 1


@pytest.fixture(scope="module")
def theirs():
    return read_arrays(FILE)


@pytest.fixture(scope="module")
def states():
    return subject_states(model(), REQUESTS, contexts=CONTEXTS, layer=BLOCKS[-1])


def distance(result, published):
    return float(abs(np.asarray(result) - published).max() / abs(published).max())


def memit(block, W, K, V):
    return batch_edit(W, moments()[block], K, V, omega=1 / WEIGHT)


def emmet(block, W, K, V):
    return batch_edit(W, moments()[block], K, V)


def alphaedit(block, W, K, V):
    B = quiet_directions(moments()[block], threshold=THRESHOLD)
    return projected_edit(W, B, K, V, ridge=RIDGE, written=earlier()[block])


@pytest.mark.parametrize("update", [memit, emmet, alphaedit])
def test_an_edit_of_three_blocks_equals_that_of_its_authors_code(
    theirs, states, update
):
    edits = spread_edit(
        model(),
        REQUESTS,
        states.stream[:, 0] + residuals(),
        contexts=CONTEXTS,
        blocks=BLOCKS,
        update=update,
    )
    published = theirs[update.__name__]
    for block in BLOCKS:
        assert distance(edits[block].delta, published[block]) < CLOSE


def test_an_edit_of_one_fact_equals_that_of_rome_or_r_rome(theirs, states):
    W = model().network.down(MIDDLE)
    C = moments()[MIDDLE]
    keys = np.asarray(states.keys[MIDDLE][0])
    mean, bare = keys.mean(0), keys[0]
    v = W @ bare + theirs["rome_delta"]
    mixed = mixed_key_edit(W, C, mean, bare, v).delta
    assert distance(mixed, theirs["rome"]) < CLOSE
    v = W @ bare + theirs["r_rome_delta"]
    one_key = rank_one_edit(W, C, mean, v).delta
    assert distance(one_key, theirs["r_rome"]) < CLOSE
    # the two formulas differ by far more than the tolerance
    assert distance(one_key, mixed) > 200 * CLOSE


def test_the_reference_names_its_sources(theirs):
    about = json.loads(str(theirs["about"]))
    assert set(SOURCES) < set(about)
    assert all(len(about[name]) == 12 for name in SOURCES)
