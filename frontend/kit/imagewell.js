// A picture on a canvas: shown as pixels, dropped or chosen by the reader, painted with a pointer or the keyboard.
import { h } from "./dom.js";
import { bounded } from "./number.js";

/** @typedef {[row: number, column: number]} Cell */

/**
 * A square canvas that shows bytes (height, width, colour) as pixels.
 *
 * @param {{ label: string, size: number, className?: string }} options
 */
export function picture({ label, size, className = "" }) {
  const canvas = h("canvas", {
    class: `r1-picture ${className}`,
    role: "img",
    "aria-label": label,
  });
  /** @param {number} n */
  const fit = (n) => {
    canvas.width = n;
    canvas.height = n;
    const blank = new ImageData(n, n);
    blank.data.fill(255);
    return blank;
  };
  let image = fit(size);
  return {
    canvas,
    /**
     * Shows a square picture of side n, from 3·n² bytes.
     *
     * @param {ArrayLike<number>} bytes
     */
    show(bytes) {
      const n = Math.round(Math.sqrt(bytes.length / 3));
      if (n !== canvas.width) image = fit(n);
      for (let i = 0; i < n * n; i++) {
        image.data[4 * i] = bytes[3 * i];
        image.data[4 * i + 1] = bytes[3 * i + 1];
        image.data[4 * i + 2] = bytes[3 * i + 2];
      }
      canvas.getContext("2d")?.putImageData(image, 0, 0);
    },
    /** @param {string} text */
    say: (text) => canvas.setAttribute("aria-label", text),
  };
}

/**
 * The middle square of an image file, as size × size × 3 bytes.
 *
 * @param {File} file
 * @param {number} size
 */
export async function readImage(file, size) {
  const bitmap = await createImageBitmap(file);
  const side = Math.min(bitmap.width, bitmap.height);
  const canvas = h("canvas", { width: size, height: size });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) throw new Error("This page cannot draw.");
  context.imageSmoothingQuality = "high";
  context.fillStyle = "white"; // under transparent pictures
  context.fillRect(0, 0, size, size);
  const [left, top] = [(bitmap.width - side) / 2, (bitmap.height - side) / 2];
  context.drawImage(bitmap, left, top, side, side, 0, 0, size, size);
  bitmap.close();
  const { data } = context.getImageData(0, 0, size, size);
  return Uint8Array.from(
    { length: 3 * size * size },
    (_, i) => data[4 * Math.floor(i / 3) + (i % 3)],
  );
}

/** @param {DragEvent} event */
const carriesFiles = ({ dataTransfer }) => [...(dataTransfer?.types ?? [])].includes("Files");

/**
 * Lets image files be dropped on `element`. `onFile` gets the first image or, without one, the first file, so that it
 * can say that this file is not an image.
 *
 * @param {HTMLElement} element
 * @param {(file: File) => void} onFile
 */
export function droppable(element, onFile) {
  /** @type {(on: boolean) => (event: DragEvent) => void} */
  const over = (on) => (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    element.classList.toggle("r1-over", on);
  };
  element.addEventListener("dragover", over(true));
  element.addEventListener("dragleave", over(false));
  element.addEventListener("drop", (event) => {
    over(false)(event);
    const files = [...(event.dataTransfer?.files ?? [])];
    const file = files.find(({ type }) => type.startsWith("image/")) ?? files[0];
    if (file) onFile(file);
  });
}

/**
 * Ignores files dropped on `root` outside the elements that take files, because the browser would open the file in
 * place of the page.
 *
 * @param {HTMLElement} root
 */
export function guardDrops(root) {
  /** @param {DragEvent} event */
  const refuse = (event) => {
    const onField = event.target instanceof HTMLInputElement && event.target.type === "file";
    if (event.defaultPrevented || onField || !carriesFiles(event)) return;
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = "none";
  };
  root.addEventListener("dragover", refuse);
  root.addEventListener("drop", refuse);
}

/**
 * A button that lets the reader choose an image file.
 *
 * @param {{ label: string, onFile(file: File): void }} options
 */
