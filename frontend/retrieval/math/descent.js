// The largest noise with which a whole run still succeeds, from distances alone: the law of the descent [D-sharp11],
// with one well per stored pattern instead of a single well. No features are drawn.

/**
 * The data that the law needs. `start` has the squared distances from the query to the patterns, and `held` the
 * part of them over the clamped entries; `moving` (K × K) has those between the patterns, over the free entries. The
 * run takes `steps` steps of size `eta` towards pattern `wanted`. It has found the pattern if the distance to it is
 * less than `ahead` times that to any other pattern (for a lone pattern: times that from the query).
 *
 * @typedef {{
 *   start: Float64Array, held: Float64Array, moving: Float64Array,
 *   wanted: number, eta: number, steps: number, ahead: number,
 * }} Descent
 */

export const LONGEST = 100; // steps followed at most, because the work grows as their cube
const STILL = 1e-6; // squared length in units of 1/β: after a shorter step the run is at rest
const FAR = 100; // squared length in units of 1/β: a state so far beyond all patterns does not return
const [LEAST, MOST] = [0.001, 4]; // range of the roughness
const HALVINGS = 11;

/**
 * The largest roughness c at which the run still finds the wanted pattern; 0 if it fails even without noise.
 *
 * @type {(descent: Descent, beta: number) => number}
 */
export function roughnessAllowed(descent, beta) {
  const wells = wellsOf(descent, beta);
  let [low, high] = [Math.log(LEAST), Math.log(MOST)];
  if (!arrives(wells, 0)) return 0;
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    if (arrives(wells, Math.exp(middle))) low = middle;
    else high = middle;
  }
  return Math.exp(low);
}

/**
 * True if the run finds the wanted pattern at roughness c.
 *
 * @type {(descent: Descent, beta: number, c: number) => boolean}
 */
export const succeeds = (descent, beta, c) => arrives(wellsOf(descent, beta), c);

/**
 * The patterns relative to the query, in units of 1/√β: their inner products over the free entries, and their squared
 * distances from the query over the clamped entries.
 *
 * @param {Descent} descent
 * @param {number} beta
 */
function wellsOf({ start, held, moving, wanted, eta, steps, ahead }, beta) {
  const n = start.length;
  const free = start.map((d, m) => d - held[m]);
  const products = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++)
      products[i * n + j] = (beta / 2) * (free[i] + free[j] - moving[i * n + j]);
  const fixed = held.map((d) => beta * d);
  return { n, products, held: fixed, wanted, eta, ahead, steps: Math.min(steps, LONGEST) };
}

/**
 * True if the descent finds the wanted pattern at roughness c. Relative to the query, a state uᵢ is a sum of the
 * patterns and of noise vectors ζ₀, ζ₁, … with ⟨ζᵢ, ζⱼ⟩ = c²·exp(−|uᵢ − uⱼ|²/2). Each earlier state attracts like a
 * pattern.
 *
 * @type {(wells: ReturnType<typeof wellsOf>, c: number) => boolean}
 */
function arrives({ n, products, held, wanted, eta, steps, ahead }, c) {
  const furthest = Math.max(...Array.from({ length: n }, (_, m) => products[m * n + m]));
  /** @type {Float64Array[]} The noise's inner products, row by row. */
  const noise = Array.from({ length: steps }, () => new Float64Array(steps));
  /** @type {{ of: Float64Array, noise: Float64Array, square: number }[]} Coordinates in patterns and in noise. */
  const states = [{ of: new Float64Array(n), noise: new Float64Array(steps), square: 0 }];
  for (let t = 0; ; t++) {
    const here = states[t];
    const along = applied(products, here.of, n);
    const within = noise.slice(0, t).map((row) => inner(row, here.noise, t));
    here.square = inner(here.of, along, n) + inner(here.noise, within, t);
    if (here.square > furthest + FAR) return false;
    const gaps = states.map((there) => {
      const overlap = inner(there.of, along, n) + inner(there.noise, within, t);
      return Math.max(here.square + there.square - 2 * overlap, 0);
    });
    const distances = along.map((a, m) => here.square - 2 * a + products[m * n + m]);
    if (t === steps || gaps[t - 1] < STILL) {
      const others = distances.filter((_, m) => m !== wanted);
      const runnerUp = n > 1 ? Math.min(...others) : furthest;
      return distances[wanted] < ahead * ahead * runnerUp;
    }
    const weights = distances.map((d, m) => Math.exp(-(d + held[m]) / 2));
    const pulls = new Float64Array(t);
    let S = 0;
    for (const weight of weights) S += weight;
    for (let j = 0; j <= t; j++) {
      noise[t][j] = noise[j][t] = c * c * Math.exp(-gaps[j] / 2);
      if (j === t) break;
      pulls[j] = noise[t][j] * here.noise[j];
      S += pulls[j];
    }
    if (!(S > 0)) return false;
    const next = { of: new Float64Array(n), noise: new Float64Array(steps), square: 0 };
    for (let m = 0; m < n; m++) next.of[m] = (1 - eta) * here.of[m] + (eta * weights[m]) / S;
    for (let j = 0; j < t; j++) next.noise[j] = (1 - eta) * here.noise[j];
    for (let j = 0; j < t; j++) {
      const share = (eta * pulls[j]) / S;
      for (let m = 0; m < n; m++) next.of[m] += share * states[j].of[m];
      for (let i = 0; i < j; i++) next.noise[i] += share * states[j].noise[i];
    }
    next.noise[t] = eta / S;
    states.push(next);
  }
}

/** @type {(a: ArrayLike<number>, b: ArrayLike<number>, n: number) => number} */
function inner(a, b, n) {
  let total = 0;
  for (let i = 0; i < n; i++) total += a[i] * b[i];
  return total;
}

/** @type {(matrix: Float64Array, v: Float64Array, n: number) => Float64Array} */
function applied(matrix, v, n) {
  const result = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    if (v[i] === 0) continue;
    for (let j = 0; j < n; j++) result[j] += matrix[i * n + j] * v[i];
  }
  return result;
}
