// Settings posed as questions, each towards a place where something fails; what they say is checked on the real
// photographs by the tests. `after` is told once the run has ended, with that run's own numbers.
import { posed } from "../kit/explorer.js";
import { count, fixed } from "../kit/number.js";
import { DEFAULTS } from "./settings.js";

/** @import { Preset } from "../kit/explorer.js" */
/** @import { Numbers } from "./report.js" */
/** @import { Settings } from "./settings.js" */

/**
 * What a run has found, at its end.
 *
 * @typedef {{
 *   pull: number,
 *   roughness: number,
 *   end: Numbers,
 *   nameDistributed: string,
 *   freedom: number,
 *   numbers: { exact: number, distributed: number },
 *   K: number,
 * }} Findings
 */

/** @param {number} K */
const first = (K) => Array.from({ length: K }, (_, i) => i);
/** @param {{ end: Numbers }} run */
const errors = ({ end }) =>
  `mean error ${fixed(end.errorExact)} (exact) against ${fixed(end.errorDistributed)} (distributed)`;

/** @type {Preset<Partial<Settings>, Findings>[]} */
const QUESTIONS = [
  {
    key: "start",
    name: "Start",
    ask: "Eight photographs are stored. Half of one is covered with grey and the visible half is held. Do both memories bring it back?",
    after: (r) =>
      `Both arrive: ${errors(r)}. The gauge, ${fixed(r.pull, 1)}, saw a pull before the first step, from T and the query alone; that it is this picture’s, it could not know. Now break it: pick the next question.`,
    set: {},
  },
  {
    key: "black",
    name: "Black instead of grey",
    ask: "Only the colour of the cover changes, from grey to black. Why should that matter to a memory?",
    after: (r) =>
      `The exact memory does not care; the distributed one ends at ${r.nameDistributed}. Black is farther than grey from what it covers here, where the well is flat: the gauge falls to ${fixed(r.pull, 1)}, and even that is mostly other pictures and noise, which it cannot tell from this one.`,
    set: { fill: "black" },
  },
  {
    key: "beta",
    name: "Raise β",
    ask: "A larger β makes the exact memory sharper. Is sharper better for the distributed one?",
    after: (r) =>
      `The exact memory is now nearly perfect (mean error ${fixed(r.end.errorExact, 3)}). The distributed one is lost (${fixed(r.end.errorDistributed, 2)}): the well is narrower now, and its pull at the query fell to ${fixed(r.pull)}; the noise does not depend on β.`,
    set: { beta: 200 },
  },
  {
    key: "memories",
    name: "Too many memories",
    ask: "All twenty-four photographs are stored at the same β. Which memory fails first?",
    after: (r) =>
      `Even the exact memory returns a blend (mean error ${fixed(r.end.errorExact)}): at this β its valleys have merged. No feature can repair that. Raise β to part them, and watch what it costs the distributed memory.`,
    set: { stored: first(24) },
  },
  {
    key: "features",
    name: "Too few features",
    ask: "Y falls from 20,000 to 1,000: T is now much smaller than the pictures it holds. What is lost?",
    after: (r) =>
      `What comes back is noise: ${errors(r)}. Ŝ at the query is still clear of its own noise, but the noise pulls along all the free entries at once: the pull is ${fixed(r.pull)} of the critical one, and the energy is rough everywhere (c = ${fixed(r.roughness, 1)}). A valley takes Y of the order of twice the free entries times K, here ${count(2 * r.freedom * r.K)}.`,
    set: { Y: 1000 },
  },
  {
    key: "more",
    name: "Ten times the features",
    ask: "Y rises to 200,000 for the same eight pictures. What does a clean picture cost?",
    after: (r) =>
      `The grain is gone (${errors(r)}): the noise falls as 1/√Y. The bill is ${fixed(r.numbers.distributed / r.numbers.exact, 0)} times the numbers of the pictures themselves.`,
    set: { Y: 200000 },
  },
  {
    key: "figure1",
    name: "The paper’s Figure 1",
    ask: "Four pictures of 64 × 64 pixels, β = 60, Y = 180,000; the top third is held, the rest starts black. Does it work for every picture?",
    after: (r) =>
      `Not for this one: the distributed memory ends at ${r.nameDistributed}, and the gauge, ${fixed(r.pull, 1)}, was unsure. Choose coffee as the true picture and it works; or keep this one and cover with grey.`,
    set: { size: 64, stored: first(4), Y: 180000, steps: 300, fraction: 0.667, fill: "black" },
  },
  {
    key: "figure2",
    name: "The paper’s Figure 2",
    ask: "Twenty pictures in one vector T of 400,000 numbers, the top 60 % held. Does T save memory?",
    after: (r) =>
      `It works (${errors(r)}), at the edge of what Y allows. And T holds ${fixed(r.numbers.distributed / r.numbers.exact)} times as many numbers as the twenty pictures: the paper counts Y where T has 2Y.`,
    set: {
      size: 64,
      stored: first(20),
      target: 10,
      Y: 200000,
      steps: 1000,
      fraction: 0.4,
      fill: "black",
    },
  },
];

export const PRESETS = posed(QUESTIONS, (given) => ({ ...DEFAULTS, ...given }));
