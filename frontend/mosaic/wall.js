// A wall of pictures: each picture is lit according to its weight, and the reader can choose any of them.
import { h } from "../kit/dom.js";
import { bounded } from "../kit/number.js";
import { BYTES, SIDE } from "./math/pictures.js";

/** @typedef {{ K: number, target: number, weights: Float32Array | null }} Shown */

const CELL = SIDE + 2; // pixels on a side of a picture with its margin
const DENSEST = 2; // device pixels per CSS pixel at most: a finer drawing looks the same
const UNLIT = 0.4; // opacity of the ink
const BRIGHT = 0.2; // brightness above which the ink of a picture is drawn again, over its light
const RINGED = 0.02; // weight from which a picture also gets a ring: one square is hard to find among thousands

/** The number of pictures in each row of a wall of K pictures. @param {number} K */
export const across = (K) => Math.ceil(Math.sqrt(K));

/** The brightness of a picture of weight p; a weight of one in a thousand is still visible. @param {number} p */
const light = (p) => Math.min(1, 1.6 * Math.cbrt(p));

/** @type {(element: Element, name: string) => string} */
const colour = (element, name) => getComputedStyle(element).getPropertyValue(`--r1-${name}`).trim();

/**
 * A canvas with the ink of the first K pictures, transparent where they have no ink.
 *
 * @type {(pixels: Uint8Array, K: number, ink: string) => HTMLCanvasElement}
 */
export function sheetOf(pixels, K, ink) {
  const n = across(K);
  const canvas = h("canvas", { width: n * CELL, height: n * CELL });
  const context = canvas.getContext("2d");
  if (!context) return canvas;
  const image = context.createImageData(n * CELL, n * CELL);
  for (let m = 0; m < K; m++) {
    const [left, top] = [(m % n) * CELL + 1, Math.floor(m / n) * CELL + 1];
    for (let i = 0; i < SIDE * SIDE; i++) {
      if (!((pixels[BYTES * m + (i >> 3)] >> (7 - (i & 7))) & 1)) continue;
      const [row, column] = [top + Math.floor(i / SIDE), left + (i % SIDE)];
      image.data[4 * (row * n * CELL + column) + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
  context.globalCompositeOperation = "source-in";
  context.fillStyle = ink;
  context.fillRect(0, 0, canvas.width, canvas.height);
  return canvas;
}

/**
 * A wall. `onPick(index)` is called when the reader presses a picture, or moves to one with the arrow keys.
 *
 * @param {{ tone: "exact" | "distributed", onPick(index: number): void }} options
 */
export function createWall({ tone, onPick }) {
  const canvas = h("canvas", { class: "r1-wall", role: "application", tabindex: 0 });
  /** @type {HTMLCanvasElement | null} */
  let sheet = null;
  /** @type {Shown} */
  let shown = { K: 1, target: 0, weights: null };

  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect();
    const n = across(shown.K);
    const column = Math.floor((n * (event.clientX - box.left)) / box.width);
    const row = Math.floor((n * (event.clientY - box.top)) / box.height);
    pick(row * n + column);
  });
  canvas.addEventListener("keydown", (event) => {
    const n = across(shown.K);
    const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -n, ArrowDown: n };
    const move = moves[/** @type {keyof typeof moves} */ (event.key)];
    if (move === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    pick(shown.target + move);
  });

  /** @param {number} index */
  function pick(index) {
    if (index >= 0 && index < shown.K && index !== shown.target) onPick(index);
  }

  function fit() {
    const n = across(shown.K);
    const dense = Math.min(DENSEST, devicePixelRatio || 1);
    const cell = Math.max(1, Math.round((canvas.clientWidth * dense) / n));
    const side = n * cell;
    if (canvas.width !== side) Object.assign(canvas, { width: side, height: side });
    return { n, cell, side };
  }

  function draw() {
    const context = canvas.getContext("2d");
    if (!context || !sheet || canvas.clientWidth === 0) return;
    const { n, cell, side } = fit();
    context.globalAlpha = 1;
    context.clearRect(0, 0, side, side);
    context.globalAlpha = UNLIT;
    context.imageSmoothingQuality = "high";
    context.drawImage(sheet, 0, 0, side, side);
    drawLights(context, sheet, cell, n);
    context.globalAlpha = 1;
    mark(context, shown.target, n, cell);
  }

  /** @type {(context: CanvasRenderingContext2D, paper: HTMLCanvasElement, cell: number, n: number) => void} */
  function drawLights(context, paper, cell, n) {
    const { weights } = shown;
    if (!weights) return;
    context.fillStyle = colour(canvas, tone);
    context.strokeStyle = colour(canvas, tone);
    for (let m = 0; m < weights.length; m++) {
      const alpha = light(weights[m]);
      if (alpha < 1 / 255) continue;
      const [left, top] = [(m % n) * cell, Math.floor(m / n) * cell];
      context.globalAlpha = alpha;
      context.fillRect(left, top, cell, cell);
      if (alpha > BRIGHT) {
        const from = [(m % n) * CELL, Math.floor(m / n) * CELL];
        context.drawImage(paper, from[0], from[1], CELL, CELL, left, top, cell, cell);
      }
      if (weights[m] < RINGED) continue;
      const radius = cell * 0.8 + (context.canvas.width / 14) * weights[m];
      context.lineWidth = Math.max(2, context.canvas.width / 160);
      context.beginPath();
      context.arc(left + cell / 2, top + cell / 2, radius, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  /** @type {(context: CanvasRenderingContext2D, m: number, n: number, cell: number) => void} */
  function mark(context, m, n, cell) {
    context.strokeStyle = colour(canvas, "ink");
    context.lineWidth = Math.max(1.5, context.canvas.width / 300);
    const wide = Math.max(cell, context.canvas.width / 42); // large enough to be visible among thousands
    const margin = (wide - cell) / 2;
    const left = (m % n) * cell - margin;
    const top = Math.floor(m / n) * cell - margin;
    const most = context.canvas.width - wide;
    context.strokeRect(bounded(left, 0, most), bounded(top, 0, most), wide, wide);
  }

  return {
    canvas,
    draw,
    /** @param {HTMLCanvasElement} next */
    paper(next) {
      sheet = next;
    },
    /**
     * Marks another query, before its run is computed. The old lights stay until the new ones come.
     *
     * @type {(K: number, target: number) => void}
     */
    aim(K, target) {
      shown = { K, target, weights: K === shown.K ? shown.weights : null };
      draw();
    },
    /** @param {Shown} next */
    show(next) {
      shown = next;
      draw();
    },
    /** @param {string} text */
    say: (text) => canvas.setAttribute("aria-label", text),
  };
}
