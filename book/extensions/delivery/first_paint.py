"""Lets a browser draw a page as soon as its text has arrived: the page waits for one
style sheet, and for no script.

The theme and the extensions of a book load some twenty styles and scripts before
anything is drawn, each with a request of its own. Here those styles become one, which
pages share, and the scripts are fetched after the page has been drawn, and run in their
order. The module works on the written pages, because some of these tags come from the
theme's templates. esbuild could replace `style`, some twenty lines, but not find which
styles and scripts to join: only a written page has them.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from html import unescape
from os.path import relpath
from pathlib import Path
from urllib.parse import urlsplit

from sphinx.application import Sphinx
from sphinx.util import logging

from extensions.delivery.lean_style import COMMENT

FOLDER = Path("_static", "styles")
OF = "data-of"  # the joined styles, for pages that are not rewritten
STYLE = re.compile(
    r'[ \t]*<link\b(?=[^>]*\brel="stylesheet")(?![^>]*\bmedia=)[^>]*>\n?'
)
AHEAD = re.compile(
    r'[ \t]*<link\b(?=[^>]*\brel="preload")(?=[^>]*\bas="script")[^>]*>\n?'
)
SCRIPT = re.compile(r'[ \t]*<script\b(?=[^>]*\ssrc=")([^>]*)></script>\n?')
ATTRIBUTE = re.compile(r'([\w-]+)(?:="([^"]*)")?')
OPTIONS = re.compile(
    r'<script\b[^>]*\ssrc="([^"]*documentation_options\.js)[^"]*"[^>]*></script>'
)
# custom.js marks the page as complete; searchindex.js starts a search
LAST = (
    "custom.js",
    "searchindex.js",
)
# script that extensions load on all pages → class without which a page does not need it
ONLY_WITH = {"design-tabs.js": "sd-tab-set"}
LATER = """<script type="application/json" id="later">{}</script>
<script>
  {{
    const start = () => {{
      for (const attributes of JSON.parse(document.getElementById("later").textContent)) {{
        const script = document.createElement("script");
        for (const name in attributes) script.setAttribute(name, attributes[name]);
        script.async = false; // in their order
        document.head.append(script);
      }}
    }};
    if (document.hidden) start(); // nothing is drawn that could be waited for
    else requestAnimationFrame(() => setTimeout(start));
  }}
</script>
"""
CHARSET = re.compile(r'@charset "[^"]*";')
IMPORT = re.compile(r"""@import\s+(?:url\()?["']([^"']+)["']\)?\s*;""")
ADDRESS = re.compile(r"""url\(\s*(["']?)(?!["']|data:|#|[a-z]+://|/)([^"')]+)\1\s*\)""")
THEME = Path("_static", "scripts", "pydata-sphinx-theme.js")
LOOKS = re.compile(
    r"(\w)\.tabIndex=\1\.scrollWidth>\1\.clientWidth\|\|\1\.scrollHeight>\1\.clientHeight\?0:-1"
)

_logger = logging.getLogger(__name__)


def soon(page: str, site: Path, place: Path) -> str:
    """The page at `place` of the site, with one style, which is written, and with its
    scripts loaded after it is drawn.
    """
    head, body, tail = page.partition("<body")
    main, end, foot = tail.rpartition("</main>")
    head = OPTIONS.sub(
        lambda match: f"<script>{_text(match[1], place)}</script>", AHEAD.sub("", head)
    )
    scripts = [
        script
        for script in map(_attributes, SCRIPT.findall(head + foot))
        if _is_needed(script, main)
    ]
    if scripts:
        text = json.dumps([_plain(script) for script in sorted(scripts, key=_turn)])
        head = SCRIPT.sub("", head)
        foot = SCRIPT.sub("", foot)
        foot = foot.replace("</body>", LATER.format(text) + "</body>")
    if links := STYLE.findall(head):
        before, _, after = head.partition(links[0])
        head = (
            before
            + _link(list(dict.fromkeys(_sources(links, site, place))), site, place)
            + STYLE.sub("", after)
        )
    return head + body + main + end + foot


def _text(address: str, place: Path) -> str:
    return place.parent.joinpath(address).read_text(encoding="utf-8").strip()


def _attributes(script: str) -> dict[str, str]:
    return {name: unescape(value) for name, value in ATTRIBUTE.findall(script)}


def _plain(script: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in script.items() if name != "defer"}


def _turn(script: dict[str, str]) -> int:
    """Sort key for the order in which a browser runs a script: those that wait for the
    page come last.
    """
    ends = [n for n, name in enumerate(LAST, 2) if name in script["src"]]
    return ends[0] if ends else int("defer" in script)


def _is_needed(script: dict[str, str], main: str) -> bool:
    return all(
        sign in main for name, sign in ONLY_WITH.items() if name in script["src"]
    )


def _sources(links: list[str], site: Path, place: Path) -> Iterator[Path]:
    for link in links:
        if before := re.search(rf'\b{OF}="([^"]*)"', link):
            yield from (site / name for name in before[1].split())
        elif match := re.search(r'\bhref="([^"]*)"', link):
            yield place.parent.joinpath(urlsplit(match[1]).path).resolve()


def _link(sources: list[Path], site: Path, place: Path) -> str:
    """Write the style sheets `sources` as one file, named by a hash of their names, and
    return the link to it.
    """
    of = " ".join(source.relative_to(site).as_posix() for source in sources)
    path = site / FOLDER / f"page-{hashlib.sha256(of.encode()).hexdigest()[:8]}.css"
    text = "\n".join(style(source, path.parent) for source in sources)
    path.write_text(text, encoding="utf-8")
    version = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f'<link rel="stylesheet" href="{relpath(path, place.parent)}?v={version}" {OF}="{of}">\n'


def style(source: Path, folder: Path) -> str:
    """Text of a style and of those that it imports, with addresses as seen from another
    folder.
    """
    parts = IMPORT.split(
        CHARSET.sub("", COMMENT.sub("", source.read_text(encoding="utf-8")))
    )
    imported = [style((source.parent / name).resolve(), folder) for name in parts[1::2]]
    return "".join(
        [*imported, *(_moved(part, source.parent, folder) for part in parts[::2])]
    ).strip()


def _moved(text: str, before: Path, folder: Path) -> str:
    def address(match: re.Match[str]) -> str:
        return f'url("{Path(relpath(before / match[2], folder)).as_posix()}")'

    return ADDRESS.sub(address, text)


def quieten(script: Path) -> None:
    """Remove from the theme's script what custom.js does too: it would lay out the page
    again for each box that it examines.
    """
    text = script.read_text(encoding="utf-8")
    if "scrollWidth" in text and not LOOKS.search(text):
        _logger.warning(
            "The theme looks for boxes that scroll in another way: mend `LOOKS`",
            type="first_paint",
        )
    script.write_text(LOOKS.sub("0", text), encoding="utf-8")


def _write_built(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir).resolve()
    quieten(site / THEME)
    for path in [
        site / app.builder.get_target_uri(page)
        for page in [*app.env.found_docs, "search"]
    ]:
        if path.is_file():
            path.write_text(
                soon(path.read_text(encoding="utf-8"), site, path), encoding="utf-8"
            )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, to run after the styles are made lean."""
    app.connect("build-finished", _write_built, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
