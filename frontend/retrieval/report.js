// What a step shows, in names and words.
import { amount, fixed } from "../kit/number.js";

/** @import { Library, Ready, Settings } from "./settings.js" */
/** @import { Field } from "./simulation.js" */

/** @typedef {Record<Exclude<Field, "law">, number> & { law: number | null }} Numbers */
/** @typedef {{ label: string, right: boolean, outside: boolean, error: number }} Nearest */
/** @typedef {{ exact: Nearest, distributed: Nearest }} Both */

const RIGHT_WITHIN = 0.2; // of the grey scale: noise is near some picture too, and is none

/** @param {number} v */
const signed = (v) => (Math.abs(v) < 10 ? fixed(v, 4) : amount(v, 2));

/**
 * Which stored picture each state is nearest to, whether that is the right one, and how far from the truth it is.
 *
 * @type {(at: Numbers, settings: Settings, ready: Pick<Ready, "isStored" | "wanted">, library: Library) => Both}
 */
export function findings(at, settings, ready, library) {
  /** @type {(index: number, error: number) => Nearest} */
  const of = (index, error) => ({
    label: library.label(settings.collection, settings.stored[index]),
    right: ready.isStored && index === ready.wanted && error < RIGHT_WITHIN,
    outside: !(error < 1), // two pictures in [0, 1] are never that far apart
    error,
  });
  return {
    exact: of(at.nearestExact, at.errorExact),
    distributed: of(at.nearestDistributed, at.errorDistributed),
  };
}

/**
 * One line for those who listen.
 *
 * @type {(step: number, at: Pick<Numbers, "energyExact" | "energyDistributed" | "distance">, found: { exact: Omit<Nearest, "error">, distributed: Omit<Nearest, "error"> }) => string}
 */
export function inWords(step, at, found) {
  /** @param {Omit<Nearest, "error">} nearest */
  const name = ({ label, right, outside }) =>
    outside ? "none, outside the range of pictures" : `${label} (${right ? "right" : "wrong"})`;
  return (
    `Step ${step}. Exact: energy ${signed(at.energyExact)}, nearest ${name(found.exact)}. ` +
    `Distributed: ${signed(at.energyDistributed)}, ${name(found.distributed)}. ` +
    `Distance ${amount(at.distance, 2)}.`
  );
}
