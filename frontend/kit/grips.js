// Points to drag that come and go. The points of a group share one tab stop; Page Up and Page Down go through them.
import { h } from "./dom.js";
import { handle } from "./handle.js";

/** @import { Handle, Point, Space } from "./handle.js" */

/**
 * The keys move `at`; the point is drawn at `shown` if given. A `colour` overrides the colour of its tone.
 *
 * @typedef {{
 *   id: string, at: Point, name: string, tone: string, r?: number, group?: string, words?: string, shown?: Point,
 *   colour?: string,
 * }} Grip
 */

/**
 * `onMove(id, at)` is called while a point moves. The bounds `x` and `y` and the `step` are those of a handle.
 *
 * @param {{
 *   svg: SVGSVGElement, space: Space, x: Point, y: Point, step?: Point, onMove(id: string, at: Point): void,
 * }} options
 */
export function createGrips({ onMove, ...common }) {
  const element = h("g");
  /** @type {Map<string, Handle & { group?: string }>} */
  const handles = new Map();

  /** @param {Grip} grip */
  function make({ id, group }) {
    const first =
      group === undefined || ![...handles.values()].some((other) => other.group === group);
    const grip = handle({ ...common, id, onMove: (at) => onMove(id, at) });
    grip.element.tabIndex = first ? 0 : -1;
    if (group) grip.element.addEventListener("keydown", (event) => turnPage(event, id));
    element.append(grip.element);
    handles.set(id, { ...grip, group });
  }

  /**
   * @param {KeyboardEvent} event
   * @param {string} id
   */
  function turnPage(event, id) {
    const turn = event.key === "PageDown" ? 1 : event.key === "PageUp" ? -1 : 0;
    if (turn === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const group = handles.get(id)?.group;
    const own = [...handles.entries()].filter(([, grip]) => grip.group === group);
    const at = own.findIndex(([other]) => other === id);
    const [next] = own[(at + turn + own.length) % own.length];
    for (const [other, { element: one }] of own) one.tabIndex = other === next ? 0 : -1;
    handles.get(next)?.element.focus();
  }

  return {
    element,
    /** @param {Grip[]} grips */
    show(grips) {
      const ids = new Set(grips.map(({ id }) => id));
      for (const [id, { element: one, group }] of handles) {
        if (ids.has(id)) continue;
        one.remove();
        handles.delete(id);
        const left = [...handles.values()].find((other) => other.group === group);
        if (left && one.tabIndex === 0) left.element.tabIndex = 0; // the group keeps its tab stop
      }
      for (const grip of grips) {
        if (!handles.has(grip.id)) make(grip);
        const own = handles.get(grip.id);
        own?.place({ r: 6, ...grip });
        if (grip.colour) own?.element.style.setProperty("--r1-tone", grip.colour);
      }
    },
  };
}
