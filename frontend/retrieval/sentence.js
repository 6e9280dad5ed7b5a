// One sentence or two on what the reader sees, and why it is so at these settings.
import { count, figures, fixed } from "../kit/number.js";
import { criticalSlope } from "./math/gauge.js";

/** @import { Findings } from "./presets.js" */
/** @import { Settings } from "./settings.js" */

const FAR = 0.3; // of the slope of a well, whose steepest is 0.61: a query with less stands far out
const BLEND = 1.5;

export const PENDING = "The run plays once you have answered the question below.";
export const PLAYING =
  "At each step, both memories move the hidden pixels towards what they have stored.";

/** @param {Findings} run */
const errors = ({ both: { exact, distributed } }) =>
  `mean error ${fixed(exact.error, 3)} for the list and ${fixed(distributed.error, 3)} for the vector`;

/** @type {(run: Findings, settings: Settings) => string} */
export function explain(run, settings) {
  const { both, freedom, isStored } = run;
  const { exact, distributed } = both;
  if (both.overflow !== null) return "The numbers of the vector have left the range of floats.";
  if (freedom === 0) return "Nothing is hidden. Scribble over a part of the query, and let go.";
  if (!isStored)
    return "This picture is not stored. A memory can only return what is in it, so neither finds the picture.";
  if (exact.right && distributed.right) return bothRight(run, settings);
  if (exact.right) return `The list brings the picture back. ${vectorLost(run, settings)}`;
  if (exact.mixed >= BLEND) return blended(run, settings);
  return `Both memories return something else: too little of the picture is left to say which one is meant.`;
}

/** @type {(run: Findings, settings: Settings) => string} */
function bothRight(run, { Y }) {
  const { distributed } = run.both;
  const found = `Both memories bring the picture back: ${errors(run)}.`;
  if (!distributed.grainy) return found;
  return `${found} The grain is noise: ${pictures(run)} share a vector of ${count(Y)} frequencies.`;
}

/** @type {(run: Findings, settings: Settings) => string} */
function vectorLost(run, { beta, Y, eta }) {
  const { distributed } = run.both;
  if (!distributed.noisy) return `The vector is drawn to another one, ${distributed.label}.`;
  const slope = run.pull * run.roughness * criticalSlope(eta);
  if (slope < FAR)
    return `The vector’s answer is lost in noise: at β = ${figures(beta)} a picture pulls only on queries close to it, and this query is too far away. Lower β, or hide less.`;
  return `The vector’s answer is lost in noise: ${pictures(run)} in ${count(Y)} frequencies make more noise than one picture’s pull. Raise Y, or store fewer.`;
}

/** @type {(run: Findings, settings: Settings) => string} */
function blended(run, { beta, Y }) {
  const { exact, distributed } = run.both;
  const there = distributed.noisy
    ? ` The vector’s answer is lost in the noise of ${count(Y)} frequencies besides.`
    : "";
  return `Even the list returns a blend of ${fixed(exact.mixed, 1)} pictures: β = ${figures(beta)} is too small to separate ${pictures(run)}. Raise β, or store fewer.${there}`;
}

/** @param {Findings} run */
const pictures = ({ K, both }) =>
  `${count(K)} ${both.bits ? "pattern" : "picture"}${K === 1 ? "" : "s"}`;
