"""Shows plotly figures with no kernel: their JSON goes into the page, and one small
script draws them.

Give each figure a text for readers who cannot see it:
`fig.update_layout(meta={"alt": "..."})`.
"""

import html
import json
import os
from typing import Any, ClassVar

from docutils import nodes
from myst_nb.core.render import (
    MimeData,
    MimeRenderPlugin,
    NbElementRenderer,
    load_mime_renders,
)
from sphinx.application import Sphinx
from sphinx.util import logging

MIME = "application/vnd.plotly.v1+json"
FIGURE = """<div class="plotly-figure" role="figure" aria-label="{alt}" style="min-height: {height}px">
<script type="application/json">{figure}</script>
</div>"""

logger = logging.getLogger(__name__)


class PlotlyRenderer(MimeRenderPlugin):
    """Turns the JSON of a plotly figure in a notebook into an element of the page."""

    mime_priority_overrides: ClassVar = [("html", MIME, 1)]

    @staticmethod
    def handle_mime(
        renderer: NbElementRenderer, data: MimeData, inline: bool
    ) -> list[nodes.Element] | None:
        """The figure as raw HTML, or None if the output is of another kind."""
        if inline or data.mime_type != MIME:
            return None
        layout = data.content["layout"]
        alt = (
            layout.get("meta", {}).get("alt")
            if isinstance(layout.get("meta"), dict)
            else None
        )
        if not alt:
            logger.warning(
                'A plotly figure has no text: fig.update_layout(meta={"alt": "..."})',
                type="plotly",
            )
        figure = {
            name: data.content[name]
            for name in ("data", "layout", "frames")
            if name in data.content
        }
        text = json.dumps(figure, separators=(",", ":")).replace("</", "<\\/")
        page = FIGURE.format(
            alt=html.escape(alt or ""), height=layout.get("height", 450), figure=text
        )
        return [nodes.raw("", page, format="html", classes=["output"], alt=alt or "")]


def add_script(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Add the drawing script to pages that have a figure."""
    if 'class="plotly-figure"' in context.get("body", ""):
        app.add_js_file("plotly-figures.js", defer="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with MyST-NB, and make plotly output figures as JSON on every
    machine.
    """
    os.environ["PLOTLY_RENDERER"] = "plotly_mimetype"
    if PlotlyRenderer not in load_mime_renders():
        load_mime_renders().append(PlotlyRenderer)
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
