// The exact memory: log-sum-exp energy of the stored patterns themselves [D-eq11, D-eq18].

/** @typedef {ArrayLike<number>} State */

/** K patterns in ℝ^D, with the distances and weights of the last state, from which the bounds follow in O(K²). */
export class ExactMemory {
  /**
   * @param {State[]} patterns
   * @param {number} beta
   */
  constructor(patterns, beta) {
    this.patterns = patterns;
    this.beta = beta;
    this.K = patterns.length;
    this.distances = new Float64Array(this.K); // |x − ξ|² at the last state
    this.weights = new Float64Array(this.K); // softmax weights p of the same state
  }

  /**
   * Energy and gradient at x by log-sum-exp over the squared distances; writes the gradient into `gradient`.
   *
   * @param {Float32Array} x
   * @param {Float32Array} gradient
   */
  energyGradient(x, gradient) {
    const { patterns, beta, distances, weights, K } = this;
    for (let m = 0; m < K; m++) distances[m] = squaredDistance(x, patterns[m]);
    const { energy } = softmin(distances, beta, weights);
    gradient.set(x);
    for (let m = 0; m < K; m++) {
      const p = weights[m];
      const xi = patterns[m];
      if (p > 1e-12) for (let i = 0; i < x.length; i++) gradient[i] -= p * xi[i];
    }
    return { energy, S: Math.exp(-beta * energy) };
  }
}

/**
 * Energy −(1/β) log Σ exp(−β d/2), and the softmax weights, of squared distances d.
 *
 * @type {(distances: Float64Array, beta: number, weights: Float64Array) => { energy: number }}
 */
export function softmin(distances, beta, weights) {
  const nearest = Math.min(...distances);
  let total = 0;
  for (let m = 0; m < distances.length; m++) {
    weights[m] = Math.exp((-beta / 2) * (distances[m] - nearest));
    total += weights[m];
  }
  for (let m = 0; m < distances.length; m++) weights[m] /= total;
  return { energy: nearest / 2 - Math.log(total) / beta };
}

/** @type {(x: State, y: State, mask?: ArrayLike<number> | null) => number} */
export function squaredDistance(x, y, mask = null) {
  let total = 0;
  for (let i = 0; i < x.length; i++) {
    if (mask && !mask[i]) continue;
    const difference = x[i] - y[i];
    total += difference * difference;
  }
  return total;
}

/**
 * Index of the stored pattern nearest to x.
 *
 * @type {(x: State, patterns: State[]) => number}
 */
export function nearest(x, patterns) {
  const distances = patterns.map((pattern) => squaredDistance(x, pattern));
  return distances.indexOf(Math.min(...distances));
}
