"""Batches of prompts and continuations, padded to a few fixed sizes so that little is
compiled.
"""

from collections.abc import Sequence

import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from rankone._annotated import checked
from rankone._checks import brief, integer
from rankone._module import Module
from rankone.data.facts import corpus
from rankone.language.relations import Request
from rankone.language.tokenizer import Tokenizer, pad

__all__ = [
    "Continuations",
    "Rehearsal",
    "continuations",
    "corpus_contexts",
    "rehearsal",
]

_MULTIPLE = 8


class Continuations(Module):
    """Tokens of prompts with their continuations, and the positions that predict each
    token of a continuation.

    Attributes:
        tokens: Rows of tokens (B, T), padded on the right.
        valid: False on padding (B, T).
        positions: Column that predicts each token of the continuation (B, m).
        labels: Tokens of the continuation (B, m).
        weights: 1 over the number of those tokens, 0 on padding (B, m).
    """

    tokens: Int[Array, "B T"]
    valid: Bool[Array, "B T"]
    positions: Int[Array, "B m"]
    labels: Int[Array, "B m"]
    weights: Float[Array, "B m"]


@checked
def continuations(
    tokenizer: Tokenizer, prompts: Sequence[str], targets: Sequence[str]
) -> Continuations:
    """`Continuations` of prompts and targets, each pair joined by a space.

    Args:
        tokenizer: The model's tokenizer.
        prompts: One text per row.
        targets: One text per prompt, which may follow it.

    Raises:
        ValueError: If there is no prompt, or a prompt or a target is empty.
    """
    counts = f"{len(targets)} for {len(prompts)} prompts"
    if not len(prompts) == len(targets) > 0:
        raise ValueError(
            f"targets: got {counts}; it must be one per prompt, and at least one."
        )
    for name, texts in (("prompts", prompts), ("targets", targets)):
        if not all(text.strip() for text in texts):
            raise ValueError(
                f"{name}: got {brief(texts)}; it must be texts, none empty."
            )
    starts = [tokenizer.encode(prompt) for prompt in prompts]
    ends = [tokenizer.following(target) for target in targets]
    tokens, valid = pad(
        [s + e[:-1] for s, e in zip(starts, ends, strict=True)], multiple=_MULTIPLE
    )
    labels, real = pad(ends, multiple=4)
    first = np.array([len(start) - 1 for start in starts])
    positions = np.minimum(
        first[:, None] + np.arange(labels.shape[1]), tokens.shape[1] - 1
    )
    weights = real / real.sum(1, keepdims=True)
    return Continuations(
        *jax.device_put((tokens, valid, positions, labels, weights.astype(np.float32)))
    )


class Rehearsal(Module):
    """One request in several contexts, as rows of tokens cut before the last token of
    the subject. That token is in the same column of all rows.

    The states of the tokens before the cut do not depend on the edit, so these tokens
    are run once. The last row is "subject is a", whose prediction should not change.

    Attributes:
        before: Tokens before the cut (B, P), padded on the left.
        before_valid: False on padding (B, P).
        suffix: Tokens from the subject's last token to the target's second-to-last
            token; `positions` count from the cut.
    """

    before: Int[Array, "B P"]
    before_valid: Bool[Array, "B P"]
    suffix: Continuations


@checked
def rehearsal(
    tokenizer: Tokenizer, request: Request, contexts: Sequence[str]
) -> Rehearsal:
    """`Rehearsal` of a request: the prompt after each context, including the empty one,
    and the row "subject is a".

    Args:
        tokenizer: The model's tokenizer.
        request: Answer that the model is to give, and its subject.
        contexts: Texts to put before the prompt.
    """
    target = tokenizer.following(request.target)
    texts = [context + request.text for context in contexts] + [
        f"{request.subject} is a"
    ]
    rows = [tokenizer.encode(text) for text in texts]
    cuts = [tokenizer.last_token_of(request.subject, text) for text in texts]
    before, before_valid = pad(
        [row[:cut] for row, cut in zip(rows, cuts, strict=True)],
        left=True,
        multiple=_MULTIPLE,
    )
    after = [row[cut:] for row, cut in zip(rows, cuts, strict=True)]
    after_cut = [*(row + target[:-1] for row in after[:-1]), after[-1]]
    short = max(map(len, after_cut)) <= _MULTIPLE // 2  # true of most questions
    tokens, valid = pad(after_cut, multiple=_MULTIPLE // 2 if short else _MULTIPLE)
    m = -(-len(target) // 4) * 4
    labels = np.zeros((len(rows), m), np.int32)
    weights = np.zeros((len(rows), m), np.float32)
    labels[:-1, : len(target)] = target
    weights[:-1, : len(target)] = 1 / len(target)
    positions = np.array([len(row) - 1 for row in after])[:, None] + np.arange(m)
    suffix = tokens, valid, np.minimum(positions, tokens.shape[1] - 1), labels, weights
    before, before_valid, suffix = jax.device_put((before, before_valid, suffix))
    return Rehearsal(before, before_valid, Continuations(*suffix))


@checked
def corpus_contexts(
    tokenizer: Tokenizer, counts: Sequence[tuple[int, int]] = ((5, 5), (5, 10))
) -> list[str]:
    """Contexts to put before a prompt: the empty context, and beginnings of passages of
    the corpus, each ended by a full stop.

    ROME's published code lets the model generate ten contexts of 5 tokens and ten of
    10. A small model that starts from an empty text does not generate prose. Beginnings
    of real passages serve the same purpose, and are the same in every run.

    Args:
        tokenizer: The model's tokenizer.
        counts: Pairs of a number of contexts and the number of tokens in each of them.

    Raises:
        ValueError: If a number is not a positive integer.
    """
    counts = [
        (integer("counts", count), integer("counts", length))
        for count, length in counts
    ]
    texts = iter(corpus()[:: len(corpus()) // (sum(count for count, _ in counts) + 1)])
    cut = [
        tokenizer.bare(next(texts))[:length]
        for count, length in counts
        for _ in range(count)
    ]
    return ["", *(tokenizer.decode(row).strip() + ". " for row in cut)]
