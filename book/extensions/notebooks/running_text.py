"""Running text of a page as Markdown and LaTeX: emphasis, mathematics, links,
images.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from docutils import nodes
from sphinx.application import Sphinx


class RunningText:
    """Turns the content of a paragraph of one page into Markdown."""

    def __init__(self, app: Sphinx, docname: str, site: str, works: Mapping[str, str]):
        """Read the page `docname` of the book at `site`.

        Args:
            app: Sphinx, which has resolved all pages.
            docname: Name of the page.
            site: Address of the published book.
            works: Address of each cited work's entry → the link to it within the
                notebook.
        """
        self.app = app
        self.docname = docname
        self.site = site
        self.works = works
        self.page = urljoin(site, app.builder.get_target_uri(docname))

    def _method(self, kind: str, node: nodes.Node) -> Any:
        names = (f"{kind}_{cls.__name__}" for cls in type(node).__mro__)
        return next(
            (getattr(self, name) for name in names if hasattr(self, name)), None
        )

    def uri(self, node: nodes.Element) -> str:
        """Target of a reference: "#anchor" within the page, an absolute address outside
        it.
        """
        uri = urljoin(
            self.page,
            f"#{node['refid']}" if "refid" in node else node.get("refuri", ""),
        )
        uri = self.works.get(uri, uri)
        return uri.removeprefix(self.page) if uri.startswith(self.page + "#") else uri

    def inline(self, node: nodes.Node) -> str:
        """Markdown of running text."""
        if method := self._method("inline", node):
            return method(node)
        return (
            "" if isinstance(node, nodes.raw | nodes.Invisible) else self._within(node)
        )

    def _within(self, node: nodes.Node) -> str:
        return "".join(self.inline(child) for child in node.children)

    def inline_Text(self, node: nodes.Text) -> str:
        """Plain text; characters with a meaning in Markdown are escaped."""
        return (
            re.sub(r"([\\`*_$])", r"\\\1", str(node))
            .replace("<", "&lt;")
            .replace("\n", " ")
        )

    def inline_math(self, node: nodes.math) -> str:
        """Inline mathematics, with no space inside the dollars."""
        return f"${' '.join(node.astext().split())}$"

    def inline_emphasis(self, node: nodes.Node) -> str:
        """Emphasis."""
        return f"*{self._within(node)}*"

    def inline_strong(self, node: nodes.Node) -> str:
        """Strong emphasis."""
        return f"**{self._within(node)}**"

    def inline_literal(self, node: nodes.Node) -> str:
        """Code."""
        return f"`{node.astext()}`"

    def inline_reference(self, node: nodes.reference) -> str:
        """A link: within the notebook, or an absolute one."""
        text = self._within(node)
        return f"{' ' * text.startswith(' ')}[{text.strip()}]({self.uri(node)})"

    def inline_footnote_reference(self, node: nodes.Element) -> str:
        """The mark of a footnote."""
        return f"<sup>[{node.astext()}](#{node['refid']})</sup>"

    def inline_image(self, node: nodes.image) -> str:
        """An image of the site, by its address there."""
        image = self.app.builder.images.get(node["uri"])
        uri = (
            node["uri"]
            if urlsplit(node["uri"]).scheme
            else f"{self.site}_images/{image or Path(node['uri']).name}"
        )
        alternative = re.sub(r"([\\[\]])", r"\\\1", node.get("alt", ""))
        return f"![{alternative}]({uri})"


def anchor(name: str) -> str:
    """An anchor, by `id` for JupyterLab 4 and VS Code, which strip `name`, and by
    `name` for Colab.
    """
    return f'<a id="{name}" name="{name}"></a>'
