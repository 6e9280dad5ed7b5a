// One or two sentences that describe the run on show, and explain it by its settings.
import { count, figures, fixed, percent } from "../kit/number.js";
import { criticalSlope, slopeRatio } from "./math/gauge.js";
import { BLEND, blendOf, isBlend, SOME } from "./report.js";
import { RULES } from "./settings.js";

/** @import { Findings } from "./presets.js" */
/** @import { Both } from "./report.js" */
/** @import { Settings } from "./settings.js" */

const MOST = RULES.counts.Y[1];
const FAR = 0.15; // a query whose closeness is less is far away

export const PENDING = "The run plays once you have answered the question.";
export const MOVING = "At each step, both memories move the query towards what they have stored.";
const NOISIER =
  "The exact memory moves the query towards what it has stored. The distributed memory follows its noise.";

const BLENDING = "At each step, both memories move the query towards a blend of several pictures.";

/** The sentence shown while a run plays, which depends on its end. @param {Both} end */
export function playing({ exact, distributed }) {
  if (isBlend(exact)) return BLENDING;
  return distributed.noisy && !distributed.right ? NOISIER : MOVING;
}

/** @param {Findings} run */
const errors = ({ both: { exact, distributed, bits } }) =>
  bits
    ? `${percent(exact.error)} (exact) and ${percent(distributed.error)} (distributed) of the bits are wrong`
    : `the mean error per pixel is ${fixed(exact.error, 3)} (exact) and ${fixed(distributed.error, 3)} (distributed)`;

/** @type {(run: Findings, settings: Settings) => string} */
export function explain(run, settings) {
  const { both, freedom, isStored } = run;
  const { exact, distributed } = both;
  if (both.overflow !== null)
    return "The numbers of the distributed memory have left the range of floats.";
  if (freedom === 0) return "Nothing is hidden. Scribble over a part of the query, and let go.";
  if (!isStored)
    return "This picture is not stored. A memory can only return what is in it, so neither finds the picture.";
  if (exact.right && distributed.right) return bothRight(run, settings);
  if (exact.right) return vectorLost(run, settings);
  if (!run.rests.exact)
    return "The run ended before the exact memory came to rest. Raise “steps at most” or change η (under More).";
  if (isBlend(exact)) return blended(run, settings);
  if (distributed.right)
    return `Only the distributed memory finds the ${kind(run)}: its noise happens to lead there.`;
  return both.bits
    ? "Neither repairs the pattern: the query leads to another one. Flip fewer bits."
    : "Neither memory finds the picture: the cover draws the query to another one. Hide less, or use another colour.";
}

/** The sentence shown before the reader changes anything: what the vector costs, and what to try. */
export const OPENING =
  "Both find the picture. Each frequency (random weights) estimates the query’s total closeness to all pictures. More pictures make T noisier, not longer. Can you make one memory fail?";

/** @type {(run: Findings, settings: Settings) => string} */
function bothRight(run, { Y }) {
  const { both } = run;
  const { distributed } = both;
  const outcome =
    both.bits && distributed.error >= SOME
      ? "Both end nearest to the right pattern"
      : `Both memories bring the ${kind(run)} back`;
  const sentence = `${outcome}: ${errors(run)}.`;
  if (!distributed.grainy) return sentence;
  return `${sentence} The grain is noise: ${pictures(run)} share ${count(Y)} frequencies.`;
}

/** @type {(run: Findings, settings: Settings) => string} */
function vectorLost(run, settings) {
  const { beta, Y } = settings;
  const { distributed, bits } = run.both;
  const exact = `The exact memory brings the ${kind(run)} back.`;
  if (!distributed.noisy) {
    if (!run.rests.distributed)
      return `${exact} The distributed memory has not come to rest: raise “steps at most” (under More).`;
    if (distributed.near && distributed.mixed < BLEND)
      return `${exact} The distributed memory ends nearest to it too, but not close enough.`;
    return distributed.mixed >= BLEND
      ? `${exact} The distributed memory stops at ${blendOf(distributed.mixed, bits)}${distributed.grainy ? ", with grain" : ""}.`
      : `${exact} The distributed memory is drawn to another one, ${distributed.label}.`;
  }
  if (run.closeness < FAR) {
    const why =
      run.K > 1
        ? "The exact memory still sees that the others are farther. In the vector, noise hides this."
        : `In the vector, noise hides the ${kind(run)}’s weak signal.`;
    const way = canRaise(run, settings) ? "Raise Y" : gentler(run, settings);
    return `At β = ${figures(beta)} even the right ${kind(run)} counts as far away. ${why} ${way}.`;
  }
  const advice = remedies(run, settings);
  return `${exact} Each frequency estimates the query’s total closeness to ${pictures(run)}; the mean of ${count(Y)} estimates is too noisy. ${advice}.`;
}

