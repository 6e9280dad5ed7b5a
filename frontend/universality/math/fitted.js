// Networks of constant depth whose last layer is a fitted net, asleep before the step: no table, no cells.
import { dot, minus, solvePositive } from "../../kit/linear.js";
import { sparse } from "./matrix.js";
import { forward, gradientStep } from "./network.js";
import { amplifiers, telescope, unipotent } from "./selectors.js";
import { CONSTANTS, LOW } from "./tables.js";

/** @import { Layer, Network } from "./network.js" */
/** @import { Constants, Target } from "./tables.js" */

/** @typedef {[number, number, number]} Triple */
/**
 * A unit's direction in the space that the body spans, and its offset.
 *
 * @typedef {{ a: Triple, c: number }} Unit
 */
/** @typedef {{ point(x: number, u: number, xs: number): Triple, jacobian(x: number, u: number, xs: number): Triple[] }} Space */
/**
 * The layers before the read-out, its linear path, and the rows and biases of its sleeping units.
 *
 * @typedef {{
 *   body: Layer[],
 *   q: number[],
 *   sleepers(units: Unit[]): [rows: number[][], bias: number[]],
 *   stack: [number, number] | null,
 *   channels: Triple | null,
 * }} Body
 */

const SLEEP = 1e-3;
const RIDGE = 1e-10;
const SPAN = 1 - LOW;

/**
 * Points 1 to n of the additive sequence whose steps are powers of a generalised golden ratio.
 *
 * @type {(n: number, dimensions: number) => number[][]}
 */
export function quasirandom(n, dimensions) {
  let g = 2;
  for (let i = 0; i < 60; i++) g = (1 + g) ** (1 / (dimensions + 1));
  return Array.from({ length: n }, (_, i) =>
    Array.from({ length: dimensions }, (_, d) => (0.5 + (i + 1) * g ** -(d + 1)) % 1),
  );
}

/**
 * Inverse of the normal distribution function: bisection on its series, to rounding.
 *
 * @param {number} p
 */
