// Keys that act on a whole explorer, and the words that tell the reader of them.
import { h } from "./dom.js";

/**
 * A listener for an explorer's own element: actions by their keys. Fields, and drawings that listen, keep their own.
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
 * What the keys do, folded away: `where` the focus is to be, each key with its words, and lines of the explorer's own.
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
