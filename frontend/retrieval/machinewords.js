// What the machine says at each of its levels, with the numbers that it shows; `*x*` is set in italics.
import { count, counted, figures, fixed } from "../kit/number.js";

/** @import { Look } from "./machinestates.js" */

/**
 * What a level needs beside the look: the sizes of the memory, and how far the run goes.
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
 * }} Context
 */

export const WAITING = "This step is being computed.";
export const OTHER_BASIS =
  "This view explains cosines and sines. Choose “sincos” as the features, under “More”.";

/** Names of the levels, from the outside in. */
export const LEVELS = ["Frequency", "Waves", "T", "Ŝ", "Step"];

/** Where the book derives each level: the page and the place on it, and its heading. */
export const SECTIONS = [
  ["kernels.html#sec-ker-cosines", "The Gaussian kernel is an average of cosines"],
  ["kernels.html#sec-ker-cosines", "The Gaussian kernel is an average of cosines"],
  ["distributed.html#sec-dis-vector", "The memory vector and its energy"],
  ["kernels.html#sec-ker-floor", "The noise floor"],
  ["hopfield.html#sec-hop-energy", "The energy of this part"],
];

const LITTLE = 0.1; // of S: so much noise or less is little
const CLIMBED = 2; // times the expected noise, from where on Ŝ shows that the steps climb it

/** @type {(K: number, bits: boolean) => string} */
const pictures = (K, bits) => counted(K, `stored ${bits ? "pattern" : "picture"}`);

/** @param {Look} look */
const nameOf = ({ frequency }) => `Frequency ${count(frequency + 1)}`;

/** @param {number} v */
const percents = (v) => `${figures(100 * v, 2)} %`;

/**
 * How good Ŝ is: its error, and the noise that is to be expected.
 *
 * @type {(look: Look, context: Context) => string}
 */
function judged({ S, exact, floored, step }, { K, Y }) {
  const expected = Math.sqrt(K / (2 * Y));
  const noise = `Noise of √(*K*/2*Y*) = ${figures(expected, 2)} is expected`;
  if (floored || !(expected < exact)) return `. ${noise}, more than S itself: this Ŝ is noise.`;
  const [error, share] = [Math.abs(S - exact) / exact, expected / exact];
  const climbed = step > 0 && error > CLIMBED * share ? "; the steps climb it, too" : "";
  return `, ${percents(error)} off. ${noise}, ${share < LITTLE ? "only" : "as much as"} ${percents(share)} of S${climbed}.`;
}

/** A level's sentences. @type {((look: Look, context: Context) => string)[]} */
const SENTENCES = [
  (look, { D, Y }) =>
    `The state is the query${look.step > 0 ? ` after ${counted(look.step, "step")}` : ""}. ${nameOf(look)} of ${count(Y)} multiplies each of its ${count(D)} numbers by a random weight and adds the products up. √*β* times this sum is the phase *θ*. A larger *β* turns the phase further, so that smaller differences count.`,
  () =>
    "The distributed memory reads a state only through waves: the cosine and the sine of its phase. Small dots are the stored pictures, faint ones earlier steps. A picture close to the state has almost the same phase at every frequency, a distant one only by chance.",
  (_, { K, bits }) =>
    `*T* adds up the waves of the ${pictures(K, bits)}: for each frequency a sum of cosines and a sum of sines. It holds both divided by √*Y*, so that the product of two such vectors is a mean over all *Y* frequencies. No single term can be read from a sum.`,
  (look, context) =>
    `S is the sum of the similarities of the state to all stored ${context.bits ? "patterns" : "pictures"}, each from 0 (far) to 1 (equal). The exact memory has S = ${figures(look.exact)}, the vector estimates Ŝ = ${figures(look.S)}${judged(look, context)}`,
  (look, { freedom }) =>
    look.atRest
      ? "The distributed memory is at rest: a further step would move no pixel by a quarter of a grey level. Go back to the first step to see the pixels move."
      : `S is large near stored pictures, so a step moves the pixels in the direction in which log Ŝ rises fastest, its slope ∇ log Ŝ. The log keeps it steep for small Ŝ. Noise is √${count(freedom)} = ${count(Math.sqrt(freedom))} times as large in it. ${count(freedom)} numbers move, by ${figures(look.moved, 2)} of the grey scale on average.`,
];

/** @type {(level: number, look: Look, context: Context) => string} */
export const sentenceOf = (level, look, context) => SENTENCES[level](look, context);

/** In brackets where it is negative, behind a sign. @param {number} v */
const factor = (v) => (fixed(v).startsWith("−") ? `(${fixed(v)})` : fixed(v));

/** A level's formula with its numbers. @type {((look: Look, context: Context) => string)[]} */
const FORMULAS = [
  ({ phase }, { beta }) => {
    const root = Math.sqrt(beta);
    // digits enough that their product is the phase that is shown
    const sum = figures(phase / root, 4);
    return `*θ* = √*β* · Σ *ωx* = ${figures(root, 4)} × ${phase < 0 ? `(${sum})` : sum} = ${fixed(phase)}`;
  },
  ({ phase }) =>
    `cos ${factor(phase)} = ${fixed(Math.cos(phase))}, sin ${factor(phase)} = ${fixed(Math.sin(phase))}`,
  ({ entry }, { Y }) => {
    /** @param {number} sum */
    const held = (sum) => `${fixed(sum)} / √*Y* = ${figures(sum / Math.sqrt(Y), 2)}`;
    return `${held(entry.cos)} and ${held(entry.sin)}`;
  },
  (look) => {
    const { phase, entry, part } = look;
    const [cos, sin] = [Math.cos(phase), Math.sin(phase)];
    return `One term: ${fixed(cos)} × ${factor(entry.cos)} + ${factor(sin)} × ${factor(entry.sin)} = ${fixed(part)}`;
  },
  (_, { eta, beta }) => `*x* ← *x* + (*η*/*β*) ∇ log Ŝ, *η*/*β* = ${figures(eta)}/${figures(beta)}`,
];

/** @type {(level: number, look: Look, context: Context) => string} */
export const formulaOf = (level, look, context) => FORMULAS[level](look, context);

/**
 * One number followed: the pixel's, by its row and column, through the operation between three pictures.
 *
 * @type {(cell: [number, number], numbers: [number, number, number], operation: "×" | "+", bits: boolean) => string}
 */
export function followed([row, column], [a, b, c], operation, bits) {
  /** @param {number} v */
  const write = (v) => (operation === "×" ? figures(v, 2) : fixed(v, 3));
  const behind = b < 0 ? `(${write(b)})` : write(b);
  const where = `Row ${row + 1}, column ${column + 1}${bits ? "" : ", red"}`;
  return `${where}: ${write(a)} ${operation} ${behind} = ${write(c)}`;
}

/** A stored picture's part of a frequency. @type {(label: string, phase: number) => string} */
export const partOf = (label, phase) =>
  `${label}: phase ${fixed(phase)}, cosine ${fixed(Math.cos(phase))}, sine ${fixed(Math.sin(phase))}`;

/** Grey values of a picture of signed numbers, whose white is `top`. @param {number} top */
export const scaleOf = (top) => `grey 0, white ${figures(top, 1)}`;

/** How far a step is enlarged so that `top` is white. @param {number} top */
export const enlarged = (top) => `enlarged ${figures(1 / (2 * top), 2)} times`;
