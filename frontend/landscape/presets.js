// The explorer's questions with their settings, for each of the three chapters that show a landscape.
import { posed } from "../kit/explorer.js";
import { amount, counted, figures } from "../kit/number.js";
import { places, settingsFrom } from "./settings.js";

/** @import { Preset } from "../kit/explorer.js" */
/** @import { Consequences, Settings, View } from "./settings.js" */

/**
 * The consequences of the settings; `promised`, true if the theorem gives a bound; and `needed`, the Y from which it
 * gives one, in words.
 *
 * @typedef {Consequences & { promised: boolean, needed: string }} Found
 */
/** @typedef {Preset<Partial<Settings>, Found>} Question */

/** @type {(line: number[]) => number} */
const end = (line) => line[line.length - 1];
/** @type {(run: Consequences["runs"]) => number} */
const rises = ({ energies }) =>
  energies.filter((e, t) => t > 0 && e > energies[t - 1] + 1e-9).length;

/** @type {Question[]} */
const EXACT = [
  {
    key: "part",
    name: "When do two basins separate?",
    ask: "Two patterns at distance d = 1 have two basins. Lower β: at which value do the basins become one? Then drag a pattern away.",
    predict: {
      options: [
        ["2", "βd² = 2"],
        ["4", "βd² = 4"],
        ["8", "βd² = 8"],
      ],
      right: () => "4",
    },
    after: ({ kappa, rests }) =>
      `Here βd² = ${figures(4 * kappa)}, and runs from the patterns end at ${rests === 1 ? "one place" : `${rests} places`}. With only two patterns they separate at βd² = 4, for every d.`,
    set: { patterns: places(2), query: [-0.12, 0.7], beta: 16 },
  },
  {
    key: "two",
    name: "Can a step be too long?",
    ask: "Each step of size η = 1.9 overshoots the bottom. Does the energy ever rise? Then try η = 2 and 2.2.",
    predict: {
      options: [
        ["yes", "yes"],
        ["no", "no"],
      ],
      right: ({ runs }) => (rises(runs) > 0 ? "yes" : "no"),
    },
    after: ({ runs }) =>
      `It rises in ${rises(runs)} of ${counted(runs.energies.length - 1, "step")}. Up to η = 2 it cannot rise, at any β. Beyond η = 2, a step in a round bowl ends farther out.`,
    set: { patterns: places(3), query: [-0.9, -0.5], beta: 30, eta: 1.9 },
  },
  {
    key: "crowd",
    name: "Do eight patterns keep their basins?",
    ask: "Eight patterns. How many keep a basin of their own? Raise β until all do.",
    predict: {
      options: [
        ["all", "all eight"],
        ["fewer", "fewer"],
      ],
      right: ({ rests }) => (rests === 8 ? "all" : "fewer"),
    },
    after: ({ rests }) =>
      `Runs from the patterns end at ${rests === 1 ? "one place" : `${rests} places`}. A pattern merges with neighbours that are nearer than about 2/√β.`,
    set: { patterns: places(8), query: [0.3, 0.2], beta: 5 },
  },
];

