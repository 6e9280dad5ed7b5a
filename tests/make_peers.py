"""Results of the authors' own code of MEMIT, AlphaEdit, EMMET, ROME and r-ROME on a
small GPT-2, for a test that runs without torch and without their code.

Only the results are stored, in `references/peers.npz`, with the commits of the code.
Run with torch and transformers, and with checkouts of the four repositories of
`SOURCES`: python tests/make_peers.py FOLDER, whose folders are named as the
repositories are.
"""

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import numpy as np
from language_models import small_model

from rankone.language import LanguageModel, Request

FILE = Path(__file__).parent / "references" / "peers.npz"
# method → repository, package and function
SOURCES = {
    "memit": ("memit", "memit.memit_main", "execute_memit"),
    "alphaedit": (
        "AlphaEdit",
        "AlphaEdit.AlphaEdit_main",
        "apply_AlphaEdit_to_model",
    ),
    "emmet": ("unified-model-editing", "emmet.emmet_main", "execute_emmet"),
    "rome": ("memit", "rome.rome_main", "execute_rome"),
    "r_rome": ("rebuilding-rome", "rome.rome_main", "execute_rome"),
}
BLOCKS = [0, 1, 2]
CONTEXTS = ["", "Once in Rome. ", "The country. "]
REQUESTS = [
    Request("The city of {} is", subject, "Rome")
    for subject in ("Norway", "Japan", "Oslo")
]
WEIGHT = 2.0  # weight of C in MEMIT
THRESHOLD = 0.1  # threshold for the eigenvalues that AlphaEdit may use
RIDGE = 0.5
WIDTH, HIDDEN = 32, 48


def model() -> LanguageModel:
    """A GPT-2 of three blocks. numpy draws its weights, as JAX's draws depend on the
    version.
    """
    base = small_model(len(BLOCKS), kind="gpt2")
    rng = np.random.default_rng(0)

    def random_leaf(path: Any, leaf: Any) -> Any:
        values = rng.normal(size=leaf.shape) / leaf.shape[-1] ** 0.5
        is_scale = str(path[-1]).endswith("norm")
        return jax.numpy.asarray(values + is_scale, np.float32)

    network = jax.tree_util.tree_map_with_path(random_leaf, base.network)
    return LanguageModel(network, base.tokenizer, "small")


def moments() -> np.ndarray:
    """Second moments of each block's keys, of a condition number near 1e3."""
    rng = np.random.default_rng(1)
    scale = np.geomspace(0.02, 1, HIDDEN)[:, None]
    old = rng.normal(size=(len(BLOCKS), HIDDEN, 300)) * scale
    return (old @ old.transpose(0, 2, 1) / 300).astype(np.float32)


def earlier() -> np.ndarray:
    """Keys of earlier edits, for AlphaEdit's cache (blocks, D, 2)."""
    rng = np.random.default_rng(2)
    return rng.normal(size=(len(BLOCKS), HIDDEN, 2)).astype(np.float32)


def residuals() -> np.ndarray:
    """Changes of the stream after the last block, one per request (n, d)."""
    rng = np.random.default_rng(3)
    return rng.normal(size=(len(REQUESTS), WIDTH)).astype(np.float32)


def projector(C: np.ndarray) -> np.ndarray:
    """AlphaEdit's P, on the directions of small singular values."""
    U, S, _ = np.linalg.svd(C)
    return U[:, S < THRESHOLD] @ U[:, S < THRESHOLD].T


# What follows runs the authors' code


@contextmanager
def at(folder: Path) -> Any:
    """Context inside a checkout, whose packages are imported first, and forgotten
    afterwards.
    """
    before, place = set(sys.modules), Path.cwd()
    sys.path.insert(0, str(folder))
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(place)
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]


