// A field over the plane as shades on a canvas: one colour where it is positive, another where it is negative.
import { h } from "../kit/dom.js";

const STRONGEST = 1; // the value drawn in full colour

/**
 * A canvas that shows n × n values, row by row from the top; null empties it.
 *
 * @param {string} className
 */
export function createField(className) {
  const element = h("canvas", { class: className, "aria-hidden": "true" });
  const context = /** @type {CanvasRenderingContext2D} */ (element.getContext("2d"));
  return {
    element,
    /** @param {Float64Array | null} values */
    paint(values) {
      const n = values ? Math.round(Math.sqrt(values.length)) : 1;
      if (element.width !== n) element.width = element.height = n;
      const image = new ImageData(n, n);
      const [above, below] = ["exact", "distributed"].map((tone) => colourOf(element, tone));
      values?.forEach((v, i) => {
        const [r, g, b] = v < 0 ? below : above;
        const share = Math.min(Math.abs(v) / STRONGEST, 1);
        image.data.set([r, g, b, Number.isFinite(v) ? 230 * share : 0], 4 * i);
      });
      context.putImageData(image, 0, 0);
    },
  };
}

/** Red, green and blue of a tone in the element's theme. @type {(element: Element, tone: string) => number[]} */
function colourOf(element, tone) {
  const text = getComputedStyle(element).getPropertyValue(`--r1-${tone}`).trim().slice(1);
  const packed = Number.parseInt(text, 16) || 0;
  return [packed >> 16, (packed >> 8) & 255, packed & 255];
}