export function chooser({ label, onFile }) {
  const input = h("input", {
    type: "file",
    accept: "image/*",
    class: "r1-file",
    "aria-label": label,
    onchange() {
      if (input.files?.[0]) onFile(input.files[0]);
      input.value = "";
    },
  });
  return h("label", { class: "r1-button r1-choose" }, input, label);
}

/** @type {Record<string, Cell>} */
export const MOVES = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/**
 * The cells, as [row, column], on the straight line from one cell to another.
 *
 * @type {(from: Cell, to: Cell) => Cell[]}
 */
export function between([top, left], [row, column]) {
  const n = Math.max(Math.abs(row - top), Math.abs(column - left));
  /** @type {(from: number, to: number, i: number) => number} */
  const at = (from, to, i) => Math.round(from + ((to - from) * i) / (n || 1));
  return Array.from({ length: n + 1 }, (_, i) => [at(top, row, i), at(left, column, i)]);
}

/**
 * Painting on a picture's canvas. `tool()` returns the side of the brush in cells, and `touch`, true if touch paints
 * too. `onDab(cells)` colours cells; `onEnd()` ends a stroke. Arrow keys move a cursor, and space paints there.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {{
 *   tool(): { brush: number, touch: boolean },
 *   onDab(cells: Cell[]): void,
 *   onEnd(): void,
 * }} on
 */
export function paintable(canvas, { tool, onDab, onEnd }) {
  const cursor = h("span", { class: "r1-brush", hidden: true });
  const frame = h("div", { class: "r1-paintable" }, canvas, cursor);
  /** @type {Cell} */
  let at = [canvas.height >> 1, canvas.width >> 1];
  let drawing = false;
  const show = () => {
    const { brush } = tool();
    const n = canvas.width;
    Object.assign(cursor.style, {
      left: `${(100 * (at[1] - (brush - 1) / 2)) / n}%`,
      top: `${(100 * (at[0] - (brush - 1) / 2)) / n}%`,
      width: `${(100 * brush) / n}%`,
      height: `${(100 * brush) / n}%`,
    });
  };
  /** @param {PointerEvent} event */
  const track = (event) => {
    const box = canvas.getBoundingClientRect();
    /** @type {(v: number, start: number, length: number) => number} */
    const cell = (v, start, length) => Math.floor((canvas.width * (v - start)) / length);
    at = [cell(event.clientY, box.top, box.height), cell(event.clientX, box.left, box.width)];
    show();
  };
  /**
   * @template {keyof HTMLElementEventMap} E
   * @param {E} name
   * @param {(event: HTMLElementEventMap[E]) => void} action
   */
  const listen = (name, action) => canvas.addEventListener(name, action);
  /** @param {number} v */
  const inside = (v) => bounded(v, 0, canvas.width - 1);
  listen("pointerdown", (event) => {
    if (event.button !== 0 || (event.pointerType === "touch" && !tool().touch)) return;
    canvas.setPointerCapture(event.pointerId);
    drawing = true;
    track(event);
    onDab([at]);
  });
  listen("pointermove", (event) => {
    const last = at;
    track(event);
    cursor.hidden = event.pointerType === "touch" && !drawing;
    if (drawing) onDab(between(last, at));
  });
  const end = () => {
    if (drawing) onEnd();
    drawing = false;
  };
  listen("pointerup", end);
  listen("pointercancel", end);
  const hide = () => {
    cursor.hidden = document.activeElement !== canvas;
  };
  listen("pointerleave", hide);
  listen("blur", hide);
  listen("focus", () => {
    at = [inside(at[0]), inside(at[1])];
    cursor.hidden = false;
    show();
  });
  listen("keydown", (event) => {
    if (event.key === " ") {
      onDab([at]);
      onEnd();
    } else if (MOVES[event.key]) {
      const [down, right] = MOVES[event.key];
      at = [inside(at[0] + down), inside(at[1] + right)];
      show();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  canvas.tabIndex = 0;
  return frame;
}
