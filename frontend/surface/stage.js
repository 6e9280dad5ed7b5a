// The surface with the run on it, and two pictures beside it: the start, and the state at the step on show.

import { same } from "../kit/address.js";
import { h } from "../kit/dom.js";
import { handle } from "../kit/handle.js";
import { picture } from "../kit/imagewell.js";
import { percent } from "../kit/number.js";
import { captioned } from "../kit/readout.js";
import { isDark } from "../kit/theme.js";
import { toBytes } from "../math/patterns.js";
import { inside } from "./settings.js";
import { paintSurface } from "./surface.js";
import { createView, HIGH, WIDE } from "./view.js";

/** @import { Point, Space } from "../kit/handle.js" */
/** @import { Consequences, Settings, Stored } from "./settings.js" */
/** @import { View } from "./view.js" */

/**
 * The content on show. `veiled` is the part that would give the answer while the reader has yet to predict: the run,
 * or the surface together with the run.
 *
 * @typedef {{ settings: Settings, shown: Consequences, step: number, veiled: "run" | "surface" | null }} Now
 */

const REST = 160; // milliseconds without a change after which the surface is drawn finely
const STORED = 46; // side of a stored picture, in units of the drawing
const STATE = 54; // side of the state's picture, in units of the drawing
const STEM = 34; // length of the line from the surface to the picture above it
const RIM = 72; // points of the rim at which its height is computed
const TURN = 0.5; // degrees of turn per pixel of a drag

/**
 * The stage. `onMove` is called with the place to which the reader has moved the start, `onTurn` with the degrees by
 * which the surface is to be turned.
 *
 * @param {Stored} stored
 * @param {{ onMove(at: Point): void, onTurn(degrees: number): void }} on
 */
export function createStage({ names, pictures, side, reach }, on) {
  const canvas = h("canvas", { class: "r1-surface-ground", "aria-hidden": "true" });
  const svg = h("svg", {
    viewBox: `0 0 ${WIDE} ${HIGH}`,
    class: "r1-surface-hand",
    role: "group",
    "aria-label": "Energy over the plane of the three pictures: the start can be moved",
  });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const surface = document.createElement("canvas"); // a cache of the surface without the run
  const paint = /** @type {CanvasRenderingContext2D} */ (surface.getContext("2d"));
  const painted = { key: "", isFine: false };
  const start = picture({ label: "Start of the run", size: side });
  const state = picture({ label: "State on show", size: side });
  const tiles = pictures.vectors.map((vector) => tileOf(vector, side));
  const tile = tileOf(pictures.vectors[0], side);
  const figures = {
    start: captioned("Start", start.canvas, { below: true }),
    state: captioned("Now", state.canvas, { below: true }),
  };
  let timer = 0;
  let frame = 0;
  let view = createView({ reach, turn: 0, top: 1 });
  /** @type {Now | null} */
  let now = null;
  /** @type {Partial<Settings>} */
  let viewed = {};

  /** @param {Point} at */
  const height = (at) =>
    now && now.veiled !== "surface" ? now.shown.exact.energy(at) - now.shown.least : 0;
  /** The highest energy on the rim. */
  const top = () => {
    const rim = Array.from({ length: RIM }, (_, i) => (2 * Math.PI * i) / RIM);
    return Math.max(...rim.map((a) => height([reach * Math.cos(a), reach * Math.sin(a)])));
  };
  /** @type {Space} */
  const space = {
    toPixel: (at) => view.project(at, height(at)),
    toData: (pixel) => inside(view.hit(pixel, height), 0.95 * reach),
  };
  const bounds = /** @type {Point} */ ([-reach, reach]);
  const hand = handle({
    svg,
    space,
    x: bounds,
    y: bounds,
    step: [0.01, 0.01],
    id: "query",
    reach: 20,
    onMove: (at) => on.onMove(inside(at, 0.95 * reach)),
  });
  svg.append(hand.element);
  turnable(svg, on.onTurn);

  /** @param {boolean} isFine */
  function ground(isFine) {
    if (!now) return;
    const { settings } = now;
    const dark = isDark();
    const wide = canvasSize(canvas);
    if (now.veiled === "surface") return;
    const key = JSON.stringify([settings.beta, settings.turn, dark, wide]);
    if (key === painted.key && (painted.isFine || !isFine)) return;
    Object.assign(painted, { key, isFine });
    Object.assign(surface, { width: wide, height: Math.round((wide * HIGH) / WIDE) });
    paint.setTransform(wide / WIDE, 0, 0, wide / WIDE, 0, 0);
    paintSurface(paint, { height, reach, view, isDark: dark, isFine });
  }

  function draw() {
    if (!now) return;
    const wide = canvasSize(canvas);
    const high = Math.round((wide * HIGH) / WIDE);
    if (canvas.width !== wide || canvas.height !== high)
      Object.assign(canvas, { width: wide, height: high });
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    if (now.veiled !== "surface") context.drawImage(surface, 0, 0);
    context.setTransform(canvas.width / WIDE, 0, 0, canvas.width / WIDE, 0, 0);
    context.imageSmoothingEnabled = false;
    const style = getComputedStyle(canvas);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(`--r1-${name}`).trim();
    const pens = {
      ink: colour("ink"),
      run: colour("distributed"),
      rest: colour("local"),
      ground: colour("ground"),
    };
    const rests = now.veiled === "surface" ? [] : now.shown.rests;
    for (const at of rests) ring(context, space.toPixel(at), pens.rest);
    drawStored(context, pens.ink);
    if (!now.veiled) drawRun(context, now, pens);
  }

  /** @type {(context: CanvasRenderingContext2D, ink: string) => void} */
  function drawStored(context, ink) {
    const back = pictures.places.map((at, i) => ({ at, i }));
    back.sort((a, b) => view.depth(b.at) - view.depth(a.at));
    for (const { at, i } of back) {
      const [x, y] = space.toPixel(at);
      line(context, [x, y], [x, y - STEM], ink, 1);
      framed(context, tiles[i].canvas, [x - STORED / 2, y - STEM - STORED], STORED, ink);
    }
  }

  /** @type {(context: CanvasRenderingContext2D, now: Now, pens: { ink: string, run: string, ground: string }) => void} */
  function drawRun(context, { shown, step }, pens) {
    const { path, energies } = shown.run;
    const over = path.map((at, t) => view.project(at, Math.max(0, energies[t] - shown.least)));
    const under = path.map(space.toPixel);
    context.lineJoin = "round";
    line(context, under[0], over[0], pens.run, 1);
    for (const [points, width] of /** @type {const} */ ([
      [under, 1],
      [over, 2.4],
    ])) {
      context.beginPath();
      for (const point of points.slice(0, step + 1)) context.lineTo(...point);
      context.strokeStyle = pens.run;
      context.lineWidth = width;
      context.stroke();
    }
    line(context, under[step], over[step], pens.run, 1);
    const [x, y] = over[step];
    const left = x < WIDE / 2 ? x + 16 : x - 16 - STATE;
    framed(context, tile.canvas, [left, y - 6], STATE, pens.run, 2);
    marble(context, over[step], pens.run);
  }

  const resized = new ResizeObserver(() => {
    ground(true);
    draw();
  });
  resized.observe(canvas);

  return {
    element: h(
      "div",
      { class: "r1-surface-stage" },
      h("div", { class: "r1-surface" }, canvas, svg),
      h("div", { class: "r1-surface-pictures" }, figures.start.element, figures.state.element),
    ),
    /** @param {Now} next */
    show(next) {
      const { settings, shown, step, veiled } = next;
      now = next;
      if (!same(settings, viewed)) {
        viewed = settings;
        view = createView({ reach, turn: settings.turn, top: top() });
      }
      const { states } = shown.run;
      const at = veiled ? 0 : step;
      start.show(bytesOf(states[0]));
      state.show(bytesOf(states[at]));
      tile.show(states[at]);
      figures.start.note(startInWords(settings, names));
      figures.state.note(veiled ? "hidden" : `step ${at}`);
      state.say(veiled ? "State on show: hidden" : `State after step ${at}`);
      hand.place({
        at: shown.run.path[0],
        name: "Start of the run",
        tone: "distributed",
        r: 7,
      });
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        ground(false);
        draw();
      });
      clearTimeout(timer);
      timer = Number(
        setTimeout(() => {
          ground(true);
          draw();
        }, REST),
      );
    },
    redraw() {
      ground(true);
      draw();
    },
    close() {
      resized.disconnect();
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    },
  };
}

