// Elements in one call, and names for them that no other widget on the page has.

const svgTags = new Set([
  "svg",
  "path",
  "line",
  "rect",
  "circle",
  "ellipse",
  "g",
  "text",
  "title",
  "polyline",
]);

/** h("button", { class: "r1-button", onclick, "aria-pressed": "true" }, "Play"); null children are left out. */
export function h(tag, attributes = {}, ...children) {
  const element = svgTags.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null));
  return element;
}

let count = 0;

/** A name for an id attribute, unique on the page whatever widgets share it. */
export const uid = (prefix = "r1") =>
  `${prefix}-${++count}-${Math.random().toString(36).slice(2, 7)}`;

/** Writes text only where it differs: assistive technology and layout stay quiet. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Calls `action` at most once an interval, and always with the last arguments. */
export function throttle(action, interval) {
  let waiting = null;
  return (...values) => {
    if (waiting === null) {
      setTimeout(() => {
        action(...waiting);
        waiting = null;
      }, interval);
    }
    waiting = values;
  };
}
