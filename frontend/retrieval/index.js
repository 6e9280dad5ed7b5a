// The retrieval explorer: an anywidget whose mathematics runs in a worker of the page.
import { mount } from "../kit/mount.js";
import { unpacked } from "../kit/sheet.js";
import { initialSettings } from "./change.js";
import { createExplorer } from "./explorer.js";
import { FINER, Library } from "./library.js";
import css from "./style.css?inline";

/** @import { Model, Place } from "../kit/mount.js" */
/** @import { Sheet } from "../kit/sheet.js" */

/** @param {DataView | ArrayBuffer} view */
const bytesOf = (view) =>
  view instanceof DataView
    ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice()
    : new Uint8Array(view);

/**
 * The function that gives the finer pictures, if there are any: a kernel has sent them already, and a page of the book
 * fetches them on demand.
 *
 * @param {DataView | (() => Promise<DataView>)} [value]
 */
const finerOf = (value) =>
  value && (typeof value === "function" || value.byteLength > 0)
    ? async () => unpacked(bytesOf(typeof value === "function" ? await value() : value), FINER, 255)
    : null;

/** @param {Sheet} sheet */
const withSheet = (sheet) =>
  mount(
    css,
    (model, el) => {
      const library = new Library(sheet, model.get("names"), finerOf(model.get("finer")));
      const settings = initialSettings(model.get("settings"), library);
      const explorer = createExplorer(settings, library, model, model.get("questions"));
      el.__rankone_states = explorer.states;
      return explorer;
    },
    { lazy: true },
  );

export default {
  /** @param {{ model: Model, el: Place }} place */
  async render(place) {
    const { side, top } = place.model.get("scale");
    return withSheet(await unpacked(bytesOf(place.model.get("pictures")), side, top)).render(place);
  },
};
