"""The works that a chapter cites, as a list in its notebook, to which the citations
link.
"""

import re
from functools import cache
from typing import Any
from urllib.parse import urljoin

import pybtex.plugin
from sphinx.application import Sphinx

from extensions.notebooks.plain_markdown import Block
from extensions.notebooks.running_text import anchor

# pybtex looks for plugins at each citation, and each time reads the metadata of every
# installed package.
pybtex.plugin.entry_points = cache(pybtex.plugin.entry_points)


def links_to_works(app: Sphinx, site: str) -> dict[str, str]:
    """Address of each work's entry on the site -> the link to it within a notebook."""
    links = {}
    for work in app.env.get_domain("cite").citations:  # type: ignore[attr-defined]
        page = urljoin(site, app.builder.get_target_uri(work.bibliography_key.docname))
        links[f"{page}#{work.citation_id}"] = f"#work-{work.key}"
    return links


def references(app: Sphinx, docname: str) -> str:
    """The works that the chapter cites, as a list."""
    from pybtex.backends.markdown import Backend

    domain: Any = app.env.get_domain("cite")
    keys = {
        target.key
        for ref in domain.citation_refs
        if ref.docname == docname
        for target in ref.targets
    }
    works = {c.key: c.formatted_entry for c in domain.citations if c.key in keys}
    entries = (
        (key, work.label, " ".join(work.text.render(Backend()).split()))
        for key, work in sorted(works.items())
    )
    return "\n".join(
        f"- {anchor(f'work-{key}')}[{label}] {text}" for key, label, text in entries
    )


def with_references(blocks: list[Block], entries: str) -> list[Block]:
    """A chapter's blocks with its references at the end, in the page's own last section
    if that is named References.
    """
    headings = re.findall(
        r"^## .*",
        "\n".join(block for block in blocks if isinstance(block, str)),
        re.MULTILINE,
    )
    heading = (
        [] if headings and headings[-1].endswith("References") else ["## References"]
    )
    return [*blocks, *heading, entries] if entries else blocks
