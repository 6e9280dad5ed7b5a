// The explorer's questions, each with its settings.
import { posed } from "../kit/explorer.js";
import { count } from "../kit/number.js";
import { settingsFrom } from "./settings.js";
import { isRight, rounded, several } from "./words.js";

/** @import { Preset } from "../kit/explorer.js" */
/** @import { Frame } from "./math/run.js" */
/** @import { Patch, Ready, Settings } from "./settings.js" */

/** The last frame of each memory, with the settings of the run. */
/** @typedef {{ exact: Frame, copy: Frame, ready: Ready, settings: Settings }} Found */

/** @type {(found: Found) => "both" | "exact" | "neither"} */
const winners = ({ exact, copy }) => {
  if (!isRight(exact)) return "neither";
  return isRight(copy) ? "both" : "exact";
};
/** @type {[string, string][]} */
const WHO = [
  ["both", "both memories"],
  ["exact", "the exact one only"],
  ["neither", "neither"],
];
const OUTCOME = {
  both: "Both memories find the picture.",
  exact: "Only the exact memory finds the picture.",
  neither: "Neither memory finds the picture.",
};
/** @type {(found: Found) => string} */
const asks = ({ ready, settings }) =>
  `By estimate it takes ${count(rounded(ready.law.needed))} frequencies; there are ${count(settings.Y)}.`;

/** @type {Preset<Patch, Found>[]} */
const QUESTIONS = [
  {
    key: "start",
    name: "Which pictures light up?",
    ask: "A quarter of one picture is hidden. Watch the walls: which pictures have weight at first, and which at the end? Press any picture to make it the query.",
    after: ({ exact }) =>
      `At the end the weight is on ${several(Math.round(exact.spread), "picture")} of the exact memory.`,
    set: {},
  },
  {
    key: "crowd",
    name: "Can they hold ten thousand?",
    ask: "K = 10,000, and Y = 65,536. Which memory still finds the picture?",
    predict: { options: WHO, right: winners },
    after: (findings) =>
      `${OUTCOME[winners(findings)]} ${asks(findings)} The number grows in proportion to K.`,
    set: { K: 10000, beta: 70, Y: 65536, target: 5891 },
  },
  {
    key: "half",
    name: "What if half is hidden?",
    ask: "Half of the picture is hidden now, and not a quarter. The rest is as at the start. Which memory still finds it?",
    predict: { options: WHO, right: winners },
    after: (findings) =>
      `${OUTCOME[winners(findings)]} ${asks(findings)} The query is farther away, where the well is less steep than the noise.`,
    set: { damage: "half" },
  },
  {
    key: "cold",
    name: "Why do many pictures stay lit?",
    ask: "β = 20. Which memory finds the picture? Then raise β until one picture has all the weight.",
    predict: { options: WHO, right: winners },
    after: (findings) =>
      `${OUTCOME[winners(findings)]} At this β the weight is spread over ${several(Math.round(findings.exact.spread), "picture")}, and the answer is their mean.`,
    set: { beta: 20 },
  },
  {
    key: "flips",
    name: "What if any pixel may be wrong?",
    ask: "A twentieth of the pixels are flipped, and none is known to be right. Which memory finds the picture?",
    predict: { options: WHO, right: winners },
    after: (findings) =>
      `${OUTCOME[winners(findings)]} ${asks(findings)} All 256 pixels are free now, and the noise pulls on every one.`,
    set: { damage: "flips", Y: 131072 },
  },
];

export const PRESETS = posed(QUESTIONS, settingsFrom);
