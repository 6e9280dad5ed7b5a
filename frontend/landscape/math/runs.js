// Both descents from one query, and a bound on their distance, computed step by step along the runs [D-eq48-53]. The
// bound in advance of any run [D-sharp3] is in theorem.js.

/** @import { Point } from "../../kit/handle.js" */
/** @import { Estimate } from "../../math/plane/estimate.js" */
/** @import { Exact } from "../../math/plane/exact.js" */

/**
 * The states of both runs; the energies of the exact one; `distance`, ‖x − x̂‖ after each step; `errors`, the errors
 * e_t of the gradient; `growth`, the factors ρ_t; and `tube`, the bound D from the recursion D ← ρ_t D + η e_t.
 *
 * @typedef {{
 *   exact: Point[], copy: Point[], energies: number[], distance: number[], errors: number[], growth: number[],
 *   tube: number[],
 * }} Runs
 */

const LOST = 1e6; // coordinates are clipped here, so that a run that diverges stays finite

/** @type {(x: Point, eta: number, g: Point) => Point} */
const stepped = (x, eta, g) => [
  Math.max(-LOST, Math.min(LOST, x[0] - eta * g[0])),
  Math.max(-LOST, Math.min(LOST, x[1] - eta * g[1])),
];
/** @type {(a: Point, b: Point) => number} */
const between = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);

/**
 * @param {{ exact: Exact, copy: Estimate | null, query: Point, eta: number, steps: number }} how
 * @returns {Runs}
 */
export function descend({ exact, copy, query, eta, steps }) {
  /** @type {Runs} */
  const runs = {
    exact: [query],
    copy: copy ? [query] : [],
    energies: [exact.energy(query)],
    distance: copy ? [0] : [],
    errors: [],
    growth: [],
    tube: copy ? [0] : [],
  };
  for (let t = 0; t < steps; t++) {
    const x = runs.exact[t];
    runs.exact.push(stepped(x, eta, exact.gradient(x)));
    runs.energies.push(exact.energy(runs.exact[t + 1]));
    if (!copy) continue;
    const y = runs.copy[t];
    const { gradient } = copy.read(y);
    runs.errors.push(between(gradient, exact.gradient(y)));
    runs.growth.push(growthBetween(exact, x, y, eta));
    runs.copy.push(stepped(y, eta, gradient));
    runs.distance.push(between(runs.exact[t + 1], runs.copy[t + 1]));
    runs.tube.push(runs.growth[t] * runs.tube[t] + eta * runs.errors[t]);
  }
  return runs;
}

export const POINTS = 9; // points of a segment at which the curvature is computed

/**
 * The largest |1 − ηλ| over the eigenvalues λ of ∇²E at points of the segment between two states.
 *
 * @type {(exact: Exact, x: Point, y: Point, eta: number) => number}
 */
function growthBetween(exact, x, y, eta) {
  let largest = 0;
  for (let i = 0; i < POINTS; i++) {
    const share = i / (POINTS - 1);
    const curvature = exact.curvature([x[0] + share * (y[0] - x[0]), x[1] + share * (y[1] - x[1])]);
    for (const value of curvature) largest = Math.max(largest, Math.abs(1 - eta * value));
  }
  return largest;
}
