// The mosaic explorer: thousands of pictures, each lit by its weight while two memories retrieve one of them.
import { mount } from "../kit/mount.js";
import { createExplorer } from "./explorer.js";
import { joined, unpacked } from "./math/pictures.js";
import css from "./style.css?inline";

/** @import { Pictures } from "./math/pictures.js" */

/** @param {DataView | ArrayBuffer} view */
const bytesOf = (view) =>
  view instanceof DataView
    ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice()
    : new Uint8Array(view);

export default mount(
  css,
  (model) => {
    // In a notebook the kernel has already sent the bytes. On a page of the book they are a function that fetches them.
    const fetchOf = async (/** @type {string} */ name) => {
      const value = model.get(name);
      return unpacked(bytesOf(typeof value === "function" ? await value() : value));
    };
    /** @type {Pictures | null} */
    let pictures = null;
    return createExplorer(model.get("settings"), async (K) => {
      pictures ??= await fetchOf("tiles");
      if (pictures.codes.length < K) pictures = joined(pictures, await fetchOf("others"));
      return pictures;
    });
  },
  { lazy: true },
);
