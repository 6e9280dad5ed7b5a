"""Countries to ask a language model about, and a corpus of English prose to estimate
its statistics from.

`Country` is a plain dataclass: it holds text only, and JAX never traces it.
"""

import gzip
import json
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

from rankone._checks import brief

__all__ = ["Country", "corpus", "countries", "country"]


@dataclass(frozen=True)
class Country:
    """One country, with its capital, currency, continent and neighbours, from GeoNames.

    Attributes:
        name: Name in English, with its article where it takes one: "Japan", "the
            Netherlands".
        capital: Name of the capital.
        currency: Name of the currency without an adjective: "euro", "dollar".
        continent: Name of the continent: "Europe", "North America" and so on.
        neighbours: Names of the countries it borders on.
    """

    name: str
    capital: str
    currency: str
    continent: str
    neighbours: tuple[str, ...]


@cache
def countries() -> tuple[Country, ...]:
    """All countries with 250,000 people or more, sorted by name without the article.
    Each has a `name`, `capital`, `currency`, `continent` and `neighbours`.
    """
    rows = json.loads(
        (files(__package__) / "countries.json").read_text(encoding="utf-8")
    )
    return tuple(
        Country(**(row | {"neighbours": tuple(row["neighbours"])})) for row in rows
    )


def country(name: str) -> Country:
    """`Country` of a given name, with or without its article ("the").

    Args:
        name: Name in English, as in `Country`.

    Returns:
        The country, with its `name`, `capital`, `currency` and `continent`, and as
        `neighbours` the names of the countries it borders on.

    Raises:
        ValueError: If there is no such country; the message lists the most similar
            names.

    >>> country("Netherlands").capital
    'Amsterdam'
    """
    by_name = {c.name: c for c in countries()} | {
        c.name.removeprefix("the "): c for c in countries()
    }
    if not isinstance(name, str):
        raise ValueError(
            f"name: got {brief(name)}; it must be a text: the name of a country."
        )
    if name not in by_name:
        raise ValueError(
            f"name: got {brief(name)}; it must be a country, such as "
            f"{', '.join(get_close_matches(name, by_name) or ['Japan'])}."
        )
    return by_name[name]


@cache
def corpus() -> tuple[str, ...]:
    """Passages of 200 to 900 characters: histories from the World Factbook, then
    addresses to Congress since 1961.
    """
    raw = (files(__package__) / "corpus.txt.gz").read_bytes()
    return tuple(gzip.decompress(raw).decode().split("\n"))
