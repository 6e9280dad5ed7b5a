// The two rows of W as planes. Each shows the row's exact part of the loss as contours, the paths, their ends, and a
// start that the reader can drag.
import { h, setAttributes } from "../kit/dom.js";
import { handle } from "../kit/handle.js";
import { pathOf } from "../kit/line.js";
import { figures, fixed } from "../kit/number.js";
import { square } from "../kit/plane.js";
import { captioned } from "../kit/readout.js";
import { eigen2 } from "../math/linear.js";
import { EDGE } from "./settings.js";

/** @import { Point, Space } from "../kit/handle.js" */
/** @import { Matrix, Vector } from "../math/linear.js" */
/** @import { PathSeries } from "./charts.js" */
/** @import { Kind } from "./math/paths.js" */
/** @import { Problem } from "./math/problem.js" */

/** @typedef {{ reparameterised: Vector, explicit: Vector }} Ends */
/** @typedef {(key: Kind) => Vector[] | null} PathFinder */

const SPAN = 3.6; // both axes run from −SPAN to SPAN
const FAR = 30; // coordinates beyond this are clipped
const LEVELS = Array.from({ length: 10 }, (_, k) => 4 ** (k - 6));
const DOTS = 40; // number of first steps that are marked individually
const STRIDE = 0.1; // distance that one arrow key moves a start

export const KEY =
  "Contours of the loss, each 4 times the one inside; A is the second moment of the inputs. The cross is the minimum; blue and orange rings mark other ends. Drag the white starts.";

/**
 * Both planes, with the series in drawing order. `onStart(row, place)` is called when the reader moves the start of a
 * row.
 *
 * @param {PathSeries[]} series
 * @param {(row: number, place: Point) => void} onStart
 */
export function createPlanes(series, onStart) {
  const rows = [0, 1].map((row) => createPlane(row, series, (place) => onStart(row, place)));
  return {
    element: h(
      "div",
      { class: "r1-rows" },
      rows.map((plane) => plane.element),
      h("p", { class: "r1-muted r1-key" }, KEY),
    ),
    /** @type {(problem: Problem, ends: Ends) => void} */
    setGround: (problem, ends) => {
      for (const plane of rows) plane.setGround(problem, ends);
    },
    /**
     * Draws the paths that are shown, up to `step`.
     *
     * @type {(path: PathFinder, step: number) => void}
     */
    draw: (path, step) => {
      for (const plane of rows) plane.draw(path, step);
    },
  };
}

/** @type {(row: number, series: PathSeries[], onStart: (place: Point) => void) => { element: Element, setGround(problem: Problem, ends: Ends): void, draw(path: PathFinder, step: number): void }} */
function createPlane(row, series, onStart) {
  const name = row === 0 ? "First" : "Second";
  const { size, scale, space, grid } = square(SPAN, FAR);
  const contours = h("g", { class: "r1-contours" });
  const ends = h("g", { class: "r1-ends" });
  const marks = series.map((one) => createPath(one));
  const svg = h(
    "svg",
    {
      viewBox: `0 0 ${size} ${size}`,
      class: "r1-plane r1-row",
      role: "group",
      "aria-label": `${name} row of W: its share of the loss as contours, with the paths`,
    },
    contours,
    grid,
    wordsOn(space, size),
    marks.map(({ lines }) => lines),
    marks.map(({ head }) => head),
    ends,
  );
  const start = handle({
    svg,
    space,
    x: [-EDGE, EDGE],
    y: [-EDGE, EDGE],
    step: [STRIDE, STRIDE],
    reach: 24,
    onMove: ([x, y]) => onStart([Number(x.toFixed(2)), Number(y.toFixed(2))]),
  });
  svg.append(start.element);
  const { element, note } = captioned(`${name} row of W`, svg, {
    className: "r1-row-figure",
    below: true,
  });
  return {
    element,
    setGround({ A, D, w0, wStar, rest, full }, limits) {
      const curvature = D[row][row];
      const centre = rowOf(wStar, row);
      contours.replaceChildren(...ellipses(A, curvature, space.toPixel(centre), scale));
      start.place({ at: rowOf(w0, row), name: `Start of row ${row + 1}`, tone: "start", r: 8 });
      ends.replaceChildren(...endMarks(centre, limits, row, space));
      const off = Math.hypot(...rowOf(rest, row));
      note(
        full
          ? `Hessian ${figures(curvature, 2)} × A`
          : `fixed part W₀ − TU₀V: length ${fixed(off)}`,
      );
    },
    draw(path, step) {
      series.forEach(({ key }, i) => {
        const points = (path(key)?.slice(0, step + 1) ?? []).map((w) =>
          space.toPixel(rowOf(w, row)),
        );
        marks[i].draw(points);
      });
    },
  };
}

