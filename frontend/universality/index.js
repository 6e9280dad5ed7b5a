// The entry point of the universality explorer: one gradient step of a network, computed in the page.
import { mount } from "../kit/mount.js";
import { createExplorer } from "./explorer.js";
import { DEFAULTS, nextSettings } from "./settings.js";
import css from "./style.css?inline";

export default mount(
  css,
  (model) => createExplorer(nextSettings(DEFAULTS, model.get("settings") ?? {})),
  { still: true },
);