export function normalQuantile(p) {
  let [low, high] = [-9, 9];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (normal(middle) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/**
 * ½ + φ(x)(x + x³/3 + x⁵/15 + …), which loses nothing that the bisection needs.
 *
 * @param {number} x
 */
function normal(x) {
  let [term, sum] = [x, x];
  for (let k = 3; Math.abs(term) > 1e-17 * Math.abs(sum) && k < 400; k += 2) {
    term *= (x * x) / k;
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}

/** @param {number[][]} rows */
const rowsOf = (rows) =>
  sparse(
    rows.length,
    rows[0].length,
    rows.flatMap((row, r) => row.map((v, c) => /** @type {Triple} */ ([r, c, v]))),
  );
/** @type {(rows: number[][], bias?: number[] | null) => Layer} */
const layer = (rows, bias = null) => ({ W: rowsOf(rows), b: bias && Float64Array.from(bias) });

/**
 * Solves the 3 × 3 system Jᵀ a = d by Cramer's rule.
 *
 * @type {(J: Triple[], d: number[]) => Triple}
 */
function solveTransposed(J, d) {
  /** @param {number[][]} A */
  const det = (A) =>
    A[0][0] * (A[1][1] * A[2][2] - A[1][2] * A[2][1]) -
    A[0][1] * (A[1][0] * A[2][2] - A[1][2] * A[2][0]) +
    A[0][2] * (A[1][0] * A[2][1] - A[1][1] * A[2][0]);
  const T = [0, 1, 2].map((r) => [0, 1, 2].map((c) => J[c][r]));
  const whole = det(T);
  /** @param {number} k */
  const entry = (k) => det(T.map((row, r) => row.map((v, c) => (c === k ? d[r] : v)))) / whole;
  return [entry(0), entry(1), entry(2)];
}

/**
 * Directions and offsets of units whose kinks pass evenly through the space of tasks (x, Δ, x*).
 *
 * @type {(units: number, space: Space, margin: number) => Unit[]}
 */
function kinks(units, { point, jacobian }, margin) {
  return quasirandom(units, 6).map((u) => {
    /** @type {Triple} */
    const task = [u[0], u[1] * SPAN + margin, u[2]];
    const direction = [3, 4, 5].map((i) => normalQuantile(u[i]) / (i === 4 ? SPAN : 1));
    const a = solveTransposed(jacobian(...task), direction);
    const length = Math.hypot(...a);
    /** @type {Triple} */
    const unit = [a[0] / length, a[1] / length, a[2] / length];
    return { a: unit, c: -dot(unit, point(...task)) };
  });
}

/** @type {Space} */
const CONSTANT = {
  point: (x, u, xs) => [u, u * x, xs],
  jacobian: (x, u) => [
    [0, 1, 0],
    [u, x, 0],
    [0, 0, 1],
  ],
};

/** @type {(k: Constants, written: number) => Body} */
function constantBody(k, written) {
  const gain = 2.5 / (written * k.margin);
  /** @param {number} i */
  const e = (i) => [0, 1, 2, 3].map((c) => (c === i ? 1 : 0));
  const s = [0, 1, -1, 0];
  const nothing = [0, 0, 0, 0];
  const first = layer(
    [
      [1, 0],
      [0, gain],
      [0, gain],
      [0, 1],
    ],
    [0, -0.25, -1.25, 0],
  );
  const rows = [
    minus(e(0), s),
    minus(nothing, s),
    e(0).map((v, i) => v + s[i]),
    s,
    nothing,
    nothing,
    e(3),
  ];
  const second = layer(rows, [0, 1, -1, 0, k.offset, k.offset, 0]);
  const B = [
    unipotent(2, (j, l) => (j === 1 && l === 1 ? 1 : 0)),
    unipotent(2, (j, l) => (j === 0 && l === 1 ? 1 : 0)),
  ];
  const stack = telescope({ J: 2, B, A: amplifiers(2, k.epsilon), slots: 2 }, k.epsilon, k.damping);
  const middle = stack.map(({ forward: F, diagonal }) =>
    layer(
      Array.from({ length: 7 }, (_, r) =>
        Array.from({ length: 7 }, (_, c) => {
          if (r < 4 && c < 4) return F.data[4 * r + c];
          return r === c ? (r === 6 ? 1 : diagonal[r - 4]) : 0;
        }),
      ),
    ),
  );
  /** @param {Unit} unit */
  const read = ({ a, c }) => [0, 0, a[2], c + SLEEP, a[0] / written, a[1] / written, 0];
  /** @type {Body["sleepers"]} */
  const sleepers = (units) => [units.map(read), units.map(() => -SLEEP)];
  return {
    body: [first, second, ...middle],
    q: [0, 0, 0, 0, 1, 1, 1],
    sleepers,
    stack: [2, 6],
    channels: [4, 2, 1],
  };
}

/** @type {Space} */
const SHALLOW = {
  point: (x, u, xs) => [u * (1 + (x * xs) / 4 + (1 - x / 2) * (1 - xs / 2)), u * (1 + x * xs), xs],
  jacobian: (x, u, xs) => [
    [(u * (xs - 1)) / 2, 1 + (x * xs) / 4 + (1 - x / 2) * (1 - xs / 2), (u * (x - 1)) / 2],
    [u * xs, 1 + x * xs, u * x],
    [0, 0, 1],
  ],
};

/** @type {(k: Constants, written: number) => Body} */
function shallowBody(k, written) {
  const g = 2.5 / k.margin;
  const d = k.offset;
  const shut = (g * d) / written + 0.25;
  const first = layer([[0.5], [-0.5], [0]], [0, 1, d]);
  const second = layer(
    [
      [1, 0, 0],
      [0, 0, 1],
      [0, 0, 0],
    ],
    [0, 0, d],
  );
  const third = layer(
    [
      [0, 0, 1 / written],
      [0, 1 / written, -1 / written],
      [2, 0, 0],
      [0, 0, g / written],
      [0, 0, g / written],
      [0, 1, 1],
    ],
    [-d / written, 0, 0, -shut, -shut - 1, 0],
  );
  /** @param {Unit} unit */
  const gate = ({ a, c }) => Math.max(c + Math.max(a[2], 0), 0) + SLEEP; // asleep for every x*
  /** @type {Body["sleepers"]} */
  const sleepers = (units) => [
    units.map((unit) => [...unit.a, gate(unit), -gate(unit), 0]),
    units.map((unit) => unit.c - gate(unit)),
  ];
  return {
    body: [first, second, third],
    q: [0, 0, 0, 0, 0, 1],
    sleepers,
    stack: null,
    channels: null,
  };
}

/**
 * "constant": four bias-free layers whatever the accuracy; "shallow": four hidden layers in all, and no θ_b.
 * The output weights are fitted with the construction's own constants; `given` then replaces some of them.
 *
 * @type {(target: Target, units: number, construction: string, given?: Partial<Constants>) => Network}
 */
export function fittedNetwork(target, units, construction, given = {}) {
  const blank = new Array(units).fill(0);
  const o = fit(unfitted(blank, construction, CONSTANTS), target, units);
  return unfitted(o, construction, { ...CONSTANTS, ...given });
}

/** @type {(o: number[], construction: string, k: Constants) => Network} */
function unfitted(o, construction, k) {
  const shallow = construction === "shallow";
  const make = shallow ? shallowBody : constantBody;
  const { body, q, sleepers, stack, channels } = make(k, k.alpha * k.linear);
  const [rows, bias] = sleepers(kinks(o.length, shallow ? SHALLOW : CONSTANT, k.margin));
  const read = layer([q, ...rows], [0, ...bias]);
  const layers = [...body, read, layer([[k.linear, ...o]], [LOW - k.margin])];
  return { layers, switch: shallow ? null : k.switch, alpha: k.alpha, stack, channels };
}

/**
 * Output weights by least squares over real gradient steps on evenly spread tasks.
 *
 * @type {(network: Network, target: Target, units: number) => number[]}
 */
function fit(network, target, units) {
  const gram = Array.from({ length: units }, () => new Float64Array(units));
  const right = new Float64Array(units);
  for (const [x, u, xs] of quasirandom(4 * units, 3)) {
    const y = LOW + SPAN * u;
    const { inputs, output } = forward(network, xs, gradientStep(network, x, y));
    const h = inputs[inputs.length - 2].subarray(1);
    const missing = target(x, y, xs) - output;
    for (let i = 0; i < units; i++) {
      if (h[i] === 0) continue;
      right[i] += h[i] * missing;
      for (let j = 0; j <= i; j++) gram[i][j] += h[i] * h[j];
    }
  }
  const trace = gram.reduce((sum, row, i) => sum + row[i], 0);
  gram.forEach((row, i) => {
    row[i] += RIDGE * trace;
  });
  const weights = solvePositive(gram, right);
  if (!weights) throw new Error("The fit has no solution: its ridge is too small.");
  return weights;
}
