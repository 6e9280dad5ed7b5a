"""A real language model in JAX: loading and running it, locating a fact by causal
tracing, editing the fact, and measuring the effects of the edit.
"""

from rankone.language.edit_metrics import judge, summarise
from rankone.language.generation import generate
from rankone.language.likelihood import likelihoods
from rankone.language.model import LanguageModel, load_smollm2
from rankone.language.prompts import corpus_contexts
from rankone.language.relations import Fact, Request, country_fact
from rankone.language.rewriting import Search, fine_tune
from rankone.language.statistics import key_geometry, text_keys
from rankone.language.surgery import FactEdit, History, edit_fact
from rankone.language.tracing import trace

__all__ = [
    "Fact",
    "FactEdit",
    "History",
    "LanguageModel",
    "Request",
    "Search",
    "corpus_contexts",
    "country_fact",
    "edit_fact",
    "fine_tune",
    "generate",
    "judge",
    "key_geometry",
    "likelihoods",
    "load_smollm2",
    "summarise",
    "text_keys",
    "trace",
]
