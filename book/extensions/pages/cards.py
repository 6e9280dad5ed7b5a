"""Card of a shared link: each page's title, its first sentences and a picture, and the
canonical address of the page.

The address is that of the published book (`repository.py`). If no address is known, the
tags that need one are left out.

sphinxext-opengraph 0.13 would not replace this module: its descriptions contain TeX of
formulas and end within a word, and it does not measure the picture.
"""

import html
import re
import unicodedata
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from docutils import nodes
from PIL import Image
from sphinx.application import Sphinx

from extensions.pages.repository import repository, site

PICTURE = "screenshot.png"  # of a chapter, below _static
PICTURE_TEXT = (
    "A picture taken back by two memories, side by side, as the book shows it."
)
LONGEST = 200  # characters of a description


def description(doctree: nodes.document) -> str:
    """The first paragraph of a page's running text, or else of its boxes, cut at the
    end of a sentence or a word.
    """
    paragraphs = sorted(
        doctree.findall(nodes.paragraph),
        key=lambda paragraph: not isinstance(paragraph.parent, nodes.section),
    )
    text = " ".join(
        re.sub(
            r"\\([A-Za-z]+)|[{}$]",
            _letter,
            paragraphs[0].astext() if paragraphs else "",
        ).split()
    )
    if len(text) <= LONGEST:
        return text
    sentences = re.match(rf".{{40,{LONGEST}}}[.?!](?= )", text)
    return (
        sentences[0]
        if sentences
        else text[:LONGEST].rpartition(" ")[0].rstrip(",;:") + " …"
    )


def _letter(match: re.Match[str]) -> str:
    name = match[1] or ""
    case = "CAPITAL" if name[:1].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {case} LETTER {name.upper()}")
    except KeyError:
        return ""


def tags(
    title: str, about: str, address: str, picture: str, size: tuple[int, int]
) -> list[str]:
    """The tags of one page.

    Args:
        title: Title of the page.
        about: Description of the page, or "".
        address: Address of the published page, or "".
        picture: Address of the picture; left out if the page has no address.
        size: Width and height of the picture in pixels.
    """
    by_name = {
        "description": about,
        "twitter:card": "summary_large_image" if address else "summary",
    }
    by_property = {
        "og:title": title,
        "og:type": "article",
        "og:site_name": "Rank One",
        "og:description": about,
    }
    if address:
        width, height = map(str, size)
        by_property |= {
            "og:url": address,
            "og:image": picture,
            "og:image:alt": PICTURE_TEXT,
        }
        by_property |= {"og:image:width": width, "og:image:height": height}
    pairs = [("name", *pair) for pair in by_name.items()] + [
        ("property", *pair) for pair in by_property.items()
    ]
    return [
        f'<meta {kind}="{name}" content="{html.escape(value)}">'
        for kind, name, value in pairs
        if value
    ]


def add_tags(
    app: Sphinx,
    page: str,
    _template: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Put the tags into the head of a page; Sphinx writes the link to its own address
    from `pageurl`.
    """
    if doctree is None:  # the search page, which no one shares
        return
    home = site(app) if repository(app)[0] or app.config.html_baseurl else ""
    address = urljoin(home, app.builder.get_target_uri(page)) if home else ""
    context["pageurl"] = address or None
    with Image.open(Path(app.srcdir, "book", "_static", PICTURE)) as picture:
        title = html.unescape(re.sub("<[^>]+>", "", context.get("title", "")))
        lines = tags(
            title,
            description(doctree) or title,
            address,
            urljoin(home, f"_static/{PICTURE}"),
            picture.size,
        )
    context["metatags"] = "\n".join([context.get("metatags", ""), *lines])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, after the module that names the repository."""
    app.setup_extension("extensions.pages.repository")
    app.connect("html-page-context", add_tags)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
