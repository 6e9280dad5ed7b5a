// A small line plot in SVG: linear or logarithmic, several series, told apart by colour and by dash.
import { h, setText } from "./dom.js";

const SIZE = { width: 360, height: 190, left: 68, right: 16, top: 12, bottom: 30 };
const DRAWN = 240; // points a line at most: more cannot be seen

/**
 * series: [{ key, label, tone, dash }]; `scale` "linear" or "log". What exceeds `ceiling` is drawn along the top edge.
 * Points are counted along x, the first as number `first`.
 * `summary(values, step)` is what a screen reader hears.
 */
export function plot({
  title,
  xLabel,
  yLabel,
  scale = "linear",
  ceiling = Infinity,
  first = 0,
  series,
  summary,
}) {
  const { width, height, left, right, top, bottom } = SIZE;
  const grid = h("g", { class: "r1-axes" });
  const lines = series.map(({ tone, dash }) =>
    h("path", { class: `r1-line r1-${tone}`, "stroke-dasharray": dash ?? null }),
  );
  const dots = series.map(({ tone }) => h("circle", { class: `r1-dot r1-${tone}`, r: 3 }));
  const cursor = h("line", { class: "r1-cursor", y1: top, y2: height - bottom });
  const heading = h("title", {}, title);
  const svg = h(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title },
    heading,
    grid,
    cursor,
  );
  svg.append(...lines, ...dots, ...labels(xLabel, yLabel));
  const note = h("p", { class: "r1-plot-note" });
  const legend = series.map(({ label, tone, dash }) =>
    h("li", {}, sample(tone, dash), h("span", {}, label)),
  );
  const element = h(
    "figure",
    { class: "r1-plot" },
    h("figcaption", {}, title),
    svg,
    h("ul", { class: "r1-legend" }, legend),
    note,
  );
  const span = [left, width - right];
  return {
    element,
    /** values: { key: number[] }; `xMax` the last step there will be; `step` the one shown. */
    draw({ values, xMax, step, text = "" }) {
      const columns = series.map(({ key }) => values[key] ?? []);
      const axis = axisOf(columns.flat(), scale, ceiling);
      const x = (i) => span[0] + ((span[1] - span[0]) * i) / Math.max(xMax, 1);
      const y = (v) =>
        v > ceiling ? top : height - bottom - (height - bottom - top) * axis.share(v);
      grid.replaceChildren(...ticks(axis, x, y, [first, first + xMax]));
      series.forEach(({ key }, i) => {
        const line = values[key] ?? [];
        lines[i].setAttribute("d", pathOf(line, x, y));
        place(
          dots[i],
          x(step),
          y(line[step]),
          line[step] <= ceiling && Number.isFinite(y(line[step])),
        );
      });
      place(cursor, x(step), null, true);
      svg.setAttribute("aria-label", `${title}. ${summary(values, step)}`);
      setText(note, text);
    },
  };
}

/** A line as it is drawn, for a legend. */
export const sample = (tone, dash) =>
  h(
    "svg",
    { viewBox: "0 0 26 8", class: "r1-sample", "aria-hidden": "true" },
    h("line", {
      x1: 1,
      x2: 25,
      y1: 4,
      y2: 4,
      class: `r1-line r1-${tone}`,
      "stroke-dasharray": dash ?? null,
    }),
  );

function labels(xLabel, yLabel) {
  const { width, height, left, right, top, bottom } = SIZE;
  const middle = (top + height - bottom) / 2;
  return [
    h("text", { x: (left + width - right) / 2, y: height - 3, class: "r1-axis-label" }, xLabel),
    h(
      "text",
      { x: 10, y: middle, transform: `rotate(-90 10 ${middle})`, class: "r1-axis-label" },
      yLabel,
    ),
  ];
}

function place(mark, x, y, visible) {
  mark.style.display = visible ? "" : "none";
  if (!visible) return;
  const [across, down] = y === null ? [["x1", "x2"], []] : [["cx"], ["cy"]];
  for (const name of across) mark.setAttribute(name, x);
  for (const name of down) mark.setAttribute(name, y);
}

/** Bounds that hold what is drawn, and round numbers to mark on them. */
export function axisOf(values, scale, ceiling = Infinity) {
  const log = scale === "log";
  const shown = values.filter((v) => Number.isFinite(v) && v <= ceiling && (!log || v > 0));
  if (shown.length === 0) shown.push(log ? 0.01 : 0, 1);
  let low = shown.reduce((a, b) => Math.min(a, b));
  let high = shown.reduce((a, b) => Math.max(a, b));
  if (log) {
    low = 10 ** Math.floor(Math.log10(low));
    high = Math.max(10 ** Math.ceil(Math.log10(high)), 10 * low);
    const share = (v) => Math.log(v / low) / Math.log(high / low);
    return { share, marks: decades(low, high), format: (v) => power(Math.log10(v)) };
  }
  const pad = 0.06 * (high - low || Math.abs(high) || 1);
  [low, high] = [low - pad, high + pad];
  const share = (v) => (v - low) / (high - low);
  return { share, marks: round(low, high), format: (v) => String(v).replace("-", "−") };
}

function decades(low, high) {
  const [a, b] = [Math.round(Math.log10(low)), Math.round(Math.log10(high))];
  const stride = Math.ceil((b - a) / 4);
  return Array.from({ length: Math.floor((b - a) / stride) + 1 }, (_, i) => 10 ** (a + i * stride));
}

/** Round numbers from `low` to `high`, at least `least` apart. */
export function round(low, high, least = 0) {
  const raw = (high - low) / 4;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const stride = Math.max(least, [1, 2, 5, 10].find((m) => m * unit >= raw) * unit);
  const first = Math.ceil(low / stride);
  const n = Math.floor(high / stride) - first + 1;
  return Array.from({ length: n }, (_, i) => Number(((first + i) * stride).toPrecision(6)));
}

const superscript = (n) =>
  String(n).replace(/./g, (c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"["0123456789".indexOf(c)] ?? "⁻");

/** 10 to the (rounded) power n, written with superscript digits. */
export const power = (n) => `10${superscript(Math.round(n))}`;

function ticks(axis, x, y, [from, to]) {
  const { width, right, left, height, bottom } = SIZE;
  const across = axis.marks.flatMap((v) => [
    h("line", { x1: left, x2: width - right, y1: y(v), y2: y(v) }),
    h("text", { x: left - 5, y: y(v) + 3.5, "text-anchor": "end" }, axis.format(v)),
  ]);
  const along = round(from, to, 1).map((v) =>
    h("text", { x: x(v - from), y: height - bottom + 12, "text-anchor": "middle" }, String(v)),
  );
  return [...across, ...along];
}

function pathOf(values, x, y) {
  const stride = Math.max(1, Math.ceil(values.length / DRAWN));
  let path = "";
  let open = false;
  const add = (i) => {
    const drawn = values[i] !== null && Number.isFinite(y(values[i]));
    if (drawn) path += `${open ? "L" : "M"}${x(i).toFixed(1)} ${y(values[i]).toFixed(1)}`;
    open = drawn;
  };
  for (let i = 0; i < values.length - 1; i += stride) add(i);
  if (values.length > 0) add(values.length - 1);
  return path;
}
