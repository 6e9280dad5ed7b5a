// The entry point of the landscape explorer: E and its estimate Ê in the plane, with query and patterns to drag.
import { mount } from "../kit/mount.js";
import { createExplorer } from "./explorer.js";
import css from "./style.css?inline";

export default mount(css, (model) => createExplorer(model.get("settings")), { still: true });
