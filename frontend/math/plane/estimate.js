// Ê in the plane: the features of all patterns, summed into one vector. Their frequencies are JAX's draws
// [D-eq8, D-eq9, D-eq10].
import { key, normal, split, uniform } from "../random.js";

/** @import { Point } from "../../kit/handle.js" */
/** @import { Key } from "../random.js" */

/** @typedef {"sincos" | "cos" | "exp" | "expexp"} Basis */
/** @typedef {{ energy: number, gradient: Point, S: number, floored: boolean }} Reading */
/** @typedef {{ x: Float64Array, y: Float64Array, phase: Float32Array }} Frequencies */

/** @type {[Basis, string][]} */
export const BASES = [
  ["sincos", "cosines and sines"],
  ["cos", "cosines with a random shift"],
  ["exp", "exponentials"],
  ["expexp", "exponentials, both signs"],
];

/**
 * The Gaussian frequencies and phases of `rankone.RandomFeatures(2, Y, key=from)`; a smaller Y is a prefix of a larger
 * one.
 *
 * @param {number} Y
 * @param {Key} from
 * @returns {Frequencies}
 */
export function frequenciesFrom(Y, from) {
  const [projection, shift] = split(from);
  const drawn = normal(split(projection, 1)[0], 2 * Y);
  return {
    x: Float64Array.from({ length: Y }, (_, i) => drawn[2 * i]),
    y: Float64Array.from({ length: Y }, (_, i) => drawn[2 * i + 1]),
    phase: uniform(shift, Y).map((u) => 2 * Math.PI * u),
  };
}

/** The frequencies of a seed. @type {(Y: number, seed: number) => Frequencies} */
export const frequenciesOf = (Y, seed) => frequenciesFrom(Y, key(seed));

const positive = (/** @type {Basis} */ basis) => basis === "exp" || basis === "expexp";

/**
 * For each basis Ŝ(x) = Σ_α [C_α c(h_α) + S_α s(h_α)], h = √β Ωx, with (c, s) the cosine and the sine. For exponentials
 * they are cosh and sinh, and the sum is multiplied by e^(−β|x|²). The addition formulas make the values on a grid two
 * products of matrices.
 */
export class Estimate {
  /**
   * @param {{ patterns: Point[], beta: number, basis: Basis, frequencies: Frequencies }} options
   */
  constructor({ patterns, beta, basis, frequencies }) {
    const Y = frequencies.x.length;
    this.beta = beta;
    this.basis = basis;
    this.frequencies = frequencies;
    this.sign = positive(basis) ? 1 : -1; // c′ = sign · s
    this.C = new Float64Array(Y);
    this.S = new Float64Array(Y);
    const noise = { sincos: 0.5, cos: 1, exp: 0, expexp: 0 }[basis];
    this.floor = Math.max(Math.sqrt((noise * patterns.length) / Y) / 8, 1e-30);
    for (const pattern of patterns) this.write(pattern);
  }

  /** @param {Point} xi */
  write([px, py]) {
    const { beta, basis, frequencies, C, S } = this;
    const { x, y, phase } = frequencies;
    const Y = x.length;
    const root = Math.sqrt(beta);
    const damp = positive(basis) ? Math.exp(-beta * (px * px + py * py)) / Y : 1 / Y;
    for (let a = 0; a < Y; a++) {
      const h = root * (x[a] * px + y[a] * py);
      if (basis === "sincos") {
        C[a] += Math.cos(h) * damp;
        S[a] += Math.sin(h) * damp;
      } else if (basis === "cos") {
        const t = 2 * Math.cos(h + phase[a]) * damp;
        C[a] += t * Math.cos(phase[a]);
        S[a] -= t * Math.sin(phase[a]);
      } else if (basis === "exp") {
        C[a] += Math.exp(h) * damp;
        S[a] += Math.exp(h) * damp;
      } else {
        C[a] += Math.cosh(h) * damp;
        S[a] += Math.sinh(h) * damp;
      }
    }
  }

