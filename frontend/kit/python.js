// Values of settings as Python writes them.

/**
 * @param {unknown} value
 * @returns {string}
 */
export function literal(value) {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return JSON.stringify(value);
  if (value === Number.POSITIVE_INFINITY) return "np.inf";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  return String(value);
}

/** @param {unknown} value */
export const arrayOf = (value) => `np.array(${literal(value)})`;

/**
 * Lines, those that are false left out.
 *
 * @param {(string | false)[]} all
 */
export const script = (...all) => `${all.filter((line) => line !== false).join("\n")}\n`;

/** What every text begins with: the package, in the precision of the page. */
export const HEAD = [
  "import jax",
  "import numpy as np",
  "import rankone as ro",
  "",
  'jax.config.update("jax_enable_x64", True)  # as the page computes',
].join("\n");
