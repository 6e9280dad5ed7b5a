"""The reduced style sheet of the theme has every rule that a page can use, and few
others.
"""

import gzip

from extensions.delivery.lean_style import SOURCE, lean

WORDS = {"show", "btn", "col-md-6", "w-1/2", "theme", "other"}


def test_a_style_rule_is_kept_only_if_all_its_names_occur_in_the_pages() -> None:
    style = """
    /* gone */ html { color: red } .btn, .gone { color: blue } .btn .gone { top: 0 } #theme > a:not(.never) { left: 0 }
    .w-1\\/2 { width: 50% } :is(.btn, .show) { margin: 0 } a[href=".css"] { color: green }
    @media (min-width: 1px) { .col-md-6 { width: 50% } .col-md-7 { width: 60% } }
    @media print { .gone { display: none } }
    .btn::after { content: "} .gone {" } @import url("a;b");
    @keyframes spin { to { rotate: 1turn } } @font-face { font-family: a }
    """
    lean_style = lean(style, WORDS | {"css"})
    for rule in (
        "html{",
        ".btn{",
        "#theme > a:not(.never){",
        ".w-1\\/2{",
        ":is(.btn, .show){",
        'a[href=".css"]{',
    ):
        assert rule in lean_style, lean_style
    assert "@media (min-width: 1px){.col-md-6{" in lean_style
    assert "@keyframes spin" in lean_style
    assert "@font-face" in lean_style
    assert '.btn::after{ content: "} .gone {" }' in lean_style
    for dropped in (".btn .gone", ".gone{", "col-md-7", "print"):
        assert dropped not in lean_style


def test_the_themes_own_style_shrinks_to_a_third() -> None:
    style = SOURCE.read_text(encoding="utf-8")
    lean_style = lean(
        style,
        {
            "bd-article",
            "bd-main",
            "bd-content",
            "bd-header",
            "navbar",
            "btn",
            "dropdown-menu",
            "show",
        },
    )
    assert ".navbar" in lean_style
    assert (
        len(gzip.compress(lean_style.encode())) < len(gzip.compress(style.encode())) / 3
    )
