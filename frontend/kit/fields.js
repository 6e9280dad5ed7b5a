// The properties that tie a control to a setting: its name, its value, and the call that changes it.

/**
 * `slider({ ...of("beta"), label: "selectivity" })` shows `settings.beta`, and calls `change` with the reader's value.
 *
 * @template {object} S
 * @param {S} settings
 * @param {(patch: Partial<S>) => void} change
 */
export const fieldsOf =
  (settings, change) =>
  /**
   * @template {keyof S & string} K
   * @param {K} name
   */
  (name) => ({
    name,
    value: settings[name],
    onInput: (/** @type {S[K]} */ v) => change(/** @type {any} */ ({ [name]: v })),
  });
