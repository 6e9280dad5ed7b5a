// A map over two logarithmic axes: cells in colours, lines across them, and one point to drag or move by keys.
import { chart } from "./chart.js";
import { h, setAttributes, setText, throttle } from "./dom.js";
import { handle } from "./handle.js";

/** @import { Series } from "./chart.js" */
/** @import { Point, Space } from "./handle.js" */

// matplotlib's cividis from its bright end: readers with any colour vision can distinguish its colours
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
 * The colour of a fraction from 0 (bright) to 1 (dark).
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

const THUMB = 16; // side of a cell's picture in pixels
const EDGE = 2; // pixels of the cell's colour around its picture
const OFTEN = 300; // milliseconds between two drawings of the pictures

/**
 * The contents of a map: its title; the middles of its columns and rows; for each cell, the fraction that sets its
 * colour (null if not known yet) and its picture; the `edition`, which differs whenever a cell has changed; the point
 * with its words; the `ghost`, a point to compare with; and lines by their keys.
 *
 * @typedef {{
 *   title: string,
 *   xs: number[],
 *   ys: number[],
 *   edition: string,
 *   cell(column: number, row: number): number | null,
 *   picture(column: number, row: number): Uint8Array | null,
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
const NARROW = { width: 360, height: 252, left: 40, right: 6, top: 6, bottom: 30 };
const WIDE = { ...NARROW, width: 756, height: 380 };

/**
 * `key` are the words at both ends of the colours; a `wide` map has room for pictures in its cells. `onMove(at)` is
 * called with the point that the pointer chooses, `onStep([right, up])` with the numbers of steps that the keys make.
 *
 * @param {{
 *   title: string,
 *   name: string,
 *   key: [low: string, high: string],
 *   wide: boolean,
 *   y: string,
 *   series: Series[],
 *   onMove(at: Point): void,
 *   onStep(steps: Point): void,
 * }} options
 */
export function errorMap({ title, name, key, wide, y, series, onMove, onStep }) {
  const drawn = chart({
    title,
    x: { label: " ", scale: "log" },
    y: { label: y, scale: "log" },
    series,
    frame: wide ? WIDE : NARROW,
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
  const far = /** @type {Point} */ ([-30, 30]); // in effect no bounds: the axes and the settings limit the point
  const grip = handle({
    ...{ svg, space: logs, x: far, y: far, id: "map", reach: 20 },
    onMove: ([x, up]) => onMove([Math.exp(x), Math.exp(up)]),
  });
  svg.classList.add("r1-map");
  const caption = /** @type {Element} */ (drawn.element.querySelector("figcaption"));
  svg.after(h("p", { class: "r1-map-key" }, key[0], rampOf(), key[1]));
  const thumbs = h("image", { preserveAspectRatio: "none", "aria-hidden": "true" });
  const sheet = h("canvas");
  const paint = throttle(paintThumbs, OFTEN);
  svg.append(ghost, grip.element);

  /** @type {(event: MouseEvent) => Point | null} */
  function inside(event) {
    const matrix = svg.getScreenCTM();
    if (!matrix) return null;
    const { x, y: down } = new DOMPoint(event.clientX, event.clientY).matrixTransform(
      matrix.inverse(),
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
    const signature = JSON.stringify([xs, ys]);
    if (signature === grid) return;
    grid = signature;
    const [across, along] = [edges(xs, x), edges(ys, up)];
    cells = xs.flatMap((_, i) =>
      ys.map((_, j) => {
        const [left, bottom] = space.toPixel([across[i], along[j]]);
        const [right, top] = space.toPixel([across[i + 1], along[j + 1]]);
        const size = { width: right - left + 0.4, height: bottom - top + 0.4 };
        return h("rect", { x: left, y: top, ...size });
      }),
    );
    under.replaceChildren(...cells, thumbs);
    const [left, top] = space.toPixel([x[0], up[1]]);
    const [right, bottom] = space.toPixel([x[1], up[0]]);
    setAttributes(thumbs, { x: left, y: top, width: right - left, height: bottom - top });
  }

  /**
   * Draws all pictures into one image, each with a clear border that shows the colour of its cell.
   *
   * @param {Mapped} mapped
   */
  function paintThumbs({ xs, ys, picture }) {
    const side = THUMB + 2 * EDGE;
    Object.assign(sheet, { width: side * xs.length, height: side * ys.length });
    const context = sheet.getContext("2d");
    let any = false;
    xs.forEach((_, column) => {
      ys.forEach((_, row) => {
        const bytes = picture(column, row);
        if (!context || !bytes) return;
        any = true;
        const at = [column * side + EDGE, (ys.length - 1 - row) * side + EDGE];
        drawBytes(context, bytes, at[0], at[1]);
      });
    });
    thumbs.setAttribute("href", any ? sheet.toDataURL() : "");
    thumbs.style.display = any ? "" : "none";
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
          const share = cell(Math.floor(n / ys.length), n % ys.length);
          rect.setAttribute("fill", share === null ? "none" : shade(share));
        });
      if (edition !== mapped.edition && wide) paint(mapped);
      setText(caption, mapped.title);
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

/** All colours of a map, from its bright end. */
function rampOf() {
  const [canvas, n] = [h("canvas", { class: "r1-ramp", "aria-hidden": "true" }), 60];
  Object.assign(canvas, { width: n, height: 1 });
  const context = canvas.getContext("2d");
  for (let i = 0; context && i < n; i++) {
    context.fillStyle = shade(i / (n - 1));
    context.fillRect(i, 0, 1, 1);
  }
  return canvas;
}

/**
 * Draws a square of bytes (height, width, colour), resized without smoothing to `THUMB`.
 *
 * @type {(context: CanvasRenderingContext2D, bytes: Uint8Array, x: number, y: number) => void}
 */
function drawBytes(context, bytes, x, y) {
  const side = Math.round(Math.sqrt(bytes.length / 3));
  const image = new ImageData(THUMB, THUMB);
  for (let i = 0; i < THUMB * THUMB; i++) {
    const row = Math.floor((Math.floor(i / THUMB) * side) / THUMB);
    const column = Math.floor(((i % THUMB) * side) / THUMB);
    for (let c = 0; c < 3; c++) image.data[4 * i + c] = bytes[3 * (row * side + column) + c];
    image.data[4 * i + 3] = 255;
  }
  context.putImageData(image, x, y);
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
