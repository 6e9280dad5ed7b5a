// The model in the plane as three maps with the examples on them: the base, the memory, and their sum.
import { h } from "../kit/dom.js";
import { fixed } from "../kit/number.js";
import { captioned } from "../kit/readout.js";
import { probability } from "./math/bases.js";
import { Neighbours } from "./math/memory.js";
import { border, classOf } from "./math/sample.js";

/** @import { PlaneFit, PlaneSet } from "./math/sets.js" */
/** @import { Settings } from "./settings.js" */

const CELLS = 72;
const PIXELS = 288;
const SHOWN = 600; // largest number of examples that are drawn
const BLUE = [0, 98, 165];
const ORANGE = [214, 94, 0];
const PALE = [246, 246, 244];

/** @type {[key: "base" | "memory" | "sum", title: string][]} */
const PARTS = [
  ["base", "Base: p(class 1)"],
  ["memory", "Memory of residuals"],
  ["sum", "Base + memory"],
];

/**
 * The scores and the true class at the centre of each cell, row by row from the top.
 *
 * @type {(set: PlaneSet, fit: PlaneFit, settings: { k: number, sigma: number }) => Record<"base" | "memory" | "sum" | "truth", number[]>}
 */
export function fields(set, fit, { k, sigma }) {
  const search = new Neighbours(set.X, set.n, 2, k);
  /** @type {Record<"base" | "memory" | "sum" | "truth", number[]>} */
  const scores = { base: [], memory: [], sum: [], truth: [] };
  for (let i = 0; i < CELLS ** 2; i++) {
    /** @type {[number, number]} */
    const at = [
      (2 * ((i % CELLS) + 0.5)) / CELLS - 1,
      1 - (2 * (Math.floor(i / CELLS) + 0.5)) / CELLS,
    ];
    const base = probability(fit.w, ...at);
    const memory = search.find(at, 0).weigh(sigma).read(fit.residuals);
    scores.base.push(base);
    scores.memory.push(memory);
    scores.sum.push(base + memory);
    scores.truth.push(classOf(...at));
  }
  return scores;
}

export function createMaps() {
  const maps = PARTS.map(([key, title]) => {
    const canvas = h("canvas", { width: PIXELS, height: PIXELS, role: "img", "aria-label": title });
    return {
      key,
      title,
      canvas,
      ...captioned(title, canvas, { className: "r1-map", below: true }),
    };
  });
  return {
    element: h(
      "div",
      { class: "r1-parts r1-maps" },
      maps.map(({ element }) => element),
      h(
        "p",
        { class: "r1-muted r1-key" },
        "Orange: towards class 1; blue: towards class 0; pale: neither. The curve is the true border; dots are examples, with the label they came with.",
      ),
    ),
    /**
     * Draws the maps; only the base if `hidden`, because the reader has yet to predict the memory's effect.
     *
     * @type {(set: PlaneSet, fit: PlaneFit, settings: Settings, hidden: boolean) => void}
     */
    draw(set, fit, settings, hidden) {
      const scores = fields(set, fit, settings);
      for (const { key, title, canvas, note } of maps) {
        const context = canvas.getContext("2d");
        if (!context) continue;
        const middle = key === "memory" ? 0 : 0.5;
        if (hidden && key !== "base") {
          paint(context, new Array(CELLS ** 2).fill(middle), middle);
          note("predict first");
          continue;
        }
        paint(context, scores[key], middle);
        mark(context, set, fit.y);
        const [low, high] = [Math.min(...scores[key]), Math.max(...scores[key])];
        const wrong = scores[key].filter((v, i) => v > 0.5 !== (scores.truth[i] === 1)).length;
        const words =
          key === "memory"
            ? `values ${fixed(low)} to ${fixed(high)}`
            : `${fixed((100 * wrong) / CELLS ** 2, 1)} % of the square wrong; values ${fixed(low)} to ${fixed(high)}`;
        note(words);
        canvas.setAttribute("aria-label", `${title}, ${words}`);
      }
    },
  };
}

/** @type {(context: CanvasRenderingContext2D, values: number[], middle: number) => void} */
function paint(context, values, middle) {
  const image = new ImageData(CELLS, CELLS);
  values.forEach((v, i) => {
    const tone = v > middle ? ORANGE : BLUE;
    const share = Math.min(1, 2 * Math.abs(v - middle)) * 0.85;
    for (let c = 0; c < 3; c++) image.data[4 * i + c] = PALE[c] + share * (tone[c] - PALE[c]);
    image.data[4 * i + 3] = 255;
  });
  const small = new OffscreenCanvas(CELLS, CELLS);
  small.getContext("2d")?.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, PIXELS, PIXELS);
}

/** @type {(context: CanvasRenderingContext2D, set: PlaneSet, labels: ArrayLike<number>) => void} */
function mark(context, { X, n }, labels) {
  /** @type {(x: number, y: number) => [number, number]} */
  const at = (x, y) => [((x + 1) * PIXELS) / 2, ((1 - y) * PIXELS) / 2];
  context.lineWidth = 2;
  context.strokeStyle = "#1d2530";
  context.beginPath();
  for (let i = 0; i <= 80; i++) context.lineTo(...at(i / 40 - 1, border(i / 40 - 1)));
  context.stroke();
  context.lineWidth = 0.8;
  context.strokeStyle = "#ffffff";
  for (let i = 0; i < Math.min(n, SHOWN); i++) {
    context.fillStyle = `rgb(${labels[i] ? "150, 60, 0" : "0, 60, 115"})`;
    context.beginPath();
    context.arc(...at(X[2 * i], X[2 * i + 1]), 2.6, 0, 7);
    context.fill();
    context.stroke();
  }
}
