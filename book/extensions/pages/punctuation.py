"""Line breaks: none between a formula and the punctuation at it, and none within K-FAC;
in long names of files, only where their words end.

A word joiner (U+2060) between a formula and its punctuation would be simpler, but
Chromium breaks a line there all the same, because a formula is an inline block. Style
sheets have no rule that breaks a name only where its words end.
"""

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

OPENING = re.compile(r"[“‘(\[]+$")
CLOSING = re.compile(r"[,.;:!?)\]”’]+")


HYPHENED = re.compile(r"\b([A-Z]-[A-Z]+)\b")
LONG_NAME = re.compile(r"[\w./]{16,}")
WORD_END = re.compile(r"(?<=\w{3}[_./])(?=\w{3})")


class KeepNames(SphinxPostTransform):
    """Wraps each name such as K-FAC in a span that does not break."""

    default_priority = 710
    formats = ("html",)

    def run(self, **_: object) -> None:
        """Transform the document."""
        for text in list(self.document.findall(nodes.Text)):
            parts = HYPHENED.split(text)
            if len(parts) > 1 and isinstance(text.parent, nodes.paragraph):
                spans = [
                    nodes.inline("", part, classes=["unbroken"]) for part in parts[1::2]
                ]
                around = [nodes.Text(part) for part in parts[::2]]
                pairs = zip(around, [*spans, nodes.Text("")], strict=True)
                # by identity, because texts with the same words are equal
                at = next(i for i, node in enumerate(text.parent) if node is text)
                text.parent[at : at + 1] = [
                    node for pair in pairs for node in pair if node.astext()
                ]


class KeepPunctuation(SphinxPostTransform):
    """Wraps each inline formula and the punctuation at it in a span that does not
    break.
    """

    default_priority = 700
    formats = ("html",)

    def run(self, **_: object) -> None:
        """Transform the document."""
        for formula in list(self.document.findall(nodes.math)):
            line = formula.parent
            at = formula.parent.index(formula)
            before = line[at - 1] if at > 0 else None
            after = line[at + 1] if at + 1 < len(line) else None
            opening = OPENING.search(before) if isinstance(before, nodes.Text) else None
            closing = CLOSING.match(after) if isinstance(after, nodes.Text) else None
            group: list[nodes.Node] = [formula]
            if opening and before is not None:
                # by index, because texts with the same words are equal
                line[at - 1] = nodes.Text(before[: opening.start()])
                group.insert(0, nodes.Text(opening[0]))
            if closing and after is not None:
                line[at + 1] = nodes.Text(after[closing.end() :])
                group.append(nodes.Text(closing[0]))
            if len(group) > 1:
                formula.replace_self(span := nodes.inline("", "", classes=["unbroken"]))
                span.extend(group)


class KeepUnits(SphinxPostTransform):
    """Keeps a per cent sign on the line of its number."""

    default_priority = 690
    formats = ("html",)

    def run(self, **_: object) -> None:
        """Transform the document."""
        for text in list(self.document.findall(nodes.Text)):
            if " %" in text and not isinstance(
                text.parent, nodes.FixedTextElement | nodes.literal | nodes.math
            ):
                text.parent.replace(
                    text, nodes.Text(text.replace(" %", "\N{NO-BREAK SPACE}%"))
                )


class BreakLongNames(SphinxPostTransform):
    """Lets the name of a file or a function go on in a new line after an underscore, a
    dot or a slash.
    """

    default_priority = 710
    formats = ("html",)

    def run(self, **_: object) -> None:
        """Transform the document."""
        for name in self.document.findall(nodes.literal):
            if LONG_NAME.fullmatch(name.astext()):
                first, *others = WORD_END.split(name.astext())
                breaks = (
                    (nodes.raw("", "<wbr>", format="html"), nodes.Text(word))
                    for word in others
                )
                name.children = []
                name += [nodes.Text(first), *(node for pair in breaks for node in pair)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_post_transform(KeepPunctuation)
    app.add_post_transform(KeepNames)
    app.add_post_transform(KeepUnits)
    app.add_post_transform(BreakLongNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
