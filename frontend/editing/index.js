// The editing explorer: one pair written into a small linear memory, and what the other keys pay for it.
import { dress } from "../kit/theme.js";
import { createExplorer } from "./explorer.js";
import { settingsFrom } from "./settings.js";
import css from "./style.css?inline";

function render({ model, el }) {
  const undress = dress(el, css);
  const own = model.get("settings") ?? {};
  const explorer = createExplorer(settingsFrom(own), model);
  el.append(explorer.element);
  el.__rankone_state = explorer.state;
  explorer.begin(Object.keys(own).length > 0);
  return undress;
}

export default { render };
