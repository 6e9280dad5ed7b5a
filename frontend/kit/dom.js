// Elements in one call, and ids for them that no other widget on the page has.

const SVG_TAGS = /** @type {const} */ ([
  "svg",
  "path",
  "line",
  "rect",
  "circle",
  "ellipse",
  "g",
  "text",
  "image",
]);
/** @type {ReadonlySet<string>} */
const svgTags = new Set(SVG_TAGS);

/** @typedef {(typeof SVG_TAGS)[number]} SvgTag */
/** @typedef {Pick<SVGElementTagNameMap, SvgTag> & Omit<HTMLElementTagNameMap, SvgTag>} Tags */
/** @typedef {Node | string | null | undefined | Child[]} Child */
/**
 * @typedef {{
 *   [name: string]: string | number | boolean | null | undefined | ((event: never) => void),
 *   onclick?: (event: MouseEvent) => void,
 *   onkeydown?: (event: KeyboardEvent) => void,
 *   oninput?: (event: Event) => void,
 *   onchange?: (event: Event) => void,
 * }} Attributes
 */

/**
 * h("button", { class: "r1-button", onclick, "aria-pressed": "true" }, "Play"); null children are left out.
 *
 * @template {keyof Tags} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @param {Child[]} children
 * @returns {Tags[T]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = svgTags.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), /** @type {(event: Event) => void} */ (value));
    } else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, String(value));
  }
  const parts = /** @type {(Node | string | null | undefined)[]} */ (
    /** @type {unknown[]} */ (children).flat(Infinity)
  );
  element.append(...parts.filter((part) => part != null));
  return /** @type {Tags[T]} */ (element);
}

let idCount = 0;

/** A value for an id attribute, unique on the page even if several widgets share it. */
export const uid = () => `r1-${++idCount}-${Math.random().toString(36).slice(2, 7)}`;

/**
 * Sets attributes of an existing element.
 *
 * @param {Element} element
 * @param {Record<string, string | number>} attributes
 */
export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
}

/**
 * Writes text only if it differs, so that an unchanged text causes no announcement and no new layout.
 *
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Calls `action` at most once per `interval` (milliseconds), with the arguments of the latest call.
 *
 * @template {unknown[]} A
 * @param {(...values: A) => void} action
 * @param {number} interval
 */
export function throttle(action, interval) {
  /** @type {A | null} */
  let waiting = null;
  const act = () => {
    const values = /** @type {A} */ (waiting);
    action(...values);
    waiting = null;
  };
  /** @param {A} values */
  return (...values) => {
    if (waiting === null) setTimeout(act, interval);
    waiting = values;
  };
}
