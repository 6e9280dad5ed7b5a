// The moves of the point on the map: by the pointer, and by the arrow keys.
import { segments } from "../kit/controls.js";
import { bounded } from "../kit/number.js";
import { RULES } from "./settings.js";

/** @import { Settings } from "./settings.js" */

export const HELP = [
  "On the map, arrow keys move the point, with Shift five times as far.",
  "Among the stored pictures, arrow keys move, and space stores one or takes it out.",
  "On the query: arrow keys move the brush, space paints, or restores if Restore is pressed.",
];
const STEPS = { beta: 1.05, Y: 1.1 }; // factors of one press of an arrow key

/**
 * The control for the first axis of the map; the second is always Y.
 *
 * @type {(value: Settings["across"], onInput: (across: Settings["across"] | null) => void) => ReturnType<typeof segments<Settings["across"]>>}
 */
export const axisChoice = (value, onInput) =>
  segments({
    label: "The map’s first axis",
    options: [
      ["beta", "β × Y"],
      ["K", "K × Y"],
    ],
    value,
    onInput,
  });

/** @param {number} v */
const rounded = (v) => Number(v.toPrecision(3));

/**
 * The settings at a place of the map, within their bounds; `most` is the number of patterns on offer.
 *
 * @type {(at: Partial<Settings>, most: number) => Partial<Settings>}
 */
export function placed({ beta, K, Y }, most) {
  const [low, high] = RULES.numbers.beta;
  return {
    ...(beta !== undefined && { beta: rounded(bounded(beta, low, high)) }),
    ...(K !== undefined && { K: Math.round(bounded(K, 1, most)) }),
    ...(Y !== undefined && { Y: rounded(bounded(Y, RULES.counts.Y[0], RULES.counts.Y[1])) }),
  };
}

/**
 * The settings after so many presses of the arrow keys to the right and up.
 *
 * @type {(settings: Settings, steps: [right: number, up: number], most: number) => Partial<Settings>}
 */
export function stepped({ across, beta, K, Y }, [right, up], most) {
  const first = across === "K" ? { K: K + right } : { beta: beta * STEPS.beta ** right };
  return placed({ ...(right !== 0 && first), ...(up !== 0 && { Y: Y * STEPS.Y ** up }) }, most);
}

const OF_MAP = ["beta", "Y", "K", "across"];

/** True if a change only moves the point or changes the axis of the map. */
export const onlyMoves = (/** @type {object} */ patch) => {
  const names = Object.keys(patch);
  return names.length > 0 && names.every((name) => OF_MAP.includes(name));
};
