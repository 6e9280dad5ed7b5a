// A plane with arrows, dots and handles.
import { clipped } from "./clip.js";
import { h } from "./dom.js";
import { createGrips } from "./grips.js";
import { bounded } from "./number.js";
import { placed } from "./words.js";

/** @import { Grip } from "./grips.js" */
/** @import { Point, Space } from "./handle.js" */

/**
 * A straight line or arrow between two points, or a closed line through all points. Nothing leaves the plane: a
 * straight line that would leave it ends at its edge with a head, or without one if it is `endless`.
 *
 * @typedef {{ tone: string, dash?: string, width?: number }} Stroke
 * @typedef {Stroke & { from: Point, to: Point, head?: boolean, endless?: boolean }} Arrow
 * @typedef {Stroke & { points: Point[] }} Loop
 * @typedef {{ at: Point, tone: string, r?: number, hollow?: boolean }} Dot
 * @typedef {{ at: Point, text: string, tone: string, dx?: number, dy?: number }} Word
 * @typedef {{ lines?: (Arrow | Loop)[], dots?: Dot[], handles?: Grip[], texts?: Word[] }} Scene
 */

const SIZE = 320;
const ALONG = [0.25, 0.4, 0.55, 0.7, 0.85];

/**
 * The square from −reach to reach along both axes: its side and scale in pixels, its coordinates, and grid lines at
 * whole numbers. A coordinate beyond ±`far` is drawn at ±`far`.
 *
 * @param {number} reach
 * @param {number} [far]
 */
export function square(reach, far = Number.POSITIVE_INFINITY) {
  const scale = SIZE / (2 * reach);
  /** @param {number} v */
  const clamped = (v) => bounded(v, -far, far);
  /** @type {Space} */
  const space = {
    toPixel: ([x, y]) => [SIZE / 2 + scale * clamped(x), SIZE / 2 - scale * clamped(y)],
    toData: ([px, py]) => [(px - SIZE / 2) / scale, (SIZE / 2 - py) / scale],
  };
  return { size: SIZE, scale, space, grid: wholeLines(reach, space) };
}

/**
 * Coordinates run from −reach to reach; `onMove(id, [x, y])` is called while a handle moves. The handles of a group
 * share one tab stop; Page Up and Page Down go through them.
 *
 * @param {{ label: string, reach: number, onMove(id: string, at: Point): void }} options
 */
export function plane({ label, reach, onMove }) {
  const { space, grid } = square(reach);
  const drawing = h("g", { "aria-hidden": "true" });
  const marks = h("g", { "aria-hidden": "true", class: "r1-plane-marks" });
  const svg = h(
    "svg",
    { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "r1-plane", role: "group", "aria-label": label },
    grid,
    drawing,
  );
  const bounds = /** @type {Point} */ ([-reach, reach]);
  const grips = createGrips({ svg, space, x: bounds, y: bounds, onMove });
  svg.append(grips.element, marks);
  return {
    element: svg,
    /** @param {Scene} scene */
    show({ lines = [], dots = [], handles = [], texts = [] }) {
      const strokes = lines.flatMap((line) =>
        "points" in line ? loop(line, space) : within(line, reach, space),
      );
      const visible = dots.filter(({ at }) => Math.max(...at.map(Math.abs)) <= reach);
      drawing.replaceChildren(...strokes, ...visible.map((dot) => disc(dot, space)));
      const named = texts.map((text) => ({ ...text, at: space.toPixel(inside(text.at, reach)) }));
      const covered = [...visible, ...handles]
        .map(({ at }) => at)
        .concat(lines.flatMap(alongArrow));
      const places = placed(named, covered.map(space.toPixel), SIZE);
      marks.replaceChildren(...named.map((text, i) => word(text, places[i])));
      grips.show(handles);
    },
  };
}

/** @type {(dot: Dot, space: Space) => SVGElement} */
function disc({ at, r = 3.5, tone, hollow = false }, space) {
  const [cx, cy] = space.toPixel(at);
  return h("circle", { cx, cy, r, class: `r1-disc r1-${tone}${hollow ? " r1-hollow" : ""}` });
}

/** @type {(word: Pick<Word, "text" | "tone">, place: Point) => SVGElement} */
const word = ({ text, tone }, [x, y]) =>
  h("text", { x, y, class: `r1-plane-text r1-${tone}` }, text);

/** @type {(at: Point, reach: number) => Point} */
const inside = ([x, y], reach) => [bounded(x, -reach, reach), bounded(y, -reach, reach)];

/**
 * Points along an arrow, which words should not cover.
 *
 * @type {(line: Arrow | Loop) => Point[]}
 */
const alongArrow = (line) =>
  "points" in line || !line.head
    ? []
    : ALONG.map((s) => [
        (1 - s) * line.from[0] + s * line.to[0],
        (1 - s) * line.from[1] + s * line.to[1],
      ]);

/** @type {(line: Arrow, reach: number, space: Space) => SVGElement[]} */
function within({ endless = false, head = false, ...line }, reach, space) {
  const part = clipped(line.from, line.to, reach);
  if (!part) return [];
  const { from, to, cut } = part;
  return arrow({ ...line, from, to, head: head || (cut && !endless) }, space);
}

/** @param {Stroke} stroke */
const styled = ({ tone, dash, width }) => ({
  class: `r1-line r1-${tone}`,
  "stroke-dasharray": dash ?? null,
  style: width ? `stroke-width:${width}` : null,
});

/** @type {(loop: Loop, space: Space) => SVGElement[]} */
function loop({ points, ...stroke }, space) {
  const corners = points.map((p) =>
    space
      .toPixel(p)
      .map((v) => v.toFixed(1))
      .join(" "),
  );
  return [h("path", { ...styled(stroke), d: `M${corners.join("L")}Z` })];
}

/** @type {(arrow: Arrow, space: Space) => SVGElement[]} */
function arrow({ from, to, head = false, ...stroke }, space) {
  const [[x1, y1], [x2, y2]] = [space.toPixel(from), space.toPixel(to)];
  const line = h("line", { ...styled(stroke), x1, y1, x2, y2 });
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (!head || length <= 4) return [line];
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const size = Math.min(9, length);
  /** @param {number} side */
  const corner = (side) =>
    `${x2 - size * ux + side * 0.45 * size * uy} ${y2 - size * uy - side * 0.45 * size * ux}`;
  const d = `M${x2} ${y2}L${corner(1)}L${corner(-1)}Z`;
  return [line, h("path", { class: `r1-head r1-${stroke.tone}`, d })];
}

/** @type {(reach: number, space: Space) => SVGElement} */
function wholeLines(reach, space) {
  const whole = Array.from({ length: 2 * Math.floor(reach) + 1 }, (_, i) => i - Math.floor(reach));
  const lines = whole.flatMap((v) => {
    const [[x1, y1], [x2, y2]] = [space.toPixel([v, -reach]), space.toPixel([v, reach])];
    const [[x3, y3], [x4, y4]] = [space.toPixel([-reach, v]), space.toPixel([reach, v])];
    const style = v === 0 ? "r1-origin" : null;
    return [
      h("line", { x1, y1, x2, y2, class: style }),
      h("line", { x1: x3, y1: y3, x2: x4, y2: y4, class: style }),
    ];
  });
  return h("g", { class: "r1-axes", "aria-hidden": "true" }, lines);
}
