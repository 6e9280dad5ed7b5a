// Networks of constant depth whose last layer is a fitted net, asleep before the step: no table, no cells.
import { dot, sparse } from "./matrix.js";
import { forward, gradientStep } from "./network.js";
import { amplifiers, telescope, unipotent } from "./selectors.js";
import { CONSTANTS, LOW } from "./tables.js";

const SLEEP = 1e-3;
const RIDGE = 1e-10;
const SPAN = 1 - LOW;

/** Point n = 1, 2, … of the additive sequence whose steps are powers of a generalised golden ratio. */
export function quasirandom(n, dimensions) {
  let g = 2;
  for (let i = 0; i < 60; i++) g = (1 + g) ** (1 / (dimensions + 1));
  return Array.from({ length: n }, (_, i) =>
    Array.from({ length: dimensions }, (_, d) => (0.5 + (i + 1) * g ** -(d + 1)) % 1),
  );
}

/** Inverse of the normal distribution function: bisection on its series, to rounding. */
export function normalQuantile(p) {
  let [low, high] = [-9, 9];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (normal(middle) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** ½ + φ(x)(x + x³/3 + x⁵/15 + …), which loses nothing that the bisection needs. */
function normal(x) {
  let [term, sum] = [x, x];
  for (let k = 3; Math.abs(term) > 1e-17 * Math.abs(sum) && k < 400; k += 2) {
    term *= (x * x) / k;
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}

const rowsOf = (rows) =>
  sparse(
    rows.length,
    rows[0].length,
    rows.flatMap((row, r) => row.map((v, c) => [r, c, v])),
  ); // prettier-ignore
const layer = (rows, bias = null) => ({ W: rowsOf(rows), b: bias && Float64Array.from(bias) });

/** Solves the 3 × 3 system Jᵀ a = d by Cramer's rule. */
function solveTransposed(J, d) {
  const det = (A) =>
    A[0][0] * (A[1][1] * A[2][2] - A[1][2] * A[2][1]) -
    A[0][1] * (A[1][0] * A[2][2] - A[1][2] * A[2][0]) +
    A[0][2] * (A[1][0] * A[2][1] - A[1][1] * A[2][0]);
  const T = [0, 1, 2].map((r) => [0, 1, 2].map((c) => J[c][r]));
  const whole = det(T);
  return [0, 1, 2].map(
    (k) => det(T.map((row, r) => row.map((v, c) => (c === k ? d[r] : v)))) / whole,
  );
}

/** Directions and offsets of units whose kinks pass evenly through the space of tasks (x, Δ, x*). */
function kinks(units, { point, jacobian }, margin) {
  return quasirandom(units, 6).map((u) => {
    const task = [u[0], u[1] * SPAN + margin, u[2]];
    const direction = [3, 4, 5].map((i) => normalQuantile(u[i]) / (i === 4 ? SPAN : 1));
    const a = solveTransposed(jacobian(...task), direction);
    const length = Math.hypot(...a);
    const unit = a.map((v) => v / length);
    return { a: unit, c: -dot(unit, point(...task)) };
  });
}

const CONSTANT = {
  point: (x, u, xs) => [u, u * x, xs],
  jacobian: (x, u) => [
    [0, 1, 0],
    [u, x, 0],
    [0, 0, 1],
  ], // prettier-ignore
};

function constantBody(k, written) {
  const gain = 2.5 / (written * k.margin);
  const e = (i) => [0, 1, 2, 3].map((c) => (c === i ? 1 : 0));
  const s = [0, 1, -1, 0];
  const minus = (a, b) => a.map((v, i) => v - b[i]);
  const nothing = [0, 0, 0, 0];
  const first = layer(
    [
      [1, 0],
      [0, gain],
      [0, gain],
      [0, 1],
    ],
    [0, -0.25, -1.25, 0],
  ); // prettier-ignore
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
  const read = ({ a, c }) => [0, 0, a[2], c + SLEEP, a[0] / written, a[1] / written, 0];
  const sleepers = (units) => [units.map(read), units.map(() => -SLEEP)];
  return {
    body: [first, second, ...middle],
    q: [0, 0, 0, 0, 1, 1, 1],
    sleepers,
    stack: [2, 6],
    channels: [4, 2, 1],
  };
}

const SHALLOW = {
  point: (x, u, xs) => [u * (1 + (x * xs) / 4 + (1 - x / 2) * (1 - xs / 2)), u * (1 + x * xs), xs],
  jacobian: (x, u, xs) => [
    [(u * (xs - 1)) / 2, 1 + (x * xs) / 4 + (1 - x / 2) * (1 - xs / 2), (u * (x - 1)) / 2],
    [u * xs, 1 + x * xs, u * x],
    [0, 0, 1],
  ],
};

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
  ); // prettier-ignore
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
  ); // prettier-ignore
  const gate = ({ a, c }) => Math.max(c + Math.max(a[2], 0), 0) + SLEEP; // asleep for every x*
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
 */
export function fittedNetwork(target, units, construction, given = {}) {
  const blank = new Array(units).fill(0);
  const o = fit(unfitted(blank, construction, CONSTANTS), target, units);
  return unfitted(o, construction, { ...CONSTANTS, ...given });
}

function unfitted(o, construction, k) {
  const shallow = construction === "shallow";
  const make = shallow ? shallowBody : constantBody;
  const { body, q, sleepers, stack, channels } = make(k, k.alpha * k.linear);
  const [rows, bias] = sleepers(kinks(o.length, shallow ? SHALLOW : CONSTANT, k.margin));
  const read = layer([q, ...rows], [0, ...bias]);
  const layers = [...body, read, layer([[k.linear, ...o]], [LOW - k.margin])];
  return { layers, switch: shallow ? null : k.switch, alpha: k.alpha, stack, channels };
}

/** Output weights by least squares over real gradient steps on evenly spread tasks. */
function fit(network, target, units) {
  const gram = Array.from({ length: units }, () => new Float64Array(units));
  const right = new Float64Array(units);
  for (const [x, u, xs] of quasirandom(4 * units, 3)) {
    const y = LOW + SPAN * u;
    const { inputs, output } = forward(network, xs, gradientStep(network, x, y));
    const h = inputs.at(-2).subarray(1);
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
  return solve(gram, right);
}

/** Cholesky, in the lower triangle of `gram`. */
function solve(gram, right) {
  const n = right.length;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let v = gram[i][j];
      for (let k = 0; k < j; k++) v -= gram[i][k] * gram[j][k];
      gram[i][j] = i === j ? Math.sqrt(v) : v / gram[j][j];
    }
  }
  const z = right.slice();
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) z[i] -= gram[i][k] * z[k];
    z[i] /= gram[i][i];
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) z[i] -= gram[k][i] * z[k];
    z[i] /= gram[i][i];
  }
  return z;
}
