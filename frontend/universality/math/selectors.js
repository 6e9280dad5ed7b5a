// The matrices that make each layer respond to one cell (j, l), or to one bit, and the telescope: the weights with
// which each layer of the stack gets its matrix.
import { identity, rightDivide } from "./matrix.js";

/** @import { Dense } from "./matrix.js" */
/** @typedef {{ J: number, B: Dense[], A: Float64Array[], decode: Float64Array[], kernels: number[][], slots: number }} Selector */

/**
 * The matrix B_jl = [[E_jj, E_jl], [E_lj, 0]] + εI as printed in the paper.
 *
 * @type {(j: number, l: number, J: number, epsilon: number) => Dense}
 */
function seedMatrix(j, l, J, epsilon) {
  const B = identity(2 * J, epsilon);
  B.data[j * 2 * J + j] += 1;
  B.data[j * 2 * J + J + l] = 1;
  B.data[(J + l) * 2 * J + j] = 1;
  return B;
}

/**
 * The matrix I + [[0, U], [0, 0]], whose kernel is U(j, l).
 *
 * @type {(J: number, U: (j: number, l: number) => number) => Dense}
 */
export function unipotent(J, U) {
  const B = identity(2 * J);
  for (let j = 0; j < J; j++) for (let l = 0; l < J; l++) B.data[j * 2 * J + J + l] = U(j, l);
  return B;
}

/**
 * Entry (j, J + l) of BᵀB: the factor with which a step taken with x in cell j acts at x* in cell l.
 *
 * @type {(B: Dense, j: number, l: number) => number}
 */
function kernel(B, j, l) {
  const [n, J] = [B.cols, B.cols / 2];
  let sum = 0;
  for (let i = 0; i < n; i++) sum += B.data[i * n + j] * B.data[i * n + J + l];
  return sum;
}

/** @type {(n: number, value: number) => Float64Array} */
const filled = (n, value) => new Float64Array(n).fill(value);

/**
 * The selector with one layer and one slot per cell. Cell (j, l) has the number j + Jl.
 *
 * @type {(J: number, epsilon: number) => Selector}
 */
export function cellSelector(J, epsilon) {
  const B = Array.from({ length: J * J }, (_, c) =>
    seedMatrix(c % J, Math.floor(c / J), J, epsilon),
  );
  const decode = B.map((_, c) => filled(J * J, 0).fill(1, c, c + 1));
  return finish(J, B, decode, epsilon);
}

/**
 * The selector with one layer and one slot per bit of j and of l, after a first layer and slot for all cells.
 *
 * @type {(J: number, epsilon: number) => Selector}
 */
export function bitSelector(J, epsilon) {
  const bits = Math.max(1, Math.ceil(Math.log2(J)));
  /** @type {(n: number, b: number) => number} */
  const bit = (n, b) => (n >> b) & 1;
  const each = Array.from({ length: bits }, (_, b) => b);
  const B = [
    unipotent(J, () => 1),
    ...each.map((b) => unipotent(J, (j) => bit(j, b))),
    ...each.map((b) => unipotent(J, (_, l) => bit(l, b))),
  ];
  const decode = Array.from({ length: J * J }, (_, c) => {
    const words = [
      ...each.map((b) => bit(c % J, b)),
      ...each.map((b) => bit(Math.floor(c / J), b)),
    ];
    const set = words.reduce((a, b) => a + b, 0);
    return Float64Array.from([1 - set, ...words.map((w) => 2 * w - 1)]);
  });
  return finish(J, B, decode, epsilon);
}

/**
 * The diagonals of A: layer p writes into slot p with the factor 1 + ε, and into the other slots with ε.
 *
 * @type {(n: number, epsilon: number) => Float64Array[]}
 */
export const amplifiers = (n, epsilon) =>
  Array.from({ length: n }, (_, p) => filled(n, epsilon).fill(1 + epsilon, p, p + 1));

/** @type {(J: number, B: Dense[], decode: Float64Array[], epsilon: number) => Selector} */
function finish(J, B, decode, epsilon) {
  const A = amplifiers(B.length, epsilon);
  const kernels = decode.map((_, c) => B.map((b) => kernel(b, c % J, Math.floor(c / J))));
  return { J, B, A, decode, kernels, slots: B.length };
}

/**
 * The blocks of the N = n + 2 layers, in the order in which they are applied: the forward block W̃ (dense), and the
 * diagonal of the block W̄ of the written channel.
 *
 * @type {(selector: Pick<Selector, "J" | "B" | "A" | "slots">, epsilon: number, damping: number) => { forward: Dense, diagonal: Float64Array }[]}
 */
export function telescope({ J, B, A, slots }, epsilon, damping) {
  const eye = identity(2 * J);
  const ahead = [eye, eye, ...B, eye]; // M̃₁ … M̃_{N+1}
  const ends = [filled(slots, 1), ...A, filled(slots, epsilon), filled(slots, damping ** 2)];
  const back = ends.map((a) => a.map(Math.sqrt)); // diagonals of M̄₀ … M̄_N
  return [...B, null, null]
    .map((_, i) => ({
      forward: rightDivide(ahead[i], ahead[i + 1]),
      diagonal: back[i + 1].map((v, s) => v / back[i][s]),
    }))
    .reverse();
}
