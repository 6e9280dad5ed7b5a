// The explorer's questions with their settings, most of which lead to a failure. `after` gets the numbers of the run.
import { posed } from "../kit/explorer.js";
import { amount, count } from "../kit/number.js";
import { DEFAULTS, nextSettings } from "./settings.js";

/** @import { Preset } from "../kit/explorer.js" */
/** @import { Laws } from "./charts.js" */
/** @import { Risks } from "./math/risk.js" */
/** @import { waveLaws } from "./math/waves.js" */
/** @import { Patch, Settings } from "./settings.js" */

/**
 * The numbers of a run: risks and laws at its n, the noise above which the memory hurts, and the level of the settings.
 *
 * @typedef {{
 *   n: number, risk: Risks, law: Laws | null, waves: ReturnType<typeof waveLaws> | null, threshold: number | null,
 *   level: number,
 * }} Findings
 */

/** @param {number | null | undefined} v */
const number = (v) => amount(v, 2);
/** @type {(a: number | undefined, b: number | undefined) => string} */
const times = (a = 0, b = 1) => (a / b >= 10 ? count(a / b) : number(a / b));
/** @type {(a: number | undefined, b: number | undefined) => string} */
const share = (a = 0, b = 1) => number(a / b);

/** @type {Preset<Patch, Findings>[]} */
const QUESTIONS = [
  {
    key: "start",
    name: "Does the memory help?",
    ask: "The base can learn six tenths of the slope, and no more. What does the memory of its residuals add as the number of examples grows?",
    predict: {
      options: [
        ["rest", "All the rest"],
        ["little", "A little, no more"],
        ["nothing", "Nothing"],
      ],
      right: ({ risk }) => {
        const left = risk.memory / risk.base;
        return left < 0.3 ? "rest" : left < 0.9 ? "little" : "nothing";
      },
    },
    after: (r) =>
      `At n = ${r.n} the base alone has risk ${number(r.risk.base)}, and ${number(r.risk.memory)} with the memory. The risk of the base stops falling, and the memory learns the rest.`,
    set: {},
  },
  {
    key: "rough",
    name: "Which wave should the base learn?",
    ask: "The truth is a smooth wave plus a rough one of half the height. The base knows the smooth wave and the memory stores the rest. Is it better the other way round?",
    predict: {
      options: [
        ["yes", "Yes: learn the rough one"],
        ["no", "No: learn the smooth one"],
      ],
      right: ({ waves }) => (waves ? (waves.other < waves.memory ? "yes" : "no") : null),
    },
    after: ({ risk, waves }) =>
      waves
        ? `The sum has risk ${number(risk.memory)}, and ${number(waves.other)} the other way round, although that base alone is worse (${number(waves.otherBase)} against ${number(waves.base)}). A neighbour replaces a smooth wave well and a rough one badly. Move ν, then n.`
        : "",
    set: { view: "waves", frequency: 8, learns: "smooth", n: 64 },
  },
  {
    key: "alone",
    name: "Would a base help?",
    ask: "At capacity 0 the base is zero and the memory stores whole labels: this is the method of nearest neighbours. How much would a base of capacity L reduce its risk?",
    predict: {
      options: [
        ["square", "By a factor (1 − L)²"],
        ["rate", "By a faster rate"],
        ["no", "Not at all"],
      ],
      right: ({ risk }) => (Math.abs(risk.memory - risk.neighbours) < 1e-9 ? "square" : null),
    },
    after: (r) =>
      `Without a base the risk is ${number(r.risk.memory)} at n = ${r.n}. A base of capacity L multiplies this risk by (1 − L)², which is ${number(0.4 ** 2)} at L = 0.6. By the law the factor is the same at every n, so the rate does not change.`,
    set: { L: 0, d: 3, n: 512 },
  },
  {
    key: "dimension",
    name: "What if there are eight dimensions?",
    ask: "In eight dimensions the nearest of many points is still far. How much of the base’s risk is left?",
    predict: {
      options: [
        ["tenth", "Under a tenth"],
        ["part", "A tenth to a half"],
        ["most", "Over half"],
      ],
      right: ({ risk, law }) => {
        const left = risk.memory / (law?.base ?? Number.NaN);
        return left < 0.1 ? "tenth" : left < 0.5 ? "part" : left >= 0.5 ? "most" : null;
      },
    },
    after: (r) =>
      `At n = ${count(r.n)} the risk is ${number(r.risk.memory)}, still ${share(r.risk.memory, r.law?.base)} of the base’s (1 − L)². It falls as n^(−2/8), so ten times the data reduce it by less than half.`,
    set: { d: 8, n: 4096 },
  },
  {
    key: "printed",
    name: "How tight is the printed bound?",
    ask: "Yang et al. (ResMem, 2023) bound this risk at the rate n^(−1/d) and call the rate exact. How far above the risk does the bound lie?",
    predict: {
      options: [
        ["tight", "Within 2×"],
        ["off", "Up to 50×"],
        ["far", "Over 50×"],
      ],
      right: ({ risk, law }) => {
        const factor = (law?.printed ?? Number.NaN) / risk.memory;
        return factor < 2 ? "tight" : factor < 50 ? "off" : factor >= 50 ? "far" : null;
      },
    },
    after: (r) =>
      `At n = ${count(r.n)} the printed bound is ${times(r.law?.printed, r.risk.memory)} × the risk measured, and the ratio grows with n, because the exponent is 2/d, not 1/d.`,
    set: { d: 5, n: 4096 },
  },
  {
    key: "noise",
    name: "Does noise spoil the memory?",
    ask: "The labels now contain noise, and the memory copies the noise of a single neighbour. Does the memory still help?",
    predict: {
      options: [
        ["pays", "Yes, it still helps"],
        ["hurts", "No, it hurts"],
      ],
      right: ({ risk }) => (risk.memory < risk.base ? "pays" : "hurts"),
    },
    after: (r) =>
      `The memory hurts here: the risk is ${number(r.risk.memory)} with it and ${number(r.risk.base)} without it. By the law it hurts above a variance of ${number(r.threshold)}; the labels have ${number(r.level)}.`,
    set: { d: 2, noise: 0.25, n: 512 },
  },
  {
    key: "average",
    name: "Do more neighbours help?",
    ask: "The same noise, averaged over twenty neighbours. Does the memory help again?",
    predict: {
      options: [
        ["pays", "Yes, it helps again"],
        ["hurts", "No, it still hurts"],
      ],
      right: ({ risk }) => (risk.memory < risk.base ? "pays" : "hurts"),
    },
    after: (r) =>
      `Yes: ${number(r.risk.memory)} against ${number(r.risk.base)} for the base. Averaging divides the variance of the noise by the number of neighbours, but those neighbours are farther away.`,
    set: { d: 2, noise: 0.25, k: 20, sigma: 10, n: 512 },
  },
  {
    key: "width",
    name: "What does a small σ do?",
    ask: "Twenty neighbours again, weighted by exp(−distance/σ) with a small σ. Does the average still reduce the noise?",
    predict: {
      options: [
        ["pays", "Yes, as before"],
        ["hurts", "No, the memory hurts"],
      ],
      right: ({ risk }) => (risk.memory < risk.base ? "pays" : "hurts"),
    },
    after: (r) =>
      `Hardly: the nearest neighbours have most of the weight, and the risk is ${number(r.risk.memory)}, near that of one neighbour. σ must not be far below the distances to the twenty neighbours.`,
    set: { d: 2, noise: 0.25, k: 20, sigma: 0.01, n: 512 },
  },
  {
    key: "plane",
    name: "Does it help with two classes?",
    ask: "The base is a logistic model whose border cannot bend enough. The memory stores each label minus the probability that the base gives. Does base + memory gain more than neighbours alone?",
    predict: {
      options: [
        ["memory", "Yes, it gains more"],
        ["same", "No, neighbours alone gain as much"],
      ],
      right: ({ risk }) => (risk.neighbours - risk.memory > 0.02 ? "memory" : "same"),
    },
    after: (r) =>
      `At n = ${r.n} the base is wrong on a fraction ${number(r.risk.base)}, base + memory on ${number(r.risk.memory)}, neighbours alone on ${number(r.risk.neighbours)}. In this plane neighbours alone explain the gain.`,
    set: { view: "plane", L: 0.3, n: 512 },
  },
  {
    key: "flips",
    name: "What do wrong labels do?",
    ask: "One label in five is wrong, and the memory uses one neighbour. Does the memory still help?",
    predict: {
      options: [
        ["pays", "The memory still helps"],
        ["hurts", "The memory hurts"],
      ],
      right: ({ risk }) => (risk.memory < risk.base ? "pays" : "hurts"),
    },
    after: (r) =>
      `No: every wrong label makes a speck of its own, and the error is ${number(r.risk.memory)} with the memory against ${number(r.risk.base)} without it. Raise k, and the specks disappear.`,
    set: { view: "plane", L: 0.3, flips: 0.2, n: 512 },
  },
];

export const PRESETS = posed(QUESTIONS, (patch) => nextSettings(DEFAULTS, patch));
