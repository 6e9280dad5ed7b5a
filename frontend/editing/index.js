// The editing explorer: one pair written into a small linear memory, and its interference with the other keys.
import { keeper, mount } from "../kit/mount.js";
import { createExplorer } from "./explorer.js";
import { settingsFrom } from "./settings.js";
import css from "./style.css?inline";

export default mount(
  css,
  (model) => createExplorer(settingsFrom(model.get("settings")), keeper(model, "shown")),
  { still: true },
);
