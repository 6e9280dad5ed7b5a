// A grid of toggle buttons, each with a picture.
import { h } from "./dom.js";
import { percent } from "./number.js";

/**
 * A grid of toggle buttons with one tab stop: arrow keys move, space or Enter presses.
 * `onToggle(key, pressed)` is called with the reader's choice; only `show` redraws the grid.
 *
 * @template {string | number} K
 * @param {{ label: string, onToggle(key: K, pressed: boolean): void }} options
 */
export function toggleGrid({ label, onToggle }) {
  const element = h("div", { class: "r1-grid", role: "group", "aria-label": label });
  /** @type {HTMLButtonElement[]} */
  let tiles = [];
  /** @type {{ key: K, label: string }[]} */
  let shown = [];
  const current = () => tiles.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
  /** @param {number} i */
  const focus = (i) => {
    tiles.forEach((tile, j) => {
      tile.tabIndex = i === j ? 0 : -1;
    });
    tiles[i]?.focus();
  };
  element.addEventListener("keydown", (event) => {
    const columns = getComputedStyle(element).gridTemplateColumns.split(" ").length;
    const move = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
    const at = current();
    if (!move || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    focus(Math.min(tiles.length - 1, Math.max(0, at + move)));
  });
  return {
    element,
    /**
     * @param {{ key: K, label: string, picture: Element, mark: boolean }[]} items
     * @param {Set<K>} pressed
     */
    show(items, pressed) {
      const focusIndex = current();
      shown = items;
      tiles = items.map(({ key, label: name, picture, mark }) =>
        h(
          "button",
          {
            type: "button",
            class: mark ? "r1-tile r1-marked" : "r1-tile",
            "aria-pressed": String(pressed.has(key)),
            "aria-label": name,
            title: name,
            "data-key": key,
            onclick: () => onToggle(key, !pressed.has(key)),
          },
          picture,
        ),
      );
      element.replaceChildren(...tiles);
      tiles.forEach((tile, i) => {
        tile.tabIndex = i === Math.max(focusIndex, 0) ? 0 : -1;
      });
      if (focusIndex >= 0) focus(Math.min(focusIndex, tiles.length - 1));
    },
    /**
     * Draws a bar at the foot of each tile that has a weight from 0 to 1, and adds the weight to the tile's title,
     * which screen readers read. Null removes all bars.
     *
     * @param {Map<K, number> | null} weights
     */
    weigh(weights) {
      tiles.forEach((tile, i) => {
        const { key, label: name } = shown[i];
        const weight = weights?.get(key);
        tile.classList.toggle("r1-weighed", weight !== undefined);
        tile.style.setProperty("--r1-weight", String(weight ?? 0));
        tile.title = weight === undefined ? name : `${name}: weight ${percent(weight)}`;
      });
    },
  };
}
