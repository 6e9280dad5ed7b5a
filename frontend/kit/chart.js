// The line chart: series over two axes, a cursor, a legend, and room for handles and marks.
import { axisAround, axisBetween, roundNumbers } from "./axis.js";
import { h, setAttributes, setText } from "./dom.js";
import { line } from "./line.js";

/** @import { Axis, Scale } from "./axis.js" */
/** @import { Point, Space } from "./handle.js" */

/** @typedef {{ width: number, height: number, left: number, right: number, top: number, bottom: number }} Frame */
/**
 * A series, as its pen reads it. A series without a label is not in the legend; a `rare` series is in the legend only
 * while it has points.
 *
 * @typedef {{
 *   key: string,
 *   label?: string,
 *   tone: string,
 *   dash?: string,
 *   wide?: boolean,
 *   r?: number,
 *   rare?: boolean,
 *   pen?: Pen,
 * }} Series
 */
/**
 * Creates the drawing of a series. `draw` gets the points of the series in pixels (null is a gap) and `at`, the point
 * where the cursor crosses it (or null); `sample` is for the legend.
 *
 * @typedef {(series: Series) => {
 *   parts: Element[],
 *   sample: Element,
 *   draw(points: (Point | null)[], frame: Frame, at: Point | null): void,
 * }} Pen
 */
/**
 * An axis: its label, its scale ("count" for whole numbers), and its marks if they are not to be computed.
 *
 * @typedef {{ label: string, scale?: Scale | "count", marks?: number[] }} AxisOptions
 */
/** @typedef {[x: number, y: number | null][]} Data */
/**
 * The contents of a chart: the lines by the keys of their series; the ends of the axes (without `y`, they enclose the
 * lines); a cursor with the values on it; the `summary` for screen readers, and a note under the chart.
 *
 * @typedef {{
 *   lines: Record<string, Data>,
 *   x: Point,
 *   y?: Point | null,
 *   cursor?: { at: number, on?: Record<string, number | null | undefined> } | null,
 *   summary?: string,
 *   note?: string,
 * }} Drawing
 */
/** @typedef {{ under: SVGGElement, space: Space, frame: Frame }} Canvas */

/** @type {Frame} */
const FRAME = { width: 360, height: 210, left: 52, right: 12, top: 10, bottom: 32 };

