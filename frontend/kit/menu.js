// A button that opens a menu: arrow keys and letters move in it, Escape and a press elsewhere close it.
import { h, uid } from "./dom.js";

/** @import { Child } from "./dom.js" */
/** @typedef {{ key: string, label: string, onClick(): void }} Item */

/**
 * `items()` returns the entries each time the menu opens.
 *
 * @param {{ label: string, face: Child, items(): Item[], name?: string }} options
 */
export function menu({ label, face, items, name = "share" }) {
  const id = uid();
  const list = h("div", { id, class: "r1-menu", role: "menu", "aria-label": label, hidden: true });
  const opener = h(
    "button",
    {
      type: "button",
      class: "r1-button",
      title: label,
      "aria-label": label,
      "aria-haspopup": "menu",
      "aria-expanded": "false",
      "aria-controls": id,
      "data-name": name,
      onclick: () => (list.hidden ? open() : close()),
      onkeydown: (event) => {
        if (event.key !== "ArrowDown") return;
        event.preventDefault();
        event.stopPropagation();
        open();
      },
    },
    face,
  );
  const element = h("div", { class: "r1-menu-place", onkeydown: move }, opener, list);
  const entries = () => /** @type {HTMLElement[]} */ ([...list.children]);
  const leave = (/** @type {Event} */ event) => {
    if (!element.contains(/** @type {Node} */ (event.target))) close(false);
  };

  function open() {
    list.replaceChildren(...items().map(entry));
    list.hidden = false;
    opener.setAttribute("aria-expanded", "true");
    document.addEventListener("pointerdown", leave, true);
    document.addEventListener("focusin", leave);
    entries()[0]?.focus();
  }

  /** @param {boolean} [back] True if the focus goes back to the button. */
  function close(back = true) {
    list.hidden = true;
    opener.setAttribute("aria-expanded", "false");
    document.removeEventListener("pointerdown", leave, true);
    document.removeEventListener("focusin", leave);
    if (back) opener.focus();
  }

  /** @param {Item} item */
  function entry({ key, label: words, onClick }) {
    const act = () => {
      close();
      onClick();
    };
    const attributes = { type: "button", role: "menuitem", tabindex: -1, "data-item": key };
    return h("button", { ...attributes, onclick: act }, words);
  }

  /** @param {KeyboardEvent} event */
  function move(event) {
    if (list.hidden) return;
    const all = entries();
    const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const n = all.length;
    const letter = all.findIndex(
      (one, i) => i > at && one.textContent.toLowerCase().startsWith(event.key.toLowerCase()),
    );
    const to = { ArrowDown: (at + 1) % n, ArrowUp: (at - 1 + n) % n, Home: 0, End: n - 1 };
    const next = to[/** @type {keyof typeof to} */ (event.key)] ?? (letter < 0 ? null : letter);
    if (event.key === "Escape") close();
    else if (next !== null && event.key.length !== 0) all[next]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return { element, close };
}
