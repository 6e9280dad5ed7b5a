// Questions to put to the construction, each a setting and what to look for.
import { amount, cleared, count } from "../kit/number.js";
import { CONSTANTS } from "./math/tables.js";
import { DEFAULTS, isPromised } from "./settings.js";

/** @import { Preset } from "../kit/explorer.js" */
/** @import { Seen, Slot } from "./observe.js" */
/** @import { Settings } from "./settings.js" */

/** @param {number | null} v */
const number = (v) => amount(v, 2);
/** @param {number | null} v */
const rough = (v) => amount(cleared(v), 2);
const plain = { ...DEFAULTS };

/**
 * What is found, for y where the construction promises its table.
 *
 * @type {(after: (seen: Seen) => string) => (seen: Seen) => string}
 */
const inRange = (after) => (seen) =>
  isPromised(seen.start + seen.gap)
    ? after(seen)
    : `Off its table by ${rough(seen.deviation)}: y is outside [−1, 1], where the construction promises nothing.`;

/** @param {Seen} seen */
function written({ gap, switchAfter, deviation }) {
  if (Math.abs(gap) < 1e-6)
    return `y − ŷ is ${rough(gap)}: without an error there is no gradient. Drag the point up to −1.`;
  return gap < 0
    ? `y − ŷ is ${rough(gap)}: the switch goes to ${number(switchAfter)}, below 0, and the table stays closed. Drag the point up to −1.`
    : `y − ŷ is ${rough(gap)}, and the step writes: off the table by ${rough(deviation)}.`;
}

/** @type {(gap: number, slots: Slot[]) => string} */
function firing(gap, slots) {
  if (gap <= 0) return "Without a positive error y − ŷ no cell is written, at any x*.";
  const fired = slots.filter(({ share }) => share > 0.5).length;
  return fired > 0
    ? `At this x* ${fired} cells fire at once.`
    : "At this x* no cell fires: try one inside the cell of x.";
}

