"""Pages for teachers, made from `course.yml`: the line under each chapter's title, and
the pages of the part for teachers.

`{chapter-facts}` is used under a chapter's title, `{course-hours}` on the first page,
and `{course-map}` and `{syllabi}` on the page for teachers; `{teaching-notes} NAME`
makes an instructor's page. All but the picture is written in MyST, so that links,
mathematics and numbers are those of the book. `{claim}` links to a claim's row,
`{figure}` is a figure of this build, and `{course-count}` is a number of
`Course.counts`. Python writes the lines rather than a template, because most lines
depend on which entries a chapter has.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.osutil import relative_uri

from extensions.claims.table import pending_figure, pending_target, text_nodes
from extensions.course.course_map import Course, Exercise, Session, Syllabus, joined
from extensions.course.course_picture import picture
from extensions.notebooks.notebook import notebook_uri
from extensions.pages.explorer_links import fragment
from extensions.pages.release import published, release, released_page
from extensions.pages.repository import colab, repository


class _Written(SphinxDirective):
    """A directive whose content is written from the map."""

    def run(self) -> list[nodes.Node]:
        """Parse the lines, and note the files on which they depend."""
        root = Path(self.env.srcdir)
        for file in ["course.yml", "claims.yml"]:
            self.env.note_dependency(str(root / "book" / file))
        self.course = Course(root)
        box = nodes.Element()
        box.document = self.state.document
        text = StringList(list(self.lines()), "course.yml")
        self.state.nested_parse(text, self.content_offset, box, match_titles=True)
        return box.children

    def lines(self) -> Iterator[str]:
        """Lines of MyST."""
        raise NotImplementedError


class ChapterFacts(_Written):
    """Minutes and prerequisites of the chapter that uses the directive."""

    def lines(self) -> Iterator[str]:
        """One paragraph."""
        yield self.course.facts(Path(self.env.docname).name)


class CourseHours(_Written):
    """Hours that the whole book takes, and its chapters."""

    def lines(self) -> Iterator[str]:
        """One paragraph."""
        read, further, exercises = self.course.minutes
        times = [self.course.read(name) for name in self.course.chapters]
        yield (
            f"**The {len(times)} chapters take about {_hours(read)} to read**, "
            f"{_hours(min(times))} to"
        )
        yield (
            f"{_hours(max(times))} each. The pages that go further take "
            f"{_hours(further)} more, and the"
        )
        yield f"{len(self.course.exercises)} exercises {_hours(exercises)}."


class Syllabi(_Written):
    """Every syllabus, session by session."""

    def lines(self) -> Iterator[str]:
        """A heading and a list each."""
        for syllabus in self.course.syllabi:
            yield from _syllabus(self.course, syllabus)


class TeachingNotes(_Written):
    """An instructor's page."""

    required_arguments = 1

    def lines(self) -> Iterator[str]:
        """The page, below its title."""
        name = self.arguments[0]
        app = self.env.app
        self.env.metadata[self.env.docname]["teaches"] = name
        yield from _overview(self.course, name)
        yield from _misconceptions(self.course, name)
        yield from _insist(self.course, name)
        yield from _set(self.course, name)
        yield from ["## If there are only twenty minutes", ""]
        yield from [
            f"1. **{minutes} minutes.** {activity}"
            for minutes, activity in self.course.chapters[name]["short"]
        ]
        if repository(app)[0]:
            yield from _assign(app, self.course, name)


class CourseMap(SphinxDirective):
    """The chapters in order, an arc from each to those that need it: SVG in the page,
    in the colours of its theme.
    """

    def run(self) -> list[nodes.Node]:
        """Draw it."""
        self.env.note_dependency(str(Path(self.env.srcdir) / "book" / "course.yml"))
        page = self.env.app.builder.get_target_uri(self.env.docname)
        course = Course(Path(self.env.srcdir))
        target = {
            name: relative_uri(
                page, self.env.app.builder.get_target_uri(f"book/teaching/{name}")
            )
            for name in course.chapters
        }
        return [nodes.raw("", picture(course, target), format="html")]


