"""Small language models for the tests: random weights, a tokenizer of bytes, and a
forward pass in plain numpy.
"""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np

from rankone.language.forward import SITES, Cache, embed, logits, run
from rankone.language.model import LanguageModel
from rankone.language.rotary import frequencies
from rankone.language.tokenizer import Tokenizer
from rankone.language.transformer import Config, random_network

KINDS = ("llama", "mistral", "qwen2", "gpt2")
WORDS = [
    "Paris",
    "Rome",
    "France",
    "Japan",
    "capital",
    "country",
    "Norway",
    "Oslo",
    "city",
]


def alphabet():
    """The 256 characters that stand for bytes, as in every byte-level BPE."""
    from tokenizers.pre_tokenizers import ByteLevel

    return sorted(ByteLevel.alphabet())


def tokenizer():
    """A tokenizer of all bytes, and of some words built by merges."""
    vocabulary = ["<|endoftext|>", *alphabet()]
    merges = []
    for word in WORDS:
        for i in range(1, len(word)):
            if word[: i + 1] not in vocabulary:
                merges.append(f"{word[:i]} {word[i]}")
                vocabulary.append(word[: i + 1])
        merges.append(f"Ġ {word}")
        vocabulary.append(f"Ġ{word}")
    return (
        Tokenizer.from_vocabulary(vocabulary, merges, ["<|endoftext|>"], 0),
        vocabulary,
        merges,
    )


def config(vocabulary, layers=3, kind="llama"):
    sizes = layers, 32, 48, 4, 2, 8, vocabulary
    if kind == "gpt2":
        biases = ("query", "key", "value", "output", "up", "down")
        switches = {
            "norm": "layer",
            "activation": "gelu_new",
            "gated": False,
            "biases": biases,
            "positions": 128,
        }
        return Config(layers, 32, 48, 4, 4, 8, vocabulary, (), **switches)
    biases = ("query", "key", "value") if kind == "qwen2" else ()
    return Config(
        *sizes,
        frequencies(8, 1e4),
        biases=biases,
        window=5 if kind == "mistral" else None,
    )


@cache
def small_model(layers=3, seed=0, kind="llama"):
    words, vocabulary, _ = tokenizer()
    network = random_network(
        config(len(vocabulary), layers, kind), key=jax.random.key(seed)
    )
    return LanguageModel(network, words, "small")


@partial(jax.jit, static_argnames=("hook", "read"))
def whole(network, tokens, **options):
    """Logits at every position of a batch without padding, and the values that were
    read.
    """
    tokens = jnp.atleast_2d(tokens)
    cache = Cache.empty(
        network.config, jnp.ones(tokens.shape, bool), network.norm.dtype
    )
    h, _, values = run(network, embed(network, tokens), cache, **options)
    return logits(network, h), values


def plain_logits(network, tokens):
    """Scores at every position of one row of tokens."""
    return plain_run(network, tokens)[0]


def plain_run(network, tokens, *, noise=0.0, change=lambda site, layer, value: value):
    """Scores, and the values at each site of every block, computed from the definition
    with loops over heads.

    Noise is added to the embeddings (T, d); the result of `change` replaces a value.
    """
    c = network.config
    w = jax.tree.map(lambda a: np.asarray(a, np.float64), network)

    def norm(h, g):
        return h / np.sqrt((h**2).mean(-1, keepdims=True) + c.epsilon) * g

    h = w.embedding[np.asarray(tokens)] + noise
    T = len(tokens)
    by_site = {site: [] for site in SITES}
    turn = np.exp(1j * np.arange(T)[:, None] * np.array(c.frequencies))
    half = c.head_width // 2

    def rotated(x):
        z = (x[:, :half] + 1j * x[:, half:]) * turn
        return np.concatenate([z.real, z.imag], axis=1)

    def passed(site, value):
        by_site[site].append(np.asarray(change(site, i, value)))
        return by_site[site][-1]

    for i in range(c.layers):
        layer = jax.tree.map(lambda a: a[i], w.layers)
        x = norm(h, layer.attention_norm)
        heads = []
        q = x @ layer.query.T
        k = x @ layer.key.T
        v = x @ layer.value.T
        for head in range(c.heads):
            mine = slice(head * c.head_width, (head + 1) * c.head_width)
            group = head // (c.heads // c.kv_heads)
            shared = slice(group * c.head_width, (group + 1) * c.head_width)
            scores = rotated(q[:, mine]) @ rotated(k[:, shared]).T / c.head_width**0.5
            scores = np.where(np.tri(T, dtype=bool), scores, -np.inf)
            p = np.exp(scores - scores.max(1, keepdims=True))
            heads.append(p / p.sum(1, keepdims=True) @ v[:, shared])
        h = h + passed("attention", np.concatenate(heads, axis=1) @ layer.output.T)
        x = norm(h, layer.mlp_norm)
        gate = x @ layer.gate.T
        key = passed("key", gate / (1 + np.exp(-gate)) * (x @ layer.up.T))
        h = passed("hidden", h + passed("mlp", key @ layer.down.T))
    head = w.embedding if w.head is None else w.head
    return norm(h, w.norm) @ head.T, {
        site: np.stack(values) for site, values in by_site.items()
    }
