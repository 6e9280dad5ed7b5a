"""Keeps a formula and the marks at it on one line: a browser may break between them, as a formula is a box to it."""

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

OPENING, CLOSING = re.compile(r"[“‘(\[]+$"), re.compile(r"[,.;:!?)\]”’]+")


class KeepPunctuation(SphinxPostTransform):
    """Wraps each inline formula with the marks that stand at it in a span that does not break."""

    default_priority = 700
    formats = ("html",)

    def run(self, **_: object) -> None:
        """Transform the document."""
        for formula in list(self.document.findall(nodes.math)):
            line, at = formula.parent, formula.parent.index(formula)
            before = line[at - 1] if at > 0 else None
            after = line[at + 1] if at + 1 < len(line) else None
            opening = OPENING.search(before) if isinstance(before, nodes.Text) else None
            closing = CLOSING.match(after) if isinstance(after, nodes.Text) else None
            kept: list[nodes.Node] = [formula]
            if opening and before is not None:
                line[at - 1] = nodes.Text(before[: opening.start()])  # by its place: texts of the same words are equal
                kept.insert(0, nodes.Text(opening[0]))
            if closing and after is not None:
                line[at + 1] = nodes.Text(after[closing.end() :])
                kept.append(nodes.Text(closing[0]))
            if len(kept) > 1:
                formula.replace_self(span := nodes.inline("", "", classes=["unbroken"]))
                span.extend(kept)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_post_transform(KeepPunctuation)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
