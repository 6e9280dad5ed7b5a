// Keys that act on a whole explorer, and the help that lists them for the reader.
import { h } from "./dom.js";

/**
 * A listener for an explorer's element, which runs actions by their keys. Fields, and drawings that handle keys, keep
 * their keys for themselves.
 *
 * @param {Record<string, () => void>} actions
 * @returns {(event: KeyboardEvent) => void}
 */
export const onKeys = (actions) => (event) => {
  const action = actions[event.key];
  if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = /** @type {Element} */ (event.target);
  if (target.matches("input, select, textarea, [role=application]")) return;
  event.preventDefault();
  action();
};

/**
 * The help on the keys, folded: `where` the focus must be, each key with its words, and further lines.
 *
 * @param {string} where
 * @param {[key: string, words: string][]} keys
 * @param {string[]} [more]
 */
export const keyHelp = (where, keys, more = []) =>
  h(
    "details",
    { class: "r1-help" },
    h("summary", {}, "Keys"),
    h(
      "p",
      {},
      `With the focus on ${where}: `,
      keys.map(([key, words], i) => [
        h("kbd", {}, key),
        ` ${words}${i + 1 < keys.length ? "; " : "."}`,
      ]),
    ),
    more.map((line) => h("p", {}, line)),
  );
