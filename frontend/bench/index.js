// The memory bench: pairs of a key and a value to drag, and one slider for how they are written.
import { mount } from "../kit/mount.js";
import { createExplorer } from "./explorer.js";
import css from "./style.css?inline";

export default mount(css, (model) => createExplorer(model.get("settings")), { still: true });
