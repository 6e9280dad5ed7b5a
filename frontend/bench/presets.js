// Settings posed as questions: where each method of writing is the best, and where they agree.
import { posed } from "../kit/explorer.js";
import { amount, cleared, count, figures } from "../kit/number.js";
import { MARKS } from "./math/writing.js";
import { crowd, evenly, settingsFrom } from "./settings.js";
import { NAMES } from "./words.js";

/** @import { Preset } from "../kit/explorer.js" */
/** @import { Measured } from "./measure.js" */
/** @import { Pair, Settings } from "./settings.js" */

/** @typedef {Measured & { Y: number, divide: boolean }} Found */
/** @typedef {Preset<Partial<Settings>, Found>} Question */

/** @type {(values: ArrayLike<number>) => number} */
const mean = (values) => Array.from(values).reduce((a, b) => a + b, 0) / values.length;

/** Mean errors at the keys that were written in the first half, and in the second. @param {Measured} measured */
function halves({ read, values }) {
  const off = values.map((v, i) => Math.abs((read?.[i] ?? 0) - v));
  const half = off.length / 2;
  return [mean(off.slice(0, half)), mean(off.slice(-half))];
}

/** The unseen errors of the four methods. @param {Measured} measured */
const unseen = ({ along }) =>
  MARKS.map(([way, at]) => {
    const error = along[Math.round((at * (along.length - 1)) / 3)]?.unseen;
    return { way, error: error ?? Number.POSITIVE_INFINITY };
  });

/** The method with the least error at unseen keys. @param {Measured} measured */
const best = (measured) => unseen(measured).reduce((a, b) => (b.error < a.error ? b : a)).way;

/** @param {Measured} measured */
const priced = (measured) =>
  unseen(measured)
    .map(({ way, error }) => `${NAMES[way]} ${amount(error, 2)}`)
    .join(", ");

/** The reading at the right end. @param {Measured} measured */
const atTheEnd = ({ curve }) => curve?.[curve.length - 1] ?? 0;

/** The number of frequencies at which the law predicts `error`. @type {(measured: Found, error: number) => number} */
const needed = ({ Y, law }, error) => Y * ((law ?? 0) / error) ** 2;
const WANTED = 0.03;
const FEW = 0.2; // of the largest value: methods that differ by less hardly differ
const WILD = 5; // times the predicted error: the sum of weights comes near 0 somewhere

/** Evenly spaced pairs, one with a wrong value that the last pair corrects. @type {() => Pair[]} */
const changed = () => {
  const pairs = evenly(8, -1.2, 1.2);
  const [x, y] = pairs[3];
  pairs[3] = [x, y, -1.4];
  return [...pairs, [x + 0.03, y, 0]];
};

