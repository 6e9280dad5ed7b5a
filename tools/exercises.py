"""A student's and an instructor's notebook of each page of exercises, from the one page that the book shows.

`make exercises` reads the notebooks that the build of the book wrote, and writes
`_build/exercises/NAME-student.ipynb`, without solutions or outputs, and `NAME-instructor.ipynb`, with everything.
The book's own pages and notebooks keep the solutions, folded. otter grades what students hand in:
`.venv/bin/otter generate -t src/rankone/exercises/CHAPTER -o autograder.zip` once, where CHAPTER is a folder there,
then `.venv/bin/otter run -a autograder.zip NOTEBOOK`, which writes results.json.
"""

import argparse
import copy
import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[1]
SOLUTION = re.compile(r"(?=<details><summary>Solution to )")
EXERCISE = r"(?:^|\n)> (?:<a name=\"[^\"]*\"></a>)*\*\*Exercise \d"
NEXT = re.compile(rf"(?=(?:^|\n)(?:<a name=[^\n]*\n\n)?#+ |{EXERCISE})")


def pages(root: Path = ROOT) -> list[str]:
    """Names of the pages of exercises."""
    return sorted(path.stem for path in (root / "book" / "chapters").glob("*_exercises.md"))


def student(notebook: NotebookNode) -> NotebookNode:
    """The notebook without solutions: each is cut from its first fold to the next exercise or section.

    Raises:
        ValueError: If not exactly one solution was found for every exercise; nothing half-cut leaves this function.
    """
    made, kept, solving, cuts = copy.deepcopy(notebook), [], False, 0
    for cell in made.cells:
        if cell.cell_type == "markdown":
            cell.source, solving, found = _without_solutions(cell.source, solving)
            cuts += found
            keep = bool(cell.source)
        else:
            keep = not solving
            cell.outputs, cell.execution_count = [], None
        kept += [cell] * keep
    made.cells = kept
    asked = len(re.findall(EXERCISE, "\n".join(cell.source for cell in kept)))
    if cuts != asked or not asked:
        raise ValueError(
            f"{asked} exercises but {cuts} solutions: the page's notebook is not of the form this tool reads."
        )
    return made


def _without_solutions(text: str, solving: bool) -> tuple[str, bool, int]:
    """The part of a text outside solutions, whether it ends within one, and how many begin in it."""
    kept, begun = [], 0
    while text:
        found = (NEXT if solving else SOLUTION).search(text)
        part, text = (text[: found.start()], text[found.start() :]) if found else (text, "")
        kept += [] if solving else [part]
        begun += bool(found) and not solving
        solving = solving != bool(found)
    return "".join(kept).strip(), solving, begun


def write(name: str, built: Path, folder: Path) -> tuple[Path, Path]:
    """Write both versions of one page; returns their paths.

    Args:
        name: Of the page, such as "memory_exercises".
        built: Folder of the notebooks that the build of the book wrote.
        folder: Where the two versions go.

    Raises:
        FileNotFoundError: If the book has not been built.
    """
    source = built / f"{name}.ipynb"
    if not source.is_file():
        raise FileNotFoundError(f"{source} is missing: build the book first, with `make html`.")
    notebook = nbformat.read(source, as_version=4)
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / f"{name}-student.ipynb", folder / f"{name}-instructor.ipynb"
    for path, version in zip(paths, (student(notebook), notebook), strict=True):
        nbformat.write(version, path)
    return paths


def main() -> None:
    """Write both versions of every page of exercises, and print where they are."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--built", type=Path, default=ROOT / "_build" / "html" / "notebooks")
    parser.add_argument("--to", type=Path, default=ROOT / "_build" / "exercises")
    options = parser.parse_args()
    for name in pages():
        print(*write(name, options.built, options.to), sep="\n")
    print("How otter grades what students hand in: the first lines of tools/exercises.py.")


if __name__ == "__main__":
    main()
