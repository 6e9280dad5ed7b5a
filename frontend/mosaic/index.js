// The mosaic explorer: thousands of pictures, each lit by its weight while two memories retrieve one of them.
import { mount } from "../kit/mount.js";
import { createExplorer } from "./explorer.js";
import { unpacked } from "./math/pictures.js";
import css from "./style.css?inline";

/** @param {DataView | ArrayBuffer} view */
const bytesOf = (view) =>
  view instanceof DataView
    ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice()
    : new Uint8Array(view);

export default mount(
  css,
  (model) => {
    // a kernel has sent them already; a page of the book fetches them when they are asked for
    const fetchPictures = async () => {
      const tiles = model.get("tiles");
      return unpacked(bytesOf(typeof tiles === "function" ? await tiles() : tiles));
    };
    return createExplorer(model.get("settings"), fetchPictures);
  },
  { lazy: true },
);
