// The reader's own pictures, drawn here or read from a file, and the buttons for the query.
import { button } from "../kit/controls.js";
import { h } from "../kit/dom.js";
import { chooser } from "../kit/imagewell.js";
import { dab, noPaint } from "./settings.js";

/** @import { Cell } from "../kit/imagewell.js" */

const SIDE = 32; // pixels of a drawing
const PAPER = 0xe4;
const INK = [0x14, 0x3c, 0x6e];
const PEN = 2; // pixels wide

/** A sheet of paper to draw on. */
export function createSketch() {
  let sheet = noPaint(SIDE);
  return {
    clear() {
      sheet = noPaint(SIDE);
      sheet.colours.fill(PAPER);
    },
    /** @param {Cell[]} cells */
    draw(cells) {
      for (const [row, column] of cells) dab(sheet, row, column, PEN, INK);
    },
    get isEmpty() {
      return sheet.marks.every((mark) => mark === 0);
    },
    get bytes() {
      return sheet.colours;
    },
    /**
     * The drawing with `side` pixels per side, a multiple of its own size.
     *
     * @param {number} side
     */
    enlarged(side) {
      const times = side / SIDE;
      return Uint8Array.from({ length: 3 * side * side }, (_, i) => {
        const pixel = Math.floor(i / 3);
        const row = Math.floor(Math.floor(pixel / side) / times);
        const column = Math.floor((pixel % side) / times);
        return sheet.colours[3 * (row * SIDE + column) + (i % 3)];
      });
    },
  };
}

/**
 * The buttons under the query. `on.sketch(true)` begins a drawing, `on.store()` stores it, `on.sketch(false)` ends it.
 *
 * @param {{
 *   sketch(on: boolean): void,
 *   store(): void,
 *   file(file: File): void,
 *   scribble(on: boolean): void,
 *   truth(on: boolean): void,
 * }} on
 */
export function createOwn(on) {
  /** @type {(label: string, name: string, title: string, onClick: (pressed: boolean) => void) => HTMLButtonElement} */
  const press = (label, name, title, onClick) => {
    const element = button({
      label,
      title,
      "data-name": name,
      "aria-pressed": "false",
      onClick: () => onClick(element.getAttribute("aria-pressed") !== "true"),
    });
    return element;
  };
  const scribble = press(
    "Scribble",
    "scribble",
    "Paint over a part of the query: with the mouse at any time, with a finger while this is pressed",
    on.scribble,
  );
  const truth = press("Original", "truth", "Show the whole picture in the query’s place", on.truth);
  const usual = h(
    "div",
    { class: "r1-bar" },
    button({
      label: "Draw",
      title: "Draw a picture of your own and store it",
      "data-name": "draw",
      onClick: () => on.sketch(true),
    }),
    chooser({ label: "Photo", onFile: on.file }),
    scribble,
    truth,
  );
  const drawing = h(
    "div",
    { class: "r1-bar", hidden: true },
    button({ label: "Store it", "data-name": "store", onClick: on.store }),
    button({ label: "Cancel", "data-name": "cancel", onClick: () => on.sketch(false) }),
  );
  /** @type {(element: Element, on: boolean) => void} */
  const mark = (element, on) => element.setAttribute("aria-pressed", String(on));
  return {
    element: h("div", { class: "r1-own" }, usual, drawing),
    /** @type {(state: { sketching: boolean, scribbling: boolean, truth: boolean }) => void} */
    show(state) {
      usual.hidden = state.sketching;
      drawing.hidden = !state.sketching;
      mark(scribble, state.scribbling);
      mark(truth, state.truth);
    },
  };
}
