"""Picture of the course: the chapters in order, and an arc from each to those that need
it, as SVG in the theme's colours.
"""

from html import escape

from extensions.course.course_map import Course

ROW = 52  # height of a chapter's row
AXIS = 94  # where the arcs begin and end
# how much further left an arc reaches for each row that it spans; up to eleven rows it
# stays in the picture
STEP = 10


def picture(course: Course, target: dict[str, str]) -> str:
    """The SVG of a course.

    Args:
        course: Its chapters are drawn in their order.
        target: Name of a chapter -> address to which its name links.
    """
    rows = {name: ROW * n + ROW // 2 for n, name in enumerate(course.chapters)}
    arcs = []
    sentences = []
    for name, y in rows.items():
        for kind, names in [
            ("", course.after(name)),
            ("optional", course.chapters[name].get("optional", {})),
        ]:
            arcs += [_arc(rows[start], y, kind) for start in names]
            section = " for one section" if kind else ""
            sentences += [
                f"{course.title(name)} needs {course.title(start)}{section}."
                for start in names
            ]
    words = [_words(course, name, y, target[name]) for name, y in rows.items()]
    return (
        f'<svg class="course-map" viewBox="0 0 420 {ROW * len(rows)}" role="group" aria-labelledby="course-map-title '
        f'course-map-said"><title id="course-map-title">The chapters in order, and what each needs</title>'
        f'<desc id="course-map-said">{escape(" ".join(sentences))}</desc><defs>'
        f'<marker id="course-arrow" viewBox="0 0 8 8" refX="8" refY="4" '
        f'markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8Z"/></marker></defs>'
        f"{''.join(arcs)}{''.join(words)}</svg>"
    )


def _arc(start: int, end: int, kind: str) -> str:
    reach = AXIS - 12 - STEP * (end - start) // ROW
    path = f"M{AXIS} {start} C{reach} {start} {reach} {end} {AXIS} {end}"
    return f'<path class="arc {kind}" d="{path}" marker-end="url(#course-arrow)"/>'


def _words(course: Course, name: str, y: int, target: str) -> str:
    minutes = sum(exercise.minutes for exercise in course.exercises_of(name))
    details = f"{course.read(name)} min to read" + (
        f", {minutes} min of exercises" if minutes else ""
    )
    return (
        f'<a href="{target}"><circle cx="{AXIS + 6}" cy="{y}" r="6"/>'
        f'<text x="{AXIS + 22}" y="{y - 2}">{escape(course.title(name))}</text>'
        f'<text class="minutes" x="{AXIS + 22}" y="{y + 16}">{details}</text></a>'
    )
