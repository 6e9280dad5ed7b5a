// Risks as the paper bounds them, and as they are [S-thm5.3, S-S1, S-S4].

const DEPTHS = 96; // nodes in the depth 1 − r of a point below the sphere
const REACHES = 256; // nodes in the distance t between two points
const FINEST = 1e-5; // least depth and distance, as a fraction of the radius
const NOTHING = -50; // exponents below it are skipped, because their exponential is negligible

/**
 * E Zₙ by quadrature: the mean squared distance from a point of the ball to the nearest of n others [S-S7].
 *
 * @type {(n: number, d: number) => number}
 */
export function neighbourDistance(n, d) {
  const name = `${n}/${d}`;
  const distance = distances.get(name) ?? quadrature(n, d);
  distances.set(name, distance);
  return distance;
}

/** @type {Map<string, number>} */
const distances = new Map();

/** @type {(n: number, d: number) => number} */
function quadrature(n, d) {
  const { outside, weights, squares } = tableOf(d);
  let total = 0;
  for (let a = 0; a < DEPTHS; a++) {
    let inner = 0;
    for (let b = 0; b < REACHES; b++) {
      const exponent = n * outside[a * REACHES + b];
      if (exponent > NOTHING) inner += squares[b] * Math.exp(exponent);
    }
    total += weights[a] * inner;
  }
  return (d + 2) * total;
}

/** @typedef {{ outside: Float64Array, weights: Float64Array, squares: Float64Array }} Table */
/** @type {Map<number, Table>} */
const tables = new Map();

/**
 * The table of ln(1 − F_r(t)), where F_r(t) is the fraction of the unit ball within distance t of a point at radius r.
 * The nodes are even in log t and in log(1 − r).
 *
 * @type {(d: number) => Table}
 */
function tableOf(d) {
  const known = tables.get(d);
  if (known) return known;
  const cap = capOf(d);
  const log = Math.log(1 / FINEST);
  const depthStep = log / (DEPTHS - 1);
  const reachStep = Math.log(2 / FINEST) / (REACHES - 1);
  const outside = new Float64Array(DEPTHS * REACHES);
  const weights = new Float64Array(DEPTHS);
  const squares = new Float64Array(REACHES);
  for (let b = 0; b < REACHES; b++) {
    const t = FINEST * Math.exp(b * reachStep);
    squares[b] = 2 * t * t * reachStep * (b === 0 || b === REACHES - 1 ? 0.5 : 1);
  }
  for (let a = 0; a < DEPTHS; a++) {
    const depth = FINEST * Math.exp(a * depthStep);
    const r = 1 - depth;
    const ends = a === 0 || a === DEPTHS - 1 ? 0.5 : 1;
    weights[a] = d * Math.max(r, 0) ** (d - 1) * depth * depthStep * ends;
    for (let b = 0; b < REACHES; b++) {
      outside[a * REACHES + b] = Math.log1p(-shareOf(FINEST * Math.exp(b * reachStep), r, d, cap));
    }
  }
  const mass = weights.reduce((sum, w) => sum + w, 0); // 1 up to the rule's error and the outermost shell
  const table = { outside, weights: weights.map((w) => w / mass), squares };
  tables.set(d, table);
  return table;
}

/** @type {(t: number, r: number, d: number, cap: (height: number) => number) => number} */
function shareOf(t, r, d, cap) {
  if (t <= 1 - r) return t ** d;
  if (t >= 1 + r) return 1;
  const wall = (r * r + 1 - t * t) / (2 * r);
  const own = (r * r + t * t - 1) / (2 * r * t);
  return Math.min(1, cap(wall) + t ** d * cap(own));
}

/**
 * The fraction of the unit ball beyond a plane at a signed height h: ∫ₕ¹ (1 − u²)^((d−1)/2) du divided by the same
 * integral from −1.
 *
 * @type {(d: number) => (height: number) => number}
 */
function capOf(d) {
  const n = 2000;
  const sums = new Float64Array(n + 1); // from angle 0: u = cos φ makes the integrand sin^d φ, smooth at both ends
  /** @param {number} i */
  const density = (i) => Math.sin((Math.PI * i) / n) ** d;
  for (let i = 1; i <= n; i++) sums[i] = sums[i - 1] + (density(i - 1) + density(i)) / 2;
  return (height) => {
    const place = (n * Math.acos(Math.max(-1, Math.min(1, height)))) / Math.PI;
    const i = Math.min(n - 1, Math.floor(place));
    return (sums[i] + (place - i) * (sums[i + 1] - sums[i])) / sums[n];
  };
}

/**
 * The risk of the base for large n: the square of the part of the slope that it cannot represent.
 *
 * @param {number} L
 */
export const baseLaw = (L) => Math.max(0, 1 - L) ** 2;

/**
 * The bound of Theorem 5.3 as printed, with constant 1. Its second term is 0 at n = 1.
 *
 * @type {(n: number, d: number, L: number) => number}
 */
export const printed = (n, d, L) =>
  d ** 2 * L ** 2 * n ** (-2 / 3) + d ** 2 * baseLaw(L) * (Math.log(n) / d / n) ** (1 / d);

/**
 * The risk with a memory of one neighbour: noise + (1 − L)² E Zₙ/d [S-S4]. L = 0 is the nearest neighbour alone.
 *
 * @type {(distance: number, d: number, L: number, noise: number) => number}
 */
export const memoryLaw = (distance, d, L, noise) => noise + (baseLaw(L) * distance) / d;

/**
 * The noise variance above which a memory of one neighbour hurts: (1 − L)²(1 − E Zₙ/d) [S-S4].
 *
 * @type {(distance: number, d: number, L: number) => number}
 */
export const helpfulNoise = (distance, d, L) => baseLaw(L) * (1 - distance / d);
