// The line chart: lines and dots over two axes, upright marks, a cursor, a legend, and room for handles.
import { axisAround, axisBetween, roundNumbers } from "./axis.js";
import { h, setAttributes, setText } from "./dom.js";

/** @import { Axis, Scale } from "./axis.js" */
/** @import { Point, Space } from "./handle.js" */

/** @typedef {{ width: number, height: number, left: number, right: number, top: number, bottom: number }} Frame */
/**
 * A line, or dots of radius `r`. Without a label it is not in the legend; a `rare` one is there only while it is drawn.
 *
 * @typedef {{
 *   key: string,
 *   label?: string,
 *   tone: string,
 *   dash?: string,
 *   wide?: boolean,
 *   dots?: boolean,
 *   r?: number,
 *   rare?: boolean,
 * }} Series
 */
/**
 * What an axis shows: its words, its scale ("count" for what is numbered), and its marks where they are chosen.
 *
 * @typedef {{ label: string, scale?: Scale | "count", marks?: number[] }} AxisOptions
 */
/** @typedef {{ at: number, tone: string, label?: string | null }} Mark */
/** @typedef {Record<string, [number, number | null][]>} Lines */
/**
 * Lines by the key of their series; the ends of the axes (of y: what is drawn, where there are none); a cursor with a
 * dot on each line; what a screen reader hears, and a note under the chart.
 *
 * @typedef {{
 *   lines: Lines,
 *   x: Point,
 *   y?: Point | null,
 *   marks?: Mark[],
 *   cursor?: { at: number, on?: Record<string, number | null | undefined> } | null,
 *   summary?: string,
 *   note?: string,
 * }} Drawing
 */

/** @type {Frame} */
const FRAME = { width: 360, height: 210, left: 52, right: 12, top: 10, bottom: 32 };
const LATE = 120; // from the right edge on, a mark's words stand at its left

/**
 * `frame` overrides the drawing's { width, height, left, … }; what exceeds `ceiling` is drawn along the top edge.
 * With `interactive`, handles are appended to `svg` and placed by `space`.
 *
 * @param {{
 *   title: string,
 *   caption?: boolean,
 *   x: AxisOptions,
 *   y: AxisOptions,
 *   series: Series[],
 *   ceiling?: number,
 *   frame?: Partial<Frame>,
 *   interactive?: boolean,
 * }} options
 */
export function chart({
  title,
  caption = true,
  x,
  y,
  series,
  ceiling = Number.POSITIVE_INFINITY,
  frame: own = {},
  interactive = false,
}) {
  const frame = { ...FRAME, ...own };
  const { width, height, top, bottom } = frame;
  const grid = h("g", { class: "r1-axes" });
  const marked = h("g");
  const cursor = h("line", { class: "r1-cursor", y1: top, y2: height - bottom });
  const drawn = series.map((one) => createSeries(one));
  const body = h(
    "g",
    { class: "r1-xy" },
    marked,
    cursor,
    drawn.map((one) => one.parts),
  );
  const picture = h("g", {}, grid, body, axisLabels(x.label, y.label, frame));
  const svg = h("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" }, picture);
  const heard = interactive ? picture : svg;
  if (interactive) {
    setAttributes(svg, { role: "group", "aria-label": title });
    picture.setAttribute("role", "img");
  }
  heard.setAttribute("aria-label", title);
  const note = h("p", { class: "r1-plot-note" });
  let axes = { x: axisBetween([0, 1]), y: axisBetween([0, 1]) };
  const space = spaceOf(frame, () => axes);
  /** @type {(at: [number, number | null]) => Point | null} */
  const place = ([across, up]) => {
    if (up === null) return null;
    const [px, py] = space.toPixel([across, up]);
    if (up > ceiling) return [px, top];
    return Number.isFinite(px) && Number.isFinite(py)
      ? [px, Math.max(-height, Math.min(2 * height, py))]
      : null;
  };
  return {
    element: h(
      "figure",
      { class: "r1-plot" },
      caption ? h("figcaption", {}, title) : null,
      svg,
      h(
        "ul",
        { class: "r1-legend" },
        drawn.map((one) => one.entry),
      ),
      note,
    ),
    svg,
    space,
    /** @param {Drawing} drawing */
    draw({ lines, x: ends, y: heights = null, marks = [], cursor: at = null, ...words }) {
      const values = Object.values(lines).flatMap((points) =>
        points.map(([, v]) => v ?? Number.NaN),
      );
      const scale = y.scale === "log" ? "log" : "linear";
      axes = {
        x: axisBetween(ends, x.scale === "log" ? "log" : "linear"),
        y: heights ? axisBetween(heights, scale) : axisAround(values, scale, ceiling),
      };
      if (x.scale === "count") axes.x.marks = roundNumbers(ends[0], ends[1], 1);
      if (x.marks) axes.x.marks = x.marks;
      if (y.marks) axes.y.marks = y.marks;
      grid.replaceChildren(...gridLines(axes, space, frame, x.scale !== "count"));
      marked.replaceChildren(...marks.flatMap((mark) => upright(mark, space, frame)));
      cursor.style.display = at ? "" : "none";
      if (at) {
        const [px] = space.toPixel([at.at, 0]);
        setAttributes(cursor, { x1: px, x2: px });
      }
      series.forEach(({ key }, i) => {
        const on = at?.on?.[key] ?? null;
        const spot = at && on !== null && on <= ceiling ? place([at.at, on]) : null;
        drawn[i].draw(lines[key] ?? [], place, frame, spot);
      });
      heard.setAttribute("aria-label", words.summary ? `${title}. ${words.summary}` : title);
      setText(note, words.note ?? "");
    },
  };
}

