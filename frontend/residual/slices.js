// The model along the first axis of the line's data, or around the circle, as three charts: the base, the memory, and
// their sum.
import { chart } from "../kit/chart.js";
import { h } from "../kit/dom.js";
import { dots } from "../kit/dots.js";
import { figures } from "../kit/number.js";
import { dot } from "../math/linear.js";
import { Neighbours } from "./math/memory.js";
import { around, baseOf, searchAround, truthOf } from "./math/waves.js";

/** @import { LineFit, LineSet } from "./math/sets.js" */
/** @import { WaveFit, WaveSet } from "./math/waves.js" */
/** @import { Settings } from "./settings.js" */
/** @import { Point } from "../kit/handle.js" */

const PLACES = 161; // places along the first axis
const ROUND = 401; // places around the circle
const SMALL = { width: 250, height: 180, left: 38 };
const SHOWN = 400; // largest number of data points that are drawn

const PARTS = /** @type {const} */ ([
  { key: "base", title: "Base", label: "base", tone: "exact", points: "examples" },
  {
    key: "memory",
    title: "Memory of residuals",
    label: "weighted residuals",
    tone: "local",
    points: "residuals",
  },
  {
    key: "sum",
    title: "Base + memory",
    label: "their sum",
    tone: "distributed",
    points: "examples",
  },
]);

/** @typedef {Record<"x" | "truth" | "base" | "memory" | "sum", number>} Row */
/** @typedef {{ ends: Point, rows: Row[] }} Slice */

/**
 * The truth and the three functions at places along the first axis, and the ends of the axis.
 *
 * @type {(set: LineSet, fit: LineFit, settings: { k: number, sigma: number }) => Slice}
 */
export function slice({ X, n, d }, fit, { k, sigma }) {
  const reach = Math.sqrt(d + 2);
  const search = new Neighbours(X, n, d, k);
  const query = new Float64Array(d);
  const rows = Array.from({ length: PLACES }, (_, i) => {
    const x = reach * ((2 * i) / (PLACES - 1) - 1);
    query[0] = x;
    const base = dot(fit.theta, query, 0);
    const memory = search.find(query, 0).weigh(sigma).read(fit.residuals);
    return { x, truth: x, base, memory, sum: base + memory };
  });
  return { ends: [-reach, reach], rows };
}

/**
 * The truth and the three functions of the two waves, at places around the circle.
 *
 * @type {(set: WaveSet, fit: WaveFit, settings: Settings) => Slice}
 */
export function circle(set, fit, settings) {
  const search = searchAround(set, settings.k);
  const residuals = around(fit.residuals);
  const rows = Array.from({ length: ROUND }, (_, i) => {
    const x = i / (ROUND - 1);
    const base = baseOf(x, settings);
    const memory = search.find([x], 0).weigh(settings.sigma).read(residuals);
    return { x, truth: truthOf(x, settings.frequency), base, memory, sum: base + memory };
  });
  return { ends: [0, 1], rows };
}

/** @param {{ along: string, base: string }} words The labels of the horizontal axis and of the base's curve. */
export function createSlices({ along, base: ofBase }) {
  const charts = PARTS.map(({ key, title, label, tone, points }) => {
    const missing = key === "memory";
    return chart({
      frame: SMALL,
      title,
      x: { label: along },
      y: { label: missing ? "residual" : "y" },
      series: [
        { key: "points", label: points, tone: "printed", pen: dots, r: 2 },
        { key: "truth", label: missing ? "what is missing" : "truth", tone: "ink", dash: "6 3" },
        { key, label: key === "base" ? ofBase : label, tone },
      ],
    });
  });
  return {
    element: h(
      "div",
      { class: "r1-parts" },
      charts.map(({ element }) => element),
    ),
    /**
     * Draws the charts; only the base's curve if `hidden`, because the reader has yet to predict the memory's effect.
     *
     * @type {(set: LineSet | WaveSet, fit: LineFit | WaveFit, seen: Slice, hidden: boolean) => void}
     */
    draw(set, fit, { ends, rows }, hidden) {
      const n = Math.min(set.n, SHOWN);
      /** @type {(values: ArrayLike<number>) => Point[]} */
      const at = (values) => Array.from({ length: n }, (_, i) => [set.X[i * set.d], values[i]]);
      const labels = at(fit.y);
      const highest = Math.max(...rows.map(({ truth }) => Math.abs(truth)));
      const high = 1.05 * Math.max(highest, ...labels.map(([, v]) => Math.abs(v)));
      const error = rows.reduce((sum, row) => sum + (row.sum - row.truth) ** 2, 0) / rows.length;
      PARTS.forEach(({ key }, i) => {
        const missing = key === "memory";
        const [first, last] = [rows[0][key], rows[rows.length - 1][key]].map((v) => figures(v, 2));
        charts[i].draw({
          lines: {
            points: missing ? at(fit.residuals) : labels,
            truth: rows.map(({ x, truth, base }) => [x, missing ? truth - base : truth]),
            [key]: hidden && key !== "base" ? [] : rows.map((row) => [row.x, row[key]]),
          },
          x: ends,
          y: [-high, high],
          summary: hidden
            ? ""
            : key === "sum"
              ? `Mean squared error along this axis ${figures(error, 2)}.`
              : `From ${first} at the left end to ${last} at the right.`,
        });
      });
    },
  };
}
