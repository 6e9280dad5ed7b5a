// A point that is dragged by pointer or finger, or moved with the arrow keys; a slider to assistive technology.
import { h, setAttributes } from "./dom.js";
import { bounded, fixed } from "./number.js";

/** @typedef {[number, number]} Point */
/**
 * The maps between the coordinates of a drawing and those of its SVG.
 *
 * @typedef {{ toPixel(at: Point): Point, toData(pixel: Point): Point }} Space
 */
/**
 * The keys move `at`; the point is drawn at `shown` if given.
 *
 * @typedef {{ at: Point, name: string, words?: string, tone?: string, r?: number, shown?: Point }} Placing
 */
/** @typedef {{ element: SVGGElement, place(placing: Placing): void }} Handle */

/** @type {Record<string, Point>} */
const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const FASTER = 5; // times the step, with Shift

/** @param {number} v */
const tidy = (v) => Number(v.toFixed(4));

/**
 * A handle in `svg`, whose coordinates are `space`, within the bounds `x` and `y`. An arrow key moves it by `step`; a
 * press within the radius `reach` grabs it. `onMove` is called with the reader's point; only `place` moves the handle.
 *
 * @param {{
 *   svg: SVGSVGElement,
 *   space: Space,
 *   x: Point,
 *   y: Point,
 *   step?: Point,
 *   id?: string,
 *   reach?: number,
 *   onMove(at: Point): void,
 * }} options
 * @returns {Handle}
 */
export function handle({ svg, space, x, y, step = [0.05, 0.05], id = "", reach = 16, onMove }) {
  const dot = h("circle", { class: "r1-grip-dot" });
  const hit = h("circle", { r: reach, class: "r1-hit" });
  const element = h(
    "g",
    { role: "slider", tabindex: 0, "data-handle": id || null, "aria-valuemin": x[0] },
    hit,
    dot,
  );
  element.setAttribute("aria-valuemax", String(x[1]));
  /** @type {Point} */
  let position = [0, 0];
  /** @param {Point} to */
  const move = (to) => onMove([bounded(to[0], ...x), bounded(to[1], ...y)]);

  element.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    element.focus();
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    if (!element.hasPointerCapture(event.pointerId)) return;
    const matrix = svg.getScreenCTM();
    if (!matrix) return;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    move(space.toData([point.x, point.y]));
  });
  element.addEventListener("keydown", (event) => {
    const arrow = ARROWS[event.key];
    if (!arrow) return;
    event.preventDefault();
    event.stopPropagation();
    const times = event.shiftKey ? FASTER : 1;
    move([
      tidy(position[0] + times * step[0] * arrow[0]),
      tidy(position[1] + times * step[1] * arrow[1]),
    ]);
  });

  return {
    element,
    place({ at, name, words, tone = "ink", r = 7, shown = at }) {
      position = at;
      const [px, py] = space.toPixel(shown);
      dot.setAttribute("r", String(r));
      setAttributes(element, {
        transform: `translate(${px.toFixed(2)} ${py.toFixed(2)})`,
        class: `r1-grip r1-${tone}`,
        "aria-label": name,
        "aria-valuenow": at[0].toFixed(3),
        "aria-valuetext": words ?? `x ${fixed(at[0])}, y ${fixed(at[1])}`,
      });
    },
  };
}