/**
 * A frame's coordinates, whatever axes it has at the time.
 *
 * @param {Frame} frame
 * @param {() => { x: Axis, y: Axis }} axes
 * @returns {Space}
 */
function spaceOf({ width, height, left, right, top, bottom }, axes) {
  const [across, up] = [width - left - right, height - bottom - top];
  return {
    toPixel: ([x, y]) => [
      left + across * axes().x.share(x),
      height - bottom - up * axes().y.share(y),
    ],
    toData: ([px, py]) => [
      axes().x.value((px - left) / across),
      axes().y.value((height - bottom - py) / up),
    ],
  };
}

/**
 * One series' elements, and its entry in the legend.
 *
 * @param {Series} series
 */
function createSeries({ label, tone, dash, wide = false, dots = false, r = 3, rare = false }) {
  const line = h("path", lineStyle(tone, dash, wide));
  const cloud = h("g");
  const spot = h("circle", { class: `r1-dot r1-${tone}`, r: 3 });
  const entry = label
    ? h("li", {}, dots ? dotSample(tone) : lineSample(tone, dash, wide), h("span", {}, label))
    : null;
  return {
    parts: dots ? cloud : [line, spot],
    entry,
    /** @type {(points: [number, number | null][], place: (at: [number, number | null]) => Point | null, frame: Frame, at: Point | null) => void} */
    draw(points, place, { height, top, bottom }, at) {
      const placed = points.map(place);
      if (entry && rare) entry.hidden = points.length === 0;
      if (!dots) {
        line.setAttribute("d", pathOf(placed));
        spot.style.display = at ? "" : "none";
        if (at) setAttributes(spot, { cx: at[0], cy: at[1] });
        return;
      }
      const inside = placed.filter((p) => p && p[1] >= top - 4 && p[1] <= height - bottom + 4);
      cloud.replaceChildren(...inside.flatMap((p) => (p ? [discAt(p, r, tone)] : [])));
    },
  };
}

/** @type {(p: Point, r: number, tone: string) => SVGCircleElement} */
const discAt = ([x, y], r, tone) =>
  h("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r, class: `r1-dot r1-${tone}` });

/**
 * A path through points in pixels, with a gap where there is none.
 *
 * @param {(Point | null)[]} points
 */
export function pathOf(points) {
  let path = "";
  let open = false;
  for (const point of points) {
    if (point) path += `${open ? "L" : "M"}${point[0].toFixed(1)} ${point[1].toFixed(1)}`;
    open = point !== null;
  }
  return path;
}

/** @type {(tone: string, dash?: string, wide?: boolean) => Record<string, string | null>} */
const lineStyle = (tone, dash, wide) => ({
  class: `r1-line r1-${tone}${wide ? " r1-wide-line" : ""}`,
  "stroke-dasharray": dash ?? null,
});

/** @type {(tone: string, dash?: string, wide?: boolean) => SVGSVGElement} */
const lineSample = (tone, dash, wide) =>
  h(
    "svg",
    { viewBox: "0 0 26 8", class: "r1-sample", "aria-hidden": "true" },
    h("line", { x1: 1, x2: 25, y1: 4, y2: 4, ...lineStyle(tone, dash, wide) }),
  );

/** @param {string} tone */
const dotSample = (tone) =>
  h(
    "svg",
    { viewBox: "0 0 12 12", class: "r1-sample", "aria-hidden": "true" },
    h("circle", { cx: 6, cy: 6, r: 4, class: `r1-dot r1-${tone}` }),
  );

/** @type {(x: string, y: string, frame: Frame) => SVGElement[]} */
function axisLabels(x, y, { width, height, left, right, top, bottom }) {
  const middle = (top + height - bottom) / 2;
  const turned = { x: 10, y: middle, transform: `rotate(-90 10 ${middle})` };
  return [
    h("text", { x: (left + width - right) / 2, y: height - 3, class: "r1-axis-label" }, x),
    h("text", { ...turned, class: "r1-axis-label" }, y),
  ];
}

/** @type {(axes: { x: Axis, y: Axis }, space: Space, frame: Frame, ruled: boolean) => SVGElement[]} */
function gridLines(axes, space, { width, right, left, height, bottom, top }, ruled) {
  const across = axes.y.marks.flatMap((v) => {
    const [, py] = space.toPixel([0, v]);
    return [
      h("line", { x1: left, x2: width - right, y1: py, y2: py }),
      h("text", { x: left - 5, y: py + 3.5, "text-anchor": "end" }, axes.y.format(v)),
    ];
  });
  const along = axes.x.marks.flatMap((v) => {
    const [px] = space.toPixel([v, 0]);
    const line = ruled ? [h("line", { x1: px, x2: px, y1: top, y2: height - bottom })] : [];
    const at = { x: px, y: height - bottom + 12, "text-anchor": "middle" };
    return [...line, h("text", at, axes.x.format(v))];
  });
  return [...across, ...along];
}

/** @type {(mark: Mark, space: Space, frame: Frame) => SVGElement[]} */
function upright({ at, tone, label }, space, { top, height, bottom, width, right }) {
  const [x] = space.toPixel([at, 0]);
  const ends = { x1: x, x2: x, y1: top, y2: height - bottom };
  const line = h("line", { ...ends, class: `r1-upright r1-${tone}` });
  if (!label) return [line];
  const late = x > width - right - LATE;
  const words = { x: x + (late ? -4 : 4), y: top + 10, "text-anchor": late ? "end" : "start" };
  return [line, h("text", words, label)];
}