/** @type {Preset<Settings, Seen>[]} */
export const PRESETS = [
  {
    key: "learn",
    name: "Does one step learn the table?",
    ask: "Drag the orange point (x, y). The network has seen nothing else. Does it ever miss its table, and which cell fires?",
    predict: {
      options: [
        ["never", "Never"],
        ["edges", "Where y is large"],
        ["often", "Nearly everywhere"],
      ],
      right: ({ deviation, start, gap }) => {
        if (deviation === null || !isPromised(start + gap)) return null;
        return deviation < 1e-2 ? "never" : "often";
      },
    },
    set: plain,
    after: inRange(
      ({ deviation, tableError }) =>
        `Off its table by ${rough(deviation)}, and the table off the target by ${rough(tableError)}: all of the error is the cells'.`,
    ),
  },
  {
    key: "kink",
    name: "What if δ is 0?",
    ask: "The published network starts its written channel at exactly 0, on the kink of the ReLU. What comes back through it?",
    predict: {
      options: [
        ["nothing", "Nothing"],
        ["half", "Half of the error"],
        ["all", "All of the error"],
      ],
      right: ({ flow, gap }) => {
        const share = flow.error[0] / Math.abs(gap * CONSTANTS.linear);
        return share === 0 ? "nothing" : share < 0.9 ? "half" : "all";
      },
    },
    set: { ...plain, offset: 0 },
    after: ({ flow }) =>
      `The error that reaches the first layer of the channel is ${number(flow.error[0])}. Raise δ a hair: 10⁻¹² will do.`,
  },
  {
    key: "switch",
    name: "What if the switch sits on a kink?",
    ask: "The switch at 0 sits on a kink too. How many cells fire when it cannot tell before from after?",
    predict: {
      options: [
        ["no", "None at this x*"],
        ["one", "One, as ever"],
        ["all", "All at once"],
      ],
      right: ({ slots }) => {
        const fired = slots.filter(({ share }) => share > 0.5).length;
        return fired === 0 ? "no" : fired === 1 ? "one" : "all";
      },
    },
    set: { ...plain, switch: 0 },
    after: ({ gap, switchAfter, slots }) =>
      `After the step the switch is ${number(switchAfter)}: it has not moved. ${firing(gap, slots)}`,
  },
  {
    key: "alpha",
    name: "What if the step is longer?",
    ask: `The weights were chosen for α = ${CONSTANTS.alpha}. Take a step a tenth longer: which part of the curve suffers?`,
    predict: {
      options: [
        ["no", "None"],
        ["some", "All, by a tenth or so"],
        ["lost", "All: it is lost"],
      ],
      right: ({ deviation }) => {
        if (deviation === null) return null;
        return deviation < 1e-2 ? "no" : deviation < 0.6 ? "some" : "lost";
      },
    },
    set: { ...plain, ratio: 1.1 },
    after: inRange(
      ({ deviation }) => `Off the table by ${rough(deviation)}: the initialisation encodes α.`,
    ),
  },
  {
    key: "margin",
    name: "What if y is out of reach?",
    ask: "The prediction before the step is −2. What is learnt from y = −2, or from less?",
    predict: {
      options: [
        ["nothing", "Nothing"],
        ["table", "The table of y = −2"],
      ],
      right: ({ deviation }) => (Number(deviation) < 0.1 ? "table" : "nothing"),
    },
    set: { ...plain, y: -2 },
    after: written,
  },
  {
    key: "bits",
    name: "Does a layer per bit suffice?",
    ask: "A layer for each bit of the cells' numbers instead of one for each cell. What does it cost?",
    predict: {
      options: [
        ["more", "More layers"],
        ["fewer", "Fewer, as exact"],
        ["rough", "Fewer, less exact"],
      ],
      right: ({ depth, deviation }) => {
        if (depth > 256) return "more";
        return Number(deviation) < 1e-2 ? "fewer" : "rough";
      },
    },
    set: { ...plain, construction: "logdepth", size: 16 },
    after: inRange(
      ({ depth, parameters, deviation }) =>
        `${depth} layers, ${count(parameters)} parameters, off the table by ${rough(deviation)}.`,
    ),
  },
  {
    key: "shallow",
    name: "Do four layers suffice?",
    ask: "Four hidden layers, no switch, no cells. Where did the steps of the table go?",
    predict: {
      options: [
        ["gone", "Gone: it is smooth"],
        ["there", "There, but finer"],
      ],
      right: ({ after }) =>
        after.some((v, i) => i > 0 && Math.abs(v - after[i - 1]) > 0.15) ? "there" : "gone",
    },
    set: { ...plain, construction: "shallow", size: 400 },
    after: ({ depth, error }) =>
      `${depth} layers; off the target by ${rough(error)}, and smoothly so.`,
  },
  {
    key: "two",
    name: "Do two layers suffice?",
    ask: "Two hidden layers, nothing else. Nobody wrote cells into them: how can they tell x apart?",
    predict: {
      options: [
        ["cannot", "They cannot"],
        ["backward", "By the backward pass"],
      ],
      right: ({ error }) => (error < 0.3 ? "backward" : "cannot"),
    },
    set: { ...plain, construction: "two_layers", size: 400 },
    after: ({ depth, error, start }) =>
      `${depth} layers of weights, off the target by ${rough(error)}. The backward pass asks each path unit whether x is above its threshold, and so counts the cells itself. The price is the start at ${rough(start)}, far below every y.`,
  },
  {
    key: "draw",
    name: "Can you draw one it cannot learn?",
    ask: "Draw g in the panel: the network must answer y · g(x* − x) from one example. Is there a g that it cannot learn?",
    predict: {
      options: [
        ["yes", "Yes, a jagged one"],
        ["no", "No, it learns all"],
      ],
      right: ({ deviation }) => (Number(deviation) < 1e-2 ? "no" : null),
    },
    set: { ...plain, target: "drawn", construction: "logdepth", size: 16 },
    after: inRange(({ deviation }) => `Off its table by ${rough(deviation)}, whatever was drawn.`),
  },
];
