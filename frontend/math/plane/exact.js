// E in the plane, from the patterns themselves [D-eq11], with its curvature [D-sharp1].

/** @import { Point } from "../../kit/handle.js" */

/** @typedef {{ energy: number, weights: number[] }} Soft */

/** E(x) = −(1/β) log Σ e^(−β|x − ξ|²/2): a soft minimum over the patterns. */
export class Exact {
  /**
   * @param {Point[]} patterns
   * @param {number} beta
   */
  constructor(patterns, beta) {
    this.patterns = patterns;
    this.beta = beta;
  }

  /**
   * The energy at x, and the softmax weight of each pattern.
   *
   * @param {Point} x
   * @returns {Soft}
   */
  soft([x, y]) {
    const { patterns, beta } = this;
    const squares = patterns.map(([px, py]) => (x - px) ** 2 + (y - py) ** 2);
    const nearest = Math.min(...squares);
    const shares = squares.map((square) => Math.exp((-beta / 2) * (square - nearest)));
    const sum = shares.reduce((a, b) => a + b, 0);
    return {
      energy: nearest / 2 - Math.log(sum) / beta,
      weights: shares.map((share) => share / sum),
    };
  }

  /** @param {Point} x */
  energy(x) {
    return this.soft(x).energy;
  }

  /**
   * x − m(x), with m(x) the weighted mean of the patterns.
   *
   * @param {Point} x
   * @returns {Point}
   */
  gradient(x) {
    return this.away(x, this.soft(x).weights);
  }

  /** @type {(x: Point, weights: number[]) => Point} */
  away([x, y], weights) {
    const { patterns } = this;
    for (let m = 0; m < patterns.length; m++) {
      x -= weights[m] * patterns[m][0];
      y -= weights[m] * patterns[m][1];
    }
    return [x, y];
  }

  /**
   * The entries xx, xy and yy of the Hessian I − β Cov_p(ξ).
   *
   * @param {Point} x
   * @returns {[number, number, number]}
   */
  hessian(x) {
    const { weights } = this.soft(x);
    const g = this.away(x, weights);
    let [a, b, d] = [0, 0, 0];
    this.patterns.forEach((pattern, m) => {
      const [u, v] = [x[0] - pattern[0] - g[0], x[1] - pattern[1] - g[1]];
      a += weights[m] * u * u;
      b += weights[m] * u * v;
      d += weights[m] * v * v;
    });
    return [1 - this.beta * a, -this.beta * b, 1 - this.beta * d];
  }

  /**
   * The two eigenvalues of the Hessian, the smaller first.
   *
   * @param {Point} x
   * @returns {Point}
   */
  curvature(x) {
    const [a, b, d] = this.hessian(x);
    const spread = Math.hypot((a - d) / 2, b);
    return [(a + d) / 2 - spread, (a + d) / 2 + spread];
  }

  /**
   * E on the grid ticks × ticks, row by row from the top (largest y).
   *
   * @param {Float64Array} ticks
   */
  field(ticks) {
    const { patterns, beta } = this;
    const n = ticks.length;
    const energies = new Float64Array(n * n);
    const squares = new Float64Array(patterns.length);
    for (let j = 0; j < n; j++) {
      const y = ticks[n - 1 - j];
      for (let i = 0; i < n; i++) {
        let nearest = Number.POSITIVE_INFINITY;
        for (let m = 0; m < squares.length; m++) {
          squares[m] = (ticks[i] - patterns[m][0]) ** 2 + (y - patterns[m][1]) ** 2;
          nearest = Math.min(nearest, squares[m]);
        }
        let sum = 0;
        for (const square of squares) sum += Math.exp((-beta / 2) * (square - nearest));
        energies[j * n + i] = nearest / 2 - Math.log(sum) / beta;
      }
    }
    return energies;
  }
}