/** @typedef {Pick<Settings, "Y" | "eta" | "basis">} Setting */

/**
 * True if, by the law of the first step, a run with K pictures and Y frequencies moves from this query towards the
 * picture. Used where the law of the whole run is not known, as for bits. Positive features have no law: always true.
 *
 * @type {(run: Findings, K: number, setting: Setting) => boolean}
 */
function begins({ closeness, freedom }, K, { Y, eta, basis }) {
  if (basis !== "sincos" && basis !== "cos") return true;
  const noise = Math.sqrt((freedom * K) / (basis === "cos" ? Y : 2 * Y));
  return slopeRatio(closeness, noise) > criticalSlope(eta);
}

/** True if the largest Y brings the noise below its limit. @type {(run: Findings, setting: Setting) => boolean} */
function canRaise(run, setting) {
  const { strengths, K } = run;
  if (setting.Y >= MOST) return false;
  if (!strengths) return begins(run, K, { ...setting, Y: MOST });
  return strengths.noise * Math.sqrt(setting.Y / MOST) < strengths.limit;
}

/** True if a single picture would leave the noise below its limit. @type {(run: Findings, setting: Setting) => boolean} */
function canDrop(run, setting) {
  const { strengths, K } = run;
  if (K === 1) return false;
  return strengths ? strengths.noise / Math.sqrt(K) < strengths.limit : begins(run, 1, setting);
}

/** What helps where neither Y nor K alone does. @type {(run: Findings, setting: Setting) => string} */
function gentler({ strengths, both }, { Y }) {
  const nearer = both.bits ? "Flip fewer bits" : "Hide less";
  if (!strengths) return nearer;
  if (strengths.lower === "alone") return "Lower β";
  const also = Y < MOST ? " and raise Y" : "";
  return `${strengths.lower ? "Lower β" : nearer}${also}`;
}

/**
 * What helps against the noise, in words: two ways at most. β, Y and K are named only if a law says that they bring the
 * noise below its limit, or if there is no law.
 *
 * @type {(run: Findings, setting: Setting) => string}
 */
function remedies(run, setting) {
  const ways = [
    ...(setting.eta > 1 ? ["lower η"] : []),
    ...(canRaise(run, setting) ? ["raise Y"] : []),
    ...(canDrop(run, setting) ? ["lower K"] : []),
  ];
  if (ways.length === 0) return gentler(run, setting);
  const words = ways.slice(0, 2).join(", or ");
  return words[0].toUpperCase() + words.slice(1);
}

/** @type {(run: Findings, settings: Settings) => string} */
function blended(run, { beta }) {
  const { exact, distributed, bits } = run.both;
  if (run.isSeparate)
    return `The query is too far from the ${kind(run)}: even the exact memory returns ${blendOf(exact.mixed, bits)}. ${bits ? "Flip fewer bits" : "Hide less, or cover with another colour"}.`;
  const [also, there] =
    distributed.noisy || distributed.grainy
      ? [" and Y", ` All ${count(run.K)} add their noise to T.`]
      : ["", ""];
  const isEnough = run.strengths ? run.strengths.higher : run.isNearest;
  const way = isEnough ? `Raise β${also}` : `Raise β and ${bits ? "flip fewer bits" : "hide less"}`;
  return `β = ${figures(beta)} is too small to separate ${pictures(run)}: even the exact memory returns ${blendOf(exact.mixed, bits)}. ${way}, or store fewer.${there}`;
}

/** @param {Findings} run */
const kind = ({ both }) => (both.bits ? "pattern" : "picture");

/** @param {Findings} run */
const pictures = ({ K, both }) =>
  `${count(K)} ${both.bits ? "pattern" : "picture"}${K === 1 ? "" : "s"}`;
