"""The course of `course.yml`, and what is computed from it: titles, claims, exercises,
the minutes of every syllabus.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from extensions.claims.links import Row, labels_in, read_claims, read_yaml
from extensions.course.contents import contents
from extensions.course.reading import reading_minutes

Chapter = dict[str, Any]


class Exercise(NamedTuple):
    """A row of the table on a page of exercises."""

    label: str
    title: str
    stars: str
    minutes: int
    page: str


@dataclass(frozen=True)
class Session:
    """One meeting of a syllabus, as names of chapters and exercises: `teach` are
    derived, `core` shown in brief, `ask` have their questions asked, `read` are read at
    home, and `set` are set as homework. `hall` and `home` are minutes in class and at
    home.
    """

    teach: list[str]
    core: list[str]
    ask: list[str]
    read: list[str]
    set: list[str]
    hall: int
    home: int


@dataclass(frozen=True)
class Syllabus:
    """Sessions in order."""

    title: str
    about: str
    sessions: list[Session]

    @property
    def minutes(self) -> tuple[int, int]:
        """Minutes in class, and at home."""
        return sum(s.hall for s in self.sessions), sum(s.home for s in self.sessions)


def joined(items: Iterable[str]) -> str:
    """Words as a list in a sentence, with a comma before the last where it helps."""
    *most, last = items
    comma = "," * (len(most) > 1 or any(" and " in item for item in [*most, last]))
    return f"{', '.join(most)}{comma} and {last}" if most else last


@dataclass(frozen=True)
class Course:
    """The course of a repository; every method takes the name of a chapter."""

    root: Path

    @cached_property
    def _map(self) -> dict[str, Any]:
        return read_yaml(self.root / "book" / "course.yml")

    @cached_property
    def _sources(self) -> dict[str, str]:
        return {
            p.stem: p.read_text(encoding="utf-8")
            for p in self.root.joinpath("book", "chapters").glob("*.md")
        }

    @cached_property
    def chapters(self) -> dict[str, Chapter]:
        """Name -> the chapter's entry, in the order of the book."""
        return {chapter["name"]: chapter for chapter in self._map["chapters"]}

    @cached_property
    def exercises(self) -> dict[str, Exercise]:
        """Label -> the exercise, from the tables of the pages of exercises."""
        row = r"^\| {ref}`(.+?) <(\S+)>` \| (★+) \| (\d+) \|"
        pages = [page for page in self._sources if page.endswith("_exercises")]
        rows = [
            (page, *groups)
            for page in sorted(pages)
            for groups in re.findall(row, self._sources[page], re.M)
        ]
        return {
            label: Exercise(label, title, stars, int(n), page)
            for page, title, label, stars, n in rows
        }

    @cached_property
    def claims(self) -> dict[str, Row]:
        """Id -> the row of claims.yml."""
        return {
            row["id"]: row for row in read_claims(self.root / "book" / "claims.yml")
        }

    def title(self, name: str) -> str:
        """The heading of the page."""
        match = re.search(r"^# (.+)$", self._sources[name], re.M)
        if not match:
            raise ValueError(f"{name}.md has no heading")
        return match[1]

    def claims_of(self, name: str) -> list[str]:
        """Ids of the claims whose statement is in the chapter or in a page behind
        it.
        """
        labels = {
            label
            for page in (name, *self.further(name))
            for label in labels_in(self._sources[page])
        }
        return [claim for claim, row in self.claims.items() if row["chapter"] in labels]

    def exercises_of(self, name: str) -> list[Exercise]:
        """The chapter's exercises, as their page orders them: those that its entry
        lists, and those of its own page that no entry lists.
        """
        listed = {
            label: chapter
            for chapter, entry in self.chapters.items()
            for label in entry.get("exercises", [])
        }
        if unknown := listed.keys() - self.exercises.keys():
            raise ValueError(
                f"book/course.yml: got the exercises {sorted(unknown)}; they must be "
                "labels in the table of a page of exercises."
            )
        return [
            exercise
            for label, exercise in self.exercises.items()
            if listed.get(label, exercise.page.removesuffix("_exercises")) == name
        ]

    def page_of_exercises(self, name: str) -> str | None:
        """The page that holds the chapter's exercises, if it has any."""
        return next((exercise.page for exercise in self.exercises_of(name)), None)

    def further(self, name: str) -> list[str]:
        """Pages behind the chapter, which go further."""
        return [
            page.name
            for page in contents(self.root)
            if page.behind == f"book/chapters/{name}"
        ]

    def read(self, name: str) -> int:
        """Minutes to read a chapter, or a page behind one."""
        return reading_minutes(self._sources[name])

    def after(self, name: str) -> list[str]:
        """Chapters that come before this one."""
        return list(self.chapters[name].get("after", {}))

    def facts(self, name: str) -> str:
        """The line under the title of a chapter, or of a page behind one, in MyST:
        minutes and prerequisites.
        """
        link = "{{doc}}`/book/chapters/{}`".format
        if name not in self.chapters:
            before = next(
                chapter for chapter in self.chapters if name in self.further(chapter)
            )
            return f"**About {self.read(name)} minutes.** Goes on from {link(before)}."
        chapter = self.chapters[name]
        uses = [
            f"{part} from {link(n)}" if part else link(n)
            for n, part in chapter.get("after", {}).items()
        ]
        part = [
            f"{link(n)} (for {part})" for n, part in chapter.get("optional", {}).items()
        ]
        return (
            f"**About {self.read(name)} minutes.** Needs "
            f"{joined([*uses, *chapter.get('outside', []), *part])}."
        )

    @property
    def minutes(self) -> tuple[int, int, int]:
        """To read all chapters, then all pages behind them, and to do all exercises."""
        behind = [page for name in self.chapters for page in self.further(name)]
        exercises = sum(exercise.minutes for exercise in self.exercises.values())
        return (
            sum(map(self.read, self.chapters)),
            sum(map(self.read, behind)),
            exercises,
        )

    def questions(self, name: str) -> list[dict[str, Any]]:
        """The chapter's misconceptions."""
        return self.chapters[name]["misconceptions"]

    @cached_property
    def counts(self) -> dict[str, int]:
        """The number of questions in the chapters, and of those that have a button
        above an explorer.
        """
        asked = [entry for name in self.chapters for entry in self.questions(name)]
        buttons = sum("question" in entry for entry in asked)
        return {"questions": len(asked), "buttons": buttons}

    def button(self, entry: dict[str, Any]) -> str | None:
        """Label of the button above the explorer for the question of a misconception,
        or None.
        """
        if "question" not in entry:
            return None
        folder = entry["widget"].removesuffix("Explorer").lower()
        text = self.root.joinpath("frontend", folder, "presets.js").read_text(
            encoding="utf-8"
        )
        match = re.search(rf'key: "{entry["question"]}",\s+name: "(.+?)"', text)
        return match[1] if match else None

    @cached_property
    def syllabi(self) -> list[Syllabus]:
        """Every syllabus, with the minutes of its sessions."""
        return [
            Syllabus(
                entry["title"],
                entry["about"],
                [self._session(**session) for session in entry["sessions"]],
            )
            for entry in self._map["syllabi"]
        ]

    @property
    def longest(self) -> int:
        """Most minutes of a session in class."""
        return self._map["pace"]["hall"]

    def _session(
        self,
        set: list[str],
        teach: Iterable[str] = (),
        core: Iterable[str] = (),
        ask: Iterable[str] = (),
        read: Iterable[str] = (),
    ) -> Session:
        pace = self._map["pace"]
        ask = [*teach, *ask]
        read = [*teach, *read]
        hall = sum(pace["claim"] * len(self.chapters[name]["insist"]) for name in teach)
        hall += sum(
            minutes for name in core for minutes, _ in self.chapters[name]["short"]
        )
        hall += sum(pace["question"] * len(self.questions(name)) for name in ask)
        home = sum(map(self.read, read)) + sum(
            self.exercises[label].minutes for label in set
        )
        return Session(list(teach), list(core), ask, read, set, hall, home)
