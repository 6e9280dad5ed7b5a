// The vector of the distributed memory as a strip of squares: its length depends on Y, and not on the stored pictures.
import { h } from "../kit/dom.js";
import { count } from "../kit/number.js";
import { RULES } from "./settings.js";

const HIGH = 16; // squares
const WIDE = 128;
const WHITE = 6; // a sum of cosines of this or more is white, and of minus this or less black
const EMPTY = "rgb(128 128 128 / 25%)";
const MOST = RULES.counts.Y[1];

/**
 * The squares in a row. They grow as √Y, so that both ends of the range of Y are visible.
 *
 * @param {number} Y
 */
export const columnsOf = (Y) => Math.max(1, Math.round(WIDE * Math.sqrt(Y / MOST)));

/** @param {number} v */
const grey = (v) => 127.5 * (1 + Math.min(1, Math.max(-1, v / WHITE)));

export function createStrip() {
  const canvas = h("canvas", {
    class: "r1-strip",
    height: HIGH,
    width: WIDE,
    role: "img",
    title: "A part of T, one square a number: white above 0, black below",
  });
  /** @param {number} Y */
  const fit = (Y) => {
    canvas.width = columnsOf(Y);
    canvas.style.width = `${(100 * canvas.width) / WIDE}%`;
    return canvas.getContext("2d");
  };
  return {
    canvas,
    /**
     * Draws an empty strip as long as T.
     *
     * @type {(Y: number, numbers: number) => void}
     */
    wait(Y, numbers) {
      const context = fit(Y);
      if (!context) return;
      context.fillStyle = EMPTY;
      context.fillRect(0, 0, canvas.width, HIGH);
      canvas.setAttribute("aria-label", `The vector T, ${count(numbers)} numbers: not shown yet`);
    },
    /**
     * Draws the first entries of T, each a sum of one cosine per picture; T has `numbers` entries, and sums K pictures.
     *
     * @type {(values: Float32Array, Y: number, numbers: number, K: number) => void}
     */
    show(values, Y, numbers, K) {
      const columns = columnsOf(Y);
      const image = new ImageData(columns, HIGH);
      for (let i = 0; i < columns * HIGH; i++) {
        const at = 4 * ((i % HIGH) * columns + Math.floor(i / HIGH)); // column by column: a longer T adds columns
        image.data.fill(grey(values[i] ?? 0), at, at + 3);
        image.data[at + 3] = 255;
      }
      fit(Y)?.putImageData(image, 0, 0);
      canvas.setAttribute(
        "aria-label",
        `The vector T, a part of its ${count(numbers)} numbers: each a sum over ${count(K)} pictures`,
      );
    },
  };
}
