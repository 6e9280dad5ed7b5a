"""What keeps some readers out of a page, as axe sees it."""

from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

# Axe reads no MathML, and takes seconds over the glyphs: a formula's text stands in for it, as text of its line where
# it looks like the line, and else in an element that looks as it does.
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

# Axe takes seconds over thousands of tokens of code, one by one. Within one block, those with the same attributes
# that are drawn alike, in ancestors that are drawn alike, pass or fail together: the longest stays (axe does not
# judge the contrast of single characters) and keeps its looks; the others become text of the block.
THIN_TOKENS = """() => {
    const LOOKS = ['color', 'backgroundColor', 'backgroundImage', 'opacity', 'filter', 'mixBlendMode', 'textShadow',
        'webkitTextFillColor', 'webkitTextStrokeColor', 'fontSize', 'fontWeight', 'textDecoration', 'display',
        'visibility', 'position', 'zIndex', 'float', 'transform', 'clip', 'clipPath', 'overflow', 'textIndent'];
    const looks = (element) => {
        const style = getComputedStyle(element);
        return LOOKS.map((name) => [name, style[name]]);
    };
    const kinds = new Map();
    document.querySelectorAll('pre').forEach((block, number) => {
        for (const token of block.querySelectorAll('span:not(:has(*))')) {
            let kind = number;
            for (let each = token; each !== block; each = each.parentElement)
                kind += `${each.cloneNode().outerHTML} ${looks(each)}`;
            if (!kinds.has(kind)) kinds.set(kind, []);
            kinds.get(kind).push(token);
        }
    });
    const stay = (tokens) => tokens.reduce((a, b) => (b.textContent.length > a.textContent.length ? b : a));
    const staying = new Map([...kinds.values()].map(stay).map((token) => [token, looks(token)]));
    for (const token of [...kinds.values()].flat())
        if (!staying.has(token)) token.replaceWith(...token.childNodes);
    staying.forEach((drawn, token) => Object.assign(token.style, Object.fromEntries(drawn)));
}"""

# Axe keeps the parts of every colour in maps by object, a third of its time on a long table. Here such a map is a
# field of the object.
LIGHT_AXE = """(function (WeakMap) {
%s
})(class {
    field = Symbol();
    has(object) { return Object.hasOwn(Object(object), this.field); }
    get(object) { return object?.[this.field]; }
    set(object, value) { object[this.field] = value; return this; }
    delete(object) { return delete object[this.field]; }
});""".replace("%s", AXE_SCRIPT)


def barriers(page: Page, *, simplify: bool = True) -> list[str]:
    """All that axe finds wrong, a line each. Simplified first, the page is read in half the time and of no more use."""
    for change in (SPELL_FORMULAS, THIN_TOKENS) if simplify else ():
        page.evaluate(change)
    axe = Axe(LIGHT_AXE) if simplify else Axe()
    options = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"]}
    return [
        f"{violation['impact']} {violation['id']}: {node['target']} {node['html'][:160]} {node['failureSummary']}"
        for violation in axe.run(page, options=options).response["violations"]
        for node in violation["nodes"]
    ]
