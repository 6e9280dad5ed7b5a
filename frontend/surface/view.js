// The view of the surface: rotated, obliquely from above, without perspective; and the point under a pixel.

/** @import { Point } from "../kit/handle.js" */
/** @typedef {(at: Point) => number} Height */
/** @typedef {{ project(at: Point, z: number): Point, right(at: Point): number, depth(at: Point): number, hit(pixel: Point, height: Height): Point }} View */

export const WIDE = 400; // the drawing's own units
export const HIGH = 356;
const CENTRE = /** @type {Point} */ ([WIDE / 2, 234]); // the pixel of the mean at height 0, the lowest minimum's energy
const TILT = (50 * Math.PI) / 180; // angle between the plane and the line of sight
const ACROSS = 186; // units of the drawing from the centre to the rim
const RISE = 2850; // units of the drawing per unit of energy, before the tilt
const ROOM = 86; // units of the drawing by which the rim may rise at most
const LOOKS = 160; // points along a line of sight at which the surface is evaluated

/**
 * The view of a disc of the plane with radius `reach`, rotated by `turn` degrees. `top` is the highest energy on its
 * rim; it limits the vertical scale, so that the rim stays in the drawing from every side.
 *
 * @param {{ reach: number, turn: number, top: number }} how
 * @returns {View}
 */
export function createView({ reach, turn, top }) {
  const angle = (turn * Math.PI) / 180;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const scale = ACROSS / reach;
  const flat = Math.sin(TILT);
  const rise = Math.min(RISE * Math.cos(TILT), ROOM / top);

  /** @type {(at: Point) => Point} */
  const turned = ([x, y]) => [x * cos - y * sin, x * sin + y * cos];

  /** @type {(at: Point, z: number) => Point} */
  const project = (at, z) => {
    const [x, y] = turned(at);
    return [CENTRE[0] + scale * x, CENTRE[1] - scale * flat * y - rise * z];
  };

  return {
    project,
    /** The coordinate of a point to the reader's right, in the plane's unit. */
    right: (at) => turned(at)[0],
    /** The distance of a point behind the centre, in the plane's unit. */
    depth: (at) => turned(at)[1],
    /** The point of the surface that the line of sight through the pixel meets first. */
    hit([px, py], height) {
      const x = (px - CENTRE[0]) / scale;
      /** @type {(y: number) => Point} */
      const back = (y) => [x * cos + y * sin, -x * sin + y * cos];
      /** @type {(y: number) => number} Positive where the surface at y is drawn above the pixel. */
      const above = (y) => py - project(back(y), height(back(y)))[1];
      let [near, far] = [-1.2 * reach, 1.2 * reach];
      for (let i = 0; i < LOOKS; i++) {
        const y = -1.2 * reach + (2.4 * reach * i) / (LOOKS - 1);
        if (above(y) >= 0) {
          far = y;
          break;
        }
        near = y;
      }
      for (let i = 0; i < 24; i++) {
        const middle = (near + far) / 2;
        if (above(middle) >= 0) far = middle;
        else near = middle;
      }
      return back((near + far) / 2);
    },
  };
}
