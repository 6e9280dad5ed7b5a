// The explorer's questions, each with its settings.
import { amount, cleared, count } from "../kit/number.js";
import { CONSTANTS } from "./math/tables.js";
import { DEFAULTS, isPromised, PUBLISHED } from "./settings.js";

/** @import { Preset } from "../kit/explorer.js" */
/** @import { Plane, Seen, Slot } from "./observe.js" */
/** @import { Settings } from "./settings.js" */

/** @param {number | null} v */
const number = (v) => amount(v, 2);
/** @param {number | null} v */
const rough = (v) => amount(cleared(v), 2);
const plain = { ...PUBLISHED };

/**
 * `after`, replaced by a note if y is outside the range for which the construction promises its table.
 *
 * @type {(after: (seen: Seen) => string) => (seen: Seen) => string}
 */
const inRange = (after) => (observed) =>
  isPromised(observed.start + observed.gap)
    ? after(observed)
    : `The network differs from its table by ${rough(observed.deviation)}: y is outside [−1, 1], and the table is promised only inside.`;

/** The slope v₁/v₀. @param {Plane} plane */
const slope = ({ written: [v0, v1] }) => v1 / v0;

/** True if the written point is on the ray of x, up to rounding errors. @param {Plane} plane */
const isOnRay = (plane) => Math.abs(slope(plane) - plane.ray) < 1e-6;

/** @param {Seen} seen */
function written({ start, gap, switchAfter, deviation }) {
  if (Math.abs(gap) < 1e-6)
    return `y − ŷ is ${rough(gap)}: without an error there is no gradient. Drag the point up to −1.`;
  if (gap > 0 && !isPromised(start + gap))
    return `y − ŷ is ${rough(gap)}, and the step writes, but y is outside [−1, 1], where no table is promised. Drag the point inside.`;
  return gap < 0
    ? `y − ŷ is ${rough(gap)}: the switch goes to ${number(switchAfter)}, below 0, and no cell of the table fires. Drag the point up to −1.`
    : `y − ŷ is ${rough(gap)}, and the step writes. The answer differs from the table by ${rough(deviation)}.`;
}

/** @type {(gap: number, slots: Slot[]) => string} */
function firing(gap, slots) {
  if (gap <= 0) return "Without a positive error y − ŷ no cell is written, at any x*.";
  const fired = slots.filter(({ share }) => share > 0.5).length;
  return fired > 0
    ? `At this x* ${fired === 1 ? "one cell fires" : `${fired} cells fire at once`}.`
    : "At this x* no cell fires: try an x* inside the cell of x.";
}

