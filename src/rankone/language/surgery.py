"""An edit of one fact, from the request to a change that can be applied, undone and
saved.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from rankone._annotated import checked
from rankone._checks import array, brief, choice, instance, integer
from rankone._module import Module
from rankone.editing import KeyGeometry, RankOneEdit, load_edit, rank_one_edit
from rankone.language.model import LanguageModel
from rankone.language.prompts import rehearsal
from rankone.language.relations import Request
from rankone.language.rewriting import Search, Value, find_value

__all__ = [
    "DEFAULT_LAYER",
    "FactEdit",
    "History",
    "close_edit",
    "edit_fact",
    "find_fact_value",
]

DEFAULT_LAYER = 2  # of 30 in SmolLM2: experiments/editing_layers.py compares blocks
KEYS = ("mean", "mixed")


class FactEdit(Module):
    """Edit of one fact: the request, the block, and the rank-one change of its down
    projection.

    Attributes:
        request: Request with the answer that the model is to give.
        layer: Number of the block whose down projection changes.
        change: The change of that matrix.
        model: Name of the model that the edit was made for.
    """

    request: Request = eqx.field(static=True)
    layer: int = eqx.field(static=True)
    change: RankOneEdit
    model: str = eqx.field(static=True)

    def __post_init__(self) -> None:
        instance("request", self.request, Request, "a Request")
        instance(
            "change", self.change, RankOneEdit, "a write, such as rank_one_edit makes"
        )
        instance("model", self.model, str, "a text: the name of the model")
        self.layer = integer(
            "layer", self.layer, "the number of a block, counted from 0", least=0
        )

    @checked
    def apply(self, model: LanguageModel) -> LanguageModel:
        """Edited model; the given model is unchanged."""
        if model.name != self.model:
            raise ValueError(
                f"model: got {brief(model.name)}; "
                f"it must be {self.model!r}, for which the edit was made."
            )
        return model.with_down(
            self.layer, self.change.apply(model.network.down(self.layer))
        )

    @checked
    def save(self, path: str | Path) -> Path:
        """Copy of the edit in an .npz file of a few kilobytes, which `load` reads;
        returns the path.
        """
        metadata = {
            "request": json.dumps(asdict(self.request)),
            "layer": self.layer,
            "model": self.model,
        }
        return self.change.save(path, metadata)

    @classmethod
    @checked
    def load(cls, path: str | Path) -> "FactEdit":
        """Edit read from a file that `save` wrote.

        Raises:
            ValueError: If the file is cut short or damaged, or contains the edit of a
                matrix without a request.
        """
        change, metadata = load_edit(path)
        requirement = "an edit of a fact, written by its save"
        if not {"request", "layer", "model"} <= set(metadata):
            raise ValueError(f"path: got {brief(str(path))}; it must be {requirement}.")
        assert isinstance(change, RankOneEdit)
        try:
            request = Request(**json.loads(metadata["request"]))
            return cls(request, metadata["layer"], change, metadata["model"])
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"path: got {str(path)!r}; it must be {requirement}: {error}"
            ) from error


class History(Module):
    """A model and the facts rewritten in it; edits can be undone exactly, because the
    unedited model is stored.

    `rankone.writes.Edited` does the same for one matrix.

    Attributes:
        base: The model before any edit.
        edits: The edits in the order they were made.
    """

    base: LanguageModel
    edits: tuple[FactEdit, ...] = ()

    def __post_init__(self) -> None:
        instance("base", self.base, LanguageModel, "a LanguageModel")
        are_edits = isinstance(self.edits, list | tuple) and all(
            isinstance(edit, FactEdit) for edit in self.edits
        )
        if not are_edits:
            raise ValueError(
                f"edits: got {brief(self.edits)}; it must be a tuple of edits of facts."
            )
        self.edits = tuple(self.edits)

    @property
    def model(self) -> LanguageModel:
        """The model with all edits of the history applied."""
        model = self.base
        for edit in self.edits:
            model = edit.apply(model)
        return model

    @checked
    def then(self, edit: FactEdit) -> "History":
        """The history with one more edit."""
        return History(self.base, (*self.edits, edit))

    def undo(self, count: int = 1) -> "History":
        """The history without the last `count` edits: bit for bit what it was before
        these edits.
        """
        total = len(self.edits)
        count = integer(
            "count", count, "a number of edits that were made", least=0, most=total
        )
        return History(self.base, self.edits[: total - count])


@checked
def edit_fact(
    model: LanguageModel,
    request: Request,
    *,
    geometry: KeyGeometry,
    contexts: Sequence[str] = ("",),
    layer: int = DEFAULT_LAYER,
    search: Search | None = None,
    key: str = "mean",
) -> FactEdit:
    """Edit that changes a model's answer about a subject, by one rank-one change of one
    matrix.

    Args:
        model: The language model; it stays as it is.
        request: Prompt, subject and the answer that the model is to give.
        geometry: C of the block, from `key_geometry`. With the identity as C, the
            change is proportional to a gradient step at the key.
        contexts: Texts to put before the prompt, the first of them empty, such as those
            of `corpus_contexts`.
        layer: Number of the block whose down projection is edited; the default is 2,
            chosen for SmolLM2.
        search: Options of the search for the value; by default `Search()`.
        key: "mean" to use the mean key over the contexts throughout; "mixed" to use the
            mean key only in C⁻¹k and the key without a context elsewhere, as ROME's
            published code does, for comparison.

    Raises:
        ValueError: If the subject is not in the prompt, a text is empty, or the layer
            does not exist.
    """
    value = find_fact_value(
        model, request, contexts=contexts, layer=layer, search=search
    )
    change = close_edit(model.network.down(layer), geometry, value, key=key)
    return FactEdit(request, layer, change, model.name)


@checked
def find_fact_value(
    model: LanguageModel,
    request: Request,
    *,
    contexts: Sequence[str] = ("",),
    layer: int = DEFAULT_LAYER,
    search: Search | None = None,
) -> Value:
    """`Value` of a request: its key, and the residual to write there. This is the
    search inside `edit_fact`.

    Args:
        model: The language model.
        request: Prompt, subject and the answer that the model is to give.
        contexts: Texts to put before the prompt, the first of them empty.
        layer: Number of the block whose down projection is edited.
        search: Options of the search; by default `Search()`.

    Raises:
        ValueError: If the first context is not empty, or there is no such block.
    """
    layer = model.network.check_layer(layer)
    if contexts[0] != "":
        raise ValueError(
            f"contexts: got {brief(contexts[:1])}; "
            "it must be a list whose first entry is the empty text."
        )
    rows = rehearsal(model.tokenizer, request, contexts)
    return find_value(model.network, rows, layer=layer, search=search or Search())


def close_edit(
    W: Float[ArrayLike, "d D"],
    geometry: KeyGeometry,
    value: Value,
    *,
    key: str = "mean",
) -> RankOneEdit:
    """Rank-one edit for a value, such that Ŵk = Wk + δ. It uses one key throughout, or
    the published mixture of two keys.

    Args:
        W: Down projection of the block.
        geometry: C of the block.
        value: Vector to add to the output, and the keys at which it is added.
        key: "mean" or "mixed", as in `edit_fact`.
    """
    choice("key", key, KEYS)
    instance("geometry", geometry, KeyGeometry, "a KeyGeometry, from key_geometry")
    instance("value", value, Value, "a Value, such as find_fact_value returns")
    shape = value.delta.shape[-1], value.keys.shape[-1]
    W = array("W", W, f"{shape}: the down projection of the block", 2, finite=False)
    if W.shape != shape:
        raise ValueError(
            f"W: got shape {W.shape}; it must be {shape}, as the value is of a matrix "
            "of this shape."
        )
    if key == "mean":
        return rank_one_edit(W, geometry, value.key, _moved(W, value.key, value.delta))
    from rankone.printed.one_write import (
        mixed_key_edit,  # not the book's method: loaded only for comparison with it
    )

    bare = value.keys[0]
    return mixed_key_edit(W, geometry, value.key, bare, _moved(W, bare, value.delta))


@jax.jit
def _moved(W: ArrayLike, key: Array, delta: Array) -> Array:
    return jnp.asarray(W) @ key + delta
