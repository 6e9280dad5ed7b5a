"""Checkpoints with random weights and the answers of `transformers`, for tests that run
without it.

Run with torch and transformers at hand: python tests/make_references.py
"""

import json
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "references"
SIZES = {
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "vocab_size": 60,
}
HEADS = {"num_attention_heads": 6, "num_key_value_heads": 2, "rms_norm_eps": 1e-5}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
}
PLAIN = {
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e5},
    "eos_token_id": 0,
    "bos_token_id": None,
}
STRETCHED = {
    "rope_parameters": LLAMA3
    | {"original_max_position_embeddings": 32, "rope_theta": 1e5}
}
GPT2 = {
    "n_embd": 24,
    "n_layer": 2,
    "n_head": 6,
    "n_positions": 48,
    "vocab_size": 60,
    "eos_token_id": 0,
    "bos_token_id": 0,
}
CASES = {
    "tied": ("Llama", SIZES | HEADS | {"tie_word_embeddings": True, **PLAIN}),
    "untied": ("Llama", SIZES | HEADS | {"tie_word_embeddings": False, **PLAIN}),
    "llama3": (
        "Llama",
        SIZES | HEADS | {"tie_word_embeddings": False, **PLAIN, **STRETCHED},
    ),
    "mistral": (
        "Mistral",
        SIZES | HEADS | {"tie_word_embeddings": False, "sliding_window": 7, **PLAIN},
    ),
    "qwen2": ("Qwen2", SIZES | HEADS | {"tie_word_embeddings": True, **PLAIN}),
    "gpt2": ("GPT2", GPT2),
}
# Written as bfloat16. The answers are those of the same weights in float32.
HALF = (
    "mistral",
    "gpt2",
)
SHARDED = ("qwen2",)


def make(name: str) -> None:
    import torch
    import transformers

    kind, sizes = CASES[name]
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**sizes)
    head = {"GPT2": "LMHeadModel"}.get(kind, "ForCausalLM")
    model = getattr(transformers, kind + head)(config).eval()
    with torch.no_grad():
        # the drawn weights are so small that attention and norms have almost no effect
        for weight in model.parameters():
            weight.mul_(8) if weight.ndim == 2 else weight.add_(
                0.3 * torch.randn_like(weight)
            )
            if name in HALF:
                weight.copy_(weight.bfloat16().float())
        tokens = np.random.default_rng(1).integers(0, SIZES["vocab_size"], (2, 40))
        answer = model(torch.tensor(tokens)).logits.numpy()
    model = model.bfloat16() if name in HALF else model
    model.save_pretrained(
        FOLDER / name, max_shard_size="15KB" if name in SHARDED else "1GB"
    )
    (FOLDER / name / "generation_config.json").unlink()
    made_by = {"torch": torch.__version__, "transformers": transformers.__version__}
    np.savez(
        FOLDER / name / "answer.npz",
        tokens=tokens,
        logits=answer,
        made_by=json.dumps(made_by),
    )


if __name__ == "__main__":
    for name in CASES:
        make(name)
