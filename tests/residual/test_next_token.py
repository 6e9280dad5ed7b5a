"""Places in texts: the states and labels of a language model, and the residuals of its
predictions there.
"""

import jax
import numpy as np
import pytest
from language_models import plain_logits, small_model
from refusals import refused

import rankone as ro
from rankone.residual.next_token import next_scores, next_token_residuals, read_places
from rankone.residual.storage import bare_labels

MODEL = small_model()
TEXTS = [
    "The capital of France is Paris",
    "No",
    "In Norway one says Oslo, in Japan another city",
]
V = len(MODEL.network.embedding)


def test_places_hold_the_states_that_score_the_next_token():
    places = read_places(MODEL, TEXTS, context=3)
    rows = [MODEL.tokenizer.encode(text) for text in TEXTS]
    assert len(places) == sum(max(len(row) - 3, 0) for row in rows)
    scores = np.asarray(next_scores(MODEL.network, places.z))
    for row, text in ((rows[0], 0), (rows[2], 2)):
        mine = places.texts == text
        assert places.labels[mine].tolist() == row[3:]
        assert places.ends[mine].tolist() == [*range(3, len(row))]
        np.testing.assert_allclose(
            scores[mine], plain_logits(MODEL.network, row)[2:-1], atol=2e-4
        )


def test_a_long_text_is_read_in_the_first_window_that_holds_each_place():
    places = read_places(MODEL, TEXTS[2:], context=2, window=12, stride=8, batch=2)
    row = MODEL.tokenizer.encode(TEXTS[2])
    assert places.ends.tolist() == [*range(2, len(row))]
    scores = np.asarray(next_scores(MODEL.network, places.z))
    last = len(row) - 1 - 12
    for at, start in ((1, 0), (11, 0), (12, 8), (19, 8), (len(row) - 2, last)):
        expected = plain_logits(MODEL.network, row[start : at + 1])[-1]
        np.testing.assert_allclose(
            scores[places.ends == at + 1][0], expected, atol=2e-4
        )


def test_the_same_places_come_from_batches_of_any_size():
    one, other = (read_places(MODEL, TEXTS, context=2, batch=batch) for batch in (1, 8))
    np.testing.assert_allclose(one.z, other.z, atol=1e-5)


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_residuals_are_the_largest_entries_of_onehot_minus_softmax(temperature):
    places = read_places(MODEL, TEXTS, context=2)
    logits = next_scores(MODEL.network, places.z)
    fitted = ro.ResMem(k=5, temperature=temperature, keep=9).fit(
        places.z, logits=logits, labels=places.labels
    )
    stored = next_token_residuals(MODEL, places, temperature=temperature, keep=9)
    from_residuals = ro.ResMem(k=5).fit_residuals(places.z, stored)
    queries = places.z[::3] + 0.1
    np.testing.assert_allclose(
        from_residuals.correction(queries), fitted.correction(queries), atol=1e-6
    )
    p = jax.nn.softmax(logits / temperature)
    known = (
        p + ro.ResMem(k=1).fit_residuals(places.z, stored).correction(places.z)
    ).argmax(1)
    assert (np.asarray(known) == places.labels).all()


def test_bare_labels_equal_one_hot_residuals():
    places = read_places(MODEL, TEXTS, context=2)
    votes = (
        ro.ResMem(k=4)
        .fit_residuals(places.z, bare_labels(places.labels, V))
        .correction(places.z)
    )
    expected = (
        ro.ResMem(k=4)
        .fit_residuals(places.z, jax.nn.one_hot(places.labels, V))
        .correction(places.z)
    )
    np.testing.assert_allclose(votes, expected, atol=1e-6)


def test_quote_returns_the_context_and_the_next_token():
    places = read_places(MODEL, TEXTS, context=3)
    i = int(np.flatnonzero(places.labels == MODEL.tokenizer.encode(" Paris")[0])[0])
    assert places.quote(MODEL, i, 4) == ("France is", "Paris")
    for length in (int(places.ends[i]) + 1, 1000):
        assert places.quote(MODEL, i, length)[0] == "The capital of France is"


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: read_places(MODEL, ["No"], context=5), "texts"),
        (lambda: read_places(MODEL, []), "texts"),
        (lambda: read_places(MODEL, TEXTS, context=0), "context"),
        (lambda: read_places(MODEL, TEXTS, context=2, stride=300), "stride"),
        (
            lambda: next_token_residuals(
                MODEL, read_places(MODEL, TEXTS, context=2), keep=0
            ),
            "keep",
        ),
        (
            lambda: next_token_residuals(
                MODEL, read_places(MODEL, TEXTS, context=2), keep=V + 1
            ),
            "keep",
        ),
        (
            lambda: next_token_residuals(
                MODEL, read_places(MODEL, TEXTS, context=2), temperature=0.0
            ),
            "temperature",
        ),
    ],
)
def test_bad_input_is_named(call, named):
    with refused(ValueError, match=f"^{named}: got"):
        call()
