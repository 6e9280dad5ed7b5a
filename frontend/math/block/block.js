// One block of P frequencies: its arrays, and the arithmetic on them, four floats at a time if the browser allows it.
import { walshHadamard } from "./hadamard.js";
import { simdBlock } from "./simd.js";
import { sincos } from "./sincos.js";

// z: the transformed state, from `enter`; sum: the result, for `leave`; h: the projections, then the slopes by them;
// first, second: the functions of h; t, u: their part of T. before, between, norms: the diagonals of the matrices in
// Ω_b = norms · H · between · H · before.
const NAMES = /** @type {const} */ ([
  ...["z", "sum", "h", "first", "second", "t", "u", "before", "between", "norms"],
]);

/** @typedef {Record<(typeof NAMES)[number], Float32Array>} Arrays */
/**
 * `project`: h ← Ω_b z; `waves`: first, second ← cos h, sin h; `slopes`: h ← u·first − t·second, and returns
 * Σ t·first + u·second; `addBack`: sum ← sum + Ω_bᵀ h; `transform(name)`: the transform of z or of `sum`.
 *
 * @typedef {Arrays & {
 *   project(): void,
 *   waves(): void,
 *   slopes(): number,
 *   addBack(): void,
 *   transform(name: "z" | "sum"): void,
 * }} Block
 */

/** @type {Map<number, Block>} */
const blocks = new Map();

/**
 * The block of length P, which all memories share.
 *
 * @param {number} P
 */
export function blockOf(P) {
  const known = blocks.get(P);
  if (known) return known;
  const block = best(P);
  blocks.set(P, block);
  return block;
}

/** @param {number} P */
function best(P) {
  try {
    return simdBlock(P, NAMES);
  } catch {
    return plainBlock(P);
  }
}

/**
 * A block without WebAssembly.
 *
 * @type {(P: number) => Block}
 */
export function plainBlock(P) {
  const arrays = /** @type {Arrays} */ (
    Object.fromEntries(NAMES.map((name) => [name, new Float32Array(P)]))
  );
  const { z, sum, h, first, second, t, u, before, between, norms } = arrays;
  return {
    ...arrays,
    transform: (name) => void walshHadamard(arrays[name]),
    project() {
      for (let i = 0; i < P; i++) h[i] = z[i] * before[i];
      multiply(walshHadamard(h), between);
      multiply(walshHadamard(h), norms);
    },
    waves: () => sincos(h, first, second, P),
    slopes() {
      let S = 0;
      for (let i = 0; i < P; i++) {
        S += t[i] * first[i] + u[i] * second[i];
        h[i] = u[i] * first[i] - t[i] * second[i];
      }
      return S;
    },
    addBack() {
      multiply(h, norms);
      multiply(walshHadamard(h), between);
      walshHadamard(h);
      for (let i = 0; i < P; i++) sum[i] += before[i] * h[i];
    },
  };
}

/** @type {(a: Float32Array, factors: Float32Array) => void} */
function multiply(a, factors) {
  for (let i = 0; i < a.length; i++) a[i] *= factors[i];
}
