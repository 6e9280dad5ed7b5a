// The retrieval explorer: an anywidget whose mathematics runs in a worker of the page.
import { dress } from "../kit/theme.js";
import { initialSettings } from "./change.js";
import { createExplorer } from "./explorer.js";
import { Library } from "./settings.js";
import css from "./style.css?inline";

const bytesOf = (view) =>
  view instanceof DataView
    ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
    : new Uint8Array(view);

function render({ model, el }) {
  const undress = dress(el, css);
  const library = new Library(bytesOf(model.get("pictures")), model.get("names"));
  const explorer = createExplorer(initialSettings(model.get("settings"), library), library, model);
  el.append(explorer.element);
  el.__rankone_state = explorer.state;
  el.__rankone_states = explorer.states;
  const watcher = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watcher.disconnect();
    explorer.begin();
  });
  watcher.observe(el);
  return () => {
    watcher.disconnect();
    explorer.close();
    undress();
  };
}

export default { render };