  /**
   * Ê, its gradient and Ŝ at one state.
   *
   * @param {Point} at
   * @returns {Reading}
   */
  read([px, py]) {
    const { beta, frequencies, C, S: T, sign, floor } = this;
    const [c, s] = sign < 0 ? [Math.cos, Math.sin] : [Math.cosh, Math.sinh];
    const root = Math.sqrt(beta);
    let [S, gx, gy] = [0, 0, 0];
    for (let a = 0; a < C.length; a++) {
      const h = root * (frequencies.x[a] * px + frequencies.y[a] * py);
      const [ch, sh] = [c(h), s(h)];
      S += C[a] * ch + T[a] * sh;
      const slope = root * (sign * C[a] * sh + T[a] * ch);
      gx += slope * frequencies.x[a];
      gy += slope * frequencies.y[a];
    }
    if (sign > 0) {
      const damp = Math.exp(-beta * (px * px + py * py));
      S *= damp;
      gx = gx * damp - 2 * beta * px * S;
      gy = gy * damp - 2 * beta * py * S;
    }
    const under = -beta * Math.max(S, floor);
    return { S, floored: S < floor, energy: this.energyOf(S), gradient: [gx / under, gy / under] };
  }

  /**
   * −log(Ŝ)/β, and below the floor its tangent.
   *
   * @param {number} S
   */
  energyOf(S) {
    const { beta, floor } = this;
    return S > floor ? -Math.log(S) / beta : -(Math.log(floor) + (S - floor) / floor) / beta;
  }

  /**
   * Ê on the grid ticks × ticks, row by row from the top (largest y); `tables` are of these ticks.
   *
   * @param {Float64Array} ticks
   * @param {Tables} tables
   */
  field(ticks, tables) {
    const { beta, C, S: T, sign } = this;
    const [n, Y] = [ticks.length, C.length];
    const { cx, sx, cy, sy } = tables;
    const energies = new Float64Array(n * n);
    const [A, B] = [new Float64Array(Y), new Float64Array(Y)];
    for (let j = 0; j < n; j++) {
      const row = (n - 1 - j) * Y;
      for (let a = 0; a < Y; a++) {
        A[a] = C[a] * cy[row + a] + T[a] * sy[row + a];
        B[a] = T[a] * cy[row + a] + sign * C[a] * sy[row + a];
      }
      for (let i = 0; i < n; i++) {
        const at = i * Y;
        let S = 0;
        for (let a = 0; a < Y; a++) S += A[a] * cx[at + a] + B[a] * sx[at + a];
        const square = ticks[i] ** 2 + ticks[n - 1 - j] ** 2;
        energies[j * n + i] = this.energyOf(sign > 0 ? S * Math.exp(-beta * square) : S);
      }
    }
    return energies;
  }
}

/** @typedef {{ cx: Float64Array, sx: Float64Array, cy: Float64Array, sy: Float64Array }} Tables */

/**
 * c and s of every frequency at every tick of both axes, one row per tick. They do not depend on the patterns. At
 * evenly spaced ticks, cosines and sines follow from the tick before by the addition formula, which is faster. cosh and
 * sinh are computed at every tick: they fall before they rise, so the formula would carry over the errors of large
 * values.
 *
 * @param {{ ticks: Float64Array, beta: number, basis: Basis, frequencies: Frequencies }} grid
 * @returns {Tables}
 */
export function tablesOf({ ticks, beta, basis, frequencies }) {
  const isPositive = positive(basis);
  const [c, s] = isPositive ? [Math.cosh, Math.sinh] : [Math.cos, Math.sin];
  const root = Math.sqrt(beta);
  const step = root * (ticks[1] - ticks[0]);
  /** @type {(omega: Float64Array) => [Float64Array, Float64Array]} */
  const along = (omega) => {
    const Y = omega.length;
    const [even, odd] = [new Float64Array(ticks.length * Y), new Float64Array(ticks.length * Y)];
    const [more, turn] = [omega.map((w) => c(step * w)), omega.map((w) => s(step * w))];
    for (let i = 0; i < ticks.length; i++) {
      const at = i * Y;
      const before = at - Y;
      const follows =
        !isPositive && i > 0 && Math.abs(root * (ticks[i] - ticks[i - 1]) - step) < 1e-12;
      for (let a = 0; a < Y; a++) {
        if (follows) {
          even[at + a] = even[before + a] * more[a] - odd[before + a] * turn[a];
          odd[at + a] = odd[before + a] * more[a] + even[before + a] * turn[a];
        } else {
          even[at + a] = c(root * ticks[i] * omega[a]);
          odd[at + a] = s(root * ticks[i] * omega[a]);
        }
      }
    }
    return [even, odd];
  };
  const [[cx, sx], [cy, sy]] = [along(frequencies.x), along(frequencies.y)];
  return { cx, sx, cy, sy };
}
