// The line's model along the first axis: base, what is remembered, and their sum, as three charts.
import { h } from "../kit/dom.js";
import { xyplot } from "../kit/xyplot.js";
import { Neighbours } from "./math/memory.js";
import { dot } from "./math/risk.js";

const PLACES = 161;
const SMALL = { width: 250, height: 180, left: 38 };
const SHOWN = 400; // data points drawn at most

const PARTS = [
  { key: "base", title: "Base", label: "base, ‖θ‖ ≤ L", tone: "exact", dots: "examples" },
  {
    key: "memory",
    title: "Memory of residuals",
    label: "weighted residuals",
    tone: "local",
    dots: "residuals",
  },
  { key: "sum", title: "Base + memory", label: "their sum", tone: "distributed", dots: "examples" },
];

/** The three functions at places along the first axis, and the data beside them. */
export function slice(set, fit, { k, sigma }) {
  const { X, n, d } = set;
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
  const charts = PARTS.map(({ key, title, label, tone, dots }) => {
    const truth = {
      key: "truth",
      label: key === "memory" ? "what is missing" : "truth",
      tone: "ink",
      dash: "6 3",
    };
    const points = { key: "points", label: dots, tone: "printed", dots: true, r: 2 };
    return xyplot({
      size: SMALL,
      title,
      xLabel: "x along θ*",
      yLabel: key === "memory" ? "residual" : "y",
      series: [points, truth, { key, label, tone }],
    });
  });
  return {
    element: h(
      "div",
      { class: "r1-parts" },
      charts.map((chart) => chart.element),
    ),
    draw(set, fit, settings) {
      const { reach, rows } = slice(set, fit, settings);
      const count = Math.min(set.n, SHOWN);
      const at = (values) => Array.from({ length: count }, (_, i) => [set.X[i * set.d], values[i]]);
      const high = Math.max(reach, ...at(fit.y).map(([, v]) => Math.abs(v)));
      const missing = rows.map(({ x, base }) => [x, x - base]);
      PARTS.forEach(({ key }, i) => {
        const line = rows.map((row) => [row.x, row[key]]);
        const error = rows.reduce((sum, row) => sum + (row.sum - row.x) ** 2, 0) / rows.length;
        charts[i].draw({
          data: {
            points: at(key === "memory" ? fit.residuals : fit.y),
            truth: key === "memory" ? missing : rows.map(({ x }) => [x, x]),
            [key]: line,
          },
          x: [-reach, reach],
          y: [-1.05 * high, 1.05 * high],
          summary:
            key === "sum"
              ? `Mean squared error along this axis ${error.toPrecision(2)}.`
              : `From ${line[0][1].toPrecision(2)} at the left end to ${line.at(-1)[1].toPrecision(2)} at the right.`,
        });
      });
    },
  };
}