def on_the_cpu() -> Any:
    """Mode of torch in which "cuda" means the processor."""
    import torch
    from torch.overrides import TorchFunctionMode

    def moved(value: Any) -> Any:
        return "cpu" if isinstance(value, str) and value == "cuda" else value

    class OnCpu(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if func is torch.Tensor.cuda:
                return args[0]
            named = {name: moved(value) for name, value in (kwargs or {}).items()}
            return func(*map(moved, args), **named)

    return OnCpu()


def written(name: str, folder: Path, saved: Path) -> dict[str, np.ndarray]:
    """Changes that one method writes: (block, d, D) of all blocks, or (d, D) of the
    middle one, with the δ of its search.
    """
    import torch
    from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

    repository, package, function = SOURCES[name]
    with at(folder / repository), on_the_cpu():
        main = import_module(package)
        network = GPT2LMHeadModel.from_pretrained(saved).eval()
        end = "<|endoftext|>"
        words = PreTrainedTokenizerFast(
            tokenizer_file=str(saved / "tokenizer.json"), pad_token=end, unk_token=end
        )
        several = name in ("memit", "alphaedit", "emmet")
        templates = ["{}", *(f"{context}{{}}" for context in CONTEXTS[1:])]
        main.CONTEXT_TEMPLATES_CACHE = (
            [templates[:1], templates[1:]] if several else templates
        )
        C = torch.tensor(moments())
        requests = [
            {
                "prompt": one.prompt,
                "subject": one.subject,
                "target_new": {"str": one.target},
                "case_id": i,
            }
            for i, one in enumerate(REQUESTS)
        ]
        how = settings(name)
        kind = [
            value for key, value in vars(main).items() if key.endswith("HyperParams")
        ]
        hyper = kind[0](
            **{key: how[key] for key in kind[0].__dataclass_fields__ if key in how}
        )
        down = [network.transformer.h[block].mlp.c_proj.weight for block in BLOCKS]
        before = [weight.detach().clone() for weight in down]
        if several:
            start = main.get_module_input_output_at_words(
                network,
                words,
                BLOCKS[-1],
                context_templates=[one.prompt for one in REQUESTS],
                words=[one.subject for one in REQUESTS],
                module_template=how["layer_module_tmp"],
                fact_token_strategy=how["fact_token"],
            )[1]
            goals = iter(start + torch.tensor(residuals()))
            main.compute_z = lambda *_: next(goals)

            def cov(model: Any, tok: Any, layer_name: str, *_: Any, **__: Any) -> Any:
                block = int(layer_name.split(".")[2])
                return (C[block], None) if name == "emmet" else C[block]

            main.get_cov = cov
            if name == "alphaedit":
                P = torch.tensor(np.stack([projector(one) for one in moments()]))
                cache = torch.tensor(earlier() @ earlier().transpose(0, 2, 1))
                getattr(main, function)(
                    network, words, requests, hyper, cache_c=cache, P=P
                )
                changes = [w - b for w, b in zip(down, before, strict=True)]
                return {name: np.stack([c.detach().numpy().T for c in changes])}
            deltas = getattr(main, function)(network, words, requests, hyper)
            changes = [value[1] @ value[0].T for value in deltas.values()]
            return {name: np.stack([change.numpy() for change in changes])}
        inverse = torch.inverse(C[how["layers"][0]])
        import_module("rome.compute_u").get_inv_cov = lambda *_: inverse
        variables = []
        adam = torch.optim.Adam

        def watched(parameters: Any, **options: Any) -> Any:
            variables.extend(parameters)
            return adam(parameters, **options)

        torch.optim.Adam = watched
        try:
            ((u, v),) = getattr(main, function)(
                network, words, requests[0], hyper
            ).values()
        finally:
            torch.optim.Adam = adam
        return {name: np.outer(v.detach(), u), f"{name}_delta": variables[0].detach()}


def settings(name: str) -> dict[str, Any]:
    """Hyperparameters, by the names of the authors' code."""
    part = "transformer.h.{}"
    return {
        "model_name": "small",
        "layers": [1] if name in ("rome", "r_rome") else BLOCKS,
        "layer_selection": "all",
        "fact_token": "subject_last",
        "v_num_grad_steps": 5,
        "v_lr": 0.5,
        "v_loss_layer": len(BLOCKS) - 1,
        "v_weight_decay": 0.5,
        "clamp_norm_factor": 4.0,
        "kl_factor": 0.0625,
        "mom2_adjustment": True,
        "mom2_update_weight": WEIGHT,
        "context_template_length_params": [],
        "enable_prompt_keys": False,
        "enable_random_prefix_keys": True,
        "original_implementation": False,
        "rewrite_module_tmp": f"{part}.mlp.c_proj",
        "layer_module_tmp": part,
        "mlp_module_tmp": f"{part}.mlp",
        "attn_module_tmp": f"{part}.attn",
        "ln_f_module": "transformer.ln_f",
        "lm_head_module": "lm_head",
        "mom2_dataset": "",
        "mom2_n_samples": 0,
        "mom2_dtype": "float32",
        "nullspace_threshold": THRESHOLD,
        "L2": RIDGE,
        "calculate_objective_value": False,
        "update_norm_lambda": 0.0,
        "emmet_lambda": 0.0,
    }


def commit(folder: Path) -> str:
    git = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    return subprocess.run(git, capture_output=True, text=True, check=True).stdout[:12]


def main(folder: Path) -> None:
    import torch
    import transformers

    sys.modules["datasets"] = ModuleType("datasets")
    sys.modules["datasets"].load_dataset = None
    with tempfile.TemporaryDirectory() as place:
        saved = model().save(Path(place) / "small")
        results = {}
        for name in SOURCES:
            results |= written(name, folder, saved)
    about = {name: commit(folder / source[0]) for name, source in SOURCES.items()}
    about |= {one.__name__: one.__version__ for one in (torch, transformers)}
    arrays = {name: np.asarray(value, np.float32) for name, value in results.items()}
    np.savez_compressed(FILE, about=np.array(json.dumps(about)), **arrays)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
