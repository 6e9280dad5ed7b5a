// Numbers and verdicts as the page writes them.
import { power } from "../kit/plot.js";

/** Two figures, as a power of ten where it is small. */
export function number(v) {
  if (v === 0 || v >= 0.001) return Number(v.toPrecision(2)).toLocaleString("en-GB");
  const [mantissa, exponent] = v.toExponential(1).split("e");
  return `${mantissa}·${power(Number(exponent))}`;
}

/** What the memory does to the base's risk; a difference of rounding is none. */
export function verdict({ base, memory }) {
  if (Math.abs(memory - base) < 1e-12) return "The memory changes nothing";
  return memory < base ? "The memory helps" : "The memory hurts";
}
