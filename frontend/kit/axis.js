// The axes of a chart: the place of a value between two ends, and the round numbers that are marked.
import { figures, power } from "./number.js";

/** @typedef {"linear" | "log"} Scale */
/**
 * `share(v)` is the place of v on the axis, from 0 to 1; `value` is the inverse of `share`.
 *
 * @typedef {{
 *   share(v: number): number,
 *   value(share: number): number,
 *   marks: number[],
 *   format(v: number): string,
 * }} Axis
 */

/**
 * An axis over exactly these ends; a logarithmic one is marked at powers of ten inside them.
 *
 * @param {[number, number]} ends
 * @param {Scale} [scale]
 * @returns {Axis}
 */
export function axisBetween([from, to], scale = "linear") {
  if (scale === "log") {
    const span = Math.log(to / from);
    const [a, b] = [Math.ceil(Math.log10(from) - 1e-9), Math.floor(Math.log10(to) + 1e-9)];
    return {
      share: (v) => Math.log(v / from) / span,
      value: (share) => from * Math.exp(span * share),
      marks: decades(a, b),
      format: (v) => power(Math.log10(v)),
    };
  }
  const span = to - from || 1;
  return {
    share: (v) => (v - from) / span,
    value: (share) => from + span * share,
    marks: roundNumbers(from, to),
    format: (v) => figures(v, 6),
  };
}

/**
 * An axis around `values`: a logarithmic one ends at powers of ten, a linear one leaves a little space at both ends.
 *
 * @param {number[]} values
 * @param {Scale} [scale]
 * @param {number} [ceiling] Values above it are ignored.
 */
export function axisAround(values, scale = "linear", ceiling = Number.POSITIVE_INFINITY) {
  const log = scale === "log";
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const v of values) {
    if (!Number.isFinite(v) || v > ceiling || (log && v <= 0)) continue;
    low = Math.min(low, v);
    high = Math.max(high, v);
  }
  if (low > high) [low, high] = log ? [0.01, 1] : [0, 1];
  if (log) {
    const bottom = 10 ** Math.floor(Math.log10(low) + 1e-9); // a rounding error adds no decade
    const top = 10 ** Math.ceil(Math.log10(high) - 1e-9);
    return axisBetween([bottom, Math.max(top, 10 * bottom)], "log");
  }
  const room = 0.06 * (high - low || Math.abs(high) || 1);
  return axisBetween([low - room, high + room]);
}

/**
 * At most five powers of ten, from 10^a to 10^b.
 *
 * @param {number} a
 * @param {number} b
 */
function decades(a, b) {
  const stride = Math.max(1, Math.ceil((b - a) / 4));
  const n = Math.max(0, Math.floor((b - a) / stride) + 1);
  return Array.from({ length: n }, (_, i) => 10 ** (a + i * stride));
}

/**
 * Round numbers from `low` to `high`, at least `least` apart.
 *
 * @param {number} low
 * @param {number} high
 * @param {number} [least]
 */
export function roundNumbers(low, high, least = 0) {
  const raw = (high - low) / 4;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((m) => m * unit >= raw) ?? 10;
  const stride = Math.max(least, step * unit || least);
  const first = Math.ceil(low / stride - 1e-9);
  const n = Math.floor(high / stride + 1e-9) - first + 1;
  return Array.from({ length: n }, (_, i) => Number(((first + i) * stride).toPrecision(6)));
}
