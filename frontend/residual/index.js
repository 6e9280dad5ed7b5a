// The residual explorer: an anywidget whose mathematics runs in the page.
import { reducedMotion } from "../kit/player.js";
import { dress } from "../kit/theme.js";
import { createExplorer } from "./explorer.js";
import { DEFAULTS, nextSettings } from "./settings.js";
import css from "./style.css?inline";

function render({ model, el }) {
  const undress = dress(el, css);
  const save = (settings) => {
    model.set("settings", settings);
    model.save_changes();
  };
  const explorer = createExplorer(nextSettings(DEFAULTS, model.get("settings")), save);
  el.append(explorer.element);
  el.__rankone_state = explorer.state;
  explorer.begin(false);
  const watcher = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watcher.disconnect();
    if (!reducedMotion()) explorer.begin(true);
  });
  watcher.observe(el);
  return () => {
    watcher.disconnect();
    explorer.close();
    undress();
  };
}

export default { render };
