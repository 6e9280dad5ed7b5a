"""Packs the built book into one file that opens from a folder, with no server:
`python tools/zip_site.py`.
"""

import re
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "_build" / "rank-one.zip"
FOLDER = "rank-one"  # the file unpacks to this folder; readers start at its index.html
FROM_THE_ROOT = re.compile(r'(?:href|src|srcset|action|data-content_root)="(/[^"]*)"')


def rooted(page: str) -> list[str]:
    """Addresses in a page's HTML that begin at the root of a server, and so do not work
    in a folder.
    """
    return FROM_THE_ROOT.findall(page)


def pack(site: Path, output: Path) -> int:
    """Write all files of a site into one, and return their number.

    Raises:
        ValueError: If a page has an address that begins at the root of a server.
    """
    files = [
        path
        for path in sorted(site.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    ]
    for page in [path for path in files if path.suffix == ".html"]:
        if links := rooted(page.read_text(encoding="utf-8")):
            raise ValueError(
                f"{page.relative_to(site)}: the link {links[0]} begins at the root of a "
                "server; it must be relative to the page."
            )
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path in files:
            packed.write(path, f"{FOLDER}/{path.relative_to(site).as_posix()}")
    return len(files)


def main(folder: str = "_build/html") -> None:
    """Pack the built book."""
    number = pack(Path(folder).resolve(), OUTPUT)
    print(
        f"Wrote {OUTPUT.relative_to(ROOT)}: {number} files, "
        f"{OUTPUT.stat().st_size / 1e6:.1f} MB"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
