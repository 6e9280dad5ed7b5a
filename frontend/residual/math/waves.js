// A smooth wave plus a rough one on a circle. The base learns one of them, and the memory stores the other [S-sharp1].
import * as random from "../../math/random.js";
import { Neighbours } from "./memory.js";

/** @import { Key } from "../../math/random.js" */

/** @typedef {"smooth" | "rough"} Part */
/** @typedef {{ frequency: number, learns: Part }} Waves */
/** @typedef {ReturnType<typeof drawWaves>} WaveSet */
/** @typedef {ReturnType<typeof fitWaves>} WaveFit */

const HEIGHT = 0.5; // height of the rough wave; that of the smooth wave is 1
const INTERVALS = 4000; // intervals of Simpson's rule
const FAR = 40; // upper end of the integral over τ, where e^(−τ) is negligible

/** @type {Record<Part, (x: number, frequency: number) => number>} */
const WAVES = {
  smooth: (x, _frequency) => Math.sin(2 * Math.PI * x),
  rough: (x, frequency) => HEIGHT * Math.sin(2 * Math.PI * frequency * x),
};
/** @type {Record<Part, number>} */
const SQUARES = { smooth: 1 / 2, rough: HEIGHT ** 2 / 2 }; // mean squares over the circle

/** @param {Part} part */
export const otherThan = (part) => (part === "smooth" ? "rough" : "smooth");

/** @type {(x: number, frequency: number) => number} */
export const truthOf = (x, frequency) => WAVES.smooth(x, 1) + WAVES.rough(x, frequency);

/** @type {(x: number, waves: Waves) => number} */
export const baseOf = (x, { frequency, learns }) => WAVES[learns](x, frequency);

/**
 * n points uniform on the circle [0, 1).
 *
 * @type {(key: Key, n: number) => { X: Float32Array, n: number, d: number }}
 */
export const drawWaves = (key, n) => ({ X: random.uniform(key, n), n, d: 1 });

/**
 * The labels and the residuals that the memory stores: the wave that the base does not learn.
 *
 * @param {{ X: Float32Array, n: number }} set
 * @param {Waves} waves
 */
export function fitWaves({ X, n }, waves) {
  const y = Float64Array.from(X, (x) => truthOf(x, waves.frequency));
  const residuals = y.map((v, i) => v - baseOf(X[i], waves));
  return { y, residuals, n };
}

/**
 * A search for neighbours around the circle: each point appears three times, at x − 1, x and x + 1.
 *
 * @type {(set: { X: Float32Array, n: number }, k: number) => Neighbours}
 */
export function searchAround({ X, n }, k) {
  const rows = new Float64Array(3 * n);
  X.forEach((x, i) => {
    rows[i] = x - 1;
    rows[n + i] = x;
    rows[2 * n + i] = x + 1;
  });
  return new Neighbours(rows, 3 * n, 1, Math.min(k, n));
}

/**
 * The values of the points for a search by `searchAround`, each three times.
 *
 * @param {Float64Array} values
 */
export function around(values) {
  const all = new Float64Array(3 * values.length);
  for (let copy = 0; copy < 3; copy++) all.set(values, copy * values.length);
  return all;
}

/** @type {Map<string, number>} */
const factors = new Map();

/**
 * The factor m_n(ν) by which a memory of one neighbour among n multiplies the mean square of a wave of frequency ν.
 *
 * The distance t to the neighbour has P(t > s) = (1 − 2s)ⁿ, so that τ = −n log(1 − 2t) is exponentially distributed.
 *
 * @type {(n: number, frequency: number) => number}
 */
export function modeRisk(n, frequency) {
  const name = `${n}/${frequency}`;
  const known = factors.get(name);
  if (known !== undefined) return known;
  const step = FAR / INTERVALS;
  let sum = 0;
  for (let i = 0; i <= INTERVALS; i++) {
    const tau = i * step;
    const half = Math.sin((Math.PI * frequency * -Math.expm1(-tau / n)) / 2);
    const weight = i === 0 || i === INTERVALS ? 1 : i % 2 === 1 ? 4 : 2;
    sum += weight * 4 * half * half * Math.exp(-tau);
  }
  const factor = (sum * step) / 3;
  factors.set(name, factor);
  return factor;
}

/**
 * The risks at n, for a memory of one neighbour: of this base alone, of the nearest label alone, of this base with its
 * memory, of the other base with its memory, and of the other base alone.
 *
 * @type {(waves: Waves, n: number) => Record<"base" | "neighbours" | "memory" | "other" | "otherBase", number>}
 */
export function waveLaws({ frequency, learns }, n) {
  const stored = {
    smooth: SQUARES.smooth * modeRisk(n, 1),
    rough: SQUARES.rough * modeRisk(n, frequency),
  };
  const left = otherThan(learns);
  return {
    base: SQUARES[left],
    neighbours: stored.smooth + stored.rough,
    memory: stored[left],
    other: stored[learns],
    otherBase: SQUARES[learns],
  };
}