/** @type {(settings: Settings, names: string[]) => string} */
function startInWords({ start, from, covered }, names) {
  if (start === "blend") return "a blend";
  return `${names[from]}, ${percent(covered)} grey`;
}

/** @param {Float64Array} state */
const bytesOf = (state) => toBytes(Float32Array.from(state), new Uint8ClampedArray(state.length));

/** @param {HTMLCanvasElement} canvas */
const canvasSize = (canvas) =>
  Math.min(1400, Math.round((canvas.clientWidth || WIDE) * Math.min(2, devicePixelRatio)));

/**
 * A picture on a canvas outside the page, which is copied into the drawing.
 *
 * @type {(vector: Float64Array, side: number) => ReturnType<typeof picture> & { show(state: Float64Array): void }}
 */
function tileOf(vector, side) {
  const small = picture({ label: "", size: side });
  const show = (/** @type {Float64Array} */ state) => small.show(bytesOf(state));
  show(vector);
  return { ...small, show };
}

/** @type {(context: CanvasRenderingContext2D, from: Point, to: Point, colour: string, width: number) => void} */
function line(context, from, to, colour, width) {
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke();
}

/** @type {(context: CanvasRenderingContext2D, image: HTMLCanvasElement, at: Point, size: number, colour: string, width?: number) => void} */
function framed(context, image, [x, y], size, colour, width = 1) {
  context.drawImage(image, x, y, size, size);
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.strokeRect(x, y, size, size);
}

/** @type {(context: CanvasRenderingContext2D, at: Point, colour: string) => void} */
function ring(context, [x, y], colour) {
  context.beginPath();
  context.ellipse(x, y, 9, 7, 0, 0, 7);
  context.strokeStyle = colour;
  context.lineWidth = 2.2;
  context.stroke();
}

/** @type {(context: CanvasRenderingContext2D, at: Point, colour: string) => void} */
function marble(context, [x, y], colour) {
  context.beginPath();
  context.arc(x, y, 7, 0, 7);
  context.fillStyle = colour;
  context.fill();
  context.beginPath();
  context.arc(x - 2.2, y - 2.4, 2, 0, 7);
  context.fillStyle = "rgb(255 255 255 / 75%)";
  context.fill();
}

/**
 * Makes a drag across the background turn the surface. Drags of the handles are not affected.
 *
 * @param {SVGSVGElement} svg
 * @param {(degrees: number) => void} onTurn
 */
function turnable(svg, onTurn) {
  let last = 0;
  svg.addEventListener("pointerdown", (event) => {
    if (event.target !== svg) return;
    last = event.clientX;
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (event.target !== svg || !svg.hasPointerCapture(event.pointerId)) return;
    onTurn(TURN * (event.clientX - last));
    last = event.clientX;
  });
}
