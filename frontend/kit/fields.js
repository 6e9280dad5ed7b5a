// Fields that are each named after a setting: they show its value, and ask for its change.
import { select, toggle } from "./controls.js";
import { slider } from "./slider.js";

/** @import { Range } from "./slider.js" */
/** @typedef {Range & { symbol?: string | null, format?(v: number): string, title?: string }} Look */

/**
 * The names of the settings that are of one type.
 *
 * @template S, T
 * @typedef {Extract<{ [K in keyof S]: S[K] extends T ? K : never }[keyof S], string>} Names
 */

/**
 * Makes fields of `settings`, which tell `change` what the reader wants.
 *
 * @template {object} S
 * @param {S} settings
 * @param {(patch: Partial<S>) => void} change
 */
export function fieldsOf(settings, change) {
  /**
   * @template {keyof S & string} K
   * @param {K} name
   */
  const of = (name) => ({
    name,
    value: settings[name],
    onInput: (/** @type {unknown} */ v) => change(/** @type {Partial<S>} */ ({ [name]: v })),
  });
  return {
    /** @type {(name: Names<S, number>, label: string, look?: Look) => ReturnType<typeof slider>} */
    slide(name, label, look = {}) {
      const { value, ...rest } = of(name);
      return slider({ ...rest, label, value: Number(value), ...look });
    },
    /** @type {(name: Names<S, boolean>, label: string, title?: string) => ReturnType<typeof toggle>} */
    check(name, label, title) {
      const { value, ...rest } = of(name);
      return toggle({ ...rest, label, title, value: Boolean(value) });
    },
    /** @type {<K extends Names<S, string | number>>(name: K, label: string, options: [value: S[K] & (string | number), label: string][]) => ReturnType<typeof select>} */
    pick(name, label, options) {
      const { onInput, ...rest } = of(name);
      const value = /** @type {string | number} */ (rest.value);
      const read = typeof value === "number" ? Number : String;
      return select({ ...rest, value, label, options, onInput: (v) => onInput(read(v)) });
    },
  };
}
