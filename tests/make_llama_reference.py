"""Checkpoints with random weights, and what `transformers` answers, for tests that run where it is not installed.

Run with torch and transformers at hand: python tests/make_llama_reference.py
"""

import json
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "llama_reference"
SIZES = {"hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2, "vocab_size": 60}
HEADS = {"num_attention_heads": 6, "num_key_value_heads": 2, "rms_norm_eps": 1e-5}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
CASES = {
    "tied": (True, {"rope_type": "default"}),
    "untied": (False, {"rope_type": "default"}),
    "llama3": (False, LLAMA3 | {"original_max_position_embeddings": 32}),
}


def make(name: str) -> None:
    import torch
    import transformers

    tied, rope = CASES[name]
    rope = rope | {"rope_theta": 1e5}
    torch.manual_seed(0)
    config = transformers.LlamaConfig(**SIZES, **HEADS, tie_word_embeddings=tied, rope_parameters=rope)
    model = transformers.LlamaForCausalLM(config).eval()
    with torch.no_grad():
        for weight in model.parameters():  # as drawn they are so small that attention and norms hardly show
            weight.mul_(8) if weight.ndim == 2 else weight.add_(0.3 * torch.randn_like(weight))
        tokens = np.random.default_rng(1).integers(0, SIZES["vocab_size"], (2, 40))
        answer = model(torch.tensor(tokens)).logits.numpy()
    model.save_pretrained(FOLDER / name)
    made_by = {"torch": torch.__version__, "transformers": transformers.__version__}
    np.savez(FOLDER / name / "answer.npz", tokens=tokens, logits=answer, made_by=json.dumps(made_by))


if __name__ == "__main__":
    for name in CASES:
        make(name)
