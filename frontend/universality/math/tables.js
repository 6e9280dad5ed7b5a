// Networks that write into one slot per cell (or per bit), and read a table with units that are inactive until the
// step.
import { dot } from "../../math/linear.js";
import { sparse } from "./matrix.js";
import { bitSelector, cellSelector, telescope } from "./selectors.js";

/** @import { Entry } from "./matrix.js" */
/** @import { Layer, Network } from "./network.js" */
/** @import { Selector } from "./selectors.js" */

/** @typedef {typeof CONSTANTS} Constants */
/** @typedef {(x: number, y: number, xStar: number) => number} Target */
/** @typedef {{ t: number[], ramp: number, centres: number[] }} Grid */

export const CONSTANTS = {
  alpha: 0.1,
  linear: 1e-2,
  margin: 1,
  offset: 1e-4,
  switch: 1e-8,
  damping: 1e-4,
  epsilon: 1e-3,
};
export const LOW = -1; // y lies in [−1, 1]
const LEVELS = 16;

/**
 * The J − 1 points t at which the ramps begin, the width of a ramp (a power of two, as in the package for float64), and
 * the centres of the cells.
 *
 * @type {(J: number) => Grid}
 */
function gridOf(J) {
  const ramp = 2 ** -20 / 2 ** Math.ceil(Math.log2(J));
  const t = Array.from({ length: J - 1 }, (_, i) => ramp * roundEven((i + 1) / (J * ramp) - 0.5));
  const edges = [0, ...t.map((v) => v + ramp / 2), 1];
  return { t, ramp, centres: edges.slice(1).map((edge, i) => (edge + edges[i]) / 2) };
}

/** @param {number} v */
const roundEven = (v) => {
  const low = Math.floor(v);
  if (v - low !== 0.5) return Math.round(v);
  return low % 2 === 0 ? low : low + 1;
};

/**
 * The two layers of φ. The first computes the ramps and the switch; the second [(d − s)₊; (d + s − 1)₊], δ in every
 * slot, and θ_b.
 *
 * @type {(grid: Grid, slots: number, constants: Constants) => Layer[]}
 */
function front({ t, ramp }, slots, constants) {
  const [n, J, gain] = [t.length, t.length + 1, 2]; // features are read as 2d − 1: rounding errors leave them inactive
  const moved = constants.alpha * constants.margin * constants.linear;
  const rise = 0.4 * moved;
  const theta = [2 * n, 2 * n + 1, 2 * n + 2];
  const first = sparse(2 * n + 3, 2, [
    ...Array.from({ length: 2 * n }, (_, i) => /** @type {Entry} */ ([i, 0, 1])),
    [theta[0], 1, 1 / rise],
    [theta[1], 1, 1 / rise],
    [theta[2], 1, 1],
  ]);
  const low = (0.1 * moved) / rise;
  const bias = Float64Array.from([
    ...t.map((v) => -v),
    ...t.map((v) => -v - ramp),
    -low,
    -low - 1,
    0,
  ]);
  const rows = 2 * J + slots + 1;
  /** @type {Entry[]} */
  const entries = [[rows - 1, theta[2], 1]];
  for (let half = 0; half < 2; half++) {
    for (let j = 0; j < J; j++) {
      const r = half * J + j;
      if (j > 0) entries.push([r, j - 1, gain / ramp], [r, n + j - 1, -gain / ramp]);
      if (j < J - 1) entries.push([r, j, -gain / ramp], [r, n + j, gain / ramp]);
      const sign = half === 0 ? -gain : gain;
      entries.push([r, theta[0], sign], [r, theta[1], -sign]);
    }
  }
  const second = new Float64Array(rows).fill(constants.offset, 2 * J, 2 * J + slots);
  for (let j = 0; j < J; j++) {
    second[j] = (j === 0 ? gain : 0) - 1;
    second[J + j] = second[j] - gain;
  }
  return [
    { W: first, b: bias },
    { W: sparse(rows, 2 * n + 3, entries), b: second },
  ];
}

/**
 * The value that the path of θ_b through φ adds at the centre of cell (j, l), in units of αwΔ.
 *
 * @type {(grid: Grid) => (j: number, l: number) => number}
 */
function frontKernel({ t, ramp, centres }) {
  const h = centres.map((x) => [...t, ...t.map((v) => v + ramp)].map((v) => Math.max(x - v, 0)));
  return (j, l) => 2 + centres[j] * centres[l] + dot(h[j], h[l]);
}

/** @type {(selector: Selector, constants: Constants) => Layer[]} */
function stackLayers(selector, constants) {
  const half = 2 * selector.J;
  const width = half + selector.slots + 1;
  return telescope(selector, constants.epsilon, constants.damping).map(({ forward, diagonal }) => {
    /** @type {Entry[]} */
    const entries = [[width - 1, width - 1, 1]];
    forward.data.forEach((v, i) => {
      if (v !== 0) entries.push([Math.floor(i / half), i % half, v]);
    });
    diagonal.forEach((v, s) => {
      entries.push([half + s, half + s, v]);
    });
    return { W: sparse(width, width, entries), b: null };
  });
}

