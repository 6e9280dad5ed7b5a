// One or two sentences that describe the run on show, and explain it by its settings.
import { count, figures, fixed, percent } from "../kit/number.js";
import { BLEND, blendOf, isBlend, SOME } from "./report.js";
import { RULES } from "./settings.js";

/** @import { Findings } from "./presets.js" */
/** @import { Both } from "./report.js" */
/** @import { Settings } from "./settings.js" */

const MOST = RULES.counts.Y[1];
const FAR = 0.15; // of the closeness: a query that is less close is far away

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
    return "Only the distributed memory finds the picture: its noise happens to lead there.";
  return both.bits
    ? "Neither repairs the pattern: the query leads to another one. Flip fewer bits."
    : "Neither finds it: what covers the query draws it to another picture. Hide less, or cover with another colour.";
}

/** The sentence shown before the reader changes anything: what each memory costs, and what to try. */
export const OPENING =
  "Both find the picture. Each frequency (random weights) estimates how close the query is to all the pictures. More pictures make T noisier, not longer. Can you make one memory fail?";

/** @type {(run: Findings, settings: Settings) => string} */
function bothRight(run, { Y }) {
  const { both } = run;
  const { distributed } = both;
  const outcome =
    both.bits && distributed.error >= SOME
      ? "Both memories end nearest to the pattern"
      : `Both memories bring the ${kind(run)} back`;
  const sentence = `${outcome}: ${errors(run)}.`;
  if (!distributed.grainy) return sentence;
  return `${sentence} The grain is noise: ${pictures(run)} share ${count(Y)} frequencies.`;
}

/** @type {(run: Findings, settings: Settings) => string} */
function vectorLost(run, { beta, Y, eta }) {
  const { distributed, bits } = run.both;
  const exact = `The exact memory brings the ${kind(run)} back.`;
  if (!distributed.noisy) {
    if (!run.rests.distributed)
      return `${exact} The distributed memory has not come to rest: raise “steps at most” (under More).`;
    return distributed.mixed >= BLEND
      ? `${exact} The distributed memory stops at ${blendOf(distributed.mixed, bits)}${distributed.grainy ? ", with grain" : ""}.`
      : `${exact} The distributed memory is drawn to another one, ${distributed.label}.`;
  }
  if (run.closeness < FAR) {
    const why =
      run.K > 1
        ? "The exact memory still sees that the others are farther. In the vector, noise hides this."
        : "In the vector, noise hides what little signal it sends.";
    const way = canRaise(run, Y) ? "Raise Y" : gentler(run, Y);
    return `At β = ${figures(beta)} even the right ${kind(run)} counts as far away. ${why} ${way}.`;
  }
  const advice = remedies(run, { Y, eta });
  return `${exact} Each frequency estimates roughly how close the query is to ${pictures(run)}; the average of ${count(Y)} is still too noisy. ${advice}.`;
}

/**
 * True if the largest Y brings the noise below its limit, as far as the limit is known.
 *
 * @type {(run: Findings, Y: number) => boolean}
 */
const canRaise = ({ strengths }, Y) =>
  Y < MOST && (!strengths || strengths.noise * Math.sqrt(Y / MOST) < strengths.limit);

/** True if a single picture would leave the noise below its limit. @param {Findings} run */
const canDrop = ({ K, strengths }) =>
  K > 1 && (!strengths || strengths.noise / Math.sqrt(K) < strengths.limit);

/**
 * What helps where neither Y nor K alone does, by the law where it is known.
 *
 * @type {(run: Findings, Y: number) => string}
 */
const gentler = ({ strengths }, Y) => {
  if (!strengths || strengths.lower === "alone") return "Lower β";
  const also = Y < MOST ? " and raise Y" : "";
  return `${strengths.lower ? "Lower β" : "Start nearer"}${also}`;
};

/**
 * What may help against the noise, in words: two ways at most. Where the limit of the noise is known, β, Y and K are
 * named only if they can bring the noise below it.
 *
 * @type {(run: Findings, settings: Pick<Settings, "Y" | "eta">) => string}
 */
function remedies(run, { Y, eta }) {
  const ways = [
    ...(eta > 1 ? ["lower η"] : []),
    ...(canRaise(run, Y) ? ["raise Y"] : []),
    ...(canDrop(run) ? ["store fewer"] : []),
  ];
  if (ways.length === 0) return gentler(run, Y);
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
  const way = run.isNearest
    ? `Raise β${also}`
    : `Raise β and ${bits ? "flip fewer bits" : "hide less"}`;
  return `β = ${figures(beta)} is too small to separate ${pictures(run)}: even the exact memory returns ${blendOf(exact.mixed, bits)}. ${way}, or store fewer.${there}`;
}

/** @param {Findings} run */
const kind = ({ both }) => (both.bits ? "pattern" : "picture");

/** @param {Findings} run */
const pictures = ({ K, both }) =>
  `${count(K)} ${both.bits ? "pattern" : "picture"}${K === 1 ? "" : "s"}`;
