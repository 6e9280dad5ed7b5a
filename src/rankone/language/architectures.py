"""Hugging Face's names for the sizes and weights of the supported families of networks.

`Architecture` is a plain dataclass: it holds names only, and JAX never traces it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rankone._checks import brief, choice
from rankone.language.rotary import base_of, frequencies
from rankone.language.transformer import MATRICES, Config

__all__ = ["ARCHITECTURES", "Architecture", "architecture_of", "write_config"]

_SIZES = {
    "layers": "num_hidden_layers",
    "width": "hidden_size",
    "hidden": "intermediate_size",
    "heads": "num_attention_heads",
    "kv_heads": "num_key_value_heads",
    "head_width": "head_dim",
    "vocabulary": "vocab_size",
    "epsilon": "rms_norm_eps",
    "activation": "hidden_act",
}
_GPT2_SIZES = {
    "layers": "n_layer",
    "width": "n_embd",
    "hidden": "n_inner",
    "heads": "n_head",
    "vocabulary": "vocab_size",
    "epsilon": "layer_norm_epsilon",
    "activation": "activation_function",
    "positions": "n_positions",
}
_NEEDED = ("layers", "width", "heads", "vocabulary")
_MODULES = {
    "input_layernorm": ("attention_norm",),
    "self_attn.q_proj": ("query",),
    "self_attn.k_proj": ("key",),
    "self_attn.v_proj": ("value",),
    "self_attn.o_proj": ("output",),
    "post_attention_layernorm": ("mlp_norm",),
    "mlp.gate_proj": ("gate",),
    "mlp.up_proj": ("up",),
    "mlp.down_proj": ("down",),
}
_GPT2_MODULES = {
    "ln_1": ("attention_norm",),
    "attn.c_attn": ("query", "key", "value"),
    "attn.c_proj": ("output",),
    "ln_2": ("mlp_norm",),
    "mlp.c_fc": ("up",),
    "mlp.c_proj": ("down",),
}


@dataclass(frozen=True)
class Architecture:
    """Names of the sizes and weights of one family of networks.

    Attributes:
        base: Prefix of all names except that of the head, unless the checkpoint was
            saved without it.
        block: Prefix of a block's names, followed by the number of the block.
        modules: Names of the modules of a block, with this package's names for their
            parts, in order along the output axis.
        ends: Names of the weights outside the blocks, with this package's names.
        sizes: This package's name of each size, with the name in `config.json`.
        fixed: Values of other fields of `Config`, and defaults of sizes that
            `config.json` may omit.
        needs: Entries of `config.json` of which only one value is supported, with this
            value.
        biases: Matrices that usually have a bias.
        rotary: True if positions are rotary.
        transposed: True if matrices are (in, out).
        ignored: Ends of the names of tensors that are not weights.
    """

    base: str = "model."
    block: str = "layers."
    modules: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _MODULES)
    ends: Mapping[str, str] = field(
        default_factory=lambda: {
            "embed_tokens.weight": "embedding",
            "norm.weight": "norm",
        }
    )
    sizes: Mapping[str, str] = field(default_factory=lambda: _SIZES)
    fixed: Mapping[str, Any] = field(default_factory=lambda: {"epsilon": 1e-6})
    needs: Mapping[str, Any] = field(default_factory=dict)
    biases: tuple[str, ...] = ()
    rotary: bool = True
    transposed: bool = False
    ignored: tuple[str, ...] = ("rotary_emb.inv_freq",)

    def place(self, name: str) -> tuple[tuple[str, ...], int | None] | None:
        """Names that this package gives to the weights in a tensor, and the number of
        their block; None for a tensor that is not a weight.

        Raises:
            ValueError: If the family has no such weight.
        """
        if name.endswith(self.ignored):
            return None
        short = name.removeprefix(self.base)
        if name == "lm_head.weight" or short in self.ends:
            return (self.ends.get(short, "head"),), None
        number, _, remainder = short.removeprefix(self.block).partition(".")
        module, _, kind = remainder.rpartition(".")
        fits = (
            short.startswith(self.block)
            and number.isdecimal()
            and module in self.modules
        )
        if not fits or kind not in ("weight", "bias"):
            raise ValueError(
                f"folder: got a tensor {brief(name)}; "
                "it must be a checkpoint with only the weights of this architecture."
            )
        names = self.modules[module]
        return tuple(
            f"{weight}_bias" for weight in names
        ) if kind == "bias" else names, int(number)

    def tensors(self, config: Config) -> dict[str, tuple[tuple[str, ...], int | None]]:
        """Result of `place` for every tensor of a network, by the name of the tensor."""
        shapes = config.shapes()
        names = [
            f"{module}.{kind}" for module in self.modules for kind in ("weight", "bias")
        ]
        blocks = [
            f"{self.base}{self.block}{i}.{name}"
            for i in range(config.layers)
            for name in names
        ]
        ends = [
            self.base + name
            for name, weight in self.ends.items()
            if weight in config.ends()
        ]
        places = {
            name: place
            for name in (*ends, *blocks, "lm_head.weight")
            if (place := self.place(name))
        }
        return {
            name: place
            for name, place in places.items()
            if place[1] is None or place[0][0] in shapes
        }

    def config(self, facts: Mapping[str, Any], tensors: Iterable[str]) -> Config:
        """Sizes and switches, from `config.json` and the names of the tensors.

        Raises:
            ValueError: If the checkpoint needs something that is not supported; the
                message names it.
        """
        for entry, requirement in self.needs.items():
            value = facts.get(entry, requirement)
            if value != requirement:
                raise ValueError(
                    f"folder: got {entry}={value!r}; "
                    f"it must be a checkpoint with {entry}={requirement!r}."
                )
        sizes = {
            size: facts[key]
            for size, key in self.sizes.items()
            if facts.get(key) is not None
        }
        absences = [self.sizes[size] for size in _NEEDED if size not in sizes]
        if absences:
            raise ValueError(
                f"folder: got no {', '.join(absences)}; "
                "it must be a checkpoint whose config.json has it."
            )
        heads = sizes["heads"]
        width = sizes["width"]
        defaults = {
            "kv_heads": heads,
            "head_width": width // heads,
            "hidden": 4 * width,
            "frequencies": (),
            **self.fixed,
        }
        names = {
            weight
            for name in tensors
            if (place := self.place(name)) and place[1] == 0
            for weight in place[0]
        }
        switches: dict[str, Any] = {
            "biases": tuple(name for name in MATRICES if f"{name}_bias" in names),
            "window": _window(facts),
        }
        if self.rotary:
            scaling = facts.get("rope_parameters") or facts.get("rope_scaling") or {}
            base = scaling.get("rope_theta") or facts.get("rope_theta") or 1e4
            switches["frequencies"] = frequencies(
                (defaults | sizes)["head_width"], base, scaling
            )
        return Config(**defaults | sizes | switches)


ARCHITECTURES = {
    "llama": Architecture(),
    "mistral": Architecture(),
    "qwen2": Architecture(biases=("query", "key", "value")),
    "gpt2": Architecture(
        base="transformer.",
        block="h.",
        modules=_GPT2_MODULES,
        ends={
            "wte.weight": "embedding",
            "wpe.weight": "positions",
            "ln_f.weight": "norm",
            "ln_f.bias": "norm_bias",
        },
        sizes=_GPT2_SIZES,
        fixed={
            "epsilon": 1e-5,
            "norm": "layer",
            "gated": False,
            "activation": "gelu_new",
        },
        needs={
            "scale_attn_weights": True,
            "scale_attn_by_inverse_layer_idx": False,
            "add_cross_attention": False,
        },
        biases=("query", "key", "value", "output", "up", "down"),
        rotary=False,
        transposed=True,
        ignored=(".attn.bias", ".attn.masked_bias"),
    ),
}


_CLASSES = {
    "llama": "LlamaForCausalLM",
    "mistral": "MistralForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "gpt2": "GPT2LMHeadModel",
}


def architecture_of(facts: Mapping[str, Any]) -> Architecture:
    """The family that a `config.json` names.

    Raises:
        ValueError: If it is none of `ARCHITECTURES`.
    """
    choice("model_type", facts.get("model_type"), ARCHITECTURES)
    return ARCHITECTURES[facts["model_type"]]


def write_config(config: Config) -> dict[str, Any]:
    """Dictionary to save as `config.json`, for a network that did not come with one.

    Raises:
        ValueError: If no family has these switches, or the rotary frequencies are not
            those of one base.
    """
    kinds = [
        name for name, family in ARCHITECTURES.items() if family.rotary == config.gated
    ]
    kinds = [name for name in kinds if ARCHITECTURES[name].biases == config.biases]
    kinds = [
        name for name in kinds if (name == "mistral") == (config.window is not None)
    ]
    if not kinds:
        raise ValueError(
            f"network: got {brief(config)}; "
            "it must be one whose gated, biases and window are as in "
            f"{' or '.join(ARCHITECTURES)}."
        )
    family = ARCHITECTURES[kinds[0]]
    facts: dict[str, Any] = {
        "model_type": kinds[0],
        "architectures": [_CLASSES[kinds[0]]],
    }
    facts |= {entry: getattr(config, size) for size, entry in family.sizes.items()}
    if config.frequencies:
        facts |= {
            "rope_theta": base_of(config.frequencies),
            "sliding_window": config.window,
        }
    round_trip = vars(family.config(facts, family.tensors(config)))
    differences = [
        name
        for name, value in vars(config).items()
        if name != "frequencies" and value != round_trip[name]
    ]
    if differences:
        raise ValueError(
            "network: got "
            f"{brief([f'{name}={getattr(config, name)!r}' for name in differences])}; "
            f"it must have the same values as in {kinds[0]}."
        )
    return facts


def _window(facts: Mapping[str, Any]) -> int | None:
    """Number of tokens that attention looks back, if all blocks have the same."""
    if facts["model_type"] == "mistral":
        return facts.get("sliding_window", 4096)
    if not facts.get("use_sliding_window"):
        return None
    start = facts.get("max_window_layers", 28)
    count = facts["num_hidden_layers"]
    kinds = facts.get("layer_types") or [
        "sliding_attention" if i >= start else "" for i in range(count)
    ]
    sliding = [kind == "sliding_attention" for kind in kinds]
    if len(set(sliding)) != 1:
        raise ValueError(
            "folder: got a sliding window in some blocks; "
            "it must be a checkpoint with one in all or in none."
        )
    return facts.get("sliding_window") if sliding[0] else None
