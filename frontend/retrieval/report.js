// The report on one step of a run, in names and words.
import { amount, count, fixed, percent } from "../kit/number.js";

/** @import { Library } from "./library.js" */
/** @import { Ready, Settings } from "./settings.js" */
/** @import { Numbers } from "./timeline.js" */

/**
 * The report on one state. `right` is judged on the free pixels; `near` says that the right picture is the nearest.
 * `mixed` is the number of patterns that the state mixes; `grainy` says that the state visibly differs from their mean,
 * and `noisy` that it is far from it.
 *
 * @typedef {{
 *   label: string, bits: boolean, near: boolean, right: boolean, noisy: boolean, grainy: boolean, error: number, mixed: number, grain: number,
 * }} Nearest
 * @typedef {{ exact: Nearest, distributed: Nearest, overflow: number | null, bits: boolean, freedom: number }} Both
 */

// A state is right if its distance to the right picture is less than this fraction of that to the runner-up. A mean of
// two pictures is at 1, and so is noise that hides both.
export const AHEAD = Math.SQRT1_2;
// Distances of a state from the mean of pictures that it mixes, on average, in fractions of the grey scale.
const GRAIN = 0.07; // more is visible
const NOISE = 0.12; // with more, a wrong picture counts as lost in noise
export const SOME = 0.005; // of the bits: with more wrong ones a pattern is not repaired
export const BLEND = 1.5; // a state that mixes this many patterns or more is called a blend

/**
 * The stored picture nearest to each state, and whether it is the right one. It is right if, on the free pixels, its
 * squared distance is less than half of that to any other picture (for a lone pattern: half of that from the query).
 * For noise of length n added to one of two pictures a distance δ apart, the condition is n < δ.
 *
 * @type {(at: Numbers, settings: Settings, ready: Pick<Ready, "isStored" | "wanted" | "stored" | "freedom">, library: Library, overflow: number | null) => Both}
 */
export function findings(at, settings, ready, library, overflow) {
  const { isStored, wanted, stored, freedom } = ready;
  const bits = settings.collection === "bits";
  /** @type {(index: number, error: number, lead: number, mixed: number, grain: number) => Nearest} */
  const of = (index, error, lead, mixed, grain) => ({
    label: index >= 0 ? library.label(settings.collection, stored[index]) : "nothing",
    bits,
    near: isStored && index === wanted,
    right: isStored && index === wanted && lead < AHEAD,
    noisy: !(error < 1 && grain < NOISE),
    grainy: grain > GRAIN,
    error,
    mixed,
    grain,
  });
  return {
    // the exact memory has no noise; it can only diverge
    exact: {
      ...of(at.nearestExact, at.errorExact, at.leadExact, at.mixedExact, at.grainExact),
      noisy: !(at.errorExact < 1),
      grainy: false,
    },
    distributed: of(
      at.nearestDistributed,
      at.errorDistributed,
      at.leadDistributed,
      at.mixedDistributed,
      at.grainDistributed,
    ),
    overflow,
    bits,
    freedom,
  };
}

/**
 * The verdict on a state, in a few words.
 *
 * @param {Nearest} nearest
 */
export function verdictOf({ label, near, right, noisy, grainy, mixed, bits, error }) {
  if (right && bits && error >= SOME) return `✓ nearest: ${label}`;
  if (right) return grainy ? `✓ ${label}, grainy` : `✓ ${label}`;
  if (noisy) return "✗ lost in noise";
  if (mixed >= BLEND) return grainy ? "✗ a grainy blend" : `✗ ${blendOf(mixed, bits)}`;
  return near ? `✗ not close enough: ${label}` : `✗ nearest: ${label}`;
}

/** @param {Nearest} nearest */
export const isBlend = ({ right, mixed }) => !right && mixed >= BLEND;

/** A blend in words, with the number of patterns rounded. @type {(mixed: number, bits: boolean) => string} */
export const blendOf = (mixed, bits) =>
  `a blend of about ${count(Math.round(mixed))} ${bits ? "patterns" : "pictures"}`;

/** @type {(error: number, bits: boolean) => string} */
export function errorInWords(error, bits) {
  if (bits) return `${percent(error)} of the bits wrong`;
  return error < 1
    ? `mean error per pixel ${fixed(error, 3)}`
    : "values far beyond black and white";
}

const SEEN = 1 / 255; // a change of less than one grey level is not visible

/**
 * True if a state does not visibly differ from the end of its run.
 *
 * @type {(now: Nearest, end: Nearest) => boolean}
 */
export const isSettled = (now, end) =>
  verdictOf(now) === verdictOf(end) &&
  Math.abs(now.error - end.error) < SEEN &&
  Math.abs(now.grain - end.grain) < SEEN;

/**
 * Advice for the case that numbers have left the range of floats.
 *
 * @type {(step: number, basis: string, beta: number) => string}
 */
export const overflowInWords = (step, basis, beta) =>
  `The ${basis} features overflowed at step ${step}: their values grow like exp(β|x|²), too large for floats at β = ${amount(beta)}. ` +
  "Take sincos or cos features, which stay below 1, or lower β.";

/** @param {number} v */
const signed = (v) => (Math.abs(v) < 10 ? fixed(v, 4) : amount(v, 2));

/**
 * The report on a step in one line, for the status line and screen readers.
 *
 * @type {(step: number, at: Pick<Numbers, "energyExact" | "energyDistributed" | "distance">, found: Both) => string}
 */
export function inWords(step, at, { exact, distributed, bits, overflow }) {
  /** @param {Nearest} nearest */
  const of = (nearest) =>
    `${verdictOf(nearest).replace("✓", "right:").replace("✗", "wrong:")}, ${errorInWords(nearest.error, bits)}`;
  const there =
    overflow !== null
      ? "overflowed"
      : `energy ${signed(at.energyDistributed)}, ${of(distributed)}; distance ${amount(at.distance, 2)}`;
  return (
    `After ${step} ${step === 1 ? "step" : "steps"}. Exact memory: energy ${signed(at.energyExact)}, ${of(exact)}. ` +
    `Distributed memory: ${there}.`
  );
}
