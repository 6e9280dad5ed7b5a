// The line's model along the first axis: base, what is remembered, and their sum, as three charts.
import { chart } from "../kit/chart.js";
import { h } from "../kit/dom.js";
import { dots } from "../kit/dots.js";
import { dot } from "../kit/linear.js";
import { figures } from "../kit/number.js";
import { Neighbours } from "./math/memory.js";

/** @import { LineFit, LineSet } from "./math/sets.js" */
/** @import { Settings } from "./settings.js" */
/** @import { Point } from "../kit/handle.js" */

const PLACES = 161;
const SMALL = { width: 250, height: 180, left: 38 };
const SHOWN = 400; // data points drawn at most

const PARTS = /** @type {const} */ ([
  { key: "base", title: "Base", label: "base, ‖θ‖ ≤ L", tone: "exact", points: "examples" },
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

/**
 * The three functions at places along the first axis, and how far that axis goes.
 *
 * @type {(set: LineSet, fit: LineFit, settings: { k: number, sigma: number }) => { reach: number, rows: Record<"x" | "base" | "memory" | "sum", number>[] }}
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
    return { x, base, memory, sum: base + memory };
  });
  return { reach, rows };
}

export function createSlices() {
  const charts = PARTS.map(({ key, title, label, tone, points }) => {
    const missing = key === "memory";
    return chart({
      frame: SMALL,
      title,
      x: { label: "x along θ*" },
      y: { label: missing ? "residual" : "y" },
      series: [
        { key: "points", label: points, tone: "printed", pen: dots, r: 2 },
        { key: "truth", label: missing ? "what is missing" : "truth", tone: "ink", dash: "6 3" },
        { key, label, tone },
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
     * With `hidden` only the base: the memory's part is yet to be predicted.
     *
     * @type {(set: LineSet, fit: LineFit, settings: Settings, hidden: boolean) => void}
     */
    draw(set, fit, settings, hidden) {
      const { reach, rows } = slice(set, fit, settings);
      const n = Math.min(set.n, SHOWN);
      /** @type {(values: ArrayLike<number>) => Point[]} */
      const at = (values) => Array.from({ length: n }, (_, i) => [set.X[i * set.d], values[i]]);
      const labels = at(fit.y);
      const high = 1.05 * Math.max(reach, ...labels.map(([, v]) => Math.abs(v)));
      const error = rows.reduce((sum, row) => sum + (row.sum - row.x) ** 2, 0) / rows.length;
      PARTS.forEach(({ key }, i) => {
        const missing = key === "memory";
        const ends = [rows[0][key], rows[PLACES - 1][key]].map((v) => figures(v, 2));
        charts[i].draw({
          lines: {
            points: missing ? at(fit.residuals) : labels,
            truth: rows.map(({ x, base }) => [x, missing ? x - base : x]),
            [key]: hidden && key !== "base" ? [] : rows.map((row) => [row.x, row[key]]),
          },
          x: [-reach, reach],
          y: [-high, high],
          summary: hidden
            ? ""
            : key === "sum"
              ? `Mean squared error along this axis ${figures(error, 2)}.`
              : `From ${ends[0]} at the left end to ${ends[1]} at the right.`,
        });
      });
    },
  };
}
