// Settings posed as questions. Most lead to a place where something fails, and ask for a guess first. `after` is shown
// once the run has ended, with the numbers of that run. Tests check what it says on the real photographs.
import { posed } from "../kit/explorer.js";
import { count, figures, fixed, percent } from "../kit/number.js";
import { blendOf, verdictOf } from "./report.js";
import { BEGINNINGS, DEFAULTS } from "./settings.js";
import { strength } from "./strengths.js";

/** @import { Preset } from "../kit/explorer.js" */
/** @import { Library } from "./library.js" */
/** @import { Both } from "./report.js" */
/** @import { Settings } from "./settings.js" */
/** @import { Strengths } from "./strengths.js" */

/**
 * The results of a run, at its end. `closeness` is the kernel e^(−βd²/2) at the distance d of the query from the true
 * picture: 1 at the picture, near 0 far away. `isNearest` says that no stored picture is nearer to the query than the true
 * one. `isSeparate` is false unless the exact memory ends in a blend although β separates the true picture.
 *
 * @typedef {{
 *   closeness: number,
 *   strengths: Strengths | null,
 *   both: Both,
 *   freedom: number,
 *   numbers: { exact: number, distributed: number },
 *   K: number,
 *   isStored: boolean,
 *   rests: { exact: boolean, distributed: boolean },
 *   isSeparate: boolean,
 *   isNearest: boolean,
 * }} Findings
 */

/** @param {Findings} run */
const errors = ({ both: { exact, distributed } }) =>
  `mean error per pixel ${fixed(exact.error, 3)} in the exact memory, ${fixed(distributed.error, 3)} in the distributed memory`;

/** @param {Findings} run */
const limitOf = ({ strengths }) => strength(strengths?.limit ?? 0);
/** @param {Findings} run */
const noiseOf = ({ strengths }) => strength(strengths?.noise ?? 0);

/** The verdict on the distributed memory's answer, without its mark. @param {Findings} run */
const vector = ({ both }) => verdictOf(both.distributed).replace(/^[✓✗] /, "");

const WHO = {
  options: /** @type {[string, string][]} */ ([
    ["both", "Both memories"],
    ["exact", "Only the exact memory"],
    ["none", "Neither"],
  ]),
  /** @param {Findings} run */
  right: ({ both: { exact, distributed } }) =>
    exact.right && distributed.right
      ? "both"
      : exact.right
        ? "exact"
        : distributed.right
          ? null
          : "none",
};

/** Keys of the questions that are buttons; the others are in a menu. */
export const FIRST = ["beta", "features", "memories", "black", "threshold"];

