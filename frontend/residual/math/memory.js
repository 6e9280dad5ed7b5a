// The memory of residuals: a mean over the k nearest examples, weighted by exp(−distance/σ) [S-eq2].

/**
 * A search for the k nearest of `n` rows of d numbers. `find(queries, at)` fills `indices` and `squares`, the squared
 * distances, in increasing order.
 */
export class Neighbours {
  /**
   * @param {ArrayLike<number>} rows
   * @param {number} n
   * @param {number} d
   * @param {number} k
   */
  constructor(rows, n, d, k) {
    this.rows = rows;
    this.n = n;
    this.d = d;
    this.k = Math.min(k, n);
    this.indices = new Int32Array(this.k);
    this.squares = new Float64Array(this.k);
    this.weights = new Float64Array(this.k);
  }

  /**
   * Searches the neighbours of the query that begins at index `at` of `queries`.
   *
   * @param {ArrayLike<number>} queries
   * @param {number} at
   */
  find(queries, at) {
    const { rows, n, d, k, indices, squares } = this;
    squares.fill(Number.POSITIVE_INFINITY);
    for (let i = 0, row = 0; i < n; i++, row += d) {
      let square = 0;
      for (let j = 0; j < d; j++) {
        const step = rows[row + j] - queries[at + j];
        square += step * step;
      }
      if (square >= squares[k - 1]) continue;
      let place = k - 1;
      for (; place > 0 && squares[place - 1] > square; place--) {
        squares[place] = squares[place - 1];
        indices[place] = indices[place - 1];
      }
      squares[place] = square;
      indices[place] = i;
    }
    return this;
  }

  /**
   * Sets the weights of the neighbours: w̄ᵢ ∝ exp(−‖z − zᵢ‖/σ). The least distance is subtracted from all, so that the
   * weights do not all underflow.
   *
   * @param {number} sigma
   */
  weigh(sigma) {
    const { k, squares, weights } = this;
    const nearest = Math.sqrt(squares[0]);
    let total = 0;
    for (let i = 0; i < k; i++) {
      weights[i] = Math.exp((nearest - Math.sqrt(squares[i])) / sigma);
      total += weights[i];
    }
    for (let i = 0; i < k; i++) weights[i] /= total;
    return this;
  }

  /**
   * The weighted mean Σ w̄ᵢ valuesᵢ over the neighbours.
   *
   * @param {ArrayLike<number>} values
   */
  read(values) {
    let sum = 0;
    for (let i = 0; i < this.k; i++) sum += this.weights[i] * values[this.indices[i]];
    return sum;
  }
}
