"""Renews `tests/colab_freeze.txt`: the versions, on Colab, of the packages that the
book's notebooks need.

`.venv/bin/python tools/colab_freeze.py` reads the list that Colab publishes for its GPU
machines, or that in a file: `--from pip-freeze.gpu.txt --date 2026-08-19`. Of its lines
the script keeps the packages on which `rankone-book` and a kernel depend, directly or
indirectly. uv resolves them with every version fixed to that of Colab.
"""

import argparse
import re
import urllib.request
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from environments import uv

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "tests" / "colab_freeze.txt"
PAGES = ROOT / "src" / "rankone_book" / "pyproject.toml"
PUBLISHED = (
    "https://raw.githubusercontent.com/googlecolab/backend-info/main/pip-freeze.gpu.txt"
)
HEADER = """\
# Colab with a GPU, as published on {date}, Python {python}: the packages that the book's notebooks touch.
# Written by tools/colab_freeze.py; do not edit.
"""


@dataclass(frozen=True)
class Freeze:
    """List of the packages of Colab, or a part of it.

    Attributes:
        date: Date of the list, such as "2026-08-19".
        python: Version of Python, such as "3.13".
        pins: Name in lower case with hyphens -> version.
    """

    date: str
    python: str
    pins: dict[str, str]

    def __str__(self) -> str:
        """The recorded file's text."""
        lines = [f"{name}=={version}\n" for name, version in sorted(self.pins.items())]
        return HEADER.format(date=self.date, python=self.python) + "".join(lines)


def pins(freeze: str) -> dict[str, str]:
    """Names and versions of a list made by `pip freeze`; packages installed from an
    address are left out.
    """
    pairs = re.findall(r"^([\w.-]+)==(\S+)$", freeze, re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in pairs}


def python_of(freeze: str) -> str:
    """The version of Python of a list, from the wheels that it names by address.

    Raises:
        ValueError: If none is named, or several are.
    """
    tags = {f"3.{minor}" for minor in re.findall(r"-cp3(\d+)-cp3\1-", freeze)}
    if len(tags) != 1:
        raise ValueError(
            f"freeze: got wheels for {', '.join(sorted(tags)) or 'no Python'}; it must "
            "be for exactly one version: give it with --python."
        )
    return tags.pop()


def trimmed(freeze: str, day: str, python: str = "", project: Path = PAGES) -> Freeze:
    """The part of a list that a project's notebooks need, their dependencies included.

    Args:
        freeze: The list.
        day: Its date.
        python: Version of Python, if no wheel in the list names it.
        project: Its pyproject.toml.
    """
    has = pins(freeze)
    python = python or python_of(freeze)
    with TemporaryDirectory() as folder:
        override = Path(folder, "override.txt")
        kernel = Path(folder, "kernel.in")
        library = f"rankone[data,language] @ {ROOT.as_uri()}\n"  # no index has it
        override.write_text(
            library + "".join(f"{name}=={version}\n" for name, version in has.items()),
            "utf-8",
        )
        kernel.write_text("ipykernel\nipython\n", "utf-8")
        options = [
            "--python-version",
            python,
            "--python-platform",
            "x86_64-manylinux_2_28",
            "--override",
            override,
        ]
        plain = ["--quiet", "--no-header", "--no-annotate"]
        touched = uv("pip", "compile", *plain, project, kernel, *options)
    return Freeze(
        day, python, {name: has[name] for name in pins(touched) if name in has}
    )


def recorded(file: Path = RECORDED) -> Freeze:
    """The list in the repository.

    Raises:
        ValueError: If its first line is not as this script writes it.
    """
    text = file.read_text("utf-8")
    head = re.match(r"# .* published on ([\d-]+), Python ([\d.]+):", text)
    if not head:
        raise ValueError(
            f"file: {file} names no date and Python; renew it with "
            "tools/colab_freeze.py."
        )
    return Freeze(head[1], head[2], pins(text))


def main() -> None:
    """Renew the recorded list, and say what changed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument(
        "--from",
        dest="file",
        type=Path,
        help="a list on this machine, else the one Colab publishes",
    )
    parser.add_argument(
        "--date",
        default=date.today().isoformat(),
        help="of the list, today's by default",
    )
    parser.add_argument(
        "--python",
        default="",
        help="of the list, such as 3.13, where no wheel in it tells",
    )
    options = parser.parse_args()
    text = (
        options.file.read_text("utf-8")
        if options.file
        else urllib.request.urlopen(PUBLISHED).read().decode()
    )
    before = recorded() if RECORDED.is_file() else Freeze("", "", {})
    after = trimmed(text, options.date, options.python)
    RECORDED.write_text(str(after), "utf-8")
    for name, version in sorted(after.pins.items() ^ before.pins.items()):
        print("now" if after.pins.get(name) == version else "was", f"{name}=={version}")


if __name__ == "__main__":
    main()