/** @type {Preset<Partial<Settings>, Findings>[]} */
const QUESTIONS = [
  {
    key: "start",
    name: "Can you break it?",
    ask: "Move β, Y or K, or press a question. Which memory fails first?",
    after: ({ both: { exact, distributed } }) =>
      exact.right && distributed.right
        ? ""
        : exact.right
          ? "Only the distributed memory fails here. Can you make both fail?"
          : distributed.right
            ? "Only the exact memory fails here."
            : "Both fail here. Can you repair them again?",
    set: {},
  },
  {
    key: "beta",
    name: "Is a larger β better?",
    ask: "A larger β makes both memories more selective: a stored picture then counts only if the query is close to it. Which memory still finds the picture?",
    predict: WHO,
    after: (r) =>
      `The exact memory is now nearly perfect (mean error per pixel ${fixed(r.both.exact.error, 3)}): it only asks which picture is nearest. In the distributed memory, what a picture adds must also beat the noise. The noise stayed at ${noiseOf(r)}, but its limit fell to ${limitOf(r)}.`,
    set: { beta: 200 },
  },
  {
    key: "features",
    name: "Is a short vector enough?",
    ask: "Y falls from 60,000 to 1,000: the vector T now holds fewer numbers than the pictures in it. Which memory still finds the picture?",
    predict: WHO,
    after: (r) =>
      `The distributed memory returns noise (${errors(r)}). The noise rose to ${noiseOf(r)}, and its limit stayed at ${limitOf(r)}. Without visible grain, the vector needs Y of about 2 × hidden numbers × pictures, here 2 × ${count(r.freedom)} × ${count(r.K)} = ${count(2 * r.freedom * r.K)}.`,
    set: { Y: 1000 },
  },
  {
    key: "memories",
    name: "Do 24 pictures fit?",
    ask: `All twenty-four photographs are stored, at β = ${figures(DEFAULTS.beta)}. Which memory finds the picture?`,
    predict: WHO,
    after: (r) =>
      `Even the exact memory returns ${blendOf(r.both.exact.mixed, r.both.bits)}: at this β it cannot separate so many, and no Y can help. Raise β, and the exact memory separates them. The distributed memory then needs a larger Y.`,
    set: { K: 24 },
  },
  {
    key: "black",
    name: "Does the cover matter?",
    ask: "As at the start, but the cover is black and not grey. Which memory still finds the picture?",
    predict: WHO,
    after: (r) =>
      `The exact memory still finds it. The answer of the distributed memory is ${vector(r)}: black is farther than grey from what it covers, and out there the signal of the picture is weak. The noise is ${noiseOf(r)}, and only ${limitOf(r)} is allowed.`,
    set: { fill: "black" },
  },
  {
    key: "threshold",
    name: "How many random patterns fit?",
    ask: "Two hundred random patterns of a hundred bits are stored in a vector of 40,000 numbers. Which memory repairs one of them, a tenth of whose bits are flipped?",
    predict: WHO,
    after: (r) =>
      `The exact memory repairs all bits. The distributed memory leaves ${percent(r.both.distributed.error)} of them wrong. For so much noise its start is too far from the pattern; even twice as many frequencies, Y = 2DK = ${count(2 * r.freedom * r.K)}, would not do. Drag K to the left: at fifty it repairs the pattern too.`,
    set: { collection: "bits", K: 200, across: "K" },
  },
  {
    key: "more",
    name: "What does a clean picture cost?",
    ask: "Y rises to 200,000 for the same six pictures. What does a clean picture cost?",
    after: (r) =>
      `Less grain is left (${errors(r)}): the noise falls as 1/√Y. The vector T now holds ${fixed(r.numbers.distributed / r.numbers.exact, 0)} times as many numbers as the pictures themselves.`,
    set: { Y: 200000 },
  },
  {
    key: "figure3",
    name: "What does Figure 3 of the DrDAM paper retrieve?",
    ask: "As in the DrDAM paper: K = 500 random patterns of D = 100 bits, at β = 30. What does the exact memory return for one of them?",
    predict: {
      options: [
        ["pattern", "That pattern"],
        ["blend", "A mean of many"],
      ],
      right: ({ both }) => (both.exact.right ? "pattern" : "blend"),
    },
    after: (r) =>
      `A mean of ${count(r.both.exact.mixed)} patterns: at this β the exact memory returns the same mean for all of them, and two memories that agree on it retrieve nothing. Drag β up to 50, and the exact memory separates them.`,
    set: { collection: "bits", K: 500, beta: 30, flips: 0 },
  },
  {
    key: "figure1",
    name: "Does Figure 1 of the DrDAM paper work for every picture?",
    ask: "As in the DrDAM paper: four pictures of 64 × 64 pixels, β = 60, Y = 180,000; the top third is kept fixed, the rest starts black. Which memory finds this picture?",
    predict: WHO,
    after: (r) =>
      `Not for this one: the answer of the distributed memory is ${vector(r)}, and the noise, ${noiseOf(r)}, is above its limit, ${limitOf(r)}. Choose coffee as the true picture and it works; or keep this one and cover with grey.`,
    set: {
      ...{ size: 64, K: 4, beta: 60, Y: 180000, eta: 0.1, steps: 300 },
      ...{ fraction: 0.667, fill: "black" },
    },
  },
  {
    key: "figure2",
    name: "Does Figure 2 of the DrDAM paper save memory?",
    ask: "As in the DrDAM paper: twenty pictures in one vector T of 400,000 numbers, with the top 60 % kept fixed. Does T save memory?",
    after: (r) =>
      `It works (${errors(r)}), but with visible grain. And T holds ${fixed(r.numbers.distributed / r.numbers.exact)} times as many numbers as the twenty pictures: the paper counts Y where T has 2Y.`,
    set: {
      ...{ size: 64, K: 20, target: 10, beta: 60, Y: 200000, eta: 0.1, steps: 1000 },
      ...{ fraction: 0.4, fill: "black" },
    },
  },
];

/** @type {(given: Partial<Settings>) => Settings} */
const settle = (given) => ({
  ...DEFAULTS,
  ...(given.collection ? BEGINNINGS[given.collection] : {}),
  ...given,
});

export const PRESETS = posed(QUESTIONS, settle);

/**
 * The presets for which the library has pictures of the size needed.
 *
 * @param {Pick<Library, "side">} library
 */
export const presetsFor = ({ side }) =>
  PRESETS.filter(({ set }) => set.collection === "bits" || set.size <= side);
