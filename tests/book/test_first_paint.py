"""A page waits for one style sheet and for no script, and no style or script is
lost.
"""

import json
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import node
import pytest

from extensions.delivery import first_paint, lean_style, on_demand
from extensions.delivery.first_paint import OF, quieten, soon

STYLES = {
    "a.css": '@charset "UTF-8"; @import "b.css"; /* a */ a { background: url(pictures/a.svg) }',
    "b.css": "b { color: blue; cursor: url(data:a,b), url(#c), url(https://a.org/b.svg), url('/c.svg') }",
    "styles/c.css": """@import url("../b.css"); c { --x: url("data:a,b"); src: url('../fonts/c.woff2?v=1') }""",
}
PAGE = """<head>
<link rel="preload" as="script" href="../_static/late.js">
<link rel="preload" as="font" href="../_static/c.woff2">
<link href="../_static/a.css?digest=1" rel="stylesheet" />
<link rel="stylesheet" type="text/css" href="../_static/styles/c.css" />
<link href="../_static/a.css?digest=1" rel="stylesheet" />
<link media="print" rel="stylesheet" href="../_static/print.css" />
<script defer src="../_static/deferred.js"></script>
<script defer="defer" src="../_static/custom.js?v=1"></script>
<script src="../_static/documentation_options.js?v=2"></script>
<script src="../_static/first.js"></script>
<script>let inline = 1;</script>
<script data-prefix="p" src="../_static/design-tabs.js"></script>
<script data-cards="a&amp;b" defer="defer" src="../_static/cards.js"></script>
<script src="searchindex.js"></script>
</head><body><main><p>Words.<!-- </main> --></p><script src="theirs.js"></script></main>
<script defer src="../_static/late.js"></script>
</body>"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Path at which a page of a site with these styles is written."""
    for name, text in STYLES.items():
        path = tmp_path / "_static" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "_static" / "documentation_options.js").write_text(
        "const DOCUMENTATION_OPTIONS = {};\n"
    )
    (tmp_path / "book").mkdir()
    return tmp_path / "book" / "page.html"


def links(page: str) -> list[str]:
    return re.findall(r'<link rel="stylesheet"[^>]*>', page)


def merged(page: str, place: Path) -> str:
    (link,) = links(page)
    match = re.search(r'href="([^"?]*)\?v=\w+"', link)
    assert match is not None
    return (place.parent / match[1]).read_text()


def test_style_sheets_are_merged_in_order_and_their_relative_addresses_are_corrected(
    tmp_path: Path, place: Path
) -> None:
    page = soon(PAGE, tmp_path, place)
    text = merged(page, place)
    assert [*re.findall(r"\b([abc]) \{", text)] == ["b", "a", "b", "c"]
    assert 'url("../pictures/a.svg")' in text
    assert 'url("../fonts/c.woff2?v=1")' in text
    assert 'url("data:a,b")' in text
    # these addresses are unchanged
    assert (
        text.count("url(data:a,b), url(#c), url(https://a.org/b.svg), url('/c.svg')")
        == 2
    )
    assert not re.search("@import|@charset|/\\*", text)
    assert '<link media="print" rel="stylesheet" href="../_static/print.css" />' in page


def test_scripts_are_deferred_in_their_order(tmp_path: Path, place: Path) -> None:
    page = soon(PAGE, tmp_path, place)
    assert re.findall(r'<script [^>]*src="([^"]*)"', page) == ["theirs.js"]
    match = re.search(r'id="later">(.*?)</script>', page)
    assert match is not None
    scripts = json.loads(match[1])
    names = [Path(each["src"]).name.partition("?")[0] for each in scripts]
    assert names == [
        "first.js",
        "deferred.js",
        "cards.js",
        "late.js",
        "custom.js",
        "searchindex.js",
    ]
    assert {"data-cards": "a&b", "src": "../_static/cards.js"} in scripts
    assert "<script>const DOCUMENTATION_OPTIONS = {};</script>" in page
    assert "<script>let inline = 1;</script>" in page
    assert 'as="script"' not in page
    assert 'as="font"' in page


AT_WORK = """
const [code, hidden] = %s;
const did = [], held = { textContent: JSON.stringify([{ src: "a.js", "data-x": "1" }, { src: "b.js" }]) };
const made = () => ({ async: true, setAttribute(name, value) { (this.set ??= {})[name] = value } });
const head = { append: (script) => did.push([script.async, script.set]) };
globalThis.document = { hidden, getElementById: () => held, createElement: made, head };
globalThis.requestAnimationFrame = (next) => (did.push("drawn"), next());
globalThis.setTimeout = (next) => (did.push("later"), next());
new Function(code)();
console.log(JSON.stringify(did));
"""


