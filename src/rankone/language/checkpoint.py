"""Networks from folders of safetensors, as llama checkpoints are published."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from rankone._checks import check
from rankone.language.network import Config, Llama, assemble
from rankone.language.rotary import frequencies
from rankone.language.tokens import Tokenizer

__all__ = ["read_checkpoint"]

_NAMES = {
    "attention_norm": "input_layernorm",
    "query": "self_attn.q_proj",
    "key": "self_attn.k_proj",
    "value": "self_attn.v_proj",
    "output": "self_attn.o_proj",
    "mlp_norm": "post_attention_layernorm",
    "gate": "mlp.gate_proj",
    "up": "mlp.up_proj",
    "down": "mlp.down_proj",
}
_ENDS = {"embedding": "model.embed_tokens.weight", "norm": "model.norm.weight", "head": "lm_head.weight"}
_DTYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16}


def read_checkpoint(folder: str | Path) -> tuple[Llama, Tokenizer | None]:
    """Network of a folder with `config.json` and `*.safetensors`, and its tokenizer where it has a `tokenizer.json`.

    Raises:
        ValueError: If the folder lacks a file, a weight is missing, or the architecture is not llama without biases.
    """
    folder = Path(folder)
    check((folder / "config.json").is_file(), "folder", str(folder), "a folder with a config.json")
    facts = json.loads((folder / "config.json").read_text())
    tensors = {name: value for path in sorted(folder.glob("*.safetensors")) for name, value in _tensors(path)}
    config = _config(facts)
    ends = {ours: tensors[theirs] for ours, theirs in _ENDS.items() if theirs in tensors}
    check("embedding" in ends and "norm" in ends, "folder", sorted(tensors)[:3], "with the weights of a llama network")
    if facts.get("tie_word_embeddings"):
        ends.pop("head", None)
    network = assemble(config, [_block(tensors, i) for i in range(config.layers)], ends)
    words, end = folder / "tokenizer.json", facts.get("eos_token_id") or 0
    return network, Tokenizer.from_file(words, end[0] if isinstance(end, list) else end) if words.is_file() else None


def _tensors(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Names and float32 values in one file: a header in JSON, its length before it, then the numbers."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    whole = "a whole .safetensors file; it breaks off, so fetch it again"
    check(len(raw) > 8 + size, "folder", f"{path.name} of {len(raw):,} bytes", whole)
    for name, entry in json.loads(raw[8 : 8 + size]).items():
        if name == "__metadata__":
            continue
        start, stop = (8 + size + offset for offset in entry["data_offsets"])
        check(stop <= len(raw), "folder", f"{path.name} of {len(raw):,} bytes", whole)
        check(entry["dtype"] in _DTYPES, "folder", f"{name} as {entry['dtype']}", "of weights in floating point")
        values = np.frombuffer(raw[start:stop], _DTYPES[entry["dtype"]]).astype(np.float32)
        yield name, values.reshape(entry["shape"])


def _block(tensors: dict[str, np.ndarray], i: int) -> dict[str, np.ndarray]:
    prefix = f"model.layers.{i}."
    biases = [name for name in tensors if name.startswith(prefix) and name.endswith(".bias")]
    check(not biases, "folder", biases[:2], "a llama network without biases")
    names = {ours: f"{prefix}{theirs}.weight" for ours, theirs in _NAMES.items()}
    return {ours: tensors[name] for ours, name in names.items() if name in tensors}


def _config(facts: dict[str, Any]) -> Config:
    check(facts.get("model_type") == "llama", "folder", facts.get("model_type"), "of model_type 'llama'")
    check(facts.get("hidden_act", "silu") == "silu", "folder", facts.get("hidden_act"), "with the activation silu")
    heads, width = facts["num_attention_heads"], facts["hidden_size"]
    head_width = facts.get("head_dim") or width // heads
    scaling = facts.get("rope_parameters") or facts.get("rope_scaling") or {}
    base = scaling.get("rope_theta") or facts.get("rope_theta") or 1e4
    return Config(
        layers=facts["num_hidden_layers"],
        width=width,
        hidden=facts["intermediate_size"],
        heads=heads,
        kv_heads=facts.get("num_key_value_heads") or heads,
        head_width=head_width,
        vocabulary=facts["vocab_size"],
        frequencies=frequencies(head_width, base, scaling),
        epsilon=float(facts.get("rms_norm_eps", 1e-6)),
    )
