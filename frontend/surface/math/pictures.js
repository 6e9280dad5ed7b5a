// Three pictures, the plane through them, and a descent of the energy from a start on the plane or off it [D-eq11].
import { Exact } from "../../math/plane/exact.js";

/** @import { Point } from "../../kit/handle.js" */

/** A state as `at`, the nearest point of the plane, and `height`, the distance from the plane. */
/** @typedef {{ at: Point, height: number }} Split */

/** @type {(a: Float64Array, b: Float64Array) => number} */
const inner = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);

/** @type {(a: Float64Array, b: Float64Array) => number} */
export function squaredDistance(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] - b[i]) ** 2;
  return sum;
}

/**
 * Three pictures as vectors of one length, in the memories' unit (divided by √D). The plane has its origin at their
 * mean and its first axis along the line from the first picture to the second. Distances in the plane equal those in
 * D dimensions.
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
    /** The coordinates of the pictures in the plane. @type {Point[]} */
    this.places = vectors.map((vector) => this.split(vector).at);
  }

  /**
   * The point of the plane nearest to a state in D dimensions, and the state's distance from the plane.
   *
   * @param {Float64Array} state
   * @returns {Split}
   */
  split(state) {
    const { mean, first, second } = this;
    let [x, y] = [0, 0];
    for (let i = 0; i < state.length; i++) {
      const v = state[i] - mean[i];
      x += v * first[i];
      y += v * second[i];
    }
    let square = 0;
    for (let i = 0; i < state.length; i++) {
      square += (state[i] - mean[i] - x * first[i] - y * second[i]) ** 2;
    }
    return { at: [x, y], height: Math.sqrt(square) };
  }

  /**
   * The picture at a point of the plane: a weighted sum of the three pictures whose weights sum to 1.
   *
   * @param {Point} at
   */
  lift([x, y]) {
    const { mean, first, second } = this;
    return mean.map((v, i) => v + x * first[i] + y * second[i]);
  }
}

/**
 * A run in D dimensions, with the point of the plane and the height of each state. `energies` are the energies of the
 * states, `ground` those of the points under them; the two differ by half the squared height.
 *
 * @typedef {{
 *   states: Float64Array[], path: Point[], heights: number[], energies: number[], ground: number[], weights: number[][],
 * }} Run
 */

/**
 * A run of gradient descent on every pixel. The memory does not use the plane, which serves only for the drawing.
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
    const squares = vectors.map((xi) => squaredDistance(x, xi));
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
    const [a, b, c] = vectors;
    const next = new Float64Array(x.length);
    for (let i = 0; i < x.length; i++) {
      next[i] = x[i] - eta * (x[i] - p * a[i] - q * b[i] - r * c[i]);
    }
    x = next;
  }
  return run;
}
