// The noise that a whole run can stand, from distances alone: the law of the descent [D-sharp11], with a well for every
// stored pattern in place of one. No features are drawn.

/**
 * What the law needs: squared distances of the query to the patterns, the part of them that is held, and those between
 * the patterns (K × K) over the free entries. The run takes `steps` steps of size `eta` towards pattern `wanted`, and
 * has found it at less than `ahead` of its distance to any other (of a lone pattern: to where it began).
 *
 * @typedef {{
 *   start: Float64Array, held: Float64Array, moving: Float64Array,
 *   wanted: number, eta: number, steps: number, ahead: number,
 * }} Descent
 */

const LONGEST = 100; // steps that are followed: the work grows as their cube
const STILL = 1e-6; // squared, in units of 1/β: a step of less leads nowhere else
const FAR = 100; // squared, in units of 1/β: nothing calls a state back
const [LEAST, MOST] = [0.001, 4]; // roughness
const HALVINGS = 11;

/**
 * The largest roughness c at which the run still finds the wanted pattern; 0 where it does not find it without noise.
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
 * The patterns around the query, in units of 1/√β: their inner products seen from the query, and the part of their
 * distances that is held.
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
 * Whether the descent finds the wanted pattern at roughness c. A state is a sum of the patterns, seen from the query, and
 * of noise vectors ζ₀, ζ₁, … with ⟨ζᵢ, ζⱼ⟩ = c²·exp(−|uᵢ − uⱼ|²/2); each state left behind attracts as a pattern would.
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