/** @type {Question[]} */
const QUESTIONS = [
  {
    key: "crowd",
    name: "Which pairs are read wrongly?",
    ask: "Ten pairs, six of them with keys close together, are written one after another in the order of their numbers. Which are read wrongly?",
    predict: {
      options: [
        ["first", "the first five"],
        ["last", "the last five"],
        ["alike", "all alike"],
      ],
      right: (measured) => {
        const [first, last] = halves(measured);
        if (first > 1.5 * last) return "first";
        return last > 1.5 * first ? "last" : "alike";
      },
    },
    after: (measured) => {
      const [first, last] = halves(measured);
      return `The first half is off by ${amount(cleared(first), 2)} on average, the last half by ${amount(cleared(last), 2)}. In sequence, a later pair changes the answers of earlier ones, so the matrix is triangular. Move the slider to the right until no pair is forgotten.`;
    },
    set: { pairs: crowd(), way: 1, width: 0.3 },
  },
  {
    key: "apart",
    name: "And if the keys are far apart?",
    ask: "Seven keys are far apart. All at once, in sequence, exactly: does the method of writing matter?",
    predict: {
      options: [
        ["hardly", "hardly"],
        ["much", "a lot"],
      ],
      right: ({ bound }) => (bound < FEW ? "hardly" : "much"),
    },
    after: ({ rho, bound, divide }) => {
      if (divide) return "The bound ρ/(1 − ρ) holds without the division only.";
      if (rho >= 1)
        return `Here ρ = ${figures(rho, 2)}. From ρ = 1 on the bound ρ/(1 − ρ) says nothing, and the methods may differ.`;
      const much = `ρ = ${figures(rho, 2)}, so sequence and exact differ from “at once” by at most ${figures(bound, 2)} of the largest value`;
      return bound < FEW
        ? `Hardly: ${much}. The ridge differs too: it shrinks every answer. Widen the kernel until the bound says nothing.`
        : `Here ${much}. Widen the kernel until the bound says nothing.`;
    },
    set: { pairs: evenly(7), way: 0, width: 0.13 },
  },
  {
    key: "noise",
    name: "Which method is best with noise?",
    ask: "Each value carries noise of size 0.5. Which method is closest at keys that it has not seen?",
    predict: {
      options: [
        ["sequence", "in sequence"],
        ["ridge", "ridge"],
        ["exact", "exactly"],
      ],
      right: best,
    },
    after: (measured) =>
      `Errors at unseen keys: ${priced(measured)}. The exact method reproduces the noise. A theorem of this chapter recommends a ridge with ω = 1/s²: for s = 0.5, ω = 4.`,
    set: { pairs: evenly(12), way: 3, width: 0.6, noise: 0.5, omega: 4 },
  },
  {
    key: "off",
    name: "What is read far from the keys?",
    ask: "All keys lie on the left, and the reading divides by the sum of kernels. What is read far to the right of the last key?",
    predict: {
      options: [
        ["fades", "it fades to 0"],
        ["stays", "it stays level"],
      ],
      right: (measured) => (Math.abs(atTheEnd(measured)) > 0.2 ? "stays" : "fades"),
    },
    after: (measured) => {
      const end = atTheEnd(measured);
      if (Number.isNaN(end))
        return "At the right end all kernels are too small for a float, and the reading is 0/0. Widen the kernel.";
      return measured.divide
        ? `At the right end it reads ${amount(end, 2)}: the weights add up to one everywhere, so the memory answers a far key as firmly as a near one. Switch the division off, and the reading fades to 0.`
        : `At the right end it reads ${amount(cleared(end, 1e-3), 2)}: without the division the weights fade, and the reading with them.`;
    },
    set: { pairs: evenly(7, -1.2, -0.15), way: 0, width: 0.15, divide: true },
  },
  {
    key: "changed",
    name: "Which method follows a changed fact?",
    ask: "Pair 4 has a wrong value, and pair 9, at nearly the same key, has the true one. Which method answers best now?",
    predict: {
      options: [
        ["sequence", "in sequence"],
        ["ridge", "ridge"],
        ["exact", "exactly"],
      ],
      right: best,
    },
    after: (measured) =>
      `Errors at unseen keys: ${priced(measured)}. In sequence the last value counts. The other methods use both values, and the exact method jumps from one to the other. Now let the last pair be written first.`,
    set: { pairs: changed(), way: 3, width: 0.12 },
  },
  {
    key: "rounds",
    name: "Do repeated writes settle?",
    ask: "All pairs are written at once, in eight rounds; each round writes the remaining error. Does the error settle?",
    predict: {
      options: [
        ["settles", "it settles"],
        ["away", "it runs away"],
      ],
      right: ({ growth }) => (growth > 2 ? "away" : "settles"),
    },
    after: ({ growth }) =>
      `The largest eigenvalue of S is ${figures(growth, 2)}${growth > 2 ? ": beyond 2, each round makes it worse" : ": below 2, each round makes it better"}. In sequence the rounds settle for any keys, at the exact solution: move the slider to the right.`,
    set: { pairs: crowd(), way: 0, width: 0.2, rounds: 8 },
  },
  {
    key: "features",
    name: "How many frequencies replace the list?",
    ask: "Two vectors of cosines and sines replace the list of pairs: one for the values, one for ones. How many frequencies bring the reading within 0.03 of the list’s?",
    predict: {
      options: [
        ["60", "about 60"],
        ["240", "about 240"],
        ["900", "about 900"],
      ],
      right: (measured) => {
        const gap = (/** @type {string} */ v) =>
          Math.abs(Math.log(Number(v) / needed(measured, WANTED)));
        return ["60", "240", "900"].reduce((a, b) => (gap(b) < gap(a) ? b : a));
      },
    },
    after: (measured) => {
      if (measured.Y === 0) return "Now the list itself is read. Choose a number Y of frequencies.";
      if (measured.law === null)
        return "The error is predicted only for pairs written at once and a divided reading.";
      if ((measured.cost ?? 0) > WILD * measured.law)
        return "In this draw the sum of the weights comes near 0 somewhere, and the divided reading is far off. Raise Y, or take another draw.";
      return `With Y = ${count(measured.Y)} the error is ${amount(measured.cost, 2)}; over many draws it is predicted as ${amount(measured.law, 2)}. It falls like 1/√Y, so about ${count(Number(needed(measured, WANTED).toPrecision(1)))} are needed. The length of the vectors does not depend on the number of pairs.`;
    },
    set: { pairs: crowd(), way: 0, width: 0.4, divide: true, Y: 64, seed: 2 },
  },
];

export const PRESETS = posed(QUESTIONS, (/** @type {Partial<Settings>} */ set) =>
  settingsFrom(set),
);
