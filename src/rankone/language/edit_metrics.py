"""Measures of the effects of an edit: on the edited question, on paraphrases of it, on
other subjects, and on the model's prose.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log, log2, sqrt
from typing import Any

import numpy as np
from jaxtyping import Array, ArrayLike, Float, Int
from numpy.typing import NDArray

from rankone._annotated import checked
from rankone._checks import array, boolean, brief, host, integer, positive, real
from rankone.language.likelihood import from_layer, up_to_layer
from rankone.language.model import LanguageModel
from rankone.language.prompts import continuations
from rankone.language.relations import Fact

__all__ = ["harmonic_mean", "judge", "ngram_entropy", "summarise", "tf_idf", "wilson"]

Judgement = dict[str, Any]


@checked
def judge(
    model: LanguageModel,
    fact: Fact,
    layer: int,
    changes: Mapping[str, ArrayLike | None],
) -> dict[str, Judgement]:
    """Log-probability margins of the new answer over the true one for every question
    about a fact, under each of several changes of one matrix.

    Args:
        model: The unedited language model.
        fact: The fact, with its paraphrases and neighbours.
        layer: Number of the block whose down projection is changed.
        changes: Name → Ŵ − W (outputs, inputs), or None for the unedited model.

    Returns:
        Name → dictionary with three entries. "margin" is the mean log-probability per
        token of the new answer minus that of the true answer, for the edited question,
        its paraphrases and the neighbours, in this order. "said" is True if greedy
        generation gives the new answer to the edited question. "kept" is the fraction
        of neighbours for which greedy generation gives the true answer.
    """
    layer = model.network.check_layer(layer)
    W = model.network.down(layer)
    deltas = {
        name: None if change is None else _change(name, change, W.shape)
        for name, change in changes.items()
    }
    prompts = [
        fact.request.text,
        *fact.paraphrases,
        *(prompt for prompt, _ in fact.neighbours),
    ]
    truths = [fact.truth] * (1 + len(fact.paraphrases)) + [
        truth for _, truth in fact.neighbours
    ]
    rows = continuations(
        model.tokenizer, 2 * prompts, [fact.request.target] * len(prompts) + truths
    )
    stream = up_to_layer(model.network, rows, layer)
    judgements: dict[str, Judgement] = {}
    for name, delta in deltas.items():
        network = (
            model.network
            if delta is None
            else model.network.with_down(layer, W + delta)
        )
        scores, tokens = (
            np.asarray(x).reshape(2, -1)
            for x in from_layer(network, rows, stream, layer)
        )
        neighbours_right = tokens[1, 1 + len(fact.paraphrases) :].mean()
        judgements[name] = {
            "margin": scores[0] - scores[1],
            "said": bool(tokens[0, 0]),
            "kept": float(neighbours_right),
        }
    return judgements


def _change(name: str, delta: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Ŵ − W of one name, if it is of the shape of W."""
    delta = array(f"changes[{name!r}]", delta, f"{shape}: a change of the matrix", 2)
    if delta.shape != shape:
        raise ValueError(
            f"changes[{name!r}]: got shape {delta.shape}; "
            f"it must be of shape {shape}, as the matrix."
        )
    return delta


def ngram_entropy(tokens: Sequence[int] | Int[ArrayLike, " n"]) -> float:
    """Fluency: weighted mean of the entropies of a text's bigrams and trigrams, in bits.

    The weights are 1/3 and 2/3, as in the published code, which multiplies the two
    entropies by 2/3 and 4/3 and takes their mean. A text that repeats itself scores
    low. The largest possible score of n tokens is (log₂(n−1) + 2·log₂(n−2))/3, reached
    if no bigram occurs twice.

    Args:
        tokens: The text, four tokens or more.

    >>> round(ngram_entropy([1, 2, 3, 4, 5]), 3)
    1.723
    """
    numbers = host("tokens", tokens)
    if numbers.ndim != 1:
        raise ValueError(
            f"tokens: got shape {numbers.shape}; it must be the tokens of one text (n,)."
        )
    words = np.asarray(numbers).tolist()
    if len(words) <= 3:
        raise ValueError(
            f"tokens: got {len(words)} tokens; it must be four tokens or more."
        )
    total = 0.0
    for n, weight in ((2, 1 / 3), (3, 2 / 3)):
        counts = Counter(zip(*(words[i:] for i in range(n)), strict=False))
        number = sum(counts.values())
        total -= weight * sum(c / number * log2(c / number) for c in counts.values())
    return total


