// The entry point of the surface explorer: three photographs, the energy over the plane through them, and a run as a
// path and as pixels.
import { mount } from "../kit/mount.js";
import { unpacked } from "../kit/sheet.js";
import { createExplorer } from "./explorer.js";
import { Pictures } from "./math/pictures.js";
import { reachOf } from "./settings.js";
import css from "./style.css?inline";

/** @import { Model, Place } from "../kit/mount.js" */

const SIDE = 32; // pixels
const TOP = 1020; // the value of white: each pixel is a sum of four bytes

/** @param {DataView | ArrayBuffer} view */
const bytesOf = (view) =>
  view instanceof DataView
    ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice()
    : new Uint8Array(view);

/** @param {Model} model */
async function storedIn(model) {
  const { values } = await unpacked(bytesOf(model.get("pictures")), SIDE, TOP);
  const D = 3 * SIDE * SIDE;
  const vectors = [0, 1, 2].map((k) =>
    Float64Array.from(values.subarray(k * D, (k + 1) * D), (v) => v / TOP / Math.sqrt(D)),
  );
  const pictures = new Pictures(vectors);
  return { names: model.get("names"), pictures, side: SIDE, reach: reachOf(pictures) };
}

export default {
  /** @param {{ model: Model, el: Place }} place */
  async render(place) {
    const stored = await storedIn(place.model);
    return mount(css, (model) => createExplorer(model.get("settings"), stored)).render(place);
  },
};
