// Numbers as every page writes them: one rule for each kind of number, and a real minus sign.

const SMALLEST = 1e-3; // below it, and from LARGEST on, a number is written with a power of ten
const LARGEST = 1e6;

/** @param {string} text */
const minus = (text) => text.replaceAll("-", "−");

/**
 * 10 to the (rounded) power n: 10⁻⁷.
 *
 * @param {number} n
 */
export const power = (n) =>
  `10${String(Math.round(n)).replace(/./g, (c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"["0123456789".indexOf(c)] ?? "⁻")}`;

/**
 * A number as a subscript: k₁₂.
 *
 * @param {number} n
 */
export const subscript = (n) => String(n).replace(/\d/g, (d) => "₀₁₂₃₄₅₆₇₈₉"[Number(d)]);

/**
 * A whole number: 20,000.
 *
 * @param {number} n
 */
export const count = (n) => Math.round(n).toLocaleString("en-GB");

/**
 * A number of things whose plural ends in s: one step, 20,000 steps.
 *
 * @type {(n: number, name: string) => string}
 */
export const counted = (n, name) => (n === 1 ? `one ${name}` : `${count(n)} ${name}s`);

/**
 * A number with a fixed number of decimal places, for columns and moving numbers: −1.20; never a negative zero.
 *
 * @param {number} v
 * @param {number} [places]
 */
export const fixed = (v, places = 2) => minus(v.toFixed(places).replace(/^-(?=[0.]+$)/, ""));

/**
 * A fraction as a percentage: 45 %.
 *
 * @param {number} v
 */
export const percent = (v) => `${Math.round(100 * v)} %`;

/**
 * A number with `digits` significant digits, or with a power of ten (and at most two digits) if small or large: 0.117,
 * 1,230, −2, 7.2·10⁻⁶, 10⁻⁸.
 *
 * @param {number} v
 * @param {number} [digits]
 */
export function figures(v, digits = 3) {
  if (!Number.isFinite(v)) return "out of range";
  const size = Math.abs(v);
  if (size === 0 || (size >= SMALLEST && size < LARGEST)) {
    return minus(
      v.toLocaleString("en-GB", { maximumSignificantDigits: digits }).replace(/^-0$/, "0"),
    );
  }
  const [lead, exponent] = v.toExponential(Math.min(digits, 2) - 1).split("e");
  const mantissa = Number(lead);
  const ten = power(Number(exponent));
  return mantissa === 1 ? ten : `${minus(String(mantissa))}·${ten}`;
}

/**
 * A number that may diverge or be missing: its figures, "off every scale" or "none".
 *
 * @param {number | null | undefined} v
 * @param {number} [digits]
 */
export function amount(v, digits = 3) {
  if (v === null || v === undefined) return "none";
  return Math.abs(v) < LARGEST ? figures(v, digits) : "off every scale";
}

/**
 * 0 if only a rounding error (below `noise`) separates the number from 0; null stays null.
 *
 * @template {number | null} V
 * @param {V} v
 * @param {number} [noise]
 */
export const cleared = (v, noise = 1e-12) => (v !== null && Math.abs(v) < noise ? 0 : v);

/**
 * The number nearest to v between two bounds.
 *
 * @type {(v: number, low: number, high: number) => number}
 */
export const bounded = (v, low, high) => Math.min(high, Math.max(low, v));
