// The retrieval explorer: an anywidget whose mathematics runs in a worker of the page.
import { mount } from "../kit/mount.js";
import { initialSettings } from "./change.js";
import { createExplorer } from "./explorer.js";
import { Library } from "./settings.js";
import css from "./style.css?inline";

/** @param {DataView | ArrayBuffer} view */
const bytesOf = (view) =>
  view instanceof DataView
    ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
    : new Uint8Array(view);

export default mount(
  css,
  (model, el) => {
    const library = new Library(bytesOf(model.get("pictures")), model.get("names"));
    const settings = initialSettings(model.get("settings"), library);
    const explorer = createExplorer(settings, library, model);
    el.__rankone_states = explorer.states;
    return explorer;
  },
  { lazy: true },
);
