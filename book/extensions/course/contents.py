"""The pages of the book, in the order of `_toc.yml`."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml


class Page(NamedTuple):
    """A page of the contents: its document, the caption of its part, and the page under
    which it is listed, if any.
    """

    document: str
    part: str = ""
    behind: str = ""

    @property
    def name(self) -> str:
        """Last part of the document's name."""
        return Path(self.document).name


@cache
def contents(root: Path) -> tuple[Page, ...]:
    """Every page in order, from the first page on; empty if there is no `_toc.yml`."""
    file = root / "_toc.yml"
    toc = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}
    pages = [Page(toc["root"])] if "root" in toc else []
    for part in toc.get("parts", []):
        for entry in part["chapters"]:
            pages.append(Page(entry["file"], part["caption"]))
            pages += [
                Page(under["file"], part["caption"], entry["file"])
                for under in entry.get("sections", [])
            ]
    return tuple(pages)
