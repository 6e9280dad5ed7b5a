// The pictures on offer as a grid of toggles, and the reader's own among them.
import { select, toggleGrid } from "../kit/controls.js";
import { h } from "../kit/dom.js";
import { chooser, droppable, picture } from "../kit/imagewell.js";

/** `change` takes { store, pressed } and { collection }; `on.fileToStore(file)` takes an image of the reader's. */
export function storedPictures(library, change, on) {
  const tiles = new Map(); // key and size → canvas, drawn once
  const grid = toggleGrid({
    label: "Stored pictures",
    onToggle: (key, pressed) => change({ store: key, pressed }),
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
    onInput: (v) => change({ collection: v }),
  });
  droppable(grid.element, on.fileToStore);
  const thumbnail = (name, key) => {
    const id = library.id(name, key, 32);
    if (!tiles.has(id)) {
      const shown = picture({ label: "", size: 32 });
      shown.canvas.removeAttribute("role");
      shown.canvas.removeAttribute("aria-label");
      shown.canvas.setAttribute("aria-hidden", "true");
      shown.show(library.picture(name, key, 32).map((v) => 255 * v));
      tiles.set(id, shown.canvas);
    }
    return tiles.get(id);
  };
  const choose = chooser({ label: "Add your own", onFile: on.fileToStore });
  return {
    bar: h("div", { class: "r1-bar" }, collection.element, choose),
    element: grid.element,
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