class FigureRole(SphinxRole):
    """A figure of this build, by its key."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Leave a placeholder: the figure is known when every chapter has run."""
        return [pending_figure(key=self.text, claim="course.yml", promised=True)], []


class CountRole(SphinxRole):
    """A number of questions of the course, by its name in `Course.counts`."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The number, as text."""
        root = Path(self.env.srcdir)
        self.env.note_dependency(str(root / "book" / "course.yml"))
        return [nodes.Text(str(Course(root).counts[self.text]))], []


class ClaimRole(SphinxRole):
    """A claim: a link to its row, and its statement."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The link, then the statement, or the link alone for `{claim}`ID only``."""
        name, _, only = self.text.partition(" ")
        link = pending_target("", nodes.Text(name), kind="claims", claim=name)
        statement = (
            []
            if only
            else text_nodes(
                ": " + Course(Path(self.env.srcdir)).claims[name]["statement"]
            )
        )
        return [link, *statement], []


def _hours(minutes: int) -> str:
    hours, remainder = divmod(minutes, 60)
    return " ".join(
        [f"{hours} h"] * (hours > 0)
        + [f"{remainder} min"] * (remainder > 0 or not hours)
    )


def _chapter(name: str) -> str:
    return f"{{doc}}`/book/chapters/{name}`"


def _overview(course: Course, name: str) -> Iterator[str]:
    home = sum(exercise.minutes for exercise in course.exercises_of(name))
    set_ = f"{_hours(home)} of exercises" if home else "no exercises with checks"
    yield from ["## What it takes", ""]
    yield f"{_chapter(name)}: {_hours(course.read(name))} to read, {set_}."
    yield from [course.facts(name).partition("** ")[2], ""]


def _misconceptions(course: Course, name: str) -> Iterator[str]:
    yield from ["## What students come to believe", ""]
    for entry in course.questions(name):
        yield from [f"### {entry['belief']}", "", f"**Ask:** {entry['ask']}", ""]
        if "widget" in entry:
            settings = ", ".join(
                f"{key}={value!r}" for key, value in entry["settings"].items()
            )
            yield from [
                f"**Set:** {_set_there(course, entry)}; in a notebook:",
                "",
                "```python",
                f"{entry['widget']}({settings})",
                "```",
                "",
            ]
        refutes = f" ({{claim}}`{entry['claim']} only`)" if entry.get("claim") else ""
        yield from [f"**See:** {entry['seen']}{refutes}", ""]


def _set_there(course: Course, entry: dict[str, Any]) -> str:
    """A link that sets the explorer."""
    name = entry["widget"].removesuffix("Explorer").lower()
    question = entry.get("question")
    state = fragment(
        name, {"q": question} if question else entry["settings"]
    ).removeprefix("#r1:")
    words = f"“{course.button(entry)}” in the explorer" if question else "the explorer"
    return f"{{try}}`{words} <{state}>`"


def _insist(course: Course, name: str) -> Iterator[str]:
    insist = course.chapters[name]["insist"]
    yield from [
        "## What to insist on",
        "",
        *[f"- {{claim}}`{claim}`" for claim in insist],
        "",
    ]
    further = [claim for claim in course.claims_of(name) if claim not in insist]
    if further:
        yield from [
            "Also in the chapter: "
            + ", ".join(f"{{claim}}`{claim} only`" for claim in further)
            + ".",
            "",
        ]


def _set(course: Course, name: str) -> Iterator[str]:
    if page := course.page_of_exercises(name):
        yield from [
            "## What to set",
            "",
            *[f"- {_exercise(exercise)}" for exercise in course.exercises_of(name)],
            "",
        ]
        part = page.removesuffix("_exercises")
        yield from [
            f"`make assignment CHAPTER={part}` writes all of {_chapter(page)} as one folder for a learning management",
            "system: the students' notebook, the instructor's, an archive for Gradescope, a rubric and a README.",
            "`make html SOLUTIONS=no` builds this site without any solution.",
            "",
        ]


