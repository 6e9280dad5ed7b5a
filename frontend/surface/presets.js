// The explorer's questions, each with its settings.
import { posed } from "../kit/explorer.js";
import { amount, counted, percent } from "../kit/number.js";
import { settingsFrom } from "./settings.js";

/** @import { Preset } from "../kit/explorer.js" */
/** @import { Consequences, Settings, Stored } from "./settings.js" */

/** @typedef {Consequences & { names: string[], steps: number }} Found */

const WELLS = ["no well", "one well", "two wells", "three wells"];

/** @type {(found: Found) => number} */
const rises = ({ run: { energies } }) =>
  energies.filter((e, t) => t > 0 && e > energies[t - 1] + 1e-12).length;

/**
 * The questions about the pictures with these names.
 *
 * @param {Pick<Stored, "names">} stored
 */
export function presetsOf({ names }) {
  /** @type {Preset<Partial<Settings>, Found>[]} */
  const questions = [
    {
      key: "fall",
      name: "Where does a covered picture go?",
      ask: "The marble is a picture whose lower half is grey. Each point of the surface is a picture too, and its height is the energy. Which of the three pictures does the marble reach?",
      after: (findings) =>
        `After ${counted(findings.steps, "step")} the marble is ${amount(findings.apart)} from the ${names[findings.nearest]}. It started ${amount(findings.run.heights[0])} off the plane of the three pictures, and ends ${amount(findings.run.heights[findings.steps])} off it.`,
      set: {},
    },
    {
      key: "merge",
      name: "How many wells are left at β = 25?",
      ask: "At β = 120 each picture has a well of its own. How many wells are left at β = 25?",
      predict: {
        options: [
          ["3", "three"],
          ["2", "two"],
          ["1", "one"],
        ],
        right: ({ rests }) => String(rests.length),
      },
      after: ({ rests }) =>
        `There ${rests.length === 1 ? "is" : "are"} ${WELLS[rests.length]}. Now raise β slowly: at which value do the wells separate?`,
      set: { beta: 25 },
    },
    {
      key: "blend",
      name: "Where does an even blend go?",
      ask: "The run starts at the mean of the three pictures, with β = 120. Which picture does the marble reach?",
      predict: {
        options: /** @type {[string, string][]} */ (names.map((name, i) => [String(i), name])),
        right: ({ nearest }) => String(nearest),
      },
      after: ({ nearest, run }) =>
        `It ends nearest to the ${names[nearest]}. Of the three, that picture is the nearest to the mean, and the first step already gives it a weight of ${percent(run.weights[0][nearest])}.`,
      set: { start: "blend", query: [0, 0], beta: 120 },
    },
    {
      key: "long",
      name: "Does the marble ever climb?",
      ask: "The step size is 1.9, so each step overshoots the bottom. Does the energy rise in any step?",
      predict: {
        options: [
          ["yes", "yes"],
          ["no", "no"],
        ],
        right: (findings) => (rises(findings) > 0 ? "yes" : "no"),
      },
      after: (findings) =>
        `The energy rises in ${rises(findings)} of ${counted(findings.steps, "step")}. Up to a step size of 2 the energy cannot rise, at any β. Try 2.2.`,
      set: { eta: 1.9, from: 1 },
    },
  ];
  return posed(questions, settingsFrom);
}
