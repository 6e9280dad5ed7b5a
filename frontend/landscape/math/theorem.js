// Theorem 2′ of the chapter on bounds: a bound on the distance of two runs, computed in advance [D-sharp3].
import { kernelError } from "../../math/bounds.js";

/**
 * @typedef {{
 *   D?: number, K: number, Y: number, beta: number, eta: number, steps: number, energy: number, diameter: number,
 *   reach: number, delta?: number,
 * }} Setting
 */
/**
 * The bound (∞ if a hypothesis fails), and the first hypothesis that fails, in words (null if none does).
 *
 * @typedef {{ bound: number, fails: string | null }} Verdict
 */

/**
 * The uniform error ε₁ of the derivative on the ball of radius R, with probability at least 1 − δ [D-U1].
 *
 * @type {(ball: { D: number, Y: number, radius: number, delta: number }) => number}
 */
export function derivativeError({ D, Y, radius, delta }) {
  const t = Math.sqrt(
    (12 / Y) * (D * Math.log(5 * (1 + 2 * radius * Math.sqrt(Y / D))) + Math.log(4 / delta)),
  );
  const curvature = (1 + Math.sqrt(D / Y) + Math.sqrt((2 * Math.log(2 / delta)) / Y)) ** 2;
  return t <= 3 ? 2 * t + (curvature + 1) * Math.sqrt(D / Y) : Number.POSITIVE_INFINITY;
}

const ROUNDS = 3000; // most iterations towards a fixed point
const SLACK = 1 + 1e-6; // factor on the fixed point A, so that error(A) ≤ A holds in spite of rounding

/**
 * The bound of Theorem 2′, the same as `rankone.divergence_bound` for this setting.
 *
 * @param {Setting} setting
 * @returns {Verdict}
 */
export function divergenceBound(setting) {
  const { D = 2, K, Y, beta, eta, steps, energy, diameter, reach, delta = 0.05 } = setting;
  const kappa = (beta * diameter ** 2) / 4;
  const time = eta * steps;
  const drift = kappa < 1 ? Math.min(time / 2, 1 / (2 * (1 - kappa)) + eta / 2) : time / 2;
  /** @param {number} A */
  const tube = (A) => {
    const r0 = Math.max(reach, diameter + A);
    const radius = Math.sqrt(beta) * r0;
    const e0 = kernelError({ beta: radius ** 2, D, Y, delta: delta / 2 });
    return {
      level: energy + drift * A * A,
      r0,
      e0,
      e1: derivativeError({ D, Y, radius, delta: delta / 2 }),
    };
  };
  /** @param {number} A */
  const error = (A) => {
    const { level, r0, e0, e1 } = tube(A);
    const u = K * e0 * Math.exp(Math.min(beta * level, 700));
    if (u >= 1 || beta * level > 700) return Number.POSITIVE_INFINITY;
    return ((K * Math.exp(beta * level)) / (1 - u)) * (e1 / Math.sqrt(beta) + e0 * r0);
  };
  const A = leastFixedPoint(error);
  const { level, e0, e1 } = tube(Number.isFinite(A) ? A : 0);
  const u = K * e0 * Math.exp(Math.min(beta * level, 700));
  /** @type {[boolean, string][]} */
  const hypotheses = [
    [eta <= 1, "the step size is above 1"],
    [Number.isFinite(e1), "too few frequencies to bound the slope’s error"],
    [u < 1, "the kernels’ error may exceed their sum S"],
    [Number.isFinite(A), "no bound on how far E may rise"],
    [
      (1 - u) * Math.exp(-beta * level) > Math.sqrt(K / (2 * Y)) / 8,
      "Ŝ may be too small for its log",
    ],
  ];
  const fails = hypotheses.find(([holds]) => !holds)?.[1] ?? null;
  return { fails, bound: fails ? Number.POSITIVE_INFINITY : A * growthSum(eta, kappa - 1, steps) };
}

/**
 * The least A with error(A) ≤ A, for an increasing function `error`; ∞ if none was reached.
 *
 * @param {(A: number) => number} error
 */
function leastFixedPoint(error) {
  let A = error(0);
  for (let i = 0; i < ROUNDS && Number.isFinite(A); i++) {
    const next = error(A);
    if (next <= A * (1 + 1e-12)) break;
    A = next;
  }
  A *= SLACK;
  return error(A) <= A ? A : Number.POSITIVE_INFINITY;
}

/** @type {(eta: number, growth: number, steps: number) => number} */
function growthSum(eta, growth, steps) {
  if (Math.abs(eta * growth) < 1e-12) return eta * steps;
  return Math.expm1(steps * Math.log1p(eta * growth)) / growth;
}

/**
 * The least n for which the theorem gives a bound with Y = 10ⁿ frequencies; null if there is none up to 60.
 *
 * @param {Setting} setting
 */
export function neededPower(setting) {
  if (setting.eta > 1) return null;
  const says = (/** @type {number} */ n) =>
    divergenceBound({ ...setting, Y: 10 ** n }).fails === null;
  let [low, high] = [0, 60];
  if (!says(high)) return null;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (says(middle)) high = middle;
    else low = middle;
  }
  return high;
}
