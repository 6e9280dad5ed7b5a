"""The map of the course is consistent, and the pages and lines generated from it agree
with it.
"""

import html
import re
from collections import Counter
from pathlib import Path

import pytest
import teaching_pages
import yaml
from exercise_pages import COUNTS
from teaching_pages import written

from extensions.course.contents import contents
from extensions.course.course_map import Course, Syllabus, joined
from extensions.course.course_picture import picture
from extensions.pages import release
from rankone_book import exercises

ROOT = Path(__file__).parents[2]
HTML = ROOT / "_build" / "html"
COURSE = Course(ROOT)
CHAPTERS = list(COURSE.chapters)
FURTHER = [page for name in CHAPTERS for page in COURSE.further(name)]
SYLLABI = {syllabus.title: syllabus for syllabus in COURSE.syllabi}


def page(docname: str) -> str:
    """Text of a built page, without its tags."""
    source = (HTML / f"{docname}.html").read_text(encoding="utf-8")
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", source)).split())


def hasty(syllabus: Syllabus, course: Course = COURSE) -> list[str]:
    """Entries that a syllabus has too early: a chapter before one that it needs, or an
    exercise before its chapter.
    """
    known: set[str] = set()
    early = []
    for session in syllabus.sessions:
        for name in dict.fromkeys([*session.teach, *session.core, *session.read]):
            early += [
                f"{name} before {other}"
                for other in course.after(name)
                if other not in known
            ]
            known.add(name)
        of_known = {
            exercise.label for name in known for exercise in course.exercises_of(name)
        }
        early += [label for label in session.set if label not in of_known]
    return early


def test_every_chapter_and_page_of_exercises_is_on_the_map() -> None:
    listed = [page for page in contents(ROOT) if "/chapters/" in page.document]
    written = {path.stem for path in ROOT.glob("book/chapters/*.md")}
    assert {page.name for page in listed} ^ written == set(), (
        "in one of _toc.yml and book/chapters"
    )
    chapters = [
        page.name
        for page in listed
        if not page.behind and not page.name.endswith("_exercises")
    ]
    assert {*chapters} ^ {*CHAPTERS} == set(), "in one of _toc.yml and book/course.yml"
    assert chapters == CHAPTERS, "book/course.yml has another order than _toc.yml"
    pages = {COURSE.page_of_exercises(name) for name in CHAPTERS} - {None}
    assert pages == {page.name for page in listed if page.name.endswith("_exercises")}


def test_every_chapter_has_a_page_for_its_teachers_in_the_order_of_the_chapters() -> (
    None
):
    files = written(ROOT)
    differ = {
        path
        for path, text in files.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    }
    differ |= {*ROOT.glob("book/teaching/*.md")} - files.keys()
    assert not differ, "run `.venv/bin/python tools/teaching_pages.py`"
    listed = [page.name for page in contents(ROOT) if "/teaching/" in page.document]
    assert listed == CHAPTERS


def test_the_pages_for_teachers_are_written_from_the_map(tmp_path: Path) -> None:
    for folder in ("chapters", "teaching"):
        (tmp_path / "book" / folder).mkdir(parents=True)
    (tmp_path / "book/course.yml").write_text("chapters: [{name: b}, {name: a}]")
    for name in "ab":
        (tmp_path / f"book/chapters/{name}.md").write_text(f"(ch)=\n# Title {name}\n")
    (tmp_path / "book/teaching/c.md").write_text("of a chapter that is gone")
    head = "root: x\nparts:\n  - caption: T\n    chapters:\n"
    under = "      - file: book/teaching\n        sections:\n"
    old = "          - file: book/teaching/c\n"
    tail = "  - caption: R\n"
    toc = tmp_path / "_toc.yml"
    toc.write_text(head + under + old + tail)
    teaching_pages.main(tmp_path)
    assert toc.read_text() == (
        head
        + under
        + "          - file: book/teaching/b\n          - file: book/teaching/a\n"
        + tail
    )
    assert {
        path.name: path.read_text() for path in tmp_path.glob("book/teaching/*")
    } == {
        f"{name}.md": f"# Teaching: Title {name}\n\n```{{teaching-notes}} {name}\n```\n"
        for name in "ab"
    }


def test_every_exercise_belongs_to_one_chapter() -> None:
    belong = Counter(
        exercise.label for name in CHAPTERS for exercise in COURSE.exercises_of(name)
    )
    unlisted = COURSE.exercises.keys() - belong
    assert not unlisted, (
        "no chapter has the name of their page: list them under `exercises` of a "
        "chapter in book/course.yml"
    )
    listed = [
        label
        for entry in COURSE.chapters.values()
        for label in entry.get("exercises", [])
    ]
    assert len(listed) == len(set(listed)), "listed twice in book/course.yml"
    assert set(belong.values()) == {1}, belong
    assert belong.total() == sum(COUNTS.values()), "a row of a table for each check"


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_leads_to_each_of_its_exercises(name: str) -> None:
    """The chapter leads to the whole page of exercises if all exercises there are its
    own.
    """
    source = (ROOT / f"book/chapters/{name}.md").read_text(encoding="utf-8")
    labels = [exercise.label for exercise in COURSE.exercises_of(name)]
    if COURSE.page_of_exercises(name) == f"{name}_exercises":
        assert f"{{doc}}`{name}_exercises`" in source
        return
    assert [label for label in labels if f"<{label}>`" not in source] == []


