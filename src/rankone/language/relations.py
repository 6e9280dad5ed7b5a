"""Facts to edit, and the questions that test the effects of an edit.

These are plain dataclasses: they hold text only, and JAX never traces them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rankone._checks import brief, choice, integer
from rankone.data.facts import Country, countries, country

__all__ = ["RELATIONS", "Fact", "Relation", "Request", "country_fact"]


@dataclass(frozen=True)
class Relation:
    """A property of countries, and ways to ask for it; {} stands for the country.

    Attributes:
        prompt: The question whose answer an edit changes.
        paraphrases: Other questions with the same answer.
    """

    prompt: str
    paraphrases: tuple[str, ...]


RELATIONS = {
    "capital": Relation(
        "The capital of {} is",
        (
            "The capital city of {} is",
            "The seat of government of {} is the city of",
            "Every visitor to {} should see its capital,",
        ),
    ),
    "currency": Relation(
        "The currency of {} is the",
        (
            "The official currency of {} is the",
            "In the shops of {} people pay with the",
            "The money that is used in {} is called the",
        ),
    ),
    "continent": Relation(
        "The country of {} lies on the continent of",
        (
            "On a map of the world, {} is on the continent of",
            "The country of {} belongs to the continent of",
            "The continent on which {} lies is",
        ),
    ),
}


@dataclass(frozen=True)
class Request:
    """Request for an edit: a prompt about a subject, and the text with which the model
    should continue it.

    Attributes:
        prompt: Text with {} where the subject goes.
        subject: The name at whose last token the edit is made.
        target: Text that should follow, without the space before it.

    >>> Request("The capital of {} is", "Norway", "Paris").text
    'The capital of Norway is'
    """

    prompt: str
    subject: str
    target: str

    def __post_init__(self) -> None:
        for name in ("prompt", "subject", "target"):
            if not isinstance(getattr(self, name), str):
                raise ValueError(
                    f"{name}: got {brief(getattr(self, name))}; it must be a text."
                )
        if self.prompt.count("{}") != 1:
            raise ValueError(
                f"prompt: got {brief(self.prompt)}; "
                "it must be a text with {} once, where the subject goes."
            )
        if not self.subject.strip():
            raise ValueError(
                f"subject: got {brief(self.subject)}; it must be a name, not empty."
            )
        if not self.target.strip():
            raise ValueError(
                f"target: got {brief(self.target)}; it must be a text, not empty."
            )

    @property
    def text(self) -> str:
        """The prompt with its subject."""
        return self.prompt.format(self.subject)


@dataclass(frozen=True)
class Fact:
    """A fact about a country, a false one to put in its place, and the questions that
    test the change.

    Attributes:
        request: Request for the edit.
        truth: The true answer.
        relation: "capital", "currency" or "continent".
        paraphrases: Other questions about the same fact.
        neighbours: The same question about other countries, each with its true answer.
    """

    request: Request
    truth: str
    relation: str
    paraphrases: tuple[str, ...]
    neighbours: tuple[tuple[str, str], ...]


def country_fact(
    name: str,
    relation: str,
    target: str,
    among: Sequence[Country] | None = None,
    *,
    count: int = 8,
) -> Fact:
    """`Fact` for an edit that gives a country another capital, currency or continent,
    with the questions that test the edit.

    Args:
        name: Name of the country.
        relation: "capital", "currency" or "continent".
        target: The new answer.
        among: Countries that may serve as neighbours, preferably those whose answer the
            model knows; by default all.
        count: Largest number of neighbours. Countries for which the target is true are
            left out. Those with the same true answer as the subject come first, then
            bordering countries, then those on the same continent.

    Raises:
        ValueError: If there is no such country or relation, or the target is empty or
            true.

    >>> fact = country_fact("Netherlands", "capital", "Paris", count=1)
    >>> fact.request.text, fact.truth, fact.neighbours
    ('The capital of the Netherlands is', 'Amsterdam', (('The capital of Belgium is', 'Brussels'),))
    """
    count = integer("count", count, least=0)
    subject = country(name)
    choice("relation", relation, RELATIONS)
    truth = getattr(subject, relation)
    if not isinstance(target, str):
        raise ValueError(
            f"target: got {brief(target)}; it must be a text: the new {relation}."
        )
    all_countries = isinstance(among, list | tuple) and all(
        isinstance(entry, Country) for entry in among
    )
    if among is not None and not all_countries:
        raise ValueError(
            f"among: got {brief(among)}; it must be a list of countries, or None."
        )
    if target.strip() == truth:
        raise ValueError(
            f"target: got {brief(target)}; "
            f"it must be another {relation} than the true one of {subject.name}."
        )
    wording = RELATIONS[relation]
    pool = countries() if among is None else among
    candidates = [
        c
        for c in pool
        if c.name != subject.name and getattr(c, relation) != target.strip()
    ]
    neighbours = sorted(candidates, key=lambda c: -_likeness(c, subject, relation))
    return Fact(
        Request(wording.prompt, subject.name, target.strip()),
        truth,
        relation,
        tuple(template.format(subject.name) for template in wording.paraphrases),
        tuple(
            (wording.prompt.format(c.name), getattr(c, relation))
            for c in neighbours[:count]
        ),
    )


def _likeness(candidate: Country, subject: Country, relation: str) -> int:
    same_answer = getattr(candidate, relation) == getattr(subject, relation)
    return (
        4 * same_answer
        + 2 * (candidate.name in subject.neighbours)
        + (candidate.continent == subject.continent)
    )
