// Small figures that show one idea each, selected by name.
import { mount } from "../kit/mount.js";
import { printed } from "./bounds.js";
import { cosines } from "./cosines.js";
import { crosstalk } from "./crosstalk.js";
import { grows } from "./grows.js";
import { inner } from "./inner.js";
import { neighbours } from "./neighbours.js";
import { createSketch } from "./sketch.js";
import css from "./style.css?inline";

/** @type {Record<string, any>} */
const SKETCHES = { bounds: printed, cosines, crosstalk, grows, inner, neighbours };

export default mount(
  css,
  (model) => createSketch(SKETCHES[model.get("sketch")], model.get("settings")),
  { still: true },
);
