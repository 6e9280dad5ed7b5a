// The costs of the two memories, in rows: the numbers that each holds, the Y and the roughness of the vector, and the
// speed.
import { amount, count } from "../kit/number.js";

/** @import { End } from "./actor.js" */
/** @import { Ready } from "./settings.js" */

/** @param {number | null | undefined} v */
const figures = (v) => amount(v, 2);

const UNKNOWN = "unknown: for sincos and cos features only";

/**
 * Rows of names and values.
 *
 * @type {(end: Pick<End, "frame" | "info" | "milliseconds">, ready: Pick<Ready, "config" | "stored" | "numbers" | "freedom">) => [string, string][]}
 */
export function factsOf({ frame, info, milliseconds }, { config, stored, numbers, freedom }) {
  const { Y } = config;
  const { roughness } = info;
  const speed = (1000 * frame.step) / milliseconds;
  const ratio = numbers.distributed / numbers.exact;
  const factor = numbers.distributed === Y ? 4 : 2; // cos features have twice the variance of sincos
  const stable = factor * freedom * stored.length;
  return [
    ["Exact memory holds", `K·D = ${count(numbers.exact)} numbers`],
    [
      "Distributed memory holds",
      `M = ${numbers.distributed === Y ? "Y" : "2Y"} = ${count(numbers.distributed)} numbers, ${figures(ratio)} × as many`,
    ],
    [
      "Y for Ê to be convex at a pattern",
      stable > 0
        ? roughness === null
          ? UNKNOWN
          : `${factor} × free numbers × K = ${count(stable)}; Y is ${figures(Y / stable)} × that`
        : "none: nothing is left to find",
    ],
    [
      "Roughness c of the distributed energy",
      roughness === null
        ? UNKNOWN
        : `${figures(roughness)}, read off T; visible grain from about ½`,
    ],
    ["Speed in this page", speed ? `${count(speed)} steps a second` : "not measured yet"],
  ];
}
