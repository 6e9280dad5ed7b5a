// Other things drawn in a chart: a series as dots, and upright marks with words.
import { h } from "./dom.js";

/** @import { Canvas, Pen } from "./chart.js" */

/**
 * Dots of radius `r`, inside the axes only.
 *
 * @type {Pen}
 */
export function dots({ tone, r = 3 }) {
  const cloud = h("g");
  /** @type {(cx: number | string, cy: number | string, r: number) => SVGCircleElement} */
  const dot = (cx, cy, r) => h("circle", { cx, cy, r, class: `r1-dot r1-${tone}` });
  return {
    parts: [cloud],
    sample: h(
      "svg",
      { viewBox: "0 0 12 12", class: "r1-sample", "aria-hidden": "true" },
      dot(6, 6, 4),
    ),
    draw(points, { top, height, bottom }) {
      const inside = points.flatMap((p) =>
        p && p[1] >= top - 4 && p[1] <= height - bottom + 4 ? [p] : [],
      );
      cloud.replaceChildren(...inside.map(([x, y]) => dot(x.toFixed(1), y.toFixed(1), r)));
    },
  };
}

/** @typedef {{ at: number, tone: string, label?: string }} Mark */

const LETTER = 6; // width of a letter, in pixels

/**
 * Draws upright marks on a chart. The chart must be drawn first, because that sets its axes.
 *
 * @param {Canvas} canvas
 * @param {Mark[]} marks
 */
export function drawUprights({ under, space, frame }, marks) {
  const { top, height, bottom, width, left, right } = frame;
  const places = marks.map(({ at }) => space.toPixel([at, 0])[0]);
  under.replaceChildren(
    ...marks.flatMap(({ tone, label = "" }, i) => {
      const x = places[i];
      const ends = { x1: x, x2: x, y1: top, y2: height - bottom };
      const end = x + LETTER * label.length;
      // words that would leave the chart, or cross another mark, stand at the left of their own
      const isCrossed = places.some((other) => other > x && other < end) && 2 * x - end > left;
      const late = end > width - right || isCrossed;
      const words = { x: x + (late ? -4 : 4), y: top + 10, "text-anchor": late ? "end" : "start" };
      const rule = h("line", { ...ends, class: `r1-upright r1-${tone}` });
      return label ? [rule, h("text", words, label)] : [rule];
    }),
  );
}