/**
 * `frame` overrides the drawing's { width, height, left, … }; values above `ceiling` are drawn along the top edge.
 * With `interactive`, handles may be appended to `svg` and placed by `space`.
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
export function chart({ title, caption = true, x, y, series, interactive = false, ...options }) {
  const { ceiling = Number.POSITIVE_INFINITY } = options;
  const frame = { ...FRAME, ...options.frame };
  const { width, height, top, bottom } = frame;
  let axes = { x: axisBetween([0, 1]), y: axisBetween([0, 1]) };
  const space = spaceOf(frame, () => axes);
  const grid = h("g", { class: "r1-axes" });
  const under = h("g");
  const cursor = h("line", { class: "r1-cursor", y1: top, y2: height - bottom });
  const drawn = series.map((one) => withEntry(one));
  const body = h("g", { class: "r1-xy" }, under, cursor);
  body.append(...drawn.flatMap(({ parts }) => parts));
  const picture = h("g", {}, grid, body, axisLabels(x.label, y.label, frame));
  const svg = h("svg", { viewBox: `0 0 ${width} ${height}` }, picture);
  const heard = interactive ? picture : svg;
  if (interactive) setAttributes(svg, { role: "group", "aria-label": title });
  setAttributes(heard, { role: "img", "aria-label": title });
  const note = h("p", { class: "r1-plot-note" });
  const legend = h("ul", { class: "r1-legend" });
  legend.append(...drawn.flatMap(({ entry }) => entry ?? []));
  drawn.forEach(({ entry }, i) => {
    if (entry) entry.hidden = Boolean(series[i].rare); // the others show at once, so that drawing them moves nothing
  });

  /** @type {(at: Data[number]) => Point | null} */
  function place([across, up]) {
    if (up === null) return null;
    const [px, py] = space.toPixel([across, up]);
    if (up > ceiling) return [px, top];
    if (!Number.isFinite(px + py)) return null;
    return [px, Math.max(-height, Math.min(2 * height, py))];
  }

  /** @type {(drawing: Drawing) => typeof axes} */
  function axesOf({ lines, x: ends, y: heights }) {
    const scale = y.scale === "log" ? "log" : "linear";
    const values = Object.values(lines).flatMap((data) => data.flatMap(([, v]) => v ?? []));
    const [across, up] = [
      axisBetween(ends, x.scale === "log" ? "log" : "linear"),
      heights ? axisBetween(heights, scale) : axisAround(values, scale, ceiling),
    ];
    const counts = x.scale === "count" ? roundNumbers(ends[0], ends[1], 1) : null;
    return {
      x: { ...across, marks: x.marks ?? counts ?? across.marks },
      y: { ...up, marks: y.marks ?? up.marks },
    };
  }

  return {
    element: h(
      "figure",
      { class: "r1-plot" },
      caption ? h("figcaption", {}, title) : null,
      svg,
      legend,
      note,
    ),
    svg,
    space,
    under,
    frame,
    /** @param {Drawing} drawing */
    draw(drawing) {
      const { lines, cursor: shown, summary } = drawing;
      axes = axesOf(drawing);
      grid.replaceChildren(...gridLines(axes, space, frame, x.scale !== "count"));
      cursor.style.display = shown ? "" : "none";
      if (shown) {
        const [px] = space.toPixel([shown.at, 0]);
        setAttributes(cursor, { x1: px, x2: px });
      }
      series.forEach(({ key }, i) => {
        const data = lines[key] ?? [];
        const on = shown?.on?.[key] ?? null;
        const isSeen = shown && on !== null && on <= ceiling;
        drawn[i].draw(data.map(place), frame, isSeen ? place([shown.at, on]) : null);
        const { entry } = drawn[i];
        if (entry && series[i].rare) entry.hidden = data.length === 0;
      });
      heard.setAttribute("aria-label", summary ? `${title}. ${summary}` : title);
      setText(note, drawing.note ?? "");
    },
  };
}

/**
 * The drawing of a series, and its entry in the legend (null without a label).
 *
 * @param {Series} series
 */
function withEntry(series) {
  const pen = (series.pen ?? line)(series);
  const entry = series.label ? h("li", {}, pen.sample, h("span", {}, series.label)) : null;
  return { ...pen, entry };
}

/**
 * The coordinates of a frame, by the axes that it has at the time of each call.
 *
 * @type {(frame: Frame, axes: () => { x: Axis, y: Axis }) => Space}
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
 * The labels of the axes. The label of y starts at the edge at every letter size, because narrow pages enlarge letters.
 *
 * @type {(x: string, y: string, frame: Frame) => SVGElement[]}
 */
function axisLabels(x, y, { width, height, left, right, top, bottom }) {
  const middle = (top + height - bottom) / 2;
  const turned = { x: 1, y: middle, dy: "0.8em", transform: `rotate(-90 1 ${middle})` };
  return [
    h("text", { x: (left + width - right) / 2, y: height - 4, class: "r1-axis-label" }, x),
    h("text", { ...turned, class: "r1-axis-label" }, y),
  ];
}

/**
 * The lines of the grid with their numbers, which do not touch the axes at any letter size.
 *
 * @type {(axes: { x: Axis, y: Axis }, space: Space, frame: Frame, ruled: boolean) => SVGElement[]}
 */
function gridLines(axes, space, { width, right, left, height, bottom, top }, ruled) {
  const across = axes.y.marks.flatMap((v) => {
    const [, py] = space.toPixel([0, v]);
    return [
      h("line", { x1: left, x2: width - right, y1: py, y2: py }),
      h("text", { x: left - 5, y: py, dy: "0.32em", "text-anchor": "end" }, axes.y.format(v)),
    ];
  });
  const along = axes.x.marks.flatMap((v) => {
    const [px] = space.toPixel([v, 0]);
    const rule = ruled ? [h("line", { x1: px, x2: px, y1: top, y2: height - bottom })] : [];
    const at = { x: px, y: height - bottom + 3, dy: "0.8em", "text-anchor": "middle" };
    return [...rule, h("text", at, axes.x.format(v))];
  });
  return [...across, ...along];
}
