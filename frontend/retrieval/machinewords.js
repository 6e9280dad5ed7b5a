// The sentences of the machine at each of its levels, with the numbers that it shows; `*x*` is set in italics.
import { count, counted, figures, fixed } from "../kit/number.js";

/** @import { Look } from "./machinestates.js" */

/**
 * The data that a level needs besides the look: the sizes of the memory, the steps of the run, and the stored pictures.
 * `target` is the index of the true picture among them, or −1.
 *
 * @typedef {{
 *   D: number,
 *   K: number,
 *   Y: number,
 *   beta: number,
 *   eta: number,
 *   freedom: number,
 *   bits: boolean,
 *   steps: number,
 *   ids: string[],
 *   patterns: Float32Array[],
 *   labels: string[],
 *   target: number,
 * }} Context
 */

export const WAITING = "This step is being computed.";
export const OTHER_BASIS =
  "This view explains cosines and sines. Choose “sincos” as the features, under “More”.";

/** Names of the levels, from the outside in. */
export const LEVELS = ["Frequency", "Waves", "Vector T", "Estimate Ŝ", "Step"];

/** Where the book derives each level: the page and the place on it, and its heading. */
export const SECTIONS = [
  ["kernels.html#sec-ker-cosines", "The Gaussian kernel is an average of cosines"],
  ["kernels.html#sec-ker-cosines", "The Gaussian kernel is an average of cosines"],
  ["distributed.html#sec-dis-vector", "The memory vector and its energy"],
  ["kernels.html#sec-ker-floor", "The noise floor"],
  ["hopfield.html#sec-hop-energy", "The energy of this part"],
];

const LITTLE = 0.1; // noise below this fraction of S is called little
const CLIMBED = 2; // an error of Ŝ above this many times its expected noise shows that the steps climb the noise

/** @type {(K: number, bits: boolean) => string} */
const pictures = (K, bits) => counted(K, `stored ${bits ? "pattern" : "picture"}`);

/** @param {Look} look */
const nameOf = ({ frequency }) => `Frequency ${count(frequency + 1)}`;

const TINY = 1e-3; // below this, a number is written with a power of ten, in two figures at most
const MOST = 6; // digits at most, even if the calculation does not come out

/**
 * The fewest digits, from `least` on, with which a calculation comes out: the numbers as shown then give the result as
 * shown.
 *
 * @type {(least: number, comes: (digits: number) => boolean) => number}
 */
function digitsFor(least, comes) {
  let digits = least;
  while (digits < MOST && !comes(digits)) digits++;
  return digits;
}

/** A number as shown with so many decimal places. @type {(v: number, places: number) => number} */
const placed = (v, places) => Number(v.toFixed(places));

/** A number as shown in so many significant figures. @type {(v: number, digits: number) => number} */
const rounded = (v, digits) => Number(v.toPrecision(digits));

/** @param {number} v */
const percents = (v) => `${figures(100 * v, 2)} %`;

/**
 * Sentences on S and Ŝ, the error of Ŝ, and the noise to be expected.
 *
 * @type {(look: Look, context: Context) => string}
 */
function judged({ S, exact, floored, step }, { K, Y }) {
  const expected = Math.sqrt(K / (2 * Y));
  const [error, share] = [Math.abs(S - exact) / exact, expected / exact];
  const off = (/** @type {number} */ d) =>
    Math.abs(rounded(S, d) - rounded(exact, d)) / rounded(exact, d);
  const digits = digitsFor(3, (d) => percents(off(d)) === percents(error));
  const reference = rounded(exact, digits);
  const few = digitsFor(2, (d) => percents(rounded(expected, d) / reference) === percents(share));
  const both = `The list has S = ${figures(exact, digits)}, the vector estimates Ŝ = ${figures(S, digits)}`;
  const noise = `The noise of Ŝ is √(*K*/2*Y*) = ${figures(expected, few)}`;
  if (floored || !(expected < exact))
    return `${both}. ${noise}, more than S itself: this Ŝ is noise.`;
  const climbed =
    step > 0 && error > CLIMBED * share
      ? " The steps go uphill on this noise too, to where it is high."
      : "";
  return `${both}, ${percents(error)} off. ${noise}, ${share < LITTLE ? "only" : "as much as"} ${percents(share)} of S.${climbed}`;
}

/**
 * A sentence on how the noise of Ŝ in each free number adds up to the noise of the bars.
 *
 * @type {(context: Context) => string}
 */
const summed = ({ freedom, K, Y, bits }) =>
  `Over a distance of 1/√*β* in each of ${count(freedom)} free numbers, the noise of Ŝ changes by about ${figures(Math.sqrt(K / (2 * Y)), 2)}, together by √${count(freedom)} times as much: ${fixed(Math.sqrt((freedom * K) / (2 * Y)))}${bits ? "" : ", the noise beside the sliders"}.`;