/** @type {Preset<Settings, Seen>[]} */
export const PRESETS = [
  {
    key: "two",
    name: "What tells the network x?",
    ask: "Drag the orange point (x, y). One step writes two numbers, v₀ and v₁. The units that read them, the readers, get only these and x*. What in the plane of v₀ and v₁ tells the readers x?",
    predict: {
      options: [
        ["ray", "The ray of (v₀, v₁)"],
        ["length", "The distance of (v₀, v₁) from 0"],
      ],
      right: ({ plane }) => (plane && isOnRay(plane) ? "ray" : null),
    },
    set: { ...DEFAULTS },
    after: ({ plane, error, start }) =>
      plane
        ? `Ray ${Math.round(plane.ray * plane.cells) + 1} of ${plane.cells} belongs to the cell of x, one of ${plane.cells} intervals; with x and x*, the distance from 0 gives y. After the step the network’s error is ${rough(error)} (rms). Before the step its answer is ${rough(start)}, below every y, so that every error y − ŷ is positive.`
        : "This network has no such plane: choose two hidden layers.",
  },
  {
    key: "further",
    name: "Does a longer step leave the ray?",
    ask: "The weights were chosen for a step size of 0.1. The step is now a tenth longer. Does the point leave its ray?",
    predict: {
      options: [
        ["yes", "It leaves the ray"],
        ["no", "It moves along the ray"],
      ],
      right: ({ plane }) => (plane ? (isOnRay(plane) ? "no" : "yes") : null),
    },
    set: { ...DEFAULTS, ratio: 1.1 },
    after: ({ plane, error }) =>
      plane
        ? `v₁/v₀ is ${number(slope(plane))}, as before, so the readers still know x. The point has moved out by a tenth, and they read the error Δ = y − ŷ as a tenth too large. The network’s own error is ${rough(error)} (rms).`
        : "This network has no such plane: choose two hidden layers.",
  },
  {
    key: "learn",
    name: "Does one step find the row?",
    ask: "Finn and Levine’s network holds a table of f, one row per cell of x and one column per cell of x*. Drag the orange point (x, y), the only pair that the network sees. Where does its answer differ from the table?",
    predict: {
      options: [
        ["never", "Nowhere"],
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
        `The network differs from its table by ${rough(deviation)}, and the table from the target by ${rough(tableError)} (rms), because cells have a width.`,
    ),
  },
  {
    key: "kink",
    name: "What if δ is 0?",
    ask: "In Finn and Levine’s network the units that the step should write start at exactly 0, on the kink of the ReLU. How much of the error comes back through them?",
    predict: {
      options: [
        ["nothing", "None of it"],
        ["half", "Half of it"],
        ["all", "All of it"],
      ],
      right: ({ flow, gap }) => {
        const share = flow.error[0] / Math.abs(gap * CONSTANTS.linear);
        return share === 0 ? "nothing" : share < 0.9 ? "half" : "all";
      },
    },
    set: { ...plain, offset: 0 },
    after: ({ flow }) =>
      `The error that reaches the first layer of these units is ${number(flow.error[0])}. Raise δ by a little: 10⁻¹² is enough.`,
  },
  {
    key: "switch",
    name: "What if the switch sits on a kink?",
    ask: "The switch θ_b at 0 is on a kink too, and the step does not move it. How many cells of the table fire, that is, add to the answer?",
    predict: {
      options: [
        ["no", "None at this x*"],
        ["one", "One, as before"],
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
    ask: `The weights were chosen for α = ${CONSTANTS.alpha}. Take a step that is a tenth longer. Which part of the curve changes?`,
    predict: {
      options: [
        ["no", "None"],
        ["some", "Most of it, a little"],
        ["lost", "All: it is lost"],
      ],
      right: ({ deviation }) => {
        if (deviation === null) return null;
        return deviation < 1e-2 ? "no" : deviation < 0.6 ? "some" : "lost";
      },
    },
    set: { ...plain, ratio: 1.1 },
    after: inRange(
      ({ deviation }) =>
        `The network takes the error Δ for a tenth too large, as if y were farther up. Its curve differs from the table by ${rough(deviation)} (rms): the initialisation encodes α.`,
    ),
  },
  {
    key: "margin",
    name: "What if y is out of reach?",
    ask: "The prediction before the step is −2. What is learnt from y = −2, or from a smaller y?",
    predict: {
      options: [
        ["nothing", "Nothing"],
        ["table", "The table of y = −2"],
      ],
      right: ({ start, gap, deviation }) => {
        if (gap > 1e-6 && !isPromised(start + gap)) return null;
        return Number(deviation) < 0.1 ? "table" : "nothing";
      },
    },
    set: { ...plain, y: -2 },
    after: written,
  },
  {
    key: "bits",
    name: "Does a layer per bit suffice?",
    ask: "This network has a layer for each bit of the numbers of its cells, instead of a layer for each cell. How many layers does it have, and how exact is it?",
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
        `It has ${depth} layers and ${count(parameters)} parameters, and differs from the table by ${rough(deviation)} (rms). With a layer for each cell, 16 × 16 cells need more than 256 layers.`,
    ),
  },
  {
    key: "shallow",
    name: "Do four layers suffice?",
    ask: "This network has four hidden layers, no switch and no cells. Does its curve still have the steps of a table?",
    predict: {
      options: [
        ["gone", "No: it is smooth"],
        ["there", "Yes, but finer ones"],
      ],
      right: ({ after }) =>
        after.some((v, i) => i > 0 && Math.abs(v - after[i - 1]) > 0.15) ? "there" : "gone",
    },
    set: { ...plain, construction: "shallow", size: 400 },
    after: ({ depth, error }) =>
      `The network has ${depth} layers with its read-out. Its error is ${rough(error)} (rms), and its curve has no steps.`,
  },
  {
    key: "draw",
    name: "Is there a g it cannot learn?",
    ask: "Draw g in the panel: the network must answer y · g(x* − x) from one example, as well as its cells allow. Can you draw one that it cannot learn?",
    predict: {
      options: [
        ["yes", "Yes, a jagged one"],
        ["no", "No, it learns all"],
      ],
      right: ({ deviation }) => (Number(deviation) < 1e-2 ? "no" : null),
    },
    set: { ...plain, target: "drawn", construction: "logdepth", size: 16 },
    after: inRange(
      ({ deviation }) =>
        `The network differs from its table by ${rough(deviation)} (rms), however jagged g is. Only the table misses what is finer than a cell.`,
    ),
  },
];
