// The entry point of the preconditioning explorer: an anywidget whose mathematics runs in the page.
import { keeper, mount } from "../kit/mount.js";
import { createExplorer } from "./explorer.js";
import { initialSettings } from "./settings.js";
import css from "./style.css?inline";

export default mount(css, (model) =>
  createExplorer(initialSettings(model.get("settings")), keeper(model, "settings")),
);