def test_chapters_need_only_what_comes_before() -> None:
    for n, name in enumerate(CHAPTERS):
        assert {*COURSE.after(name), *COURSE.chapters[name].get("optional", {})} <= set(
            CHAPTERS[:n]
        ), name


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_takes_its_facts_from_the_map(name: str) -> None:
    source = (ROOT / f"book/chapters/{name}.md").read_text(encoding="utf-8")
    assert source.count("```{chapter-facts}\n```") == 1
    assert "minutes.**" not in source
    page_text = page(f"book/chapters/{name}")
    assert f"About {COURSE.read(name)} minutes. Needs " in page_text
    assert all(COURSE.title(other) in page_text for other in COURSE.after(name))


@pytest.mark.parametrize("name", FURTHER)
def test_a_further_page_names_the_chapter_that_it_continues(name: str) -> None:
    chapter = next(chapter for chapter in CHAPTERS if name in COURSE.further(chapter))
    assert (
        f"About {COURSE.read(name)} minutes. Goes on from {COURSE.title(chapter)}."
        in page(f"book/chapters/{name}")
    )
    assert f'href="{name}.html' in (HTML / f"book/chapters/{chapter}.html").read_text(
        encoding="utf-8"
    )


def test_the_first_page_gives_the_total_reading_time_of_the_chapters() -> None:
    """Chapters whose minutes add up to two working days are not called short."""
    read, further, exercises_ = COURSE.minutes
    assert read == sum(COURSE.read(name) for name in CHAPTERS)
    assert further == sum(COURSE.read(name) for name in FURTHER)
    assert exercises_ == sum(
        e.minutes for name in CHAPTERS for e in COURSE.exercises_of(name)
    )
    source = (ROOT / "book/intro.md").read_text(encoding="utf-8")
    assert source.count("```{course-hours}\n```") == 1
    assert "short" not in source
    hours, rest = divmod(read, 60)
    assert (
        f"chapters take about {hours} h{f' {rest} min' * (rest > 0)} to read"
        in page("book/intro")
    )


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_claims_that_a_chapter_stresses_belong_to_it_or_its_prerequisites(
    name: str,
) -> None:
    near = [
        claim
        for chapter in (name, *COURSE.after(name))
        for claim in COURSE.claims_of(chapter)
    ]
    insist = COURSE.chapters[name]["insist"]
    assert 2 <= len(insist) <= 4, "book/course.yml: insist on two to four claims"
    assert not set(insist) - set(near), (
        "book/course.yml insists on a claim without a row in book/claims.yml, or of a "
        "chapter that is not under `after`"
    )
    for entry in COURSE.questions(name):
        assert entry.get("claim") in COURSE.claims or (name, "claim" in entry) == (
            "language",
            False,
        ), entry["id"]


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_short_lesson_takes_twenty_minutes(name: str) -> None:
    assert sum(minutes for minutes, _ in COURSE.chapters[name]["short"]) == 20


@pytest.mark.parametrize("title", SYLLABI)
def test_a_syllabus_keeps_the_order_and_fits_its_sessions(title: str) -> None:
    syllabus = SYLLABI[title]
    assert hasty(syllabus) == []
    assert all(0 < session.hall <= COURSE.longest for session in syllabus.sessions)


@pytest.mark.parametrize("title", SYLLABI)
def test_the_minutes_of_a_syllabus_add_up(title: str) -> None:
    """The minutes are summed here from the map and from the chapters' tables, and
    compared with the page.
    """
    course = yaml.safe_load((ROOT / "book" / "course.yml").read_text(encoding="utf-8"))
    sessions = next(
        entry["sessions"] for entry in course["syllabi"] if entry["title"] == title
    )
    chapters = {chapter["name"]: chapter for chapter in course["chapters"]}
    hall = home = 0
    for session in sessions:
        taught = session.get("teach", [])
        hall += sum(10 * len(chapters[name]["insist"]) for name in taught) + 20 * len(
            session.get("core", [])
        )
        hall += sum(
            5 * len(chapters[name]["misconceptions"])
            for name in [*taught, *session.get("ask", [])]
        )
        home += sum(COURSE.read(name) for name in [*taught, *session.get("read", [])])
        for label in session["set"]:
            tables = (
                path.read_text(encoding="utf-8")
                for path in ROOT.glob("book/chapters/*_exercises.md")
            )
            home += sum(
                int(n)
                for table in tables
                for n in re.findall(rf"<{label}>` \| ★+ \| (\d+) \|", table)
            )
    assert SYLLABI[title].minutes == (hall, home)
    hours, rest = divmod(hall + home, 60)
    assert f"{hours} h {rest} min: " in page("book/teaching").replace(
        f"{hours} h: ", f"{hours} h 0 min: "
    )


