// Numbers as the page writes them.
import { power } from "../kit/plot.js";

/** −1.7·10⁻⁷. */
export function scientific(v, digits = 2) {
  const [lead, exponent] = v.toExponential(digits - 1).split("e");
  return `${lead.replace("-", "−")}·${power(Number(exponent))}`;
}

/** An entry of a matrix. */
export function entry(v) {
  const size = Math.abs(v);
  if (size < 1e-9) return "0";
  if (size < 1e-3) return scientific(v);
  return (size < 0.1 ? v.toPrecision(2) : v.toFixed(2)).replace("-", "−");
}