/**
 * The given row of the 2 × 2 matrix whose vec is w.
 *
 * @type {(w: Vector, row: number) => Point}
 */
const rowOf = (w, row) => [w[row], w[row + 2]];

/** @param {PathSeries} series */
function createPath({ tone, key, dash }) {
  const named = `r1-path-${key} r1-${tone}`;
  const line = h("path", { class: `r1-line r1-path ${named}`, "stroke-dasharray": dash ?? null });
  const dots = h("path", { class: `r1-dots ${named}` });
  const head = h("circle", { class: `r1-dot r1-${tone}`, r: key === "reparameterised" ? 6 : 4 });
  return {
    lines: [line, dots],
    head,
    /** @param {Point[]} points In pixels. */
    draw(points) {
      line.setAttribute("d", pathOf(points));
      const marked = points.slice(0, DOTS);
      dots.setAttribute("d", marked.map((p) => `${pathOf([p])}h0`).join(""));
      head.style.display = points.length > 0 ? "" : "none";
      if (points.length === 0) return;
      const [cx, cy] = points[points.length - 1];
      setAttributes(head, { cx: cx.toFixed(1), cy: cy.toFixed(1) });
    },
  };
}

/**
 * Contours of ½ g dᵀ A d around `centre`, in pixels: ellipses along the eigenvectors of A. `unit` is the number of
 * pixels per unit of d.
 *
 * @type {(A: Matrix, g: number, centre: Point, unit: number) => SVGElement[]}
 */
function ellipses(A, g, [cx, cy], unit) {
  const { values, vectors } = eigen2(A);
  const angle = (-180 * Math.atan2(vectors[0][1], vectors[0][0])) / Math.PI;
  const transform = `rotate(${angle} ${cx} ${cy})`;
  return LEVELS.toReversed().map((level) => {
    const [rx, ry] = values.map((value) => unit * Math.sqrt((2 * level) / (g * value)));
    return h("ellipse", { cx, cy, rx, ry, transform });
  });
}

/** @type {(space: Space, size: number) => SVGElement[]} */
const wordsOn = (space, size) =>
  [-2, 2].flatMap((v) => {
    const [px, py] = space.toPixel([v, v]);
    return [
      h("text", { x: px, y: size - 5, "text-anchor": "middle" }, figures(v)),
      h("text", { x: 5, y: py + 4 }, figures(v)),
    ];
  });

/**
 * A cross at the minimiser, and a ring at the end of the path on U, or of that with P, if it is elsewhere.
 *
 * @type {(centre: Point, limits: Ends, row: number, space: Space) => SVGElement[]}
 */
function endMarks(centre, limits, row, space) {
  const [px, py] = space.toPixel(centre);
  const d = `M${px - 6} ${py}H${px + 6}M${px} ${py - 6}V${py + 6}`;
  /** @type {(at: Point, tone: string, r: number) => SVGElement[]} */
  const ring = (at, tone, r) => {
    if (Math.hypot(at[0] - centre[0], at[1] - centre[1]) <= 0.01) return [];
    const [cx, cy] = space.toPixel(at);
    return [h("circle", { class: `r1-end r1-${tone}`, cx, cy, r })];
  };
  return [
    h("path", { class: "r1-minimiser", d }),
    ...ring(rowOf(limits.reparameterised, row), "exact", 9),
    ...ring(rowOf(limits.explicit, row), "distributed", 5),
  ];
}
