// The entry point of the residual explorer: an anywidget whose mathematics runs in the page.
import { keeper, mount } from "../kit/mount.js";
import { createExplorer } from "./explorer.js";
import { DEFAULTS, nextSettings } from "./settings.js";
import css from "./style.css?inline";

export default mount(css, (model) =>
  createExplorer(nextSettings(DEFAULTS, model.get("settings")), keeper(model, "settings")),
);
