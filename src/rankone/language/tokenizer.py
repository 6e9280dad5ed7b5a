"""Conversion of text to tokens and back.

`Tokenizer` is a plain class: it holds no array, and JAX treats it as static structure
of a model.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import ArrayLike, Bool, Int
from numpy.typing import NDArray

from rankone._checks import boolean, brief, integer

__all__ = ["Tokenizer", "pad"]


class Tokenizer:
    """Tokenizer of a network: it turns a text into the tokens that the network was
    trained on.

    Args:
        inner: A `tokenizers.Tokenizer`, which does the work.
        end: Number of the token that separates texts.

    Attributes:
        start: Tokens that the tokenizer itself puts before every text: none, or one.
    """

    start: list[int]

    def __init__(self, inner: Any, end: int):
        self.inner = inner
        self.end = end
        self.start = inner.encode("a").ids[: -len(self.bare("a"))]

    def __eq__(self, other: object) -> Any:
        """True if both treat every text alike."""
        if self is other or not isinstance(other, Tokenizer):
            return True if self is other else NotImplemented
        return self.end == other.end and self.inner.to_str() == other.inner.to_str()

    def __hash__(self) -> int:
        return hash((self.end, self.inner.get_vocab_size()))

    def __repr__(self) -> str:
        return f"Tokenizer(vocabulary={self.inner.get_vocab_size()}, end={self.end})"

    @classmethod
    def from_vocabulary(
        cls,
        vocabulary: Sequence[str],
        merges: Sequence[str],
        special: Sequence[str],
        end: int,
    ) -> "Tokenizer":
        """Byte-level BPE tokenizer in which every digit is a separate token, from the
        lists in a GGUF file.

        Args:
            vocabulary: Tokens in the order of their numbers.
            merges: Pairs "a b" in the order of their rank.
            special: Tokens that are never split.
            end: Number of the token that separates texts.
        """
        from tokenizers import AddedToken, decoders, models, pre_tokenizers
        from tokenizers import Tokenizer as Inner

        pairs = [
            (left, right) for left, right in (merge.split(" ") for merge in merges)
        ]
        inner = Inner(
            models.BPE({token: i for i, token in enumerate(vocabulary)}, pairs)
        )
        digits = pre_tokenizers.Digits(individual_digits=True)
        inner.pre_tokenizer = pre_tokenizers.Sequence(
            [digits, pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
        inner.decoder = decoders.ByteLevel()
        inner.add_special_tokens(
            [AddedToken(token, normalized=False) for token in special]
        )
        return cls(inner, end)

    @classmethod
    def from_folder(cls, folder: Path, end: int) -> "Tokenizer | None":
        """Tokenizer of a `tokenizer.json`, or of GPT-2's `vocab.json` and `merges.txt`;
        None if neither is there.
        """
        from tokenizers import AddedToken, decoders, models, pre_tokenizers
        from tokenizers import Tokenizer as Inner

        tokenizer_file, vocabulary, merges = (
            folder / name for name in ("tokenizer.json", "vocab.json", "merges.txt")
        )
        if tokenizer_file.is_file():
            return cls(_from_file(tokenizer_file), end)
        if not (vocabulary.is_file() and merges.is_file()):
            return None
        inner = Inner(models.BPE.from_file(str(vocabulary), str(merges)))
        inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        inner.decoder = decoders.ByteLevel()
        inner.add_special_tokens(
            [AddedToken(inner.id_to_token(end) or "<|endoftext|>", normalized=False)]
        )
        return cls(inner, end)

    def save(self, folder: Path) -> None:
        """Files `tokenizer.json` and `tokenizer_config.json`, which `transformers`
        reads, written to a folder.
        """
        self.inner.save(str(folder / "tokenizer.json"))
        metadata = {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "eos_token": self.inner.id_to_token(self.end),
        }
        (folder / "tokenizer_config.json").write_text(json.dumps(metadata))

    def encode(self, text: str) -> list[int]:
        """Tokens of a text from its beginning."""
        return self.start + self.bare(text)

    def bare(self, text: str) -> list[int]:
        """Tokens of a text, with no token added."""
        return self.inner.encode(text, add_special_tokens=False).ids

    def following(self, text: str) -> list[int]:
        """Tokens of a text that follows another after a space."""
        return self.bare(f"a {text.strip()}")[len(self.bare("a")) :]

    def decode(self, tokens: Sequence[int] | Int[ArrayLike, " n"]) -> str:
        """Text of the given tokens."""
        return self.inner.decode(np.asarray(tokens).tolist(), skip_special_tokens=False)

    def last_token_of(self, subject: str, prompt: str) -> int:
        """Index of the token of the prompt that ends its last mention of the subject.

        Args:
            subject: A name that occurs in the prompt.
            prompt: The text.

        Raises:
            ValueError: If the subject is empty or not in the prompt.
        """
        if not subject.strip():
            raise ValueError(
                f"subject: got {brief(subject)}; "
                "it must be a name that occurs in the prompt."
            )
        if subject not in prompt:
            raise ValueError(
                f"subject: got {brief(subject)}; "
                f"it must be part of the prompt, which is {prompt!r}."
            )
        end = prompt.rindex(subject) + len(subject)
        offsets = self.inner.encode(prompt, add_special_tokens=False).offsets
        return len(self.start) + max(
            i for i, (start, _) in enumerate(offsets) if start < end
        )


def _from_file(path: Path) -> Any:
    from tokenizers import Tokenizer as Inner

    try:
        return Inner.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(
            f"folder: got {path.name} in {str(path.parent)!r}; it must be a complete "
            "tokenizer.json; it breaks off or has another format, so download it again."
        ) from error


def pad(
    rows: Sequence[Sequence[int]],
    width: int | None = None,
    *,
    left: bool = False,
    multiple: int = 1,
) -> tuple[Int[NDArray, "B T"], Bool[NDArray, "B T"]]:
    """Rows of tokens padded to one array, and a mask that is True on tokens and False
    on padding.

    Args:
        rows: Tokens of each row.
        width: Number of columns; by default the length of the longest row, rounded up
            to a multiple of `multiple`, so that few shapes are compiled.
        left: True to pad before the tokens, so that all rows end together.
        multiple: Number that the default `width` is a multiple of.

    Returns:
        Tokens (B, T), 0 on padding; and a mask (B, T), False on padding.

    Raises:
        ValueError: If a row does not fit the `width`.

    >>> tokens, valid = pad([[5, 6, 7], [8]], left=True)
    >>> tokens.tolist(), valid.sum(1).tolist()
    ([[5, 6, 7], [0, 0, 8]], [3, 1])
    """
    multiple = integer("multiple", multiple)
    boolean("left", left)
    tokens_of = [_numbers(i, row) for i, row in enumerate(_listed(rows))]
    max_length = max(map(len, tokens_of), default=0)
    width = (
        -(-max_length // multiple) * multiple
        if width is None
        else integer("width", width, least=0)
    )
    if width < max_length:
        raise ValueError(
            f"width: got {brief(width)}; "
            f"it must be at least {max_length}, the longest row."
        )
    tokens = np.zeros((len(tokens_of), width), np.int32)
    valid = np.zeros((len(tokens_of), width), bool)
    for i, row in enumerate(tokens_of):
        place = slice(width - len(row), width) if left else slice(0, len(row))
        tokens[i, place] = row
        valid[i, place] = True
    return tokens, valid


def _listed(rows: Any) -> Sequence[Any]:
    if not isinstance(rows, list | tuple):
        raise ValueError(
            f"rows: got {brief(rows)}; it must be a list with the tokens of each row."
        )
    return rows


def _numbers(i: int, row: Any) -> NDArray:
    """The tokens of one row, if that is what it holds."""
    tokens: NDArray = np.asarray(None)
    with suppress(ValueError):  # raised for nested lists of different lengths
        tokens = np.asarray(row)
    if tokens.ndim != 1 or not (tokens.size == 0 or tokens.dtype.kind in "iu"):
        raise ValueError(
            f"rows[{i}]: got {brief(row)}; it must be a list of tokens, which are whole "
            "numbers."
        )
    return tokens
