// Settings posed as questions, each towards a place where something fails, with a guess before the look; what they say
// is checked on the real photographs by the tests. `after` is told once the run has ended, with that run's own numbers.
import { posed } from "../kit/explorer.js";
import { count, fixed, percent } from "../kit/number.js";
import { BEGINNINGS, DEFAULTS } from "./settings.js";

/** @import { Preset } from "../kit/explorer.js" */
/** @import { Library } from "./library.js" */
/** @import { Both } from "./report.js" */
/** @import { Settings } from "./settings.js" */

/**
 * What a run has found, at its end.
 *
 * @typedef {{
 *   pull: number,
 *   both: Both,
 *   freedom: number,
 *   numbers: { exact: number, distributed: number },
 *   K: number,
 * }} Findings
 */

/** @param {Findings} run */
const errors = ({ both: { exact, distributed } }) =>
  `mean error ${fixed(exact.error)} (exact) against ${fixed(distributed.error)} (distributed)`;

/** What holds at the point, wherever it is dragged. @param {Findings} run */
function whereItIs(run) {
  const { exact, distributed } = run.both;
  if (exact.right && distributed.right)
    return `Here both do: ${errors(run)}. Left of the dotted line pictures mix; below the dashed one T is lost in its own noise.`;
  if (exact.right)
    return `Here only the exact one: T’s noise drowns the picture (pull ${fixed(run.pull, 1)} of the noise’s). More features, up, would clear it; so would a smaller β, to a point.`;
  if (exact.mixed >= 1.5)
    return `Here neither: even the exact memory rests on a mean of ${fixed(exact.mixed, 1)} pictures. A larger β, to the right, parts them.`;
  return `Here neither memory comes clear of the others: ${errors(run)}.`;
}

const WHO = {
  options: /** @type {[string, string][]} */ ([
    ["both", "Both find it"],
    ["exact", "Only the exact one"],
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

/** @type {Preset<Partial<Settings>, Findings>[]} */
const QUESTIONS = [
  {
    key: "start",
    name: "Start",
    ask: "Eight photographs are stored, half of one is covered and the rest held. Drag the point: where do both memories bring it back?",
    after: whereItIs,
    set: {},
  },
  {
    key: "black",
    name: "Black cover",
    ask: "Only the colour of the cover changes, from grey to black. Which memory still finds the picture?",
    predict: WHO,
    after: (r) =>
      `The exact memory does not care; the distributed one ends elsewhere (nearest: ${r.both.distributed.label}). Black is farther than grey from what it covers, where the well is flat: its pull falls to ${fixed(r.pull, 1)} of the critical one.`,
    set: { fill: "black" },
  },
  {
    key: "beta",
    name: "Raise β",
    ask: "A larger β makes the exact memory sharper. Is sharper better for the distributed one?",
    predict: WHO,
    after: (r) =>
      `The exact memory is now nearly perfect (mean error ${fixed(r.both.exact.error, 3)}). The distributed one is lost: the well is narrower, and its pull at the query fell to ${fixed(r.pull)}; the noise does not depend on β.`,
    set: { beta: 200 },
  },
  {
    key: "memories",
    name: "Too many",
    ask: "All twenty-four photographs are stored at the same β. Which memory finds the picture?",
    predict: WHO,
    after: (r) =>
      `Even the exact memory returns a blend, of ${fixed(r.both.exact.mixed, 1)} pictures: at this β its valleys have merged, and no feature can part them. Drag the point: more β parts them, and costs the distributed memory features.`,
    set: { K: 24 },
  },
  {
    key: "features",
    name: "Too few features",
    ask: "Y falls from 20,000 to 1,000: T is now smaller than the pictures it holds. What is lost?",
    predict: WHO,
    after: (r) =>
      `What comes back is noise: ${errors(r)}. The pull is ${fixed(r.pull)} of the critical one. A valley takes Y of the order of twice the free entries times K, here ${count(2 * r.freedom * r.K)}.`,
    set: { Y: 1000 },
  },
  {
    key: "more",
    name: "Ten times Y",
    ask: "Y rises to 200,000 for the same eight pictures. What does a clean picture cost?",
    after: (r) =>
      `The grain is gone (${errors(r)}): the noise falls as 1/√Y. The bill is ${fixed(r.numbers.distributed / r.numbers.exact, 0)} times the numbers of the pictures themselves.`,
    set: { Y: 200000 },
  },
  {
    key: "threshold",
    name: "Threshold",
    ask: "Random patterns of a hundred bits in one vector of 40,000 numbers, a tenth of the bits flipped. Are two hundred too many?",
    predict: WHO,
    after: (r) =>
      `The list of patterns repairs all of them; the vector leaves ${percent(r.both.distributed.error)} of the bits wrong. Standing still takes Y = 2DK, here ${count(2 * r.freedom * r.K)}. Drag K to the left: at fifty it finds them.`,
    set: { collection: "bits", K: 200, across: "K" },
  },
  {
    key: "figure3",
    name: "Figure 3",
    ask: "The paper’s K = 500 random patterns of D = 100 bits, at β = 30. What does the exact memory return for one of them?",
    predict: {
      options: [
        ["pattern", "That pattern"],
        ["blend", "A mean of many"],
      ],
      right: ({ both }) => (both.exact.right ? "pattern" : "blend"),
    },
    after: (r) =>
      `A mean of ${count(r.both.exact.mixed)} patterns: there is one valley for all, and two memories that agree on it retrieve nothing. Drag β up to 50, and the exact memory parts them.`,
    set: { collection: "bits", K: 500, beta: 30, flips: 0 },
  },
  {
    key: "figure1",
    name: "Figure 1",
    ask: "As in the paper: four pictures of 64 × 64 pixels, β = 60, Y = 180,000; the top third is held, the rest starts black. Does it work for every picture?",
    predict: WHO,
    after: (r) =>
      `Not for this one (nearest: ${r.both.distributed.label}), and the pull, ${fixed(r.pull, 1)}, was unsure. Choose coffee as the true picture and it works; or keep this one and cover with grey.`,
    set: { size: 64, K: 4, Y: 180000, eta: 0.1, steps: 300, fraction: 0.667, fill: "black" },
  },
  {
    key: "figure2",
    name: "Figure 2",
    ask: "As in the paper: twenty pictures in one vector T of 400,000 numbers, the top 60 % held. Does T save memory?",
    after: (r) =>
      `It works (${errors(r)}), at the edge of what Y allows. And T holds ${fixed(r.numbers.distributed / r.numbers.exact)} times as many numbers as the twenty pictures: the paper counts Y where T has 2Y.`,
    set: {
      ...{ size: 64, K: 20, target: 10, Y: 200000, eta: 0.1, steps: 1000 },
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
 * Those that there are pictures for.
 *
 * @param {Pick<Library, "side">} library
 */
export const presetsFor = ({ side }) =>
  PRESETS.filter(({ set }) => set.collection === "bits" || set.size <= side);
