// The line chart of a run: values by step, and a cursor at the step on show.
import { chart } from "./chart.js";

/** @import { Scale } from "./axis.js" */
/** @import { Data, Series } from "./chart.js" */

/** @typedef {Record<string, ArrayLike<number | null>>} Values */

const FRAME = { height: 190, left: 68, right: 16, top: 12, bottom: 30 };
const DRAWN = 240; // points per line, and perhaps the last step: more would not be visible

/**
 * Steps are counted from `first`; `summary(values, step)` is the text for screen readers.
 *
 * @param {{
 *   title: string,
 *   xLabel: string,
 *   yLabel: string,
 *   scale?: Scale,
 *   ceiling?: number,
 *   first?: number,
 *   series: Series[],
 *   summary(values: Values, step: number): string,
 * }} options
 */
export function runChart({ xLabel, yLabel, scale = "linear", first = 0, summary, ...options }) {
  const { element, draw } = chart({
    ...options,
    x: { label: xLabel, scale: "count" },
    y: { label: yLabel, scale },
    frame: FRAME,
  });
  return {
    element,
    /**
     * `last` is the last step of the whole run, `step` the step shown.
     *
     * @param {{ values: Values, last: number, step: number, note?: string }} run
     */
    draw({ values, last, step, note }) {
      const lines = Object.fromEntries(
        Object.entries(values).map(([key, line]) => [key, thinned(line, first)]),
      );
      const on = Object.fromEntries(Object.entries(values).map(([key, line]) => [key, line[step]]));
      const cursor = { at: first + step, on };
      const x = /** @type {[number, number]} */ ([first, first + Math.max(last, 1)]);
      draw({ lines, x, cursor, summary: summary(values, step), note });
    },
  };
}

/**
 * Points of a line: no more than are visible, and always the last.
 *
 * @param {ArrayLike<number | null>} line
 * @param {number} first
 */
function thinned(line, first) {
  const stride = Math.max(1, Math.ceil(line.length / DRAWN));
  /** @type {Data} */
  const points = [];
  for (let i = 0; i < line.length - 1; i += stride) points.push([first + i, line[i]]);
  if (line.length > 0) points.push([first + line.length - 1, line[line.length - 1]]);
  return points;
}
