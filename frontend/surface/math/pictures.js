// Three pictures, the plane through them, and a descent of the energy that starts on the plane or off it [D-eq11].
import { Exact } from "../../landscape/math/exact.js";

/** @import { Point } from "../../kit/handle.js" */

/** A state as a place in the plane and a vector perpendicular to it; `height` is the length of that vector. */
/** @typedef {{ at: Point, off: Float64Array, height: number }} Split */

/** @type {(a: Float64Array, b: Float64Array) => number} */
const inner = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);

/**
 * Three pictures as vectors of one length, in the memories' unit (divided by √D). The plane has its origin at their
 * mean, its first axis along the line from the first picture to the second, and keeps all distances.
 */
export class Pictures {
  /** @param {Float64Array[]} vectors */
  constructor(vectors) {
    const D = vectors[0].length;
    this.vectors = vectors;
    this.mean = Float64Array.from(
      { length: D },
      (_, i) => (vectors[0][i] + vectors[1][i] + vectors[2][i]) / 3,
    );
    const along = vectors[1].map((v, i) => v - vectors[0][i]);
    const length = Math.sqrt(inner(along, along));
    this.first = along.map((v) => v / length);
    const other = vectors[2].map((v, i) => v - vectors[0][i]);
    const share = inner(other, this.first);
    const across = other.map((v, i) => v - share * this.first[i]);
    const width = Math.sqrt(inner(across, across));
    this.second = across.map((v) => v / width);
    /** Where the pictures lie in the plane. @type {Point[]} */
    this.places = vectors.map((vector) => this.split(vector).at);
  }

  /**
   * A state in D dimensions as the nearest place of the plane, and the rest.
   *
   * @param {Float64Array} state
   * @returns {Split}
   */
  split(state) {
    const { mean, first, second } = this;
    const from = state.map((v, i) => v - mean[i]);
    const at = /** @type {Point} */ ([inner(from, first), inner(from, second)]);
    const off = from.map((v, i) => v - at[0] * first[i] - at[1] * second[i]);
    return { at, off, height: Math.sqrt(inner(off, off)) };
  }

  /**
   * The picture at a place of the plane: a weighted sum of the three, whose weights add up to 1.
   *
   * @param {Point} at
   */
  lift([x, y]) {
    const { mean, first, second } = this;
    return mean.map((v, i) => v + x * first[i] + y * second[i]);
  }
}

/**
 * A run in D dimensions, and each of its states as seen from the plane. `energies` are those of the states, `ground`
 * those of the places under them: they differ by half the squared height.
 *
 * @typedef {{
 *   states: Float64Array[], path: Point[], heights: number[], energies: number[], ground: number[], weights: number[][],
 * }} Run
 */

/**
 * Gradient descent on every pixel. The memory knows nothing of the plane.
 *
 * @param {{ pictures: Pictures, beta: number, start: Float64Array, eta: number, steps: number }} how
 * @returns {Run}
 */
export function descend({ pictures, beta, start, eta, steps }) {
  const { vectors } = pictures;
  const plane = new Exact(pictures.places, beta);
  /** @type {Run} */
  const run = { states: [], path: [], heights: [], energies: [], ground: [], weights: [] };
  let x = start;
  for (let t = 0; t <= steps; t++) {
    const squares = vectors.map((xi) => x.reduce((sum, v, i) => sum + (v - xi[i]) ** 2, 0));
    const nearest = Math.min(...squares);
    const shares = squares.map((square) => Math.exp((-beta / 2) * (square - nearest)));
    const sum = shares.reduce((a, b) => a + b, 0);
    const weights = shares.map((share) => share / sum);
    const { at, height } = pictures.split(x);
    run.states.push(x);
    run.path.push(at);
    run.heights.push(height);
    run.energies.push(nearest / 2 - Math.log(sum) / beta);
    run.ground.push(plane.energy(at));
    run.weights.push(weights);
    const [p, q, r] = weights;
    x = x.map((v, i) => v - eta * (v - p * vectors[0][i] - q * vectors[1][i] - r * vectors[2][i]));
  }
  return run;
}
