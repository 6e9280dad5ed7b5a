// The memory over the plane, beside the truth: values are shades, and the keys can be dragged in both.
import { h } from "../kit/dom.js";
import { fixed } from "../kit/number.js";
import { plane } from "../kit/plane.js";
import { captioned } from "../kit/readout.js";
import { createField } from "./field.js";
import { TRUE } from "./measure.js";
import { REACH } from "./settings.js";

/** @import { Point } from "../kit/handle.js" */
/** @import { Measured } from "./measure.js" */

/** @param {(i: number, at: Point) => void} onMove */
export function createPlanes(onMove) {
  const [read, truth] = ["What is read", "The truth"].map((name) => createPlane(name, onMove));
  return {
    element: h("div", { class: "r1-bench-planes" }, read.figure, truth.figure),
    /** @type {(measured: Measured, chosen: number, veiled: boolean) => void} */
    show({ keys, values, field }, chosen, veiled) {
      read.field.paint(veiled ? null : field());
      truth.field.paint(TRUE.fine);
      for (const one of [read, truth]) {
        one.plane.show({
          handles: keys.map((at, i) => ({
            ...{ id: `k${i}`, at, tone: "ink", group: "pairs", colour: shade(values[i]) },
            r: i === chosen ? 9 : 7.5,
            name: `Pair ${i + 1} of ${keys.length}`,
            words: `x ${fixed(at[0])}, y ${fixed(at[1])}, value ${fixed(values[i])}`,
          })),
          texts: keys.map((at, i) => ({ at, text: String(i + 1), tone: "ink" })),
        });
      }
    },
  };
}

/** @param {number} value */
const shade = (value) =>
  `color-mix(in srgb, var(--r1-${value < 0 ? "distributed" : "exact"}) ${Math.round(90 * Math.min(1, Math.abs(value)))}%, var(--r1-ground))`;

/**
 * @param {string} name
 * @param {(i: number, at: Point) => void} onMove
 */
function createPlane(name, onMove) {
  const own = plane({
    label: `${name}: the keys can be moved`,
    reach: REACH,
    onMove: (id, at) => onMove(Number(id.slice(1)), at),
  });
  const field = createField("r1-field-ground");
  const element = h("div", { class: "r1-bench-plane" }, field.element, own.element);
  return { plane: own, field, figure: captioned(name, element).element };
}
