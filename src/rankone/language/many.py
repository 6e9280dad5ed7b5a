"""Value searches for many facts at once. One compiled program runs all of them, so that
each step multiplies larger matrices.
"""

from collections.abc import Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from rankone._annotated import checked
from rankone._checks import brief, integer
from rankone.language.model import LanguageModel
from rankone.language.prompts import Rehearsal, rehearsal
from rankone.language.relations import Request
from rankone.language.rewriting import Search, Value, find_value
from rankone.language.surgery import DEFAULT_LAYER

__all__ = ["find_fact_values"]

# The number of columns before the cut and the number of searches run together are
# multiples of these two, so that few programs are compiled.
_WIDTH = 24
_SIDE = 4


@checked
def find_fact_values(
    model: LanguageModel,
    requests: Sequence[Request],
    *,
    contexts: Sequence[str] = ("",),
    layer: int = DEFAULT_LAYER,
    search: Search | None = None,
    batch: int = 20,
) -> list[Value]:
    """One `Value` per request, as from `find_fact_value`, with several searches run at
    a time.

    The searches of a batch run until all of them have ended. A search that has ended
    does not change its value further.

    Args:
        model: The language model.
        requests: One request or more.
        contexts: Texts to put before each prompt, the first of them empty.
        layer: Number of the block whose down projection is edited.
        search: Options of the search; by default `Search()`.
        batch: Number of searches that run at a time; memory grows with it.

    Raises:
        ValueError: If there is no request, the first context is not empty, or there is
            no such block.
    """
    layer = model.network.check_layer(layer)
    batch = integer("batch", batch)
    if contexts[0] != "":
        raise ValueError(
            f"contexts: got {brief(list(contexts)[:1])}; "
            "it must be a list whose first entry is the empty text."
        )
    rows = [rehearsal(model.tokenizer, request, contexts) for request in requests]
    width = -(-max(row.before.shape[1] for row in rows) // _WIDTH) * _WIDTH
    rows = [_widened(row, width) for row in rows]
    value_of: dict[int, Value] = {}
    for shape in dict.fromkeys(map(_shape, rows)):
        group = [i for i, row in enumerate(rows) if _shape(row) == shape]
        for start in range(0, len(group), batch):
            part = group[start : start + batch]
            padding = -len(part) % _SIDE
            values = _side_by_side(
                model,
                [rows[i] for i in part + padding * part[:1]],
                layer,
                search or Search(),
            )
            value_of |= {
                i: jax.tree.map(lambda leaf, n=n: leaf[n], values)
                for n, i in enumerate(part)
            }
    return [value_of[i] for i in range(len(rows))]


def _shape(rows: Rehearsal) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return rows.suffix.tokens.shape, rows.suffix.labels.shape


def _widened(rows: Rehearsal, width: int) -> Rehearsal:
    """The rows with more padding before the tokens. It changes no result, because positions
    are relative, or counted from the first token.
    """
    padding = ((0, 0), (width - rows.before.shape[1], 0))
    before, valid = (
        np.pad(np.asarray(array), padding) for array in (rows.before, rows.before_valid)
    )
    return replace(rows, before=jnp.asarray(before), before_valid=jnp.asarray(valid))


def _side_by_side(
    model: LanguageModel, rows: Sequence[Rehearsal], layer: int, search: Search
) -> Value:
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *rows)
    return jax.vmap(lambda row: _value_of(model, row, layer, search))(stacked)


def _value_of(
    model: LanguageModel, rows: Rehearsal, layer: int, search: Search
) -> Value:
    return find_value(model.network, rows, layer=layer, search=search)
