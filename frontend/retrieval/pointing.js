// Pointing at a part of a drawing, by pointer, by tap and by the arrow keys: the same pixel in several pictures, or all
// parts that belong to one stored picture.
import { h } from "../kit/dom.js";
import { MOVES } from "../kit/imagewell.js";
import { bounded } from "../kit/number.js";

/** @import { Cell } from "../kit/imagewell.js" */

/**
 * Makes `element` one tab stop. `move(by)` takes an arrow key; `leave()` is called when nothing is pointed at any more.
 * After a tap or with the focus, that is when the focus goes; otherwise, when the mouse leaves.
 *
 * @type {(element: HTMLElement, label: string, on: { move(by: Cell): void, leave(): void }) => void}
 */
function pointable(element, label, { move, leave }) {
  element.tabIndex = 0;
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", label);
  element.addEventListener("keydown", (event) => {
    const by = MOVES[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    move(by);
  });
  element.addEventListener("pointerleave", ({ pointerType }) => {
    if (pointerType === "mouse" && document.activeElement !== element) leave();
  });
  element.addEventListener("blur", leave);
}

/**
 * Rings the same pixel in all `pictures` of a row; `say(cell)` is called with that pixel, or with null.
 *
 * @type {(row: HTMLElement, pictures: { frame: HTMLElement, canvas: HTMLCanvasElement }[], label: string, say: (cell: Cell | null) => void) => void}
 */
export function follow(row, pictures, label, say) {
  /** @type {Cell | null} */
  let at = null;
  const rings = pictures.map(({ frame }) => {
    const ring = h("span", { class: "r1-brush", hidden: true });
    frame.append(ring);
    return ring;
  });
  /** @param {Cell | null} next */
  function show(next) {
    const n = pictures[0].canvas.width;
    at = next && [bounded(next[0], 0, n - 1), bounded(next[1], 0, n - 1)];
    for (const ring of rings) {
      ring.hidden = !at;
      if (!at) continue;
      const [top, left] = at.map((i) => `${(100 * i) / n}%`);
      Object.assign(ring.style, { top, left, width: `${100 / n}%`, height: `${100 / n}%` });
    }
    say(at);
  }
  for (const { canvas } of pictures)
    for (const kind of /** @type {const} */ (["pointermove", "pointerdown"]))
      canvas.addEventListener(kind, (event) => {
        const { top, left, width } = canvas.getBoundingClientRect();
        /** @param {number} length */
        const cell = (length) => Math.floor((canvas.width * length) / width);
        show([cell(event.clientY - top), cell(event.clientX - left)]);
      });
  pointable(row, label, {
    move([down, right]) {
      const middle = pictures[0].canvas.width >> 1;
      show(at ? [at[0] + down, at[1] + right] : [middle, middle]);
    },
    leave: () => show(null),
  });
}

/**
 * Highlights all parts of `element` that have one number m in `data-m`, less than `count()`; `say(m)` is called with
 * that number, or with null. Returns a function that highlights them again after a new drawing.
 *
 * @type {(element: HTMLElement, label: string, count: () => number, say: (m: number | null) => void) => () => void}
 */
export function light(element, label, count, say) {
  /** @type {number | null} */
  let lit = null;
  /** @param {number | null} next */
  function show(next) {
    lit = next;
    for (const part of element.querySelectorAll("[data-m]"))
      part.classList.toggle("r1-lit", part.getAttribute("data-m") === String(lit));
    say(lit);
  }
  element.addEventListener("pointerover", ({ target }) => {
    const m = target instanceof Element && target.getAttribute("data-m");
    if (m) show(Number(m));
  });
  pointable(element, label, {
    move: ([down, right]) => show(lit === null ? 0 : (lit + down + right + count()) % count()),
    leave: () => show(null),
  });
  return () => show(lit !== null && lit < count() ? lit : null);
}
