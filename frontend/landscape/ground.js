// A landscape as shades and level lines on a canvas under a plane: coarse while the reader drags, fine afterwards.
import { h } from "../kit/dom.js";
import { PALETTES } from "../kit/palettes.js";

/** @import { Point } from "../kit/handle.js" */
/** @import { Palette } from "../kit/palettes.js" */

const BAND = 0.1; // spacing of the level lines, as a distance: around a lone pattern they are circles this far apart
const HIGHEST = 1.9; // distance from which the shade is the lightest
const [COARSE, FINE] = [200, 440]; // pixels per side

/** A field of n × n energies, row by row from the top; above the energy `unknown` the estimate means nothing. */
/** @typedef {{ energies: Float64Array, n: number, least: number, unknown: number }} Field */

/**
 * A canvas for a field. `paint` shades the field at its own resolution; `draw` copies it to the canvas and then calls
 * `over` with a context in which the canvas is `side` wide.
 *
 * @param {number} side
 */
export function ground(side) {
  const element = h("canvas", { class: "r1-ground", "aria-hidden": "true" });
  const picture = document.createElement("canvas");
  const context = /** @type {CanvasRenderingContext2D} */ (element.getContext("2d"));
  const inner = /** @type {CanvasRenderingContext2D} */ (picture.getContext("2d"));
  return {
    element,
    /** @type {(field: Field, isDark: boolean, isFine: boolean) => void} */
    paint(field, isDark, isFine) {
      const pixels = isFine ? FINE : COARSE;
      picture.width = picture.height = pixels;
      inner.putImageData(shaded(field, pixels, PALETTES[isDark ? "dark" : "light"]), 0, 0);
    },
    /** @param {(context: CanvasRenderingContext2D) => void} over */
    draw(over) {
      const size = Math.min(1000, Math.round((element.clientWidth || side) * devicePixelRatio));
      if (element.width !== size) element.width = element.height = size;
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.drawImage(picture, 0, 0, size, size);
      context.setTransform(size / side, 0, 0, size / side, 0, 0);
      over(context);
    },
  };
}

/** @type {(field: Field, pixels: number, palette: Palette) => ImageData} */
function shaded({ energies, n, least, unknown }, pixels, { low, high, line, hatch }) {
  const image = new ImageData(pixels, pixels);
  const colours = new Uint32Array(image.data.buffer);
  const shades = Array.from({ length: Math.ceil(HIGHEST / BAND) + 1 }, (_, i) =>
    packed(low.map((v, c) => v + (high[c] - v) * Math.min(1, (i * BAND) / HIGHEST) ** 0.7)),
  );
  const [edge, blank] = [packed(line), packed(hatch)];
  const step = (n - 1) / (pixels - 1);
  const above = new Int32Array(pixels);
  for (let py = 0; py < pixels; py++) {
    const j = Math.min(n - 2, Math.floor(py * step));
    const v = py * step - j;
    let left = -1;
    for (let px = 0; px < pixels; px++) {
      const i = Math.min(n - 2, Math.floor(px * step));
      const u = px * step - i;
      const at = j * n + i;
      const energy =
        (1 - v) * ((1 - u) * energies[at] + u * energies[at + 1]) +
        v * ((1 - u) * energies[at + n] + u * energies[at + n + 1]);
      const band = Math.floor(Math.sqrt(2 * Math.max(0, energy - least)) / BAND);
      const crossed = py > 0 && px > 0 && (band !== left || band !== above[px]);
      const k = py * pixels + px;
      if (energy > unknown) colours[k] = (px + py) % 8 < 2 ? blank : shades[shades.length - 1];
      else colours[k] = crossed ? edge : shades[Math.min(band, shades.length - 1)];
      left = band;
      above[px] = band;
    }
  }
  return image;
}

/** @param {number[]} colour */
const packed = ([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r;

/** @typedef {{ colour: string, points: Point[] }} Path */

/**
 * A run as a line with a dot at each step; points are in pixels.
 *
 * @type {(context: CanvasRenderingContext2D, path: Path, r?: number) => void}
 */
export function drawPath(context, { colour, points }, r = 2.2) {
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = 1.8;
  context.beginPath();
  for (const [x, y] of points) context.lineTo(x, y);
  context.stroke();
  for (const [x, y] of points) {
    context.beginPath();
    context.arc(x, y, r, 0, 7);
    context.fill();
  }
}

/**
 * The tube: a disc around each state, as one shape.
 *
 * @type {(context: CanvasRenderingContext2D, discs: { at: Point, r: number }[], colour: string) => void}
 */
export function drawTube(context, discs, colour) {
  context.save();
  context.globalAlpha = 0.22;
  context.fillStyle = colour;
  context.beginPath();
  for (const { at, r } of discs) {
    context.moveTo(at[0] + r, at[1]);
    context.arc(at[0], at[1], r, 0, 7);
  }
  context.fill();
  context.globalAlpha = 0.5;
  context.lineWidth = 0.7;
  context.strokeStyle = colour;
  context.stroke();
  context.restore();
}
