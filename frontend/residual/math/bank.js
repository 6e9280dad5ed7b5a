// The data sets that risks are measured on, drawn once: the first n points of a repetition serve every n, and every
// setting of the base, the memory and the noise.
import * as random from "../../math/random.js";
import { sampleBall } from "./sample.js";
import { drawLine, drawPlane } from "./sets.js";
import { drawWaves } from "./waves.js";

/** @import { Key } from "../../math/random.js" */
/** @import { LineSet, PlaneSet } from "./sets.js" */
/** @import { WaveSet } from "./waves.js" */

export const QUERIES = 50; // test points of one data set on the line

/**
 * The stage has the keys [0, seed].
 *
 * @param {number} seed
 * @returns {Key}
 */
const root = (seed) => [1, seed];

/**
 * How many points to draw for n now and more later: not all at once, for the first answer should not wait for the last.
 *
 * @type {(n: number, most: number) => number}
 */
const roomFor = (n, most) => Math.max(n, Math.min(most, 8 * n));

/** Sets and test points of one seed and one number of dimensions; another one empties it. */
export function createBank() {
  let key = "";
  /** @type {Map<number, { set: LineSet, queries: Float32Array }>} */
  const lines = new Map();
  /** @type {Map<number, PlaneSet>} */
  const planes = new Map();
  /** @type {Map<number, WaveSet>} */
  const circles = new Map();

  /** @param {string} wanted */
  function open(wanted) {
    if (wanted === key) return;
    key = wanted;
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
     * The r-th set of n points on the line, of which `most` will be wanted, and its test points.
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
