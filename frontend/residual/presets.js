// Settings posed as questions, each towards a place where something fails. `after` is told the run's own numbers.
import { posed } from "../kit/explorer.js";
import { amount, count } from "../kit/number.js";
import { DEFAULTS, nextSettings } from "./settings.js";

/** @import { Preset } from "../kit/explorer.js" */
/** @import { Laws } from "./charts.js" */
/** @import { Risks } from "./math/risk.js" */
/** @import { waveLaws } from "./math/waves.js" */
/** @import { Patch, Settings } from "./settings.js" */

/**
 * What a run has found: risks and laws at its n, and the noise from which the memory hurts.
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
    ask: "The base can hold six tenths of the slope, and no more. What does the memory of its residuals add as examples come in?",
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
      `Risk ${number(r.risk.base)} alone, ${number(r.risk.memory)} with the memory at n = ${r.n}. The base stays where it is; the memory learns the rest.`,
    set: {},
  },
  {
    key: "rough",
    name: "Which wave should the base learn?",
    ask: "The truth is a smooth wave plus a rough wave of half the height. The base knows the smooth wave, which leaves it the smaller error. The memory stores the rest. Would the sum be better if the base knew the rough wave?",
    predict: {
      options: [
        ["yes", "Yes: learn the rough one"],
        ["no", "No: learn the smooth one"],
      ],
      right: ({ waves }) => (waves ? (waves.other < waves.memory ? "yes" : "no") : null),
    },
    after: ({ n, risk, waves }) =>
      waves
        ? `With ${n} examples the sum has the risk ${number(risk.memory)}; if the base knew the other wave, the sum would have ${number(waves.other)}. Alone, the two bases have ${number(waves.base)} and ${number(waves.otherBase)}. A neighbour's value is a good substitute for a smooth wave and a bad one for a rough wave. Move the frequency, then n.`
        : "",
    set: { view: "waves", frequency: 8, learns: "smooth", n: 64 },
  },
  {
    key: "alone",
    name: "Did the base help?",
    ask: "Capacity 0: the memory holds whole labels, and is the nearest neighbour and nothing else. How much did the base help?",
    predict: {
      options: [
        ["square", "By a factor (1 − L)²"],
        ["rate", "By a faster rate"],
        ["no", "Not at all"],
      ],
      right: ({ risk }) => (Math.abs(risk.memory - risk.neighbours) < 1e-9 ? "square" : null),
    },
    after: (r) =>
      `Risk ${number(r.risk.memory)} at n = ${r.n}. A base of capacity L multiplies that by (1 − L)², by ${number(0.4 ** 2)} at L = 0.6, and does so at every n: the rate is the same.`,
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
      `At n = ${count(r.n)} the risk is ${number(r.risk.memory)}, still ${share(r.risk.memory, r.law?.base)} of the base’s (1 − L)². It falls as n^(−2/8): ten times the data take off less than half.`,
    set: { d: 8, n: 4096 },
  },
  {
    key: "printed",
    name: "How tight is the printed bound?",
    ask: "The paper bounds this risk by a rate of n^(−1/d) and calls it exact. How far above the risk does it lie?",
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
      `At n = ${count(r.n)} the printed bound is ${times(r.law?.printed, r.risk.memory)} × the risk measured, and the distance grows: the exponent is 2/d, not 1/d.`,
    set: { d: 5, n: 4096 },
  },
  {
    key: "noise",
    name: "Does noise spoil the memory?",
    ask: "The labels now carry noise, and a single neighbour is remembered, noise and all. When does that stop paying?",
    predict: {
      options: [
        ["pays", "Here it still pays"],
        ["hurts", "Here it hurts"],
      ],
      right: ({ risk }) => (risk.memory < risk.base ? "pays" : "hurts"),
    },
    after: (r) =>
      `Here the memory hurts: risk ${number(r.risk.memory)} against ${number(r.risk.base)} without it. The law draws the border at variance ${number(r.threshold)}; the labels have ${number(r.level)}.`,
    set: { d: 2, noise: 0.25, n: 512 },
  },
  {
    key: "average",
    name: "Do more neighbours help?",
    ask: "The same noise, but twenty neighbours share the say. Is it worth remembering again?",
    predict: {
      options: [
        ["pays", "Yes, it pays again"],
        ["hurts", "No, it still hurts"],
      ],
      right: ({ risk }) => (risk.memory < risk.base ? "pays" : "hurts"),
    },
    after: (r) =>
      `Yes: ${number(r.risk.memory)} against ${number(r.risk.base)} for the base. Averaging divides the noise by the number of neighbours, and pays with their distance.`,
    set: { d: 2, noise: 0.25, k: 20, sigma: 10, n: 512 },
  },
  {
    key: "width",
    name: "What does a small σ do?",
    ask: "Twenty neighbours again, weighed by exp(−distance/σ) with a small σ. Where did the average go?",
    predict: {
      options: [
        ["pays", "Still there"],
        ["hurts", "Gone: it hurts"],
      ],
      right: ({ risk }) => (risk.memory < risk.base ? "pays" : "hurts"),
    },
    after: (r) =>
      `The nearest has nearly all the weight: risk ${number(r.risk.memory)}, as with one neighbour. σ must be as large as the distances it is to weigh.`,
    set: { d: 2, noise: 0.25, k: 20, sigma: 0.01, n: 512 },
  },
  {
    key: "plane",
    name: "Does it help with two classes?",
    ask: "A logistic base that bends too little, and the memory of onehot(y) − p. Which part of the gain is the memory’s, and which would neighbours alone give?",
    predict: {
      options: [
        ["memory", "Most is the memory’s"],
        ["same", "None is the memory’s"],
      ],
      right: ({ risk }) => (risk.neighbours - risk.memory > 0.02 ? "memory" : "same"),
    },
    after: (r) =>
      `Errors at n = ${r.n}: base ${number(r.risk.base)}, with memory ${number(r.risk.memory)}, neighbours’ labels alone ${number(r.risk.neighbours)}. In this plane the neighbours explain the gain.`,
    set: { view: "plane", L: 0.3, n: 512 },
  },
  {
    key: "flips",
    name: "What do wrong labels do?",
    ask: "One label in five is wrong, and one neighbour is remembered. Look for the specks.",
    predict: {
      options: [
        ["pays", "The memory still helps"],
        ["hurts", "The memory hurts"],
      ],
      right: ({ risk }) => (risk.memory < risk.base ? "pays" : "hurts"),
    },
    after: (r) =>
      `Every wrong label is a speck of its own in the sum: error ${number(r.risk.memory)} against ${number(r.risk.base)}. Raise k and they fade.`,
    set: { view: "plane", L: 0.3, flips: 0.2, n: 512 },
  },
];

export const PRESETS = posed(QUESTIONS, (patch) => nextSettings(DEFAULTS, patch));
