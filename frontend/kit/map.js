// A map over two logarithmic axes: cells in colours, lines across them, and one point to drag or move by keys.
import { chart } from "./chart.js";
import { h, setAttributes } from "./dom.js";
import { handle } from "./handle.js";

/** @import { Series } from "./chart.js" */
/** @import { Point, Space } from "./handle.js" */

// matplotlib's cividis, told apart by eyes of every kind, from its bright end
const RAMP = [
  "fee838",
  "e1cc55",
  "c3b369",
  "a59c74",
  "8a8678",
  "707173",
  "575d6d",
  "3b496c",
  "123570",
  "00224e",
];

/**
 * A colour for a share from 0, bright, to 1, dark.
 *
 * @param {number} share
 */
export function shade(share) {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const [low, high] = [Math.floor(at), Math.ceil(at)].map((i) => Number.parseInt(RAMP[i], 16));
  const mixed = [16, 8, 0].map((bit) => {
    const [a, b] = [(low >> bit) & 255, (high >> bit) & 255];
    return Math.round(a + (b - a) * (at - Math.floor(at)));
  });
  return `rgb(${mixed.join(" ")})`;
}

/**
 * What a map shows: the middles of its columns and rows, what is known of its cells (null is nothing yet) and whether it
 * is firm, in which edition, the point with its words, another to compare with, and lines by their keys.
 *
 * @typedef {{
 *   xs: number[],
 *   ys: number[],
 *   edition: string,
 *   cell(column: number, row: number): { share: number, firm: boolean } | null,
 *   point: Point,
 *   words: string,
 *   ghost: Point | null,
 *   lines: Record<string, [x: number, y: number | null][]>,
 *   xLabel: string,
 *   summary: string,
 *   note: string,
 * }} Mapped
 */
/** @type {Record<string, Point>} */
const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const FASTER = 5;

/**
 * `onMove(at)` is told where the pointer wants the point, `onStep([right, up])` how many steps the keys do.
 *
 * @param {{
 *   title: string,
 *   name: string,
 *   y: string,
 *   series: Series[],
 *   onMove(at: Point): void,
 *   onStep(steps: Point): void,
 * }} options
 */
export function errorMap({ title, name, y, series, onMove, onStep }) {
  const drawn = chart({
    title,
    caption: false,
    x: { label: " ", scale: "log" },
    y: { label: y, scale: "log" },
    series,
    frame: { width: 360, height: 252, left: 40, right: 6, top: 6, bottom: 30 },
    interactive: true,
  });
  const { svg, space, under, frame } = drawn;
  const xLabel = /** @type {SVGElement} */ (svg.querySelector(".r1-axis-label"));
  const ghost = h("circle", { r: 7, class: "r1-ghost" });
  /** @type {Space} */
  const logs = {
    toPixel: ([x, up]) => space.toPixel([Math.exp(x), Math.exp(up)]),
    toData: (pixel) => /** @type {Point} */ (space.toData(pixel).map(Math.log)),
  };
  const far = /** @type {Point} */ ([-30, 30]); // the axes' ends, and what a setting may be, bound it
  const grip = handle({
    ...{ svg, space: logs, x: far, y: far, id: "map", reach: 20 },
    onMove: ([x, up]) => onMove([Math.exp(x), Math.exp(up)]),
  });
  svg.classList.add("r1-map");
  svg.append(ghost, grip.element);

  /** @type {(event: MouseEvent) => Point | null} */
  function inside(event) {
    const seen = svg.getScreenCTM();
    if (!seen) return null;
    const { x, y: down } = new DOMPoint(event.clientX, event.clientY).matrixTransform(
      seen.inverse(),
    );
    const { width, height, left, right, top, bottom } = frame;
    if (x < left || x > width - right || down < top || down > height - bottom) return null;
    return space.toData([x, down]);
  }

  svg.addEventListener("pointerdown", (event) => {
    const at = inside(event);
    if (!at || event.button !== 0 || event.pointerType === "touch") return;
    if (event.target instanceof Node && grip.element.contains(event.target)) return;
    event.preventDefault();
    onMove(at);
    grip.element.focus();
    grip.element.setPointerCapture(event.pointerId); // a press beside the point drags it from there
  });
  svg.addEventListener("click", (event) => {
    const at = inside(event);
    if (at && event instanceof PointerEvent && event.pointerType === "touch") onMove(at);
  });
  svg.addEventListener(
    "keydown",
    (event) => {
      const arrow = ARROWS[event.key];
      if (!arrow || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      const times = event.shiftKey ? FASTER : 1;
      onStep([times * arrow[0], times * arrow[1]]);
    },
    true,
  );

  /** @type {SVGRectElement[]} */
  let cells = [];
  let [grid, edition] = ["", ""];

  /** @param {Mapped} mapped */
  function place({ xs, ys }, /** @type {Point} */ x, /** @type {Point} */ up) {
    const wanted = JSON.stringify([xs, ys]);
    if (wanted === grid) return;
    grid = wanted;
    const [across, along] = [edges(xs, x), edges(ys, up)];
    cells = xs.flatMap((_, i) =>
      ys.map((_, j) => {
        const [left, bottom] = space.toPixel([across[i], along[j]]);
        const [right, top] = space.toPixel([across[i + 1], along[j + 1]]);
        const size = { width: right - left + 0.4, height: bottom - top + 0.4 };
        return h("rect", { x: left, y: top, ...size });
      }),
    );
    under.replaceChildren(...cells);
  }

  return {
    element: drawn.element,
    /** @param {Mapped} mapped */
    show(mapped) {
      const { xs, ys, cell, point, words, lines, summary, note } = mapped;
      const [x, up] = [endsOf(xs), endsOf(ys)];
      drawn.draw({ lines, x, y: up, summary, note });
      xLabel.textContent = mapped.xLabel;
      place(mapped, x, up);
      if (edition !== mapped.edition)
        cells.forEach((rect, n) => {
          const known = cell(Math.floor(n / ys.length), n % ys.length);
          setAttributes(rect, {
            fill: known ? shade(known.share) : "none",
            opacity: known?.firm ? 1 : 0.5,
          });
        });
      edition = mapped.edition;
      const at = clamped(point, x, up);
      grip.place({ at: /** @type {Point} */ (at.map(Math.log)), name, words, r: 8 });
      ghost.style.display = mapped.ghost ? "" : "none";
      if (mapped.ghost) {
        const [cx, cy] = space.toPixel(clamped(mapped.ghost, x, up));
        setAttributes(ghost, { cx, cy });
      }
    },
  };
}

/** @type {(point: Point, x: Point, y: Point) => Point} */
const clamped = ([x, y], [left, right], [low, high]) => [
  Math.min(right, Math.max(left, x)),
  Math.min(high, Math.max(low, y)),
];

/**
 * The ends of an axis whose cells have these middles.
 *
 * @param {number[]} middles
 * @returns {Point}
 */
function endsOf(middles) {
  const n = middles.length;
  return [middles[0] ** 1.5 / middles[1] ** 0.5, middles[n - 1] ** 1.5 / middles[n - 2] ** 0.5];
}

/** @type {(middles: number[], ends: Point) => number[]} */
const edges = (middles, [low, high]) => [
  low,
  ...middles.slice(1).map((v, i) => Math.sqrt(v * middles[i])),
  high,
];