@checked
def tf_idf(texts: Sequence[str], collection: Sequence[str]) -> Float[NDArray, "n w"]:
    """Unit vectors of word weights, one per text: the frequency of each word in the
    text times its rarity in a collection (tf-idf).

    Their inner products are the cosines by which *consistency* compares the text of an
    edited model with reference texts. A word has at least two letters or digits; upper
    and lower case count as the same. Its weight is 1 + ln((1+N)/(1+f)) if f of the N
    texts of the collection contain it. Words outside the collection are ignored.

    Args:
        texts: The texts (n). A text without any word of the collection gives zeros.
        collection: The texts that define the w words and their rarity, at least one.

    >>> texts = ["She plays the violin.", "The violin is old."]
    >>> edited, other = tf_idf(texts, ["the violin", "the piano", "is old"])
    >>> round(float(edited @ other), 2)
    0.66
    """
    frequency = Counter(word for text in collection for word in set(_words(text)))
    place = {word: i for i, word in enumerate(frequency)}
    vectors = np.zeros((len(texts), len(place)))
    for row, text in zip(vectors, texts, strict=True):
        for word, count in Counter(_words(text)).items():
            if word in place:
                row[place[word]] = count * (
                    1 + log((1 + len(collection)) / (1 + frequency[word]))
                )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=vectors, where=lengths > 0)


def _words(text: str) -> list[str]:
    return re.findall(r"\w\w+", text.lower())


def wilson(fraction: float, n: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's confidence interval for a fraction observed in n independent trials,
    which is also valid near 0 and 1.

    Args:
        fraction: Fraction observed, between 0 and 1.
        n: Number of trials.
        z: Half the width in standard deviations; the default gives 95 %.

    >>> [round(end, 3) for end in wilson(0.65, 20)]
    [0.433, 0.819]
    """
    n = integer("n", n)
    number = real("fraction", fraction, "a fraction between 0 and 1")
    if not (number is not None and 0 <= number <= 1):
        raise ValueError(
            f"fraction: got {brief(fraction)}; it must be a fraction between 0 and 1."
        )
    positive("z", z)
    middle = fraction + z**2 / (2 * n)
    spread = z * sqrt(fraction * (1 - fraction) / n + z**2 / (4 * n**2))
    low, high = ((middle + sign * spread) / (1 + z**2 / n) for sign in (-1, 1))
    return max(low, 0.0), min(high, 1.0)  # rounding can give −1e-17


def harmonic_mean(values: Sequence[float]) -> float:
    """The number of values over the sum of their reciprocals; 0 if any value is 0.

    Args:
        values: Numbers that are not negative, at least one.
    """
    if len(values) == 0:
        raise ValueError(f"values: got {brief(values)}; it must be one number or more.")
    return 0.0 if min(values) <= 0 else len(values) / sum(1 / value for value in values)


@checked
def summarise(judgements: Sequence[Judgement], paraphrases: int) -> dict[str, Any]:
    """Efficacy, paraphrase and neighbourhood scores over many edits, each a fraction
    with its confidence interval, and the harmonic mean of the three.

    The questions about one edit are not independent of each other, so an interval
    counts an edit once.

    Args:
        judgements: Judgements of one method by `judge`, one entry per edit.
        paraphrases: Number of paraphrases, which follow the first question.

    Returns:
        "efficacy" and "paraphrase", the fractions of questions where the new answer is
        likelier than the true one; "neighbourhood", the fraction where it is not; and
        the averages of "said" and "kept" of `judge`. Each is a dictionary with the
        fraction as "share", its 95 % "interval" and the number of answers as
        "questions". Also "score", the harmonic mean of the first three, and "edits",
        the number of edits.
    """
    start = 1 + integer("paraphrases", paraphrases)
    n = len(judgements)
    margins, said_flags, kept_shares = zip(
        *(
            _entries(f"judgements[{i}]", entry, start)
            for i, entry in enumerate(judgements)
        ),
        strict=True,
    )
    wins = [margin > 0 for margin in margins]
    parts = {
        "efficacy": [a[:1] for a in wins],
        "paraphrase": [a[1:start] for a in wins],
        "neighbourhood": [~a[start:] for a in wins],
        "said": [np.asarray([entry], float) for entry in said_flags],
        "kept": [np.asarray([entry], float) for entry in kept_shares],
    }
    summary: dict[str, Any] = {"edits": n}
    for name, answers in parts.items():
        fraction = float(np.mean([a.mean() for a in answers]))
        summary[name] = {
            "share": fraction,
            "interval": wilson(fraction, n),
            "questions": sum(map(len, answers)),
        }
    summary["score"] = harmonic_mean(
        [summary[name]["share"] for name in ("efficacy", "paraphrase", "neighbourhood")]
    )
    return summary


def _entries(
    name: str, judgement: Judgement, start: int
) -> tuple[NDArray, bool, float | None]:
    """Margins, "said" and "kept" of one judgement, if it is one."""
    if not {"margin", "said", "kept"} <= set(judgement):
        raise ValueError(
            f"{name}: got {brief(judgement)}; "
            "it must be what judge returns: margin, said and kept."
        )
    margins = np.asarray(host(f"{name}['margin']", judgement["margin"]))
    if not (margins.ndim == 1 and len(margins) > start):
        raise ValueError(
            f"{name}['margin']: got shape {margins.shape}; it must be of shape (n,), "
            f"with more than {start} questions: the first, its paraphrases, and "
            "neighbours."
        )
    return (
        margins,
        boolean(f"{name}['said']", judgement["said"]),
        real(f"{name}['kept']", judgement["kept"], "a fraction"),
    )
