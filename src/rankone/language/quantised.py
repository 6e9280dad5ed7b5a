"""Networks from GGUF files, dequantised."""

from pathlib import Path
from typing import Any

import numpy as np

from rankone._checks import brief
from rankone.language.rotary import frequencies
from rankone.language.tokenizer import Tokenizer
from rankone.language.transformer import Config, Network, assemble

__all__ = ["read_gguf"]

_NAMES = {
    "attention_norm": "attn_norm",
    "query": "attn_q",
    "key": "attn_k",
    "value": "attn_v",
    "output": "attn_output",
    "mlp_norm": "ffn_norm",
    "gate": "ffn_gate",
    "up": "ffn_up",
    "down": "ffn_down",
}
_ENDS = {
    "embedding": "token_embd.weight",
    "norm": "output_norm.weight",
    "head": "output.weight",
}
_SPECIAL = 3  # GGUF's type of tokens that are never split


def read_gguf(path: str | Path) -> tuple[Network, Tokenizer]:
    """Network and tokenizer of a GGUF file of llama architecture, every weight
    dequantised to float32.

    The format stores queries and keys permuted for another layout of the rotary
    embedding; this permutation is undone.

    Raises:
        ValueError: If the file is cut short, is not a GGUF file, or contains another
            architecture.
    """
    from gguf import GGUFReader, GGUFValueType

    class Reader(GGUFReader):
        """GGUF reader that slices the file as a plain array, because slices of a memory
        map take three times as long, and reads a list of 50,000 words in one pass.
        """

        @property
        def data(self) -> Any:
            return self._plain

        @data.setter
        def data(self, pages: Any) -> None:
            self._plain = np.asarray(pages)

        def _get_field_parts(
            self, start: int, kind: int
        ) -> tuple[int, list, list, list]:
            """Size of a field in bytes, its parts, indices of the parts with values, and types."""
            if kind != GGUFValueType.ARRAY or self.byte_order != "I":
                return super()._get_field_parts(start, kind)
            page = self._plain.data
            at = start + 12
            item = GGUFValueType(int.from_bytes(page[start : start + 4], "little"))
            count = int.from_bytes(page[start + 4 : at], "little")
            parts: list[Any] = []
            if item in self.gguf_scalar_to_np:
                parts.append(self._get(at, self.gguf_scalar_to_np[item], count))
                at += parts[0].nbytes
                complete = len(parts[0]) == count
            elif item == GGUFValueType.STRING:
                while len(parts) < count and at < len(page):
                    first = at + 8
                    at = first + int.from_bytes(page[at:first], "little")
                    parts.append(page[first:at])
                complete = len(parts) == count and at <= len(page)
            else:
                return super()._get_field_parts(start, kind)
            if not complete:
                raise ValueError("the file ends inside a list")
            return (
                at - start,
                parts,
                list(range(len(parts))),
                [GGUFValueType.ARRAY, item],
            )

    path = Path(path)
    if not path.is_file():
        raise ValueError(f"path: got {brief(str(path))}; it must be a GGUF file.")
    try:
        reader = Reader(path)
        tensors = {t.name: _dequantised(t.data, t.tensor_type) for t in reader.tensors}
        facts = {name: field.contents() for name, field in reader.fields.items()}
    except (ValueError, IndexError, KeyError, OSError) as error:
        raise ValueError(
            f"path: got {str(path)!r} of {path.stat().st_size:,} bytes; it must be a "
            "complete GGUF file; it breaks off or has another format, so download it "
            "again."
        ) from error
    config = _config(facts, tensors)
    weights = [
        (name, i, value)
        for i in range(config.layers)
        for name, value in _block(config, tensors, i).items()
    ]
    ends = [
        (ours, None, tensors[theirs])
        for ours, theirs in _ENDS.items()
        if theirs in tensors
    ]
    return assemble(config, [*ends, *weights]), _tokenizer(facts)


def _dequantised(data: np.ndarray, kind: Any) -> np.ndarray:
    """Weights in float32. Eight-bit weights, often the large table of embeddings, are
    converted here in one pass, because gguf converts only 16 rows at a time.
    """
    from gguf import GGMLQuantizationType
    from gguf.quants import dequantize

    if kind != GGMLQuantizationType.Q8_0:
        return dequantize(data, kind).astype(np.float32, copy=False)
    # a block has 34 bytes: a scale of two bytes, and 32 weights
    blocks = data.reshape(-1, 34)
    scales = blocks[:, :2].view(np.float16).astype(np.float32)
    values = np.multiply(blocks[:, 2:].view(np.int8), scales, dtype=np.float32)
    return values.reshape(*data.shape[:-1], -1)


def _config(facts: dict[str, Any], tensors: dict[str, np.ndarray]) -> Config:
    kind = facts.get("general.architecture")
    if kind != "llama":
        raise ValueError(
            f"path: got a file of architecture {brief(kind)}; "
            "it must be a GGUF file of llama architecture."
        )
    heads = facts["llama.attention.head_count"]
    width = facts["llama.embedding_length"]
    head_width = facts.get("llama.attention.key_length", width // heads)
    rates = frequencies(head_width, facts.get("llama.rope.freq_base", 1e4))
    if "rope_freqs.weight" in tensors:
        rates = tuple(float(rate) for rate in rates / tensors["rope_freqs.weight"])
    return Config(
        layers=facts["llama.block_count"],
        width=width,
        hidden=facts["llama.feed_forward_length"],
        heads=heads,
        kv_heads=facts.get("llama.attention.head_count_kv", heads),
        head_width=head_width,
        vocabulary=len(tensors["token_embd.weight"]),
        frequencies=rates,
        epsilon=float(facts["llama.attention.layer_norm_rms_epsilon"]),
    )


def _block(
    config: Config, tensors: dict[str, np.ndarray], i: int
) -> dict[str, np.ndarray]:
    names = {ours: f"blk.{i}.{theirs}.weight" for ours, theirs in _NAMES.items()}
    block = {ours: tensors[name] for ours, name in names.items() if name in tensors}
    for name, heads in (("query", config.heads), ("key", config.kv_heads)):
        if name in block:
            pairs = block[name].reshape(heads, config.head_width // 2, 2, -1)
            block[name] = np.ascontiguousarray(pairs.swapaxes(1, 2)).reshape(
                block[name].shape
            )
    return block


def _tokenizer(facts: dict[str, Any]) -> Tokenizer:
    model = facts.get("tokenizer.ggml.model")
    split = facts.get("tokenizer.ggml.pre")
    if model != "gpt2" or split not in ("smollm", "default"):
        raise ValueError(
            f"path: got a tokenizer of kind {brief((model, split))}; "
            "it must be a GGUF file whose tokenizer is byte-level BPE, as in SmolLM."
        )
    words = facts["tokenizer.ggml.tokens"]
    kinds = facts["tokenizer.ggml.token_type"]
    special = [
        word for word, kind in zip(words, kinds, strict=True) if kind == _SPECIAL
    ]
    end = (
        words.index("<|endoftext|>")
        if "<|endoftext|>" in words
        else facts["tokenizer.ggml.eos_token_id"]
    )
    return Tokenizer.from_vocabulary(
        words, facts["tokenizer.ggml.merges"], special, end
    )
