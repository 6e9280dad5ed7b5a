r"""A page of the book as plain Markdown and LaTeX, for front ends that know nothing of
MyST.

It walks the doctree after Sphinx has resolved it: numbers, references, citations and
glued figures are then already text and links, exactly as the page shows them. A second
parser of MyST could disagree with the page. Displayed mathematics is set on one line
(`$$ … \tag{1.2} $$`), which notebooks render also inside a block quote.
"""

import re
from collections.abc import Mapping
from itertools import groupby

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import admonitionlabels

from extensions.notebooks.running_text import RunningText, anchor

Block = str | int  # Markdown, or the index of a code cell of the executed notebook


class PlainMarkdown(RunningText):
    """Turns the resolved doctree of one page into blocks."""

    def __init__(
        self,
        app: Sphinx,
        docname: str,
        doctree: nodes.document,
        site: str,
        works: Mapping[str, str],
    ):
        super().__init__(app, docname, site, works)
        self.numbers = app.env.toc_fignumbers.get(docname, {})
        self.sections = app.env.toc_secnumbers.get(docname, {})
        links = [
            *doctree.findall(nodes.reference),
            *doctree.findall(nodes.footnote_reference),
        ]
        self.linked = {uri[1:] for uri in map(self.uri, links) if uri.startswith("#")}
        self.depth = 0
        self.folded: set[int] = set()  # code cells inside a fold of the page
        # index of a code cell → texts of its pictures, for readers who cannot see them
        self.alternatives: dict[int, list[str]] = {}

    def blocks(self, node: nodes.Node) -> list[Block]:
        """Blocks of a node's children, in order."""
        return [block for child in node.children for block in self.block(child)]

    def block(self, node: nodes.Node) -> list[Block]:
        """Blocks of one node."""
        if method := self._method("block", node):
            return method(node)
        if isinstance(
            node, nodes.Invisible | nodes.raw | nodes.citation
        ) or "notebook-links" in node.get("classes", []):
            return []
        if isinstance(node, nodes.Admonition):
            return self.block_admonition(node)
        if isinstance(node, nodes.TextElement | nodes.Inline):
            return [text] if (text := self.inline(node).strip()) else []
        return self.blocks(node)

    # --- structure

    def anchors(self, node: nodes.Element) -> str:
        """Anchors of a node to which links of this page lead."""
        return "".join(anchor(i) for i in node["ids"] if i in self.linked)

    def block_section(self, node: nodes.section) -> list[Block]:
        """A heading with its number, and the content of its section."""
        if "proof-content" in node["ids"] or not isinstance(node[0], nodes.title):
            return self.blocks(node)
        number = (
            self.sections.get("#" + node["ids"][0])
            if self.depth
            else self.sections.get("")
        )
        self.depth += 1
        title = " ".join(
            [
                *([".".join(map(str, number)) + "."] if number else []),
                self.inline(node[0]),
            ]
        )
        anchors = f"{self.anchors(node)}\n\n".lstrip()
        result: list[Block] = [f"{anchors}{'#' * self.depth} {title}"]
        for child in node.children[1:]:
            result += self.block(child)
        self.depth -= 1
        return result

    def block_container(self, node: nodes.container) -> list[Block]:
        """A code cell with the captions of its figures, or any other box."""
        if node.get("nb_element") != "cell_code":
            return self.blocks(node)
        index = node["cell_index"]
        pictures = [
            picture for picture in node.findall(nodes.Element) if _is_picture(picture)
        ]
        self.alternatives[index] = [picture.get("alt", "") for picture in pictures]
        words = [
            in_words(self.inline(nodes.Text(text)))
            for text in dict.fromkeys(self.alternatives[index])
            if text
        ]
        return [
            index,
            *(
                b
                for figure in node.findall(nodes.figure)
                for b in self._caption(figure)
            ),
            *words,
        ]

    def block_figure(self, node: nodes.figure) -> list[Block]:
        """An image and its caption."""
        return [
            *(self.inline(image) for image in node.findall(nodes.image)),
            *self._caption(node),
        ]

    def _caption(self, node: nodes.figure) -> list[Block]:
        number = self.number("figure", node)
        label = self.app.config.numfig_format["figure"] % number if number else "Figure"
        captions = [self.inline(caption) for caption in node.findall(nodes.caption)]
        return [f"{self.anchors(node)}**{label}** {caption}" for caption in captions]

    def number(self, kind: str, node: nodes.Element) -> str:
        """Number of a figure, an equation or a theorem, as on the page."""
        numbers = [self.numbers.get(kind, {}).get(i) for i in node["ids"]]
        return next((".".join(map(str, number)) for number in numbers if number), "")

    def block_bullet_list(self, node: nodes.Element) -> list[Block]:
        """A list, numbered or not, each item indented under its mark."""
        ordered = isinstance(node, nodes.enumerated_list)
        items: list[str] = []
        for n, item in enumerate(node.children, node.get("start", 1)):
            mark = f"{n}. " if ordered else "- "
            text = "\n\n".join(map(str, self.blocks(item)))
            items.append(mark + text.replace("\n", "\n" + " " * len(mark)))
        return ["\n".join(items)]

    block_enumerated_list = block_bullet_list

    def block_definition_list_item(self, node: nodes.Element) -> list[Block]:
        """A term in bold type, then its definition."""
        return [f"**{self.inline(node[0])}**", *self.blocks(node[-1])]

    def block_table(self, node: nodes.table) -> list[Block]:
        """A table with one line per row."""
        rows = [
            [self._entry(entry) for entry in row.children]
            for row in node.findall(nodes.row)
        ]
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        number = self.number("table", node)
        label = (
            f"**{self.app.config.numfig_format['table'] % number}** " if number else ""
        )
        title = [
            f"{self.anchors(node)}{label}{self.inline(t)}"
            for t in node.children
            if isinstance(t, nodes.title)
        ]
        return [*title, "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]])]

    def _entry(self, entry: nodes.Node) -> str:
        text = "<br>".join(map(str, self.blocks(entry)))
        return text.replace(r"\|", r"\Vert{}").replace("|", r"\vert{}")

    def block_literal_block(self, node: nodes.literal_block) -> list[Block]:
        """Code that is not a cell."""
        return [
            f"```{node.get('language', '').replace('default', '')}\n{node.astext().rstrip()}\n```"
        ]

    def block_transition(self, _node: nodes.Node) -> list[Block]:
        """A rule."""
        return ["---"]

    def block_footnote(self, node: nodes.footnote) -> list[Block]:
        """A footnote, at the place of its text in the page."""
        text = " ".join(map(str, self.blocks(nodes.container("", *node.children[1:]))))
        return [f"{self.anchors(node)}<sup>{self.inline(node[0])}</sup> {text}"]

    # --- theorems, exercises and other boxes

    def block_admonition(self, node: nodes.Element) -> list[Block]:
        """A box: a quotation under a bold heading, or a fold where the page has one."""
        heading = self._heading(node)
        body = [b for child in node.children for b in self._body(child)]
        if "dropdown" not in node["classes"] and not type(node).__name__.startswith(
            ("solution", "dropdown")
        ):
            return quote([self.anchors(node) + heading, *body] if heading else body)
        # Markdown is not rendered in a summary
        summary = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.replace("**", ""))
        result: list[Block] = []
        # a code cell is folded by its own metadata
        for is_code, run in groupby(body, lambda block: isinstance(block, int)):
            blocks = list(run)
            text = "\n\n".join(map(str, blocks))
            result += (
                blocks
                if is_code
                else [f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"]
            )
        self.folded |= {block for block in result if isinstance(block, int)}
        return [anchors, *result] if (anchors := self.anchors(node)) else result

    block_dropdown_main = block_admonition

    def block_proof_node(self, node: nodes.Element) -> list[Block]:
        """A proof, its first word in bold type."""
        return [
            re.sub(r"^> Proof\.", "> **Proof.**", b) if isinstance(b, str) else b
            for b in self.blocks(node)
        ]

    def _heading(self, node: nodes.Element) -> str:
        title = "".join(
            self.inline(child) for child in node.children if _is_title(child)
        ).strip()
        kind = (
            "exercise"
            if type(node).__name__.startswith("exercise")
            else node.get("countertype", "")
        )
        if number := self.number(kind, node):
            return f"**{node.get('realtype', kind).title()} {number}** {title}".strip()
        title = title or admonitionlabels.get(type(node).__name__, "")
        return f"**{title}**" if title else ""

    def _body(self, node: nodes.Node) -> list[Block]:
        return [] if _is_title(node) else self.block(node)

    # --- mathematics

    def block_math_block(self, node: nodes.math_block) -> list[Block]:
        """An equation on one line, with its number."""
        latex = " ".join(node.astext().split())
        if r"\\" in re.sub(r"\\begin{(\w+\*?)}.*?\\end{\1}", "", latex):
            latex = rf"\begin{{aligned}} {latex} \end{{aligned}}"
        number = self.number("displaymath", node) or (
            str(node["number"]) if node.get("number") else ""
        )
        tag = rf" \tag{{{number}}}" if number else ""
        anchors = self.anchors(node)
        return [*([anchors] if anchors else []), f"$$ {latex}{tag} $$"]


def _is_picture(node: nodes.Element) -> bool:
    """True if an output is an image, or a plotly figure, which is raw HTML on the
    page.
    """
    return isinstance(node, nodes.image) or (
        isinstance(node, nodes.raw) and "alt" in node
    )


def in_words(alternative: str) -> str:
    """A figure's text for readers who cannot see it, folded. JupyterLab and Colab do
    not show the text in a cell's output.
    """
    return f"<details><summary>The figure in words</summary>\n\n{alternative}\n\n</details>"


def _is_title(node: nodes.Node) -> bool:
    return (
        isinstance(node, nodes.title | nodes.subtitle)
        or type(node).__name__ == "dropdown_title"
    )


def quote(blocks: list[Block]) -> list[Block]:
    """Blocks as a block quote. Code cells cannot be quoted, and split the quote."""
    quoted: list[Block] = []
    for block in blocks:
        if isinstance(block, int):
            quoted.append(block)
            continue
        text = "\n".join(f"> {line}".rstrip() for line in block.split("\n"))
        if quoted and isinstance(quoted[-1], str):
            quoted[-1] += f"\n>\n{text}"
        else:
            quoted.append(text)
    return quoted
