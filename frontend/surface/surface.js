// The energy over the plane as a surface with level lines. The mesh of rings and spokes around the mean is drawn from
// back to front.
import { PALETTES } from "../kit/palettes.js";
import { HIGH, WIDE } from "./view.js";

/** @import { Point } from "../kit/handle.js" */
/** @import { View } from "./view.js" */

/** `height` is the energy above the lowest minimum, `reach` the radius of the disc that is drawn. */
/** @typedef {{ height(at: Point): number, reach: number, view: View, isDark: boolean, isFine: boolean }} Shown */

const BAND = 0.022; // spacing of the level lines, as a distance: around a lone picture they are circles this far apart
const SHADES = 0.31; // distance from which the surface has its lightest shade
const MESH = { coarse: [20, 48], fine: [44, 112] }; // numbers of rings and of spokes
const LIGHT = [-0.42, 0.4, 0.81]; // direction towards the light, from the reader's view: left, behind, above
const STEEP = 11; // factor on the slope in the shading, so that flat wells are visible

/** @typedef {{ at: Point, z: number, pixel: Point }} Corner */

/**
 * Paints the surface into a context that is scaled to WIDE × HIGH.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Shown} shown
 */
export function paintSurface(context, { height, reach, view, isDark, isFine }) {
  const [rings, spokes] = MESH[isFine ? "fine" : "coarse"];
  const palette = PALETTES[isDark ? "dark" : "light"];
  context.clearRect(0, 0, WIDE, HIGH);
  const corners = cornersOf({ height, reach, view, rings, spokes });
  /** @type {{ quad: Corner[], depth: number }[]} */
  const quads = [];
  for (let r = 0; r < rings; r++) {
    for (let s = 0; s < spokes; s++) {
      const next = (s + 1) % spokes;
      const quad = [corners[r][s], corners[r + 1][s], corners[r + 1][next], corners[r][next]];
      const depth = quad.reduce((sum, { at }) => sum + view.depth(at), 0);
      quads.push({ quad, depth });
    }
  }
  quads.sort((a, b) => b.depth - a.depth);
  context.lineJoin = "round";
  const line = `rgb(${palette.line.join()})`;
  for (const { quad } of quads) {
    const colour = colourOf(quad, view, palette);
    context.fillStyle = context.strokeStyle = colour;
    context.lineWidth = 0.6; // covers the seam to the next quadrilateral
    context.beginPath();
    for (const { pixel } of quad) context.lineTo(...pixel);
    context.closePath();
    context.fill();
    context.stroke();
    context.strokeStyle = line;
    context.lineWidth = 0.9;
    drawLevels(context, quad);
  }
}

/** @type {(grid: Omit<Shown, "isDark" | "isFine"> & { rings: number, spokes: number }) => Corner[][]} */
function cornersOf({ height, reach, view, rings, spokes }) {
  return Array.from({ length: rings + 1 }, (_, r) =>
    Array.from({ length: spokes }, (_, s) => {
      const angle = (2 * Math.PI * s) / spokes;
      const radius = (reach * r) / rings;
      const at = /** @type {Point} */ ([radius * Math.cos(angle), radius * Math.sin(angle)]);
      const z = Math.max(0, height(at));
      return { at, z, pixel: view.project(at, z) };
    }),
  );
}

/** @param {number} z */
const levelOf = (z) => Math.floor(Math.sqrt(2 * z) / BAND);

/** @type {(quad: Corner[], view: View, palette: { low: number[], high: number[] }) => string} */
function colourOf(quad, view, { low, high }) {
  const z = quad.reduce((sum, corner) => sum + corner.z, 0) / 4;
  const share = Math.min(1, Math.sqrt(2 * z) / SHADES) ** 0.7;
  const light = 0.78 + 0.3 * lit(quad, view);
  const mixed = low.map((v, c) => Math.min(255, light * (v + (high[c] - v) * share)));
  return `rgb(${mixed.map(Math.round).join()})`;
}

/**
 * The light on a quadrilateral, from 0 to 1. The normal is the cross product of its diagonals in the reader's view.
 *
 * @type {(quad: Corner[], view: View) => number}
 */
function lit([a, b, c, d], view) {
  /** @type {(from: Corner, to: Corner) => number[]} */
  const edge = (from, to) => [
    view.right(to.at) - view.right(from.at),
    view.depth(to.at) - view.depth(from.at),
    STEEP * (to.z - from.z),
  ];
  const [u, v] = [edge(a, c), edge(b, d)];
  const normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
  const length = Math.hypot(...normal);
  if (length === 0) return LIGHT[2]; // a degenerate quadrilateral is lit like a horizontal one
  const up = normal[2] < 0 ? -1 : 1;
  return Math.max(
    0,
    normal.reduce((sum, n, i) => sum + (up * n * LIGHT[i]) / length, 0),
  );
}

/** @type {(context: CanvasRenderingContext2D, quad: Corner[]) => void} */
function drawLevels(context, quad) {
  const levels = quad.map(({ z }) => levelOf(z));
  const [lowest, highest] = [Math.min(...levels), Math.max(...levels)];
  for (let level = lowest + 1; level <= highest; level++) {
    const z = (level * BAND) ** 2 / 2;
    /** @type {Point[]} */
    const crossed = [];
    quad.forEach((from, i) => {
      const to = quad[(i + 1) % 4];
      if (from.z < z === to.z < z) return;
      const share = (z - from.z) / (to.z - from.z);
      crossed.push([
        from.pixel[0] + share * (to.pixel[0] - from.pixel[0]),
        from.pixel[1] + share * (to.pixel[1] - from.pixel[1]),
      ]);
    });
    context.beginPath();
    for (let i = 0; i + 1 < crossed.length; i += 2) {
      context.moveTo(...crossed[i]);
      context.lineTo(...crossed[i + 1]);
    }
    context.stroke();
  }
}