/** @type {Question[]} */
const BOTH = [
  {
    key: "few",
    name: "Do a few cosines suffice?",
    ask: "E is the energy of four patterns, and Ê its estimate from Y = 32 frequencies. A run on each starts at x. Where do the two runs end? Then raise Y to 4,096: they come together.",
    predict: {
      options: [
        ["yes", "less than 0.1 apart"],
        ["no", "farther apart"],
      ],
      right: ({ runs }) => (end(runs.distance) < 0.1 ? "yes" : "no"),
    },
    after: ({ runs }) =>
      `The two runs end ${amount(end(runs.distance))} apart. Each doubling of Y lowers the noise of Ŝ by a factor of √2.`,
    set: { Y: 32, beta: 12 },
  },
  {
    key: "hot",
    name: "What is known far from all patterns?",
    ask: "β = 60, and a region is hatched: Ŝ is too small there for its logarithm to mean anything. Why there, and does Y = 4,096 help?",
    after: ({ copy }) =>
      `Far from all patterns S is almost 0 and its estimate is noise of either sign; hatched is where Ŝ is below an eighth of that noise, ${amount(copy?.floor)}. Doubling Y lowers the noise only by √2, so the hatched region shrinks slowly.`,
    set: { Y: 512, beta: 60, query: [-0.75, 0.2] },
  },
  {
    key: "positive",
    name: "Are positive features better?",
    ask: "The same four patterns with exponentials in place of cosines. Where do the two runs end now? Then choose cosines and sines under More.",
    predict: {
      options: [
        ["yes", "less than 0.1 apart"],
        ["no", "farther apart"],
      ],
      right: ({ runs }) => (end(runs.distance) < 0.1 ? "yes" : "no"),
    },
    after: ({ runs }) =>
      `The runs end ${amount(end(runs.distance))} apart. The variance of exponentials grows as e^(4β⟨x, ξ⟩): they are worse than cosines where inner products are large and positive, and better where they are negative.`,
    set: { Y: 256, beta: 12, basis: "expexp" },
  },
];

/** @type {Question[]} */
const TUBE = [
  {
    key: "stay",
    name: "Does the run stay in its tube?",
    ask: "Both runs start near a pattern. The tube is the distance that the recursion with ρₜ and eₜ allows. Does the orange run ever leave the tube, and does the tube keep growing?",
    predict: {
      options: [
        ["yes", "the tube keeps growing"],
        ["no", "the tube stops growing"],
      ],
      right: ({ runs }) => (end(runs.tube) > 1.05 * runs.tube[20] ? "yes" : "no"),
    },
    after: ({ runs }) =>
      `At the end the runs are ${amount(end(runs.distance))} apart, and the tube allows ${amount(end(runs.tube))}. In a basin ρₜ < 1: each step removes a part of the earlier error, so the tube stops growing.`,
    set: { Y: 1024, beta: 12, query: [-0.75, -0.3], patterns: places(4) },
  },
  {
    key: "ridge",
    name: "What happens on a ridge?",
    ask: "The query lies almost midway between two patterns. Does the orange run follow the blue one? Then drag x off the ridge and watch the tube.",
    predict: {
      options: [
        ["yes", "they part"],
        ["no", "they stay together"],
      ],
      right: ({ runs }) => (end(runs.distance) > 0.3 ? "yes" : "no"),
    },
    after: ({ runs }) =>
      `ρₜ reaches ${amount(Math.max(...runs.growth))}. Where it is above 1, as on a ridge, a small error grows at each step. The runs end ${amount(end(runs.distance))} apart, the tube allows ${amount(end(runs.tube))}.`,
    set: { Y: 1024, beta: 12, query: [0, -0.05], patterns: places(4) },
  },
  {
    key: "promise",
    name: "What is promised in advance?",
    ask: "Two patterns at β = 8. What would the worst-case theorem have promised before the run, and from how many frequencies on does it promise anything?",
    predict: {
      options: [
        ["yes", "4,096 frequencies will do"],
        ["no", "they will not"],
      ],
      right: ({ promised }) => (promised ? "yes" : "no"),
    },
    after: ({ runs, promised, needed }) =>
      `The tube uses the run itself, and ends at ${amount(end(runs.tube))}. Before the run ${promised ? "the theorem promises the distance in the table" : `the theorem promises nothing; needed: ${needed}`}.`,
    set: {
      Y: 4096,
      beta: 8,
      eta: 0.5,
      steps: 6,
      patterns: places(2),
      query: [0.4, 0],
    },
  },
];

/** @type {Record<View, Question[]>} */
const QUESTIONS = { exact: EXACT, both: BOTH, tube: TUBE };

/**
 * The questions for a view.
 *
 * @param {View} view
 */
export const presetsOf = (view) =>
  posed(QUESTIONS[view], (/** @type {Partial<Settings>} */ set) => settingsFrom({ view, ...set }));

/** The questions for all views. */
export const PRESETS = /** @type {View[]} */ (Object.keys(QUESTIONS)).flatMap(presetsOf);
