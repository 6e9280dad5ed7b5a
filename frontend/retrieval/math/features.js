// Random features whose frequencies Ω are Hadamard blocks, made from a seed that Python shares [D-eq8, D-alg1].
// Block b, in units of the padded length P:  Ω_b x = norms_b · H (s₃ · H (s₂ · H (s₁ · pad x))).
import { bits, key, normal, split, uniform } from "../../kit/random.js";
import { walshHadamard } from "./hadamard.js";

export const BASES = ["sincos", "cos", "exp", "expexp"];

/** Features in T for Y frequencies: 2Y where a basis has a pair of functions a frequency. */
export const memorySize = (basis, Y) => (basis === "sincos" || basis === "expexp" ? 2 * Y : Y);

export const paddedLength = (D) => Math.max(64, 2 ** Math.ceil(Math.log2(D)));

/** Signs, row norms and phases; what a seed says does not change when Y grows, so a smaller Y is a prefix. */
export class HadamardFeatures {
  constructor({ D, Y, seed, basis = "sincos" }) {
    Object.assign(this, { D, Y, seed, basis });
    this.P = paddedLength(D);
    this.blocks = Math.ceil(Y / this.P);
    const [projection, phase] = split(key(seed));
    const [signs, norms] = split(projection);
    this.signs = Int8Array.from(
      bits(signs, this.blocks * 3 * this.P),
      (word) => 1 - 2 * (word >>> 31),
    );
    this.norms = rowNorms(normal(norms, this.blocks * this.P), this.P);
    this.phases = basis === "cos" ? uniform(phase, Y).map((u) => 2 * Math.PI * u) : null;
  }

  /** Frequencies in block b: P, but for a last block that Y cuts short. */
  rows(b) {
    return Math.min(this.P, this.Y - b * this.P);
  }

  /** out ← scale · Ω_b x for x of length D and `out` of length P. */
  project(b, x, scale, out) {
    const { D, P, signs, norms } = this;
    const at = 3 * b * P;
    for (let i = 0; i < D; i++) out[i] = signs[at + i] * x[i] * scale;
    out.fill(0, D);
    walshHadamard(out);
    multiply(out, signs, at + P);
    walshHadamard(out);
    multiply(out, signs, at + 2 * P);
    walshHadamard(out);
    multiply(out, norms, b * P);
  }

  /** sum ← sum + Ω_bᵀ w; destroys `w` (length P). */
  addBack(b, w, sum) {
    const { D, P, signs, norms } = this;
    const at = 3 * b * P;
    w.fill(0, this.rows(b));
    multiply(w, norms, b * P);
    walshHadamard(w);
    multiply(w, signs, at + 2 * P);
    walshHadamard(w);
    multiply(w, signs, at + P);
    walshHadamard(w);
    for (let i = 0; i < D; i++) sum[i] += signs[at + i] * w[i];
  }
}

/** χ(P) lengths by Wilson and Hilferty's cube, over P^(3/2): the three transforms' own scale. */
function rowNorms(z, P) {
  const v = 2 / (9 * P);
  const scale = P ** -1.5;
  return z.map((g) => scale * Math.sqrt(P * Math.max(1 - v + g * Math.sqrt(v), 0) ** 3));
}

function multiply(a, factors, start) {
  for (let i = 0; i < a.length; i++) a[i] *= factors[start + i];
}