/** A level's sentences. @type {((look: Look, context: Context) => string)[]} */
const SENTENCES = [
  (look, { D, Y }) =>
    `The vector's state is the query${look.step > 0 ? ` after ${counted(look.step, "step")}` : ""}. ${nameOf(look)} of ${count(Y)} is a pattern of ${count(D)} random weights. The sum of the products times √*β* (*β* scales squared distances) is the phase *θ*, an angle. A larger *β* turns it faster: a higher frequency.`,
  (_, { bits, target }) => {
    const kind = bits ? "pattern" : "picture";
    return `Of each stored ${kind} *T* takes only the cosine and the sine of its phase. Blue dots are stored ${kind}s${target < 0 ? "" : " (ringed: the true one)"}, small orange ones earlier steps. A ${kind} close to the state has a similar phase at every frequency; a distant one only at a few, by chance.`;
  },
  (_, { K, bits }) =>
    `For each frequency *T* holds two sums over the ${pictures(K, bits)}, divided by √*Y*; each bar starts where the last one ended. Multiplied by the state's cosine and sine, and added, the two sums estimate how similar the state is to all.`,
  (look, context) =>
    `The similarity of a stored ${context.bits ? "pattern" : "picture"} to the state is a number from 0 to 1; S is the sum of all. ${judged(look, context)}`,
  (look, context) =>
    look.atRest
      ? `At rest: a further step would move no pixel by a quarter of 1/255. ${summed(context)} Go back to the first step to see the pixels move.`
      : `Ŝ is large near stored pictures, so a step goes uphill: by *η*/*β* along the slope of log Ŝ${look.floored ? " (log continued by its tangent, as Ŝ is below an eighth of its noise)" : " (the log, because far away Ŝ is flat)"}. ${summed(context)}`,
];

/** @type {(level: number, look: Look, context: Context) => string} */
export const sentenceOf = (level, look, context) => SENTENCES[level](look, context);

/** A number after an operator, in brackets if it is negative. @param {string} text */
const factor = (text) => (text.startsWith("−") ? `(${text})` : text);

/** A level's formula with its numbers. @type {((look: Look, context: Context) => string)[]} */
const FORMULAS = [
  ({ phase }, { beta }) => {
    const [root, sum] = [Math.sqrt(beta), phase / Math.sqrt(beta)];
    const digits = digitsFor(4, (d) => fixed(rounded(root, d) * rounded(sum, d)) === fixed(phase));
    return `*θ* = √*β* · Σ products = ${figures(root, digits)} × ${factor(figures(sum, digits))} = ${fixed(phase)}`;
  },
  ({ phase }) =>
    `cos ${factor(fixed(phase))} = ${fixed(Math.cos(phase))}, sin ${factor(fixed(phase))} = ${fixed(Math.sin(phase))}`,
  ({ entry }, { Y }) => {
    /** @param {number} sum */
    const line = (sum) => {
      const quotient = (/** @type {number} */ v) => figures(v / Math.sqrt(Y), 2);
      const places = digitsFor(2, (p) => quotient(placed(sum, p)) === quotient(sum));
      return `${fixed(sum, places)} / √${count(Y)} = ${quotient(sum)}`;
    };
    return `${line(entry.cos)} and ${line(entry.sin)}`;
  },
  ({ phase, entry, part }) => {
    const four = [Math.cos(phase), entry.cos, Math.sin(phase), entry.sin];
    const places = digitsFor(2, (p) => {
      const [cos, ofCos, sin, ofSin] = four.map((v) => placed(v, p));
      return fixed(cos * ofCos + sin * ofSin) === fixed(part);
    });
    const [cos, ofCos, sin, ofSin] = four.map((v) => fixed(v, places));
    return `One term: ${cos} × ${factor(ofCos)} + ${factor(sin)} × ${factor(ofSin)} = ${fixed(part)}`;
  },
  (_, { eta }) => `*x* ← *x* + (*η*/*β*) × slope of log Ŝ, step size *η* = ${figures(eta)}`,
];

/** @type {(level: number, look: Look, context: Context) => string} */
export const formulaOf = (level, look, context) => FORMULAS[level](look, context);

/**
 * The calculation of one pixel, given by its row and column, through the operation between three pictures.
 *
 * @type {(cell: [number, number], numbers: [number, number, number], operation: "×" | "+", bits: boolean) => string}
 */
export function followed([row, column], [a, b, c], operation, bits) {
  const isProduct = operation === "×";
  const few = Math.min(Math.abs(a), Math.abs(b)) < TINY ? 1 : 2; // figures of a product: a tiny factor is itself written in two at most
  const digits = isProduct
    ? digitsFor(2, (d) => figures(rounded(a, d) * rounded(b, d), few) === figures(c, few))
    : digitsFor(3, (p) => fixed(placed(a, p) + placed(b, p), p) === fixed(c, p));
  /** @param {number} v */
  const write = (v) => (isProduct ? figures(v, digits) : fixed(v, digits));
  const where = `Row ${row + 1}, column ${column + 1}${bits ? "" : ", red"}`;
  return `${where}: ${write(a)} ${operation} ${factor(write(b))} = ${isProduct ? figures(c, few) : write(c)}`;
}

/** A stored picture's phase at a frequency, in words. @type {(label: string, phase: number) => string} */
export const partOf = (label, phase) =>
  `${label}: phase ${fixed(phase)}, cosine ${fixed(Math.cos(phase))}, sine ${fixed(Math.sin(phase))}`;

/** Grey values of a picture of signed numbers, whose white is `top`. @param {number} top */
export const scaleOf = (top) => `grey 0, white ${figures(top, 1)}`;

/** The factor by which a step is enlarged so that `top` is white, in words. @param {number} top */
export const enlarged = (top) =>
  2 * top < 1 ? `enlarged ${figures(1 / (2 * top), 2)} ×` : `divided by ${figures(2 * top, 2)}`;