/** @type {(a: number, b: number, n: number) => number[]} */
const linspace = (a, b, n) => Array.from({ length: n }, (_, i) => a + ((b - a) * i) / (n - 1));

/**
 * The values of the cells at equidistant y: at two if the target is affine in y, else at 16.
 *
 * @type {(target: Target, J: number) => number[][]}
 */
function interpolation(target, J) {
  const ys = linspace(LOW, 1, LEVELS);
  /** @param {number} i */
  const centre = (i) => (i + 0.5) / J;
  const values = Array.from({ length: J * J }, (_, c) =>
    ys.map((y) => target(centre(c % J), y, centre(Math.floor(c / J)))),
  );
  const largest = Math.max(...values.flat().map(Math.abs));
  /** @param {number[]} row */
  const bend = (row) =>
    Math.max(...linspace(row[0], row[LEVELS - 1], LEVELS).map((v, i) => Math.abs(v - row[i])));
  const affine = Math.max(...values.map(bend)) <= 1e-6 * (1 + largest);
  return affine ? values.map((row) => [row[0], row[LEVELS - 1]]) : values;
}

/**
 * The weights o with which Σ o (u − t)₊, over the knots t = u₀/2, u₀, u₁, …, interpolates the values of one cell. The
 * sum is 0 up to u₀/2 and constant beyond the last knot.
 *
 * @type {(u: number[], values: number[]) => number[]}
 */
function inactiveUnits(u, values) {
  const knots = [u[0] / 2, ...u];
  const all = [0, ...values];
  const slopes = all.map((v, i) =>
    i + 1 < all.length ? (all[i + 1] - v) / (knots[i + 1] - knots[i]) : 0,
  );
  return slopes.map((s, i) => s - (i > 0 ? slopes[i - 1] : 0));
}

/**
 * The read-out: the linear path, and for each cell the units that are inactive until the step.
 *
 * @type {(selector: Selector, grid: Grid, values: number[][], constants: Constants) => Layer[]}
 */
function readOut(selector, grid, values, constants) {
  const { J, A, decode, kernels, slots } = selector;
  const [half, low, { alpha, linear: w }] = [2 * J, LOW - constants.margin, constants];
  const u = linspace(LOW, 1, values[0].length).map((y) => y - low);
  const knots = [u[0] / 2, ...u];
  const ahead = frontKernel(grid);
  /** @type {Entry[]} */
  const entries = Array.from({ length: slots + 1 }, (_, s) => [0, half + s, 1]);
  const [bias, o] = [[0], [w]];
  /** @param {ArrayLike<number>} a */
  const sum = (a) => Array.from(a).reduce((x, y) => x + y, 0);
  for (let c = 0; c < J * J; c++) {
    const written = new Float64Array(slots);
    kernels[c].forEach((k, i) => {
      for (let s = 0; k !== 0 && s < slots; s++) written[s] += k * A[i][s];
    });
    const total = sum(written) + sum(kernels[c]) + 2 + ahead(c % J, Math.floor(c / J));
    const extra = alpha * (1 + w * w * total); // change of the output through its bias and the linear path, over Δ
    const beta = 1 / (alpha * w * dot(decode[c], written));
    const weights = inactiveUnits(
      u,
      values[c].map((v, i) => v - low - extra * u[i]),
    );
    knots.forEach((t, k) => {
      const row = bias.length;
      decode[c].forEach((v, s) => {
        if (v !== 0) entries.push([row, half + s, beta * v]);
      });
      bias.push(-t);
      o.push(weights[k]);
    });
  }
  const last = sparse(
    1,
    o.length,
    o.map((v, i) => [0, i, v]),
  );
  return [
    { W: sparse(bias.length, half + slots + 1, entries), b: Float64Array.from(bias) },
    { W: last, b: Float64Array.of(low) },
  ];
}

/**
 * The network for a target(x, y, x*): "seed" has one layer per cell, "logdepth" one per bit.
 *
 * @type {(target: Target, J: number, construction: string, given?: Partial<Constants>) => Network}
 */
export function tableNetwork(target, J, construction, given = {}) {
  const constants = { ...CONSTANTS, ...given };
  const selector = (construction === "seed" ? cellSelector : bitSelector)(J, constants.epsilon);
  const grid = gridOf(J);
  const middle = stackLayers(selector, constants);
  const layers = [
    ...front(grid, selector.slots, constants),
    ...middle,
    ...readOut(selector, grid, interpolation(target, J), constants),
  ];
  return {
    layers,
    switch: constants.switch,
    alpha: constants.alpha,
    stack: [2, 2 + middle.length],
    channels: [2 * J, selector.slots, 1],
  };
}

/**
 * The table that the network can at best equal: the target at the centres of the cells of x and x*.
 *
 * @type {(target: Target, J: number) => Target}
 */
export function lookup(target, J) {
  /** @param {number} v */
  const centre = (v) => (Math.min(Math.floor(v * J), J - 1) + 0.5) / J;
  return (x, y, xStar) => target(centre(x), y, centre(xStar));
}
