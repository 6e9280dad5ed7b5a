// The bodies of the networks without a table: the layers that write values in the step, and the units that are inactive
// until the step and read these values.
import { minus } from "../../math/linear.js";
import { kinks } from "./kinks.js";
import { sparse } from "./matrix.js";
import { amplifiers, telescope, unipotent } from "./selectors.js";

/** @import { Space, Triple, Unit } from "./kinks.js" */
/** @import { Layer } from "./network.js" */
/** @import { Constants } from "./tables.js" */

/**
 * The parts of a network. `body`: the layers before the last hidden one. `path`: the rows and biases of the last hidden
 * layer that need no fit, and their output weights. `inactive`: the rows and biases of the units that are inactive
 * until the step. `stack` and `channels`: as in Network. `switched`: true if there is a θ_b.
 *
 * @typedef {{
 *   body: Layer[],
 *   path: [rows: number[][], bias: number[], out: number[]],
 *   inactive: [rows: number[][], bias: number[]],
 *   stack: [number, number] | null,
 *   channels: Triple | null,
 *   switched: boolean,
 * }} Body
 */
/** @typedef {(units: number, k: Constants) => Body} MakeBody */

const CLEARANCE = 1e-3; // least amount by which a unit is below its kink before the step

/** @param {number[][]} rows */
export const rowsOf = (rows) =>
  sparse(
    rows.length,
    rows[0].length,
    rows.flatMap((row, r) => row.map((v, c) => /** @type {Triple} */ ([r, c, v]))),
  );
/** @type {(rows: number[][], bias?: number[] | null) => Layer} */
export const layer = (rows, bias = null) => ({
  W: rowsOf(rows),
  b: bias && Float64Array.from(bias),
});

/** @type {Space} */
const CONSTANT = {
  point: (x, u, xs) => [u, u * x, xs],
  jacobian: (x, u) => [
    [0, 1, 0],
    [u, x, 0],
    [0, 0, 1],
  ],
};

/**
 * The body of the construction "constant": a stack of four bias-free layers at every accuracy, which writes Δ and Δx.
 *
 * @type {MakeBody}
 */
export function constantBody(units, k) {
  const written = k.alpha * k.linear;
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
  const read = ({ a, c }) => [0, 0, a[2], c + CLEARANCE, a[0] / written, a[1] / written, 0];
  const readers = kinks(units, CONSTANT, k.margin);
  return {
    body: [first, second, ...middle],
    path: [[[0, 0, 0, 0, 1, 1, 1]], [0], [k.linear]],
    inactive: [readers.map(read), readers.map(() => -CLEARANCE)],
    stack: [2, 6],
    channels: [4, 2, 1],
    switched: true,
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

/**
 * The body of four hidden layers and no θ_b. It writes Δκ₂ and Δκ₁, whose ratio determines x.
 *
 * @type {MakeBody}
 */
export function shallowBody(units, k) {
  const written = k.alpha * k.linear;
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
  const gate = ({ a, c }) => Math.max(c + Math.max(a[2], 0), 0) + CLEARANCE; // makes the unit inactive at every x*
  const readers = kinks(units, SHALLOW, k.margin);
  return {
    body: [first, second, third],
    path: [[[0, 0, 0, 0, 0, 1]], [0], [k.linear]],
    inactive: [
      readers.map((unit) => [...unit.a, gate(unit), -gate(unit), 0]),
      readers.map((unit) => unit.c - gate(unit)),
    ],
    stack: null,
    channels: null,
    switched: false,
  };
}

/** @type {Space} */
const TWO_LAYERS = {
  point: (x, u, xs) => [u * (1 + x * xs), u * (1 + x * xs) * x, xs],
  jacobian: (x, u, xs) => [
    [u * xs, 1 + x * xs, u * x],
    [u * (1 + 2 * x * xs), (1 + x * xs) * x, u * x * x],
    [0, 0, 1],
  ],
};

/**
 * The body of two hidden layers and no θ_b. The step writes v₀ = Δ(1 + x x*) and v₁ = v₀·#{j: j/J < x}/J. The backward
 * pass counts these thresholds, because the unit of a threshold passes the error back only where it is active [M-S8].
 *
 * @type {MakeBody}
 */
export function twoLayerBody(units, k) {
  const [J, d, beta] = [cellsOf(units), k.offset, 1 / (k.alpha * k.linear)];
  const share = J ** -0.5; // input and output weight of each threshold's unit; their product is 1/J
  const t = Array.from({ length: J - 1 }, (_, j) => (j + 1) / J);
  const readers = inactive(kinks(4 * units, TWO_LAYERS, k.margin)).slice(0, units);
  return {
    body: [layer([[1], [0], [0]], [0, d, d])],
    path: [
      [[0, 1, 0], ...t.map(() => [d, 0, share])],
      [0, ...t.map((at) => -d * (at + share))],
      [k.linear, ...t.map(() => share * k.linear)],
    ],
    inactive: [
      readers.map(({ a }) => [a[2], beta * a[0], beta * a[1]]),
      readers.map(({ a, c }) => c - beta * d * (a[0] + a[1])),
    ],
    stack: null,
    channels: null,
    switched: false,
  };
}

/**
 * The number of cells into which the network with two hidden layers divides x.
 *
 * @param {number} units
 */
const cellsOf = (units) => Math.max(2, Math.floor(units / 4));

/**
 * The units with these kinks, each with the sign for which it is inactive at every x* while nothing is written. Kinks
 * for which neither sign is inactive are dropped.
 *
 * @param {Unit[]} units
 */
function inactive(units) {
  /** @type {(unit: Unit) => number} */
  const most = ({ a, c }) => c + Math.max(a[2], 0);
  return units
    .map(({ a, c }) => {
      /** @type {Unit} */
      const flipped = { a: [-a[0], -a[1], -a[2]], c: -c };
      return most({ a, c }) < most(flipped) ? { a, c } : flipped;
    })
    .filter((unit) => most(unit) < -CLEARANCE);
}
