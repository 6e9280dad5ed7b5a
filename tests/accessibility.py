"""Barriers of a page for readers with disabilities, as axe reports them."""

from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

# Axe does not read MathML, and takes seconds over the glyphs. So the text of each
# formula stands in for the formula: as text of the line if it looks like the line, and
# otherwise in an element that looks like the formula.
SPELL_FORMULAS = """() => {
    const LOOKS = ['color', 'backgroundColor', 'backgroundImage', 'opacity', 'filter', 'mixBlendMode', 'textShadow',
        'webkitTextFillColor', 'webkitTextStrokeColor', 'visibility', 'clipPath', 'overflow', 'transform'];
    const own = { opacity: '1', filter: 'none', mixBlendMode: 'normal', backgroundColor: 'rgba(0, 0, 0, 0)',
        backgroundImage: 'none', clipPath: 'none', overflow: 'visible', transform: 'none' };
    const plain = (element, line) => {
        const style = getComputedStyle(element);
        return LOOKS.every((name) => style[name] === (own[name] ?? line[name]));
    };
    const spelt = [...document.querySelectorAll('mjx-container')].map((box) => {
        const whole = box.closest('span.math');
        const parts = whole && [whole, box, box.querySelector('mjx-math')];
        const line = getComputedStyle((whole ?? box).parentElement);
        const text = box.querySelector('math').textContent;
        const asLine = parts && !whole.matches('[tabindex], .wide') && parts.every((part) => plain(part, line));
        const letters = getComputedStyle(box.querySelector('mjx-math'));
        const looks = { color: letters.color, opacity: letters.opacity * getComputedStyle(box).opacity };
        if (letters.backgroundColor !== own.backgroundColor) looks.backgroundColor = letters.backgroundColor;
        const fits = box.scrollWidth <= box.clientWidth;
        return { box, whole, text, asLine, looks, fits };
    });
    for (const { box, whole, text, asLine, looks, fits } of spelt) {
        if (asLine) whole.replaceWith(text);
        else {
            box.textContent = text;
            Object.assign(box.style, looks);
            if (fits) box.style.overflow = 'hidden'; // spelt out it may be wider than it was
        }
    }
    document.body.normalize();
}"""

# Properties of an element's style that decide how its text is drawn.
LOOKS = [
    "color",
    "backgroundColor",
    "backgroundImage",
    "opacity",
    "filter",
    "mixBlendMode",
    "textShadow",
]
LOOKS += [
    "webkitTextFillColor",
    "webkitTextStrokeColor",
    "fontSize",
    "fontWeight",
    "textDecoration",
    "display",
]
LOOKS += [
    "visibility",
    "position",
    "zIndex",
    "float",
    "transform",
    "clip",
    "clipPath",
    "overflow",
    "textIndent",
]

# Axe takes seconds over the colours of thousands of texts. Texts that look alike, in
# ancestors that look alike, pass or fail together. So only the longest of them is
# judged (axe does not judge the contrast of single characters), and every text of a
# label, of a field, or of something disabled.
JUDGED = """(LOOKS) => {
    const numbers = new Map(), known = new Map([[null, 0]]);
    const drawn = (element) => {
        if (!known.has(element)) {
            const style = getComputedStyle(element);
            const looks = [drawn(element.parentElement), ...LOOKS.map((name) => style[name])].join('|');
            if (!numbers.has(looks)) numbers.set(looks, numbers.size + 1);
            known.set(element, numbers.get(looks));
        }
        return known.get(element);
    };
    const longest = new Map();
    for (const element of document.querySelectorAll('body *')) {
        const own = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
        const text = element.matches('a') ? element.textContent : own.map((node) => node.data.trim()).join('');
        const { length } = text.trim();
        if (element.matches('input, select, textarea') || element.closest('label, :disabled, [aria-disabled], [inert]'))
            element.dataset.judged = 'for itself';
        else if (length && length > (longest.get(drawn(element))?.length ?? 0))
            longest.set(drawn(element), { length, element });
    }
    for (const { element } of longest.values()) element.dataset.judged = 'for others';
}"""
# Most elements of a page are tokens of code. If the colours of a token are judged
# elsewhere, and its only attribute is a class, axe finds in it the same as in its bare
# text. The elements beside it look the same afterwards, whichever rules count them.
UNWRAP = """(LOOKS) => {
    const bare = new Set([...document.querySelectorAll('span:not([data-judged])')].filter((span) => {
        const plain = [...span.attributes].every(({ name }) => name === 'class');
        return plain && getComputedStyle(span).display === 'inline';
    }));
    const beside = [...new Set([...bare].map((span) => span.parentElement))].flatMap((parent) => [...parent.children]);
    const drawn = beside.filter((element) => !bare.has(element)).map((element) => {
        const style = getComputedStyle(element);
        return [element, Object.fromEntries(LOOKS.map((name) => [name, style[name]]))];
    });
    for (const span of bare) span.replaceWith(...span.childNodes);
    for (const [element, looks] of drawn) {
        const style = getComputedStyle(element);
        for (const name of LOOKS) if (style[name] !== looks[name]) element.style[name] = looks[name];
    }
    document.body.normalize();
}"""
JUDGED_ALONE = """axe.configure({ rules: [
    { id: 'color-contrast', selector: '[data-judged], [data-judged] *' },
    { id: 'link-in-text-block', selector: 'a[href][data-judged], [data-judged] a[href]' },
] });"""

# Axe stores the parts of every colour in maps by object, which takes a third of its
# time on a long table. Here such a map is a field of the object.
LIGHT_AXE = """(function (WeakMap) {
%s
})(class {
    field = Symbol();
    has(object) { return Object.hasOwn(Object(object), this.field); }
    get(object) { return object?.[this.field]; }
    set(object, value) { object[this.field] = value; return this; }
    delete(object) { return delete object[this.field]; }
});""".replace("%s", AXE_SCRIPT)
SCRIPT = LIGHT_AXE + JUDGED_ALONE


def barriers(page: Page, *, simplify: bool = True) -> list[str]:
    """Everything that axe reports, one line each. With `simplify`, the page is changed
    and of no further use.
    """
    if simplify:
        page.evaluate(SPELL_FORMULAS)
        page.evaluate(JUDGED, LOOKS)
        page.evaluate(UNWRAP, LOOKS)
    axe = Axe(SCRIPT) if simplify else Axe()
    results = axe.run(
        page,
        options={
            "runOnly": {"type": "tag", "values": TAGS},
            "resultTypes": ["violations"],
        },
    )
    return [
        f"{violation['impact']} {violation['id']}: {node['target']} {node['html'][:160]} {node['failureSummary']}"
        for violation in results.response["violations"]
        for node in violation["nodes"]
    ]