@pytest.mark.parametrize("hidden", [False, True])
def test_deferred_scripts_run_in_order_after_the_first_frame_of_a_visible_page(
    tmp_path: Path, place: Path, hidden: bool
) -> None:
    code = re.findall(r"<script>(.*?)</script>", soon(PAGE, tmp_path, place), re.S)[-1]
    run = [*node.command(), "-e", AT_WORK % json.dumps([code, hidden])]
    did = json.loads(
        subprocess.run(run, capture_output=True, text=True, check=True).stdout
    )
    assert did[-2:] == [
        [False, {"src": "a.js", "data-x": "1"}],
        [False, {"src": "b.js"}],
    ]
    assert did[:-2] == ([] if hidden else ["drawn", "later"])


def test_the_script_for_tabs_is_loaded_only_on_pages_with_tabs(
    tmp_path: Path, place: Path
) -> None:
    assert "design-tabs.js" not in soon(PAGE, tmp_path, place)
    tabs = PAGE.replace("Words.", '<span class="sd-tab-set">')
    assert '{"data-prefix": "p", "src": "../_static/design-tabs.js"}' in soon(
        tabs, tmp_path, place
    )


def test_a_page_that_was_not_rebuilt_gets_the_current_styles(
    tmp_path: Path, place: Path
) -> None:
    page = soon(PAGE, tmp_path, place)
    assert soon(page, tmp_path, place) == page
    (tmp_path / "_static" / "b.css").write_text("b { color: red }")
    again = soon(page, tmp_path, place)
    assert merged(again, place).count("red") == 2
    assert again != page  # a browser's old copy is not used
    assert re.sub(r"\?v=\w+", "", again) == re.sub(r"\?v=\w+", "", page)
    assert f'{OF}="_static/a.css _static/styles/c.css"' in again


def test_the_themes_script_no_longer_measures_the_size_of_boxes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    script = tmp_path / "theme.js"
    script.write_text(
        "f(e=>{e.tabIndex=e.scrollWidth>e.clientWidth||e.scrollHeight>e.clientHeight?0:-1}),g()"
    )
    quieten(script)
    assert script.read_text() == "f(e=>{0}),g()"
    quieten(script)
    assert not caplog.records
    script.write_text("f(e=>{e.tabIndex=e.scrollWidth>9?0:-1})")
    quieten(script)
    assert "mend `LOOKS`" in caplog.text


def test_pages_and_the_search_page_are_rewritten_after_a_successful_html_build_only(
    tmp_path: Path, place: Path
) -> None:
    pages = [place, tmp_path / "search.html"]
    theme = tmp_path / first_paint.THEME
    theme.parent.mkdir()

    def built(exception: Exception | None = None, form: str = "html") -> list[str]:
        pages[0].write_text(PAGE)
        pages[1].write_text(PAGE.replace("../", ""))
        theme.write_text(
            "f(e=>{e.tabIndex=e.scrollWidth>e.clientWidth||e.scrollHeight>e.clientHeight?0:-1})"
        )
        builder = SimpleNamespace(
            format=form, get_target_uri=lambda page: f"{page}.html"
        )
        env = SimpleNamespace(found_docs={"book/page", "book/never_written"})
        app: Any = SimpleNamespace(outdir=tmp_path, builder=builder, env=env)
        first_paint._write_built(app, exception)
        return [path.name for path in pages if OF in path.read_text()]

    assert built() == ["page.html", "search.html"]
    assert theme.read_text() == "f(e=>{0})"
    assert built(ValueError()) == built(form="latex") == []


def test_pages_are_rewritten_after_widgets_are_moved_and_styles_are_reduced() -> None:
    order: dict[str, int] = {}
    for module in (first_paint, lean_style, on_demand):
        app: Any = SimpleNamespace(
            connect=lambda _, act, priority=500: order.update(
                {act.__module__: priority}
            )
        )
        module.setup(app)
    assert sorted(order, key=lambda name: order[name]) == [
        "extensions.delivery.on_demand",
        "extensions.delivery.lean_style",
        "extensions.delivery.first_paint",
    ]
