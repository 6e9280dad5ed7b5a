"""A page waits for one style and for no script; nothing is lost on the way."""

import json
import re
from pathlib import Path

import pytest
from first_paint import OF, quieten, soon

STYLES = {
    "a.css": '@charset "UTF-8"; @import "b.css"; /* a */ a { background: url(pictures/a.svg) }',
    "b.css": "b { color: blue }",
    "styles/c.css": """@import url("../b.css"); c { --x: url("data:a,b"); src: url('../fonts/c.woff2?v=1') }""",
}
PAGE = """<head>
<link rel="preload" as="script" href="../_static/late.js">
<link rel="preload" as="font" href="../_static/c.woff2">
<link href="../_static/a.css?digest=1" rel="stylesheet" />
<link rel="stylesheet" type="text/css" href="../_static/styles/c.css" />
<link media="print" rel="stylesheet" href="../_static/print.css" />
<script defer src="../_static/deferred.js"></script>
<script defer="defer" src="../_static/custom.js?v=1"></script>
<script src="../_static/documentation_options.js?v=2"></script>
<script src="../_static/first.js"></script>
<script>let inline = 1;</script>
<script data-prefix="p" src="../_static/design-tabs.js"></script>
<script data-cards="a&amp;b" defer="defer" src="../_static/cards.js"></script>
<script src="searchindex.js"></script>
</head><body><main><p>Words.</p><script src="theirs.js"></script></main>
<script defer src="../_static/late.js"></script>
</body>"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a page of a site with those styles is written."""
    for name, text in STYLES.items():
        path = tmp_path / "_static" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "_static" / "documentation_options.js").write_text("const DOCUMENTATION_OPTIONS = {};\n")
    (tmp_path / "book").mkdir()
    return tmp_path / "book" / "page.html"


def links(page: str) -> list[str]:
    return re.findall(r'<link rel="stylesheet"[^>]*>', page)


def merged(page: str, place: Path) -> str:
    (link,) = links(page)
    found = re.search(r'href="([^"?]*)\?v=\w+"', link)
    assert found is not None
    return (place.parent / found[1]).read_text()


def test_its_styles_are_one_in_their_order_and_find_what_they_name(tmp_path: Path, place: Path) -> None:
    made = soon(PAGE, tmp_path, place)
    text = merged(made, place)
    assert [*re.findall(r"\b([abc]) \{", text)] == ["b", "a", "b", "c"]
    assert 'url("../pictures/a.svg")' in text
    assert 'url("../fonts/c.woff2?v=1")' in text
    assert 'url("data:a,b")' in text
    assert not re.search("@import|@charset|/\\*", text)
    assert '<link media="print" rel="stylesheet" href="../_static/print.css" />' in made


def test_its_scripts_come_in_their_order_when_it_is_drawn(tmp_path: Path, place: Path) -> None:
    made = soon(PAGE, tmp_path, place)
    assert re.findall(r'<script [^>]*src="([^"]*)"', made) == ["theirs.js"]
    found = re.search(r'id="later">(.*?)</script>', made)
    assert found is not None
    scripts = json.loads(found[1])
    names = [Path(each["src"]).name.partition("?")[0] for each in scripts]
    assert names == ["first.js", "deferred.js", "cards.js", "late.js", "custom.js", "searchindex.js"]
    assert {"data-cards": "a&b", "src": "../_static/cards.js"} in scripts
    assert "<script>const DOCUMENTATION_OPTIONS = {};</script>" in made
    assert "<script>let inline = 1;</script>" in made
    assert 'as="script"' not in made
    assert 'as="font"' in made


def test_a_script_of_tabs_comes_with_tabs_alone(tmp_path: Path, place: Path) -> None:
    assert "design-tabs.js" not in soon(PAGE, tmp_path, place)
    tabs = PAGE.replace("Words.", '<span class="sd-tab-set">')
    assert '{"data-prefix": "p", "src": "../_static/design-tabs.js"}' in soon(tabs, tmp_path, place)


def test_a_page_that_is_not_written_anew_has_its_styles_as_they_are_now(tmp_path: Path, place: Path) -> None:
    made = soon(PAGE, tmp_path, place)
    assert soon(made, tmp_path, place) == made
    (tmp_path / "_static" / "b.css").write_text("b { color: red }")
    again = soon(made, tmp_path, place)
    assert merged(again, place).count("red") == 2
    assert again != made  # a browser that has the page's old style fetches the new
    assert re.sub(r"\?v=\w+", "", again) == re.sub(r"\?v=\w+", "", made)
    assert f'{OF}="_static/a.css _static/styles/c.css"' in again


def test_the_theme_looks_at_no_box(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    script = tmp_path / "theme.js"
    script.write_text("f(e=>{e.tabIndex=e.scrollWidth>e.clientWidth||e.scrollHeight>e.clientHeight?0:-1}),g()")
    quieten(script)
    assert script.read_text() == "f(e=>{0}),g()"
    quieten(script)
    assert not caplog.records
    script.write_text("f(e=>{e.tabIndex=e.scrollWidth>9?0:-1})")
    quieten(script)
    assert "mend `LOOKS`" in caplog.text
