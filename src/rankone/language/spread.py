"""Edits of many facts spread over several blocks, as in MEMIT and AlphaEdit. Each block
writes a fraction of the residual that the blocks below it have left.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from rankone._annotated import checked
from rankone._checks import array, brief, integer, numbers
from rankone.language.forward import Cache, embed, run
from rankone.language.model import LanguageModel
from rankone.language.relations import Request
from rankone.language.tokenizer import pad
from rankone.language.transformer import Network
from rankone.writes import Write

__all__ = ["SubjectStates", "Update", "context_mean", "spread_edit", "subject_states"]

# Function that returns the change of a block, given the number of the block, its
# weights W, keys K (D, n) and values V (d, n).
Update = Callable[[int, Array, Array, Array], Write]


class SubjectStates(NamedTuple):
    """Keys and residual stream at the last token of each request's subject, in each
    context.

    Attributes:
        keys: Inputs of the down projections (blocks, n, contexts, D).
        stream: The residual stream after the last of these blocks (n, contexts, d).
    """

    keys: Float[Array, "blocks n contexts D"]
    stream: Float[Array, "n contexts d"]


@checked
def subject_states(
    model: LanguageModel,
    requests: Sequence[Request],
    *,
    contexts: Sequence[str] = ("",),
    layer: int,
    rows: int = 100,
) -> SubjectStates:
    """Keys of every block up to `layer` at the subjects' last tokens, and the residual
    stream after `layer`. Later blocks are not run.

    Args:
        model: The language model.
        requests: One request or more.
        contexts: Texts to put before each prompt, the first of them empty.
        layer: Number of the last block that is run.
        rows: Number of texts that are run as one batch.

    Raises:
        ValueError: If there is no request, the first context is not empty, or there is
            no such block.
    """
    layer = model.network.check_layer(layer)
    rows = integer("rows", rows)
    _refuse_contexts(contexts)
    cut = [
        _cut(model, context + request.text, request.subject)
        for request in requests
        for context in contexts
    ]
    # Texts of similar length share a batch. The last batch is filled up with its last
    # text, because all batches have one size.
    order = sorted(range(len(cut)), key=lambda i: len(cut[i]))
    size = min(rows, len(cut))
    batches = []
    for start in range(0, len(cut), size):
        part = [cut[i] for i in order[start : start + size]]
        padding = (size - len(part)) * part[-1:]
        tokens, valid = pad(part + padding, left=True, multiple=8)
        keys, h = _read(model.network, jnp.asarray(tokens), jnp.asarray(valid), layer)
        batches.append((keys[:, : len(part)], h[: len(part)]))
    inverse_order = np.argsort(order)
    keys, stream = (
        jnp.concatenate([batch[i] for batch in batches], axis=-2)[..., inverse_order, :]
        for i in (0, 1)
    )
    shape = len(requests), len(contexts)
    return SubjectStates(
        keys.reshape(layer + 1, *shape, -1), stream.reshape(*shape, -1)
    )


def context_mean(keys: Float[Array, "*n contexts D"]) -> Float[Array, "*n D"]:
    """Weighted mean key over the contexts, as in the published code: the empty context
    has the same weight as all others together.
    """
    keys = numbers("keys", keys)
    if keys.ndim < 2 or keys.shape[-2] == 0:
        raise ValueError(
            f"keys: got shape {keys.shape}; it must be (..., contexts, D): one key per "
            "context, the empty context first."
        )
    bare = keys[..., 0, :]
    if keys.shape[-2] == 1:
        return bare
    return (bare + keys[..., 1:, :].mean(-2)) / 2


@checked
def spread_edit(
    model: LanguageModel,
    requests: Sequence[Request],
    targets: Float[Array, "n d"],
    *,
    contexts: Sequence[str] = ("",),
    blocks: Sequence[int],
    update: Update,
    states: SubjectStates | None = None,
) -> dict[int, Write]:
    """Changes of several blocks, by number of the block, that together move the
    residual stream at each subject to its row of `targets`.

    The blocks are edited in ascending order. For each block, the residual between the
    targets and the present stream after the last block is computed at the prompt
    without a context. This residual is divided by the number of blocks not yet edited,
    and the quotient is written at the keys of the model as changed so far. This is the
    loop of `execute_memit` in MEMIT's published code, and of AlphaEdit's code. `update`
    is the formula for one block.

    Args:
        model: The language model; it stays as it is.
        requests: One request or more.
        targets: Target states of the stream after the last block at each subject's last
            token (n, d). MEMIT takes the stream of the unedited model plus δ.
        contexts: Texts to put before each prompt, the first of them empty.
        blocks: Numbers of the blocks, ascending.
        update: Function of the number of a block, its down projection, and the keys and
            values to write there; it returns the change. With `batch_edit` and a finite
            ω the method is MEMIT, with `projected_edit` it is AlphaEdit.
        states: `subject_states` of the unedited model, if you have them already; None
            to compute them.

    Returns:
        Number of the block → its change.

    Raises:
        ValueError: If the blocks do not ascend, the targets have another shape, or as
            `subject_states`.
    """
    last = model.network.config.layers - 1
    hint = f"block numbers from 0 to {last}, ascending"
    blocks = [integer("blocks", block, hint, least=0, most=last) for block in blocks]
    if blocks != sorted(set(blocks)):
        raise ValueError(
            f"blocks: got {brief(blocks)}; it must be block numbers, ascending."
        )
    shape = len(requests), model.network.config.width
    targets = array("targets", targets, f"{shape}: one state per request", 2)
    if targets.shape != shape:
        raise ValueError(
            f"targets: got shape {targets.shape}; "
            f"it must be {shape}: one state per request."
        )
    reader = partial(subject_states, contexts=contexts, layer=blocks[-1])
    edits: dict[int, Write] = {}
    for i, block in enumerate(blocks):
        # an edited block changes the states of all blocks above it
        if edits or states is None:
            states = reader(model, requests)
        K = context_mean(states.keys[block]).T
        missing = (targets - states.stream[:, 0]).T / (len(blocks) - i)
        W = model.network.down(block)
        edits[block] = update(block, W, K, W @ K + missing)
        model = model.with_down(block, edits[block].apply(W))
    return edits


def _refuse_contexts(contexts: Sequence[str]) -> None:
    if contexts[0] != "":
        raise ValueError(
            f"contexts: got {brief(list(contexts)[:1])}; "
            "it must be a list whose first entry is the empty text."
        )


def _cut(model: LanguageModel, text: str, subject: str) -> list[int]:
    """Tokens up to the subject's last."""
    last = model.tokenizer.last_token_of(subject, text)
    return model.tokenizer.encode(text)[: last + 1]


@partial(jax.jit, static_argnames="layer")
def _read(
    network: Network, tokens: Array, valid: Array, layer: int
) -> tuple[Array, Array]:
    stream = Cache.empty(network.config, valid, network.norm.dtype)
    h, _, vectors = run(
        network, embed(network, tokens), stream, layers=(0, layer + 1), read=("key",)
    )
    return vectors["key"][:, :, -1], h[:, -1]
