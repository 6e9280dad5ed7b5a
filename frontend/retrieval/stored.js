// The pictures on offer as a grid of toggles, and the reader's own among them.
import { select, toggleGrid } from "../kit/controls.js";
import { h } from "../kit/dom.js";
import { chooser, droppable, picture } from "../kit/imagewell.js";

/** @import { Patch } from "./change.js" */
/** @import { Collection, Library, Settings } from "./settings.js" */

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
  const grid = toggleGrid({
    label: "Stored pictures",
    onToggle: (/** @type {number} */ key, pressed) => change({ store: key, pressed }),
  });
  const collection = select({
    label: "Collection",
    name: "collection",
    options: [
      ["photographs", "photographs"],
      ["letters", "letters"],
      ["random", "random binary patterns"],
    ],
    value: "photographs",
    onInput: (v) => change({ collection: /** @type {Collection} */ (v) }),
  });
  droppable(grid.element, on.fileToStore);
  /** @type {(name: Collection, key: number) => HTMLCanvasElement} */
  const thumbnail = (name, key) => {
    const id = library.id(name, key, 32);
    const known = tiles.get(id);
    if (known) return known;
    const { canvas, show } = picture({ label: "", size: 32 });
    canvas.removeAttribute("role");
    canvas.removeAttribute("aria-label");
    canvas.setAttribute("aria-hidden", "true");
    show(library.picture(name, key, 32).map((v) => 255 * v));
    tiles.set(id, canvas);
    return canvas;
  };
  const choose = chooser({ label: "Add your own", onFile: on.fileToStore });
  return {
    bar: h("div", { class: "r1-bar" }, collection.element, choose),
    element: grid.element,
    /** @param {Settings} settings */
    show(settings) {
      collection.value = settings.collection;
      const items = library.items(settings.collection).map(({ key, label }) => ({
        key,
        label: key === settings.target ? `${label} (true picture)` : label,
        mark: key === settings.target,
        picture: thumbnail(settings.collection, key),
      }));
      grid.show(items, new Set(settings.stored));
    },
  };
}
