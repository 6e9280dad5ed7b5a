// The data sets on which risks are measured. Each is drawn once: its first n points serve for every n, and for every
// setting of the base, the memory and the noise.
import * as random from "../../math/random.js";
import { sampleBall } from "./sample.js";
import { drawLine, drawPlane } from "./sets.js";
import { drawWaves } from "./waves.js";

/** @import { Key } from "../../math/random.js" */
/** @import { LineSet, PlaneSet } from "./sets.js" */
/** @import { WaveSet } from "./waves.js" */

export const QUERIES = 50; // test points per data set on the line

/**
 * The key of all data sets of a seed. It differs from the key [0, seed] of the examples on the stage.
 *
 * @param {number} seed
 * @returns {Key}
 */
const root = (seed) => [1, seed];

/**
 * The number of points to draw when n are needed now and up to `most` later. Not all are drawn at once, so that the
 * first answers do not wait.
 *
 * @type {(n: number, most: number) => number}
 */
const roomFor = (n, most) => Math.max(n, Math.min(most, 8 * n));

/** A cache of data sets and test points for one view, seed and dimension; it is emptied when one of these changes. */
export function createBank() {
  let key = "";
  /** @type {Map<number, { set: LineSet, queries: Float32Array }>} */
  const lines = new Map();
  /** @type {Map<number, PlaneSet>} */
  const planes = new Map();
  /** @type {Map<number, WaveSet>} */
  const circles = new Map();

  /** @param {string} next */
  function open(next) {
    if (next === key) return;
    key = next;
    lines.clear();
    planes.clear();
    circles.clear();
  }

  return {
    /**
     * The r-th set of n points on the circle.
     *
     * @type {(where: { seed: number }, r: number, n: number, most: number) => WaveSet}
     */
    waves({ seed }, r, n, most) {
      open(`waves ${seed}`);
      let known = circles.get(r);
      if (!known || known.n < n) {
        known = drawWaves(random.split(root(seed), r + 1)[r], roomFor(n, most));
        circles.set(r, known);
      }
      return { X: known.X.subarray(0, n), n, d: 1 };
    },
    /**
     * The r-th set of n points on the line, and its test points. `most` is the largest n that will be needed.
     *
     * @type {(where: { seed: number, d: number }, r: number, n: number, most: number) => { set: LineSet, queries: Float32Array }}
     */
    line({ seed, d }, r, n, most) {
      open(`line ${seed} ${d}`);
      let known = lines.get(r);
      if (!known || known.set.n < n) {
        const [data, test] = random.split(random.split(root(seed), r + 1)[r]);
        known = {
          set: drawLine(data, roomFor(n, most), d),
          queries: sampleBall(test, QUERIES, d),
        };
        lines.set(r, known);
      }
      const { X, truth, unit } = known.set;
      const [points, targets, noise] = [X, truth, unit].map((all, i) =>
        all.subarray(0, i === 0 ? n * d : n),
      );
      const set = { X: /** @type {Float32Array} */ (points), n, d, truth: targets, unit: noise };
      return { set: /** @type {LineSet} */ (set), queries: known.queries };
    },
    /**
     * The r-th set of n points in the plane.
     *
     * @type {(where: { seed: number }, r: number, n: number, most: number) => PlaneSet}
     */
    plane({ seed }, r, n, most) {
      open(`plane ${seed}`);
      let known = planes.get(r);
      if (!known || known.n < n) {
        known = drawPlane(random.split(root(seed), r + 1)[r], roomFor(n, most));
        planes.set(r, known);
      }
      const { X, truth, order } = known;
      return {
        X: X.subarray(0, 2 * n),
        n,
        d: 2,
        truth: truth.subarray(0, n),
        order: order.subarray(0, n),
      };
    },
  };
}

/** @typedef {ReturnType<typeof createBank>} Bank */
