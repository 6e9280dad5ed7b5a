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
 * A script of these lines, without those that are false.
 *
 * @param {(string | false)[]} all
 */
export const script = (...all) => `${all.filter((line) => line !== false).join("\n")}\n`;

/** The beginning of every script: the imports, and the precision of the page. */
export const HEAD = [
  "import jax",
  "import numpy as np",
  "import rankone as ro",
  "",
  'jax.config.update("jax_enable_x64", True)  # as the page computes',
].join("\n");