def test_a_syllabus_in_reversed_order_is_reported() -> None:
    backwards = Syllabus("", "", list(reversed(SYLLABI["Half a term"].sessions)))
    complaints = hasty(backwards)
    assert "kernels before hopfield" in complaints
    assert "ex-un-second" in complaints


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_instructors_page_says_what_the_map_says(name: str) -> None:
    page_text = page(f"book/teaching/{name}")
    assert f"Teaching: {COURSE.title(name)}" in page_text
    for exercise in COURSE.exercises_of(name):
        assert (
            f"{exercise.title}, {exercise.stars}, {exercise.minutes} minutes"
            in page_text
        )
    for entry in COURSE.questions(name):
        words = [
            part.strip()
            for text in (entry["belief"], entry["ask"])
            for part in re.split(r"\$[^$]*\$", text)
        ]
        assert [part for part in words if part.replace("'", "’") not in page_text] == []
    assert all(f"{claim}: " in page_text for claim in COURSE.chapters[name]["insist"])
    assert "not measured" not in page_text


@pytest.mark.parametrize("name", CHAPTERS)
def test_what_is_assigned_is_pinned_to_a_release(name: str) -> None:
    source = (HTML / f"book/teaching/{name}.html").read_text(encoding="utf-8")
    tag = release.release(ROOT)
    assert ("This release is not out yet" in source) != release.published(ROOT)
    documents = [name, *filter(None, [COURSE.page_of_exercises(name)])]
    for document in documents:
        assert re.search(
            rf'href="https://[^"]+/{tag}/book/chapters/{document}\.html"', source
        )
        assert re.search(
            rf'href="https://colab[^"]+/blob/gh-pages/{tag}/notebooks/{document}\.ipynb"',
            source,
        )
        assert (HTML / f"book/chapters/{document}.html").is_file()
        assert (HTML / f"notebooks/{document}.ipynb").is_file()


def test_every_assignment_that_is_named_can_be_made() -> None:
    overview = page("book/teaching")
    pages = [page(f"book/teaching/{name}") for name in CHAPTERS]
    named = {
        chapter
        for text in [overview, *pages]
        for chapter in re.findall(r"make assignment CHAPTER=(\w+)", text)
    }
    others = re.search(r"The other pages of exercises are (.*?)\.", overview)
    assert others
    assert (
        named
        == {"editing", *re.split(", | and ", others[1])}
        == set(exercises.chapters())
    )


def test_the_page_counts_the_questions_that_have_a_button() -> None:
    questions = [entry for name in CHAPTERS for entry in COURSE.questions(name)]
    with_button = [entry for entry in questions if COURSE.button(entry)]
    assert 0 < len(with_button) < len(questions)
    assert COURSE.counts["buttons"] == len(with_button)
    words = f"Of the {len(questions)} questions, {len(with_button)} have a button in an explorer."
    assert words in page("book/teaching")


def test_no_arc_of_the_map_leaves_the_picture() -> None:
    svg = picture(COURSE, dict.fromkeys(CHAPTERS, ""))
    arcs = re.findall(r'd="M(\d+) \d+ C(-?\d+) \d+ -?\d+ \d+ \d+ \d+"', svg)
    assert len(arcs) == svg.count('class="arc')
    # the middle of a Bézier curve
    assert all(0.25 * int(axis) + 0.75 * int(reach) > 1 for axis, reach in arcs)


def test_the_picture_shows_every_chapter_and_what_it_needs() -> None:
    source = (HTML / "book" / "teaching.html").read_text(encoding="utf-8")
    svg = source[
        source.index('<svg class="course-map"') : source.index(
            "</svg>", source.index("course-map")
        )
    ]
    assert re.findall(r'href="teaching/(\w+)\.html"', svg) == CHAPTERS
    arcs = sum(
        len(COURSE.after(name)) + len(COURSE.chapters[name].get("optional", {}))
        for name in CHAPTERS
    )
    assert svg.count('class="arc') == arcs
    said = html.unescape(re.findall(r"<desc[^>]*>(.*?)</desc>", svg)[0])
    assert f"{COURSE.title('language')} needs {COURSE.title('editing')}." in said


def test_the_first_page_and_the_page_for_instructors_show_the_version() -> None:
    for path in (HTML / "book" / "intro.html", HTML / "book" / "teaching.html"):
        source = path.read_text(encoding="utf-8")
        assert re.search(
            rf'<p class="version">Version {re.escape(release.version(ROOT))}(, commit \w{{7}})?\.',
            source,
        )
        assert re.search(r'href="https://[^"]+/versions/">All versions', source)


@pytest.mark.parametrize(
    ("items", "sentence"),
    [
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c"], "a, b, and c"),
        (["a and b", "c"], "a and b, and c"),
    ],
)
def test_items_are_joined_into_an_english_list(items: list[str], sentence: str) -> None:
    assert joined(items) == sentence
