// The pictures on offer as a grid of toggles, and the reader's own among them.
import { select } from "../kit/controls.js";
import { h } from "../kit/dom.js";
import { toggleGrid } from "../kit/grid.js";
import { chooser, droppable, picture } from "../kit/imagewell.js";
import { storedOf } from "./settings.js";

/** @import { Patch } from "./change.js" */
/** @import { Collection, Library } from "./library.js" */
/** @import { Settings } from "./settings.js" */

const TILE = 32; // pixels
const OFFERED = 24; // random patterns with a tile each: the others are stored only by a larger K

/**
 * Keys of the pictures that have a tile each.
 *
 * @type {(library: Library, collection: Collection) => number[]}
 */
export const offered = (library, collection) => [
  ...Array.from({ length: Math.min(library.count(collection), OFFERED) }, (_, key) => key),
  ...library.ownKeys,
];

/**
 * `change` takes { store, pressed } and { collection }; `on.fileToStore(file)` takes an image of the reader's.
 *
 * @param {Library} library
 * @param {(patch: Patch) => void} change
 * @param {{ fileToStore(file: File): void }} on
 */
export function storedPictures(library, change, on) {
  /** @type {Map<string, HTMLCanvasElement>} */
  const tiles = new Map(); // key and size → canvas, drawn once
  let shown = "";
  const grid = toggleGrid({
    label: "Stored pictures",
    onToggle: (/** @type {number} */ key, pressed) => change({ store: key, pressed }),
  });
  const collection = select({
    label: "Collection",
    name: "collection",
    options: [
      ["photographs", "photographs"],
      ["bits", "random bits"],
    ],
    value: "photographs",
    onInput: (v) => change({ collection: /** @type {Collection} */ (v) }),
  });
  droppable(grid.element, on.fileToStore);
  /** @type {(name: Collection, key: number, size: number) => HTMLCanvasElement} */
  const thumbnail = (name, key, size) => {
    const id = library.id(name, key, size);
    const known = tiles.get(id);
    if (known) return known;
    const { canvas, show } = picture({ label: "", size });
    canvas.removeAttribute("role");
    canvas.removeAttribute("aria-label");
    canvas.setAttribute("aria-hidden", "true");
    const values = library.picture(name, key, size);
    const repeat = (3 * size * size) / values.length;
    show(
      Uint8Array.from({ length: 3 * size * size }, (_, i) => 255 * values[Math.floor(i / repeat)]),
    );
    tiles.set(id, canvas);
    return canvas;
  };
  const choose = chooser({ label: "Add your own", onFile: on.fileToStore });
  return {
    bar: h("div", { class: "r1-bar" }, collection.element, choose),
    element: grid.element,
    weigh: grid.weigh,
    /** @param {Settings} settings */
    show(settings) {
      const { collection: name, size, target } = settings;
      const stored = storedOf(settings);
      const id = JSON.stringify([name, size, target, stored, library.own.length]);
      if (id === shown) return;
      shown = id;
      collection.value = name;
      const items = offered(library, name).map((key) => {
        const label = library.label(name, key);
        return {
          key,
          label: key === target ? `${label} (true picture)` : label,
          mark: key === target,
          picture: thumbnail(name, key, name === "bits" ? size : TILE),
        };
      });
      grid.show(items, new Set(stored));
    },
  };
}
