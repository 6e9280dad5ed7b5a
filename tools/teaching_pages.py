"""Writes the pages for teachers, one per chapter of `course.yml`, and lists them in
`_toc.yml`: `python tools/teaching_pages.py`.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book"))

from extensions.course.course_map import Course

LISTED = re.compile(
    r"(?<=      - file: book/teaching\n        sections:\n)"
    r"(?:          - file: book/teaching/\w+\n)*"
)


def written(root: Path) -> dict[Path, str]:
    """The files as they should be, `_toc.yml` among them.

    Args:
        root: Folder of the repository.
    """
    course = Course(root)
    pages = {
        root / f"book/teaching/{name}.md": f"# Teaching: {course.title(name)}\n\n"
        f"```{{teaching-notes}} {name}\n```\n"
        for name in course.chapters
    }
    lines = "".join(
        f"          - file: book/teaching/{name}\n" for name in course.chapters
    )
    contents = root / "_toc.yml"
    return pages | {contents: LISTED.sub(lines, contents.read_text("utf-8"))}


def main(root: Path = ROOT) -> None:
    """Write the files that differ, and print their names; remove the pages of deleted
    chapters.
    """
    files = written(root)
    for path, text in files.items():
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            print(path.relative_to(root))
    for path in sorted(root.glob("book/teaching/*.md")):
        if path not in files:
            path.unlink()
            print(path.relative_to(root), "removed")


if __name__ == "__main__":
    main()
