// The universality explorer: one real gradient step of a real network, taken in the page.
import { dress } from "../kit/theme.js";
import { createExplorer } from "./explorer.js";
import { DEFAULTS, nextSettings } from "./settings.js";
import css from "./style.css?inline";

function render({ model, el }) {
  const undress = dress(el, css);
  const explorer = createExplorer(nextSettings(DEFAULTS, model.get("settings") ?? {}));
  el.append(explorer.element);
  el.__rankone_state = explorer.state;
  explorer.begin();
  return undress;
}

export default { render };
