// A small chart of y against x in SVG: either axis linear or logarithmic, lines and dots, upright marks.
import { h, setText } from "./dom.js";
import { axisOf, sample } from "./plot.js";

const SIZE = { width: 360, height: 210, left: 52, right: 12, top: 10, bottom: 32 };

/**
 * `size` overrides the drawing's { width, height, left, … }. series: [{ key, label, tone, dash, dots }], `dots` for points instead of a line; scales "linear" or "log".
 * draw({ data: { key: [[x, y], …] }, x: [from, to], y: [from, to] or none, marks: [{ at, tone, label }], summary }).
 */
export function xyplot({
  title,
  xLabel,
  yLabel,
  xScale = "linear",
  yScale = "linear",
  series,
  size = {},
}) {
  const frame = { ...SIZE, ...size };
  const { width, height, left, right, top, bottom } = frame;
  const grid = h("g", { class: "r1-axes" });
  const body = h("g", { class: "r1-xy" });
  const middle = (top + height - bottom) / 2;
  const svg = h(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title },
    grid,
    body,
    h("text", { x: (left + width - right) / 2, y: height - 3, class: "r1-axis-label" }, xLabel),
    h(
      "text",
      { x: 10, y: middle, transform: `rotate(-90 10 ${middle})`, class: "r1-axis-label" },
      yLabel,
    ),
  );
  const note = h("p", { class: "r1-plot-note" });
  const legend = series
    .filter(({ label }) => label)
    .map(({ label, tone, dash, dots }) =>
      h("li", {}, dots ? spot(tone) : sample(tone, dash), h("span", {}, label)),
    );
  return {
    element: h(
      "figure",
      { class: "r1-plot" },
      h("figcaption", {}, title),
      svg,
      h("ul", { class: "r1-legend" }, legend),
      note,
    ),
    draw({ data, x, y = null, marks = [], summary = "", text = "" }) {
      const values = Object.values(data).flatMap((points) => points.map(([, v]) => v));
      const across = axis(x, xScale);
      const up = y ? axis(y, yScale) : axisOf(values, yScale);
      const px = (v) => left + (width - left - right) * across.share(v);
      const py = (v) =>
        Math.max(
          -height,
          Math.min(2 * height, height - bottom - (height - bottom - top) * up.share(v)),
        );
      grid.replaceChildren(...lines(across, up, px, py, frame));
      body.replaceChildren(
        ...marks.flatMap((mark) => upright(mark, px, frame)),
        ...series.flatMap((one) => drawn(one, data[one.key] ?? [], px, py, frame)),
      );
      svg.setAttribute("aria-label", `${title}. ${summary}`);
      setText(note, text);
    },
  };
}

/** An axis over exactly these ends; a logarithmic one is marked at powers of ten inside them. */
function axis([from, to], scale) {
  const { marks, format } = axisOf([from, to], scale);
  const inside = (v) => v >= from * (1 - 1e-9) - 1e-12 && v <= to * (1 + 1e-9) + 1e-12;
  const share =
    scale === "log"
      ? (v) => Math.log(v / from) / Math.log(to / from)
      : (v) => (v - from) / (to - from || 1);
  return { share, format, marks: marks.filter(inside) };
}

function lines(across, up, px, py, { width, right, left, height, bottom, top }) {
  return [
    ...up.marks.flatMap((v) => [
      h("line", { x1: left, x2: width - right, y1: py(v), y2: py(v) }),
      h("text", { x: left - 5, y: py(v) + 3.5, "text-anchor": "end" }, up.format(v)),
    ]),
    ...across.marks.flatMap((v) => [
      h("line", { x1: px(v), x2: px(v), y1: top, y2: height - bottom }),
      h("text", { x: px(v), y: height - bottom + 12, "text-anchor": "middle" }, across.format(v)),
    ]),
  ];
}

function upright({ at, tone, label }, px, { top, height, bottom, width, right }) {
  const x = px(at);
  const late = x > width - right - 120;
  const line = h("line", {
    x1: x,
    x2: x,
    y1: top,
    y2: height - bottom,
    class: `r1-upright r1-${tone}`,
  });
  if (!label) return [line];
  const anchor = late ? "end" : "start";
  return [line, h("text", { x: x + (late ? -4 : 4), y: top + 10, "text-anchor": anchor }, label)];
}

function drawn({ tone, dash, dots, r = 3 }, points, px, py, { top, height, bottom }) {
  const fits = points.filter(([x, y]) => Number.isFinite(px(x)) && Number.isFinite(py(y)));
  if (dots) {
    return fits
      .filter(([, y]) => py(y) >= top - 4 && py(y) <= height - bottom + 4)
      .map(([x, y]) =>
        h("circle", { cx: px(x).toFixed(1), cy: py(y).toFixed(1), r, class: `r1-dot r1-${tone}` }),
      );
  }
  const path = fits.map(([x, y]) => `${px(x).toFixed(1)} ${py(y).toFixed(1)}`).join("L");
  if (!path) return [];
  const attributes = { class: `r1-line r1-${tone}`, "stroke-dasharray": dash ?? null };
  return [h("path", { ...attributes, d: `M${path}` })];
}

const spot = (tone) =>
  h(
    "svg",
    { viewBox: "0 0 12 12", class: "r1-sample", "aria-hidden": "true" },
    h("circle", { cx: 6, cy: 6, r: 4, class: `r1-dot r1-${tone}` }),
  );
