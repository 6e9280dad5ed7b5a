"""What is left of the theme's style: all that a page can use, and little else."""

import gzip

from extensions.delivery.lean_style import SOURCE, lean

WORDS = {"show", "btn", "col-md-6", "w-1/2", "theme", "other"}


def test_a_rule_stays_where_all_its_names_may_stand_somewhere() -> None:
    style = """
    /* gone */ html { color: red } .btn, .gone { color: blue } .btn .gone { top: 0 } #theme > a:not(.never) { left: 0 }
    .w-1\\/2 { width: 50% } :is(.btn, .show) { margin: 0 } a[href=".css"] { color: green }
    @media (min-width: 1px) { .col-md-6 { width: 50% } .col-md-7 { width: 60% } }
    @media print { .gone { display: none } }
    .btn::after { content: "} .gone {" } @import url("a;b");
    @keyframes spin { to { rotate: 1turn } } @font-face { font-family: a }
    """
    left = lean(style, WORDS | {"css"})
    for kept in (
        "html{",
        ".btn{",
        "#theme > a:not(.never){",
        ".w-1\\/2{",
        ":is(.btn, .show){",
        'a[href=".css"]{',
    ):
        assert kept in left, left
    assert "@media (min-width: 1px){.col-md-6{" in left
    assert "@keyframes spin" in left
    assert "@font-face" in left
    assert '.btn::after{ content: "} .gone {" }' in left
    for dropped in (".btn .gone", ".gone{", "col-md-7", "print"):
        assert dropped not in left


def test_the_themes_own_style_shrinks_to_a_third() -> None:
    style = SOURCE.read_text(encoding="utf-8")
    left = lean(
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
    assert ".navbar" in left
    assert len(gzip.compress(left.encode())) < len(gzip.compress(style.encode())) / 3