def _exercise(exercise: Exercise) -> str:
    return f"{{ref}}`{exercise.title} <{exercise.label}>`, {exercise.stars}, {exercise.minutes} minutes"


def _assign(app: Sphinx, course: Course, name: str) -> Iterator[str]:
    tag = release(Path(app.srcdir))
    yield from ["", "## Assign this", ""]
    yield (
        f"These addresses are those of release {tag[1:]}, which will not change when "
        "the book does."
    )
    if not published(Path(app.srcdir)):
        yield (
            "This release is not out yet, so the addresses do not work yet. Until then "
            "assign the addresses of these pages."
        )
    page = course.page_of_exercises(name)
    for document in [name, page] if page else [name]:
        docname = f"book/chapters/{document}"
        notebook = colab(app, notebook_uri(docname), tag)
        task = f"Read “{course.title(document)}”, about {course.read(name)} minutes"
        if document == page:
            task = f"Work on “{course.title(document)}”: " + joined(
                e.title for e in course.exercises_of(name)
            )
        sentence = (
            f"{task}: {released_page(app, docname)} (as a notebook: {notebook}). Rank "
            f"One, release {tag[1:]}."
        )
        yield from [
            "",
            f"[{course.title(document)}]({released_page(app, docname)}), [in Colab]({notebook}):",
            "",
        ]
        yield from ["```{code-block} text", ":class: sentence", sentence, "```"]


def _syllabus(course: Course, syllabus: Syllabus) -> Iterator[str]:
    hall, home = syllabus.minutes
    yield from [f"### {syllabus.title}", "", syllabus.about, ""]
    yield from [
        f"**{_hours(hall + home)}:** {_hours(hall)} in class, {_hours(home)} at home.",
        "",
    ]
    for n, session in enumerate(syllabus.sessions, 1):
        time = f"{_hours(session.hall)} in class, {_hours(session.home)} at home"
        # if there is one session, its time is already in the sum above
        yield f"- **Session {n}: {time}**" if len(syllabus.sessions) > 1 else "- Plan"
        for line, *questions in _session(course, session):
            yield f"  - {line}"
            yield from (f"    - {question}" for question in questions)
    yield ""


def _session(course: Course, session: Session) -> Iterator[list[str]]:
    """Lines of a session, each with the questions below it."""
    for name in session.teach:
        claims = joined(
            f"{{claim}}`{claim} only`" for claim in course.chapters[name]["insist"]
        )
        yield [f"Teach {_notes(course, name)}: derive {claims}"]
    for name in session.core:
        yield [f"Twenty-minute plan: {_notes(course, name)}"]
    for name in session.ask:
        yield ["Ask:", *(entry["ask"] for entry in course.questions(name))]
    if session.read:
        yield [f"Read: {joined(map(_chapter, session.read))}"]
    if session.set:
        exercises = [_exercise(course.exercises[label]) for label in session.set]
        yield [f"Set: {'; '.join(exercises)}"]


def _notes(course: Course, name: str) -> str:
    return f"[{course.title(name)}](/book/teaching/{name}.md)"


def _outdated(_app: Sphinx, env: BuildEnvironment, *_changes: set[str]) -> list[str]:
    return [
        docname for docname, metadata in env.metadata.items() if metadata.get("teaches")
    ]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives and roles."""
    app.add_css_file("course.css")
    app.add_directive("chapter-facts", ChapterFacts)
    app.add_directive("course-hours", CourseHours)
    app.add_directive("course-map", CourseMap)
    app.add_directive("syllabi", Syllabi)
    app.add_directive("teaching-notes", TeachingNotes)
    app.add_role("figure", FigureRole())
    app.add_role("course-count", CountRole())
    app.add_role("claim", ClaimRole())
    app.connect("env-get-outdated", _outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
