"""What keeps some readers out of a page, as axe sees it."""

from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

COLOUR = ["color-contrast", "link-in-text-block"]  # rules about how a text is drawn
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

# Axe takes seconds over the colours of thousands of texts, one by one. Those that are drawn alike, in ancestors that
# are drawn alike, pass or fail together: the longest is judged (axe does not judge the contrast of single characters),
# and every text of a label or a field, or of what is disabled.
JUDGED = """() => {
    const LOOKS = ['color', 'backgroundColor', 'backgroundImage', 'opacity', 'filter', 'mixBlendMode', 'textShadow',
        'webkitTextFillColor', 'webkitTextStrokeColor', 'fontSize', 'fontWeight', 'textDecoration', 'display',
        'visibility', 'position', 'zIndex', 'float', 'transform', 'clip', 'clipPath', 'overflow', 'textIndent'];
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
JUDGED_ALONE = "[data-judged]:not([data-judged] *)"  # what is within one of these is judged with it

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
    """All that axe finds wrong, a line each. Simplified first, the page is of no more use."""
    if not simplify:
        return _found(page, Axe(), None, {"runOnly": {"type": "tag", "values": TAGS}})
    axe = Axe(LIGHT_AXE)
    page.evaluate(SPELL_FORMULAS)
    page.evaluate(JUDGED)
    most = {"runOnly": {"type": "tag", "values": TAGS}, "rules": {rule: {"enabled": False} for rule in COLOUR}}
    drawn = {"runOnly": {"type": "rule", "values": COLOUR}}
    return [*_found(page, axe, None, most), *_found(page, axe, {"include": [JUDGED_ALONE]}, drawn)]


def _found(page: Page, axe: Axe, context: dict | None, options: dict) -> list[str]:
    found = axe.run(page, context=context, options={**options, "resultTypes": ["violations"]})
    return [
        f"{violation['impact']} {violation['id']}: {node['target']} {node['html'][:160]} {node['failureSummary']}"
        for violation in found.response["violations"]
        for node in violation["nodes"]
    ]
